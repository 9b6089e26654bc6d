//! Square roots.

use super::TrueDivision;

/// A value with a square root.
#[diagnostic::on_unimplemented(
    message = "the formula takes a square root, which `{Self}` does not have",
    note = "promote integers and bool to float in the operator's declaration"
)]
pub trait Root: TrueDivision {
    /// The square root, correctly rounded for real values; NaN below zero, -0 of -0. Of a complex value the principal
    /// one: its real part is not negative, and the branch cut is the negative real axis (C99 Annex G).
    fn sqrt(self) -> Self;

    /// One divided by the square root, within 1 ULP for real values.
    fn rsqrt(self) -> Self;
}
