//! `mean`: the sum, accumulated as [`sum`](crate::reduce::SumFn) does, divided by the number of elements before it is
//! rounded.

use crate::algebra::{FromIndex, Num, TrueDivision, Value, Widen};
use crate::pointwise::{Common, FloatComplex};
use crate::prebuilt::Reduce;
use crate::reduce::{DimsDtype, Fold, ReduceRule, SharedWith, SumFn, Takes, WholeDtype, WithIdentity};
use crate::table::native;

crate::reduction! { MeanFn "mean": FloatComplex, SharedWith<SumFn>, WithIdentity => Common; ReduceRule::MEAN }
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

    /// The mean of the elements along the dimensions `dim`; `..` is all of them.
    ///
    /// The dimensions go, or become 1 with `keepdim`. The dtype stays. Bool and integers are an error unless the option
    /// `dtype`, which converts the elements first, is a float or complex one. The mean of no elements is NaN.
    ///
    /// ```
    /// let x = tensor![[1.0f32, 2.0], [3.0, 5.0]];
    /// assert_eq!(x.mean(0)?.to_vec::<f32>()?, [2.0, 3.5]);
    /// let counts = tensor![1, 2];
    /// let in_f64 = Mean { dtype: Some(F64), ..Default::default() };
    /// assert_eq!(counts.mean_with(.., in_f64)?.at::<f64>(())?, 1.5);
    /// ```
    func: mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor,
    out: mean.out, variants: function, method, structured: Reduce<MeanFn>;
}
