//! `any`: whether an element is true.

use super::{Dim, Fold, OptionalDims, ReduceRule, Takes, Whole, WithIdentity};
use crate::algebra::Value;
use crate::pointwise::{AllDTypes, Truth};

crate::reduction! { AnyFn "any": AllDTypes, Truth, WithIdentity => Truth; ReduceRule::TRUTH }
impl Takes<Whole> for AnyFn {}
impl Takes<Dim> for AnyFn {}
impl Takes<OptionalDims> for AnyFn {}

impl<V: Value, X: Value<Mask = V::Mask>> Fold<V, X> for AnyFn {
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
    fn identity() -> V::Mask {
        V::Mask::from_bool(false)
    }
}

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __any_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [any] (Tensor self) -> (Tensor) : fold ($crate::reduce::AnyFn) { functional any; out any_out [any.all_out]; } }
        { [any.dim] (Tensor self, int dim, bool keepdim=False) -> (Tensor) : op ($crate::reduce::Any) {
            functional any_dim; out any_dim_out [any.out];
        } }
        { [any.dims] (Tensor self, int[]? dim=None, bool keepdim=False) -> (Tensor) : op ($crate::reduce::Any) {
            functional any_dims; out any_dims_out [any.dims_out];
        } }
    } };
}
