//! `min`: the smallest element and where it is; or, of all elements, what it is.

use super::argmin::ArgminFn;
use crate::algebra;
use crate::pointwise::Ordered;
use crate::prebuilt::Reduce;
use crate::reduce::{CommonAndIndex, Dim, Fold, NoIdentity, ReduceRule, SharedWith, Takes};
use crate::table::native;

crate::reduction! {
    MinFn "min": Ordered, SharedWith<ArgminFn>, NoIdentity => CommonAndIndex; ReduceRule::OWN.with_outputs_apart()
}
impl Takes<Dim> for MinFn {}

impl<V: algebra::Ordered, X: algebra::Ordered<Mask = V::Mask>> Fold<V, X> for MinFn {
    #[inline(always)]
    fn one(x: V, at: X) -> (V, X) {
        (x, at)
    }
    #[inline(always)]
    fn merge(a: (V, X), b: (V, X)) -> (V, X) {
        <ArgminFn as Fold<V, X>>::merge(a, b)
    }
    const SEARCHES: bool = true;
    #[inline(always)]
    fn keeps(a: V, b: V) -> V::Mask {
        <ArgminFn as Fold<V, X>>::keeps(a, b)
    }
    #[inline(always)]
    fn finish(acc: (V, X), _: X) -> (V, X) {
        acc
    }
    #[inline(always)]
    fn identity() {}
}

native! {
    family: Min;

    /// The smallest element along the dimension `dim`, and its index.
    ///
    /// Of equal elements it is the first one; NaN is smaller than everything. The values have the dtype of the input,
    /// the indices are int64. The dimension goes, or becomes 1 with `keepdim`. A reduced dimension of size 0 is an
    /// error, and so are complex numbers. The smallest of all elements is [`amin`](super::functions::amin).
    ///
    /// ```
    /// let x = tensor![[1.0f32, 5.0], [7.0, 2.0]];
    /// let (values, indices) = x.min(1)?;
    /// assert_eq!((values.to_vec::<f32>()?, indices.to_vec::<i64>()?), (vec![1.0, 2.0], vec![0, 1]));
    /// ```
    func: min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices),
    out: min.dim_min as [min, min_indices], variants: function, method, structured: Reduce<MinFn>;
}
