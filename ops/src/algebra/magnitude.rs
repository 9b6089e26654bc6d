//! Absolute value, the one operation here whose result has another type.

use super::Num;

/// A value with an absolute value.
#[diagnostic::on_unimplemented(message = "the formula takes an absolute value, which `{Self}` does not have")]
pub trait Magnitude: Num {
    /// The absolute value. The smallest integer wraps to itself; unsigned values and bool are their own. Of a complex
    /// value it is hypot of the parts: no overflow on the way, and an infinite part beats a NaN.
    fn abs(self) -> Self::Re;
}
