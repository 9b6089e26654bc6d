//! How many handles share a thing, so that the last one ends it. Loom checks it with the borrow state.

#[cfg(loom)]
use loom::sync::atomic::{AtomicUsize, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many handles share something.
#[derive(Debug)]
pub struct RefCount(AtomicUsize);

impl RefCount {
    /// One handle.
    #[inline]
    pub fn one() -> RefCount {
        RefCount(AtomicUsize::new(1))
    }

    /// Counts one more handle. Aborts on a count that only forgotten handles could reach.
    #[inline]
    pub fn retain(&self) {
        if self.0.fetch_add(1, Ordering::Relaxed) > usize::MAX / 2 {
            std::process::abort();
        }
    }

    /// Gives a handle back; true if it was the last one, and then everything done through the others happened before.
    #[inline]
    pub fn release(&self) -> bool {
        // The only handle is the caller's, which nobody can copy any more: there is nobody to tell.
        if self.is_unique() {
            return true;
        }
        if self.0.fetch_sub(1, Ordering::Release) != 1 {
            return false;
        }
        self.0.load(Ordering::Acquire);
        true
    }

    /// True if there is one handle; with `&mut` to it this proves exclusive access.
    #[inline]
    pub fn is_unique(&self) -> bool {
        self.0.load(Ordering::Acquire) == 1
    }
}
