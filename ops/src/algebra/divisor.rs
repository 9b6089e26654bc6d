//! Common divisors of integers.

use super::{Magnitude, RoundedDivision, Value};

/// A value with divisors in common with another.
#[diagnostic::on_unimplemented(
    message = "the formula takes a common divisor, which `{Self}` does not have",
    note = "only integers have divisors: narrow the operator's domain"
)]
pub trait Divisor: RoundedDivision + Magnitude + Value<Re = Self> {
    /// Whether an int of C, in which it computes, is wider.
    const IS_NARROW: bool;

    /// The greatest common divisor, not negative but where it wraps to the smallest integer; 0 of two zeros.
    fn gcd(self, other: Self) -> Self;

    /// The least common multiple, 0 if either is 0. As in C, narrow integers are multiplied as wider ones, so that the
    /// magnitude wraps; of others the product does, before its magnitude is taken.
    #[inline(always)]
    fn lcm(self, other: Self) -> Self {
        // The quotient by 0 is 0.
        let quotient = self.div_trunc(self.gcd(other));
        if const { Self::IS_NARROW } { quotient.abs() * other.abs() } else { (quotient * other).abs() }
    }
}
