//! The error function, and what the normal distribution weighs.

use super::Real;

/// A value with an error function.
#[diagnostic::on_unimplemented(
    message = "the formula takes an error function, which `{Self}` does not have",
    note = "promote integers to float in the operator's declaration, and leave complex dtypes out of its domain"
)]
pub trait Gaussian: Real {
    /// The error function, within 1 ULP.
    fn erf(self) -> Self;

    /// The complement of the error function, within 1 ULP, also far on the positive side, where 1 - erf would cancel.
    fn erfc(self) -> Self;

    /// The inverse of the error function, within 1 ULP: infinities of 1 and -1, NaN beyond.
    fn erfinv(self) -> Self;

    /// x times the probability that a normal variable is below x. Exact to a few ULP also far on the negative side,
    /// where 1 + erf would cancel. Minus infinity gives NaN, as in PyTorch.
    fn gelu(self) -> Self;

    /// The approximation x * sigmoid(sqrt(8/pi) * (x + 0.044715 x^3)) of [`gelu`](Gaussian::gelu), which is commonly
    /// written with tanh.
    fn gelu_tanh(self) -> Self;
}
