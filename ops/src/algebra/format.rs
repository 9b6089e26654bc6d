//! The floating format behind a value: its neighbours, its mantissa and exponent. And the length of a pair, which must
//! not leave the format on the way.

use super::Real;

/// A floating value as the format has it.
#[diagnostic::on_unimplemented(
    message = "the formula takes a float apart, which `{Self}` is not",
    note = "promote integers to float in the operator's declaration, and leave complex dtypes out of its domain"
)]
pub trait Format: Real {
    /// The next number of the dtype in the direction of `toward`, which is `toward` itself if they are equal. float16
    /// and bfloat16 step in their own precision.
    fn next_after(self, toward: Self) -> Self;

    /// The value over a power of two, from a half up to 1 in magnitude; zeros, infinities and NaN themselves.
    fn mantissa(self) -> Self;

    /// The exponent of that power; 0 of zeros, infinities and NaN.
    fn exponent(self) -> Self;

    /// The square root of the sum of both squares, within 1 ULP: neither overflow nor underflow on the way, and an
    /// infinite operand beats a NaN.
    fn hypot(self, other: Self) -> Self;
}
