//! `any`: whether an element is true.

use crate::algebra::Value;
use crate::pointwise::{AllDTypes, Truth};
use crate::prebuilt::Reduce;
use crate::reduce::{Dim, Fold, OptionalDims, ReduceRule, Takes, Whole, WithIdentity};
use crate::table::native;

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

native! {
    family: Any;

    func: any(Tensor self) -> Tensor,
    out: any.all_out, structured: Reduce<AnyFn>;

    func: any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor,
    out: any.out, structured: Reduce<AnyFn>;

    /// Whether any element along the dimensions `dim` is true; `..` is all of them.
    ///
    /// What is not 0 is true, NaN included. The dimensions go, or become 1 with `keepdim`. The result is bool, but
    /// uint8 for uint8. Of no elements it is false.
    ///
    /// ```
    /// let x = tensor![[0, 0], [0, 2]];
    /// assert_eq!(x.any(1)?.to_vec::<bool>()?, [false, true]);
    /// assert!(x.any(..)?.at::<bool>(())?);
    /// ```
    func: any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor,
    out: any.dims_out, variants: function, method, name: any, positional: [dim], structured: Reduce<AnyFn>;
}
