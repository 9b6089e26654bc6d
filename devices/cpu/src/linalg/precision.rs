//! What counts as negligible, and which numbers are safe.

use std::ops::RangeInclusive;

/// The precision of the numbers that a matrix is given in, and that its decomposition is rounded to.
///
/// All is computed in double precision. But whether an element is negligible, and how many sweeps there are with it,
/// decides the signs of vectors; they are those of LAPACK in single precision only where the same elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// float32, or complex numbers of two.
    Single,
    /// float64, or complex numbers of two.
    Double,
}

impl Precision {
    /// The relative error of one rounding.
    pub(super) fn rounding(self) -> f64 {
        match self {
            Precision::Single => 0.5 * f64::from(f32::EPSILON),
            Precision::Double => 0.5 * f64::EPSILON,
        }
    }

    /// The smallest normal number.
    pub(super) fn smallest(self) -> f64 {
        match self {
            Precision::Single => f64::from(f32::MIN_POSITIVE),
            Precision::Double => f64::MIN_POSITIVE,
        }
    }

    /// The relative error that singular values of a bidiagonal matrix may have: a power 7/8 of the rounding, as Demmel
    /// & Kahan advise, but at least ten times that.
    pub(super) fn tolerance(self) -> f64 {
        self.rounding() * self.rounding().powf(-0.125).max(10.0)
    }

    /// The exponents of the largest component of a matrix that LAPACK's drivers do not scale: the square roots of the
    /// smallest number and of its inverse, away from both by one rounding.
    pub(super) fn safe_exponents(self) -> RangeInclusive<i32> {
        match self {
            Precision::Single => -40..=40,
            Precision::Double => -459..=459,
        }
    }

    /// The exponents of a tridiagonal block that LAPACK does not scale: its squares, times that of one rounding, are
    /// safe.
    pub(super) fn safe_block_exponents(self) -> RangeInclusive<i32> {
        match self {
            Precision::Single => -15..=61,
            Precision::Double => -405..=510,
        }
    }
}
