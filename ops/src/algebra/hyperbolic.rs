//! The hyperbolic functions and their inverses, and the logistic function, which is the hyperbolic tangent in other
//! units.

use super::Num;

/// A value with hyperbolic functions. Real ones are within 1 ULP; complex ones follow C99 Annex G at infinities and
/// NaN.
#[diagnostic::on_unimplemented(
    message = "the formula takes a hyperbolic tangent, which `{Self}` does not have",
    note = "promote integers and bool to float in the operator's declaration"
)]
pub trait Hyperbolic: Num {
    /// The hyperbolic sine.
    fn sinh(self) -> Self;

    /// The hyperbolic cosine.
    fn cosh(self) -> Self;

    /// The hyperbolic tangent.
    fn tanh(self) -> Self;

    /// The inverse of the hyperbolic sine.
    fn asinh(self) -> Self;

    /// The inverse of the hyperbolic cosine: NaN of real values below 1.
    fn acosh(self) -> Self;

    /// The inverse of the hyperbolic tangent: NaN of real values beyond 1.
    fn atanh(self) -> Self;

    /// 1 / (1 + e^-x), within 1 ULP for real values, subnormal results included.
    fn sigmoid(self) -> Self;
}
