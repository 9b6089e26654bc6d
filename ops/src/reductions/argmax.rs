//! `argmax`: the index of the first largest element. NaN is larger than anything.

use crate::algebra::Ordered;
use crate::pointwise::{Common, Real};
use crate::prebuilt::Reduce;
use crate::reduce::{Fold, Index, NoIdentity, OptionalDim, ReduceRule, Takes};
use crate::table::native;

crate::reduction! { ArgmaxFn "argmax": Real, (Common, Index), NoIdentity => Index; ReduceRule::OWN }
impl Takes<OptionalDim> for ArgmaxFn {}

impl<V: Ordered, X: Ordered<Mask = V::Mask>> Fold<V, X> for ArgmaxFn {
    #[inline(always)]
    fn one(x: V, at: X) -> (V, X) {
        (x, at)
    }
    #[inline(always)]
    fn merge((a, at_a): (V, X), (b, at_b): (V, X)) -> (V, X) {
        let (nan_a, nan_b) = (a.ne(a), b.ne(b));
        let larger = b.gt(a) | (nan_b & !nan_a);
        let equal = b.eq(a) | (nan_b & nan_a);
        let takes_b = larger | (equal & at_b.lt(at_a));
        (V::select(takes_b, b, a), X::select(takes_b, at_b, at_a))
    }
    const SEARCHES: bool = true;
    #[inline(always)]
    fn keeps(a: V, b: V) -> V::Mask {
        // Of equal elements the first one counts, and NaN is larger than all others.
        a.ge(b) | a.ne(a)
    }
    #[inline(always)]
    fn finish((_, at): (V, X), _: X) -> X {
        at
    }
    #[inline(always)]
    fn identity() {}
}

native! {
    family: Argmax;

    /// The index of the largest element along the dimension `dim`, or in the flattened tensor with `..`.
    ///
    /// Of equal elements it is the first one; NaN is larger than everything. The result is int64. The dimension goes,
    /// or becomes 1 with `keepdim`. A reduced dimension of size 0 is an error, and so are bool and complex numbers.
    ///
    /// ```
    /// let x = tensor![[1.0f32, 5.0], [7.0, 7.0]];
    /// assert_eq!(x.argmax(1)?.to_vec::<i64>()?, [1, 0]);
    /// assert_eq!(x.argmax(..)?.at::<i64>(())?, 2);
    /// ```
    func: argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor,
    out: argmax.out, variants: function, method, positional: [dim], structured: Reduce<ArgmaxFn>;
}
