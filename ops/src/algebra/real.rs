//! What only real floating values have: classification, sign, fused multiply-add.

use super::{Magnitude, Rounding, TrueDivision, Value};

/// A real floating value. float16 and bfloat16 compute in float32 and round once, when they are stored.
#[diagnostic::on_unimplemented(
    message = "the formula needs a real floating value, which `{Self}` is not",
    note = "promote integers to float in the operator's declaration, and leave complex dtypes out of its domain"
)]
pub trait Real: Magnitude + Rounding + TrueDivision + Value<Re = Self> {
    /// Whether the value is NaN.
    fn is_nan(self) -> Self::Mask;

    /// Whether the value is neither infinite nor NaN.
    fn is_finite(self) -> Self::Mask;

    /// This magnitude with the sign of `sign`; also for zeros and NaN.
    fn copysign(self, sign: Self) -> Self;

    /// `self * factor + addend`, fused into one rounding where the instruction set can, else in two: results may
    /// differ between levels in the last place. Meant for polynomials.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
}
