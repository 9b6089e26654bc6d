//! How far a storage reaches: the block in use, and how many bytes of it everybody may rely on. Owns the order in which
//! the two change, so that loom can check it; what a block is, and that a borrow is held, is the caller's affair.
//!
//! Views and clones are made without a borrow. A geometry is therefore checked against a number of bytes that is read
//! while another thread may be growing the storage for an operator that can still fail. That number must never fall
//! again, so it is raised only when nothing can take the growth back:
//!
//! ```text
//! growing thread, under the write borrow           any other thread
//!   exchange(larger block)                           bytes() ≥ what a geometry needs: a view is made      Acquire
//!   run the kernel                                   later, under a borrow: the block has those bytes
//!     it failed: exchange(former block)
//!     it ran:    promise(bytes)          Release
//! ```
#![deny(clippy::arithmetic_side_effects)]

#[cfg(loom)]
use loom::{
    cell::UnsafeCell,
    sync::atomic::{AtomicUsize, Ordering},
};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicUsize, Ordering};

/// `std`'s cell with the interface of loom's, which sees every access.
#[cfg(not(loom))]
#[derive(Debug)]
struct UnsafeCell<B>(std::cell::UnsafeCell<B>);

#[cfg(not(loom))]
impl<B> UnsafeCell<B> {
    #[inline]
    fn new(block: B) -> UnsafeCell<B> {
        UnsafeCell(std::cell::UnsafeCell::new(block))
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce(*const B) -> R) -> R {
        f(self.0.get())
    }

    #[inline]
    fn with_mut<R>(&self, f: impl FnOnce(*mut B) -> R) -> R {
        f(self.0.get())
    }
}

/// A block and the bytes of it that are promised. `B` describes a block and is small.
#[derive(Debug)]
pub struct Extent<B> {
    promised: AtomicUsize,
    block: UnsafeCell<B>,
}

// SAFETY: `block` is read under a read borrow and exchanged under a write borrow, by the callers of the unsafe methods
// below; the number is atomic.
unsafe impl<B: Send + Sync> Sync for Extent<B> {}

impl<B: Copy> Extent<B> {
    /// A block of which `bytes` bytes are promised.
    #[inline]
    pub fn new(block: B, bytes: usize) -> Extent<B> {
        Extent { promised: AtomicUsize::new(bytes), block: UnsafeCell::new(block) }
    }

    /// The bytes that whoever borrows the storage from now on will find in it. They may be read without a borrow and
    /// never become fewer.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.promised.load(Ordering::Acquire)
    }

    /// Promises that the block in use, and every later one, has as many bytes as this.
    pub fn promise(&self, bytes: usize) {
        self.promised.fetch_max(bytes, Ordering::Release);
    }

    /// The block in use.
    ///
    /// # Safety
    ///
    /// The caller holds a borrow of the storage, for reading or for writing, or the only reference to it.
    #[inline]
    pub unsafe fn block(&self) -> B {
        self.block.with(|block| {
            // SAFETY: the caller's borrow excludes `exchange`, which needs the write borrow.
            unsafe { *block }
        })
    }

    /// Puts `other` to use, and gives back in its place what was in use. The block put to use has the promised bytes.
    ///
    /// # Safety
    ///
    /// The caller holds the write borrow of the storage.
    pub unsafe fn exchange(&self, other: &mut B) {
        self.block.with_mut(|block| {
            // SAFETY: the caller's write borrow excludes every other access.
            let block = unsafe { &mut *block };
            std::mem::swap(block, other);
        });
    }
}
