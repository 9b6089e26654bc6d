//! Fresh pages from the system, zeroed, and back. Owns the system calls; refuses any policy.
//!
//! On Linux blocks of 2 MiB and more begin at a multiple of that and are advised to be huge pages: one page fault
//! instead of 512, and one entry of the translation buffer. Elsewhere the global allocator gives the memory.

use std::ptr::NonNull;

/// The size of a huge page.
#[cfg(target_os = "linux")]
const HUGE: usize = 2 << 20;

/// The unit that blocks are made of: the pages of any system of today.
pub(super) const PAGE: usize = 64 << 10;

/// Zeroed memory of `bytes` bytes (a multiple of [`PAGE`], not 0), aligned to at least 64.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn map(bytes: usize) -> Option<NonNull<u8>> {
    let slack = if bytes < HUGE { 0 } else { HUGE };
    let whole = bytes.checked_add(slack)?;
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at an address of the system's choice touches nobody's memory.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), whole, access, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let start = start.cast::<u8>();
    if slack == 0 {
        return NonNull::new(start);
    }
    let head = start.addr().next_multiple_of(HUGE) - start.addr();
    let block = start.wrapping_add(head);
    for (from, len) in [(start, head), (block.wrapping_add(bytes), slack - head)] {
        if len > 0 {
            // SAFETY: these pages are of the mapping just made, and not of the block. Should the system refuse, they
            // stay reserved, and cost no memory.
            unsafe { libc::munmap(from.cast(), len) };
        }
    }
    // SAFETY: the pages are the block's. It is advice: without huge pages the block works as well.
    unsafe { libc::madvise(block.cast(), bytes, libc::MADV_HUGEPAGE) };
    NonNull::new(block)
}

/// Returns a block.
///
/// # Safety
///
/// The block is one of [`map`] with this byte count, and is not used again.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) unsafe fn unmap(block: NonNull<u8>, bytes: usize) {
    // SAFETY: a mapping of ours, by the caller's promise.
    unsafe { libc::munmap(block.as_ptr().cast(), bytes) };
}

/// The layout of a block where the global allocator gives it.
#[cfg(any(not(target_os = "linux"), miri))]
fn layout(bytes: usize) -> Option<std::alloc::Layout> {
    std::alloc::Layout::from_size_align(bytes, 64).ok()
}

/// Zeroed memory of `bytes` bytes (a multiple of [`PAGE`], not 0), aligned to 64.
#[cfg(any(not(target_os = "linux"), miri))]
pub(super) fn map(bytes: usize) -> Option<NonNull<u8>> {
    // SAFETY: the layout has at least one byte.
    NonNull::new(unsafe { std::alloc::alloc_zeroed(layout(bytes)?) })
}

/// Returns a block.
///
/// # Safety
///
/// The block is one of [`map`] with this byte count, and is not used again.
#[cfg(any(not(target_os = "linux"), miri))]
pub(super) unsafe fn unmap(block: NonNull<u8>, bytes: usize) {
    let Some(layout) = layout(bytes) else { return };
    // SAFETY: the block was made with this layout, by the caller's promise.
    unsafe { std::alloc::dealloc(block.as_ptr(), layout) };
}
