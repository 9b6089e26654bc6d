//! The natural logarithm.

use super::Num;

/// A value with a natural logarithm.
#[diagnostic::on_unimplemented(
    message = "the formula takes a logarithm, which `{Self}` does not have",
    note = "promote integers and bool to float in the operator's declaration"
)]
pub trait Logarithm: Num {
    /// The natural logarithm, within 1 ULP for real values: minus infinity of zeros, NaN below. Of a complex value the
    /// principal one: the logarithm of its magnitude, and its angle in (-pi, pi].
    fn log(self) -> Self;
}
