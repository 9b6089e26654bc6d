//! Runs of every second element, as of the real parts of complex numbers, to and from dense runs by the processor's
//! instructions: read as elements twice as wide, of which the lower halves are wanted. Owns the intrinsics for it; what has
//! none is moved element by element (`cast.rs`).
//!
//! The elements in between are masked out, so they are neither read nor written: they may be another view's, which somebody
//! else is writing.
//!
//! Contract of every function here:
//! * S1: both runs have `n` elements in bounds, the source initialised, the destination written by nobody else.
//! * S2: the runs do not overlap.
//! * S3: the host has the level.

use crate::isa::Isa;
#[cfg(target_arch = "x86_64")]
use crate::isa::Level;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Copies the first elements of a stepped run into a dense one, as many as the instructions take. How many those are.
///
/// # Safety
///
/// S1–S3.
#[inline(always)]
pub(crate) unsafe fn gather<I: Isa>(from: *const u8, to: *mut u8, size: usize, n: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if I::LEVEL == Level::Avx512 {
        return match size {
            // SAFETY: S1–S3 are passed on, here and below.
            1 => unsafe { gather_1(from, to, n) },
            // SAFETY: as above.
            2 => unsafe { gather_2(from, to, n) },
            // SAFETY: as above.
            4 => unsafe { gather_4(from, to, n) },
            // SAFETY: as above.
            8 => unsafe { gather_8(from, to, n) },
            _ => 0,
        };
    }
    let _ = (from, to, size, n);
    0
}

/// Copies the first elements of a dense run into a stepped one, as many as the instructions take. How many those are.
///
/// # Safety
///
/// S1–S3.
#[inline(always)]
pub(crate) unsafe fn scatter<I: Isa>(from: *const u8, to: *mut u8, size: usize, n: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if I::LEVEL == Level::Avx512 {
        return match size {
            // SAFETY: S1–S3 are passed on, here and below.
            1 => unsafe { scatter_1(from, to, n) },
            // SAFETY: as above.
            2 => unsafe { scatter_2(from, to, n) },
            // SAFETY: as above.
            4 => unsafe { scatter_4(from, to, n) },
            // SAFETY: as above.
            8 => unsafe { scatter_8(from, to, n) },
            _ => 0,
        };
    }
    let _ = (from, to, size, n);
    0
}

/// Both ways for elements of so many bytes: how many of them a register of twice their width holds, the mask of every second
/// one, the masked load, what takes the lower halves, the store of the dense half, and back: its load, what widens it, and
/// the masked store.
macro_rules! steps {
    ($($gather:ident $scatter:ident: $size:literal, $count:literal, $mask:literal;
        $masked_load:ident $narrow:expr, $store:ident; $load:ident $widen:expr, $masked_store:ident;)*) => {$(
        #[cfg(target_arch = "x86_64")]
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        unsafe fn $gather(from: *const u8, to: *mut u8, n: usize) -> usize {
            let whole = n - n % $count;
            for i in (0..whole).step_by($count) {
                // SAFETY: S1: the mask keeps to elements of the run.
                let x = unsafe { $masked_load($mask, from.wrapping_add(2 * $size * i).cast()) };
                let y = $narrow(x);
                // SAFETY: S1.
                unsafe { $store(to.wrapping_add($size * i).cast(), y) };
            }
            whole
        }

        #[cfg(target_arch = "x86_64")]
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        unsafe fn $scatter(from: *const u8, to: *mut u8, n: usize) -> usize {
            let whole = n - n % $count;
            for i in (0..whole).step_by($count) {
                // SAFETY: S1.
                let x = unsafe { $load(from.wrapping_add($size * i).cast()) };
                let y = $widen(x);
                // SAFETY: S1: the mask keeps to elements of the run.
                unsafe { $masked_store(to.wrapping_add(2 * $size * i).cast(), $mask, y) };
            }
            whole
        }
    )*};
}
steps! {
    gather_1 scatter_1: 1, 32, 0x5555_5555_5555_5555;
        _mm512_maskz_loadu_epi8 |x| _mm512_cvtepi16_epi8(x), _mm256_storeu_si256;
        _mm256_loadu_si256 |x| _mm512_cvtepu8_epi16(x), _mm512_mask_storeu_epi8;
    gather_2 scatter_2: 2, 16, 0x5555_5555;
        _mm512_maskz_loadu_epi16 |x| _mm512_cvtepi32_epi16(x), _mm256_storeu_si256;
        _mm256_loadu_si256 |x| _mm512_cvtepu16_epi32(x), _mm512_mask_storeu_epi16;
    gather_4 scatter_4: 4, 8, 0x5555;
        _mm512_maskz_loadu_epi32 |x| _mm512_cvtepi64_epi32(x), _mm256_storeu_si256;
        _mm256_loadu_si256 |x| _mm512_cvtepu32_epi64(x), _mm512_mask_storeu_epi32;
    gather_8 scatter_8: 8, 4, 0x55;
        _mm512_maskz_loadu_epi64 |x| _mm512_castsi512_si256(_mm512_maskz_compress_epi64(0x55, x)), _mm256_storeu_si256;
        _mm256_loadu_si256 |x| _mm512_maskz_expand_epi64(0x55, _mm512_castsi256_si512(x)), _mm512_mask_storeu_epi64;
}
