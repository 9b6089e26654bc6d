//! Comparisons: eq, ne, lt, le, gt, ge, under these names and the longer ones.

use crate::algebra::{Equal, Ordered as HasOrder};
use crate::pointwise::{AllDTypes, Map, Ordered, Rule, Same, Truth, pointwise};
use crate::record::record;

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

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __comparison_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [eq.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::comparison::EqFn) {
            functional eq; inplace eq_ [eq_.Tensor]; out eq_out [eq.Tensor_out];
        } }
        { [eq.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::comparison::EqFn>) {
            functional -; inplace - [eq_.Scalar]; out - [eq.Scalar_out];
        } }
        { [ne.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::comparison::NeFn) {
            functional ne; inplace ne_ [ne_.Tensor]; out ne_out [ne.Tensor_out]; or_explicit ($crate::composite::arithmetic::ne);
        } }
        { [ne.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::comparison::NeFn>) {
            functional -; inplace - [ne_.Scalar]; out - [ne.Scalar_out];
        } }
        { [not_equal.Tensor] (Tensor self, Tensor other) -> (Tensor) : alias (ne = $crate::Op<$crate::comparison::NeFn>) {
            functional not_equal; inplace not_equal_ [not_equal_.Tensor]; out not_equal_out [not_equal.Tensor_out];
        } }
        { [not_equal.Scalar] (Tensor self, Scalar other) -> (Tensor) : alias (ne = $crate::Op<$crate::comparison::NeFn>) {
            functional -; inplace - [not_equal_.Scalar]; out - [not_equal.Scalar_out];
        } }
        { [lt.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::comparison::LtFn) {
            functional lt; inplace lt_ [lt_.Tensor]; out lt_out [lt.Tensor_out];
        } }
        { [lt.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::comparison::LtFn>) {
            functional -; inplace - [lt_.Scalar]; out - [lt.Scalar_out];
        } }
        { [less.Tensor] (Tensor self, Tensor other) -> (Tensor) : alias (lt = $crate::Op<$crate::comparison::LtFn>) {
            functional less; inplace less_ [less_.Tensor]; out less_out [less.Tensor_out];
        } }
        { [less.Scalar] (Tensor self, Scalar other) -> (Tensor) : alias (lt = $crate::Op<$crate::comparison::LtFn>) {
            functional -; inplace - [less_.Scalar]; out - [less.Scalar_out];
        } }
        { [le.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::comparison::LeFn) {
            functional le; inplace le_ [le_.Tensor]; out le_out [le.Tensor_out];
        } }
        { [le.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::comparison::LeFn>) {
            functional -; inplace - [le_.Scalar]; out - [le.Scalar_out];
        } }
        { [less_equal.Tensor] (Tensor self, Tensor other) -> (Tensor) : alias (le = $crate::Op<$crate::comparison::LeFn>) {
            functional less_equal; inplace less_equal_ [less_equal_.Tensor]; out less_equal_out [less_equal.Tensor_out];
        } }
        { [less_equal.Scalar] (Tensor self, Scalar other) -> (Tensor) : alias (le = $crate::Op<$crate::comparison::LeFn>) {
            functional -; inplace - [less_equal_.Scalar]; out - [less_equal.Scalar_out];
        } }
        { [gt.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::comparison::GtFn) {
            functional gt; inplace gt_ [gt_.Tensor]; out gt_out [gt.Tensor_out];
        } }
        { [gt.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::comparison::GtFn>) {
            functional -; inplace - [gt_.Scalar]; out - [gt.Scalar_out];
        } }
        { [greater.Tensor] (Tensor self, Tensor other) -> (Tensor) : alias (gt = $crate::Op<$crate::comparison::GtFn>) {
            functional greater; inplace greater_ [greater_.Tensor]; out greater_out [greater.Tensor_out];
        } }
        { [greater.Scalar] (Tensor self, Scalar other) -> (Tensor) : alias (gt = $crate::Op<$crate::comparison::GtFn>) {
            functional -; inplace - [greater_.Scalar]; out - [greater.Scalar_out];
        } }
        { [ge.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::comparison::GeFn) {
            functional ge; inplace ge_ [ge_.Tensor]; out ge_out [ge.Tensor_out];
        } }
        { [ge.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::comparison::GeFn>) {
            functional -; inplace - [ge_.Scalar]; out - [ge.Scalar_out];
        } }
        { [greater_equal.Tensor] (Tensor self, Tensor other) -> (Tensor) : alias (ge = $crate::Op<$crate::comparison::GeFn>) {
            functional greater_equal; inplace greater_equal_ [greater_equal_.Tensor];
            out greater_equal_out [greater_equal.Tensor_out];
        } }
        { [greater_equal.Scalar] (Tensor self, Scalar other) -> (Tensor) : alias (ge = $crate::Op<$crate::comparison::GeFn>) {
            functional -; inplace - [greater_equal_.Scalar]; out - [greater_equal.Scalar_out];
        } }
    } };
}
