//! The numbers that matrices are computed in: float64, or complex numbers of two.

use super::schur;
use crate::dense::Plain;
use bytemuck::Pod;
use monomorph_core::{DType, Result, list};
use num_complex::{Complex, ComplexFloat};
use num_traits::{NumAssign, One, Zero};
use std::ops::{Div, Mul};

/// So many zeros.
pub(super) fn zeros<T: Zero + Clone>(count: usize) -> Result<Vec<T>> {
    let mut list = list::with_capacity(count)?;
    list.resize(count, T::zero());
    Ok(list)
}

/// Makes a matrix of `n` rows the one with 1 along the diagonal.
pub(super) fn identity<T: Zero + One + Clone>(a: &mut [T], n: usize) {
    a.fill(T::zero());
    a.iter_mut().step_by(n + 1).for_each(|x| *x = T::one());
}

/// An element of a matrix.
pub(crate) trait Number:
    ComplexFloat<Real = f64> + NumAssign + Mul<f64, Output = Self> + Div<f64, Output = Self> + Plain + Pod + Default
{
    /// Its dtype.
    const DTYPE: DType;

    /// The number of half the precision.
    type Narrow: Plain + Default;

    /// Rounds.
    fn narrow(self) -> Self::Narrow;

    /// The same number.
    fn widen(narrow: Self::Narrow) -> Self;

    /// A real number.
    fn of(real: f64) -> Self;

    /// The number divided by its absolute value, as PyTorch's `sgn`: 0 of zero, and of a real NaN.
    fn sign(self) -> Self;

    /// Eigenvalues, and eigenvectors if wanted, of a matrix that is used up, as [`schur`] says.
    fn eigen(
        matrix: &mut [Self],
        n: usize,
        values: &mut [Complex<f64>],
        vectors: Option<&mut [Complex<f64>]>,
    ) -> Result<()>;
}

/// The sum of the absolute values of both parts: within √2 of the absolute value, and what LAPACK compares by.
pub(super) fn size<E: Number>(x: E) -> f64 {
    x.re().abs() + x.im().abs()
}

/// a / b, where the square of b may overflow or underflow (R. L. Smith, *Algorithm 116: Complex division*, CACM 5(8),
/// 1962).
pub(super) fn divide<E: Number>(a: E, b: E) -> E {
    if b.is_zero() {
        return a / b;
    }
    if b.im() == 0.0 {
        return a / b.re();
    }
    let (large, small) = if b.re().abs() >= b.im().abs() { (b.re(), b.im()) } else { (b.im(), b.re()) };
    (a * (b.conj() / large)) * (large + small * (small / large)).recip()
}

impl Number for f64 {
    const DTYPE: DType = DType::F64;
    type Narrow = f32;

    fn narrow(self) -> f32 {
        self as f32
    }

    fn widen(narrow: f32) -> f64 {
        f64::from(narrow)
    }

    fn of(real: f64) -> f64 {
        real
    }

    fn sign(self) -> f64 {
        f64::from(i8::from(self > 0.0) - i8::from(self < 0.0))
    }

    fn eigen(
        matrix: &mut [f64],
        n: usize,
        values: &mut [Complex<f64>],
        vectors: Option<&mut [Complex<f64>]>,
    ) -> Result<()> {
        schur::real(matrix, n, values, vectors)
    }
}

impl Number for Complex<f64> {
    const DTYPE: DType = DType::C128;
    type Narrow = Complex<f32>;

    fn narrow(self) -> Complex<f32> {
        Complex::new(self.re as f32, self.im as f32)
    }

    fn widen(narrow: Complex<f32>) -> Complex<f64> {
        Complex::new(f64::from(narrow.re), f64::from(narrow.im))
    }

    fn of(real: f64) -> Complex<f64> {
        Complex::new(real, 0.0)
    }

    fn sign(self) -> Complex<f64> {
        if self.is_zero() { self } else { self / self.abs() }
    }

    fn eigen(
        matrix: &mut [Complex<f64>],
        n: usize,
        values: &mut [Complex<f64>],
        vectors: Option<&mut [Complex<f64>]>,
    ) -> Result<()> {
        schur::complex(matrix, n, values, vectors)
    }
}
