//! `amin`: the smallest element; NaN, if there is one.

use super::{Fold, ListedDims, NoIdentity, ReduceRule, Takes};
use crate::algebra::{self, Value};
use crate::pointwise::{Common, Ordered};

crate::reduction! { AminFn "amin": Ordered, Common, NoIdentity => Common; ReduceRule::OWN.of_extremes() }
impl Takes<ListedDims> for AminFn {}

impl<V: algebra::Ordered, X: Value<Mask = V::Mask>> Fold<V, X> for AminFn {
    #[inline(always)]
    fn one(x: V, _: X) -> V {
        x
    }
    #[inline(always)]
    fn merge(a: V, b: V) -> V {
        a.minimum(b)
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
macro_rules! __amin_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [amin] (Tensor self, int[1] dim=[], bool keepdim=False) -> (Tensor) : fold ($crate::reduce::AminFn) {
            functional amin; out amin_out [amin.out];
            functional_full amin_dims; out_full amin_dims_out;
        } }
    } };
}
