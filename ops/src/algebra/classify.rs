//! What a value is besides a number: infinite, or none. Integers are never either.

use super::Equal;

/// A value that may be infinite or NaN.
#[diagnostic::on_unimplemented(message = "the formula asks whether a `{Self}` is infinite, which has no answer")]
pub trait Classify: Equal {
    /// Whether the value is infinite; of a complex one, whether either part is.
    fn is_infinite(self) -> Self::Mask;

    /// `nan` for NaN, `positive` and `negative` for the infinities, the value itself otherwise; part by part in a
    /// complex value, with the real parts of the three.
    fn finite_or(self, nan: Self, positive: Self, negative: Self) -> Self;
}
