//! Bits: and, or, xor, not, shifts, under their names and under those of Python's operators.

use crate::algebra::{Bits, Shift};
use crate::pointwise::{Common, Integers, Integral, Map, Rule, Same, pointwise};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;

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
record! { LeftShiftFn "bitwise_left_shift.Tensor: x x", Any within 0, of dtype:
int |[a, b], []| if reference::inside(dtype, b) { a << b } else { 0 } }
record! { RightShiftFn "bitwise_right_shift.Tensor: x x", Any within 0, of dtype:
int |[a, b], []| a >> if reference::inside(dtype, b) { b } else { 63 } }

/// What the records call.
#[cfg(feature = "record")]
mod reference {
    use monomorph_core::DType;

    /// Whether a dtype has so many bits and more.
    pub(super) fn inside(dtype: DType, amount: i64) -> bool {
        (0..8 * dtype.size() as i64).contains(&amount)
    }
}

native! {
    family: Bitwise;

    /// The bitwise and of `self` and `other`, elementwise; for bool the logical one.
    ///
    /// Bool and integers only. The operands broadcast; the result has the dtype that they promote to.
    ///
    /// ```
    /// let x = tensor![0b1100, 0b1010];
    /// assert_eq!(x.bitwise_and(0b0110)?.to_vec::<i32>()?, [0b0100, 0b0010]);
    /// ```
    func: bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: bitwise_and_.Tensor, out: bitwise_and.Tensor_out, variants: function, method,
    structured: Pointwise<BitwiseAndFn>;

    func: bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: bitwise_and_.Scalar, out: bitwise_and.Scalar_out, structured: Pointwise<BitwiseAndFn>;

    func: bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor,
    autogen: bitwise_and.Scalar_Tensor_out, structured: Pointwise<BitwiseAndFn>;

    func: __and__.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: __iand__.Tensor, structured: Pointwise<BitwiseAndFn>;

    func: __and__.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: __iand__.Scalar, structured: Pointwise<BitwiseAndFn>;

    /// The bitwise or of `self` and `other`, elementwise; for bool the logical one.
    ///
    /// Bool and integers only. The operands broadcast; the result has the dtype that they promote to.
    ///
    /// ```
    /// let x = tensor![0b1100, 0b1010];
    /// assert_eq!(x.bitwise_or(0b0110)?.to_vec::<i32>()?, [0b1110, 0b1110]);
    /// ```
    func: bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: bitwise_or_.Tensor, out: bitwise_or.Tensor_out, variants: function, method,
    structured: Pointwise<BitwiseOrFn>;

    func: bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: bitwise_or_.Scalar, out: bitwise_or.Scalar_out, structured: Pointwise<BitwiseOrFn>;

    func: bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor,
    autogen: bitwise_or.Scalar_Tensor_out, structured: Pointwise<BitwiseOrFn>;

    func: __or__.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: __ior__.Tensor, structured: Pointwise<BitwiseOrFn>;

    func: __or__.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: __ior__.Scalar, structured: Pointwise<BitwiseOrFn>;

    /// The bitwise exclusive or of `self` and `other`, elementwise; for bool the logical one.
    ///
    /// Bool and integers only. The operands broadcast; the result has the dtype that they promote to.
    ///
    /// ```
    /// let x = tensor![0b1100, 0b1010];
    /// assert_eq!(x.bitwise_xor(0b0110)?.to_vec::<i32>()?, [0b1010, 0b1100]);
    /// ```
    func: bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: bitwise_xor_.Tensor, out: bitwise_xor.Tensor_out, variants: function, method,
    structured: Pointwise<BitwiseXorFn>;

    func: bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: bitwise_xor_.Scalar, out: bitwise_xor.Scalar_out, structured: Pointwise<BitwiseXorFn>;

    func: bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor,
    autogen: bitwise_xor.Scalar_Tensor_out, structured: Pointwise<BitwiseXorFn>;

    func: __xor__.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: __ixor__.Tensor, structured: Pointwise<BitwiseXorFn>;

    func: __xor__.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: __ixor__.Scalar, structured: Pointwise<BitwiseXorFn>;

    /// Inverts each bit; for bool the truth.
    ///
    /// Bool and integers only. The dtype stays.
    ///
    /// ```
    /// let x = tensor![0, 5];
    /// assert_eq!(x.bitwise_not()?.to_vec::<i32>()?, [-1, -6]);
    /// ```
    func: bitwise_not(Tensor self) -> Tensor,
    inplace: bitwise_not_, out: bitwise_not.out, variants: function, method, structured: Pointwise<BitwiseNotFn>;

    /// Shifts the bits of `self` to the left by `other`, elementwise.
    ///
    /// Integers only. Shifts that are negative, or at least as far as the dtype is wide, give 0. The operands
    /// broadcast; the result has the dtype that they promote to.
    ///
    /// ```
    /// let x = tensor![1, 3];
    /// assert_eq!(x.bitwise_left_shift(&tensor![4, 40])?.to_vec::<i32>()?, [16, 0]);
    /// ```
    func: bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: bitwise_left_shift_.Tensor, out: bitwise_left_shift.Tensor_out, variants: function, method,
    structured: Pointwise<LeftShiftFn>;

    func: bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: bitwise_left_shift_.Tensor_Scalar, out: bitwise_left_shift.Tensor_Scalar_out,
    structured: Pointwise<LeftShiftFn>;

    func: bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor,
    autogen: bitwise_left_shift.Scalar_Tensor_out, structured: Pointwise<LeftShiftFn>;

    func: __lshift__.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: __ilshift__.Tensor, autogen: __lshift__.Tensor_out, structured: Pointwise<LeftShiftFn>;

    func: __lshift__.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: __ilshift__.Scalar, autogen: __lshift__.Scalar_out, structured: Pointwise<LeftShiftFn>;

    /// Shifts the bits of `self` to the right by `other`, elementwise, with its sign.
    ///
    /// Integers only. Shifts that are negative, or at least as far as the dtype is wide, give 0, or -1 for negative
    /// numbers. The operands broadcast; the result has the dtype that they promote to.
    ///
    /// ```
    /// let x = tensor![16, -16];
    /// assert_eq!(x.bitwise_right_shift(&tensor![2, 40])?.to_vec::<i32>()?, [4, -1]);
    /// ```
    func: bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: bitwise_right_shift_.Tensor, out: bitwise_right_shift.Tensor_out, variants: function, method,
    structured: Pointwise<RightShiftFn>;

    func: bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: bitwise_right_shift_.Tensor_Scalar, out: bitwise_right_shift.Tensor_Scalar_out,
    structured: Pointwise<RightShiftFn>;

    func: bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor,
    autogen: bitwise_right_shift.Scalar_Tensor_out, structured: Pointwise<RightShiftFn>;

    func: __rshift__.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: __irshift__.Tensor, autogen: __rshift__.Tensor_out, structured: Pointwise<RightShiftFn>;

    func: __rshift__.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: __irshift__.Scalar, autogen: __rshift__.Scalar_out, structured: Pointwise<RightShiftFn>;
}
