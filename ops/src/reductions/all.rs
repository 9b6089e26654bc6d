//! `all`: whether every element is true.

use crate::algebra::Value;
use crate::pointwise::{AllDTypes, Truth};
use crate::prebuilt::Reduce;
use crate::reduce::{Dim, Fold, OptionalDims, ReduceRule, Takes, Whole, WithIdentity};
use crate::table::native;

crate::reduction! { AllFn "all": AllDTypes, Truth, WithIdentity => Truth; ReduceRule::TRUTH }
impl Takes<Whole> for AllFn {}
impl Takes<Dim> for AllFn {}
impl Takes<OptionalDims> for AllFn {}

impl<V: Value, X: Value<Mask = V::Mask>> Fold<V, X> for AllFn {
    #[inline(always)]
    fn one(x: V, _: X) -> V::Mask {
        x.truth()
    }
    #[inline(always)]
    fn merge(a: V::Mask, b: V::Mask) -> V::Mask {
        a & b
    }
    #[inline(always)]
    fn finish(acc: V::Mask, _: X) -> V::Mask {
        acc
    }
    #[inline(always)]
    fn identity() -> V::Mask {
        V::Mask::from_bool(true)
    }
}

native! {
    family: All;

    func: all(Tensor self) -> Tensor,
    out: all.all_out, structured: Reduce<AllFn>;

    func: all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor,
    out: all.out, structured: Reduce<AllFn>;

    /// Whether all elements along the dimensions `dim` are true; `..` is all of them.
    ///
    /// What is not 0 is true, NaN included. The dimensions go, or become 1 with `keepdim`. The result is bool, but
    /// uint8 for uint8. Of no elements it is true.
    ///
    /// ```
    /// let x = tensor![[1, 0], [3, 2]];
    /// assert_eq!(x.all(1)?.to_vec::<bool>()?, [false, true]);
    /// assert!(!x.all(..)?.at::<bool>(())?);
    /// ```
    func: all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor,
    out: all.dims_out, variants: function, method, name: all, positional: [dim], structured: Reduce<AllFn>;
}
