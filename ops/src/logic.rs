//! Logic of truth values: not, and, or, exclusive or. Whatever is not zero is true.

use crate::algebra::Value;
use crate::pointwise::{AllDTypes, Map, Rule, Same, Truth, pointwise};
use crate::record::record;
use monomorph_core::Complex64;

pointwise! { LogicalNotFn "logical_not": AllDTypes, Same<1>; () => Truth; Rule::UNARY_FORCE_BOOLEAN, light = true }
impl<V: Value> Map<V> for LogicalNotFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V::Mask {
        !a.truth()
    }
}

pointwise! {
    LogicalAndFn "logical_and": AllDTypes, Same<2>; () => Truth; Rule::COMPARISON, light = true, halves_as_f32 = true
}
impl<V: Value> Map<V> for LogicalAndFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.truth() & b.truth()
    }
}

pointwise! {
    LogicalOrFn "logical_or": AllDTypes, Same<2>; () => Truth; Rule::COMPARISON, light = true, halves_as_f32 = true
}
impl<V: Value> Map<V> for LogicalOrFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.truth() | b.truth()
    }
}

pointwise! {
    LogicalXorFn "logical_xor": AllDTypes, Same<2>; () => Truth; Rule::COMPARISON, light = true, halves_as_f32 = true
}
impl<V: Value> Map<V> for LogicalXorFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.truth() ^ b.truth()
    }
}

record! { LogicalNotFn "logical_not: x", Any within 0:
bool |[a], []| !a, int |[a], []| a == 0, float |[a], []| a == 0.0, complex |[a], []| a == Complex64::ZERO }
record! { LogicalAndFn "logical_and: x x", Any within 0:
bool |[a, b], []| a & b, int |[a, b], []| (a != 0) & (b != 0), float |[a, b], []| (a != 0.0) & (b != 0.0),
complex |[a, b], []| (a != Complex64::ZERO) & (b != Complex64::ZERO) }
record! { LogicalOrFn "logical_or: x x", Any within 0:
bool |[a, b], []| a | b, int |[a, b], []| (a != 0) | (b != 0), float |[a, b], []| (a != 0.0) | (b != 0.0),
complex |[a, b], []| (a != Complex64::ZERO) | (b != Complex64::ZERO) }
record! { LogicalXorFn "logical_xor: x x", Any within 0:
bool |[a, b], []| a ^ b, int |[a, b], []| (a != 0) ^ (b != 0), float |[a, b], []| (a != 0.0) ^ (b != 0.0),
complex |[a, b], []| (a != Complex64::ZERO) ^ (b != Complex64::ZERO) }

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __logic_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [logical_not] (Tensor self) -> (Tensor) : formula ($crate::logic::LogicalNotFn) {
            functional logical_not; inplace logical_not_ [logical_not_]; out logical_not_out [logical_not.out];
            or_explicit ($crate::composite::arithmetic::logical_not);
        } }
        { [logical_and] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::logic::LogicalAndFn) {
            functional logical_and; inplace logical_and_ [logical_and_]; out logical_and_out [logical_and.out];
        } }
        { [logical_or] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::logic::LogicalOrFn) {
            functional logical_or; inplace logical_or_ [logical_or_]; out logical_or_out [logical_or.out];
        } }
        { [logical_xor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::logic::LogicalXorFn) {
            functional logical_xor; inplace logical_xor_ [logical_xor_]; out logical_xor_out [logical_xor.out];
        } }
    } };
}
