//! bool: the mask of every comparison, and an element type of its own.

use super::{Lane, operator};
use crate::isa::Isa;
use monomorph_ops::algebra::{Bits, Equal, Magnitude, Mask, Num, Ordered, Power, Value};
use std::ops::{BitAnd, BitOr, BitXor};

impl<I: Isa> Value for Lane<bool, I> {
    type Mask = Self;
    type Re = Self;

    #[inline(always)]
    fn select(mask: Self, yes: Self, no: Self) -> Self {
        if mask.get() { yes } else { no }
    }
    #[inline(always)]
    fn truth(self) -> Self {
        self
    }
    #[inline(always)]
    fn from_bool(x: bool) -> Self {
        Lane::new(x)
    }
    #[inline(always)]
    fn from_i64(x: i64) -> Self {
        Lane::new(x != 0)
    }
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        Lane::new(x != 0.0)
    }
    #[inline(always)]
    fn from_complex(re: f64, im: f64) -> Self {
        Lane::new((re != 0.0) | (im != 0.0))
    }
}

impl<I: Isa> Mask for Lane<bool, I> {}

operator!(bool: BitAnd::bitand = |a, b| a & b);
operator!(bool: BitOr::bitor = |a, b| a | b);
operator!(bool: BitXor::bitxor = |a, b| a ^ b);
operator!(bool: Not::not = |a| !a);
operator!(bool: Add::add = |a, b| a.bitor(b));
operator!(bool: Sub::sub = |a, b| a.bitxor(b));
operator!(bool: Mul::mul = |a, b| a.bitand(b));
operator!(bool: Neg::neg = |a| a);

impl<I: Isa> Bits for Lane<bool, I> {}
impl<I: Isa> Num for Lane<bool, I> {}

impl<I: Isa> Power for Lane<bool, I> {
    #[inline(always)]
    fn pow(self, exponent: Self) -> Self {
        Lane::new(self.get() | !exponent.get())
    }
    #[inline(always)]
    fn pow_number(self, exponent: Self) -> Self {
        self.pow(exponent)
    }
}

impl<I: Isa> Magnitude for Lane<bool, I> {
    #[inline(always)]
    fn abs(self) -> Self {
        self
    }
}

impl<I: Isa> Equal for Lane<bool, I> {
    #[inline(always)]
    fn eq(self, other: Self) -> Self {
        Lane::new(self.get() == other.get())
    }
    #[inline(always)]
    fn ne(self, other: Self) -> Self {
        Lane::new(self.get() != other.get())
    }
}

impl<I: Isa> Ordered for Lane<bool, I> {
    #[inline(always)]
    fn lt(self, other: Self) -> Self {
        Lane::new(!self.get() & other.get())
    }
    #[inline(always)]
    fn le(self, other: Self) -> Self {
        Lane::new(!self.get() | other.get())
    }
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn fmin(self, other: Self) -> Self {
        self.minimum(other)
    }
    #[inline(always)]
    fn fmax(self, other: Self) -> Self {
        self.maximum(other)
    }
}
