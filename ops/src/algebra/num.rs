//! Ring arithmetic. Owns `+ - *` and negation; refuses division (`division.rs`), which needs a decision per class.

use super::Value;
use std::ops::{Add, Mul, Neg, Sub};

/// A value with ring arithmetic.
///
/// * Integers wrap.
/// * Floats round each operation once; a product is never silently fused with a sum.
/// * bool follows C++, whose bools promote to int and come back by `!= 0`: `+` is *or*, `*` is *and*, `-` is
///   *exclusive or*, negation is the identity.
#[diagnostic::on_unimplemented(
    message = "the formula needs `+`, `-` and `*`, which `{Self}` does not have",
    label = "not a `Num`"
)]
pub trait Num: Value + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self> {
    /// The neutral value of `+`.
    #[inline(always)]
    fn zero() -> Self {
        Self::from_bool(false)
    }

    /// The neutral value of `*`.
    #[inline(always)]
    fn one() -> Self {
        Self::from_bool(true)
    }

    /// `self + factor * x`. Real floats round once, so that a product beyond the largest number does not spoil a finite
    /// or infinite sum, and every level gives the same bits; all others compute in two steps.
    #[inline(always)]
    fn add_scaled(self, factor: Self, x: Self) -> Self {
        self + factor * x
    }
}
