//! Reflectors in blocks: the product of some as one matrix, I - V·T·Vᴴ with T upper triangular, so that to apply them
//! is two products (R. Schreiber & C. Van Loan, *A storage-efficient WY representation for products of Householder
//! transformations*, SIAM J. Sci. Stat. Comput. 10(1), 1989).

use super::number::Number;
use super::product::{Factor, Op, multiply, subtract};
use super::vectors::dot;
use crate::scratch::{Scratch, scratch};
use monomorph_core::Result;

/// Reflectors of a block.
pub(super) const BLOCK: usize = 32;

/// Fewer reflectors, or columns that they are applied to, are not worth T.
const FEW: usize = 16;

/// Whether so many reflectors are applied to so many columns as blocks.
pub(super) fn suits(reflectors: usize, columns: usize) -> bool {
    reflectors >= FEW && columns >= FEW
}

/// A product of reflectors.
pub(super) struct Block<E> {
    v: Scratch<E>,
    t: Scratch<E>,
    height: usize,
    count: usize,
}

impl<E: Number> Block<E> {
    /// The reflectors whose vectors are below the diagonal of `columns`, which are `step` elements apart and have
    /// `height`.
    pub(super) fn new(columns: &[E], step: usize, height: usize, taus: &[E]) -> Result<Block<E>> {
        let count = taus.len();
        let mut v = scratch::<E>(height * count)?;
        for (k, column) in v.chunks_exact_mut(height).enumerate() {
            column[k] = E::one();
            column[k + 1..].copy_from_slice(&columns[k * step..][k + 1..height]);
        }
        let mut t = scratch::<E>(count * count)?;
        for (k, &tau) in taus.iter().enumerate() {
            let (before, column) = t.split_at_mut(k * count);
            // What (I - V·T·Vᴴ)·(I - τ·v·vᴴ) adds: the column -τ·T·Vᴴ·v.
            let own = &v[k * height..][k..height];
            for (i, x) in column[..k].iter_mut().enumerate() {
                *x = dot(&v[i * height..][k..height], own) * -tau;
            }
            for i in 0..k {
                let row = before[i..].iter().step_by(count);
                column[i] = row.zip(&column[..k]).skip(i).fold(E::zero(), |sum, (&t, &x)| sum + t * x);
            }
            column[k] = tau;
        }
        Ok(Block { v, t, height, count })
    }

    /// Columns, `step` elements apart, become their product with the block from the left, or with its adjoint.
    pub(super) fn apply(&self, c: &mut [E], step: usize, columns: usize, adjoint: bool) -> Result<()> {
        let Block { v, t, height, count } = self;
        let (height, count) = (*height, *count);
        let factor = |elements, step, op| Factor { elements, step, op };
        let (mut along, mut turned) = (scratch::<E>(count * columns)?, scratch::<E>(count * columns)?);
        multiply((&mut along, count), factor(v, height, Op::Adjoint), (c, step), [count, columns, height])?;
        let op = if adjoint { Op::Adjoint } else { Op::Itself };
        multiply((&mut turned, count), factor(t, count, op), (&along, count), [count, columns, count])?;
        subtract((c, step), factor(v, height, Op::Itself), (&turned, count), [height, columns, count])
    }
}
