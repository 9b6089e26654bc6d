//! Singular values and vectors of a matrix.
//!
//! ```text
//!   W = A, or Aᴴ where that is higher        W = Q·S        S = L·B·Rᴴ       B = U₂·D·V₂ᵀ
//!
//!                                            only where     L, R: House-     see `bidiagonal`
//!                                            W is tall      holder
//! ```
//!
//! 1. **Scale** by a power of two where squares would overflow or underflow.
//! 2. **QR** where W has so many more rows than columns that it pays: what is left to reduce is square (Chan, *An
//!    improved algorithm for computing the singular value decomposition*, ACM Trans. Math. Softw. 8(1), 1982).
//! 3. **Bidiagonalize** by Householder reflectors from both sides (Golub & Van Loan, *Matrix Computations*, 5.4).
//! 4. **Diagonalize** B, and apply the reflectors to the vectors.
//!
//! These are the steps of LAPACK's xGESDD. Where it begins with QR is MKL's choice, since signs and phases depend on
//! it.

use super::super::householder::{Reflectors, factor, reflect_columns, reflect_rows, reflector};
use super::super::number::{Number, zeros};
use super::super::precision::Precision;
use super::super::product::adjoint;
use super::super::scale::{normalize, scale};
use super::bidiagonal;
use super::rotation::{Columns, unturned, widen};
use monomorph_core::{DType, Result};

/// Which vectors are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::linalg) enum Vectors {
    /// None.
    None,
    /// As many as there are values: U is m × k, and Vᴴ is k × n.
    Thin,
    /// Complete bases: U is m × m, and Vᴴ is n × n.
    Full,
}

/// Where the parts of a decomposition go, column by column; k is the smaller one of m and n.
#[derive(Debug)]
pub(in crate::linalg) struct Decomposition<'a, E> {
    /// U: of m rows, and k or m columns; empty where no vectors are asked for.
    pub(in crate::linalg) u: &'a mut [E],
    /// The k values in descending order.
    pub(in crate::linalg) values: &'a mut [f64],
    /// Vᴴ: of k or n rows, and n columns; empty where no vectors are asked for.
    pub(in crate::linalg) vh: &'a mut [E],
}

/// The singular values and vectors of a matrix of `m` rows and `n` columns, column by column, which is used up.
pub(in crate::linalg) fn svd<E: Number>(
    matrix: &mut [E],
    m: usize,
    n: usize,
    vectors: Vectors,
    precision: Precision,
    decomposition: Decomposition<'_, E>,
) -> Result<()> {
    let Decomposition { u, values, vh } = decomposition;
    let (long, short, is_wide) = (m.max(n), m.min(n), m < n);
    let wanted = vectors != Vectors::None;
    let long_columns = if vectors == Vectors::Full { long } else { short };
    if short == 0 {
        if wanted {
            embed(&[], 0, u, m);
            embed(&[], 0, vh, n);
        }
        return Ok(());
    }
    let power = normalize(matrix, precision)?;
    let mut transposed = zeros(if is_wide { m * n } else { 0 })?;
    adjoint(matrix, m, &mut transposed, n);
    let work = if is_wide { &mut transposed[..] } else { matrix };
    let reduced = Reduced::new(work, long, short, is_wide, values)?;
    let mut identities = if wanted { [unturned(short)?, unturned(short)?] } else { [Vec::new(), Vec::new()] };
    let [mut left, mut right] = identities.each_mut().map(|elements| Columns { elements, height: short });
    let mut beside = zeros(short - 1)?;
    beside.copy_from_slice(&reduced.inner.beside);
    bidiagonal::diagonalize(values, &mut beside, is_wide && !reduced.is_long(), precision, &mut left, &mut right)?;
    scale(values, -power);
    if !wanted {
        return Ok(());
    }
    let (core, small) = reduced.turn(identities, is_wide)?;
    let outer = reduced.outer(work, long);
    if is_wide {
        let mut big = zeros(long * long_columns)?;
        embed(&core, short, &mut big, long);
        outer.apply_left(&mut big, long, false)?;
        adjoint(&big, long, vh, long_columns);
        u.copy_from_slice(&small);
    } else {
        embed(&core, short, u, long);
        outer.apply_left(u, long, false)?;
        adjoint(&small, short, vh, short);
    }
    Ok(())
}

/// Steps 2 and 3 of a matrix W that is not wide; B's diagonal is elsewhere.
struct Reduced<E> {
    /// τ of the reflectors of Q, whose vectors are in W; none where there is no QR.
    taus: Vec<E>,
    /// R, or Rᴴ where W is the adjoint of A, which holds the vectors of L; empty where W does.
    square: Vec<E>,
    /// What else step 3 makes.
    inner: Bidiagonal<E>,
}

impl<E: Number> Reduced<E> {
    fn new(work: &mut [E], long: usize, short: usize, is_wide: bool, diagonal: &mut [f64]) -> Result<Self> {
        if long < long_from::<E>(short, is_wide) {
            let inner = Bidiagonal::new(work, long, short, diagonal)?;
            return Ok(Reduced { taus: Vec::new(), square: Vec::new(), inner });
        }
        let (mut taus, mut square) = (zeros(short)?, zeros(short * short)?);
        factor(work, long, short, &mut taus)?;
        for (j, column) in work.chunks_exact(long).enumerate() {
            for (i, &x) in column[..=j].iter().enumerate() {
                // What is bidiagonalized is a factor of A itself: R of A = Q·R, or Rᴴ of A = Rᴴ·Qᴴ.
                if is_wide {
                    square[i * short + j] = x.conj();
                } else {
                    square[j * short + i] = x;
                }
            }
        }
        let inner = Bidiagonal::new(&mut square, short, short, diagonal)?;
        Ok(Reduced { taus, square, inner })
    }

    /// Whether W was so long that QR came first.
    fn is_long(&self) -> bool {
        !self.taus.is_empty()
    }

    /// L and R of B's vectors as far as they are square: those that Q or L is still to be applied to, and the others,
    /// which are complete.
    fn turn(&self, [left, right]: [Vec<f64>; 2], is_wide: bool) -> Result<(Vec<E>, Vec<E>)> {
        let short = self.inner.left_taus.len();
        let (mut left, mut right) = (widen(&left)?, widen(&right)?);
        if self.is_long() {
            self.inner.left(&self.square, short).apply_left(&mut left, short, false)?;
            self.inner.right().apply_left(&mut right, short, false)?;
        }
        let (core, mut small) = if is_wide { (right, left) } else { (left, right) };
        if !self.is_long() {
            self.inner.right().apply_left(&mut small, short, false)?;
        }
        Ok((core, small))
    }

    /// The reflectors of the longer vectors that come last.
    fn outer<'a>(&'a self, work: &'a [E], long: usize) -> Reflectors<'a, E> {
        if self.is_long() {
            Reflectors { elements: work, stride: long, height: long, taus: &self.taus }
        } else {
            self.inner.left(work, long)
        }
    }
}

/// The number of rows of W from which on QR comes first.
///
/// These are the numbers of MKL, as results of PyTorch tell them: for real matrices, it has 3/2 and 20 where LAPACK has
/// 11/6 for both.
fn long_from<E: Number>(short: usize, is_wide: bool) -> usize {
    match E::DTYPE == DType::F64 {
        true if is_wide => short.saturating_mul(20),
        true => short + short / 2,
        false => short + short * 8 / 9,
    }
}

/// What a matrix of at least as many rows as columns becomes, besides B's diagonal, and the vectors of L, which are
/// below its own diagonal.
struct Bidiagonal<E> {
    /// B's elements above the diagonal.
    beside: Vec<f64>,
    /// τ of the reflectors of L.
    left_taus: Vec<E>,
    /// The vectors of the reflectors of R, from the second row on.
    right: Vec<E>,
    /// τ of the reflectors of R.
    right_taus: Vec<E>,
}

impl<E: Number> Bidiagonal<E> {
    fn new(matrix: &mut [E], rows: usize, columns: usize, diagonal: &mut [f64]) -> Result<Self> {
        let rest = columns - 1;
        let (mut beside, mut right) = (zeros(rest)?, zeros(rest * rest)?);
        let (mut left_taus, mut right_taus) = (zeros(columns)?, zeros(rest)?);
        let mut sums = zeros(rows)?;
        for k in 0..columns {
            let (head, after) = matrix.split_at_mut((k + 1) * rows);
            let column = &mut head[k * rows + k..];
            (left_taus[k], diagonal[k]) = reflector(column);
            reflect_columns(&column[1..], left_taus[k].conj(), after, rows, k);
            if k == rest {
                break;
            }
            // The row's adjoint, which is a column.
            let row = &mut right[k * rest + k..][..rest - k];
            row.iter_mut().zip(after.chunks_exact(rows)).for_each(|(x, column)| *x = column[k].conj());
            (right_taus[k], beside[k]) = reflector(row);
            reflect_rows(&row[1..], right_taus[k], after, rows, k + 1..rows, &mut sums);
        }
        Ok(Bidiagonal { beside, left_taus, right, right_taus })
    }

    /// L, of which the matrix holds the vectors.
    fn left<'a>(&'a self, matrix: &'a [E], rows: usize) -> Reflectors<'a, E> {
        Reflectors { elements: matrix, stride: rows, height: rows, taus: &self.left_taus }
    }

    /// R, without its first row and column, which are those of the identity.
    fn right(&self) -> Reflectors<'_, E> {
        let rest = self.right_taus.len();
        Reflectors { elements: &self.right, stride: rest, height: rest, taus: &self.right_taus }
    }
}

/// Puts a square matrix in the corner of an identity of `rows` rows.
fn embed<E: Number>(square: &[E], short: usize, elements: &mut [E], rows: usize) {
    for (j, column) in elements.chunks_exact_mut(rows.max(1)).enumerate() {
        column.fill(E::zero());
        if j < short {
            column[..short].copy_from_slice(&square[j * short..][..short]);
        } else {
            column[j] = E::one();
        }
    }
}
