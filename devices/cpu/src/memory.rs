//! Host memory: blocks from the global allocator, aligned to 16. Owns no cache and no policy.
//!
//! An alignment of 16 is what `malloc` gives anyway; asking for more would take a slower path at every small tensor.

use monomorph_core::{Contents, Memory};
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;

const ALIGN: usize = 16;

/// The memory functions of the CPU.
pub(crate) static MEMORY: Memory = Memory { allocate, free, copy, host: true };

/// The layout of a block; `None` beyond `isize::MAX`. An empty block gets one byte, since a layout of size 0 has no block.
fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.max(1), ALIGN).ok()
}

fn allocate(_index: u8, bytes: usize, contents: Contents) -> Option<NonNull<u8>> {
    let layout = layout(bytes)?;
    let block = match contents {
        // SAFETY: the layout has at least one byte.
        Contents::Zeroed => unsafe { alloc_zeroed(layout) },
        // SAFETY: the layout has at least one byte.
        Contents::Unspecified => unsafe { alloc(layout) },
    };
    NonNull::new(block)
}

unsafe fn free(_index: u8, block: NonNull<u8>, bytes: usize) {
    // A block of this byte count exists, so its layout does.
    let Some(layout) = layout(bytes) else { return };
    // SAFETY: M2: the block came from `allocate` with this byte count, hence with this layout.
    unsafe { dealloc(block.as_ptr(), layout) };
}

unsafe fn copy(_index: u8, to: NonNull<u8>, from: NonNull<u8>, bytes: usize) {
    // SAFETY: M2: both blocks are live, have `bytes` bytes and do not overlap.
    unsafe { to.copy_from_nonoverlapping(from, bytes) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_sizes_are_none() {
        for bytes in [isize::MAX as usize, isize::MAX as usize + 1, usize::MAX] {
            assert_eq!(allocate(0, bytes, Contents::Unspecified), None);
            assert_eq!(allocate(0, bytes, Contents::Zeroed), None);
        }
    }

    #[test]
    fn blocks_are_aligned_and_zeroed_where_asked() {
        for bytes in [0, 1, 17, 4096] {
            let block = allocate(0, bytes, Contents::Zeroed).unwrap();
            assert_eq!(block.addr().get() % ALIGN, 0);
            // SAFETY: the block has `bytes` initialised bytes.
            assert!(unsafe { std::slice::from_raw_parts(block.as_ptr(), bytes) }.iter().all(|&b| b == 0));
            // SAFETY: the block came from `allocate` with this byte count.
            unsafe { free(0, block, bytes) };
        }
    }
}
