//! The eigenvalues and eigenvectors of a general matrix, in the order and with the signs that LAPACK gives them.
//!
//! ```text
//!     A ──scale──▶ 2ᵏ·A ──balance──▶ B ──Householder──▶ Hessenberg H ──QR iteration──▶ triangle T
//!                                    ▲                    B = Q·H·Qᴴ                     H = Z·T·Zᴴ
//!          vectors of A ◀──undo──  vectors of B = Q·Z·(vectors of T)  ◀──back substitution──┘
//! ```
//!
//! Each vector has norm 1 and, if it is complex, a largest component that is real. The route is that of LAPACK's
//! drivers for general matrices (*LAPACK Users' Guide*, 2.3.4), whose parts are described by Golub & Van Loan, *Matrix
//! Computations*, chapter 7.
//!
//! PyTorch calls the LAPACK of Intel's MKL, which has the rules of releases before 3.10 where these have changed:
//! which step has an exceptional shift, and which sign the component gets that is made real. For real matrices of 128
//! rows and more, and complex ones of 76, it looks for many eigenvalues at once, and their order differs. The signs of
//! the vectors of real matrices depend on how often the iteration reflects them: where rounding decides whether one
//! more step is taken, or how a 2×2 block lies when it comes off, they are as good as random, and a change of the last
//! bits of the matrix changes MKL's as well.

mod balance;
mod eigenvectors;
mod francis;
mod hessenberg;
mod iteration;
mod single_shift;
mod standard_block;

use super::number::{Number, zeros};
use super::precision::Precision;
use super::scale::{normalize as normalized, scale};
use super::vectors::norm;
use eigenvectors::Substitution;
use iteration::Iteration;
use monomorph_core::Result;
use num_complex::Complex;

/// Eigenvalues, and eigenvectors if wanted, of a real matrix, both column by column. The matrix is overwritten.
///
/// Of a conjugate pair, the eigenvalue with the positive imaginary part comes first.
pub(super) fn real(
    matrix: &mut [f64],
    n: usize,
    values: &mut [Complex<f64>],
    vectors: Option<&mut [Complex<f64>]>,
) -> Result<()> {
    eigen(matrix, n, values, vectors)
}

/// The same of a complex matrix.
pub(super) fn complex(
    matrix: &mut [Complex<f64>],
    n: usize,
    values: &mut [Complex<f64>],
    vectors: Option<&mut [Complex<f64>]>,
) -> Result<()> {
    eigen(matrix, n, values, vectors)
}

/// What differs between real and complex matrices.
trait Field: Number + Into<Complex<f64>> {
    /// Makes a Hessenberg matrix triangular.
    fn iterate(iteration: Iteration<Self>) -> Result<()>;

    /// Eigenvectors, not normalized.
    fn substitute(
        substitution: Substitution<Self>,
        values: &[Complex<f64>],
        vectors: &mut [Complex<f64>],
    ) -> Result<()>;

    /// Makes the vectors that are others' conjugates.
    fn complete(n: usize, values: &[Complex<f64>], vectors: &mut [Complex<f64>]);

    /// The phase that a vector is divided by so that its largest component is real; none if it stays as it is.
    fn phase(largest: Complex<f64>, value: Complex<f64>) -> Option<Complex<f64>>;
}

impl Field for f64 {
    fn iterate(mut iteration: Iteration<Self>) -> Result<()> {
        iteration.run_real()
    }

    fn substitute(
        substitution: Substitution<Self>,
        values: &[Complex<f64>],
        vectors: &mut [Complex<f64>],
    ) -> Result<()> {
        substitution.real(values, vectors)
    }

    fn complete(n: usize, values: &[Complex<f64>], vectors: &mut [Complex<f64>]) {
        let mut columns = vectors.chunks_exact_mut(n).zip(values);
        while let Some((vector, value)) = columns.next() {
            if value.im != 0.0
                && let Some((conjugate, _)) = columns.next()
            {
                conjugate.iter_mut().zip(vector).for_each(|(conjugate, x)| *conjugate = x.conj());
            }
        }
    }

    fn phase(largest: Complex<f64>, value: Complex<f64>) -> Option<Complex<f64>> {
        if value.im == 0.0 {
            return None;
        }
        // As by LAPACK's plane rotations until release 3.9: the component becomes positive, unless its real part is
        // negative and the larger one, or its imaginary part is negative and the only one.
        let phase = largest / largest.norm();
        let is_kept = largest.re.abs() > largest.im.abs() && largest.re < 0.0 || largest.re == 0.0 && largest.im < 0.0;
        Some(if is_kept { -phase } else { phase })
    }
}

impl Field for Complex<f64> {
    fn iterate(mut iteration: Iteration<Self>) -> Result<()> {
        iteration.run_complex()
    }

    fn substitute(substitution: Substitution<Self>, _: &[Complex<f64>], vectors: &mut [Complex<f64>]) -> Result<()> {
        substitution.complex(vectors)
    }

    fn complete(_: usize, _: &[Complex<f64>], _: &mut [Complex<f64>]) {}

    fn phase(largest: Complex<f64>, _: Complex<f64>) -> Option<Complex<f64>> {
        Some(largest / largest.norm())
    }
}

fn eigen<E: Field>(
    matrix: &mut [E],
    n: usize,
    values: &mut [Complex<f64>],
    vectors: Option<&mut [Complex<f64>]>,
) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    let power = normalized(matrix, Precision::Double)?;
    let balance = balance::balance(matrix, n)?;
    let (low, high) = (balance.low, balance.high);
    let mut sums = zeros(n)?;
    let mut basis = hessenberg::reduce(matrix, n, (low, high), vectors.is_some(), &mut sums)?;
    for i in (0..low).chain(high..n) {
        values[i] = matrix[i + i * n].into();
    }
    E::iterate(Iteration { h: matrix, n, low, high, basis: basis.as_deref_mut(), values, sums: &mut sums })?;
    if let (Some(basis), Some(vectors)) = (&basis, vectors) {
        E::substitute(Substitution::new(matrix, n, basis)?, values, vectors)?;
        for (vector, &value) in vectors.chunks_exact_mut(n).zip(&*values) {
            balance.undo(vector);
            normalize::<E>(vector, value);
        }
        E::complete(n, values, vectors);
    }
    scale(values, -power);
    Ok(())
}

/// Gives a vector norm 1, and a largest component that is real.
fn normalize<E: Field>(vector: &mut [Complex<f64>], value: Complex<f64>) {
    let norm = norm(vector).recip();
    vector.iter_mut().for_each(|x| *x *= norm);
    let mut largest = 0;
    for (i, x) in vector.iter().enumerate() {
        if x.norm_sqr() > vector[largest].norm_sqr() {
            largest = i;
        }
    }
    let Some(phase) = E::phase(vector[largest], value).filter(|phase| phase.is_finite()) else { return };
    vector.iter_mut().for_each(|x| *x *= phase.conj());
    vector[largest].im = 0.0;
}
