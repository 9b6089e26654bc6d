//! Products of integers, modulo 2^bits, in which signed and unsigned ones are the same and sums may be taken in any
//! order: a block of B is packed into rows, and four rows of C accumulate beside it, as many columns at a time as
//! registers hold.

use super::packed::width;
use super::summed::Summed;
use super::{Matrices, Product};
use crate::isa::{Isa, Kernel};

/// Columns of C that accumulate at a time.
const WIDTH: usize = 128;

/// Rows of B that are packed at a time: with [`WIDTH`] 32 KiB of the widest integers.
const DEPTH: usize = 32;

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
        1 => unsafe { of_words::<u8>(product, at) },
        // SAFETY: see above.
        2 => unsafe { of_words::<u16>(product, at) },
        // SAFETY: see above.
        4 => unsafe { of_words::<u32>(product, at) },
        // SAFETY: see above.
        _ => unsafe { of_words::<u64>(product, at) },
    }
}

/// # Safety
///
/// M1 and M2 of [`Product::run`], for elements of the width of `T`.
unsafe fn of_words<T: Summed>(product: &Product, at: Matrices) {
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
                product.level.enter(Accumulate { sums: &mut sums, factors: &factors[..k], packed: &packed, n });
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

/// Adds the products of columns of A and rows of B.
struct Accumulate<'a, T> {
    sums: &'a mut [[T; WIDTH]; ROWS],
    factors: &'a [[T; ROWS]],
    packed: &'a [T; DEPTH * WIDTH],
    n: usize,
}

impl<I: Isa, T: Summed> Kernel<I> for Accumulate<'_, T> {
    type Output = ();
    type Home = T;

    #[inline(always)]
    fn run(self, _: I) {
        match const { width(I::LEVEL, size_of::<T>()) } {
            128 => self.columns::<128>(),
            64 => self.columns::<64>(),
            32 => self.columns::<32>(),
            16 => self.columns::<16>(),
            8 => self.columns::<8>(),
            _ => self.columns::<4>(),
        }
    }
}

impl<T: Summed> Accumulate<'_, T> {
    /// `W` columns at a time, of which the last ones may be more than there are.
    #[inline(always)]
    fn columns<const W: usize>(self) {
        for start in (0..self.n.min(WIDTH)).step_by(W) {
            let mut sums = [[T::ZERO; W]; ROWS];
            for (factors, row) in self.factors.iter().zip(self.packed.chunks_exact(WIDTH)) {
                let mut b = [T::ZERO; W];
                b.copy_from_slice(&row[start..start + W]);
                for (sums, &a) in sums.iter_mut().zip(factors) {
                    for (sum, b) in sums.iter_mut().zip(b) {
                        *sum = sum.plus(a.times(b));
                    }
                }
            }
            for (to, sums) in self.sums.iter_mut().zip(&sums) {
                to[start..start + W].copy_from_slice(sums);
            }
        }
    }
}
