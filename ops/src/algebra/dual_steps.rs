//! The derivative of what rounds, jumps or takes numbers apart, on dual numbers: 0 wherever it is a step.

use super::{Classify, Dual, Format, Real, RoundedDivision, Rounding, Signed, Signum};

impl<V: Real> Rounding for Dual<V> {
    #[inline(always)]
    fn floor(self) -> Self {
        Dual::constant(self.value.floor())
    }
    #[inline(always)]
    fn ceil(self) -> Self {
        Dual::constant(self.value.ceil())
    }
    #[inline(always)]
    fn trunc(self) -> Self {
        Dual::constant(self.value.trunc())
    }
    #[inline(always)]
    fn round(self) -> Self {
        Dual::constant(self.value.round())
    }
}

impl<V: Real + RoundedDivision> RoundedDivision for Dual<V> {
    #[inline(always)]
    fn div_trunc(self, divisor: Self) -> Self {
        Dual::constant(self.value.div_trunc(divisor.value))
    }
    #[inline(always)]
    fn div_floor(self, divisor: Self) -> Self {
        Dual::constant(self.value.div_floor(divisor.value))
    }
    #[inline(always)]
    fn rem_trunc(self, divisor: Self) -> Self {
        let quotient = self.value.div_trunc(divisor.value);
        Dual { value: self.value.rem_trunc(divisor.value), slope: self.slope - quotient * divisor.slope }
    }
    #[inline(always)]
    fn rem_floor(self, divisor: Self) -> Self {
        let quotient = self.value.div_floor(divisor.value);
        Dual { value: self.value.rem_floor(divisor.value), slope: self.slope - quotient * divisor.slope }
    }
    #[inline(always)]
    fn faults(divisor: Self) -> V::Mask {
        V::faults(divisor.value)
    }
}

impl<V: Real + Signum> Signum for Dual<V> {
    #[inline(always)]
    fn sgn(self) -> Self {
        Dual::constant(self.value.sgn())
    }
    #[inline(always)]
    fn conj(self) -> Self {
        self
    }
}

impl<V: Real + Signed> Signed for Dual<V> {
    #[inline(always)]
    fn is_negative(self) -> V::Mask {
        self.value.is_negative()
    }
}

impl<V: Real + Classify> Classify for Dual<V> {
    #[inline(always)]
    fn is_infinite(self) -> V::Mask {
        self.value.is_infinite()
    }
    #[inline(always)]
    fn finite_or(self, nan: Self, positive: Self, negative: Self) -> Self {
        let value = self.value.finite_or(nan.value, positive.value, negative.value);
        Dual { value, slope: V::select(self.value.is_finite(), self.slope, V::zero()) }
    }
}

impl<V: Format> Format for Dual<V> {
    /// It follows the first operand, whichever way the step goes.
    #[inline(always)]
    fn next_after(self, toward: Self) -> Self {
        Dual { value: self.value.next_after(toward.value), slope: self.slope }
    }
    #[inline(always)]
    fn mantissa(self) -> Self {
        let value = self.value.mantissa();
        let ratio = V::select(self.value.eq(V::zero()), V::one(), value / self.value);
        Dual { value, slope: self.slope * ratio }
    }
    #[inline(always)]
    fn exponent(self) -> Self {
        Dual::constant(self.value.exponent())
    }
    #[inline(always)]
    fn hypot(self, other: Self) -> Self {
        let value = self.value.hypot(other.value);
        let slope = (self.value * self.slope + other.value * other.slope) / value;
        Dual { value, slope: V::select(value.eq(V::zero()), V::zero(), slope) }
    }
}
