//! The exponential function. Other transcendental families have a trait and a file of their own beside it.

use super::Num;

/// A value with an exponential function.
#[diagnostic::on_unimplemented(
    message = "the formula takes an exponential, which `{Self}` does not have",
    note = "promote integers and bool to float in the operator's declaration"
)]
pub trait Exponential: Num {
    /// e to the power of the value, within 1 ULP for real values, subnormal results included. Complex values follow C99
    /// Annex G at infinities and NaN.
    fn exp(self) -> Self;

    /// 2 to the power of the value, within 1 ULP for real values. Of a complex value e to the power of it times ln 2.
    fn exp2(self) -> Self;

    /// The exponential less one, within 1 ULP for real values, however small.
    fn expm1(self) -> Self;
}
