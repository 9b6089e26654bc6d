//! Values made of indices: how a count gets into a formula. Owns that one conversion; refuses all others, which are
//! casts.

use super::Value;

/// A value with a counterpart for every index `X`, an int64 of the same machine.
#[diagnostic::on_unimplemented(message = "the formula computes with a count, which has no counterpart as a `{Self}`")]
pub trait FromIndex<X>: Value {
    /// The value of an index: rounded once to a float type, the real part of a complex one.
    fn from_index(x: X) -> Self;
}
