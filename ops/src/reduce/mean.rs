//! `mean`: the sum, accumulated as [`sum`](super::SumFn) does, divided by the number of elements before it is rounded.

use super::{DimsDtype, Fold, ReduceRule, SumFn, Takes, WholeDtype, Widened, WithIdentity};
use crate::algebra::{FromIndex, Num, TrueDivision, Value, Widen};
use crate::pointwise::{Common, FloatComplex};

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

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __mean_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [mean] (Tensor self, *, ScalarType? dtype=None) -> (Tensor) : fold ($crate::reduce::MeanFn) {
            functional mean; out mean_out [mean.dtype_out];
            functional_full mean_dtype; out_full mean_dtype_out;
        } }
        { [mean.dim] (Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> (Tensor)
            : op ($crate::reduce::Mean) {
            functional mean_dim; out mean_dim_out [mean.out];
            functional_full mean_dim_dtype; out_full mean_dim_dtype_out;
        } }
    } };
}
