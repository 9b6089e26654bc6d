//! The factors of a symmetric or Hermitian matrix that need not be definite: P·A·Pᵀ = L·D·Lᵀ (or L·D·Lᴴ), with L
//! lower triangular and ones on its diagonal, and D made of 1×1 and 2×2 blocks.
//!
//! ```text
//!     ┌ D₁    ┐      One step takes one column, or two, off what is left of A:
//!     │ L D₂  │
//!     └ L L A'┘          A' ← A' - L·D·Lᵀ,      L = (the columns)·D⁻¹
//! ```
//!
//! The pivots are those of diagonal pivoting (Bunch & Kaufman, *Some stable methods for calculating inertia and
//! solving symmetric linear systems*, Math. Comp. 31, 1977; Golub & Van Loan, *Matrix Computations*, 4.4.4), and are
//! stored as in LAPACK (*LAPACK Users' Guide*, 5.3.3): pivots\[k\] = p says that row k was exchanged with row p, from
//! 1 on, and pivots\[k\] = pivots\[k + 1\] = -p that rows k and k + 1 are a 2×2 block, row k + 1 having been exchanged
//! with row p. Rows of columns of L that were complete before an exchange are not exchanged.

use super::number::{Number, divide, size};
use monomorph_core::Result;
use monomorph_ops::linalg::ldl::PIVOTS;

/// (1 + √17) / 8: with this bound, elements grow equally fast by two 1×1 blocks as by a 2×2 block.
const GROWTH: f64 = 0.640_388_203_202_208_4;

/// Factors the lower triangle of a matrix, which L and D replace, column by column; what is above the diagonal
/// becomes zero. Returns 0, or the first row, from 1 on, for which D is exactly zero.
pub(super) fn factor<E: Number>(matrix: &mut [E], n: usize, hermitian: bool, pivots: &mut [i32]) -> i32 {
    let mut factorization = Factorization { matrix, n, hermitian };
    factorization.clear();
    let (mut k, mut info) = (0, 0);
    while k < n {
        let (pivot, width) = factorization.pivot(k).unwrap_or_else(|| {
            info = if info == 0 { k as i32 + 1 } else { info };
            (k, 0)
        });
        let last = k + width.max(1) - 1;
        factorization.exchange(k, last, pivot);
        match width {
            0 => (),
            1 => factorization.eliminate_one(k),
            _ => factorization.eliminate_two(k),
        }
        let pivot = pivot as i32 + 1;
        pivots[k..=last].fill(if width == 2 { -pivot } else { pivot });
        k = last + 1;
    }
    info
}

struct Factorization<'a, E> {
    matrix: &'a mut [E],
    n: usize,
    hermitian: bool,
}

impl<E: Number> Factorization<'_, E> {
    fn at(&self, i: usize, j: usize) -> E {
        self.matrix[i + j * self.n]
    }

    /// Makes zero what is above the diagonal and, in a Hermitian matrix, the imaginary parts on it.
    fn clear(&mut self) {
        for (j, column) in self.matrix.chunks_exact_mut(self.n.max(1)).enumerate() {
            column[..j].fill(E::zero());
            column[j] = self::diagonal(column[j], self.hermitian);
        }
    }

    /// The row to exchange with, and whether one or two rows are to be taken; none if the column is zero, or NaN.
    fn pivot(&self, k: usize) -> Option<(usize, usize)> {
        let n = self.n;
        let diagonal = size(self.at(k, k));
        let (row, largest) = largest(&self.matrix[k * n..][..n], k + 1);
        if diagonal.is_nan() || diagonal == 0.0 && largest == 0.0 {
            return None;
        }
        if diagonal >= GROWTH * largest {
            return Some((k, 1));
        }
        let before = (k..row).fold(0.0_f64, |largest, j| largest.max(size(self.at(row, j))));
        let in_row = before.max(self::largest(&self.matrix[row * n..][..n], row + 1).1);
        if diagonal >= GROWTH * largest * (largest / in_row) {
            Some((k, 1))
        } else if size(self.at(row, row)) >= GROWTH * in_row {
            Some((row, 1))
        } else {
            Some((row, 2))
        }
    }

    /// Exchanges row and column `to` with `from`, the last of those that are taken from `k` on.
    fn exchange(&mut self, k: usize, from: usize, to: usize) {
        if from == to {
            return;
        }
        let (n, hermitian) = (self.n, self.hermitian);
        let (head, tail) = self.matrix.split_at_mut(to * n);
        let column = &mut head[from * n..][..n];
        column[to + 1..].swap_with_slice(&mut tail[to + 1..n]);
        std::mem::swap(&mut column[from], &mut tail[to]);
        column[to] = conjugate(column[to], hermitian);
        // What is between both in the column is, in the other, on this side of the diagonal in the row.
        for j in from + 1..to {
            let (x, y) = (self.at(j, from), self.at(to, j));
            self.matrix[j + from * n] = conjugate(y, hermitian);
            self.matrix[to + j * n] = conjugate(x, hermitian);
        }
        if k < from {
            self.matrix.swap(from + k * n, to + k * n);
        }
    }

    fn eliminate_one(&mut self, k: usize) {
        let (n, hermitian) = (self.n, self.hermitian);
        let (head, tail) = self.matrix.split_at_mut((k + 1) * n);
        let column = &mut head[k * n..];
        let inverse = divide(E::one(), column[k]);
        for (j, other) in (k + 1..n).zip(tail.chunks_exact_mut(n)) {
            let factor = conjugate(column[j], hermitian) * inverse;
            other[j..].iter_mut().zip(&column[j..]).for_each(|(x, &y)| *x -= y * factor);
            other[j] = diagonal(other[j], hermitian);
        }
        column[k + 1..].iter_mut().for_each(|x| *x *= inverse);
    }

    fn eliminate_two(&mut self, k: usize) {
        let (n, hermitian) = (self.n, self.hermitian);
        let block = Block::new(self.at(k, k), self.at(k + 1, k), self.at(k + 1, k + 1), hermitian);
        let (head, tail) = self.matrix.split_at_mut((k + 2) * n);
        let (first, second) = head[k * n..].split_at_mut(n);
        for (j, other) in (k + 2..n).zip(tail.chunks_exact_mut(n)) {
            let rows = block.divide_row([first[j], second[j]]);
            let factors = rows.map(|x| conjugate(x, hermitian));
            for ((x, &y), &z) in other[j..].iter_mut().zip(&first[j..]).zip(&second[j..]) {
                *x = *x - y * factors[0] - z * factors[1];
            }
            other[j] = diagonal(other[j], hermitian);
            [first[j], second[j]] = rows;
        }
    }
}

/// The inverse of a 2×2 block `[a b*; b c]`, computed of it scaled by its elements off the diagonal, the
/// largest ones.
struct Block<E> {
    /// b and b*, scaled: just phases.
    corners: [E; 2],
    /// a and c, scaled.
    diagonal: [E; 2],
    /// The reciprocal of the scaled block's determinant, with the sign changed, scaled again.
    factor: E,
}

impl<E: Number> Block<E> {
    fn new(a: E, b: E, c: E, hermitian: bool) -> Self {
        // The absolute value would do for both, but is rounded, where b itself by b is 1.
        let scaled = |x| if hermitian { x / b.abs() } else { divide(x, b) };
        let (corner, diagonal) = (scaled(b), [scaled(a), scaled(c)]);
        let determinant = diagonal[0] * diagonal[1] - E::one();
        let factor = scaled(divide(E::one(), determinant));
        Block { corners: [corner, conjugate(corner, hermitian)], diagonal, factor }
    }

    /// x times the inverse, for a row x.
    fn divide_row(&self, [x, y]: [E; 2]) -> [E; 2] {
        let Block { corners, diagonal, factor } = *self;
        [factor * (diagonal[1] * x - corners[0] * y), factor * (diagonal[0] * y - corners[1] * x)]
    }
}

/// Solves A·X = B, given the factors of A that [`factor`] leaves; X replaces B, column by column.
///
/// An element of D that is zero leads to infinite or NaN elements.
pub(super) fn solve<E: Number>(ld: &[E], n: usize, pivots: &[i32], hermitian: bool, b: &mut [E]) -> Result<()> {
    check(pivots, n)?;
    let row = |k: usize| pivots[k].unsigned_abs() as usize - 1;
    for x in b.chunks_exact_mut(n.max(1)) {
        let mut k = 0;
        while k < n {
            // As the columns were eliminated: exchange, L⁻¹, D⁻¹.
            let width = if pivots[k] < 0 { 2 } else { 1 };
            x.swap(k + width - 1, row(k));
            for j in k..k + width {
                let (factor, column) = (x[j], &ld[j * n..][..n]);
                x[k + width..].iter_mut().zip(&column[k + width..]).for_each(|(x, &l)| *x -= l * factor);
            }
            let at = |i: usize, j: usize| ld[i + j * n];
            if width == 1 {
                x[k] = if hermitian { x[k] * at(k, k).re().recip() } else { divide(x[k], at(k, k)) };
            } else {
                // D⁻¹·x is x·D⁻¹ of the transposed block, whose corners have changed places.
                let corner = conjugate(at(k + 1, k), hermitian);
                let block = Block::new(at(k, k), corner, at(k + 1, k + 1), hermitian);
                [x[k], x[k + 1]] = block.divide_row([x[k], x[k + 1]]);
            }
            k += width;
        }
        while k > 0 {
            // In reverse: L⁻ᵀ or L⁻ᴴ, exchange.
            let width = if pivots[k - 1] < 0 { 2 } else { 1 };
            for j in k - width..k {
                let products = ld[j * n..][k..n].iter().zip(&x[k..]).map(|(&l, &x)| conjugate(l, hermitian) * x);
                let sum = products.fold(E::zero(), |sum, product| sum + product);
                x[j] -= sum;
            }
            x.swap(k - 1, row(k - 1));
            k -= width;
        }
    }
    Ok(())
}

/// Whether all pivots are rows, and negative ones come in pairs.
fn check(pivots: &[i32], n: usize) -> Result<()> {
    let is_row = |pivot: i32| (1..=n).contains(&(pivot.unsigned_abs() as usize));
    let is_paired = |run: &[i32]| run[0] > 0 || run.len().is_multiple_of(2);
    let is_right = pivots.len() == n
        && pivots.iter().all(|&pivot| is_row(pivot))
        && pivots.chunk_by(|a, b| a.signum() == b.signum()).all(is_paired);
    if is_right { Ok(()) } else { Err(PIVOTS.into()) }
}

/// The element on the other side of the diagonal.
fn conjugate<E: Number>(x: E, hermitian: bool) -> E {
    if hermitian { x.conj() } else { x }
}

/// An element of the diagonal, without the imaginary part that only rounding gives one of a Hermitian matrix.
fn diagonal<E: Number>(x: E, hermitian: bool) -> E {
    if hermitian { E::one() * x.re() } else { x }
}

/// The place and size of the first of the largest elements from row `first` on; NaN is larger than any.
fn largest<E: Number>(column: &[E], first: usize) -> (usize, f64) {
    let mut found = (first, 0.0);
    for (i, &x) in column.iter().enumerate().skip(first) {
        if size(x) > found.1 || x.is_nan() && !found.1.is_nan() {
            found = (i, size(x));
        }
    }
    found
}
