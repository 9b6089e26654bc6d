//! The logarithms.

use super::{Exponential, Num, Real};

/// A value with logarithms.
#[diagnostic::on_unimplemented(
    message = "the formula takes a logarithm, which `{Self}` does not have",
    note = "promote integers and bool to float in the operator's declaration"
)]
pub trait Logarithm: Num {
    /// The natural logarithm, within 1 ULP for real values (1.2 in float64): minus infinity of zeros, NaN below. Of a
    /// complex value the principal one: the logarithm of its magnitude, and its angle in (-pi, pi].
    fn log(self) -> Self;

    /// The logarithm to base 2, within 1 ULP for real values.
    fn log2(self) -> Self;

    /// The logarithm to base 10, within 1 ULP for real values.
    fn log10(self) -> Self;

    /// The natural logarithm of one more than the value, within 1 ULP for real values, however small.
    fn log1p(self) -> Self;

    /// log(e^self + e^other), from the larger of both and what the exponential of their difference adds.
    fn log_sum_exp(self, other: Self) -> Self;
}

/// log(base^a + base^b) of real values, `add` being log(1 + base^x) for x not above zero.
#[inline(always)]
pub fn log_of_sum<V: Real>(a: V, b: V, add: impl FnOnce(V) -> V) -> V {
    let sum = a.maximum(b) + add(-(a - b).abs());
    // Equal infinities have no difference.
    V::select(a.eq(b) & !a.is_finite(), a, sum)
}

/// [`Logarithm::log_sum_exp`] of real values.
#[inline(always)]
pub fn real_log_sum_exp<V: Real + Exponential + Logarithm>(a: V, b: V) -> V {
    log_of_sum(a, b, |x| x.exp().log1p())
}
