//! `mean`: the sum, accumulated as [`sum`](crate::reduce::SumFn) does, divided by the number of elements before it is
//! rounded.

use crate::algebra::{FromIndex, Num, TrueDivision, Value, Widen};
use crate::pointwise::{Common, FloatComplex};
use crate::prebuilt::Reduce;
use crate::reduce::{DimsDtype, Fold, ReduceRule, SumFn, Takes, WholeDtype, Widened, WithIdentity};
use crate::table::native;

crate::reduction! { MeanFn "mean": FloatComplex, Widened, WithIdentity => Common; ReduceRule::MEAN }
impl Takes<WholeDtype> for MeanFn {}
impl Takes<DimsDtype> for MeanFn {}

impl<V: Widen<Wide: TrueDivision + FromIndex<X>>, X: Value<Mask = V::Mask>> Fold<V, X> for MeanFn {
    #[inline(always)]
    fn one(x: V, index: X) -> V::Wide {
        <SumFn as Fold<V, X>>::one(x, index)
    }
    #[inline(always)]
    fn four(x: [V; 4], index: [X; 4]) -> V::Wide {
        <SumFn as Fold<V, X>>::four(x, index)
    }
    #[inline(always)]
    fn merge(a: V::Wide, b: V::Wide) -> V::Wide {
        <SumFn as Fold<V, X>>::merge(a, b)
    }
    #[inline(always)]
    fn finish(acc: V::Wide, count: X) -> V {
        // The empty sum is part of every sum, as in `sum`; the mean of no element is 0 / 0.
        V::narrow((V::Wide::zero() + acc) / V::Wide::from_index(count))
    }
    #[inline(always)]
    fn identity() -> V::Wide {
        <SumFn as Fold<V, X>>::identity()
    }
}

native! {
    family: Mean;

    func: mean(Tensor self, *, ScalarType? dtype=None) -> Tensor,
    out: mean.dtype_out, structured: Reduce<MeanFn>;

    func: mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor,
    out: mean.out, variants: function, method, structured: Reduce<MeanFn>;
}
