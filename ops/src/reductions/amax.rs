//! `amax`: the largest element; NaN, if there is one.

use crate::algebra::{self, Value};
use crate::pointwise::{Common, Ordered};
use crate::prebuilt::Reduce;
use crate::reduce::{Fold, ListedDims, NoIdentity, ReduceRule, Takes, Whole};
use crate::table::native;

crate::reduction! { AmaxFn "amax": Ordered, Common, NoIdentity => Common; ReduceRule::OWN.of_extremes() }
impl Takes<ListedDims> for AmaxFn {}
impl Takes<Whole> for AmaxFn {}

impl<V: algebra::Ordered, X: Value<Mask = V::Mask>> Fold<V, X> for AmaxFn {
    #[inline(always)]
    fn one(x: V, _: X) -> V {
        x
    }
    #[inline(always)]
    fn merge(a: V, b: V) -> V {
        a.maximum(b)
    }
    #[inline(always)]
    fn finish(acc: V, _: X) -> V {
        acc
    }
    #[inline(always)]
    fn identity() {}
}

native! {
    family: Amax;

    /// The largest element along the dimensions `dim`; `..` is all of them.
    ///
    /// The dimensions go, or become 1 with `keepdim`. The dtype stays. NaN is larger than everything. Of no elements
    /// there is no largest: a reduced dimension of size 0 is an error. Complex numbers are an error, too.
    ///
    /// ```
    /// let x = tensor![[1, 5], [7, 2]];
    /// assert_eq!(x.amax(1)?.to_vec::<i32>()?, [5, 7]);
    /// assert_eq!(x.amax(..)?.at::<i32>(())?, 7);
    /// ```
    func: amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor,
    out: amax.out, variants: function, method, positional: [dim], structured: Reduce<AmaxFn>;

    func: max(Tensor self) -> Tensor,
    out_matrix: max.unary_out, structured: Reduce<AmaxFn>;
}
