//! The singular values of one matrix, by one-sided Jacobi rotations.
//!
//! ```text
//!   A (m × n, m ≥ n, else its transpose)      A·2ᵏ·P = Q·R        Rᵀ·J₁·J₂·… = columns that are orthogonal
//!                                             ┌ ┐   ┌ ┐ ┌──┐      ┌──┐
//!                                             │ │ = │ │ │ \│      │\ │                  their norms are
//!                                             │ │   │ │ └──┘      └──┘                  the singular values
//!                                             └ ┘   └ ┘
//! ```
//!
//! 1. **Scale** by a power of two, so that the largest component is between 1/2 and 1: squares neither overflow
//!    nor, where it matters, underflow, and no bit is lost.
//! 2. **QR with column pivoting**, by Householder reflections (Golub & Van Loan, *Matrix Computations*, 5.4): what
//!    is left has n rows, and the columns of Rᵀ are nearly orthogonal and of falling norms already.
//! 3. **Sweeps**: each pair of columns that is not orthogonal is made so by a plane rotation (Golub & Van Loan,
//!    8.6), the largest column first in each row of pairs (de Rijk, *A one-sided Jacobi algorithm for computing the
//!    singular value decomposition on a vector computer*, SIAM J. Sci. Stat. Comput. 10(2), 1989). The test of
//!    orthogonality is relative to both norms, so that small values are accurate as well (Demmel & Veselić,
//!    *Jacobi's method is more accurate than QR*, SIAM J. Matrix Anal. Appl. 13(4), 1992). Convergence is
//!    quadratic; five to eight sweeps are usual.

use monomorph_core::{Result, list};
use monomorph_ops::singular::NOT_CONVERGED;
use num_complex::ComplexFloat;
use num_traits::NumAssign;
use std::ops::Mul;

/// An element of a matrix: float64, or a complex number of two.
pub(super) trait Entry: ComplexFloat<Real = f64> + NumAssign + Mul<f64, Output = Self> + 'static {}
impl<E: ComplexFloat<Real = f64> + NumAssign + Mul<f64, Output = E> + 'static> Entry for E {}

/// LAPACK's dgesvj gives up after 30 sweeps; no matrix is known that needs as many.
const SWEEPS: usize = 60;

/// Products of columns below this are of values below 2⁻⁴⁰⁰ of the largest, which the rounding of that exceeds.
const NEGLIGIBLE: f64 = f64::from_bits((1023 - 800) << 52);

/// Sums that a product of columns is computed as, so that additions need not wait for each other.
const SUMS: usize = 8;

/// Memory for one matrix, which serves one after another.
pub(super) struct Workspace<E> {
    /// The longer side: elements of a column.
    long: usize,
    /// The shorter side: the number of columns, and of values.
    short: usize,
    /// The matrix, or its transpose, which has the same values, is higher than wide.
    is_tall: bool,
    /// Columns one after another.
    columns: Vec<E>,
    /// The columns of Rᵀ one after another.
    triangle: Vec<E>,
    /// The squares of the norms of columns, then the values.
    squares: Vec<f64>,
}

impl<E: Entry> Workspace<E> {
    pub(super) fn new(rows: usize, columns: usize) -> Result<Self> {
        let (long, short) = (rows.max(columns), rows.min(columns));
        let mut workspace = Workspace {
            long,
            short,
            is_tall: rows >= columns,
            columns: list::with_capacity(long * short)?,
            triangle: list::with_capacity(short * short)?,
            squares: list::with_capacity(short)?,
        };
        workspace.columns.resize(long * short, E::zero());
        workspace.triangle.resize(short * short, E::zero());
        workspace.squares.resize(short, 0.0);
        Ok(workspace)
    }

    /// The values of a matrix of the workspace's sizes, row by row, without NaN, in descending order.
    pub(super) fn singular_values(&mut self, matrix: &[E]) -> Result<&[f64]> {
        let mut largest = 0.0_f64;
        for component in matrix.iter().flat_map(|x| [x.re().abs(), x.im().abs()]) {
            largest = largest.max(component);
        }
        if largest == 0.0 || largest.is_infinite() {
            self.squares.fill(if largest == 0.0 { 0.0 } else { f64::NAN });
            return Ok(&self.squares);
        }
        let exponent = exponent(largest);
        self.load(matrix, -exponent);
        self.triangularize();
        self.orthogonalize()?;
        let values = &mut self.squares;
        let columns = self.triangle.chunks_exact(self.short);
        values.iter_mut().zip(columns).for_each(|(value, column)| *value = square(column).sqrt());
        values.sort_unstable_by(|a, b| b.total_cmp(a));
        let [near, far] = powers(exponent);
        values.iter_mut().for_each(|value| *value = *value * near * far);
        Ok(values)
    }

    /// The columns of the matrix or of its transpose, times a power of two.
    fn load(&mut self, matrix: &[E], exponent: i32) {
        let [near, far] = powers(exponent);
        for (j, column) in self.columns.chunks_exact_mut(self.long).enumerate() {
            for (i, x) in column.iter_mut().enumerate() {
                let from = if self.is_tall { i * self.short + j } else { j * self.long + i };
                *x = matrix[from] * near * far;
            }
        }
    }

    /// Step 2: `triangle` becomes Rᵀ.
    fn triangularize(&mut self) {
        let Workspace { long, short, columns, triangle, .. } = self;
        let (long, short) = (*long, *short);
        triangle.fill(E::zero());
        let mut rank = 0;
        for k in 0..short {
            let norms = (k..short).map(|j| square(&columns[j * long..][k..long]));
            let Some((pivot, norm)) = (k..short).zip(norms).max_by(|a, b| a.1.total_cmp(&b.1)) else { break };
            if norm <= NEGLIGIBLE {
                // What is left of all columns counts as zero, and so do the rows of R from here on.
                break;
            }
            if pivot != k {
                let (head, tail) = columns.split_at_mut(pivot * long);
                head[k * long..][..long].swap_with_slice(&mut tail[..long]);
            }
            let norm = norm.sqrt();
            let (head, tail) = columns.split_at_mut((k + 1) * long);
            let column = &mut head[k * long..];
            let (first, size) = (column[k], column[k].abs());
            let phase = if size <= NEGLIGIBLE { E::one() } else { first * size.recip() };
            // I - 2·v·vᴴ / vᴴ·v maps the column to -phase·norm·e₁; the sum has no cancellation.
            column[k] = first + phase * norm;
            let v = &column[k..];
            let factor = (norm * (norm + size)).recip();
            for other in tail.chunks_exact_mut(long) {
                let other = &mut other[k..];
                let along = dot(v, other) * factor;
                other.iter_mut().zip(v).for_each(|(x, &v)| *x -= v * along);
            }
            column[k] = -(phase * norm);
            rank = k + 1;
        }
        // Rows are taken when all columns have their place.
        for (i, row) in triangle.chunks_exact_mut(short).enumerate().take(rank) {
            let columns = columns.chunks_exact(long).skip(i);
            row[i..].iter_mut().zip(columns).for_each(|(x, column)| *x = column[i]);
        }
    }

    /// Step 3: the columns of `triangle` become orthogonal to each other.
    fn orthogonalize(&mut self) -> Result<()> {
        let Workspace { short: n, triangle, squares, .. } = self;
        let n = *n;
        let tolerance = 2.0 * f64::EPSILON * (n as f64).sqrt();
        for _ in 0..SWEEPS {
            squares.iter_mut().zip(triangle.chunks_exact(n)).for_each(|(s, column)| *s = square(column));
            let mut is_orthogonal = true;
            for p in 0..n {
                let Some(largest) = (p..n).max_by(|&a, &b| squares[a].total_cmp(&squares[b])) else { break };
                if squares[largest] > squares[p] {
                    let (head, tail) = triangle.split_at_mut(largest * n);
                    head[p * n..][..n].swap_with_slice(&mut tail[..n]);
                    squares.swap(p, largest);
                }
                let (head, tail) = triangle.split_at_mut((p + 1) * n);
                let (a, (before, after)) = (&mut head[p * n..], squares.split_at_mut(p + 1));
                let square_a = &mut before[p];
                for (b, square_b) in tail.chunks_exact_mut(n).zip(after) {
                    let product = dot(a, b);
                    let size = product.abs();
                    if size <= (tolerance * square_a.sqrt() * square_b.sqrt()).max(NEGLIGIBLE) {
                        continue;
                    }
                    is_orthogonal = false;
                    let zeta = (*square_b - *square_a) / (2.0 * size);
                    let tan = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                    rotate(a, b, product.conj() * size.recip(), tan);
                    *square_a = (*square_a - tan * size).max(0.0);
                    *square_b = (*square_b + tan * size).max(0.0);
                }
            }
            if is_orthogonal {
                return Ok(());
            }
        }
        Err(NOT_CONVERGED.into())
    }
}

/// The `e` for which a number above 0 is between 1/2 and 1 times 2ᵉ.
fn exponent(x: f64) -> i32 {
    let of_normal = |x: f64| (x.to_bits() >> 52) as i32 - 1022;
    if x.is_normal() { of_normal(x) } else { of_normal(x * f64::from_bits((1023 + 64) << 52)) - 64 }
}

/// Two factors, each a normal number, whose product is 2ᵏ: a number times both is rounded once, unless it is
/// subnormal in the end.
fn powers(k: i32) -> [f64; 2] {
    let half = k / 2;
    [half, k - half].map(|k| f64::from_bits(((1023 + k) as u64) << 52))
}

/// `aᴴ·b`.
fn dot<E: Entry>(a: &[E], b: &[E]) -> E {
    let mut sums = [E::zero(); SUMS];
    let (a_runs, b_runs) = (a.chunks_exact(SUMS), b.chunks_exact(SUMS));
    let rest = a_runs.remainder().iter().zip(b_runs.remainder());
    let mut sum = rest.fold(E::zero(), |sum, (&a, &b)| sum + a.conj() * b);
    for (a, b) in a_runs.zip(b_runs) {
        for i in 0..SUMS {
            sums[i] += a[i].conj() * b[i];
        }
    }
    sums.iter().for_each(|&part| sum += part);
    sum
}

/// The square of the norm.
fn square<E: Entry>(a: &[E]) -> f64 {
    dot(a, a).re()
}

/// Rotates the plane of `a` and `b`·`phase` by an angle, of which `tan` is the tangent.
fn rotate<E: Entry>(a: &mut [E], b: &mut [E], phase: E, tan: f64) {
    let cos = (tan * tan + 1.0).sqrt().recip();
    let sin = cos * tan;
    for (a, b) in a.iter_mut().zip(b) {
        let turned = *b * phase;
        (*a, *b) = (*a * cos - turned * sin, *a * sin + turned * cos);
    }
}
