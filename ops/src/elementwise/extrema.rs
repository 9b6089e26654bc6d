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

    /// The larger of `self` and `other`, elementwise; NaN where either is NaN.
    ///
    /// The operands broadcast; the result has the dtype that they promote to. Complex numbers have no order and are an
    /// error. [`fmax`](super::functions::fmax) passes NaN over.
    ///
    /// ```
    /// let x = tensor![1.0f32, 5.0];
    /// assert_eq!(x.maximum(&tensor![3, 4])?.to_vec::<f32>()?, [3.0, 5.0]);
    /// ```
    func: maximum(Tensor self, Tensor other) -> Tensor,
    out: maximum.out, variants: function, method, structured: Pointwise<MaximumFn>;

    func: max.other(Tensor self, Tensor other) -> Tensor,
    out: max.out, structured: Pointwise<MaximumFn>;

    /// The smaller of `self` and `other`, elementwise; NaN where either is NaN.
    ///
    /// The operands broadcast; the result has the dtype that they promote to. Complex numbers have no order and are an
    /// error. [`fmin`](super::functions::fmin) passes NaN over.
    ///
    /// ```
    /// let x = tensor![1.0f32, 5.0];
    /// assert_eq!(x.minimum(&tensor![3, 4])?.to_vec::<f32>()?, [1.0, 4.0]);
    /// ```
    func: minimum(Tensor self, Tensor other) -> Tensor,
    out: minimum.out, variants: function, method, structured: Pointwise<MinimumFn>;

    func: min.other(Tensor self, Tensor other) -> Tensor,
    out: min.out, structured: Pointwise<MinimumFn>;

    /// The larger of `self` and `other`, elementwise; where one is NaN, the other.
    ///
    /// The operands broadcast; the result has the dtype that they promote to. Complex numbers are an error.
    ///
    /// ```
    /// let x = tensor![1.0f32, f32::NAN];
    /// assert_eq!(x.fmax(&tensor![3, 4])?.to_vec::<f32>()?, [3.0, 4.0]);
    /// ```
    func: fmax(Tensor self, Tensor other) -> Tensor,
    out: fmax.out, variants: function, method, structured: Pointwise<FmaxFn>;

    /// The smaller of `self` and `other`, elementwise; where one is NaN, the other.
    ///
    /// The operands broadcast; the result has the dtype that they promote to. Complex numbers are an error.
    ///
    /// ```
    /// let x = tensor![1.0f32, f32::NAN];
    /// assert_eq!(x.fmin(&tensor![3, 4])?.to_vec::<f32>()?, [1.0, 4.0]);
    /// ```
    func: fmin(Tensor self, Tensor other) -> Tensor,
    out: fmin.out, variants: function, method, structured: Pointwise<FminFn>;
}
