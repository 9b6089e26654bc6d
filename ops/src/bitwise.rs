//! Bits: and, or, xor, not, shifts, under their names and under those of Python's operators.

use crate::algebra::{Bits, Shift};
use crate::pointwise::{Common, Integers, Integral, Map, Rule, Same, pointwise};
use crate::record;
use crate::record::{Inputs, Record, Recorded, Within};
use monomorph_core::DType;

pointwise! { BitwiseAndFn "bitwise_and": Integral, Same<2>; () => Common; Rule::BINARY }
impl<V: Bits> Map<V> for BitwiseAndFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a & b
    }
}

pointwise! { BitwiseOrFn "bitwise_or": Integral, Same<2>; () => Common; Rule::BINARY }
impl<V: Bits> Map<V> for BitwiseOrFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a | b
    }
}

pointwise! { BitwiseXorFn "bitwise_xor": Integral, Same<2>; () => Common; Rule::BINARY }
impl<V: Bits> Map<V> for BitwiseXorFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a ^ b
    }
}

pointwise! { BitwiseNotFn "bitwise_not": Integral, Same<1>; () => Common; Rule::UNARY }
impl<V: Bits> Map<V> for BitwiseNotFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        !a
    }
}

pointwise! { LeftShiftFn "bitwise_left_shift": Integers, Same<2>; () => Common; Rule::BINARY }
impl<V: Shift> Map<V> for LeftShiftFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.shift_left(b)
    }
}

pointwise! { RightShiftFn "bitwise_right_shift": Integers, Same<2>; () => Common; Rule::BINARY }
impl<V: Shift> Map<V> for RightShiftFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.shift_right(b)
    }
}

record! { BitwiseAndFn "bitwise_and.Tensor: x x", Any within 0:
bool |[a, b], []| a & b, int |[a, b], []| a & b }
record! { BitwiseOrFn "bitwise_or.Tensor: x x", Any within 0:
bool |[a, b], []| a | b, int |[a, b], []| a | b }
record! { BitwiseXorFn "bitwise_xor.Tensor: x x", Any within 0:
bool |[a, b], []| a ^ b, int |[a, b], []| a ^ b }
record! { BitwiseNotFn "bitwise_not: x", Any within 0: bool |[a], []| !a, int |[a], []| !a }
impl Recorded for LeftShiftFn {
    const RECORD: Record = Record {
        call: "bitwise_left_shift.Tensor: x x",
        inputs: Inputs::Any,
        within: Within::EXACT,
        reference: |dtype, x, p| {
            let shift = |[a, b]: [i64; 2], []: [i64; 0]| if inside(dtype, b) { a << b } else { 0 };
            record::int(dtype, x, p, shift).flatten()
        },
    };
}
impl Recorded for RightShiftFn {
    const RECORD: Record = Record {
        call: "bitwise_right_shift.Tensor: x x",
        inputs: Inputs::Any,
        within: Within::EXACT,
        reference: |dtype, x, p| {
            let shift = |[a, b]: [i64; 2], []: [i64; 0]| a >> if inside(dtype, b) { b } else { 63 };
            record::int(dtype, x, p, shift).flatten()
        },
    };
}

/// Whether a dtype has so many bits and more.
fn inside(dtype: DType, amount: i64) -> bool {
    (0..8 * dtype.size() as i64).contains(&amount)
}

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __bitwise_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [bitwise_and.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::bitwise::BitwiseAndFn) {
            functional bitwise_and; inplace bitwise_and_ [bitwise_and_.Tensor];
            out bitwise_and_out [bitwise_and.Tensor_out];
        } }
        { [bitwise_and.Scalar] (Tensor self, Scalar other) -> (Tensor)
            : op ($crate::Op<$crate::bitwise::BitwiseAndFn>) {
            functional -; inplace - [bitwise_and_.Scalar]; out - [bitwise_and.Scalar_out];
        } }
        { [bitwise_and.Scalar_Tensor] (Scalar self, Tensor other) -> (Tensor)
            : op ($crate::Op<$crate::bitwise::BitwiseAndFn>) {
            functional -; autoout - [bitwise_and.Scalar_Tensor_out];
        } }
        { [__and__.Tensor] (Tensor self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::bitwise::BitwiseAndFn>) {
            functional -; inplace - [__iand__.Tensor];
        } }
        { [__and__.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::bitwise::BitwiseAndFn>) {
            functional -; inplace - [__iand__.Scalar];
        } }
        { [bitwise_or.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::bitwise::BitwiseOrFn) {
            functional bitwise_or; inplace bitwise_or_ [bitwise_or_.Tensor]; out bitwise_or_out [bitwise_or.Tensor_out];
        } }
        { [bitwise_or.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::bitwise::BitwiseOrFn>) {
            functional -; inplace - [bitwise_or_.Scalar]; out - [bitwise_or.Scalar_out];
        } }
        { [bitwise_or.Scalar_Tensor] (Scalar self, Tensor other) -> (Tensor)
            : op ($crate::Op<$crate::bitwise::BitwiseOrFn>) {
            functional -; autoout - [bitwise_or.Scalar_Tensor_out];
        } }
        { [__or__.Tensor] (Tensor self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::bitwise::BitwiseOrFn>) {
            functional -; inplace - [__ior__.Tensor];
        } }
        { [__or__.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::bitwise::BitwiseOrFn>) {
            functional -; inplace - [__ior__.Scalar];
        } }
        { [bitwise_xor.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::bitwise::BitwiseXorFn) {
            functional bitwise_xor; inplace bitwise_xor_ [bitwise_xor_.Tensor];
            out bitwise_xor_out [bitwise_xor.Tensor_out];
        } }
        { [bitwise_xor.Scalar] (Tensor self, Scalar other) -> (Tensor)
            : op ($crate::Op<$crate::bitwise::BitwiseXorFn>) {
            functional -; inplace - [bitwise_xor_.Scalar]; out - [bitwise_xor.Scalar_out];
        } }
        { [bitwise_xor.Scalar_Tensor] (Scalar self, Tensor other) -> (Tensor)
            : op ($crate::Op<$crate::bitwise::BitwiseXorFn>) {
            functional -; autoout - [bitwise_xor.Scalar_Tensor_out];
        } }
        { [__xor__.Tensor] (Tensor self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::bitwise::BitwiseXorFn>) {
            functional -; inplace - [__ixor__.Tensor];
        } }
        { [__xor__.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::bitwise::BitwiseXorFn>) {
            functional -; inplace - [__ixor__.Scalar];
        } }
        { [bitwise_not] (Tensor self) -> (Tensor) : formula ($crate::bitwise::BitwiseNotFn) {
            functional bitwise_not; inplace bitwise_not_ [bitwise_not_]; out bitwise_not_out [bitwise_not.out];
        } }
        { [bitwise_left_shift.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::bitwise::LeftShiftFn) {
            functional bitwise_left_shift; inplace bitwise_left_shift_ [bitwise_left_shift_.Tensor];
            out bitwise_left_shift_out [bitwise_left_shift.Tensor_out];
        } }
        { [bitwise_left_shift.Tensor_Scalar] (Tensor self, Scalar other) -> (Tensor)
            : op ($crate::Op<$crate::bitwise::LeftShiftFn>) {
            functional -; inplace - [bitwise_left_shift_.Tensor_Scalar]; out - [bitwise_left_shift.Tensor_Scalar_out];
        } }
        { [bitwise_left_shift.Scalar_Tensor] (Scalar self, Tensor other) -> (Tensor)
            : op ($crate::Op<$crate::bitwise::LeftShiftFn>) {
            functional -; autoout - [bitwise_left_shift.Scalar_Tensor_out];
        } }
        { [__lshift__.Tensor] (Tensor self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::bitwise::LeftShiftFn>) {
            functional -; inplace - [__ilshift__.Tensor]; autoout - [__lshift__.Tensor_out];
        } }
        { [__lshift__.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::bitwise::LeftShiftFn>) {
            functional -; inplace - [__ilshift__.Scalar]; autoout - [__lshift__.Scalar_out];
        } }
        { [bitwise_right_shift.Tensor] (Tensor self, Tensor other) -> (Tensor)
            : formula ($crate::bitwise::RightShiftFn) {
            functional bitwise_right_shift; inplace bitwise_right_shift_ [bitwise_right_shift_.Tensor];
            out bitwise_right_shift_out [bitwise_right_shift.Tensor_out];
        } }
        { [bitwise_right_shift.Tensor_Scalar] (Tensor self, Scalar other) -> (Tensor)
            : op ($crate::Op<$crate::bitwise::RightShiftFn>) {
            functional -; inplace - [bitwise_right_shift_.Tensor_Scalar]; out - [bitwise_right_shift.Tensor_Scalar_out];
        } }
        { [bitwise_right_shift.Scalar_Tensor] (Scalar self, Tensor other) -> (Tensor)
            : op ($crate::Op<$crate::bitwise::RightShiftFn>) {
            functional -; autoout - [bitwise_right_shift.Scalar_Tensor_out];
        } }
        { [__rshift__.Tensor] (Tensor self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::bitwise::RightShiftFn>) {
            functional -; inplace - [__irshift__.Tensor]; autoout - [__rshift__.Tensor_out];
        } }
        { [__rshift__.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::bitwise::RightShiftFn>) {
            functional -; inplace - [__irshift__.Scalar]; autoout - [__rshift__.Scalar_out];
        } }
    } };
}
