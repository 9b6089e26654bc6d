//! Comparison. Equality stands apart from order because complex values have only the former.

use super::Value;

/// A value that can be compared for equality. NaN equals nothing; complex values are equal in both parts.
#[diagnostic::on_unimplemented(message = "the formula compares for equality, which `{Self}` does not have")]
pub trait Equal: Value {
    /// `self == other`.
    fn eq(self, other: Self) -> Self::Mask;

    /// `self != other`: true for NaN.
    fn ne(self, other: Self) -> Self::Mask;
}

/// A value with an order: bool (false first), integers, floats. A comparison with NaN is false.
#[diagnostic::on_unimplemented(
    message = "the formula needs an order, which `{Self}` does not have",
    note = "complex values have equality only: leave complex dtypes out of the operator's domain"
)]
pub trait Ordered: Equal {
    /// `self < other`.
    fn lt(self, other: Self) -> Self::Mask;

    /// `self <= other`.
    fn le(self, other: Self) -> Self::Mask;

    /// `self > other`.
    #[inline(always)]
    fn gt(self, other: Self) -> Self::Mask {
        other.lt(self)
    }

    /// `self >= other`.
    #[inline(always)]
    fn ge(self, other: Self) -> Self::Mask {
        other.le(self)
    }

    /// The smaller one; NaN if either is NaN (unlike `f32::min`). Of equal values it gives `other`.
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        let taken = self.lt(other) | self.ne(self);
        Self::select(taken, self, other)
    }

    /// The larger one; NaN if either is NaN (unlike `f32::max`). Of equal values it gives `other`.
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        let taken = self.gt(other) | self.ne(self);
        Self::select(taken, self, other)
    }

    /// The value, or the bound where it is larger; NaN if either is NaN. The bound is the same for all elements.
    #[inline(always)]
    fn at_most(self, bound: Self) -> Self {
        bound.minimum(self)
    }

    /// The value, or the bound where it is smaller; NaN if either is NaN. The bound is the same for all elements.
    #[inline(always)]
    fn at_least(self, bound: Self) -> Self {
        bound.maximum(self)
    }

    /// The smaller one; if one is NaN, the other. Of equal values it gives `self`.
    #[inline(always)]
    fn fmin(self, other: Self) -> Self {
        let taken = self.le(other) | other.ne(other);
        Self::select(taken, self, other)
    }

    /// The larger one; if one is NaN, the other. Of equal values it gives `self`.
    #[inline(always)]
    fn fmax(self, other: Self) -> Self {
        let taken = self.ge(other) | other.ne(other);
        Self::select(taken, self, other)
    }
}
