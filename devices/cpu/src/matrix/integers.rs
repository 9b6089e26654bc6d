//! Products of integers, modulo 2^bits, in which signed and unsigned ones are the same and sums may be taken in any
//! order: a block of B is packed into rows, and four rows of C accumulate beside it in the first cache. Integers of
//! 64 bits that all fit in 32 are multiplied as such: AVX2 has an instruction for these, and none for all 64 bits.

use super::summed::Summed;
use super::{Matrices, Product};
use crate::isa::{Isa, Kernel};
use std::sync::atomic::{Ordering, compiler_fence};

/// Columns of C that accumulate at a time.
const WIDTH: usize = 64;

/// Rows of B that are packed at a time: with [`WIDTH`] 32 KiB of the widest integers.
const DEPTH: usize = 64;

/// Rows of C that accumulate at a time; each element of B that is loaded is used so often.
const ROWS: usize = 4;

/// Computes a product.
///
/// # Safety
///
/// M1 and M2 of [`Product::run`], for a dtype of integers.
pub(super) unsafe fn multiply(product: &Product, at: Matrices) {
    // SAFETY, of all: M1, M2; words have the width of the dtype.
    match product.dtype.size() {
        // SAFETY: see above.
        1 => unsafe { of_words::<u8, 64>(product, at) },
        // SAFETY: see above.
        2 => unsafe { of_words::<u16, 32>(product, at) },
        // SAFETY: see above.
        4 => unsafe { of_words::<u32, 16>(product, at) },
        // SAFETY: see above.
        _ => unsafe { of_words::<u64, 8>(product, at) },
    }
}

/// # Safety
///
/// M1 and M2 of [`Product::run`], for elements of the width of `T`, of which `TILE` are a line of the cache.
unsafe fn of_words<T: Summed, const TILE: usize>(product: &Product, at: Matrices) {
    let Product { m, n, k, c, .. } = *product;
    let (alpha, beta) = (T::of(product.alpha), T::of(product.beta));
    let place = |row, col| at.c.cast::<T>().wrapping_offset(c.at(row, col));
    for row in 0..m {
        for col in 0..n {
            let at = place(row, col);
            let kept = match product.overwrites() {
                true => T::ZERO,
                // SAFETY: an element of C, which is initialised since beta is not zero (M1).
                false => unsafe { at.read_unaligned() }.times(beta),
            };
            // SAFETY: an element of C, which nobody else uses (M2).
            unsafe { at.write_unaligned(kept) };
        }
    }
    let mut packed = [T::ZERO; DEPTH * WIDTH];
    let all_fit = |elements: &[T]| elements.iter().fold(true, |all, x| all & x.fits_i32());
    for col in (0..n).step_by(WIDTH) {
        let n = WIDTH.min(n - col);
        for from in (0..k).step_by(DEPTH) {
            let k = DEPTH.min(k - from);
            for p in 0..k {
                for j in 0..n {
                    let at = at.b.cast::<T>().wrapping_offset(product.b.at(from + p, col + j));
                    // SAFETY: an element of B (M1).
                    packed[p * WIDTH + j] = unsafe { at.read_unaligned() };
                }
            }
            let is_small = all_fit(&packed);
            for row in (0..m).step_by(ROWS) {
                let rows = ROWS.min(m - row);
                let mut factors = [[T::ZERO; ROWS]; DEPTH];
                for (p, factors) in factors.iter_mut().enumerate().take(k) {
                    for (i, factor) in factors.iter_mut().enumerate().take(rows) {
                        let at = at.a.cast::<T>().wrapping_offset(product.a.at(row + i, from + p));
                        // SAFETY: an element of A (M1).
                        *factor = unsafe { at.read_unaligned() }.times(alpha);
                    }
                }
                let mut sums = [[T::ZERO; WIDTH]; ROWS];
                let is_small = is_small && all_fit(factors.as_flattened());
                let factors = &factors[..k];
                let work = Accumulate::<T, TILE> { sums: &mut sums, factors, packed: &packed, n, is_small };
                product.level.enter(work);
                for (i, sums) in sums.iter().enumerate().take(rows) {
                    for (j, sum) in sums.iter().enumerate().take(n) {
                        let at = place(row + i, col + j);
                        // SAFETY: an element of C, which was written above.
                        let before = unsafe { at.read_unaligned() };
                        // SAFETY: an element of C, which nobody else uses (M2).
                        unsafe { at.write_unaligned(before.plus(*sum)) };
                    }
                }
            }
        }
    }
}

/// Sums the products of columns of A and rows of B: `TILE` columns at a time in registers.
struct Accumulate<'a, T, const TILE: usize> {
    sums: &'a mut [[T; WIDTH]; ROWS],
    factors: &'a [[T; ROWS]],
    packed: &'a [T; DEPTH * WIDTH],
    n: usize,
    /// All factors and all that is packed are integers of 64 bits that fit in 32.
    is_small: bool,
}

impl<I: Isa, T: Summed, const TILE: usize> Kernel<I> for Accumulate<'_, T, TILE> {
    type Output = ();
    type Home = T;

    #[inline(always)]
    fn run(self, _: I) {
        if const { size_of::<T>() == 8 } && self.is_small {
            return self.accumulate(T::times_as_i32);
        }
        self.accumulate(T::times);
    }
}

impl<T: Summed, const TILE: usize> Accumulate<'_, T, TILE> {
    #[inline(always)]
    fn accumulate(self, times: impl Fn(T, T) -> T) {
        for first in (0..self.n.min(WIDTH)).step_by(TILE) {
            let mut tile = [[T::ZERO; TILE]; ROWS];
            for (a, b) in self.factors.iter().zip(self.packed.chunks_exact(WIDTH)) {
                // Integers may be summed in any order: without this the compiler would make lanes of terms, and gather.
                compiler_fence(Ordering::SeqCst);
                let Some(b) = b[first..].first_chunk::<TILE>() else { break };
                let [s0, s1, s2, s3] = &mut tile;
                for j in 0..TILE {
                    let x = b[j];
                    s0[j] = s0[j].plus(times(a[0], x));
                    s1[j] = s1[j].plus(times(a[1], x));
                    s2[j] = s2[j].plus(times(a[2], x));
                    s3[j] = s3[j].plus(times(a[3], x));
                }
            }
            for (sums, tile) in self.sums.iter_mut().zip(&tile) {
                sums[first..first + TILE].copy_from_slice(tile);
            }
        }
    }
}
