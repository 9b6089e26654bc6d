//! Complex values: products by the schoolbook rule, quotients by Smith's method, the exponential of C99 Annex G.
//! Refuses the other functions, which are in `complex_functions.rs`.

use super::complex_functions::{log, pow, sqrt, tanh};
use super::exp::exp_f64;
use super::hypot::{hypot_f32, library_hypot};
use super::{Lane, operator};
use crate::isa::Isa;
use monomorph_ops::algebra::{
    Cartesian, Equal, Exponential, Hyperbolic, Logarithm, Magnitude, Num, Power, Root, Trigonometric, TrueDivision,
    Value,
};
use num_complex::Complex;

/// What float32 parts compute in, where a function takes more than a few steps.
#[inline(always)]
fn wide(z: Complex<f32>) -> Complex<f64> {
    Complex::new(z.re.into(), z.im.into())
}

#[inline(always)]
fn narrow(z: Complex<f64>) -> Complex<f32> {
    Complex::new(z.re as f32, z.im as f32)
}

#[inline(always)]
fn itself(z: Complex<f64>) -> Complex<f64> {
    z
}

/// Methods by the algebra's functions of parts, computed in float64.
macro_rules! by_parts {
    ($wide:ident $narrow:ident: $($method:ident)+) => {$(
        #[inline(always)]
        fn $method(self) -> Self {
            let z = Lane::<Complex<f64>, I>::new($wide(self.get()));
            Lane::new($narrow(monomorph_ops::algebra::complex::$method(z).get()))
        }
    )+};
}

/// Implements the algebra for complex types: component, hypot, exponential, the way to float64 parts and back.
macro_rules! complex {
    ($($part:ident, $hypot:ident, $exp:ident, $wide:ident, $narrow:ident);+ $(;)?) => {$(
        impl<I: Isa> Value for Lane<Complex<$part>, I> {
            type Mask = Lane<bool, I>;
            type Re = Lane<$part, I>;

            #[inline(always)]
            fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
                // Part by part: selects of scalars vectorise where selects of pairs do not.
                let (yes, no) = (yes.get(), no.get());
                let re = if mask.get() { yes.re } else { no.re };
                let im = if mask.get() { yes.im } else { no.im };
                Lane::new(Complex::new(re, im))
            }
            #[inline(always)]
            fn truth(self) -> Self::Mask {
                Lane::new((self.get().re != 0.0) | (self.get().im != 0.0))
            }
            #[inline(always)]
            fn from_bool(x: bool) -> Self {
                Lane::new(Complex::new(x as u8 as $part, 0.0))
            }
            #[inline(always)]
            fn from_i64(x: i64) -> Self {
                Lane::new(Complex::new(x as $part, 0.0))
            }
            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                Lane::new(Complex::new(x as $part, 0.0))
            }
            #[inline(always)]
            fn from_complex(re: f64, im: f64) -> Self {
                Lane::new(Complex::new(re as $part, im as $part))
            }
        }

        operator!(Complex<$part>: Add::add = |a, b| Complex::new(a.re + b.re, a.im + b.im));
        operator!(Complex<$part>: Sub::sub = |a, b| Complex::new(a.re - b.re, a.im - b.im));
        operator!(Complex<$part>: Mul::mul = |a, b| Complex::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re));
        operator!(Complex<$part>: Neg::neg = |a| Complex::new(-a.re, -a.im));
        operator!(Complex<$part>: Div::div = |a, b| {
            // Divide by the larger part first; with a NaN among them, by the imaginary one.
            let straight = b.re.abs() >= b.im.abs();
            let (large, small) = if straight { (b.re, b.im) } else { (b.im, b.re) };
            let (x, y) = if straight { (a.re, a.im) } else { (a.im, a.re) };
            let ratio = small / large;
            let scale = 1.0 / (large + small * ratio);
            let crossed = x * ratio;
            // Not the negation of each other: zero results keep their signs.
            let im = if straight { y - crossed } else { crossed - y };
            let zero = (b.re == 0.0) & (b.im == 0.0);
            let re = if zero { a.re / b.re.abs() } else { (x + y * ratio) * scale };
            let im = if zero { a.im / b.re.abs() } else { im * scale };
            Complex::new(re, im)
        });

        impl<I: Isa> Num for Lane<Complex<$part>, I> {}
        impl<I: Isa> TrueDivision for Lane<Complex<$part>, I> {}

        impl<I: Isa> Equal for Lane<Complex<$part>, I> {
            #[inline(always)]
            fn eq(self, other: Self) -> Self::Mask {
                let (a, b) = (self.get(), other.get());
                Lane::new((a.re == b.re) & (a.im == b.im))
            }
            #[inline(always)]
            fn ne(self, other: Self) -> Self::Mask {
                let (a, b) = (self.get(), other.get());
                Lane::new((a.re != b.re) | (a.im != b.im))
            }
        }

        impl<I: Isa> Magnitude for Lane<Complex<$part>, I> {
            #[inline(always)]
            fn abs(self) -> Self::Re {
                Lane::new($hypot(self.get().re, self.get().im))
            }
        }

        impl<I: Isa> Cartesian for Lane<Complex<$part>, I> {
            #[inline(always)]
            fn from_parts(re: Self::Re, im: Self::Re) -> Self {
                Lane::new(Complex::new(re.get(), im.get()))
            }
            #[inline(always)]
            fn re(self) -> Self::Re {
                Lane::new(self.get().re)
            }
            #[inline(always)]
            fn im(self) -> Self::Re {
                Lane::new(self.get().im)
            }
        }

        impl<I: Isa> Exponential for Lane<Complex<$part>, I> {
            #[inline(always)]
            fn exp(self) -> Self {
                let (re, im) = (self.get().re, self.get().im);
                let finite = $exp::<I>(re, im);
                // C99 Annex G.6.3.1: what a bare product of modulus and direction gets wrong.
                Lane::new(if im == 0.0 {
                    // A real argument stays real, whatever the real part.
                    Complex::new(finite.re, im)
                } else if !im.is_finite() & (re == $part::INFINITY) {
                    Complex::new(re, $part::NAN)
                } else if !im.is_finite() & (re == $part::NEG_INFINITY) {
                    Complex::new(0.0, (0.0 as $part).copysign(im))
                } else {
                    finite
                })
            }
            by_parts! { $wide $narrow: exp2 expm1 }
        }

        impl<I: Isa> Logarithm for Lane<Complex<$part>, I> {
            #[inline(always)]
            fn log(self) -> Self {
                Lane::new($narrow(log($wide(self.get()))))
            }
            #[inline(always)]
            fn log_sum_exp(self, other: Self) -> Self {
                let [a, b] = [self, other].map(|z| Lane::<Complex<f64>, I>::new($wide(z.get())));
                Lane::new($narrow(monomorph_ops::algebra::complex::log_sum_exp(a, b).get()))
            }
            by_parts! { $wide $narrow: log2 log10 log1p }
        }

        impl<I: Isa> Trigonometric for Lane<Complex<$part>, I> {
            #[inline(always)]
            fn is_near(self) -> Self::Mask {
                Lane::new(true)
            }
            #[inline(always)]
            fn sin_near(self) -> Self {
                self.sin()
            }
            #[inline(always)]
            fn cos_near(self) -> Self {
                self.cos()
            }
            #[inline(always)]
            fn tan_near(self) -> Self {
                self.tan()
            }
            #[inline(always)]
            fn angle(self) -> Self::Re {
                monomorph_ops::algebra::complex::angle(self)
            }
            by_parts! { $wide $narrow: sin cos tan asin acos atan }
        }

        impl<I: Isa> Root for Lane<Complex<$part>, I> {
            #[inline(always)]
            fn sqrt(self) -> Self {
                Lane::new($narrow(sqrt($wide(self.get()))))
            }
            #[inline(always)]
            fn rsqrt(self) -> Self {
                Self::one() / self.sqrt()
            }
        }

        impl<I: Isa> Hyperbolic for Lane<Complex<$part>, I> {
            by_parts! { $wide $narrow: sinh cosh asinh acosh atanh }
            #[inline(always)]
            fn tanh(self) -> Self {
                Lane::new($narrow(tanh($wide(self.get()))))
            }
            #[inline(always)]
            fn sigmoid(self) -> Self {
                Self::one() / (Self::one() + (-self).exp())
            }
        }

        impl<I: Isa> Power for Lane<Complex<$part>, I> {
            #[inline(always)]
            fn pow(self, exponent: Self) -> Self {
                Lane::new($narrow(pow($wide(self.get()), $wide(exponent.get()))))
            }
            #[inline(always)]
            fn pow_number(self, exponent: Self) -> Self {
                let real = |x: $part| exponent.get() == Complex::new(x, 0.0);
                if real(0.0) {
                    Self::one()
                } else if real(0.5) {
                    self.sqrt()
                } else if real(-0.5) {
                    self.rsqrt()
                } else if real(1.0) {
                    self
                } else if real(2.0) {
                    self * self
                } else if real(3.0) {
                    self * self * self
                } else if real(-1.0) {
                    Self::one() / self
                } else if real(-2.0) {
                    Self::one() / (self * self)
                } else {
                    self.pow(exponent)
                }
            }
        }
    )+};
}

/// e^(re + im·i) by the bare product, in float64, where no float32 argument overflows before its product does.
#[inline(always)]
fn exp_c64<I: Isa>(re: f32, im: f32) -> Complex<f32> {
    let modulus = exp_f64::<I>(f64::from(re));
    let (sin, cos) = f64::from(im).sin_cos();
    Complex::new((modulus * cos) as f32, (modulus * sin) as f32)
}

/// e^(re + im·i) by the bare product. Where e^re overflows the product may still be finite, so it is taken in steps.
#[inline(always)]
fn exp_c128<I: Isa>(re: f64, im: f64) -> Complex<f64> {
    /// e^STEP is finite; two steps reach every finite result.
    const STEP: f64 = 709.0;
    let (sin, cos) = im.sin_cos();
    let first = if re > STEP { STEP } else { 0.0 };
    let rest = re - first;
    let second = if rest > STEP { STEP } else { 0.0 };
    let [one, two, three] = [first, second, rest - second].map(|x| exp_f64::<I>(x));
    Complex::new(cos * one * two * three, sin * one * two * three)
}

complex! {
    f32, hypot_f32, exp_c64, wide, narrow;
    f64, library_hypot, exp_c128, itself, itself;
}
