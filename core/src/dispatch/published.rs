//! A value that one side replaces now and then and the other reads without a lock. Each reader keeps the values that it
//! has seen until it is dropped, so a value can be replaced while a reader uses it, and reading writes to no shared
//! memory. Owns the protocol, which is model-checked; knows nothing of what is published.
//!
//! ```text
//! writer (under the lock)                        reader
//!   current = (g + 1, value)                       node = head            Acquire, pairs with R
//!   generation = g + 1          Release  W         node.generation == generation?   Acquire, pairs with W
//!                                                  no: make a node of current, kept += node, head = node   Release  R
//! ```
//!
//! A reader keeps `KEPT` values and no more, or one that is alive while values come and go would hold all of them.
//! From then on it is *counted*: a read takes the reader's own lock and counts the one value that it lends.
//!
//! Neither side calls or drops anything of its user's under a lock: `replace` gives the old value back, and a reader
//! makes its state before it takes its lock and drops what it does not need after.
//!
//! Invariants:
//! * P1: `head` is null or points into an `Arc` in `kept`.
//! * P2: `kept` only grows, until the reader is dropped.
//! * P3: `generation` is that of `current` whenever the lock is free.

#[cfg(loom)]
use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicPtr, AtomicU64, Ordering},
};
use std::fmt;
use std::ops::Deref;
use std::ptr;
use std::sync::Arc;
#[cfg(not(loom))]
use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicPtr, AtomicU64, Ordering},
};

/// How many values a reader keeps. A table is 2.5 kB; few programs register for one operator more often than this after
/// they have looked it up, and those pay a lock of their own for each call through the old handle. Models take the
/// smallest that has both modes.
const KEPT: usize = if cfg!(loom) { 1 } else { 16 };

/// The writer's side.
pub struct Published<T> {
    generation: AtomicU64,
    current: Mutex<(u64, Arc<T>)>,
}

impl<T> Published<T> {
    /// Publishes the first value.
    pub fn new(value: T) -> Published<T> {
        Published { generation: AtomicU64::new(1), current: Mutex::new((1, Arc::new(value))) }
    }

    /// Publishes another value and gives back the one before. A read that begins after this call has returned sees it
    /// or a later one.
    pub fn replace(&self, value: T) -> Arc<T> {
        let value = Arc::new(value);
        let mut current = self.lock();
        let next = current.0 + 1;
        let (_, old) = std::mem::replace(&mut *current, (next, value));
        self.generation.store(next, Ordering::Release);
        old
    }

    /// The present value, with a lock.
    pub fn load(&self) -> Arc<T> {
        self.present().1
    }

    /// The present value with its generation.
    fn present(&self) -> (u64, Arc<T>) {
        self.lock().clone()
    }

    /// A thread that panicked while it held the lock had replaced the value as a whole or not at all.
    fn lock(&self) -> MutexGuard<'_, (u64, Arc<T>)> {
        self.current.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<T> fmt::Debug for Published<T> {
    /// Without the value: whatever is printed to may call the dispatcher, so no lock is held while printing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let generation = self.generation.load(Ordering::Relaxed);
        f.debug_struct("Published").field("generation", &generation).finish_non_exhaustive()
    }
}

/// A value as a reader has it, with what the reader has made for it.
#[derive(Debug)]
pub struct Seen<T, S> {
    generation: u64,
    /// The value.
    pub value: Arc<T>,
    /// The reader's own state for this value.
    pub state: S,
}

/// What a read lends.
#[derive(Debug)]
pub enum Lent<'a, T, S> {
    /// A value that the reader keeps.
    Kept(&'a Seen<T, S>),
    /// One that is gone with the last that has it.
    Counted(Arc<Seen<T, S>>),
}

impl<T, S> Deref for Lent<'_, T, S> {
    type Target = Seen<T, S>;
    #[inline]
    fn deref(&self) -> &Seen<T, S> {
        match self {
            Lent::Kept(seen) => seen,
            Lent::Counted(seen) => seen,
        }
    }
}

/// One reader of one published value.
pub struct Reader<T, S> {
    published: Arc<Published<T>>,
    head: AtomicPtr<Seen<T, S>>,
    nodes: Mutex<Nodes<T, S>>,
}

/// What a reader has made.
struct Nodes<T, S> {
    /// Those that `read` lends without counting, oldest first.
    kept: Vec<Arc<Seen<T, S>>>,
    /// The newest, once there is no room in `kept`.
    counted: Option<Arc<Seen<T, S>>>,
}

impl<T, S> Nodes<T, S> {
    fn newest(&self) -> Option<&Arc<Seen<T, S>>> {
        self.counted.as_ref().or(self.kept.last())
    }

    /// The newest, if it is of this generation or a later one.
    fn since(&self, generation: u64) -> Option<Arc<Seen<T, S>>> {
        self.newest().filter(|newest| newest.generation >= generation).cloned()
    }
}

impl<T, S> Reader<T, S> {
    /// A reader that has read nothing yet.
    pub fn new(published: Arc<Published<T>>) -> Reader<T, S> {
        let nodes = Nodes { kept: Vec::new(), counted: None };
        Reader { published, head: AtomicPtr::new(ptr::null_mut()), nodes: Mutex::new(nodes) }
    }

    /// What it reads.
    pub fn published(&self) -> &Arc<Published<T>> {
        &self.published
    }

    /// The present value. `make` makes the reader's state for a value that it has not seen; it may read and publish
    /// itself. Where several make one at the same time, all get the same.
    #[inline]
    pub fn read(&self, make: impl FnOnce(&T) -> S) -> Lent<'_, T, S> {
        match self.kept() {
            Some(seen) => Lent::Kept(seen),
            None => Lent::Counted(self.refresh(make)),
        }
    }

    /// The present value, if the reader has seen it and keeps it: two loads.
    #[inline]
    fn kept(&self) -> Option<&Seen<T, S>> {
        let head = self.head.load(Ordering::Acquire);
        // SAFETY: a pointer that is not null is valid for `'_` and nobody has a mutable reference to what it points to:
        // it points into an `Arc` (P1) that stays in `kept` as long as `self`, which the result borrows, is not dropped
        // (P2).
        let head = unsafe { head.as_ref() };
        head.filter(|seen| seen.generation == self.published.generation.load(Ordering::Acquire))
    }

    #[cold]
    fn refresh(&self, make: impl FnOnce(&T) -> S) -> Arc<Seen<T, S>> {
        let (generation, value) = self.published.present();
        if let Some(newest) = self.nodes().since(generation) {
            return newest;
        }
        let state = make(&value);
        // Declared before the guard, and so dropped after it where another thread was faster.
        let fresh = Arc::new(Seen { generation, value, state });
        let mut nodes = self.nodes();
        if let Some(newest) = nodes.since(generation) {
            return newest;
        }
        if nodes.kept.len() < KEPT {
            nodes.kept.push(fresh.clone());
            self.head.store(Arc::as_ptr(&fresh).cast_mut(), Ordering::Release);
            return fresh;
        }
        let old = nodes.counted.replace(fresh.clone());
        drop(nodes);
        drop(old);
        fresh
    }

    /// A thread that panicked while it held the lock had put a node in its place or not.
    fn nodes(&self) -> MutexGuard<'_, Nodes<T, S>> {
        self.nodes.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<T, S> fmt::Debug for Reader<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("published", &self.published).finish_non_exhaustive()
    }
}
