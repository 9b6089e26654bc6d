//! The hyperbolic tangent and the logistic function, which is the same curve in other units.

use super::Num;

/// A value with a hyperbolic tangent.
#[diagnostic::on_unimplemented(
    message = "the formula takes a hyperbolic tangent, which `{Self}` does not have",
    note = "promote integers and bool to float in the operator's declaration"
)]
pub trait Hyperbolic: Num {
    /// The hyperbolic tangent, within 1 ULP for real values. Complex values follow C99 Annex G.
    fn tanh(self) -> Self;

    /// 1 / (1 + e^-x), within 1 ULP for real values, subnormal results included.
    fn sigmoid(self) -> Self;
}
