//! `aminmax`: the smallest and the largest element; NaN is both, if there is one.

use crate::algebra::{self, Value};
use crate::pointwise::{Common, Ordered};
use crate::prebuilt::Reduce;
use crate::reduce::{Dim, Fold, NoIdentity, OptionalDim, ReduceRule, Takes, Two, Whole};
use crate::table::native;

crate::reduction! {
    AminmaxFn "aminmax": Ordered, (Common, Common), NoIdentity => Two; ReduceRule::OWN.with_outputs_apart()
}
impl Takes<OptionalDim> for AminmaxFn {}
impl Takes<Whole> for AminmaxFn {}
impl Takes<Dim> for AminmaxFn {}

impl<V: algebra::Ordered, X: Value<Mask = V::Mask>> Fold<V, X> for AminmaxFn {
    #[inline(always)]
    fn one(x: V, _: X) -> (V, V) {
        (x, x)
    }
    #[inline(always)]
    fn merge((min_a, max_a): (V, V), (min_b, max_b): (V, V)) -> (V, V) {
        (min_a.minimum(min_b), max_a.maximum(max_b))
    }
    #[inline(always)]
    fn finish(acc: (V, V), _: X) -> (V, V) {
        acc
    }
    #[inline(always)]
    fn identity() {}
}

native! {
    family: Aminmax;

    /// The smallest and the largest element along the dimension `dim`, or of all elements with `..`.
    ///
    /// It gives the pair of [`amin`](super::functions::amin) and [`amax`](super::functions::amax) in one pass. The
    /// dimension goes, or becomes 1 with `keepdim`. NaN is both, if there is one. A reduced dimension of size 0 is an
    /// error, and so are complex numbers.
    ///
    /// ```
    /// let x = tensor![[1, 5], [7, 2]];
    /// let (low, high) = x.aminmax(1)?;
    /// assert_eq!(low.to_vec::<i32>()?, [1, 2]);
    /// assert_eq!(high.to_vec::<i32>()?, [5, 7]);
    /// ```
    func: aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max),
    out: aminmax.out, variants: function, method, positional: [dim], structured: Reduce<AminmaxFn>;

    func: _aminmax(Tensor self) -> (Tensor, Tensor),
    autogen: _aminmax.out, structured: Reduce<AminmaxFn>;

    func: _aminmax.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor),
    autogen: _aminmax.dim_out, structured: Reduce<AminmaxFn>;
}
