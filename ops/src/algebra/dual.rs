//! Dual numbers: a value and its slope along one direction, so that a formula gives its derivative with its value
//! (forward-mode automatic differentiation: W. K. Clifford, *Preliminary sketch of biquaternions*, 1873; A. Griewank
//! and A. Walther, *Evaluating Derivatives*, 2nd edition, 2008, chapter 3).
//!
//! Owns the derivative of each function of the algebra, for real values. Refuses complex values, whose derivatives need
//! a convention about conjugates.
//!
//! Where a function has no derivative, this is PyTorch's choice: 0 for `abs` and `copysign` at zero and for everything
//! that rounds, a half of either side where `minimum` and `maximum` meet, and 0 for x⁰ whatever x is.

use super::{
    Coordinate, Equal, Exponential, Gaussian, Hyperbolic, Logarithm, Magnitude, Num, Ordered, Power, Real, Root,
    Trigonometric, TrueDivision, Value,
};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LN_2, LOG2_E, LOG10_E};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A value and its slope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<V> {
    /// The value.
    pub value: V,
    /// How fast the value grows along the direction.
    pub slope: V,
}

impl<V: Num> Dual<V> {
    /// What does not change along the direction.
    #[inline(always)]
    pub fn constant(value: V) -> Self {
        Dual { value, slope: V::zero() }
    }

    /// The variable whose derivative is asked for.
    #[inline(always)]
    pub fn variable(value: V) -> Self {
        Dual { value, slope: V::one() }
    }

    /// A function of this value, from its own value and its derivative there.
    #[inline(always)]
    pub(super) fn chain(self, value: V, derivative: V) -> Self {
        Dual { value, slope: self.slope * derivative }
    }
}

impl<V: Real> Value for Dual<V> {
    type Mask = V::Mask;
    type Re = Self;

    #[inline(always)]
    fn select(mask: V::Mask, yes: Self, no: Self) -> Self {
        Dual { value: V::select(mask, yes.value, no.value), slope: V::select(mask, yes.slope, no.slope) }
    }
    #[inline(always)]
    fn truth(self) -> V::Mask {
        self.value.truth()
    }
    #[inline(always)]
    fn from_bool(x: bool) -> Self {
        Dual::constant(V::from_bool(x))
    }
    #[inline(always)]
    fn from_i64(x: i64) -> Self {
        Dual::constant(V::from_i64(x))
    }
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        Dual::constant(V::from_f64(x))
    }
    #[inline(always)]
    fn from_complex(re: f64, im: f64) -> Self {
        Dual::constant(V::from_complex(re, im))
    }
    #[inline(always)]
    fn stored(self) -> Self {
        Dual { value: self.value.stored(), slope: self.slope.stored() }
    }
}

/// Implements operators of `std::ops`: the value, and the slope by the value.
macro_rules! operators {
    ($($trait:ident::$method:ident($a:ident $(, $b:ident)?) = |$value:ident| $body:expr, $slope:expr;)+) => {$(
        impl<V: Real> $trait for Dual<V> {
            type Output = Self;
            #[inline(always)]
            fn $method(self $(, $b: Self)?) -> Self {
                let $a = self;
                let $value = $body;
                Dual { value: $value, slope: $slope }
            }
        }
    )+};
}
operators! {
    Add::add(a, b) = |value| a.value + b.value, a.slope + b.slope;
    Sub::sub(a, b) = |value| a.value - b.value, a.slope - b.slope;
    Mul::mul(a, b) = |value| a.value * b.value, a.slope * b.value + a.value * b.slope;
    Div::div(a, b) = |value| a.value / b.value, (a.slope - value * b.slope) / b.value;
    Neg::neg(a) = |value| -a.value, -a.slope;
}

impl<V: Real> Num for Dual<V> {
    #[inline(always)]
    fn add_scaled(self, factor: Self, x: Self) -> Self {
        let product = factor * x;
        Dual { value: self.value.add_scaled(factor.value, x.value), slope: self.slope + product.slope }
    }
}

impl<V: Real> TrueDivision for Dual<V> {}

impl<V: Real> Equal for Dual<V> {
    #[inline(always)]
    fn eq(self, other: Self) -> V::Mask {
        self.value.eq(other.value)
    }
    #[inline(always)]
    fn ne(self, other: Self) -> V::Mask {
        self.value.ne(other.value)
    }
}

impl<V: Real> Ordered for Dual<V> {
    #[inline(always)]
    fn lt(self, other: Self) -> V::Mask {
        self.value.lt(other.value)
    }
    #[inline(always)]
    fn le(self, other: Self) -> V::Mask {
        self.value.le(other.value)
    }
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        let value = self.value.minimum(other.value);
        Dual { value, slope: of_extreme(self, other, self.value.lt(other.value)) }
    }
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        let value = self.value.maximum(other.value);
        Dual { value, slope: of_extreme(self, other, self.value.gt(other.value)) }
    }
}

/// The slope of the smaller or larger of two: `first` says whether it is the first.
#[inline(always)]
fn of_extreme<V: Real>(a: Dual<V>, b: Dual<V>, first: V::Mask) -> V {
    let half = (a.slope + b.slope) * V::from_f64(0.5);
    let meet = a.value.eq(b.value);
    V::select(meet, half, V::select(first | a.value.is_nan(), a.slope, b.slope))
}

/// −1, 0 or 1, as the value is below, at or above zero.
#[inline(always)]
fn sign<V: Real>(x: V) -> V {
    V::select(x.eq(V::zero()), V::zero(), V::one().copysign(x))
}

impl<V: Real> Magnitude for Dual<V> {
    #[inline(always)]
    fn abs(self) -> Self {
        self.chain(self.value.abs(), sign(self.value))
    }
}

impl<V: Real> Real for Dual<V> {
    #[inline(always)]
    fn is_nan(self) -> V::Mask {
        self.value.is_nan()
    }
    #[inline(always)]
    fn is_finite(self) -> V::Mask {
        self.value.is_finite()
    }
    #[inline(always)]
    fn copysign(self, sign_of: Self) -> Self {
        self.chain(self.value.copysign(sign_of.value), sign(self.value) * V::one().copysign(sign_of.value))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        let product = self * factor;
        Dual { value: self.value.mul_add(factor.value, addend.value), slope: product.slope + addend.slope }
    }
}

/// Implements functions of one value: the value, and the derivative by the argument `x` and the value.
macro_rules! functions {
    ($($trait:ident $(+ $needs:ident)* {
        $($method:ident: |$x:pat_param, $value:pat_param| $derivative:expr;)+
    })+) => {$(
        impl<V: Real + $trait $(+ $needs)*> $trait for Dual<V> {$(
            #[inline(always)]
            fn $method(self) -> Self {
                let value = self.value.$method();
                let ($x, $value) = (self.value, value);
                self.chain(value, $derivative)
            }
        )+}
    )+};
}

functions! {
    Exponential {
        exp: |_, y| y;
        exp2: |_, y| y * V::from_f64(LN_2);
        expm1: |_, y| y + V::one();
    }
    Root {
        sqrt: |_, y| V::from_f64(0.5) / y;
        rsqrt: |_, y| V::from_f64(-0.5) * y * y * y;
    }
    Hyperbolic + Root {
        sinh: |x, _| x.cosh();
        cosh: |x, _| x.sinh();
        asinh: |x, _| V::one() / (x * x + V::one()).sqrt();
        acosh: |x, _| V::one() / (x * x - V::one()).sqrt();
        atanh: |x, _| V::one() / (V::one() - x * x);
        tanh: |_, y| V::one() - y * y;
        sigmoid: |_, y| y * (V::one() - y);
    }
    Gaussian + Exponential + Hyperbolic {
        erfc: |x, _| V::from_f64(-FRAC_2_SQRT_PI) * (-(x * x)).exp();
        erfinv: |_, y| V::from_f64(1.0 / FRAC_2_SQRT_PI) * (y * y).exp();
        erf: |x, _| V::from_f64(FRAC_2_SQRT_PI) * (-(x * x)).exp();
        // The probability below x, which is exact as a quotient also far below zero, and x times the density.
        gelu: |x, y| {
            // A quotient of subnormal numbers would be a coarse one.
            let below = V::select(x.abs().lt(V::from_f64(1e-30)), V::from_f64(0.5), y / x);
            let density = V::from_f64(FRAC_2_SQRT_PI * FRAC_1_SQRT_2 * 0.5) * (V::from_f64(-0.5) * x * x).exp();
            below + x * density
        };
        gelu_tanh: |x, _| {
            let slope = V::from_f64(2.0 * FRAC_2_SQRT_PI * FRAC_1_SQRT_2);
            let cube = V::from_f64(0.044_715);
            let s = (slope * (x + cube * x * x * x)).sigmoid();
            s + x * s * (V::one() - s) * slope * (V::one() + V::from_f64(3.0) * cube * x * x)
        };
    }
}

impl<V: Real + Exponential + Hyperbolic + Logarithm> Logarithm for Dual<V> {
    #[inline(always)]
    fn log(self) -> Self {
        self.chain(self.value.log(), V::one() / self.value)
    }
    #[inline(always)]
    fn log2(self) -> Self {
        self.chain(self.value.log2(), V::from_f64(LOG2_E) / self.value)
    }
    #[inline(always)]
    fn log10(self) -> Self {
        self.chain(self.value.log10(), V::from_f64(LOG10_E) / self.value)
    }
    #[inline(always)]
    fn log1p(self) -> Self {
        self.chain(self.value.log1p(), V::one() / (V::one() + self.value))
    }
    #[inline(always)]
    fn log_sum_exp(self, other: Self) -> Self {
        let share = (self.value - other.value).sigmoid();
        let slope = self.slope * share + other.slope * (V::one() - share);
        Dual { value: self.value.log_sum_exp(other.value), slope }
    }
}

impl<V: Real + Trigonometric + Root> Trigonometric for Dual<V> {
    #[inline(always)]
    fn is_near(self) -> V::Mask {
        self.value.is_near()
    }
    #[inline(always)]
    fn sin(self) -> Self {
        self.chain(self.value.sin(), self.value.cos())
    }
    #[inline(always)]
    fn cos(self) -> Self {
        self.chain(self.value.cos(), -self.value.sin())
    }
    #[inline(always)]
    fn tan(self) -> Self {
        let value = self.value.tan();
        self.chain(value, V::one() + value * value)
    }
    #[inline(always)]
    fn sin_near(self) -> Self {
        self.chain(self.value.sin_near(), self.value.cos_near())
    }
    #[inline(always)]
    fn cos_near(self) -> Self {
        self.chain(self.value.cos_near(), -self.value.sin_near())
    }
    #[inline(always)]
    fn tan_near(self) -> Self {
        let value = self.value.tan_near();
        self.chain(value, V::one() + value * value)
    }
    #[inline(always)]
    fn asin(self) -> Self {
        let x = self.value;
        self.chain(x.asin(), V::one() / (V::one() - x * x).sqrt())
    }
    #[inline(always)]
    fn acos(self) -> Self {
        let x = self.value;
        self.chain(x.acos(), -(V::one() / (V::one() - x * x).sqrt()))
    }
    #[inline(always)]
    fn atan(self) -> Self {
        let x = self.value;
        self.chain(x.atan(), V::one() / (V::one() + x * x))
    }
    #[inline(always)]
    fn angle(self) -> Self {
        Dual::constant(self.value.angle())
    }
}

impl<V: Real + Coordinate> Coordinate for Dual<V> {
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        let square = self.value * self.value + x.value * x.value;
        let turn = self.slope * x.value - self.value * x.slope;
        Dual { value: self.value.atan2(x.value), slope: turn / square }
    }
}

impl<V: Real + Power + Logarithm> Power for Dual<V> {
    #[inline(always)]
    fn pow(self, exponent: Self) -> Self {
        let (x, y) = (self.value, exponent.value);
        let value = x.pow(y);
        let by_base = V::select(y.eq(V::zero()), V::zero(), y * x.pow(y - V::one()));
        // 0 to a power above 0 is 0 all around.
        let flat = x.eq(V::zero()) & y.ge(V::zero());
        let by_exponent = V::select(flat, V::zero(), value * x.log());
        Dual { value, slope: self.slope * by_base + exponent.slope * by_exponent }
    }

    #[inline(always)]
    fn pow_number(self, exponent: Self) -> Self {
        let y = exponent.value;
        let derivative = V::select(y.eq(V::zero()), V::zero(), y * self.value.pow_number(y - V::one()));
        self.chain(self.value.pow_number(y), derivative)
    }
}
