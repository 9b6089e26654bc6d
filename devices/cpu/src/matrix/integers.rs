//! Products of integers, modulo 2^bits, in which signed and unsigned ones are the same and sums may be taken in any
//! order: a block of B is packed into rows, and four rows of C accumulate beside it in the first cache.

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
        let [s0, s1, s2, s3] = self.sums;
        for (&[a0, a1, a2, a3], b) in self.factors.iter().zip(self.packed.chunks_exact(WIDTH)) {
            for j in 0..self.n.min(WIDTH) {
                s0[j] = s0[j].plus(a0.times(b[j]));
                s1[j] = s1[j].plus(a1.times(b[j]));
                s2[j] = s2[j].plus(a2.times(b[j]));
                s3[j] = s3[j].plus(a3.times(b[j]));
            }
        }
    }
}
