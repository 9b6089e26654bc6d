//! Rounding, signs, divisors and the floating format: what is exact, class by class.

use super::Lane;
use super::hypot::{hypot_f32, hypot_f64, library_hypot};
use super::next_after::{
    exponent_f32, exponent_f64, mantissa_f32, mantissa_f64, next_bf16, next_f16, next_f32, next_f64,
};
use crate::isa::Isa;
use half::{bf16, f16};
use monomorph_ops::algebra::{Classify, Divisor, Format, Rounding, Signed, Signum};
use num_complex::Complex;

/// The direction of a value that has an order: 1 above zero less 1 below it, so 0 for NaN.
macro_rules! ordered_sgn {
    ($x:expr, $zero:expr, $t:ident) => {
        (($x > $zero) as i8 - ($x < $zero) as i8) as $t
    };
}

impl<I: Isa> Signum for Lane<bool, I> {
    #[inline(always)]
    fn sgn(self) -> Self {
        self
    }
    #[inline(always)]
    fn conj(self) -> Self {
        self
    }
}

impl<I: Isa> Signed for Lane<bool, I> {
    #[inline(always)]
    fn is_negative(self) -> Self {
        Lane::new(false)
    }
}

impl<I: Isa> Classify for Lane<bool, I> {
    #[inline(always)]
    fn is_infinite(self) -> Self {
        Lane::new(false)
    }
    #[inline(always)]
    fn finite_or(self, _: Self, _: Self, _: Self) -> Self {
        self
    }
}

macro_rules! integers {
    ($($int:ident)*) => {$(
        impl<I: Isa> Rounding for Lane<$int, I> {
            #[inline(always)]
            fn floor(self) -> Self {
                self
            }
            #[inline(always)]
            fn ceil(self) -> Self {
                self
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                self
            }
            #[inline(always)]
            fn round(self) -> Self {
                self
            }
        }

        impl<I: Isa> Signum for Lane<$int, I> {
            #[inline(always)]
            #[allow(unused_comparisons, reason = "uint8 is one of them")]
            fn sgn(self) -> Self {
                Lane::new(ordered_sgn!(self.get(), 0, $int))
            }
            #[inline(always)]
            fn conj(self) -> Self {
                self
            }
        }

        impl<I: Isa> Signed for Lane<$int, I> {
            #[inline(always)]
            #[allow(unused_comparisons, reason = "uint8 is one of them")]
            fn is_negative(self) -> Self::Mask {
                Lane::new(self.get() < 0)
            }
        }

        impl<I: Isa> Classify for Lane<$int, I> {
            #[inline(always)]
            fn is_infinite(self) -> Self::Mask {
                Lane::new(false)
            }
            #[inline(always)]
            fn finite_or(self, _: Self, _: Self, _: Self) -> Self {
                self
            }
        }

        impl<I: Isa> Divisor for Lane<$int, I> {
            const IS_NARROW: bool = size_of::<$int>() < size_of::<i32>();

            #[inline(always)]
            fn gcd(self, other: Self) -> Self {
                use monomorph_ops::algebra::Magnitude;
                let (mut a, mut b) = (self.abs().get(), other.abs().get());
                while a != 0 {
                    (a, b) = (b.wrapping_rem(a), a);
                }
                Lane::new(b)
            }
        }
    )*};
}
integers! { u8 i8 i16 i32 i64 }

/// The value of a float unless it is not finite.
macro_rules! float_or {
    ($x:expr, $nan:expr, $positive:expr, $negative:expr, $float:ident) => {{
        let x = $x;
        let finite = if x == $float::INFINITY {
            $positive
        } else if x == $float::NEG_INFINITY {
            $negative
        } else {
            x
        };
        if x.is_nan() { $nan } else { finite }
    }};
}

macro_rules! floats {
    ($($element:ident: $repr:ident, $next:ident, $mantissa:ident, $exponent:ident, $hypot:path;)*) => {$(
        impl<I: Isa> Rounding for Lane<$element, I> {
            #[inline(always)]
            fn floor(self) -> Self {
                Lane::new(self.get().floor())
            }
            #[inline(always)]
            fn ceil(self) -> Self {
                Lane::new(self.get().ceil())
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                Lane::new(self.get().trunc())
            }
            #[inline(always)]
            fn round(self) -> Self {
                Lane::new(self.get().round_ties_even())
            }
        }

        impl<I: Isa> Signum for Lane<$element, I> {
            #[inline(always)]
            fn sgn(self) -> Self {
                Lane::new(ordered_sgn!(self.get(), 0.0, $repr))
            }
            #[inline(always)]
            fn conj(self) -> Self {
                self
            }
        }

        impl<I: Isa> Signed for Lane<$element, I> {
            #[inline(always)]
            fn is_negative(self) -> Self::Mask {
                Lane::new(self.get().is_sign_negative())
            }
        }

        impl<I: Isa> Classify for Lane<$element, I> {
            #[inline(always)]
            fn is_infinite(self) -> Self::Mask {
                Lane::new(self.get().is_infinite())
            }
            #[inline(always)]
            fn finite_or(self, nan: Self, positive: Self, negative: Self) -> Self {
                Lane::new(float_or!(self.get(), nan.get(), positive.get(), negative.get(), $repr))
            }
        }

        impl<I: Isa> Format for Lane<$element, I> {
            #[inline(always)]
            fn next_after(self, toward: Self) -> Self {
                Lane::new($next(self.get(), toward.get()))
            }
            #[inline(always)]
            fn mantissa(self) -> Self {
                Lane::new($mantissa(self.get()))
            }
            #[inline(always)]
            fn exponent(self) -> Self {
                Lane::new($exponent(self.get()))
            }
            #[inline(always)]
            fn hypot(self, other: Self) -> Self {
                Lane::new($hypot(self.get(), other.get()))
            }
        }
    )*};
}
floats! {
    f32: f32, next_f32, mantissa_f32, exponent_f32, hypot_f32;
    f64: f64, next_f64, mantissa_f64, exponent_f64, hypot_f64::<I>;
    f16: f32, next_f16, mantissa_f32, exponent_f32, hypot_f32;
    bf16: f32, next_bf16, mantissa_f32, exponent_f32, hypot_f32;
}

macro_rules! complex {
    ($($part:ident, $hypot:path;)*) => {$(
        impl<I: Isa> Signum for Lane<Complex<$part>, I> {
            #[inline(always)]
            fn sgn(self) -> Self {
                let z = self.get();
                let length = $hypot(z.re, z.im);
                let part = |x: $part| if (z.re == 0.0) & (z.im == 0.0) { 0.0 } else { x / length };
                Lane::new(Complex::new(part(z.re), part(z.im)))
            }
            #[inline(always)]
            fn conj(self) -> Self {
                Lane::new(Complex::new(self.get().re, -self.get().im))
            }
        }

        impl<I: Isa> Classify for Lane<Complex<$part>, I> {
            #[inline(always)]
            fn is_infinite(self) -> Self::Mask {
                Lane::new(self.get().re.is_infinite() | self.get().im.is_infinite())
            }
            #[inline(always)]
            fn finite_or(self, nan: Self, positive: Self, negative: Self) -> Self {
                let others = (nan.get().re, positive.get().re, negative.get().re);
                let part = |x: $part| float_or!(x, others.0, others.1, others.2, $part);
                Lane::new(Complex::new(part(self.get().re), part(self.get().im)))
            }
        }
    )*};
}
complex! {
    f32, hypot_f32;
    f64, library_hypot;
}
