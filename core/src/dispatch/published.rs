//! A value that one side replaces now and then and the other reads without a lock. Each reader keeps every value that it has
//! seen until it is dropped, so a value can be replaced while a reader uses it, and reading writes to no shared memory. Owns
//! the protocol, which is model-checked; knows nothing of what is published.
//!
//! ```text
//! writer (under the lock)                        reader
//!   current = (g + 1, value)                       node = head            Acquire, pairs with R
//!   generation = g + 1          Release  W         node.generation == generation?   Acquire, pairs with W
//!                                                  no: lock, make a node of current, head = node   Release  R
//! ```
//!
//! Invariants:
//! * P1: `head` is null or points to a node that `Box::into_raw` gave and that only `Reader::drop` frees.
//! * P2: nodes of one reader are linked through `older`, and `head` changes only under the lock of the published value.
//! * P3: `generation` is that of `current` whenever the lock is free.

#[cfg(loom)]
use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicPtr, AtomicU64, Ordering},
};
use std::ptr;
use std::sync::Arc;
#[cfg(not(loom))]
use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicPtr, AtomicU64, Ordering},
};

/// The writer's side.
#[derive(Debug)]
pub struct Published<T> {
    generation: AtomicU64,
    current: Mutex<(u64, Arc<T>)>,
}

impl<T> Published<T> {
    /// Publishes the first value.
    pub fn new(value: T) -> Published<T> {
        Published { generation: AtomicU64::new(1), current: Mutex::new((1, Arc::new(value))) }
    }

    /// Publishes another value. A read that begins after this call has returned sees it or a later one.
    pub fn replace(&self, value: T) {
        let mut current = self.lock();
        let next = current.0 + 1;
        *current = (next, Arc::new(value));
        self.generation.store(next, Ordering::Release);
    }

    /// The present value, with a lock.
    pub fn load(&self) -> Arc<T> {
        self.lock().1.clone()
    }

    /// A thread that panicked while it held the lock had replaced the value as a whole or not at all.
    fn lock(&self) -> MutexGuard<'_, (u64, Arc<T>)> {
        self.current.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A value as a reader keeps it, with what the reader has made for it.
#[derive(Debug)]
pub struct Seen<T, S> {
    generation: u64,
    /// The value.
    pub value: Arc<T>,
    /// The reader's own state for this value.
    pub state: S,
    /// Only read and freed by `Reader::drop`.
    older: *mut Seen<T, S>,
}

/// One reader.
#[derive(Debug)]
pub struct Reader<T, S> {
    head: AtomicPtr<Seen<T, S>>,
}

// SAFETY: a reader owns its nodes (P1); other threads get shared references to values and states only.
unsafe impl<T: Send + Sync, S: Send> Send for Reader<T, S> {}
// SAFETY: as above, and `head` is atomic.
unsafe impl<T: Send + Sync, S: Send + Sync> Sync for Reader<T, S> {}

impl<T, S> Default for Reader<T, S> {
    fn default() -> Self {
        Reader { head: AtomicPtr::new(ptr::null_mut()) }
    }
}

impl<T, S> Reader<T, S> {
    /// The present value. `make` makes the reader's state for a value that it has not seen; it is called with the lock held,
    /// and must not read this or publish.
    ///
    /// A reader is for one `published`: one that is used with several would confuse their generations.
    #[inline]
    pub fn read(&self, published: &Published<T>, make: impl FnOnce(&T) -> S) -> &Seen<T, S> {
        let head = self.head.load(Ordering::Acquire);
        // SAFETY: P1: the node lives as long as `self`, which the result borrows; nobody has a mutable reference to it.
        let head = unsafe { head.as_ref() };
        match head {
            Some(seen) if seen.generation == published.generation.load(Ordering::Acquire) => seen,
            _ => self.refresh(published, make),
        }
    }

    #[cold]
    fn refresh(&self, published: &Published<T>, make: impl FnOnce(&T) -> S) -> &Seen<T, S> {
        let current = published.lock();
        // Relaxed: `head` changes under this lock only (P2).
        let older = self.head.load(Ordering::Relaxed);
        // SAFETY: P1.
        match unsafe { older.as_ref() } {
            Some(seen) if seen.generation == current.0 => seen,
            _ => {
                let state = make(&current.1);
                let seen = Seen { generation: current.0, value: current.1.clone(), state, older };
                let new = Box::into_raw(Box::new(seen));
                self.head.store(new, Ordering::Release);
                // SAFETY: P1: just made, and freed by nobody but `drop`.
                unsafe { &*new }
            }
        }
    }
}

impl<T, S> Drop for Reader<T, S> {
    fn drop(&mut self) {
        // `&mut self`: no other thread can be reading, and what `read` lent has ended.
        let mut next = self.head.load(Ordering::Acquire);
        while !next.is_null() {
            // SAFETY: P1: each node is met once on the way along `older` (P2).
            let seen = unsafe { Box::from_raw(next) };
            next = seen.older;
        }
    }
}
