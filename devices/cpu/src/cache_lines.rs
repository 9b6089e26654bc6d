//! Cache lines: prefetched before they are needed, and written around the caches. Owns the intrinsics for both.
//!
//! A *non-temporal* store writes a whole line to memory without reading it first and without keeping it in a cache. It
//! is weakly ordered: other threads see it for certain only after a store fence.

use crate::isa::Isa;
#[cfg(target_arch = "x86_64")]
use crate::isa::Level;

/// Bytes of a cache line on every x86-64.
pub(crate) const CACHE_LINE: usize = 64;

/// Prefetches the lines of a dense run of so many bytes into the first-level cache. Where it leads out of memory,
/// nothing happens.
#[inline]
pub(crate) fn prefetch_run(memory: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for byte in (0..bytes).step_by(CACHE_LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, which is a hint at any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(memory.wrapping_add(byte).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (memory, bytes);
}

/// Prefetches a line into the second-level cache, for what is read after much else. Where it leads out of memory,
/// nothing happens.
#[inline(always)]
pub(crate) fn prefetch_line(memory: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, which is a hint at any address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(memory.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = memory;
}

/// Copies whole lines with non-temporal stores. Other threads see them after [`store_fence`].
///
/// # Safety
///
/// * N1: both runs have `bytes` bytes in bounds, a multiple of [`CACHE_LINE`], and begin with a line; those of `from`
///   are initialised, and nobody else uses those of `to`.
/// * N2: the runs do not overlap.
/// * N3: the host has the level.
#[inline(always)]
pub(crate) unsafe fn copy_non_temporal<I: Isa>(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..bytes).step_by(CACHE_LINE) {
        let (from, to) = (from.wrapping_add(at), to.wrapping_add(at));
        match I::LEVEL {
            // SAFETY: a line of each run, in bounds and aligned (N1); the host has the level (N3), and so its feature.
            Level::Avx512 => unsafe { copy_line_avx512(from.cast(), to.cast()) },
            // SAFETY: a line of each run, in bounds and aligned (N1); the host has the level (N3), and so its feature.
            Level::Avx2 => unsafe { copy_line_avx2(from.cast(), to.cast()) },
            // SAFETY: a line of each run, in bounds and aligned (N1); every x86-64 has SSE2.
            Level::Portable | Level::Sse2 => unsafe { copy_line_sse2(from.cast(), to.cast()) },
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: in bounds and initialised (N1), without overlap (N2).
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, bytes)
    };
}

/// Declares the copy of one line by aligned loads and non-temporal stores of one register width.
macro_rules! copy_line {
    ($name:ident, $feature:literal, $register:ident, $load:ident, $store:ident) => {
        /// # Safety
        ///
        /// Both begin a line, that of `from` is initialised, and nobody else uses the other. The host has the feature.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn $name(from: *const std::arch::x86_64::$register, to: *mut std::arch::x86_64::$register) {
            for k in 0..CACHE_LINE / size_of::<std::arch::x86_64::$register>() {
                // SAFETY: `k` is within the line, which is in bounds, initialised and aligned by the caller's promise.
                let part = unsafe { std::arch::x86_64::$load(from.wrapping_add(k)) };
                // SAFETY: `k` is within the line, which is in bounds, aligned and nobody else's by the caller's
                // promise.
                unsafe { std::arch::x86_64::$store(to.wrapping_add(k), part) };
            }
        }
    };
}
copy_line!(copy_line_avx512, "avx512f", __m512i, _mm512_load_si512, _mm512_stream_si512);
copy_line!(copy_line_avx2, "avx2", __m256i, _mm256_load_si256, _mm256_stream_si256);
copy_line!(copy_line_sse2, "sse2", __m128i, _mm_load_si128, _mm_stream_si128);

/// Orders this thread's non-temporal stores before whatever it stores next, so that who sees the one sees the other.
#[inline]
pub(crate) fn store_fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has the instruction, which accesses no memory.
    unsafe {
        std::arch::x86_64::_mm_sfence()
    };
}
