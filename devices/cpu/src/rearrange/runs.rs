//! Runs of a few elements, written to dense memory. Most rows of a padded image are three of them, so that a call of
//! `memcpy` for each would take longer than the copy: short ones are copied by a few wide moves, in place.

use crate::cast::moved_as;
use crate::memcpy::memcpy;

/// Bytes from which on a run is copied by `memcpy`.
const LONG: usize = 256;

/// Copies `bytes` dense bytes.
///
/// # Safety
///
/// Both sides have so many bytes in bounds and are apart, those of `from` are initialised, and nobody else uses `to`.
#[inline(always)]
pub(super) unsafe fn copy_bytes(from: *const u8, to: *mut u8, bytes: usize) {
    if bytes >= LONG {
        // SAFETY: the caller's promise.
        return unsafe { memcpy(from, to, bytes) };
    }
    if bytes >= 16 {
        // The last move begins where it ends with the run, so that it may write some bytes again.
        let mut start = 0;
        while start < bytes - 16 {
            // SAFETY: `start + 16 < bytes`, and the caller promises `bytes` on both sides.
            unsafe { move_as::<[u64; 2]>(from, to, start) };
            start += 16;
        }
        // SAFETY: `bytes >= 16`, and the caller promises `bytes` on both sides.
        return unsafe { move_as::<[u64; 2]>(from, to, bytes - 16) };
    }
    if bytes >= 8 {
        // SAFETY: `bytes >= 8`, and the caller promises `bytes` on both sides.
        unsafe { move_as::<u64>(from, to, 0) };
        // SAFETY: `bytes >= 8`, and the caller promises `bytes` on both sides.
        return unsafe { move_as::<u64>(from, to, bytes - 8) };
    }
    if bytes >= 4 {
        // SAFETY: `bytes >= 4`, and the caller promises `bytes` on both sides.
        unsafe { move_as::<u32>(from, to, 0) };
        // SAFETY: `bytes >= 4`, and the caller promises `bytes` on both sides.
        return unsafe { move_as::<u32>(from, to, bytes - 4) };
    }
    for at in 0..bytes {
        // SAFETY: `at < bytes`, and the caller promises `bytes` on both sides.
        unsafe { move_as::<u8>(from, to, at) };
    }
}

/// Copies the bytes of one `T`, `at` bytes from the start.
///
/// # Safety
///
/// Both sides have those bytes in bounds, those of `from` are initialised, and nobody else uses those of `to`.
#[inline(always)]
unsafe fn move_as<T: Copy>(from: *const u8, to: *mut u8, at: usize) {
    // SAFETY: the caller's promise for `from`.
    let value = unsafe { from.wrapping_add(at).cast::<T>().read_unaligned() };
    // SAFETY: the caller's promise for `to`.
    unsafe { to.wrapping_add(at).cast::<T>().write_unaligned(value) };
}

/// Copies `n` elements that lie `step` bytes apart, to dense memory.
///
/// # Safety
///
/// The `n` elements of both sides, of the size of `T`, are in bounds; those of the source are initialised; the sides
/// are apart, and nobody else uses the target.
#[inline(always)]
pub(super) unsafe fn copy_run<T: Copy>(from: *const u8, step: isize, to: *mut u8, n: usize) {
    let dense = size_of::<T>() as isize;
    if step == dense {
        // SAFETY: `n` dense elements are as many bytes; the rest is the caller's promise.
        return unsafe { copy_bytes(from, to, n * size_of::<T>()) };
    }
    // SAFETY: R1 and R2 of `cast`, for `n` elements of this size: the caller's promise.
    unsafe { moved_as::<T>(from, step, to, dense, n) };
}

/// Writes one value to `n` dense elements.
///
/// # Safety
///
/// They are in bounds, and nobody else uses them.
#[inline(always)]
pub(super) unsafe fn fill_run<T: Copy>(value: T, to: *mut u8, n: usize) {
    for i in 0..n {
        // SAFETY: element `i < n`, by the caller's promise.
        unsafe { to.cast::<T>().wrapping_add(i).write_unaligned(value) };
    }
}
