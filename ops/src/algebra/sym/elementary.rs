//! The elementary functions on symbolic values: a node by name for floats, the nodes of a formula for complex elements.

use super::Sym;
use super::element::{Floating, Fractional};
use super::graph::Op;
use crate::algebra::{
    Coordinate, Exponential, Hyperbolic, Logarithm, Trigonometric, Value, Widen, complex, real_angle, real_log_sum_exp,
};
use half::{bf16, f16};
use num_complex::Complex;

/// Elements with the elementary functions: floats name them, complex elements say them by those of their parts.
#[diagnostic::on_unimplemented(
    message = "the formula divides, or takes a root or another function of the continuum, which `{Self}` does not have",
    label = "the domain of the operator is wider than its formula",
    note = "promote integers and bool to float in the operator's rule; or narrow the domain in `pointwise!`"
)]
pub(super) trait Elementary: Fractional {
    /// The node of a function of one value, or the nodes that it is made of.
    fn elementary(x: Sym<Self>, op: Op) -> Sym<Self>;

    /// The angle from the positive real axis.
    fn angle(x: Sym<Self>) -> Sym<Self::Re>;

    /// The logarithm of a sum of exponentials.
    fn log_sum_exp(a: Sym<Self>, b: Sym<Self>) -> Sym<Self>;
}

macro_rules! elementary {
    ($($element:ty),*) => {$(
        impl Elementary for $element {
            fn elementary(x: Sym<Self>, op: Op) -> Sym<Self> {
                x.unary(op)
            }
            fn angle(x: Sym<Self>) -> Sym<Self> {
                real_angle(x)
            }
            fn log_sum_exp(a: Sym<Self>, b: Sym<Self>) -> Sym<Self> {
                real_log_sum_exp(a, b)
            }
        }
    )*};
}
elementary! { f16, bf16, f32, f64 }

impl Elementary for Complex<f64> {
    fn elementary(x: Sym<Self>, op: Op) -> Sym<Self> {
        match op {
            Op::Exp2 => complex::exp2(x),
            Op::Expm1 => complex::expm1(x),
            Op::Log2 => complex::log2(x),
            Op::Log10 => complex::log10(x),
            Op::Log1p => complex::log1p(x),
            Op::Sin => complex::sin(x),
            Op::Cos => complex::cos(x),
            Op::Tan => complex::tan(x),
            Op::Asin => complex::asin(x),
            Op::Acos => complex::acos(x),
            Op::Atan => complex::atan(x),
            Op::Sinh => complex::sinh(x),
            Op::Cosh => complex::cosh(x),
            Op::Asinh => complex::asinh(x),
            Op::Acosh => complex::acosh(x),
            Op::Atanh => complex::atanh(x),
            // Named functions of the prelude.
            _ => x.unary(op),
        }
    }
    fn angle(x: Sym<Self>) -> Sym<f64> {
        complex::angle(x)
    }
    fn log_sum_exp(a: Sym<Self>, b: Sym<Self>) -> Sym<Self> {
        complex::log_sum_exp(a, b)
    }
}

/// In float64 parts, rounded once.
impl Elementary for Complex<f32> {
    fn elementary(x: Sym<Self>, op: Op) -> Sym<Self> {
        Widen::narrow(Elementary::elementary(x.widen(), op))
    }
    fn angle(x: Sym<Self>) -> Sym<f32> {
        complex::angle(x)
    }
    fn log_sum_exp(a: Sym<Self>, b: Sym<Self>) -> Sym<Self> {
        Widen::narrow(complex::log_sum_exp(a.widen(), b.widen()))
    }
}

impl<C: Elementary> Exponential for Sym<C> {
    fn exp(self) -> Self {
        self.unary(Op::Exp)
    }
    fn exp2(self) -> Self {
        C::elementary(self, Op::Exp2)
    }
    fn expm1(self) -> Self {
        C::elementary(self, Op::Expm1)
    }
}

impl<C: Elementary> Logarithm for Sym<C> {
    fn log(self) -> Self {
        self.unary(Op::Log)
    }
    fn log2(self) -> Self {
        C::elementary(self, Op::Log2)
    }
    fn log10(self) -> Self {
        C::elementary(self, Op::Log10)
    }
    fn log1p(self) -> Self {
        C::elementary(self, Op::Log1p)
    }
    fn log_sum_exp(self, other: Self) -> Self {
        C::log_sum_exp(self, other)
    }
}

/// The text has one way for all arguments.
impl<C: Elementary> Trigonometric for Sym<C> {
    fn is_near(self) -> Self::Mask {
        Sym::from_bool(true)
    }
    fn sin(self) -> Self {
        C::elementary(self, Op::Sin)
    }
    fn cos(self) -> Self {
        C::elementary(self, Op::Cos)
    }
    fn tan(self) -> Self {
        C::elementary(self, Op::Tan)
    }
    fn sin_near(self) -> Self {
        self.sin()
    }
    fn cos_near(self) -> Self {
        self.cos()
    }
    fn tan_near(self) -> Self {
        self.tan()
    }
    fn asin(self) -> Self {
        C::elementary(self, Op::Asin)
    }
    fn acos(self) -> Self {
        C::elementary(self, Op::Acos)
    }
    fn atan(self) -> Self {
        C::elementary(self, Op::Atan)
    }
    fn angle(self) -> Self::Re {
        C::angle(self)
    }
}

impl<C: Floating + Elementary> Coordinate for Sym<C> {
    fn atan2(self, x: Self) -> Self {
        self.binary(Op::Atan2, x)
    }
}

impl<C: Elementary> Hyperbolic for Sym<C> {
    fn sinh(self) -> Self {
        C::elementary(self, Op::Sinh)
    }
    fn cosh(self) -> Self {
        C::elementary(self, Op::Cosh)
    }
    fn tanh(self) -> Self {
        self.unary(Op::Tanh)
    }
    fn asinh(self) -> Self {
        C::elementary(self, Op::Asinh)
    }
    fn acosh(self) -> Self {
        C::elementary(self, Op::Acosh)
    }
    fn atanh(self) -> Self {
        C::elementary(self, Op::Atanh)
    }
    fn sigmoid(self) -> Self {
        self.unary(Op::Sigmoid)
    }
}
