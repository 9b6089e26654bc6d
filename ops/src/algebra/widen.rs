//! Values with a wider type to accumulate in. Owns the pairing; refuses conversions between classes of dtypes, which
//! are casts.

use super::{Num, Value};

/// A value that can be summed in a type with more precision, and rounded once at the end.
///
/// float32 widens to float64 and complex64 to complex128. float16 and bfloat16 are float32 in a register already,
/// integers wrap alike in every width, and float64 has nothing wider: these are their own.
#[diagnostic::on_unimplemented(message = "the formula accumulates in a wider type, which `{Self}` does not have")]
pub trait Widen: Num {
    /// The type of the wider value. It varies because only some floats have one; all others are their own.
    type Wide: Num + Value<Mask = Self::Mask>;

    /// The value, exactly.
    fn widen(self) -> Self::Wide;

    /// The nearest value to a wide one.
    fn narrow(wide: Self::Wide) -> Self;
}
