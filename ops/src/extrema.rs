//! The larger and the smaller of two: maximum, minimum, and fmax, fmin, which pass over NaN.

use crate::algebra::Ordered as HasOrder;
use crate::pointwise::{Common, Map, Ordered, Rule, Same, pointwise};
use crate::record::{larger, record, smaller};

pointwise! { MaximumFn "maximum": Ordered, Same<2>; () => Common; Rule::BINARY, light = true, exact = true }
impl<V: HasOrder> Map<V> for MaximumFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.maximum(b)
    }
}

pointwise! { MinimumFn "minimum": Ordered, Same<2>; () => Common; Rule::BINARY, light = true, exact = true }
impl<V: HasOrder> Map<V> for MinimumFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.minimum(b)
    }
}

pointwise! {
    FmaxFn "fmax": Ordered, Same<2>; () => Common; Rule::BINARY, light = true, exact = true, halves_as_f32 = true
}
impl<V: HasOrder> Map<V> for FmaxFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.fmax(b)
    }
}

pointwise! {
    FminFn "fmin": Ordered, Same<2>; () => Common; Rule::BINARY, light = true, exact = true, halves_as_f32 = true
}
impl<V: HasOrder> Map<V> for FminFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.fmin(b)
    }
}

record! { MaximumFn "maximum: x x", Any within 0:
bool |[a, b], []| larger(a, b), int |[a, b], []| larger(a, b), float |[a, b], []| larger(a, b) }
record! { MinimumFn "minimum: x x", Any within 0:
bool |[a, b], []| smaller(a, b), int |[a, b], []| smaller(a, b), float |[a, b], []| smaller(a, b) }
record! { FmaxFn "fmax: x x", Any within 1:
bool |[a, b], []| a | b, int |[a, b], []| a.max(b), float |[a, b], []| a.max(b) }
record! { FminFn "fmin: x x", Any within 1:
bool |[a, b], []| a & b, int |[a, b], []| a.min(b), float |[a, b], []| a.min(b) }

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __extrema_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [maximum] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::extrema::MaximumFn) {
            functional maximum; out maximum_out [maximum.out];
        } }
        { [max.other] (Tensor self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::extrema::MaximumFn>) {
            functional -; out - [max.out];
        } }
        { [minimum] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::extrema::MinimumFn) {
            functional minimum; out minimum_out [minimum.out];
        } }
        { [min.other] (Tensor self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::extrema::MinimumFn>) {
            functional -; out - [min.out];
        } }
        { [fmax] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::extrema::FmaxFn) {
            functional fmax; out fmax_out [fmax.out];
        } }
        { [fmin] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::extrema::FminFn) {
            functional fmin; out fmin_out [fmin.out];
        } }
    } };
}
