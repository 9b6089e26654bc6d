//! Logic of truth values: not, and, or, exclusive or. Whatever is not zero is true.

use crate::algebra::Value;
use crate::pointwise::{AllDTypes, Map, Rule, Same, Truth, pointwise};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
#[cfg(feature = "record")]
use monomorph_core::Complex64;

pointwise! { LogicalNotFn "logical_not": AllDTypes, Same<1>; () => Truth; Rule::UNARY_FORCE_BOOLEAN }
impl<V: Value> Map<V> for LogicalNotFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V::Mask {
        !a.truth()
    }
}

pointwise! { LogicalAndFn "logical_and": AllDTypes, Same<2>; () => Truth; Rule::COMPARISON }
impl<V: Value> Map<V> for LogicalAndFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.truth() & b.truth()
    }
}

pointwise! { LogicalOrFn "logical_or": AllDTypes, Same<2>; () => Truth; Rule::COMPARISON }
impl<V: Value> Map<V> for LogicalOrFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.truth() | b.truth()
    }
}

pointwise! { LogicalXorFn "logical_xor": AllDTypes, Same<2>; () => Truth; Rule::COMPARISON }
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

native! {
    family: Logic;

    /// Whether each element is 0.
    ///
    /// The result is bool.
    ///
    /// ```
    /// let x = tensor![0.0f32, 2.0];
    /// assert_eq!(x.logical_not()?.to_vec::<bool>()?, [true, false]);
    /// ```
    func: logical_not(Tensor self) -> Tensor,
    inplace: logical_not_, out: logical_not.out, variants: function, method, structured: Pointwise<LogicalNotFn>,
    otherwise: explicit crate::composite::arithmetic::logical_not;

    /// Whether both elements are not 0, elementwise.
    ///
    /// The operands broadcast, may have different dtypes, and are true where they are not 0. The result is bool.
    ///
    /// ```
    /// let x = tensor![0, 2];
    /// assert_eq!(x.logical_and(&tensor![1.5f32, 1.5])?.to_vec::<bool>()?, [false, true]);
    /// ```
    func: logical_and(Tensor self, Tensor other) -> Tensor,
    inplace: logical_and_, out: logical_and.out, variants: function, method, structured: Pointwise<LogicalAndFn>;

    /// Whether at least one of two elements is not 0, elementwise.
    ///
    /// The operands broadcast, may have different dtypes, and are true where they are not 0. The result is bool.
    ///
    /// ```
    /// let x = tensor![0, 2];
    /// assert_eq!(x.logical_or(&tensor![0, 0])?.to_vec::<bool>()?, [false, true]);
    /// ```
    func: logical_or(Tensor self, Tensor other) -> Tensor,
    inplace: logical_or_, out: logical_or.out, variants: function, method, structured: Pointwise<LogicalOrFn>;

    /// Whether exactly one of two elements is not 0, elementwise.
    ///
    /// The operands broadcast, may have different dtypes, and are true where they are not 0. The result is bool.
    ///
    /// ```
    /// let x = tensor![0, 2];
    /// assert_eq!(x.logical_xor(&tensor![1, 1])?.to_vec::<bool>()?, [true, false]);
    /// ```
    func: logical_xor(Tensor self, Tensor other) -> Tensor,
    inplace: logical_xor_, out: logical_xor.out, variants: function, method, structured: Pointwise<LogicalXorFn>;
}
