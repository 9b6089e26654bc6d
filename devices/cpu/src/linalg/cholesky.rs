//! Cholesky factors: `A = L · Lᴴ`, L in the place of A. Block by block of columns: what the columns before contribute
//! is one product, and what is left is factored column by column (Golub & Van Loan, *Matrix Computations*, 4.2).

use super::number::Number;
use super::product::{Factor, Op, subtract};
use super::vectors::add_scaled;
use crate::scratch::scratch;
use monomorph_core::Result;

/// Columns of a block.
const BLOCK: usize = 32;

/// Factors a matrix of `n` rows, of which the lower triangle counts; the upper one becomes 0. Returns the first row,
/// from 1, at which it turns out not to be positive definite; or 0.
pub(super) fn factor<E: Number>(a: &mut [E], n: usize) -> Result<i32> {
    for (j, column) in a.chunks_exact_mut(n.max(1)).enumerate() {
        column[..j].fill(E::zero());
    }
    for first in (0..n).step_by(BLOCK) {
        let width = BLOCK.min(n - first);
        let (before, block) = a.split_at_mut(first * n);
        let block = &mut block[..width * n];
        if first > 0 {
            let mut rows = scratch::<E>(first * width)?;
            for (i, row) in rows.chunks_exact_mut(first).enumerate() {
                row.iter_mut().zip(before.chunks_exact(n)).for_each(|(x, column)| *x = column[first + i].conj());
            }
            let left = Factor { elements: &before[first..], step: n, op: Op::Itself };
            subtract((&mut block[first..], n), left, (&rows, first), [n - first, width, first])?;
            // The product has its triangle above the diagonal, too.
            for (j, column) in block.chunks_exact_mut(n).enumerate() {
                column[first..first + j].fill(E::zero());
            }
        }
        let failed = one_by_one(block, n, first);
        if failed != 0 {
            return Ok(failed);
        }
    }
    Ok(0)
}

/// Factors a block whose diagonal begins in row `first`, column by column.
fn one_by_one<E: Number>(block: &mut [E], n: usize, first: usize) -> i32 {
    for j in 0..block.len() / n {
        let (done, column) = block.split_at_mut(j * n);
        let (column, row) = (&mut column[..n], first + j);
        let mut pivot = column[row].re();
        for other in done.chunks_exact(n) {
            let by = other[row].conj();
            pivot -= (other[row] * by).re();
        }
        column[row] = E::of(pivot);
        // NaN is not positive either.
        if pivot.is_nan() || pivot <= 0.0 {
            return row as i32 + 1;
        }
        let root = pivot.sqrt();
        column[row] = E::of(root);
        for other in done.chunks_exact(n) {
            let by = other[row].conj();
            add_scaled(&mut column[row + 1..], &other[row + 1..], -by);
        }
        column[row + 1..].iter_mut().for_each(|x| *x = *x * root.recip());
    }
    0
}
