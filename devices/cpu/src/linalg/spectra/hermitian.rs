//! Eigenvalues and vectors of a symmetric or Hermitian matrix.
//!
//! ```text
//!   A = Q·T·Qᴴ     T = Z·Λ·Zᵀ      vectors = Q·Z
//! ```
//!
//! 1. **Scale** by a power of two where squares would overflow or underflow.
//! 2. **Tridiagonalize** by Householder reflectors, T being real (Golub & Van Loan, *Matrix Computations*, 8.3.1).
//!    From the lower triangle, columns are reduced from the first on; from the upper one, from the last on, which is
//!    the same of the matrix with rows and columns in reverse order.
//! 3. **Diagonalize** T, see `tridiagonal.rs`, and apply Q to the vectors.
//!
//! These are the steps of LAPACK's xSYEVD and xHEEVD, whose signs and phases come out; see `divide.rs` as well.

use super::super::householder::{Reflectors, reflector};
use super::super::number::{Number, zeros};
use super::super::precision::Precision;
use super::super::scale::{normalize, scale};
use super::super::vectors::{add_scaled, dot};
use super::rotation::{Columns, unturned, widen};
use super::tridiagonal;
use monomorph_core::Result;

/// The eigenvalues, in ascending order, of a matrix of which only one triangle is read; the matrix becomes the vectors,
/// column by column, where these are asked for, and is used up otherwise.
pub(in crate::linalg) fn eigh<E: Number>(
    matrix: &mut [E],
    n: usize,
    upper: bool,
    vectors: bool,
    precision: Precision,
    values: &mut [f64],
) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    if upper {
        // Element (i, j) goes to (n - 1 - i, n - 1 - j), and the upper triangle to the lower one.
        matrix.reverse();
    }
    for (j, column) in matrix.chunks_exact_mut(n).enumerate() {
        column[..j].fill(E::zero());
        column[j] = E::one() * column[j].re();
    }
    let power = normalize(matrix, precision)?;
    let mut beside = zeros(n - 1)?;
    let mut taus = zeros(n - 1)?;
    tridiagonalize(matrix, n, values, &mut beside, &mut taus)?;
    if upper {
        values.reverse();
        beside.reverse();
    }
    let mut columns = if vectors { unturned(n)? } else { Vec::new() };
    let mut turned = Columns { elements: &mut columns, height: n };
    tridiagonal::diagonalize(values, &mut beside, precision, &mut turned)?;
    scale(values, -power);
    if vectors {
        let mut product = widen(&columns)?;
        let reverse_rows = |product: &mut [E]| product.chunks_exact_mut(n).for_each(|column| column.reverse());
        if upper {
            reverse_rows(&mut product);
        }
        let elements = matrix.get(1..).unwrap_or_default();
        Reflectors { elements, stride: n, height: n - 1, taus: &taus }.apply_left(&mut product, n, false)?;
        if upper {
            reverse_rows(&mut product);
        }
        matrix.copy_from_slice(&product);
    }
    Ok(())
}

/// Reduces a matrix, of which the lower triangle is read, to a real tridiagonal one, with `diagonal` and `beside`.
/// Below the diagonal come the vectors of reflectors, one row lower than those of a QR factorization.
fn tridiagonalize<E: Number>(
    matrix: &mut [E],
    n: usize,
    diagonal: &mut [f64],
    beside: &mut [f64],
    taus: &mut [E],
) -> Result<()> {
    let (mut v, mut w) = (zeros(n)?, zeros(n)?);
    for k in 0..n - 1 {
        let (head, rest) = matrix.split_at_mut((k + 1) * n);
        let column = &mut head[k * n + k..];
        diagonal[k] = column[0].re();
        let below = &mut column[1..];
        let (tau, beta) = reflector(below);
        (taus[k], beside[k]) = (tau, beta);
        if tau.is_zero() {
            continue;
        }
        let (v, w) = (&mut v[k + 1..], &mut w[k + 1..]);
        v.copy_from_slice(below);
        v[0] = E::one();
        product(rest, n, k + 1, v, w);
        w.iter_mut().for_each(|x| *x *= tau);
        // Hᴴ·A·H = A - v·wᴴ - w·vᴴ, where w = p - ½·τ·(pᴴ·v)·v and p = τ·A·v.
        let along = tau * dot(w, v) * -0.5;
        add_scaled(w, v, along);
        for (j, column) in rest.chunks_exact_mut(n).enumerate() {
            let column = &mut column[k + 1 + j..];
            let (v, w) = (&v[j..], &w[j..]);
            let (by_v, by_w) = (-w[0].conj(), -v[0].conj());
            add_scaled(column, v, by_v);
            add_scaled(column, w, by_w);
            column[0] = E::one() * column[0].re();
        }
    }
    diagonal[n - 1] = matrix[n * n - 1].re();
    Ok(())
}

/// `w = A·v` for a Hermitian matrix, of which the lower triangle is read, in rows from `from` on.
fn product<E: Number>(columns: &[E], rows: usize, from: usize, v: &[E], w: &mut [E]) {
    w.fill(E::zero());
    for (j, column) in columns.chunks_exact(rows).enumerate() {
        let (own, below) = (column[from + j], &column[from + j + 1..]);
        w[j] += own * v[j] + dot(below, &v[j + 1..]);
        add_scaled(&mut w[j + 1..], below, v[j]);
    }
}
