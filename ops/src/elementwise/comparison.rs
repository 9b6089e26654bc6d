//! Comparisons: eq, ne, lt, le, gt, ge, under these names and the longer ones.

use crate::algebra::{Equal, Ordered as HasOrder};
use crate::pointwise::{AllDTypes, Map, Ordered, Rule, Same, Truth, pointwise};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;

pointwise! { EqFn "eq": AllDTypes, Same<2>; () => Truth; Rule::COMPARISON }
impl<V: Equal> Map<V> for EqFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.eq(b)
    }
}

pointwise! { NeFn "ne": AllDTypes, Same<2>; () => Truth; Rule::COMPARISON }
impl<V: Equal> Map<V> for NeFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.ne(b)
    }
}

pointwise! { LtFn "lt": Ordered, Same<2>; () => Truth; Rule::COMPARISON }
impl<V: HasOrder> Map<V> for LtFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.lt(b)
    }
}

pointwise! { LeFn "le": Ordered, Same<2>; () => Truth; Rule::COMPARISON }
impl<V: HasOrder> Map<V> for LeFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.le(b)
    }
}

pointwise! { GtFn "gt": Ordered, Same<2>; () => Truth; Rule::COMPARISON }
impl<V: HasOrder> Map<V> for GtFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.gt(b)
    }
}

pointwise! { GeFn "ge": Ordered, Same<2>; () => Truth; Rule::COMPARISON }
impl<V: HasOrder> Map<V> for GeFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.ge(b)
    }
}

record! { EqFn "eq.Tensor: x x", Any within 0:
bool |[a, b], []| a == b, int |[a, b], []| a == b, float |[a, b], []| a == b, complex |[a, b], []| a == b }
record! { NeFn "ne.Tensor: x x", Any within 0: bool |[a, b], []| a != b, int |[a, b], []| a != b,
float |[a, b], []| a != b, complex |[a, b], []| a != b }
record! { LtFn "lt.Tensor: x x", Any within 0:
bool |[a, b], []| !a & b, int |[a, b], []| a < b, float |[a, b], []| a < b }
record! { LeFn "le.Tensor: x x", Any within 0:
bool |[a, b], []| !a | b, int |[a, b], []| a <= b, float |[a, b], []| a <= b }
record! { GtFn "gt.Tensor: x x", Any within 0:
bool |[a, b], []| a & !b, int |[a, b], []| a > b, float |[a, b], []| a > b }
record! { GeFn "ge.Tensor: x x", Any within 0:
bool |[a, b], []| a | !b, int |[a, b], []| a >= b, float |[a, b], []| a >= b }

native! {
    family: Comparison;

    func: eq.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: eq_.Tensor, out: eq.Tensor_out, variants: function, method, structured: Pointwise<EqFn>;

    func: eq.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: eq_.Scalar, out: eq.Scalar_out, structured: Pointwise<EqFn>;

    func: ne.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: ne_.Tensor, out: ne.Tensor_out, variants: function, method, structured: Pointwise<NeFn>,
    otherwise: explicit crate::composite::arithmetic::ne;

    func: ne.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: ne_.Scalar, out: ne.Scalar_out, structured: Pointwise<NeFn>;

    func: not_equal.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: not_equal_.Tensor, out: not_equal.Tensor_out, variants: function, method, redirect: ne,
    operator: Pointwise<NeFn>;

    func: not_equal.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: not_equal_.Scalar, out: not_equal.Scalar_out, redirect: ne, operator: Pointwise<NeFn>;

    func: lt.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: lt_.Tensor, out: lt.Tensor_out, variants: function, method, structured: Pointwise<LtFn>;

    func: lt.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: lt_.Scalar, out: lt.Scalar_out, structured: Pointwise<LtFn>;

    func: less.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: less_.Tensor, out: less.Tensor_out, variants: function, method, redirect: lt,
    operator: Pointwise<LtFn>;

    func: less.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: less_.Scalar, out: less.Scalar_out, redirect: lt, operator: Pointwise<LtFn>;

    func: le.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: le_.Tensor, out: le.Tensor_out, variants: function, method, structured: Pointwise<LeFn>;

    func: le.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: le_.Scalar, out: le.Scalar_out, structured: Pointwise<LeFn>;

    func: less_equal.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: less_equal_.Tensor, out: less_equal.Tensor_out, variants: function, method, redirect: le,
    operator: Pointwise<LeFn>;

    func: less_equal.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: less_equal_.Scalar, out: less_equal.Scalar_out, redirect: le, operator: Pointwise<LeFn>;

    func: gt.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: gt_.Tensor, out: gt.Tensor_out, variants: function, method, structured: Pointwise<GtFn>;

    func: gt.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: gt_.Scalar, out: gt.Scalar_out, structured: Pointwise<GtFn>;

    func: greater.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: greater_.Tensor, out: greater.Tensor_out, variants: function, method, redirect: gt,
    operator: Pointwise<GtFn>;

    func: greater.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: greater_.Scalar, out: greater.Scalar_out, redirect: gt, operator: Pointwise<GtFn>;

    func: ge.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: ge_.Tensor, out: ge.Tensor_out, variants: function, method, structured: Pointwise<GeFn>;

    func: ge.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: ge_.Scalar, out: ge.Scalar_out, structured: Pointwise<GeFn>;

    func: greater_equal.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: greater_equal_.Tensor, out: greater_equal.Tensor_out, variants: function, method, redirect: ge,
    operator: Pointwise<GeFn>;

    func: greater_equal.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: greater_equal_.Scalar, out: greater_equal.Scalar_out, redirect: ge, operator: Pointwise<GeFn>;
}
