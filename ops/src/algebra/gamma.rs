//! The gamma function's relatives: its logarithm, the derivatives of that, Hurwitz's zeta function, the incomplete
//! gamma functions.

use super::{Dual, Real, Value};

/// A value with the logarithm of the gamma function, and with the derivatives of that.
#[diagnostic::on_unimplemented(
    message = "the formula takes the gamma function's logarithm or a derivative of it, which `{Self}` does not have",
    note = "promote integers to float in the operator's declaration, and leave complex dtypes out of its domain"
)]
pub trait Gamma: Real {
    /// The logarithm of the gamma function's magnitude, within 1 ULP but next to its zeros below zero, where it is good
    /// to 1e-20: infinity of zeros, negative integers and both infinities.
    fn lgamma(self) -> Self;

    /// The derivative of [`lgamma`](Gamma::lgamma), within 1 ULP but next to its zeros, where it is good to 1e-20:
    /// minus infinity of 0, infinity of -0, NaN of negative integers and minus infinity.
    fn digamma(self) -> Self;

    /// The derivative of [`digamma`](Gamma::digamma), within 1 ULP: infinity of zeros. Of a negative integer it is π² /
    /// sin² with the sine of the rounded product of π and the integer, a large number, as in PyTorch.
    fn trigamma(self) -> Self;

    /// Hurwitz's zeta function, the sum of (self + k)^-exponent over k from 0, of an exponent that is a number of the
    /// call; otherwise as [`Zeta::zeta`].
    fn zeta_number(self, exponent: Self) -> Self;

    /// Whether the value is positive, and such that the `plain` functions below hold for it.
    #[inline(always)]
    fn is_plain(self) -> Self::Mask {
        <Self::Mask as Value>::from_bool(true)
    }

    /// [`lgamma`](Gamma::lgamma) of a [plain](Gamma::is_plain) value, by a shorter way without branches; of any other
    /// something.
    #[inline(always)]
    fn lgamma_plain(self) -> Self {
        self.lgamma()
    }

    /// [`digamma`](Gamma::digamma) of a plain value, likewise.
    #[inline(always)]
    fn digamma_plain(self) -> Self {
        self.digamma()
    }

    /// [`lgamma`](Gamma::lgamma) without branches, or something else and the mask does not hold.
    #[inline(always)]
    fn lgamma_partial(self) -> (Self, Self::Mask) {
        (self.lgamma(), <Self::Mask as Value>::from_bool(true))
    }

    /// [`digamma`](Gamma::digamma), likewise.
    #[inline(always)]
    fn digamma_partial(self) -> (Self, Self::Mask) {
        (self.digamma(), <Self::Mask as Value>::from_bool(true))
    }

    /// [`trigamma`](Gamma::trigamma), likewise.
    #[inline(always)]
    fn trigamma_partial(self) -> (Self, Self::Mask) {
        (self.trigamma(), <Self::Mask as Value>::from_bool(true))
    }
}

/// A value with Hurwitz's zeta function as a function of two elements.
#[diagnostic::on_unimplemented(
    message = "the formula takes Hurwitz's zeta function of two elements, which `{Self}` does not have",
    note = "only float values have it; dual numbers do not: its derivative by the exponent is no function of the \
        algebra"
)]
pub trait Zeta: Real {
    /// Hurwitz's zeta function, the sum of (q + k)^-self over k from 0, within 1 ULP (4 in float64; 18 of large
    /// exponents, and below zero): infinity of the exponent 1, NaN of one below. Where q is zero or
    /// negative: infinity if it is an integer, NaN if the exponent is none.
    fn zeta(self, q: Self) -> Self;
}

/// A value with the regularised incomplete gamma functions.
#[diagnostic::on_unimplemented(
    message = "the formula takes an incomplete gamma function, which `{Self}` does not have",
    note = "only float values have it; dual numbers do not: its derivative by the shape is no function of the algebra"
)]
pub trait IncompleteGamma: Real {
    /// The share of the gamma function's integral that lies below `x`, of the shape `self`, within 1 ULP (60 in
    /// float64; in the tails of shapes above 200 three times the result's logarithm): NaN where either is negative or
    /// both are zero or infinite.
    fn igamma(self, x: Self) -> Self;

    /// The share that lies above `x`, as exactly.
    fn igammac(self, x: Self) -> Self;

    /// [`igamma`](IncompleteGamma::igamma) without branches, or something else and the mask does not hold.
    #[inline(always)]
    fn igamma_partial(self, _x: Self) -> (Self, Self::Mask) {
        (self, <Self::Mask as Value>::from_bool(false))
    }

    /// [`igammac`](IncompleteGamma::igammac), likewise.
    #[inline(always)]
    fn igammac_partial(self, _x: Self) -> (Self, Self::Mask) {
        (self, <Self::Mask as Value>::from_bool(false))
    }

    /// Whether the two above may hold.
    #[inline(always)]
    fn is_within(self, _x: Self) -> Self::Mask {
        <Self::Mask as Value>::from_bool(false)
    }
}

impl<V: Gamma> Gamma for Dual<V> {
    #[inline(always)]
    fn lgamma(self) -> Self {
        self.chain(self.value.lgamma(), self.value.digamma())
    }
    #[inline(always)]
    fn digamma(self) -> Self {
        self.chain(self.value.digamma(), self.value.trigamma())
    }
    #[inline(always)]
    fn trigamma(self) -> Self {
        self.chain(self.value.trigamma(), V::from_i64(-2) * self.value.zeta_number(V::from_i64(3)))
    }
    /// The exponent is a number: it has no slope.
    #[inline(always)]
    fn zeta_number(self, exponent: Self) -> Self {
        let s = exponent.value;
        self.chain(self.value.zeta_number(s), -s * self.value.zeta_number(s + V::one()))
    }
}
