//! Blocks of less than 64 KiB: the global allocator's, moved to a multiple of 64 where they are long enough to gain by
//! it.
//!
//! ```text
//! from the allocator, aligned to 16:   [ 16, 32, 48 or 64 bytes, the last of which says how many | block ....... ]
//! ```

use monomorph_core::Contents;
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// What every allocator gives without a detour.
const ALIGN: usize = 16;

/// The bytes of a cache line.
const LINE: usize = 64;

/// Blocks of so many bytes or more begin with a line.
pub(super) const ALIGNED: usize = 1024;

/// What the global allocator is asked for; `None` beyond `isize::MAX`. An empty block gets one byte, since a layout of
/// size 0 has no block.
fn layout(bytes: usize) -> Option<Layout> {
    let room = if bytes < ALIGNED { 0 } else { LINE };
    Layout::from_size_align(bytes.max(1).checked_add(room)?, ALIGN).ok()
}

pub(super) fn allocate(bytes: usize, contents: Contents) -> Option<NonNull<u8>> {
    let layout = layout(bytes)?;
    let start = NonNull::new(match contents {
        // SAFETY: the layout has at least one byte.
        Contents::Zeroed => unsafe { alloc_zeroed(layout) },
        // SAFETY: the layout has at least one byte.
        Contents::Unspecified => unsafe { alloc(layout) },
    })?;
    if bytes < ALIGNED {
        return Some(start);
    }
    let shift = LINE - start.addr().get() % LINE;
    // SAFETY: the allocation is LINE bytes longer than the block, and `shift` is at most that.
    let block = unsafe { start.add(shift) };
    // SAFETY: `shift` is at least 16, because the allocation is aligned to that, so this byte lies in it.
    let note = unsafe { block.sub(1) };
    // SAFETY: `note` lies in the allocation, which nobody else uses yet, and before the block.
    unsafe { note.write(shift as u8) };
    Some(block)
}

/// # Safety
///
/// The block is one of [`allocate`] with this byte count, and is not used again.
pub(super) unsafe fn free(block: NonNull<u8>, bytes: usize) {
    // A block of this byte count exists, so its layout does.
    let Some(layout) = layout(bytes) else { return };
    let start = if bytes < ALIGNED {
        block
    } else {
        // SAFETY: `allocate` left the distance in the byte before the block.
        let note = unsafe { block.sub(1) };
        // SAFETY: `note` lies in the allocation, and `allocate` wrote it.
        let shift = unsafe { note.read() };
        // SAFETY: the allocation begins so many bytes before the block.
        unsafe { block.sub(usize::from(shift)) }
    };
    // SAFETY: the allocation was made with this layout.
    unsafe { dealloc(start.as_ptr(), layout) };
}
