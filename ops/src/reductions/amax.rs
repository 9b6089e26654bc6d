//! `amax`: the largest element; NaN, if there is one.

use crate::algebra::{self, Value};
use crate::pointwise::{Common, Ordered};
use crate::prebuilt::Reduce;
use crate::reduce::{Fold, ListedDims, NoIdentity, ReduceRule, Takes};
use crate::table::native;

crate::reduction! { AmaxFn "amax": Ordered, Common, NoIdentity => Common; ReduceRule::OWN.of_extremes() }
impl Takes<ListedDims> for AmaxFn {}

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

    func: amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor,
    out: amax.out, variants: function, method, positional: [dim], structured: Reduce<AmaxFn>;
}
