//! The larger and the smaller of two: maximum, minimum, and fmax, fmin, which pass over NaN.

use crate::algebra::Ordered as HasOrder;
use crate::pointwise::{Common, Map, Ordered, Rule, Same, pointwise};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;

pointwise! { MaximumFn "maximum": Ordered, Same<2>; () => Common; Rule::BINARY }
impl<V: HasOrder> Map<V> for MaximumFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.maximum(b)
    }
}

pointwise! { MinimumFn "minimum": Ordered, Same<2>; () => Common; Rule::BINARY }
impl<V: HasOrder> Map<V> for MinimumFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.minimum(b)
    }
}

pointwise! { FmaxFn "fmax": Ordered, Same<2>; () => Common; Rule::BINARY }
impl<V: HasOrder> Map<V> for FmaxFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.fmax(b)
    }
}

pointwise! { FminFn "fmin": Ordered, Same<2>; () => Common; Rule::BINARY }
impl<V: HasOrder> Map<V> for FminFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.fmin(b)
    }
}

record! { MaximumFn "maximum: x x", Any within 0:
bool |[a, b], []| record::larger(a, b), int |[a, b], []| record::larger(a, b), float |[a, b], []| record::larger(a, b) }
record! { MinimumFn "minimum: x x", Any within 0:
bool |[a, b], []| record::smaller(a, b), int |[a, b], []| record::smaller(a, b),
float |[a, b], []| record::smaller(a, b) }
record! { FmaxFn "fmax: x x", Any within 1:
bool |[a, b], []| a | b, int |[a, b], []| a.max(b), float |[a, b], []| a.max(b) }
record! { FminFn "fmin: x x", Any within 1:
bool |[a, b], []| a & b, int |[a, b], []| a.min(b), float |[a, b], []| a.min(b) }

native! {
    family: Extrema;

    func: maximum(Tensor self, Tensor other) -> Tensor,
    out: maximum.out, variants: function, method, structured: Pointwise<MaximumFn>;

    func: max.other(Tensor self, Tensor other) -> Tensor,
    out: max.out, structured: Pointwise<MaximumFn>;

    func: minimum(Tensor self, Tensor other) -> Tensor,
    out: minimum.out, variants: function, method, structured: Pointwise<MinimumFn>;

    func: min.other(Tensor self, Tensor other) -> Tensor,
    out: min.out, structured: Pointwise<MinimumFn>;

    func: fmax(Tensor self, Tensor other) -> Tensor,
    out: fmax.out, variants: function, method, structured: Pointwise<FmaxFn>;

    func: fmin(Tensor self, Tensor other) -> Tensor,
    out: fmin.out, variants: function, method, structured: Pointwise<FminFn>;
}
