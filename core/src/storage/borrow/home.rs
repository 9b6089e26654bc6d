//! Threads as homes of storages: who may announce a read by a plain store.

use std::cell::Cell;

/// A thread, as the home of storages. No two threads of a process have the same, whether they live at the same time or
/// not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Home(usize);

impl Home {
    /// The home of nothing: a storage without a home counts all its readers.
    pub const NOWHERE: Home = Home(0);

    /// The calling thread.
    #[inline]
    pub fn here() -> Home {
        thread_local! {
            static HERE: Cell<usize> = const { Cell::new(0) };
        }
        HERE.with(|here| {
            if here.get() == 0 {
                here.set(Home::fresh().0);
            }
            Home(here.get())
        })
    }

    /// A home that no thread had before; nowhere, if there were more threads than fit.
    #[cold]
    pub fn fresh() -> Home {
        // Not loom's: a model tells its threads what they are.
        use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let next = NEXT.fetch_update(Relaxed, Relaxed, |next| next.checked_add(1));
        next.map_or(Home::NOWHERE, Home)
    }
}
