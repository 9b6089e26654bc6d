//! `sum`: bool and integers in int64, wrapping; halves in float32; float32 in float64, once four are added.

use crate::algebra::{Num, Value, Widen};
use crate::pointwise::{AllDTypes, Common};
use crate::prebuilt::Reduce;
use crate::reduce::{DimsDtype, Fold, ReduceRule, Takes, WholeDtype, Widened, WithIdentity};
use crate::table::native;

crate::reduction! { SumFn "sum": AllDTypes, Widened, WithIdentity => Common; ReduceRule::SUM }
impl Takes<WholeDtype> for SumFn {}
impl Takes<DimsDtype> for SumFn {}

impl<V: Widen, X: Value<Mask = V::Mask>> Fold<V, X> for SumFn {
    #[inline(always)]
    fn one(x: V, _: X) -> V::Wide {
        x.widen()
    }
    #[inline(always)]
    fn four([a, b, c, d]: [V; 4], _: [X; 4]) -> V::Wide {
        ((a + b) + (c + d)).widen()
    }
    #[inline(always)]
    fn merge(a: V::Wide, b: V::Wide) -> V::Wide {
        a + b
    }
    #[inline(always)]
    fn finish(acc: V::Wide, _: X) -> V {
        // The empty sum is part of every sum: a sum of negative zeros is 0, not -0.
        V::narrow(V::Wide::zero() + acc)
    }
    #[inline(always)]
    fn identity() -> V::Wide {
        V::Wide::zero()
    }
}

native! {
    family: Sum;

    func: sum(Tensor self, *, ScalarType? dtype=None) -> Tensor,
    autogen: sum.out, structured: Reduce<SumFn>;

    /// Adds the elements along the dimensions `dim`; `..` is all of them.
    ///
    /// The dimensions go, or become 1 with `keepdim`. Bool and integers give int64, which wraps; other dtypes stay, and
    /// those narrower than float64 are accumulated in a wider one. The option `dtype` converts the elements first and
    /// is the dtype of the result. The sum of no elements is 0; NaN makes NaN.
    ///
    /// ```
    /// let x = tensor![[1.0f32, 2.0], [3.0, 4.0]];
    /// assert_eq!(x.sum(1)?.to_vec::<f32>()?, [3.0, 7.0]);
    /// assert_eq!(x.sum(..)?.at::<f32>(())?, 10.0);
    /// assert_eq!(x.sum_with(1, Sum { keepdim: true, ..Default::default() })?.sizes(), [2, 1]);
    /// ```
    func: sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor,
    out: sum.IntList_out, variants: function, method, structured: Reduce<SumFn>;
}
