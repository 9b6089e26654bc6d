//! `amax`: the largest element; NaN, if there is one.

use super::{Fold, ListedDims, NoIdentity, ReduceRule, Takes};
use crate::algebra::{self, Value};
use crate::pointwise::{Common, Ordered};

crate::reduction! { AmaxFn "amax": Ordered, Common, NoIdentity => Common; ReduceRule::OWN.of_extremes() }
impl Takes<ListedDims> for AmaxFn {}

impl<V: algebra::Ordered, X: Value<Mask = V::Mask>> Fold<V, X> for AmaxFn {
    #[inline(always)]
    fn one(x: V, _: X) -> V {
        x
    }
    #[inline(always)]
    fn merge(a: V, b: V) -> V {
        a.maximum(b)
    }
    #[inline(always)]
    fn finish(acc: V, _: X) -> V {
        acc
    }
    #[inline(always)]
    fn identity() {}
}

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __amax_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [amax] (Tensor self, int[1] dim=[], bool keepdim=False) -> (Tensor) : fold ($crate::reduce::AmaxFn) {
            functional amax; out amax_out [amax.out];
            functional_full amax_dims; out_full amax_dims_out;
        } }
    } };
}
