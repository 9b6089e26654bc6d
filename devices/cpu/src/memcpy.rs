//! Copies of dense runs of bytes: `memcpy`, but for places where the C library's takes twenty times as long.
//!
//! From 2,112 bytes on glibc copies by `rep movsb` where the processor says that this is fast. On AMD's Zen 3 and Zen 4
//! it is not where the target begins a little behind the source, by their places in their pages (glibc bug 30994;
//! measured on Zen 3: 2.2 GB/s in place of 50, for 1 to 31 bytes). That is where rolled, padded and sliced tensors lie.
//! Such runs are copied in pieces that glibc moves by vectors, which takes as long as other runs do.

use std::ptr::copy_nonoverlapping;

/// The longest run that is always moved by vectors.
const PIECE: usize = 2048;

/// Longer runs are not moved by `rep movsb` any more: they are longer than the caches that it is used for.
const LONGEST: usize = 4 << 20;

const PAGE: usize = 4096;

/// Bytes between the places in their pages, below which a run is copied in pieces.
const NEAR: usize = 64;

/// Copies `n` bytes.
///
/// # Safety
///
/// Both sides have so many bytes in bounds and are apart, those of `from` are initialised, and nobody else uses `to`.
#[inline]
pub(crate) unsafe fn memcpy(from: *const u8, to: *mut u8, n: usize) {
    let apart = to.addr().wrapping_sub(from.addr()) % PAGE;
    if cfg!(not(all(target_arch = "x86_64", target_env = "gnu"))) || n <= PIECE || n > LONGEST || apart >= NEAR {
        // SAFETY: the caller's promise.
        return unsafe { copy_nonoverlapping(from, to, n) };
    }
    let whole = n / PIECE * PIECE;
    for at in (0..whole).step_by(PIECE) {
        // SAFETY: a part of the run, which is of both sides by the caller's promise.
        unsafe { copy_nonoverlapping(from.wrapping_add(at), to.wrapping_add(at), PIECE) };
    }
    // SAFETY: the rest of the run, which is of both sides by the caller's promise.
    unsafe { copy_nonoverlapping(from.wrapping_add(whole), to.wrapping_add(whole), n - whole) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of every remainder of a piece that matters, at places near each other and not, and nothing beside them.
    #[test]
    fn a_run_is_copied_whole_and_nothing_beside_it() {
        let from: Vec<u8> = (0..PAGE * 4).map(|i| (i % 251) as u8 + 1).collect();
        for n in [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE + 77] {
            for start in [0, 1, 28, 31, 63, 64, 65, 2000, PAGE - 1] {
                let mut to = vec![0; PAGE * 4];
                // By the place in the page of the source, wherever the allocator has put the two.
                let first = (from.as_ptr().addr().wrapping_sub(to.as_ptr().addr()) + start) % PAGE + 1;
                // SAFETY: `n` bytes of two vectors, both longer than a page and `n` together.
                unsafe { memcpy(from[1..].as_ptr(), to[first..].as_mut_ptr(), n) };
                assert_eq!(to[first..][..n], from[1..][..n], "{n} bytes, {start} behind");
                let beside = to[..first].iter().chain(&to[first + n..]);
                assert!(beside.copied().all(|byte| byte == 0), "{n} bytes, {start} behind");
            }
        }
    }
}
