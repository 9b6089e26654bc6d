//! Host memory. Small blocks come straight from the global allocator; blocks of 64 KiB and more from a cache of pages,
//! which can be limited, measured and emptied here. Owns where a block comes from; refuses to know what it holds.
//!
//! ```text
//! bytes        < 1 KiB          as malloc gives it: aligned to 16
//! 1 KiB ≤ …    < 64 KiB         from malloc with room to align to 64
//! 64 KiB ≤ …   < 1 MiB          part of a huge page, which is one of the blocks below (`shared.rs`)
//! 1 MiB ≤ …                     a whole number of pages, kept for the next block of its size (`cache.rs`, `pages.rs`)
//! ```
//!
//! Kernels read whole 64-byte lines; a run that begins within a line makes every access of a wide register touch two.
//! Asking malloc itself for more than 16 would take a slower path, so that blocks too small to gain are not aligned,
//! and the others pay with 64 bytes instead.

mod cache;
mod pages;
mod shared;
mod small;

pub use cache::{LIMIT_VARIABLE, Statistics};

use cache::Cache;
use monomorph_core::{Contents, Memory, Reach};
use shared::{Shared, Source};
use std::ptr::NonNull;

/// Blocks of so many bytes or more are pages of their own.
const LARGE: usize = 1 << 20;

/// The memory functions of the CPU.
pub(crate) static MEMORY: Memory = Memory { allocate, free, copy, reach: Reach::Host };

/// The blocks that are kept for reuse.
static CACHE: Cache = Cache::new();

/// Blocks of less than a page share one.
static SHARED: Shared = Shared::new(Source { map: map_shared, unmap: unmap_shared });

fn map_shared() -> Option<NonNull<u8>> {
    CACHE.allocate(shared::PAGE, Contents::Unspecified)
}

/// # Safety
///
/// The page is one of [`map_shared`], and is not used again.
unsafe fn unmap_shared(page: NonNull<u8>) {
    // SAFETY: the caller promises that the page is one of `map_shared`, which gets `shared::PAGE` bytes from `CACHE`,
    // and that it is not used again.
    unsafe { CACHE.free(page, shared::PAGE) };
}

/// Counts of the large blocks, now. Those of less than 64 KiB are the global allocator's and are not counted.
pub fn statistics() -> Statistics {
    CACHE.statistics()
}

/// How many bytes of freed blocks are kept at most.
pub fn cache_limit() -> usize {
    CACHE.limit()
}

/// Keeps at most `bytes` bytes of freed blocks from now on, and returns what is beyond that to the system. 0 keeps
/// nothing.
///
/// Without this call the limit is what the environment variable [`LIMIT_VARIABLE`] says, in bytes, or 1 GiB.
pub fn set_cache_limit(bytes: usize) {
    CACHE.set_limit(bytes);
}

/// Returns all freed blocks to the system; the number of bytes is the result. Tensors keep theirs.
pub fn empty_cache() -> usize {
    CACHE.empty()
}

fn allocate(_index: u8, bytes: usize, contents: Contents) -> Option<NonNull<u8>> {
    if bytes < shared::UNIT { small::allocate(bytes, contents) } else { allocate_large(bytes, contents) }
}

/// Apart, so that small blocks need not save the registers that this needs.
#[inline(never)]
fn allocate_large(bytes: usize, contents: Contents) -> Option<NonNull<u8>> {
    if bytes < LARGE { SHARED.allocate(bytes, contents) } else { CACHE.allocate(bytes, contents) }
}

unsafe fn free(_index: u8, block: NonNull<u8>, bytes: usize) {
    if bytes < shared::UNIT {
        // SAFETY: M2: the block is one of `allocate`, which took this way for this byte count.
        unsafe { small::free(block, bytes) };
    } else {
        // SAFETY: M2: the block is one of `allocate`, which got it from `allocate_large` for this byte count.
        unsafe { free_large(block, bytes) };
    }
}

/// # Safety
///
/// M2, for a block of [`allocate_large`].
#[inline(never)]
unsafe fn free_large(block: NonNull<u8>, bytes: usize) {
    if bytes < LARGE {
        // SAFETY: M2: the block is one of `allocate_large`, which got it from `SHARED` for this byte count; it is being
        // freed, so nobody uses it again.
        unsafe { SHARED.free(block, bytes) };
    } else {
        // SAFETY: M2: the block is one of `allocate_large`, which got it from `CACHE` for this byte count; it is being
        // freed, so nobody uses it again.
        unsafe { CACHE.free(block, bytes) };
    }
}

/// Memory of a kernel's own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) start: NonNull<u8>,
    bytes: usize,
}

impl Block {
    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// A block of so many bytes, aligned to 16 at least. All of them are initialised, whatever their contents are.
pub(crate) fn block(bytes: usize, contents: Contents) -> Option<Block> {
    // Every byte of a large block has been zero or written (`cache.rs`); small ones are the global allocator's.
    let contents = if bytes < shared::UNIT { Contents::Zeroed } else { contents };
    Some(Block { start: allocate(0, bytes, contents)?, bytes })
}

/// Frees a block.
///
/// # Safety
///
/// It is one of [`block`], and is not used again.
pub(crate) unsafe fn release(Block { start, bytes }: Block) {
    // SAFETY: M2: the block is one of `allocate` for this byte count, by the caller's promise.
    unsafe { free(0, start, bytes) };
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
        for bytes in [isize::MAX as usize, isize::MAX as usize + 1, usize::MAX - 64, usize::MAX, 1 << 60] {
            assert_eq!(allocate(0, bytes, Contents::Unspecified), None);
            assert_eq!(allocate(0, bytes, Contents::Zeroed), None);
        }
    }

    #[test]
    fn blocks_are_aligned_and_zeroed_where_asked() {
        for bytes in [0, 1, 17, 1023, 1024, 4096, 65535, 65536, 100_000, LARGE - 1, LARGE, LARGE + 1, 5 * LARGE] {
            // Twice: the second large block may be one that was used.
            for _ in 0..2 {
                let block = allocate(0, bytes, Contents::Zeroed).unwrap();
                let align = if bytes < small::ALIGNED { 16 } else { 64 };
                assert_eq!(block.addr().get() % align, 0);
                // SAFETY: the block has `bytes` initialised bytes.
                let slice = unsafe { std::slice::from_raw_parts_mut(block.as_ptr(), bytes) };
                assert!(slice.iter().all(|&b| b == 0), "{bytes}");
                slice.fill(0xa5);
                // SAFETY: the block came from `allocate` with this byte count.
                unsafe { free(0, block, bytes) };
            }
        }
    }
}
