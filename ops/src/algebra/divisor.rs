//! Common divisors of integers.

use super::{Magnitude, RoundedDivision, Value};

/// A value with divisors in common with another.
#[diagnostic::on_unimplemented(
    message = "the formula takes a common divisor, which `{Self}` does not have",
    note = "only integers have divisors: narrow the operator's domain"
)]
pub trait Divisor: RoundedDivision + Magnitude + Value<Re = Self> {
    /// The greatest common divisor, not negative but where it wraps to the smallest integer; 0 of two zeros.
    fn gcd(self, other: Self) -> Self;

    /// The least common multiple, wrapped; 0 if either is 0.
    #[inline(always)]
    fn lcm(self, other: Self) -> Self {
        // The quotient by 0 is 0.
        (self.div_trunc(self.gcd(other)) * other).abs()
    }
}
