//! Elements that are kept, moved together: by the instruction that AVX-512 has for it, else one by one. Owns the
//! intrinsics for this. `unique_consecutive` of 64Ki int64, of which one in eleven is like its neighbour, took 30 µs
//! one by one, and takes 17 by the instruction.

use crate::isa::Isa;
#[cfg(target_arch = "x86_64")]
use crate::isa::Level;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Writes the elements that are kept to the front of `to`, and whatever behind them. Returns how many there are.
#[inline(always)]
pub(crate) fn compact<I: Isa, T: Copy, const N: usize>(elements: &[T; N], kept: &[bool; N], to: &mut [T; N]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if I::LEVEL == Level::Avx512 {
        let (from, to, kept) = (elements.as_ptr().cast(), to.as_mut_ptr().cast(), kept.as_ptr().cast());
        match size_of::<T>() {
            // SAFETY: K1: arrays of `N` elements of four bytes, and as many bools; a token of the level exists (I1).
            4 if N.is_multiple_of(16) => return unsafe { compact_4(from, kept, to, N) },
            // SAFETY: K1: arrays of `N` elements of eight bytes, and as many bools; a token of the level exists (I1).
            8 if N.is_multiple_of(8) => return unsafe { compact_8(from, kept, to, N) },
            _ => {}
        }
    }
    // Each is written, and kept or written over: there are no branches to mispredict.
    let mut count = 0;
    for (&x, &kept) in elements.iter().zip(kept) {
        to[count] = x;
        count += usize::from(kept);
    }
    count
}

/// Declares the loop for elements of so many bytes. A row of the list is: how many elements a register holds, the load
/// of as many bools; the load, what moves together, and the store.
macro_rules! compact {
    ($($name:ident: $size:literal, $count:literal, $bools:ident $load:ident, $compress:ident, $store:ident;)*) => {$(
        /// Contract: K1: `n` elements, a multiple of those of a register, are in bounds on both sides and as many bools
        /// (bytes 0 or 1) at `kept`; those that are read are initialised, and nobody else uses those of `to`.
        ///
        /// # Safety
        ///
        /// K1; the host has the features.
        #[cfg(target_arch = "x86_64")]
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,popcnt")]
        unsafe fn $name(from: *const u8, kept: *const u8, to: *mut u8, n: usize) -> usize {
            let mut count = 0;
            for i in (0..n).step_by($count) {
                // SAFETY: `i + $count <= n`, so as many bools are in bounds and initialised (K1).
                let bools = unsafe { $bools(kept.wrapping_add(i).cast()) };
                let mask = _mm_test_epi8_mask(bools, bools);
                // SAFETY: `i + $count <= n`, so as many elements are in bounds and initialised (K1).
                let x = unsafe { $load(from.wrapping_add($size * i).cast()) };
                let together = $compress(mask as _, x);
                // SAFETY: no more than `i` elements were kept, so a register fits in where `i + $count <= n` (K1).
                unsafe { $store(to.wrapping_add($size * count).cast(), together) };
                count += mask.count_ones() as usize;
            }
            count
        }
    )*};
}
compact! {
    compact_4: 4, 16, _mm_loadu_si128 _mm512_loadu_epi32, _mm512_maskz_compress_epi32, _mm512_storeu_epi32;
    compact_8: 8, 8, _mm_loadl_epi64 _mm512_loadu_epi64, _mm512_maskz_compress_epi64, _mm512_storeu_epi64;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Kernel, Level};

    struct Compact<'a, T>(&'a [T; 64], &'a [bool; 64]);

    impl<T: Copy + Default, I: Isa> Kernel<I> for Compact<'_, T> {
        type Home = Self;
        type Output = Vec<T>;

        #[inline(always)]
        fn run(self, _: I) -> Vec<T> {
            let mut to = [T::default(); 64];
            let count = compact::<I, T, 64>(self.0, self.1, &mut to);
            to[..count].to_vec()
        }
    }

    #[test]
    fn every_level_keeps_the_same() {
        let (narrow, wide): ([u32; 64], [u64; 64]) =
            (std::array::from_fn(|i| i as u32 + 7), std::array::from_fn(|i| i as u64 + 7));
        let bytes: [u8; 64] = std::array::from_fn(|i| i as u8);
        for turn in 0..40 {
            let kept: [bool; 64] = std::array::from_fn(|i| (i * 37 + turn) % 40 < turn);
            let want: Vec<u64> = wide.iter().zip(kept).filter(|(_, kept)| *kept).map(|(x, _)| *x).collect();
            for level in Level::available() {
                assert_eq!(level.enter(Compact(&wide, &kept)), want, "{level}");
                assert!(level.enter(Compact(&narrow, &kept)).into_iter().map(u64::from).eq(want.iter().copied()));
                assert!(level.enter(Compact(&bytes, &kept)).into_iter().map(|x| u64::from(x) + 7).eq(want.clone()));
            }
        }
    }
}
