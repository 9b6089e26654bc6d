//! Lines of the caches: asked for before they are needed, and stored past the caches. Owns the intrinsics for it.

use crate::isa::Isa;
#[cfg(target_arch = "x86_64")]
use crate::isa::Level;

/// Bytes of a line of a cache.
pub(crate) const LINE: usize = 64;

/// Asks for the lines of a dense run of so many bytes.
#[inline]
pub(crate) fn prefetch_run(memory: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for byte in (0..bytes).step_by(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, which is a hint at any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(memory.wrapping_add(byte).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (memory, bytes);
}

/// Copies whole lines past the caches. Other threads see them after [`end_stream`].
///
/// # Safety
///
/// Both runs have so many bytes, a multiple of [`LINE`], begin with a line, and lie apart; those of `from` are initialised. The host has
/// the level.
#[inline(always)]
pub(crate) unsafe fn stream_lines<I: Isa>(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..bytes).step_by(LINE) {
        let (from, to) = (from.wrapping_add(at), to.wrapping_add(at));
        match I::LEVEL {
            // SAFETY: in bounds and aligned by the caller's promise, and so is the level, here and below.
            Level::Avx512 => unsafe { stream_avx512(from.cast(), to.cast()) },
            // SAFETY: as above.
            Level::Avx2 => unsafe { stream_avx2(from.cast(), to.cast()) },
            // SAFETY: as above.
            Level::Portable | Level::Sse2 => unsafe { stream_sse2(from.cast(), to.cast()) },
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: passed on.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, bytes)
    };
}

/// Declares how a line is copied past the caches by registers of one width.
macro_rules! streams {
    ($name:ident, $feature:literal, $register:ident, $load:ident, $store:ident) => {
        /// # Safety
        ///
        /// Both begin with a line, that of `from` is initialised, nobody else uses the other. The host has the feature.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn $name(from: *const std::arch::x86_64::$register, to: *mut std::arch::x86_64::$register) {
            for k in 0..LINE / size_of::<std::arch::x86_64::$register>() {
                // SAFETY: in bounds and aligned by the caller's promise.
                let part = unsafe { std::arch::x86_64::$load(from.wrapping_add(k)) };
                // SAFETY: as above.
                unsafe { std::arch::x86_64::$store(to.wrapping_add(k), part) };
            }
        }
    };
}
streams!(stream_avx512, "avx512f", __m512i, _mm512_load_si512, _mm512_stream_si512);
streams!(stream_avx2, "avx2", __m256i, _mm256_load_si256, _mm256_stream_si256);
streams!(stream_sse2, "sse2", __m128i, _mm_load_si128, _mm_stream_si128);

/// Makes what this thread streamed visible before whatever it stores next.
#[inline]
pub(crate) fn end_stream() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence()
    };
}
