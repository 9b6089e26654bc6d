//! `any`: whether an element is true.

use super::{Dim, Fold, OptionalDims, ReduceRule, Takes, Whole};
use crate::algebra::Value;
use crate::pointwise::{AllDTypes, Truth};

crate::reduction! { AnyFn "any": AllDTypes => Truth; ReduceRule::TRUTH }
impl Takes<Whole> for AnyFn {}
impl Takes<Dim> for AnyFn {}
impl Takes<OptionalDims> for AnyFn {}

impl<V: Value, X: Value<Mask = V::Mask>> Fold<V, X> for AnyFn {
    type Acc = V::Mask;
    #[inline(always)]
    fn one(x: V, _: X) -> V::Mask {
        x.truth()
    }
    #[inline(always)]
    fn merge(a: V::Mask, b: V::Mask) -> V::Mask {
        a | b
    }
    #[inline(always)]
    fn finish(acc: V::Mask, _: X) -> V::Mask {
        acc
    }
    #[inline(always)]
    fn nothing() -> Option<V::Mask> {
        Some(V::Mask::from_bool(false))
    }
}
