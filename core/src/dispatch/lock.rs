//! The locks of dispatch, and what users own in its tables. Owns one rule: **nothing of a user's is dropped while its
//! thread holds a lock of dispatch**, because a user's drop may call the dispatcher, and would wait for that lock for
//! ever.
//!
//! ```text
//! LockGuard::new ──► HELD + 1 ──► lock         retire(value) ──► HELD = 0? ── yes ──► dropped at once
//! drop(LockGuard) ─► unlock ──► HELD − 1 ──► 0? drop QUEUE                └── no ───► QUEUE
//! ```
//!
//! No path of registration has to think of it: whatever a user gives (kernels, constructors, their state) is held by
//! types whose own drop is [`retire`], and every lock is taken through [`LockGuard`]. So a path that is added later
//! obeys, error paths included.
//!
//! What is dropped meanwhile joins the queue, so a library inside a kernel of a library, and so on, is dropped by one
//! loop and not by recursion.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Something that only waits for its drop.
type Retired = Box<dyn Send>;

#[cfg(not(loom))]
thread_local! {
    /// The locks of dispatch that the thread holds or waits for, and one while the queue is being emptied.
    static HELD: Cell<usize> = const { Cell::new(0) };
    /// What is dropped when `HELD` is 0 again; empty whenever it is 0. Without a destructor, so that it is there while
    /// a thread ends.
    static QUEUE: Cell<ManuallyDrop<Vec<Retired>>> = const { Cell::new(ManuallyDrop::new(Vec::new())) };
}
// The threads of a model are one thread of the system.
#[cfg(loom)]
loom::thread_local! {
    static HELD: Cell<usize> = Cell::new(0);
    static QUEUE: Cell<ManuallyDrop<Vec<Retired>>> = Cell::new(ManuallyDrop::new(Vec::new()));
}

fn held() -> usize {
    HELD.with(Cell::get)
}

fn set_held(held: usize) {
    HELD.with(|cell| cell.set(held));
}

/// A guard of a lock of dispatch.
pub struct LockGuard<G> {
    // Fields are dropped in this order: the lock is free before anything of a user's is dropped.
    guard: G,
    _count: Count,
}

impl<G> LockGuard<G> {
    /// Takes a lock.
    pub fn new(lock: impl FnOnce() -> G) -> LockGuard<G> {
        let count = Count::new();
        LockGuard { guard: lock(), _count: count }
    }
}

impl<G> fmt::Debug for LockGuard<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LockGuard")
    }
}

impl<G: Deref> Deref for LockGuard<G> {
    type Target = G::Target;
    fn deref(&self) -> &G::Target {
        &self.guard
    }
}

impl<G: DerefMut> DerefMut for LockGuard<G> {
    fn deref_mut(&mut self) -> &mut G::Target {
        &mut self.guard
    }
}

/// One in `HELD`; it belongs to the thread.
struct Count(PhantomData<*const ()>);

impl Count {
    fn new() -> Count {
        set_held(held() + 1);
        Count(PhantomData)
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        set_held(held() - 1);
        if held() == 0 {
            empty_queue();
        }
    }
}

/// Drops something of a user's: at once, or after the last lock that the thread holds.
///
/// A drop that panics interrupts nothing: the rest is dropped first, then the first panic goes on. Where the thread is
/// panicking already, which a second panic would make an abort, it ends here.
pub fn retire(value: impl Send + 'static) {
    let mut queue = take_queue();
    queue.push(Box::new(value));
    QUEUE.with(|cell| cell.set(ManuallyDrop::new(queue)));
    if held() == 0 {
        empty_queue();
    }
}

fn take_queue() -> Vec<Retired> {
    ManuallyDrop::into_inner(QUEUE.with(|cell| cell.replace(ManuallyDrop::new(Vec::new()))))
}

fn empty_queue() {
    let mut carried = None;
    // What is retired by a drop below is met by the next round.
    set_held(1);
    loop {
        let queue = take_queue();
        if queue.is_empty() {
            break;
        }
        for value in queue {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
                match carried {
                    None => carried = Some(panic),
                    // Its own drop may panic, too.
                    Some(_) => std::mem::forget(panic),
                }
            }
        }
    }
    set_held(0);
    match carried {
        Some(panic) if std::thread::panicking() => std::mem::forget(panic),
        Some(panic) => resume_unwind(panic),
        None => {}
    }
}
