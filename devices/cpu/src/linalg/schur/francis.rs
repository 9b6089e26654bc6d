//! The real Schur form of a real Hessenberg matrix, by implicit double-shift QR steps (Francis, *The QR
//! transformation*, Computer Journal 4, 1961; Golub & Van Loan, *Matrix Computations*, 7.5): H = Z·T·Zᵀ with T upper
//! triangular, except for 2×2 blocks on the diagonal that have conjugate complex eigenvalues.
//!
//! ```text
//!    × × × × × ×      The two shifts are the eigenvalues of the last 2×2 block. One step makes a bulge of 3×3 at
//!    × × × × × ×      the upper left of the block that is coupled, and chases it down to the lower right, after
//!      • × × × ×      which an eigenvalue, or two, come off there: a subdiagonal element turns into zero.
//!      • • × × ×
//!          × × ×
//!            × ×
//! ```
//!
//! The steps, shifts and tests are LAPACK's for matrices that are not large (*LAPACK Users' Guide*, 2.4.5): the number
//! of steps, and how blocks come off, decide the order of the eigenvalues and the signs of the eigenvectors.

use super::super::householder::{reflect_columns, reflect_rows, reflector};
use super::iteration::{Exception, Iteration, PRECISION};
use super::standard_block::StandardBlock;
use monomorph_core::Result;
use monomorph_ops::linalg::spectral::NOT_CONVERGED;
use num_complex::Complex;

/// Two shifts: equal real numbers, or conjugate complex ones.
struct Shifts {
    first: Complex<f64>,
    second: Complex<f64>,
}

impl Iteration<'_, f64> {
    pub(super) fn run_real(&mut self) -> Result<()> {
        self.run(2, Self::double_step, Self::take)
    }

    /// The shifts for rows `first..=last`, the last 2×2 block's eigenvalues. If both are real, the one nearer the
    /// last element counts twice.
    fn shifts(&self, first: usize, last: usize, steps: usize) -> Result<Shifts> {
        // Steps without success may be cyclic, which a shift that is no eigenvalue breaks.
        let exceptional =
            |row: usize, s: f64| [0.75 * s + self.at(row, row), -0.4375 * s, s, 0.75 * s + self.at(row, row)];
        let [h11, h12, h21, h22] = match Exception::of(steps) {
            Some(Exception::First) => {
                exceptional(first, self.at(first + 1, first).abs() + self.at(first + 2, first + 1).abs())
            }
            Some(Exception::Last) => {
                exceptional(last, self.at(last, last - 1).abs() + self.at(last - 1, last - 2).abs())
            }
            None => {
                [self.at(last - 1, last - 1), self.at(last - 1, last), self.at(last, last - 1), self.at(last, last)]
            }
        };
        let s = h11.abs() + h12.abs() + h21.abs() + h22.abs();
        if !s.is_finite() {
            return Err(NOT_CONVERGED.into());
        }
        if s == 0.0 {
            return Ok(Shifts { first: Complex::ZERO, second: Complex::ZERO });
        }
        let [h11, h12, h21, h22] = [h11 / s, h12 / s, h21 / s, h22 / s];
        let mean = (h11 + h22) / 2.0;
        let determinant = (h11 - mean) * (h22 - mean) - h12 * h21;
        let root = determinant.abs().sqrt();
        if determinant >= 0.0 {
            let first = Complex::new(mean * s, root * s);
            return Ok(Shifts { first, second: first.conj() });
        }
        let (above, below) = (mean + root, mean - root);
        let nearer = if (above - h22).abs() <= (below - h22).abs() { above } else { below };
        let shift = Complex::new(nearer * s, 0.0);
        Ok(Shifts { first: shift, second: shift })
    }

    /// A multiple of the first column of (H - s₁)·(H - s₂), from row `m` on.
    fn start(&self, m: usize, shifts: &Shifts) -> [f64; 3] {
        let Shifts { first, second } = shifts;
        let (h11, below) = (self.at(m, m), self.at(m + 1, m));
        let s = (h11 - second.re).abs() + second.im.abs() + below.abs();
        let below = below / s;
        let v = [
            below * self.at(m, m + 1) + (h11 - first.re) * ((h11 - second.re) / s) - first.im * (second.im / s),
            below * (h11 + self.at(m + 1, m + 1) - first.re - second.re),
            below * self.at(m + 2, m + 1),
        ];
        let s = v[0].abs() + v[1].abs() + v[2].abs();
        // All may underflow; a step that changes nothing then lets the time pass until an exceptional shift.
        if s == 0.0 { [1.0, 0.0, 0.0] } else { v.map(|x| x / s) }
    }

    /// One QR step with two shifts, for rows `first..=last`, at least three.
    fn double_step(&mut self, first: usize, last: usize, steps: usize) -> Result<()> {
        let shifts = self.shifts(first, last, steps)?;
        // The bulge may start below two subdiagonal elements whose product is small: what the step should change
        // above counts as zero.
        let (mut m, mut v) = (last - 2, self.start(last - 2, &shifts));
        while m > first {
            let near = self.at(m - 1, m - 1).abs() + self.at(m, m).abs() + self.at(m + 1, m + 1).abs();
            if self.at(m, m - 1).abs() * (v[1].abs() + v[2].abs()) <= PRECISION * v[0].abs() * near {
                break;
            }
            m -= 1;
            v = self.start(m, &shifts);
        }
        for k in m..last - 1 {
            if k > m {
                v.copy_from_slice(&self.h[(k - 1) * self.n + k..][..3]);
            }
            self.move_bulge(k, v, (first, last), m);
        }
        let v = [self.at(last - 1, last - 2), self.at(last, last - 2)];
        self.move_bulge(last - 1, v, (first, last), m);
        Ok(())
    }

    /// Moves the bulge one row down: makes `v`, which stands in rows from `k` on, a multiple of the first unit
    /// vector.
    fn move_bulge<const N: usize>(&mut self, k: usize, mut v: [f64; N], (first, last): (usize, usize), m: usize) {
        let n = self.n;
        let (tau, beta) = reflector(&mut v);
        if k > m {
            let column = &mut self.h[(k - 1) * n + k..][..N];
            column.fill(0.0);
            column[0] = beta;
        } else if k > first {
            // The reflection changes just the sign, unless the rest of v has underflowed.
            self.h[(k - 1) * n + k] *= 1.0 - tau;
        }
        let (from, to) = self.extent(first, last + 1);
        let rows = from..(k + N + 1).min(last + 1);
        reflect_columns(&v[1..], tau, &mut self.h[k * n..to * n], n, k);
        reflect_rows(&v[1..], tau, &mut self.h[k * n..], n, rows, self.sums);
        if let Some(basis) = &mut self.basis {
            reflect_rows(&v[1..], tau, &mut basis[k * n..], n, 0..n, self.sums);
        }
    }

    /// Takes the eigenvalues of rows `first..=last`, one or two.
    fn take(&mut self, first: usize, last: usize) {
        let n = self.n;
        if first == last {
            self.values[last] = self.at(last, last).into();
            return;
        }
        let block = [self.at(first, first), self.at(first, last), self.at(last, first), self.at(last, last)];
        let block = StandardBlock::new(block);
        self.values[first..=last].copy_from_slice(&block.values());
        let StandardBlock { elements: [a, b, c, d], cos, sin } = block;
        let Some(basis) = &mut self.basis else { return };
        for column in self.h[(last + 1) * n..].chunks_exact_mut(n) {
            let (x, y) = (column[first], column[last]);
            (column[first], column[last]) = (cos * x + sin * y, cos * y - sin * x);
        }
        rotate_columns(&mut self.h[first * n..], n, first, (cos, sin));
        rotate_columns(&mut basis[first * n..], n, n, (cos, sin));
        self.h[first * n + first..][..2].copy_from_slice(&[a, c]);
        self.h[last * n + first..][..2].copy_from_slice(&[b, d]);
    }
}

/// Rotates the first two columns, in the first so many rows.
fn rotate_columns(columns: &mut [f64], n: usize, rows: usize, (cos, sin): (f64, f64)) {
    let (left, right) = columns.split_at_mut(n);
    for (x, y) in left[..rows].iter_mut().zip(right) {
        (*x, *y) = (cos * *x + sin * *y, cos * *y - sin * *x);
    }
}
