//! `argmin`: the index of the first smallest element. NaN is smaller than anything.

use crate::algebra::Ordered;
use crate::pointwise::{Common, Real};
use crate::prebuilt::Reduce;
use crate::reduce::{Fold, Index, NoIdentity, OptionalDim, ReduceRule, Takes};
use crate::table::native;

crate::reduction! { ArgminFn "argmin": Real, (Common, Index), NoIdentity => Index; ReduceRule::OWN }
impl Takes<OptionalDim> for ArgminFn {}

impl<V: Ordered, X: Ordered<Mask = V::Mask>> Fold<V, X> for ArgminFn {
    #[inline(always)]
    fn one(x: V, at: X) -> (V, X) {
        (x, at)
    }
    #[inline(always)]
    fn merge((a, at_a): (V, X), (b, at_b): (V, X)) -> (V, X) {
        let (nan_a, nan_b) = (a.ne(a), b.ne(b));
        let smaller = b.lt(a) | (nan_b & !nan_a);
        let equal = b.eq(a) | (nan_b & nan_a);
        let takes_b = smaller | (equal & at_b.lt(at_a));
        (V::select(takes_b, b, a), X::select(takes_b, at_b, at_a))
    }
    const SEARCHES: bool = true;
    #[inline(always)]
    fn keeps(a: V, b: V) -> V::Mask {
        // Of equal elements the first one counts, and NaN is smaller than all others.
        a.le(b) | a.ne(a)
    }
    #[inline(always)]
    fn finish((_, at): (V, X), _: X) -> X {
        at
    }
    #[inline(always)]
    fn identity() {}
}

native! {
    family: Argmin;

    /// The index of the smallest element along the dimension `dim`, or in the flattened tensor with `..`.
    ///
    /// Of equal elements it is the first one; NaN is smaller than everything. The result is int64. The dimension goes,
    /// or becomes 1 with `keepdim`. A reduced dimension of size 0 is an error, and so are bool and complex numbers.
    ///
    /// ```
    /// let x = tensor![[5.0f32, 2.0], [1.0, 1.0]];
    /// assert_eq!(x.argmin(1)?.to_vec::<i64>()?, [1, 0]);
    /// assert_eq!(x.argmin(..)?.at::<i64>(())?, 2);
    /// ```
    func: argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor,
    out: argmin.out, variants: function, method, positional: [dim], structured: Reduce<ArgminFn>;
}
