//! Logic and bits: logical_not, bitwise_and.

use crate::algebra::{Bits, Value};
use crate::pointwise::{AllDTypes, Common, Integral, Map, Rule, Same, Truth, pointwise};

pointwise! { LogicalNotFn "logical_not": AllDTypes, Same<1>; () => Truth; Rule::UNARY_FORCE_BOOLEAN }
impl<V: Value> Map<V> for LogicalNotFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V::Mask {
        !a.truth()
    }
}

pointwise! { BitwiseAndFn "bitwise_and": Integral, Same<2>; () => Common; Rule::BINARY }
impl<V: Bits> Map<V> for BitwiseAndFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a & b
    }
}
