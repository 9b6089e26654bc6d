//! Eigenvectors of a triangular matrix, possibly with 2×2 blocks on the diagonal, by back substitution (Golub & Van
//! Loan, *Matrix Computations*, 7.6.4), and of what it is the Schur form of.
//!
//! ```text
//!     ┌ T₁₁ t ·  ┐ ┌ x ┐     ┌ x ┐
//!     │     λ ·  │ │ 1 │ = λ·│ 1 │         (T₁₁ - λ)·x = -t, and the vector of Q·T·Qᴴ is Q times it
//!     └       T₂₂┘ └ 0 ┘     └ 0 ┘
//! ```
//!
//! Where eigenvalues are equal, as in a Jordan block, T₁₁ - λ has zeros on its diagonal, which count as the smallest
//! number that makes a difference to λ: the vectors that come out are nearly parallel. What grows is scaled down
//! before it overflows (*LAPACK Users' Guide*, 2.4.5).

use super::super::number::{Number, divide, size};
use super::iteration::{PRECISION, negligible};
use monomorph_core::Result;
use num_complex::Complex;
use std::ops::Mul;

/// Eigenvectors of Q·T·Qᴴ, a column for each eigenvalue, with the largest component about 1.
pub(super) struct Substitution<'a, T> {
    triangle: &'a [T],
    n: usize,
    basis: &'a [T],
    /// For each column of T the sum of the sizes of what is above the diagonal.
    sums: Vec<f64>,
}

impl<'a, T: Number> Substitution<'a, T> {
    pub(super) fn new(triangle: &'a [T], n: usize, basis: &'a [T]) -> Result<Self> {
        let mut sums = super::super::number::zeros(n)?;
        for (j, (sum, column)) in sums.iter_mut().zip(triangle.chunks_exact(n)).enumerate() {
            *sum = column[..j].iter().map(|&x| size(x)).sum();
        }
        Ok(Substitution { triangle, n, basis, sums })
    }

    fn at(&self, i: usize, j: usize) -> T {
        self.triangle[i + j * self.n]
    }

    /// Whether rows j and j + 1 are a 2×2 block.
    fn is_block(&self, j: usize) -> bool {
        j + 1 < self.n && !self.at(j + 1, j).is_zero()
    }

    /// The vector for the eigenvalue in row j, which is no 2×2 block's.
    fn single<E>(&self, j: usize, x: &mut [E], vector: &mut [E])
    where
        T: Into<E>,
        E: Number + Mul<T, Output = E>,
    {
        let column = &self.triangle[j * self.n..][..j];
        x.iter_mut().zip(column).for_each(|(x, &t)| *x = -t.into());
        x[j] = E::one();
        self.solve(j, self.at(j, j).into(), &mut x[..=j]);
        self.transform(&x[..=j], vector);
    }

    /// Solves (T₁₁ - `shift`)·x = b for the first `order` rows. The whole of `x` is scaled with it.
    fn solve<E>(&self, order: usize, shift: E, x: &mut [E])
    where
        T: Into<E>,
        E: Number + Mul<T, Output = E>,
    {
        let tiny = negligible(self.n);
        let floor = tiny.max(PRECISION * size(shift));
        let huge = (1.0 - PRECISION) / tiny;
        let entry = |i, j| Into::<E>::into(self.at(i, j));
        let mut end = order;
        while end > 0 {
            let last = end - 1;
            let first = if last > 0 && self.is_block(last - 1) { last - 1 } else { last };
            // A system of one or two equations, as one of two.
            let (block, right) = if first < last {
                let diagonal = [entry(first, first) - shift, entry(last, last) - shift];
                ([[diagonal[0], entry(first, last)], [entry(last, first), diagonal[1]]], [x[first], x[last]])
            } else {
                let (one, zero) = (E::one(), E::zero());
                ([[entry(last, last) - shift, zero], [zero, one]], [x[last], zero])
            };
            let system = System::new(block, floor);
            let scale = system.scale(right, huge);
            scale_all(x, scale);
            let solution = system.solve(right.map(|x| x * scale));
            x[first] = solution[0];
            if first < last {
                x[last] = solution[1];
            }
            let largest = size(x[first]).max(size(x[last]));
            let sum = self.sums[first].max(self.sums[last]);
            if largest > 1.0 && sum > huge / largest {
                scale_all(x, largest.recip());
            }
            for j in first..end {
                let (factor, column) = (x[j], &self.triangle[j * self.n..][..first]);
                x.iter_mut().zip(column).for_each(|(x, &t)| *x -= factor * t);
            }
            end = first;
        }
    }

    /// The product of Q and x, with the largest component made about 1.
    fn transform<E: Number + Mul<T, Output = E>>(&self, x: &[E], vector: &mut [E]) {
        vector.fill(E::zero());
        for (&factor, column) in x.iter().zip(self.basis.chunks_exact(self.n)) {
            vector.iter_mut().zip(column).for_each(|(sum, &q)| *sum += factor * q);
        }
        let largest = vector.iter().fold(0.0_f64, |largest, &x| largest.max(size(x)));
        scale_all(vector, largest.recip());
    }
}

impl Substitution<'_, Complex<f64>> {
    /// The vectors of a complex matrix.
    pub(super) fn complex(&self, vectors: &mut [Complex<f64>]) -> Result<()> {
        let mut x = super::super::number::zeros(self.n)?;
        for (j, vector) in vectors.chunks_exact_mut(self.n).enumerate() {
            self.single(j, &mut x, vector);
        }
        Ok(())
    }
}

impl Substitution<'_, f64> {
    /// The vectors of a real matrix with the given eigenvalues; of a conjugate pair just the first.
    pub(super) fn real(&self, values: &[Complex<f64>], vectors: &mut [Complex<f64>]) -> Result<()> {
        let n = self.n;
        let (mut x, mut real) = (super::super::number::zeros::<f64>(n)?, super::super::number::zeros(n)?);
        let mut pair = super::super::number::zeros(n)?;
        let mut j = 0;
        while j < n {
            let vector = &mut vectors[j * n..];
            if self.is_block(j) {
                self.pair(j, values[j], &mut pair, &mut vector[..n]);
                j += 2;
            } else {
                self.single(j, &mut x, &mut real);
                vector.iter_mut().zip(&real).for_each(|(to, &x)| *to = x.into());
                j += 1;
            }
        }
        Ok(())
    }

    /// The vector for the first eigenvalue of the 2×2 block in rows j and j + 1.
    fn pair(&self, j: usize, value: Complex<f64>, x: &mut [Complex<f64>], vector: &mut [Complex<f64>]) {
        let (above, below) = (self.at(j, j + 1), self.at(j + 1, j));
        // Either component may be 1; the greater element divides.
        (x[j], x[j + 1]) = if above.abs() >= below.abs() {
            (Complex::new(1.0, 0.0), Complex::new(0.0, value.im / above))
        } else {
            (Complex::new(-value.im / below, 0.0), Complex::new(0.0, 1.0))
        };
        let (first, second) = (x[j], x[j + 1]);
        let columns = self.triangle[j * self.n..].split_at(self.n);
        for ((x, &a), &b) in x[..j].iter_mut().zip(columns.0).zip(columns.1) {
            *x = -(first * a + second * b);
        }
        self.solve(j, value, &mut x[..j + 2]);
        self.transform(&x[..j + 2], vector);
    }
}

fn scale_all<E: Number>(x: &mut [E], scale: f64) {
    if scale != 1.0 {
        x.iter_mut().for_each(|x| *x = *x * scale);
    }
}

/// Two linear equations, reduced to a triangle by Gaussian elimination with complete pivoting.
struct System<E> {
    /// The row, and the column, of the pivot.
    pivot: (usize, usize),
    /// The pivot, and what is right of it.
    row: [E; 2],
    /// What is below the pivot, by the pivot.
    factor: E,
    /// The second element of the diagonal.
    rest: E,
}

impl<E: Number> System<E> {
    /// Elements of the triangle's diagonal are at least `floor`.
    fn new(block: [[E; 2]; 2], floor: f64) -> Self {
        let at_least = |x: E| if size(x) < floor { E::one() * floor } else { x };
        let mut pivot = (0, 0);
        for (i, j) in [(0, 1), (1, 0), (1, 1)] {
            if size(block[i][j]) > size(block[pivot.0][pivot.1]) {
                pivot = (i, j);
            }
        }
        let (i, j) = pivot;
        let first = at_least(block[i][j]);
        let factor = divide(block[1 - i][j], first);
        let rest = at_least(block[1 - i][1 - j] - factor * block[i][1 - j]);
        System { pivot, row: [first, block[i][1 - j]], factor, rest }
    }

    /// A factor for the right side with which the solution, and what is computed for it, stays below `huge`.
    fn scale(&self, right: [E; 2], huge: f64) -> f64 {
        let [pivot, rest] = [self.row[0], self.rest].map(size);
        let growth = pivot.max(1.0) / pivot.min(rest);
        let limit = huge / growth.clamp(1.0, f64::MAX);
        let largest = 4.0 * size(right[0]).max(size(right[1]));
        if largest > limit { limit / largest } else { 1.0 }
    }

    fn solve(&self, right: [E; 2]) -> [E; 2] {
        let (i, j) = self.pivot;
        let second = divide(right[1 - i] - self.factor * right[i], self.rest);
        let first = divide(right[i] - self.row[1] * second, self.row[0]);
        if j == 0 { [first, second] } else { [second, first] }
    }
}
