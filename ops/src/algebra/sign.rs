//! Signs: the direction of a value, and the bit that says which side of zero it is on.

use super::{Num, Ordered};

/// A value with a direction.
#[diagnostic::on_unimplemented(message = "the formula takes a sign, which `{Self}` does not have")]
pub trait Signum: Num {
    /// 0 of zero, else the value divided by its magnitude: 1 or -1 of a real one, a point of the unit circle of a
    /// complex one. NaN has none: its sign is 0 as a real value, NaN as a complex one. bool is its own.
    fn sgn(self) -> Self;

    /// The conjugate: the imaginary part changes its sign, also when it is zero or NaN. A real value is its own.
    fn conj(self) -> Self;
}

/// A value whose sign can be asked for.
#[diagnostic::on_unimplemented(
    message = "the formula asks for a sign, which `{Self}` does not have",
    note = "leave complex dtypes out of the operator's domain"
)]
pub trait Signed: Ordered {
    /// Whether the value is below zero; of a float its sign bit, so that -0 and half of all NaNs count.
    fn is_negative(self) -> Self::Mask;
}
