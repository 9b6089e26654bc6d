//! Rounding to integers. Integers have it, too: they are what they round to.

use super::{Num, Ordered};

/// A value that rounds to an integer of its own type.
#[diagnostic::on_unimplemented(
    message = "the formula rounds to integers, which `{Self}` cannot",
    note = "bool and complex dtypes do not round: narrow the operator's domain"
)]
pub trait Rounding: Num + Ordered {
    /// The largest integer that is not above the value.
    fn floor(self) -> Self;

    /// The smallest integer that is not below the value.
    fn ceil(self) -> Self;

    /// The integer part: rounded towards zero.
    fn trunc(self) -> Self;

    /// The nearest integer, the even one of two.
    fn round(self) -> Self;
}
