//! `aminmax`: the smallest and the largest element; NaN is both, if there is one.

use super::{Fold, NoIdentity, OptionalDim, ReduceRule, Takes, Two};
use crate::algebra::{self, Value};
use crate::pointwise::{Common, Ordered};

crate::reduction! {
    AminmaxFn "aminmax": Ordered, (Common, Common), NoIdentity => Two; ReduceRule::OWN.with_outputs_apart()
}
impl Takes<OptionalDim> for AminmaxFn {}

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

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __aminmax_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [aminmax] (Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)
            : fold ($crate::reduce::AminmaxFn) {
            functional aminmax; out aminmax_out [aminmax.out];
            functional_full aminmax_dim; out_full aminmax_dim_out;
        } }
    } };
}
