//! An allocator that counts: what a test allocates on its thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Counts the allocations of each thread.
struct Counting;

// SAFETY: every block is one of the system's allocator, which is given what this one is given; counting allocates
// nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller promises a layout that is not empty, which is what the system's asks for.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block was made by `alloc`, `alloc_zeroed` or `realloc`, and so by the system's, with this layout.
        unsafe { System.dealloc(block, layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller promises a layout that is not empty, which is what the system's asks for.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the block is one of the system's with this layout, and the caller promises a size that is not 0 and
        // does not overflow.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often a function allocates on this thread, and its result.
pub(crate) fn allocations<R>(f: impl FnOnce() -> R) -> (usize, R) {
    let before = COUNT.get();
    let result = f();
    (COUNT.get() - before, result)
}
