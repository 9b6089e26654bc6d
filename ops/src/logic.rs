//! Logic and bits: logical_not, bitwise_and.

use crate::algebra::{Bits, Value};
use crate::pointwise::{AllDTypes, Common, Integral, Map, Rule, Same, Truth, pointwise};
use crate::record::record;

pointwise! { LogicalNotFn "logical_not": AllDTypes, Same<1>; () => Truth; Rule::UNARY_FORCE_BOOLEAN, light = true }
impl<V: Value> Map<V> for LogicalNotFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V::Mask {
        !a.truth()
    }
}

pointwise! { BitwiseAndFn "bitwise_and": Integral, Same<2>; () => Common; Rule::BINARY, light = true }
impl<V: Bits> Map<V> for BitwiseAndFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a & b
    }
}

record! { LogicalNotFn "logical_not: x", Any within 0:
bool |[a], []| !a, int |[a], []| a == 0, float |[a], []| a == 0.0, complex |[a], []| a.re == 0.0 && a.im == 0.0 }
record! { BitwiseAndFn "bitwise_and.Tensor: x x", Any within 0:
bool |[a, b], []| a & b, int |[a, b], []| a & b }

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __logic_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [logical_not] (Tensor self) -> (Tensor) : formula ($crate::logic::LogicalNotFn) {
            functional logical_not; inplace logical_not_ [logical_not_]; out logical_not_out [logical_not.out];
            or_explicit ($crate::composite::arithmetic::logical_not);
        } }
        { [bitwise_and.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::logic::BitwiseAndFn) {
            functional bitwise_and; inplace bitwise_and_ [bitwise_and_.Tensor];
            out bitwise_and_out [bitwise_and.Tensor_out];
        } }
        { [bitwise_and.Scalar] (Tensor self, Scalar other) -> (Tensor)
            : op ($crate::Op<$crate::logic::BitwiseAndFn>) {
            functional -; inplace - [bitwise_and_.Scalar]; out - [bitwise_and.Scalar_out];
        } }
        { [bitwise_and.Scalar_Tensor] (Scalar self, Tensor other) -> (Tensor)
            : op ($crate::Op<$crate::logic::BitwiseAndFn>) {
            functional -; autoout - [bitwise_and.Scalar_Tensor_out];
        } }
    } };
}
