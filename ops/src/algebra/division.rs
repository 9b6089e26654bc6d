//! Division: the true quotient of floats and complex values, the rounded quotients of integers and floats, and what is
//! left over.

use super::{Num, Ordered};
use std::ops::Div;

/// A value with a true quotient. Complex values divide by Smith's method as `c10::complex` does (R. L. Smith,
/// *Algorithm 116: Complex division*, CACM 5(8), 1962): dividing by zero divides both parts by +0.
#[diagnostic::on_unimplemented(
    message = "the formula divides, and `{Self}` has no true quotient",
    note = "integers promote to float before a true division, or take `RoundedDivision`"
)]
pub trait TrueDivision: Num + Div<Output = Self> {}

/// A value with quotients that are rounded to integers.
///
/// Floats keep PyTorch's two definitions. `trunc` rounds the rounded quotient; `floor` is Python's: it starts from
/// `fmod`, corrects the sign, and snaps, so `inf // 1` is NaN but `1 // 0` is inf. float16 and bfloat16 round every
/// step to their own precision here, and nowhere else in the algebra: the quotient 2.9996 is 3.0 in float16, so it
/// decides what is truncated.
#[diagnostic::on_unimplemented(
    message = "the formula rounds a quotient, which `{Self}` cannot",
    note = "bool and complex dtypes have no rounded quotient: narrow the operator's domain"
)]
pub trait RoundedDivision: Num + Ordered {
    /// The quotient, rounded towards zero. Integers: 0 where [`faults`](RoundedDivision::faults) holds; the smallest
    /// integer by -1 wraps to itself.
    fn div_trunc(self, divisor: Self) -> Self;

    /// The quotient, rounded down. Integers: 0 where [`faults`](RoundedDivision::faults) holds; the smallest integer
    /// by -1 wraps to itself.
    fn div_floor(self, divisor: Self) -> Self;

    /// What is left over by the quotient that is rounded towards zero: it has the sign of the dividend, and is exact.
    /// Floats: NaN where the quotient is beyond the largest number (of float32 for float16 and bfloat16). Integers: 0
    /// where [`faults`](RoundedDivision::faults) holds.
    fn rem_trunc(self, divisor: Self) -> Self;

    /// What is left over by the quotient that is rounded down: it has the sign of the divisor. Integers: 0 where
    /// [`faults`](RoundedDivision::faults) holds.
    fn rem_floor(self, divisor: Self) -> Self;

    /// Whether the quotient is so small that the functions of that name may be asked. Always for integers, whose
    /// functions are the same.
    fn has_small_quotient(self, divisor: Self) -> Self::Mask {
        let _ = divisor;
        self.eq(self)
    }

    /// [`div_floor`](RoundedDivision::div_floor) by a shorter way, of a [small](RoundedDivision::has_small_quotient)
    /// quotient; of any other something.
    fn div_floor_small(self, divisor: Self) -> Self {
        self.div_floor(divisor)
    }

    /// [`rem_trunc`](RoundedDivision::rem_trunc) likewise.
    fn rem_trunc_small(self, divisor: Self) -> Self {
        self.rem_trunc(divisor)
    }

    /// [`rem_floor`](RoundedDivision::rem_floor) likewise.
    fn rem_floor_small(self, divisor: Self) -> Self {
        self.rem_floor(divisor)
    }

    /// Where this divisor is an error: zero for integers, never for floats. A quotient cannot fail in the middle of a
    /// loop, so the caller that owns the loop asks for this too and reports the error itself.
    fn faults(divisor: Self) -> Self::Mask;
}
