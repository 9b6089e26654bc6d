//! Runs with a stride of two elements, as of the real parts of complex numbers or `x[::2]`, to and from dense runs,
//! with AVX-512.
//!
//! ```text
//! memory:    a ? b ? c ? d ?     read as elements of twice the width, with a mask over every second half
//! register:  a 0 b 0 c 0 d 0     narrowed to the lower halves by one instruction
//! dense:     a b c d
//! ```
//!
//! The elements in between are masked, so they are neither read nor written: they may be another view's, which another
//! thread is writing. Owns the intrinsics for this; at other levels, and for what is left of a run, elements are copied
//! one by one (`cast.rs`). Add of 64Ki uint8 with this stride: 1.1 of PyTorch's speed before, 5.7 after (decision
//! 0010).
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

/// Every second element, `N` in all: of two blocks of as many, so that nothing behind the last one is read. Those in
/// between are read: they have to be the caller's, too.
///
/// # Safety
///
/// The first `2 N - 1` elements from `from` on are initialised, and nobody writes them; `N` is even.
#[inline(always)]
pub(crate) unsafe fn every_second<T: Copy, const N: usize>(from: *const T) -> [T; N] {
    // SAFETY: of `2 N - 1` elements the first `N`.
    let first = unsafe { from.cast::<[T; N]>().read_unaligned() };
    // SAFETY: and the last.
    let last = unsafe { from.wrapping_add(N - 1).cast::<[T; N]>().read_unaligned() };
    std::array::from_fn(|i| if i < N / 2 { first[2 * i] } else { last[2 * (i - N / 2) + 1] })
}

/// Copies the first elements of a run of stride two into a dense one, as many whole registers as there are. Returns how
/// many elements that is.
///
/// # Safety
///
/// S1–S3.
#[inline(always)]
pub(crate) unsafe fn gather<I: Isa>(from: *const u8, to: *mut u8, size: usize, n: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if I::LEVEL == Level::Avx512 {
        return match size {
            // SAFETY: the caller promises S1 and S2; the level has the features, and the host has it (S3).
            1 => unsafe { gather_1(from, to, n) },
            // SAFETY: the caller promises S1 and S2; the level has the features, and the host has it (S3).
            2 => unsafe { gather_2(from, to, n) },
            // SAFETY: the caller promises S1 and S2; the level has the features, and the host has it (S3).
            4 => unsafe { gather_4(from, to, n) },
            // SAFETY: the caller promises S1 and S2; the level has the features, and the host has it (S3).
            8 => unsafe { gather_8(from, to, n) },
            _ => 0,
        };
    }
    let _ = (from, to, size, n);
    0
}

/// Copies the first elements of a dense run into one of stride two, as many whole registers as there are. Returns how
/// many elements that is.
///
/// # Safety
///
/// S1–S3.
#[inline(always)]
pub(crate) unsafe fn scatter<I: Isa>(from: *const u8, to: *mut u8, size: usize, n: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if I::LEVEL == Level::Avx512 {
        return match size {
            // SAFETY: the caller promises S1 and S2; the level has the features, and the host has it (S3).
            1 => unsafe { scatter_1(from, to, n) },
            // SAFETY: the caller promises S1 and S2; the level has the features, and the host has it (S3).
            2 => unsafe { scatter_2(from, to, n) },
            // SAFETY: the caller promises S1 and S2; the level has the features, and the host has it (S3).
            4 => unsafe { scatter_4(from, to, n) },
            // SAFETY: the caller promises S1 and S2; the level has the features, and the host has it (S3).
            8 => unsafe { scatter_8(from, to, n) },
            _ => 0,
        };
    }
    let _ = (from, to, size, n);
    0
}

/// Declares both ways for elements of so many bytes. A row of the list is: how many elements a register holds, the mask
/// of every second one; for the gather the masked load, what narrows to the lower halves, and the dense store; for the
/// scatter the dense load, what widens, and the masked store.
macro_rules! stride2 {
    ($($gather:ident $scatter:ident: $size:literal, $count:literal, $mask:literal;
        $masked_load:ident $narrow:expr, $store:ident; $load:ident $widen:expr, $masked_store:ident;)*) => {$(
        /// # Safety
        ///
        /// S1, S2; the host has the features.
        #[cfg(target_arch = "x86_64")]
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        unsafe fn $gather(from: *const u8, to: *mut u8, n: usize) -> usize {
            let whole = n - n % $count;
            for i in (0..whole).step_by($count) {
                // SAFETY: `i + $count <= n`, so the elements that the mask leaves are in bounds and initialised (S1).
                let x = unsafe { $masked_load($mask, from.wrapping_add(2 * $size * i).cast()) };
                let y = $narrow(x);
                // SAFETY: `i + $count <= n`, so the elements of the dense run are in bounds and nobody else's (S1).
                unsafe { $store(to.wrapping_add($size * i).cast(), y) };
            }
            whole
        }

        /// # Safety
        ///
        /// S1, S2; the host has the features.
        #[cfg(target_arch = "x86_64")]
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        unsafe fn $scatter(from: *const u8, to: *mut u8, n: usize) -> usize {
            let whole = n - n % $count;
            for i in (0..whole).step_by($count) {
                // SAFETY: `i + $count <= n`, so the elements of the dense run are in bounds and initialised (S1).
                let x = unsafe { $load(from.wrapping_add($size * i).cast()) };
                let y = $widen(x);
                // SAFETY: `i + $count <= n`, so the elements that the mask leaves are in bounds and nobody else's (S1).
                unsafe { $masked_store(to.wrapping_add(2 * $size * i).cast(), $mask, y) };
            }
            whole
        }
    )*};
}
stride2! {
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
