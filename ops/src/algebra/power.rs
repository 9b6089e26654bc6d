//! Powers.

use super::Num;

/// A value that can be raised to a power.
#[diagnostic::on_unimplemented(message = "the formula takes a power, which `{Self}` does not have")]
pub trait Power: Num {
    /// The value to the power of `exponent`.
    ///
    /// * bool: false only where the value is false and the exponent true.
    /// * Integers: the product wraps; a negative exponent gives the quotient 1 / (product), cut towards zero: 0 but for
    ///   the bases 1 and -1. The base 0 gives 0 then.
    /// * Floats: within 1 ULP; C99 Annex F at zeros, infinities and NaN (1 to any power and anything to the power 0 are
    ///   1).
    /// * Complex: e^(exponent * log value).
    fn pow(self, exponent: Self) -> Self;

    /// The same for an exponent that is a number of the call, not an element. PyTorch computes some of them in another
    /// way, which shows at zeros, infinities and branch cuts: a half is a square root, minus a half and negative
    /// integers down to -2 are reciprocals of a root or product, 2 and 3 are products, 1 is the value itself. The
    /// number is rounded to the dtype of the value first, float16 and bfloat16 included.
    fn pow_number(self, exponent: Self) -> Self;
}
