//! `nansum`: [`sum`](crate::reduce::SumFn) of the elements that are not NaN.

use crate::algebra::{Num, Ordered, Value, Widen};
use crate::pointwise::{self, Common};
use crate::prebuilt::Reduce;
use crate::reduce::{DimsDtype, Fold, ReduceRule, SumFn, Takes, Widened, WithIdentity};
use crate::table::native;

crate::reduction! {
    NansumFn "nansum": pointwise::Ordered, Widened, WithIdentity => Common;
    ReduceRule::SUM.with_safe_casts()
}
impl Takes<DimsDtype> for NansumFn {}

/// Zero in place of NaN.
#[inline(always)]
fn number<V: Num + Ordered>(x: V) -> V {
    V::select(x.ne(x), V::zero(), x)
}

impl<V: Widen + Ordered, X: Value<Mask = V::Mask>> Fold<V, X> for NansumFn {
    #[inline(always)]
    fn one(x: V, index: X) -> V::Wide {
        <SumFn as Fold<V, X>>::one(number(x), index)
    }
    #[inline(always)]
    fn four(x: [V; 4], index: [X; 4]) -> V::Wide {
        <SumFn as Fold<V, X>>::four(x.map(number), index)
    }
    #[inline(always)]
    fn merge(a: V::Wide, b: V::Wide) -> V::Wide {
        <SumFn as Fold<V, X>>::merge(a, b)
    }
    #[inline(always)]
    fn finish(acc: V::Wide, count: X) -> V {
        <SumFn as Fold<V, X>>::finish(acc, count)
    }
    #[inline(always)]
    fn identity() -> V::Wide {
        <SumFn as Fold<V, X>>::identity()
    }
}

native! {
    family: Nansum;

    /// Adds the elements along the dimensions `dim` that are not NaN; `..` is all of them.
    ///
    /// The dimensions go, or become 1 with `keepdim`. Bool and integers give int64, which wraps; other dtypes stay. The
    /// option `dtype` converts the elements first and is the dtype of the result. The sum of no elements is 0. Complex
    /// numbers are an error.
    ///
    /// ```
    /// let x = tensor![[1.0f32, f32::NAN], [3.0, 4.0]];
    /// assert_eq!(x.nansum(1)?.to_vec::<f32>()?, [1.0, 7.0]);
    /// ```
    func: nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor,
    out: nansum.out, variants: function, method, positional: [dim], structured: Reduce<NansumFn>;
}
