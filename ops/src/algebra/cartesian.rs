//! Complex values as two parts.

use super::Signum;

/// A complex value.
#[diagnostic::on_unimplemented(message = "the formula needs a complex value, which `{Self}` is not")]
pub trait Cartesian: Signum {
    /// The value `re + im·i`.
    fn from_parts(re: Self::Re, im: Self::Re) -> Self;

    /// The real part.
    fn re(self) -> Self::Re;

    /// The imaginary part.
    fn im(self) -> Self::Re;
}
