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

    /// Whether `self` is equal to `other`, elementwise.
    ///
    /// The operands broadcast and are compared in the dtype that they promote to; the result is bool. NaN is equal to
    /// nothing, and 0 to -0. In place, the truth is written as 0 and 1 in the dtype of `self`.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0, f32::NAN];
    /// assert_eq!(x.eq(2)?.to_vec::<bool>()?, [false, true, false]);
    /// assert_eq!(x.eq(&x)?.to_vec::<bool>()?, [true, true, false]);
    /// ```
    func: eq.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: eq_.Tensor, out: eq.Tensor_out, variants: function, method, structured: Pointwise<EqFn>;

    func: eq.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: eq_.Scalar, out: eq.Scalar_out, structured: Pointwise<EqFn>;

    /// Whether `self` is different from `other`, elementwise.
    ///
    /// The operands broadcast and are compared in the dtype that they promote to; the result is bool. NaN is different
    /// from everything, itself included.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0, f32::NAN];
    /// assert_eq!(x.ne(2)?.to_vec::<bool>()?, [true, false, true]);
    /// ```
    func: ne.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: ne_.Tensor, out: ne.Tensor_out, variants: function, method, structured: Pointwise<NeFn>,
    otherwise: explicit crate::composite::arithmetic::ne;

    func: ne.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: ne_.Scalar, out: ne.Scalar_out, structured: Pointwise<NeFn>;

    /// [`ne`](super::functions::ne) under another name.
    func: not_equal.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: not_equal_.Tensor, out: not_equal.Tensor_out, variants: function, method, redirect: ne,
    operator: Pointwise<NeFn>;

    func: not_equal.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: not_equal_.Scalar, out: not_equal.Scalar_out, redirect: ne, operator: Pointwise<NeFn>;

    /// Whether `self` is less than `other`, elementwise.
    ///
    /// The operands broadcast and are compared in the dtype that they promote to; the result is bool. With NaN it is
    /// false. Complex numbers have no order and are an error.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0, f32::NAN];
    /// assert_eq!(x.lt(2)?.to_vec::<bool>()?, [true, false, false]);
    /// ```
    func: lt.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: lt_.Tensor, out: lt.Tensor_out, variants: function, method, structured: Pointwise<LtFn>;

    func: lt.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: lt_.Scalar, out: lt.Scalar_out, structured: Pointwise<LtFn>;

    /// [`lt`](super::functions::lt) under another name.
    func: less.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: less_.Tensor, out: less.Tensor_out, variants: function, method, redirect: lt,
    operator: Pointwise<LtFn>;

    func: less.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: less_.Scalar, out: less.Scalar_out, redirect: lt, operator: Pointwise<LtFn>;

    /// Whether `self` is less than or equal to `other`, elementwise.
    ///
    /// The operands broadcast and are compared in the dtype that they promote to; the result is bool. With NaN it is
    /// false. Complex numbers have no order and are an error.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0, f32::NAN];
    /// assert_eq!(x.le(2)?.to_vec::<bool>()?, [true, true, false]);
    /// ```
    func: le.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: le_.Tensor, out: le.Tensor_out, variants: function, method, structured: Pointwise<LeFn>;

    func: le.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: le_.Scalar, out: le.Scalar_out, structured: Pointwise<LeFn>;

    /// [`le`](super::functions::le) under another name.
    func: less_equal.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: less_equal_.Tensor, out: less_equal.Tensor_out, variants: function, method, redirect: le,
    operator: Pointwise<LeFn>;

    func: less_equal.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: less_equal_.Scalar, out: less_equal.Scalar_out, redirect: le, operator: Pointwise<LeFn>;

    /// Whether `self` is greater than `other`, elementwise.
    ///
    /// The operands broadcast and are compared in the dtype that they promote to; the result is bool. With NaN it is
    /// false. Complex numbers have no order and are an error.
    ///
    /// ```
    /// let x = tensor![[1, 5], [7, 2]];
    /// assert_eq!(x.gt(&tensor![3, 4])?.to_vec::<bool>()?, [false, true, true, false]);
    /// ```
    func: gt.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: gt_.Tensor, out: gt.Tensor_out, variants: function, method, structured: Pointwise<GtFn>;

    func: gt.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: gt_.Scalar, out: gt.Scalar_out, structured: Pointwise<GtFn>;

    /// [`gt`](super::functions::gt) under another name.
    func: greater.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: greater_.Tensor, out: greater.Tensor_out, variants: function, method, redirect: gt,
    operator: Pointwise<GtFn>;

    func: greater.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: greater_.Scalar, out: greater.Scalar_out, redirect: gt, operator: Pointwise<GtFn>;

    /// Whether `self` is greater than or equal to `other`, elementwise.
    ///
    /// The operands broadcast and are compared in the dtype that they promote to; the result is bool. With NaN it is
    /// false. Complex numbers have no order and are an error.
    ///
    /// ```
    /// let x = tensor![1, 2, 3];
    /// assert_eq!(x.ge(2)?.to_vec::<bool>()?, [false, true, true]);
    /// ```
    func: ge.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: ge_.Tensor, out: ge.Tensor_out, variants: function, method, structured: Pointwise<GeFn>;

    func: ge.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: ge_.Scalar, out: ge.Scalar_out, structured: Pointwise<GeFn>;

    /// [`ge`](super::functions::ge) under another name.
    func: greater_equal.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: greater_equal_.Tensor, out: greater_equal.Tensor_out, variants: function, method, redirect: ge,
    operator: Pointwise<GeFn>;

    func: greater_equal.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: greater_equal_.Scalar, out: greater_equal.Scalar_out, redirect: ge, operator: Pointwise<GeFn>;
}
