//! What a division leaves over, and common divisors: remainder, fmod, floor_divide, gcd, lcm.

use crate::algebra::{Divisor, RoundedDivision};
use crate::pointwise::{Common, Integers, Map, Real, Rule, Same, pointwise};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use monomorph_core::ErrorKind;

pointwise! { RemainderFn "remainder": Real, Same<2>; () => Common; Rule::BINARY, fault = ErrorKind::DivisionByZero }
impl<V: RoundedDivision> Map<V> for RemainderFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.rem_floor(b)
    }
    #[inline(always)]
    fn fault([_, b]: [V; 2]) -> V::Mask {
        V::faults(b)
    }
}

pointwise! { FmodFn "fmod": Real, Same<2>; () => Common; Rule::BINARY, fault = ErrorKind::DivisionByZero }
impl<V: RoundedDivision> Map<V> for FmodFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.rem_trunc(b)
    }
    #[inline(always)]
    fn fault([_, b]: [V; 2]) -> V::Mask {
        V::faults(b)
    }
}

pointwise! { GcdFn "gcd": Integers, Same<2>; () => Common; Rule::BINARY }
impl<V: Divisor> Map<V> for GcdFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.gcd(b)
    }
}

pointwise! { LcmFn "lcm": Integers, Same<2>; () => Common; Rule::BINARY }
impl<V: Divisor> Map<V> for LcmFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.lcm(b)
    }
}

record! { RemainderFn "remainder.Tensor: x x", Any within 1, of dtype:
int |[a, b], []| (b != 0).then(|| reference::with_sign_of(a.wrapping_rem(b), b)),
float |[a, b], []| reference::with_sign_of(reference::truncated_rest(dtype, a, b), b) }
record! { FmodFn "fmod.Tensor: x x", Any within 0, of dtype:
int |[a, b], []| (b != 0).then(|| a.wrapping_rem(b)), float |[a, b], []| reference::truncated_rest(dtype, a, b) }
record! { GcdFn "gcd: x x", Any within 0, of dtype: int |[a, b], []| reference::common_divisor(dtype, a, b) }
record! { LcmFn "lcm: x x", Any within 0, of dtype: int |[a, b], []| reference::common_multiple(dtype, a, b) }

/// What the records call.
#[cfg(feature = "record")]
mod reference {
    use monomorph_core::DType;
    use std::ops::Add;

    /// What a truncated quotient leaves over; NaN where the quotient overflows the precision that the dtype computes
    /// in, by more than rounding.
    pub(super) fn truncated_rest(dtype: DType, a: f64, b: f64) -> f64 {
        let has_quotient = match dtype {
            DType::F64 => (a * (1.0 - f64::EPSILON) / b).is_finite(),
            _ => (a as f32 * (1.0 - f32::EPSILON) / b as f32).is_finite(),
        };
        if has_quotient { a % b } else { f64::NAN }
    }

    /// Python's remainder from C's.
    pub(super) fn with_sign_of<T: Default + Copy + PartialOrd + Add<Output = T>>(rest: T, divisor: T) -> T {
        let zero = T::default();
        if rest != zero && (rest < zero) != (divisor < zero) { rest + divisor } else { rest }
    }

    /// The greatest common divisor, of magnitudes as the dtype holds them.
    pub(super) fn common_divisor(dtype: DType, a: i64, b: i64) -> i64 {
        let (mut a, mut b) = (magnitude(dtype, a), magnitude(dtype, b));
        while a != 0 {
            (a, b) = (b.wrapping_rem(a), a);
        }
        b
    }

    /// The least common multiple. The product of int32 and int64 wraps before its magnitude is taken.
    pub(super) fn common_multiple(dtype: DType, a: i64, b: i64) -> i64 {
        let divisor = common_divisor(dtype, a, b);
        let quotient = if divisor == 0 { 0 } else { a.wrapping_div(divisor) };
        let product = quotient.wrapping_mul(b);
        match dtype {
            DType::I8 => i64::from(product.wrapping_abs() as i8),
            DType::I16 => i64::from(product.wrapping_abs() as i16),
            _ => magnitude(dtype, product),
        }
    }

    /// The magnitude of a number that wraps to the dtype, wrapped again.
    fn magnitude(dtype: DType, x: i64) -> i64 {
        match dtype {
            DType::U8 => i64::from(x as u8),
            DType::I8 => i64::from((x as i8).wrapping_abs()),
            DType::I16 => i64::from((x as i16).wrapping_abs()),
            DType::I32 => i64::from((x as i32).wrapping_abs()),
            _ => x.wrapping_abs(),
        }
    }
}

native! {
    family: Remainder, functions: crate::kernels::Remainder + crate::kernels::Arithmetic;

    /// The remainder of a division that rounds down, elementwise: it has the sign of `other`, as `%` in Python.
    ///
    /// The operands broadcast; the result has the dtype that they promote to. An integer division by zero is an error;
    /// for floats it gives NaN. Operands that promote to bool or to a complex dtype are an error.
    ///
    /// ```
    /// let x = tensor![7, -7];
    /// assert_eq!(x.remainder(3)?.to_vec::<i32>()?, [1, 2]);
    /// ```
    func: remainder.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: remainder_.Tensor, out: remainder.Tensor_out, variants: function, method,
    structured: Pointwise<RemainderFn>;

    func: remainder.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: remainder_.Scalar, out: remainder.Scalar_out, structured: Pointwise<RemainderFn>;

    /// The remainder of a division that rounds towards zero, elementwise: it has the sign of `self`, as `%` in Rust.
    ///
    /// The operands broadcast; the result has the dtype that they promote to. An integer division by zero is an error;
    /// for floats it gives NaN. Operands that promote to bool or to a complex dtype are an error.
    ///
    /// ```
    /// let x = tensor![7, -7];
    /// assert_eq!(x.fmod(3)?.to_vec::<i32>()?, [1, -1]);
    /// ```
    func: fmod.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: fmod_.Tensor, out: fmod.Tensor_out, variants: function, method, structured: Pointwise<FmodFn>;

    func: fmod.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: fmod_.Scalar, out: fmod.Scalar_out, structured: Pointwise<FmodFn>;

    func: remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor,
    autogen: remainder.Scalar_Tensor_out, structured: Pointwise<RemainderFn>;

    /// Divides by `other` elementwise and rounds down, as `//` in Python.
    ///
    /// The operands broadcast; the result has the dtype that they promote to. An integer division by zero is an error,
    /// and so are operands that promote to bool or to a complex dtype.
    ///
    /// ```
    /// let x = tensor![7, -7];
    /// assert_eq!(x.floor_divide(2)?.to_vec::<i32>()?, [3, -4]);
    /// ```
    func: floor_divide(Tensor self, Tensor other) -> Tensor,
    inplace: floor_divide_.Tensor, out: floor_divide.out, variants: function, method,
    operator: Pointwise<crate::arithmetic::DivFloorFn>;

    func: floor_divide.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: floor_divide_.Scalar, autogen: floor_divide.Scalar_out,
    operator: Pointwise<crate::arithmetic::DivFloorFn>;

    /// The greatest common divisor of `self` and `other`, elementwise; it is never negative.
    ///
    /// Integers only. The operands broadcast; the result has the dtype that they promote to.
    ///
    /// ```
    /// let x = tensor![12, -4];
    /// assert_eq!(x.gcd(&tensor![18, 6])?.to_vec::<i32>()?, [6, 2]);
    /// ```
    func: gcd(Tensor self, Tensor other) -> Tensor,
    inplace: gcd_, out: gcd.out, variants: function, method, structured: Pointwise<GcdFn>;

    /// The least common multiple of `self` and `other`, elementwise; it is never negative.
    ///
    /// Integers only. The operands broadcast; the result has the dtype that they promote to.
    ///
    /// ```
    /// let x = tensor![12, -4];
    /// assert_eq!(x.lcm(&tensor![18, 6])?.to_vec::<i32>()?, [36, 12]);
    /// ```
    func: lcm(Tensor self, Tensor other) -> Tensor,
    inplace: lcm_, out: lcm.out, variants: function, method, structured: Pointwise<LcmFn>;
}
