//! Householder reflectors with LAPACK's conventions, and the QR factorisation by them.
//!
//! ```text
//!   H = I - τ·v·vᴴ      Hᴴ·x = β·e₁      v₀ = 1      β is real, and its sign is opposite to that of x₀'s real part
//!
//!   Q = H₀·H₁·…·Hₖ₋₁    the vectors are below the diagonal of a matrix:   ┌ β       ┐
//!                                                                        │ v₀ β    │
//!                                                                        │ v₀ v₁ β │
//!                                                                        └ v₀ v₁ v₂┘
//! ```
//!
//! H is unitary; it is Hermitian as well where x is real. Golub & Van Loan, *Matrix Computations*, 5.1 and 5.2; the
//! choice of a real β and of the side on which τ is conjugated are those of LAPACK's xLARFG (*LAPACK Users' Guide*,
//! "Representation of orthogonal or unitary matrices"), since the signs and phases of all vectors follow from it.

use super::blocks::{BLOCK, Block, suits};
use super::number::{Number, zeros};
use super::scale::{largest_component, power_into, scale, times_power, with_sign};
use super::vectors::{add_scaled, dot};
use monomorph_core::Result;
use std::ops::Range;

/// Squares of norms between these lose nothing that counts to underflow, and do not overflow.
const SAFE_SQUARES: std::ops::RangeInclusive<f64> =
    f64::from_bits((1023 - 800) << 52)..=f64::from_bits((1023 + 800) << 52);

/// Makes the reflector that maps `x` to `β·e₁`: `(τ, β)`. Of `x`, the first element becomes β, the others those of v.
///
/// τ is 0, and the reflector the identity, where `x` is of that form already; β may then be negative or positive.
pub(super) fn reflector<E: Number>(x: &mut [E]) -> (E, f64) {
    let Some((&alpha, tail)) = x.split_first() else { return (E::zero(), 0.0) };
    if alpha.im() == 0.0 && tail.iter().all(|x| x.is_zero()) {
        return (E::zero(), alpha.re());
    }
    let square = dot(x, x).re();
    if !SAFE_SQUARES.contains(&square) {
        // The vector v does not depend on the scale of x. An infinite or NaN element has no scale; it goes through.
        let largest = largest_component(x);
        if largest.is_finite() {
            let power = power_into(&(0..=0), largest);
            scale(x, power);
            let (tau, beta) = reflector(x);
            let beta = times_power(beta, -power);
            x[0] = E::one() * beta;
            return (tau, beta);
        }
    }
    let beta = -with_sign(square.sqrt(), alpha.re());
    let difference = alpha - E::one() * beta;
    let factor = difference.recip();
    x.iter_mut().for_each(|x| *x *= factor);
    x[0] = E::one() * beta;
    (-difference * beta.recip(), beta)
}

/// One column becomes `H·column`, where `tail` is v without its first element; with conj(τ), it becomes `Hᴴ·column`.
/// Where it is longer than v, its end stays as it is.
fn reflect<E: Number>(tail: &[E], tau: E, column: &mut [E]) {
    let Some((first, rest)) = column.split_first_mut() else { return };
    let rest = &mut rest[..tail.len()];
    let along = (*first + dot(tail, rest)) * tau;
    *first -= along;
    add_scaled(rest, tail, -along);
}

/// Some rows of a matrix, whose columns have `height` elements, become `row·H`, where `tail` is v without its first
/// element.
///
/// `sums` is space for so many rows of one column.
pub(super) fn reflect_rows<E: Number>(
    tail: &[E],
    tau: E,
    c: &mut [E],
    height: usize,
    rows: Range<usize>,
    sums: &mut [E],
) {
    if rows.is_empty() || tau.is_zero() {
        return;
    }
    let (first, rest) = c.split_at_mut(height);
    let (first, sums) = (&mut first[rows.clone()], &mut sums[..rows.len()]);
    sums.copy_from_slice(first);
    rest.chunks_exact(height).zip(tail).for_each(|(column, &v)| add_scaled(sums, &column[rows.clone()], v));
    add_scaled(first, sums, -tau);
    rest.chunks_exact_mut(height)
        .zip(tail)
        .for_each(|(column, v)| add_scaled(&mut column[rows.clone()], sums, -tau * v.conj()));
}

/// The columns become `H·column` or, with conj(τ), `Hᴴ·column`, from row `from` on, where `tail` is v without its first
/// element.
pub(super) fn reflect_columns<E: Number>(tail: &[E], tau: E, c: &mut [E], rows: usize, from: usize) {
    if rows > 0 && !tau.is_zero() {
        c.chunks_exact_mut(rows).for_each(|column| reflect(tail, tau, &mut column[from..]));
    }
}

/// Factors a matrix of `m` rows and `n` columns: R in its upper triangle, below it the vectors of min(m, n) reflectors,
/// whose τ become `taus`.
pub(super) fn factor<E: Number>(matrix: &mut [E], m: usize, n: usize, taus: &mut [E]) -> Result<()> {
    let rank = m.min(n);
    let mut k = 0;
    while suits(BLOCK.min(rank - k), (n - k).saturating_sub(BLOCK)) {
        let (head, rest) = matrix.split_at_mut((k + BLOCK) * m);
        let panel = &mut head[k * m..];
        let taus = &mut taus[k..k + BLOCK];
        factor_panel(panel, m, k, taus);
        Block::new(&panel[k..], m, m - k, taus)?.apply(&mut rest[k..], m, n - k - BLOCK, true)?;
        k += BLOCK;
    }
    factor_panel(&mut matrix[k * m..], m, k, &mut taus[k..rank]);
    Ok(())
}

/// Factors columns of `m` rows, from row `from` on, one reflector after another.
fn factor_panel<E: Number>(columns: &mut [E], m: usize, from: usize, taus: &mut [E]) {
    for (k, tau) in taus.iter_mut().enumerate() {
        let (head, rest) = columns.split_at_mut((k + 1) * m);
        let column = &mut head[k * m + from + k..];
        *tau = reflector(column).0;
        reflect_columns(&column[1..], tau.conj(), rest, m, from + k);
    }
}

/// Makes the first `n` columns of Q out of the vectors of reflectors, in place: the matrix has `m` rows and `n`
/// columns, of which the first `taus.len()` are those of [`factor`]; `taus.len()` ≤ n ≤ m.
pub(super) fn form_q<E: Number>(matrix: &mut [E], m: usize, n: usize, taus: &[E]) -> Result<()> {
    for (j, column) in matrix.chunks_exact_mut(m.max(1)).enumerate().take(n).skip(taus.len()) {
        column.fill(E::zero());
        column[j] = E::one();
    }
    for (number, taus) in taus.chunks(BLOCK).enumerate().rev() {
        let first = number * BLOCK;
        let end = first + taus.len();
        let (head, rest) = matrix[..m * n].split_at_mut(end * m);
        let panel = &mut head[first * m..];
        let by_block = suits(taus.len(), n - end);
        if by_block {
            Block::new(&panel[first..], m, m - first, taus)?.apply(&mut rest[first..], m, n - end, false)?;
        }
        for (i, &tau) in taus.iter().enumerate().rev() {
            let k = first + i;
            let (head, others) = panel.split_at_mut((i + 1) * m);
            let column = &mut head[i * m..];
            reflect_columns(&column[k + 1..], tau, others, m, k);
            if !by_block {
                reflect_columns(&column[k + 1..], tau, rest, m, k);
            }
            // The column of the identity, reflected: e - τ·v.
            column[..k].fill(E::zero());
            column[k] = E::one() - tau;
            column[k + 1..].iter_mut().for_each(|x| *x *= -tau);
        }
    }
    Ok(())
}

/// The product Q of reflectors whose vectors are below the diagonal of a matrix.
#[derive(Clone, Copy)]
pub(super) struct Reflectors<'a, E> {
    /// The matrix, column by column.
    pub(super) elements: &'a [E],
    /// Elements from one column to the next.
    pub(super) stride: usize,
    /// Elements of a column.
    pub(super) height: usize,
    /// τ of each reflector: one for each column.
    pub(super) taus: &'a [E],
}

impl<E: Number> Reflectors<'_, E> {
    /// The elements of one vector after its first.
    fn tail(&self, k: usize) -> &[E] {
        &self.elements[k * self.stride..][k + 1..self.height]
    }

    /// `c` of `rows` rows becomes `Q·c`, or `Qᴴ·c`. Where it has more rows than Q, the first ones stay as they are.
    pub(super) fn apply_left(&self, c: &mut [E], rows: usize, adjoint: bool) -> Result<()> {
        let (count, columns) = (self.taus.len(), c.len().checked_div(rows).unwrap_or(0));
        if rows == 0 || count == 0 {
            return Ok(());
        }
        let first = rows - self.height;
        let blocks = count.div_ceil(BLOCK);
        for step in 0..blocks {
            let k = BLOCK * if adjoint { step } else { blocks - 1 - step };
            let taus = &self.taus[k..count.min(k + BLOCK)];
            if suits(taus.len(), columns) {
                let block = Block::new(&self.elements[k * self.stride + k..], self.stride, self.height - k, taus)?;
                block.apply(&mut c[first + k..], rows, columns, adjoint)?;
            } else {
                let few = k..k + taus.len();
                c.chunks_exact_mut(rows).for_each(|column| self.apply_few(few.clone(), &mut column[first..], adjoint));
            }
        }
        Ok(())
    }

    /// Applies some of the reflectors to one column.
    fn apply_few(&self, few: Range<usize>, column: &mut [E], adjoint: bool) {
        for step in 0..few.len() {
            let k = if adjoint { few.start + step } else { few.end - 1 - step };
            let tau = if adjoint { self.taus[k].conj() } else { self.taus[k] };
            if !tau.is_zero() {
                reflect(self.tail(k), tau, &mut column[k..]);
            }
        }
    }

    /// `c` of `rows` rows becomes `c·Q`, or `c·Qᴴ`. Where it has more columns than Q has rows, the first ones stay as
    /// they are.
    pub(super) fn apply_right(&self, c: &mut [E], rows: usize, adjoint: bool) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        let mut sums = zeros(rows)?;
        let first = c.len() / rows - self.height;
        for step in 0..self.taus.len() {
            let k = if adjoint { self.taus.len() - 1 - step } else { step };
            let tau = if adjoint { self.taus[k].conj() } else { self.taus[k] };
            reflect_rows(self.tail(k), tau, &mut c[(first + k) * rows..], rows, 0..rows, &mut sums);
        }
        Ok(())
    }
}
