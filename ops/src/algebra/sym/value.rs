//! The algebra on symbolic values: every method records one node, except those that the algebra derives.

use super::element::{Bitwise, Floating, Fractional, Integer, Ordering, Paired, Quotient};
use super::graph::{Literal, Op, Operand, apply};
use super::{Compute, Sym};
use crate::algebra::{
    Bits, Cartesian, Components, Equal, FromIndex, Gaussian, Magnitude, Mask, Num, Ordered, Power, Real, Root,
    RoundedDivision, Shift, TrueDivision, Value, Widen,
};
use monomorph_core::DType;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

impl<C: Compute> Sym<C> {
    pub(super) fn unary<R: Compute>(self, op: Op) -> Sym<R> {
        apply(op, C::DTYPE, [self.into()])
    }

    pub(super) fn binary<R: Compute>(self, op: Op, other: Self) -> Sym<R> {
        apply(op, C::DTYPE, [self.into(), other.into()])
    }
}

/// The constant nearest to a number, by the rules of [`Value`]'s constructors. `exact` is the number as an integer if
/// it came as one: int64 does not survive a detour through float64.
fn literal(dtype: DType, re: f64, im: f64, exact: Option<i64>) -> Literal {
    let integer = exact.unwrap_or(re as i64);
    // Rounding an integer to float32 by way of float64 would round twice.
    let single = exact.map_or(re as f32, |x| x as f32);
    match dtype {
        DType::Bool => Literal::Bool(exact.map_or(re != 0.0 || im != 0.0, |x| x != 0)),
        DType::U8 => Literal::Int(exact.map_or(re as u8, |x| x as u8).into()),
        DType::I8 => Literal::Int(exact.map_or(re as i8, |x| x as i8).into()),
        DType::I16 => Literal::Int(exact.map_or(re as i16, |x| x as i16).into()),
        DType::I32 => Literal::Int(exact.map_or(re as i32, |x| x as i32).into()),
        DType::F64 => Literal::F64(re.to_bits()),
        DType::C64 => Literal::C64(single.to_bits(), (im as f32).to_bits()),
        DType::C128 => Literal::C128(re.to_bits(), im.to_bits()),
        DType::F16 | DType::BF16 | DType::F32 => Literal::F32(single.to_bits()),
        // int64, and whatever dtype joins the twelve: `elements!` must name it before it can get here.
        _ => Literal::Int(integer),
    }
}

impl<C: Compute> Value for Sym<C> {
    type Mask = Sym<bool>;
    type Re = Sym<C::Re>;

    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        apply(Op::Select, C::DTYPE, [mask.into(), yes.into(), no.into()])
    }
    fn truth(self) -> Self::Mask {
        self.unary(Op::Truth)
    }
    fn from_bool(x: bool) -> Self {
        Self::from_i64(x.into())
    }
    fn from_i64(x: i64) -> Self {
        Self::literal(literal(C::DTYPE, x as f64, 0.0, Some(x)))
    }
    fn from_f64(x: f64) -> Self {
        Self::literal(literal(C::DTYPE, x, 0.0, None))
    }
    fn from_complex(re: f64, im: f64) -> Self {
        Self::literal(literal(C::DTYPE, re, im, None))
    }
    fn stored(self) -> Self {
        match C::DTYPE {
            DType::F16 | DType::BF16 => self.unary(Op::Through),
            _ => self,
        }
    }
}

impl Mask for Sym<bool> {}

/// Implements operators of `std::ops` for a class of elements.
macro_rules! operators {
    ($($class:ident: $trait:ident::$method:ident($($other:ident)?) $node:ident;)+) => {$(
        impl<C: $class> $trait for Sym<C> {
            type Output = Self;
            fn $method(self $(, $other: Self)?) -> Self {
                let operands: [Operand; _] = [self.into() $(, $other.into())?];
                apply(Op::$node, operands[0].dtype(), operands)
            }
        }
    )+};
}

operators! {
    Compute: Add::add(other) Add;
    Compute: Sub::sub(other) Sub;
    Compute: Mul::mul(other) Mul;
    Compute: Neg::neg() Neg;
    Fractional: Div::div(other) Div;
    Bitwise: BitAnd::bitand(other) And;
    Bitwise: BitOr::bitor(other) Or;
    Bitwise: BitXor::bitxor(other) Xor;
    Bitwise: Not::not() Not;
}

impl<C: Compute> Num for Sym<C> {
    fn add_scaled(self, factor: Self, x: Self) -> Self {
        if C::DTYPE.is_floating() {
            return apply(Op::AddScaled, C::DTYPE, [self.into(), factor.into(), x.into()]);
        }
        self + factor * x
    }
}
impl<C: Bitwise> Bits for Sym<C> {}
impl<C: Fractional> TrueDivision for Sym<C> {}

impl<C: Integer> Shift for Sym<C> {
    fn shift_left(self, amount: Self) -> Self {
        self.binary(Op::ShiftLeft, amount)
    }
    fn shift_right(self, amount: Self) -> Self {
        self.binary(Op::ShiftRight, amount)
    }
}

impl<C: Compute> Equal for Sym<C> {
    fn eq(self, other: Self) -> Self::Mask {
        self.binary(Op::Eq, other)
    }
    fn ne(self, other: Self) -> Self::Mask {
        self.binary(Op::Ne, other)
    }
}

impl<C: Ordering> Ordered for Sym<C> {
    fn lt(self, other: Self) -> Self::Mask {
        self.binary(Op::Lt, other)
    }
    fn le(self, other: Self) -> Self::Mask {
        self.binary(Op::Le, other)
    }
}

impl<C: Compute> Magnitude for Sym<C> {
    fn abs(self) -> Self::Re {
        self.unary(Op::Abs)
    }
}

impl<C: Quotient> RoundedDivision for Sym<C> {
    fn div_trunc(self, divisor: Self) -> Self {
        self.binary(Op::DivTrunc, divisor)
    }
    fn div_floor(self, divisor: Self) -> Self {
        self.binary(Op::DivFloor, divisor)
    }
    fn rem_trunc(self, divisor: Self) -> Self {
        self.binary(Op::RemTrunc, divisor)
    }
    fn rem_floor(self, divisor: Self) -> Self {
        self.binary(Op::RemFloor, divisor)
    }
    fn faults(divisor: Self) -> Self::Mask {
        if C::DTYPE.is_integral(false) { divisor.eq(Self::zero()) } else { Sym::<bool>::from_bool(false) }
    }
}

impl<C: Floating> Real for Sym<C> {
    fn is_nan(self) -> Self::Mask {
        self.unary(Op::IsNan)
    }
    fn is_finite(self) -> Self::Mask {
        self.unary(Op::IsFinite)
    }
    fn copysign(self, sign: Self) -> Self {
        self.binary(Op::Copysign, sign)
    }
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        apply(Op::MulAdd, C::DTYPE, [self.into(), factor.into(), addend.into()])
    }
}

impl<C: Fractional> Root for Sym<C> {
    fn sqrt(self) -> Self {
        self.unary(Op::Sqrt)
    }
    fn rsqrt(self) -> Self {
        self.unary(Op::Rsqrt)
    }
}

impl<C: Floating> Gaussian for Sym<C> {
    fn erf(self) -> Self {
        self.unary(Op::Erf)
    }
    fn erfc(self) -> Self {
        self.unary(Op::Erfc)
    }
    fn erfinv(self) -> Self {
        self.unary(Op::Erfinv)
    }
    fn gelu(self) -> Self {
        self.unary(Op::Gelu)
    }
    fn gelu_tanh(self) -> Self {
        self.unary(Op::GeluTanh)
    }
}

impl<C: Compute> Power for Sym<C> {
    fn pow(self, exponent: Self) -> Self {
        self.binary(Op::Pow, exponent)
    }
    fn pow_number(self, exponent: Self) -> Self {
        self.binary(Op::PowNumber, exponent)
    }
}

impl<C: Paired> Cartesian for Sym<C> {
    fn from_parts(re: Self::Re, im: Self::Re) -> Self {
        // Named by the result: the parts alone don't say whether they make a complex value.
        apply(Op::Make, C::DTYPE, [re.into(), im.into()])
    }
    fn re(self) -> Self::Re {
        self.unary(Op::Re)
    }
    fn im(self) -> Self::Re {
        self.unary(Op::Im)
    }
}

impl<C: Compute> Components for Sym<C> {
    // Of the dtype, so that the text of a real value has no zeros.
    const ARE_TWO: bool = C::DTYPE.is_complex();

    fn scaled(self, factor: Self::Re) -> Self {
        if const { Self::ARE_TWO } {
            let [re, im] = self.components();
            return apply(Op::Make, C::DTYPE, [(re * factor).into(), (im * factor).into()]);
        }
        self * factor.retyped()
    }
    fn components(self) -> [Self::Re; 2] {
        if const { Self::ARE_TWO } {
            return [self.unary(Op::Re), self.unary(Op::Im)];
        }
        [self.retyped(), Self::Re::from_bool(false)]
    }
}

impl<C: Compute> Widen for Sym<C> {
    type Wide = Sym<C::Wide>;

    fn widen(self) -> Self::Wide {
        if C::DTYPE == C::Wide::DTYPE { self.retyped() } else { self.unary(Op::Widen) }
    }
    fn narrow(wide: Self::Wide) -> Self {
        // Named by the result: several dtypes could be accumulated in one wide type.
        if C::DTYPE == C::Wide::DTYPE { wide.retyped() } else { apply(Op::Narrow, C::DTYPE, [wide.into()]) }
    }
}

impl<C: Fractional> FromIndex<Sym<i64>> for Sym<C> {
    fn from_index(x: Sym<i64>) -> Self {
        // Named by the result: every index is an int64.
        apply(Op::FromIndex, C::DTYPE, [x.into()])
    }
}
