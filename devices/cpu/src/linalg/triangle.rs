//! Systems of linear equations with triangular matrices: `op(T) X = B`, where B becomes X.
//!
//! Small ones column by column of B. Larger ones halve the triangle, so that most of the work is one product:
//!
//! ```text
//! ┌         ┐ ┌    ┐   ┌    ┐      T₁₁ X₁ = B₁
//! │T₁₁      │ │ X₁ │   │ B₁ │
//! │         │ │    │ = │    │      B₂ - T₂₁ X₁
//! │T₂₁  T₂₂ │ │ X₂ │   │ B₂ │
//! └         ┘ └    ┘   └    ┘      T₂₂ X₂ = that
//! ```

use super::number::{Number, divide};
use super::product::{Factor, Op, subtract};
use super::vectors::{add_scaled, dot};
use crate::scratch::scratch;
use monomorph_core::Result;

/// Up to how many rows, and how few right-hand sides, a system is solved column by column.
const SMALL: usize = 32;
const FEW: usize = 4;

/// A triangular matrix, the elements of which lie in columns.
#[derive(Clone, Copy)]
pub(super) struct Triangle<'a, E> {
    /// The first is that of the matrix.
    pub(super) elements: &'a [E],
    /// Elements from one column to the next.
    pub(super) step: usize,
    /// Rows and columns.
    pub(super) size: usize,
    /// What is stored is the triangle from the diagonal up.
    pub(super) upper: bool,
    /// The diagonal is 1, whatever is stored.
    pub(super) unit: bool,
    pub(super) op: Op,
}

impl<'a, E: Number> Triangle<'a, E> {
    /// A square matrix alone.
    pub(super) fn new(elements: &'a [E], size: usize, upper: bool, op: Op) -> Triangle<'a, E> {
        Triangle { elements, step: size, size, upper, unit: false, op }
    }

    /// Whether rows are solved from the first on.
    fn is_forward(&self) -> bool {
        self.upper == (self.op != Op::Itself)
    }

    /// The part with `size` rows from `first` on.
    fn part(&self, first: usize, size: usize) -> Triangle<'a, E> {
        Triangle { elements: &self.elements[first * (self.step + 1)..], size, ..*self }
    }

    /// Solves for `columns` right-hand sides in `x`, `x_step` elements apart.
    pub(super) fn solve(&self, x: &mut [E], x_step: usize, columns: usize) -> Result<()> {
        if self.size == 0 || columns == 0 {
            return Ok(());
        }
        if self.size <= SMALL || columns <= FEW {
            let x = x.chunks_mut(x_step).take(columns);
            // The compiler unrolls the loops of a size that it knows.
            match self.size {
                2 => x.for_each(|column| self.solve_one(column, 2)),
                3 => x.for_each(|column| self.solve_one(column, 3)),
                4 => x.for_each(|column| self.solve_one(column, 4)),
                size => x.for_each(|column| self.solve_one(column, size)),
            }
            return Ok(());
        }
        let half = (self.size / 2).next_multiple_of(SMALL / 2);
        let rest = self.size - half;
        let (first, last) = (self.part(0, half), self.part(half, rest));
        // Rows that are known by now, and those that they are taken from.
        let (known, known_size, left, left_size) = match self.is_forward() {
            true => {
                first.solve(x, x_step, columns)?;
                (0, half, half, rest)
            }
            false => {
                last.solve(&mut x[half..], x_step, columns)?;
                (half, rest, 0, half)
            }
        };
        // A copy, since both are in the same columns.
        let mut b = scratch::<E>(known_size * columns)?;
        for (to, from) in b.chunks_exact_mut(known_size).zip(x.chunks(x_step)) {
            to.copy_from_slice(&from[known..][..known_size]);
        }
        let (row, column) = if self.op == Op::Itself { (left, known) } else { (known, left) };
        let a = Factor { elements: &self.elements[column * self.step + row..], step: self.step, op: self.op };
        subtract((&mut x[left..], x_step), a, (&b, known_size), [left_size, columns, known_size])?;
        match self.is_forward() {
            true => last.solve(&mut x[half..], x_step, columns),
            false => first.solve(x, x_step, columns),
        }
    }

    /// Solves `n` rows, all there are, for one right-hand side.
    #[inline(always)]
    fn solve_one(&self, x: &mut [E], n: usize) {
        let x = &mut x[..n];
        let row = |i: usize| if self.is_forward() { i } else { n - 1 - i };
        for i in (0..n).map(row) {
            let column = &self.elements[i * self.step..][..n];
            // The other elements of the stored column.
            let others = if self.upper { 0..i } else { i + 1..n };
            if self.op == Op::Itself {
                if !self.unit {
                    x[i] = divide(x[i], column[i]);
                }
                let by = x[i];
                if by != E::zero() {
                    add_scaled(&mut x[others.clone()], &column[others], -by);
                }
            } else {
                let (known, elements) = (&x[others.clone()], &column[others]);
                let sum = match self.op {
                    Op::Transposed if E::DTYPE.is_complex() => {
                        known.iter().zip(elements).fold(E::zero(), |sum, (&x, &t)| sum + t * x)
                    }
                    _ => dot(elements, known),
                };
                x[i] -= sum;
                if !self.unit {
                    x[i] = divide(x[i], self.op.of(column[i]));
                }
            }
        }
    }
}
