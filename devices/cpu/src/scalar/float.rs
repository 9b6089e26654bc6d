//! The real floats. float16 and bfloat16 hold a float32 and round when they are stored; only their rounded quotients
//! pass through their own precision on the way, because PyTorch's do and a truncation shows it.

use super::arc::{atan2_f32, atan2_f64};
use super::pair::{product_f32, product_f64, rest_f32, rest_f64};
use super::pow::{pow_f32, pow_f64};
use super::quotient::{through_bf16, through_f16, unrounded};
use super::reduction::NEAR_F64;
use super::sine::NEAR_F32;
use super::{Lane, operator};
use crate::isa::Isa;
use half::{bf16, f16};
use monomorph_ops::algebra::{
    Coordinate, Equal, Exponential, Gaussian, Hyperbolic, Logarithm, Magnitude, Num, Ordered, Power, Real, Root,
    Trigonometric, TrueDivision, Value,
};

/// Declares 1 / √x: the quotient, and one step of Newton's with what it lacks. Where there is nothing to correct (zero,
/// infinity), or the split of a large number overflows, the quotient stands.
macro_rules! rsqrt {
    ($name:ident: $float:ident, $product:ident, $rest:ident $(, wide $wide:ident)?) => {
        #[inline(always)]
        fn $name<I: Isa>(x: $float) -> $float {
            $(if !I::FMA {
                return $wide::<I>(x.into()) as $float;
            })?
            let y = 1.0 / x.sqrt();
            let (product, low) = $product::<I>(x, y);
            let rest = $rest::<I>(1.0, product, y) - low * y;
            let corrected = y + 0.5 * y * rest;
            if corrected.is_nan() { y } else { corrected }
        }
    };
}
rsqrt! { rsqrt_f32: f32, product_f32, rest_f32, wide rsqrt_f64 }
rsqrt! { rsqrt_f64: f64, product_f64, rest_f64 }

/// Implements the methods of functions of one value, each by a function that is generic over the level.
macro_rules! functions {
    ($element:ident $repr:ident: $($trait:ident)+) => {$(
        impl<I: Isa> $trait for Lane<$element, I> {
            functions! { @$trait $repr }
        }
    )+};
    (@Exponential $repr:ident) => { functions! { @methods $repr exp exp2 expm1 } };
    (@Logarithm $repr:ident) => {
        #[inline(always)]
        fn log_sum_exp(self, other: Self) -> Self {
            monomorph_ops::algebra::real_log_sum_exp(self, other)
        }
        functions! { @methods $repr log log2 log10 log1p }
    };
    (@Hyperbolic $repr:ident) => { functions! { @methods $repr sinh cosh tanh asinh acosh atanh sigmoid } };
    (@Gaussian $repr:ident) => { functions! { @methods $repr erf erfc erfinv gelu gelu_tanh } };
    (@methods $repr:ident $($method:ident)+) => {$(
        #[inline(always)]
        fn $method(self) -> Self {
            Lane::new(super::functions::$repr::$method::<I>(self.get()))
        }
    )+};
}

/// Implements the algebra for float types: element, register, rounding of quotients, functions.
macro_rules! float {
    ($(
        $element:ident: $repr:ident, $round:ident, $rsqrt:ident, $pow:ident, near $near:expr, atan2 $atan2:ident
    );+ $(;)?) => {$(
        impl<I: Isa> Value for Lane<$element, I> {
            type Mask = Lane<bool, I>;
            type Re = Self;

            #[inline(always)]
            fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
                if mask.get() { yes } else { no }
            }
            #[inline(always)]
            fn truth(self) -> Self::Mask {
                Lane::new(self.get() != 0.0)
            }
            #[inline(always)]
            fn from_bool(x: bool) -> Self {
                Lane::new(x as u8 as $repr)
            }
            #[inline(always)]
            fn from_i64(x: i64) -> Self {
                Lane::new(x as $repr)
            }
            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                Lane::new(x as $repr)
            }
            #[inline(always)]
            fn from_complex(re: f64, _: f64) -> Self {
                Self::from_f64(re)
            }
            #[inline(always)]
            fn stored(self) -> Self {
                Lane::new($round(self.get()))
            }
        }

        operator!($element: Add::add = |a, b| a + b);
        operator!($element: Sub::sub = |a, b| a - b);
        operator!($element: Mul::mul = |a, b| a * b);
        operator!($element: Div::div = |a, b| a / b);
        operator!($element: Neg::neg = |a| -a);

        impl<I: Isa> Num for Lane<$element, I> {
            #[inline(always)]
            fn add_scaled(self, factor: Self, x: Self) -> Self {
                let (a, f, x) = (self.get(), factor.get(), x.get());
                // Without the instruction it is a library call, which a factor of 1 does not need: the loop is split in
                // two, of which that one vectorises.
                Lane::new(if !I::FMA && f == 1.0 { a + x } else { f.mul_add(x, a) })
            }
        }
        impl<I: Isa> TrueDivision for Lane<$element, I> {}

        impl<I: Isa> Magnitude for Lane<$element, I> {
            #[inline(always)]
            fn abs(self) -> Self {
                Lane::new(self.get().abs())
            }
        }

        impl<I: Isa> Equal for Lane<$element, I> {
            #[inline(always)]
            fn eq(self, other: Self) -> Self::Mask {
                Lane::new(self.get() == other.get())
            }
            #[inline(always)]
            fn ne(self, other: Self) -> Self::Mask {
                Lane::new(self.get() != other.get())
            }
        }

        impl<I: Isa> Ordered for Lane<$element, I> {
            #[inline(always)]
            fn lt(self, other: Self) -> Self::Mask {
                Lane::new(self.get() < other.get())
            }
            #[inline(always)]
            fn le(self, other: Self) -> Self::Mask {
                Lane::new(self.get() <= other.get())
            }
            // The first choice is one instruction, which gives `b` where either is NaN. The second is of a constant:
            // were it of `a`, the compiler would merge both to two comparisons and a blend.
            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                let (a, b) = (self.get(), other.get());
                let smaller = if a < b { a } else { b };
                Lane::new(if a.is_nan() { <$repr>::NAN } else { smaller })
            }
            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                let (a, b) = (self.get(), other.get());
                let larger = if a > b { a } else { b };
                Lane::new(if a.is_nan() { <$repr>::NAN } else { larger })
            }
            // Whether a bound is NaN is asked once for the whole loop, and then one instruction is left for an
            // element. `bound + bound` is the same NaN as `bound`; with the latter the compiler merges both choices
            // to a comparison and a blend for each element (1.7 times the time of clamp at AVX2).
            #[inline(always)]
            fn at_most(self, bound: Self) -> Self {
                let (x, bound) = (self.get(), bound.get());
                let smaller = if bound < x { bound } else { x };
                Lane::new(if bound.is_nan() { bound + bound } else { smaller })
            }
            #[inline(always)]
            fn at_least(self, bound: Self) -> Self {
                let (x, bound) = (self.get(), bound.get());
                let larger = if bound > x { bound } else { x };
                Lane::new(if bound.is_nan() { bound + bound } else { larger })
            }
        }

        impl<I: Isa> Real for Lane<$element, I> {
            #[inline(always)]
            fn is_nan(self) -> Self::Mask {
                Lane::new(self.get().is_nan())
            }
            #[inline(always)]
            fn is_finite(self) -> Self::Mask {
                Lane::new(self.get().is_finite())
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                Lane::new(self.get().copysign(sign.get()))
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, addend: Self) -> Self {
                let (a, b, c) = (self.get(), factor.get(), addend.get());
                Lane::new(if I::FMA { a.mul_add(b, c) } else { a * b + c })
            }
        }

        impl<I: Isa> Root for Lane<$element, I> {
            #[inline(always)]
            fn sqrt(self) -> Self {
                Lane::new(self.get().sqrt())
            }
            #[inline(always)]
            fn rsqrt(self) -> Self {
                Lane::new($rsqrt::<I>(self.get()))
            }
        }

        impl<I: Isa> Power for Lane<$element, I> {
            #[inline(always)]
            fn pow(self, exponent: Self) -> Self {
                Lane::new($pow::<I>(self.get(), exponent.get()))
            }
            #[inline(always)]
            fn pow_number(self, exponent: Self) -> Self {
                let (x, exponent) = (self.get(), $round(exponent.get()));
                // Choices, not branches: they would keep the loop from being vectorised, and cost little beside a
                // power.
                let choose = |power, value, other| if exponent == power { value } else { other };
                let y = choose(0.5, x.sqrt(), $pow::<I>(x, exponent));
                let y = choose(-0.5, $rsqrt::<I>(x), y);
                let y = choose(1.0, x, y);
                let y = choose(2.0, x * x, y);
                let y = choose(3.0, x * x * x, y);
                let y = choose(-1.0, 1.0 / x, y);
                Lane::new(choose(-2.0, 1.0 / (x * x), y))
            }
        }

        impl<I: Isa> Trigonometric for Lane<$element, I> {
            #[inline(always)]
            fn is_near(self) -> Self::Mask {
                Lane::new(self.get().abs() <= $near)
            }
            #[inline(always)]
            fn angle(self) -> Self {
                monomorph_ops::algebra::real_angle(self)
            }
            functions! { @methods $repr sin cos tan sin_near cos_near tan_near asin acos atan }
        }
        impl<I: Isa> Coordinate for Lane<$element, I> {
            #[inline(always)]
            fn atan2(self, x: Self) -> Self {
                Lane::new($atan2::<I>(self.get(), x.get()))
            }
        }
        functions! { $element $repr: Exponential Logarithm Hyperbolic Gaussian }
    )+};
}

float! {
    f32: f32, unrounded, rsqrt_f32, pow_f32, near NEAR_F32, atan2 atan2_f32;
    f64: f64, unrounded, rsqrt_f64, pow_f64, near NEAR_F64, atan2 atan2_f64;
    f16: f32, through_f16, rsqrt_f32, pow_f32, near NEAR_F32, atan2 atan2_f32;
    bf16: f32, through_bf16, rsqrt_f32, pow_f32, near NEAR_F32, atan2 atan2_f32;
}
