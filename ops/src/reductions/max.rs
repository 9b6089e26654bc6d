//! `max`: the largest element and where it is; or, of all elements, what it is.

use super::argmax::ArgmaxFn;
use crate::algebra;
use crate::pointwise::Ordered;
use crate::prebuilt::Reduce;
use crate::reduce::{CommonAndIndex, Dim, Fold, NoIdentity, ReduceRule, SharedWith, Takes};
use crate::table::native;

crate::reduction! {
    MaxFn "max": Ordered, SharedWith<ArgmaxFn>, NoIdentity => CommonAndIndex; ReduceRule::OWN.with_outputs_apart()
}
impl Takes<Dim> for MaxFn {}

impl<V: algebra::Ordered, X: algebra::Ordered<Mask = V::Mask>> Fold<V, X> for MaxFn {
    #[inline(always)]
    fn one(x: V, at: X) -> (V, X) {
        (x, at)
    }
    #[inline(always)]
    fn merge(a: (V, X), b: (V, X)) -> (V, X) {
        <ArgmaxFn as Fold<V, X>>::merge(a, b)
    }
    const SEARCHES: bool = true;
    #[inline(always)]
    fn keeps(a: V, b: V) -> V::Mask {
        <ArgmaxFn as Fold<V, X>>::keeps(a, b)
    }
    #[inline(always)]
    fn finish(acc: (V, X), _: X) -> (V, X) {
        acc
    }
    #[inline(always)]
    fn identity() {}
}

native! {
    family: Max;

    /// The largest element along the dimension `dim`, and its index.
    ///
    /// Of equal elements it is the first one; NaN is larger than everything. The values have the dtype of the input,
    /// the indices are int64. The dimension goes, or becomes 1 with `keepdim`. A reduced dimension of size 0 is an
    /// error, and so are complex numbers. The largest of all elements is [`amax`](super::functions::amax).
    ///
    /// ```
    /// let x = tensor![[1.0f32, 5.0], [7.0, 2.0]];
    /// let (values, indices) = x.max(1)?;
    /// assert_eq!((values.to_vec::<f32>()?, indices.to_vec::<i64>()?), (vec![5.0, 7.0], vec![1, 0]));
    /// ```
    func: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices),
    out: max.dim_max as [max, max_values], variants: function, method, structured: Reduce<MaxFn>;
}
