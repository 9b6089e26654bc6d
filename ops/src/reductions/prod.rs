//! `prod`: bool and integers in int64, wrapping; halves in float32; float32 in float64.

use crate::algebra::{Num, Value, Widen};
use crate::pointwise::{AllDTypes, Common};
use crate::prebuilt::Reduce;
use crate::reduce::{DimDtype, Fold, ReduceRule, Takes, WholeDtype, Widened, WithIdentity};
use crate::table::native;

crate::reduction! { ProdFn "prod": AllDTypes, Widened, WithIdentity => Common; ReduceRule::SUM }
impl Takes<WholeDtype> for ProdFn {}
impl Takes<DimDtype> for ProdFn {}

impl<V: Widen, X: Value<Mask = V::Mask>> Fold<V, X> for ProdFn {
    #[inline(always)]
    fn one(x: V, _: X) -> V::Wide {
        x.widen()
    }
    #[inline(always)]
    fn merge(a: V::Wide, b: V::Wide) -> V::Wide {
        a * b
    }
    #[inline(always)]
    fn finish(acc: V::Wide, _: X) -> V {
        V::narrow(acc)
    }
    #[inline(always)]
    fn identity() -> V::Wide {
        V::Wide::one()
    }
}

native! {
    family: Prod;

    /// The product of the elements along the dimension `dim`.
    ///
    /// The dimension goes, or becomes 1 with `keepdim`. Bool and integers give int64, which wraps; other dtypes stay,
    /// and those narrower than float64 are accumulated in a wider one. The option `dtype` converts the elements first
    /// and is the dtype of the result. The product of no elements is 1.
    ///
    /// ```
    /// let x = tensor![[1.0f32, 2.0], [3.0, 4.0]];
    /// assert_eq!(x.prod(1)?.to_vec::<f32>()?, [2.0, 12.0]);
    /// ```
    func: prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor,
    out: prod.int_out, variants: function, method, structured: Reduce<ProdFn>;

    func: prod(Tensor self, *, ScalarType? dtype=None) -> Tensor,
    autogen: prod.out, structured: Reduce<ProdFn>;
}
