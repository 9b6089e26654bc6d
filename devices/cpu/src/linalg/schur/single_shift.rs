//! The Schur form of a complex Hessenberg matrix, by implicit single-shift QR steps (Francis, *The QR
//! transformation*, Computer Journal 4, 1961; Golub & Van Loan, *Matrix Computations*, 7.5): H = Z·T·Zᴴ with T upper
//! triangular.
//!
//! Subdiagonal elements are kept real all the time, as in LAPACK (*LAPACK Users' Guide*, 2.4.5). The shift is
//! Wilkinson's, the eigenvalue of the last 2×2 block that is nearer the last element.

use super::super::householder::reflector;
use super::super::number::{divide, size};
use super::iteration::{Exception, Iteration, PRECISION};
use monomorph_core::Result;
use monomorph_ops::linalg::spectral::NOT_CONVERGED;
use num_complex::Complex;
use std::ops::Range;

impl Iteration<'_, Complex<f64>> {
    pub(super) fn run_complex(&mut self) -> Result<()> {
        for i in self.low + 1..self.high {
            if let Some(phase) = self.make_real(i, (self.low, self.high)) {
                // This changes just the last bits, which decide the order where eigenvalues are equally far from a
                // shift, as in a matrix of ones: LAPACK does it as well.
                let diagonal = &mut self.h[i + i * self.n];
                *diagonal = *diagonal * phase.conj() * phase;
            }
        }
        self.run(1, Self::single_step, |iteration, first, _| iteration.values[first] = iteration.at(first, first))
    }

    /// Multiplies row i by the conjugate of a number of absolute value 1, right of the diagonal, and column i by the
    /// number, above the diagonal: a similarity, but for elements near the diagonal.
    fn turn(&mut self, i: usize, phase: Complex<f64>, (from, to): (usize, usize)) {
        let n = self.n;
        let row = self.h[(i + 1) * n..to * n].iter_mut().skip(i).step_by(n);
        row.for_each(|x| *x *= phase.conj());
        self.h[i * n + from..i * n + i].iter_mut().for_each(|x| *x *= phase);
        if let Some(basis) = &mut self.basis {
            basis[i * n..][..n].iter_mut().for_each(|x| *x *= phase);
        }
    }

    /// Makes the subdiagonal element in row i real and not negative. Returns what row i is divided by for that.
    fn make_real(&mut self, i: usize, (first, end): (usize, usize)) -> Option<Complex<f64>> {
        let n = self.n;
        let below = self.at(i, i - 1);
        if below.im == 0.0 {
            return None;
        }
        let phase = below / size(below);
        let phase = phase / phase.norm();
        self.h[i + (i - 1) * n] = Complex::new(below.norm(), 0.0);
        if i + 1 < end {
            self.h[i + 1 + i * n] *= phase;
        }
        let extent = self.extent(first, end);
        self.turn(i, phase, extent);
        Some(phase)
    }

    fn shift(&self, first: usize, last: usize, steps: usize) -> Result<Complex<f64>> {
        let t = self.at(last, last);
        // Steps without success may be cyclic, which a shift that is no eigenvalue breaks.
        match Exception::of(steps) {
            Some(Exception::First) => return Ok(self.at(first, first) + 0.75 * self.at(first + 1, first).re.abs()),
            Some(Exception::Last) => return Ok(t + 0.75 * self.at(last, last - 1).re.abs()),
            None => (),
        }
        let product = sqrt(self.at(last - 1, last)) * sqrt(self.at(last, last - 1));
        let x = 0.5 * (self.at(last - 1, last - 1) - t);
        let s = size(product).max(size(x));
        if !s.is_finite() {
            return Err(NOT_CONVERGED.into());
        }
        if size(product) == 0.0 {
            return Ok(t);
        }
        let (x_scaled, product_scaled) = (x / s, product / s);
        let root = sqrt(x_scaled * x_scaled + product_scaled * product_scaled) * s;
        let is_opposite = x_scaled.re * root.re + x_scaled.im * root.im < 0.0;
        let root = if is_opposite { -root } else { root };
        Ok(t - product * divide(product, x + root))
    }

    /// One QR step with one shift, for rows `first..=last`, at least two.
    fn single_step(&mut self, first: usize, last: usize, steps: usize) -> Result<()> {
        let n = self.n;
        let shift = self.shift(first, last, steps)?;
        // The step may start below two subdiagonal elements whose product is small.
        let mut m = last;
        let mut v = loop {
            m -= 1;
            let (above, below) = (self.at(m, m) - shift, self.at(m + 1, m).re);
            let s = size(above) + below.abs();
            let (above, below) = (above / s, below / s);
            let v = [above, Complex::new(below, 0.0)];
            if m == first {
                break v;
            }
            let near = size(self.at(m, m)) + size(self.at(m + 1, m + 1));
            if self.at(m, m - 1).re.abs() * below.abs() <= PRECISION * (size(above) * near) {
                break v;
            }
        };
        for k in m..last {
            if k > m {
                v = [self.at(k, k - 1), self.at(k + 1, k - 1)];
            }
            let along = v[0];
            let (tau, beta) = reflector(&mut v);
            if k > m {
                self.h[(k - 1) * n + k..][..2].copy_from_slice(&[Complex::new(beta, 0.0), Complex::ZERO]);
            }
            self.reflect_pair(v[1], tau, k, (first, last));
            if k == m && m > first {
                self.keep_real(m, last, along / beta, self.extent(first, last + 1));
            }
        }
        self.make_real(last, (first, last + 1));
        Ok(())
    }

    /// H ← Uᴴ·H·U with U = I - τ·v·vᴴ, where v has two components in rows `k` and `k + 1`, the first one 1, and the
    /// second one times τ is real.
    fn reflect_pair(&mut self, v: Complex<f64>, tau: Complex<f64>, k: usize, (first, last): (usize, usize)) {
        let n = self.n;
        let (from, to) = self.extent(first, last + 1);
        let weight = (tau * v).re;
        for column in self.h[k * n..to * n].chunks_exact_mut(n) {
            let sum = tau.conj() * column[k] + weight * column[k + 1];
            column[k] -= sum;
            column[k + 1] -= sum * v;
        }
        let reflect_columns = |columns: &mut [Complex<f64>], rows: Range<usize>| {
            let (left, right) = columns.split_at_mut(n);
            for (x, y) in left[rows.clone()].iter_mut().zip(&mut right[rows]) {
                let sum = tau * *x + weight * *y;
                *x -= sum;
                *y -= sum * v.conj();
            }
        };
        reflect_columns(&mut self.h[k * n..], from..(k + 3).min(last + 1));
        if let Some(basis) = &mut self.basis {
            reflect_columns(&mut basis[k * n..], 0..n);
        }
    }

    /// Where the step did not start with the first row, the subdiagonal element above its start would become complex,
    /// namely be multiplied by `factor`: its phase goes to the rows and columns below instead.
    fn keep_real(&mut self, m: usize, last: usize, factor: Complex<f64>, extent: (usize, usize)) {
        let n = self.n;
        let phase = factor / factor.norm();
        if !phase.is_finite() {
            return;
        }
        self.h[m + 1 + m * n] *= phase.conj();
        if m + 2 <= last {
            self.h[m + 2 + (m + 1) * n] *= phase;
        }
        for i in (m..=last).filter(|&i| i != m + 1) {
            self.turn(i, phase.conj(), extent);
        }
    }
}

/// The square root with a real part that is not negative. The one of num-complex takes a detour through angles, and is
/// not exact where the root is.
fn sqrt(z: Complex<f64>) -> Complex<f64> {
    let large = (0.5 * (z.norm() + z.re.abs())).sqrt();
    if large == 0.0 {
        return Complex::ZERO;
    }
    let small = 0.5 * z.im / large;
    if z.re >= 0.0 { Complex::new(large, small) } else { Complex::new(small.abs(), large.copysign(z.im)) }
}
