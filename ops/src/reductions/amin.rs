//! `amin`: the smallest element; NaN, if there is one.

use crate::algebra::{self, Value};
use crate::pointwise::{Common, Ordered};
use crate::prebuilt::Reduce;
use crate::reduce::{Fold, ListedDims, NoIdentity, ReduceRule, Takes, Whole};
use crate::table::native;

crate::reduction! { AminFn "amin": Ordered, Common, NoIdentity => Common; ReduceRule::OWN.of_extremes() }
impl Takes<ListedDims> for AminFn {}
impl Takes<Whole> for AminFn {}

impl<V: algebra::Ordered, X: Value<Mask = V::Mask>> Fold<V, X> for AminFn {
    #[inline(always)]
    fn one(x: V, _: X) -> V {
        x
    }
    #[inline(always)]
    fn merge(a: V, b: V) -> V {
        a.minimum(b)
    }
    #[inline(always)]
    fn finish(acc: V, _: X) -> V {
        acc
    }
    #[inline(always)]
    fn identity() {}
}

native! {
    family: Amin;

    /// The smallest element along the dimensions `dim`; `..` is all of them.
    ///
    /// The dimensions go, or become 1 with `keepdim`. The dtype stays. NaN is smaller than everything. Of no elements
    /// there is no smallest: a reduced dimension of size 0 is an error. Complex numbers are an error, too.
    ///
    /// ```
    /// let x = tensor![[1, 5], [7, 2]];
    /// assert_eq!(x.amin(1)?.to_vec::<i32>()?, [1, 2]);
    /// assert_eq!(x.amin(..)?.at::<i32>(())?, 1);
    /// ```
    func: amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor,
    out: amin.out, variants: function, method, positional: [dim], structured: Reduce<AminFn>;

    func: min(Tensor self) -> Tensor,
    out_matrix: min.unary_out, structured: Reduce<AminFn>;
}
