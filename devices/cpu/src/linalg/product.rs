//! Products of parts of matrices, which large factorizations consist of.

use super::number::Number;
use crate::cast::Bits;
use crate::matrix::{Layout, Matrices, Product};
use monomorph_core::{Result, Scalar};

/// A factor: elements, the first of which is that of the factor.
#[derive(Clone, Copy)]
pub(super) struct Factor<'a, E> {
    pub(super) elements: &'a [E],
    /// Elements from one column to the next.
    pub(super) step: usize,
    pub(super) op: Op,
}

/// What stands in place of a matrix that is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Op {
    Itself,
    Transposed,
    Adjoint,
}

impl Op {
    /// The element in place of one of the stored matrix.
    pub(super) fn of<E: Number>(self, x: E) -> E {
        if self == Op::Adjoint { x.conj() } else { x }
    }
}

/// Whether `rows` of `columns` that are `step` elements apart are among so many elements.
fn fits([rows, columns]: [usize; 2], step: usize, elements: usize) -> bool {
    rows <= step && columns.checked_sub(1).is_none_or(|last| last * step + rows <= elements)
}

/// `C = C - op(A) · B` with C of `m` rows and `n` columns, and B of `k` rows.
pub(super) fn subtract<E: Number>(
    c: (&mut [E], usize),
    a: Factor<'_, E>,
    b: (&[E], usize),
    [m, n, k]: [usize; 3],
) -> Result<()> {
    let ((c, c_step), (b, b_step)) = (c, b);
    let stored = if a.op == Op::Itself { [m, k] } else { [k, m] };
    let fit = fits([m, n], c_step, c.len()) && fits(stored, a.step, a.elements.len()) && fits([k, n], b_step, b.len());
    if m == 0 || n == 0 || k == 0 || !fit {
        return Ok(());
    }
    let by_columns = |step: usize| Layout { row: 1, col: step as isize };
    let a_layout = if a.op == Op::Itself { by_columns(a.step) } else { by_columns(a.step).t() };
    let bits = [Bits { conj: a.op == Op::Adjoint, neg: false }, Bits { conj: false, neg: false }];
    let scalars = [Scalar::Int(-1), Scalar::Int(1)];
    let layouts = [a_layout, by_columns(b_step), by_columns(c_step)];
    let product = Product::new(E::DTYPE, [m, n, k], layouts, bits, scalars)?;
    let at = Matrices { a: a.elements.as_ptr().cast(), b: b.as_ptr().cast(), c: c.as_mut_ptr().cast() };
    // SAFETY: M1: the matrices are among the elements of slices, as was just checked, which are of the dtype.
    // M2: A and B are borrowed and C is borrowed alone; its columns are at least as far apart as they are long.
    unsafe { product.run(at) }
}

/// `C = op(A) · B`, likewise.
pub(super) fn multiply<E: Number>(
    (c, c_step): (&mut [E], usize),
    a: Factor<'_, E>,
    b: (&[E], usize),
    sizes: [usize; 3],
) -> Result<()> {
    c.fill(E::zero());
    subtract((c, c_step), a, b, sizes)?;
    c.iter_mut().for_each(|x| *x = -*x);
    Ok(())
}

/// The adjoint of a matrix: `rows` and `to_rows` are the rows of both.
pub(super) fn adjoint<E: Number>(from: &[E], rows: usize, to: &mut [E], to_rows: usize) {
    for (i, column) in to.chunks_exact_mut(to_rows.max(1)).enumerate() {
        column.iter_mut().zip(from.chunks_exact(rows.max(1))).for_each(|(x, from)| *x = from[i].conj());
    }
}
