//! Functions of complex values from functions of their parts: what every device says alike, and the C text too.
//!
//! Special values and branch cuts are those of C99 Annex G. Sources: W. Kahan, *Branch Cuts for Complex Elementary
//! Functions, or Much Ado About Nothing's Sign Bit*, 1987, for the inverse functions, whose products have no terms that
//! cancel. Errors are a few units of the larger part; devices with wider parts compute narrower values in those, and
//! round once.
//!
//! Only one function of each pair that a quarter turn of the plane exchanges (sin and sinh, …) is said; the other
//! turns.

use super::{
    Cartesian, Coordinate, Equal, Exponential, Hyperbolic, Logarithm, Magnitude, Num, Ordered, Real, Root,
    Trigonometric, Value,
};

/// A part of a complex value, with every function that these need.
pub trait Part:
    Real + Trigonometric + Coordinate + Hyperbolic + Exponential + Logarithm + Magnitude + Value<Re = Self>
{
}
impl<R> Part for R where
    R: Real + Trigonometric + Coordinate + Hyperbolic + Exponential + Logarithm + Magnitude + Value<Re = R>
{
}

/// z times i.
#[inline(always)]
fn turned<V: Cartesian<Re: Num>>(z: V) -> V {
    V::from_parts(-z.im(), z.re())
}

/// z times -i.
#[inline(always)]
fn turned_back<V: Cartesian<Re: Num>>(z: V) -> V {
    V::from_parts(z.im(), -z.re())
}

/// A number as a part.
#[inline(always)]
fn number<R: Value>(x: f64) -> R {
    R::from_f64(x)
}

/// Whether a part is infinite.
#[inline(always)]
fn is_infinite<R: Part>(x: R) -> R::Mask {
    x.abs().eq(number(f64::INFINITY))
}

/// sinh x and cosh x, each times e^(|x| - 708) where they would overflow: the factor, which goes into the product last.
#[inline(always)]
fn hyperbolic<R: Part>(x: R) -> (R, R, R) {
    const STEP: f64 = 708.0;
    let a = x.abs();
    let near = R::select(a.gt(number(STEP)), number(STEP), a);
    (near.sinh().copysign(x), near.cosh(), (a - near).exp())
}

/// The hyperbolic sine: sinh x cos y + i cosh x sin y.
#[inline(always)]
pub fn sinh<V: Cartesian>(z: V) -> V
where
    V::Re: Part,
{
    let (x, y) = (z.re(), z.im());
    let (sinh, cosh, factor) = hyperbolic(x);
    let bare = !y.is_finite() & (x.eq(number(0.0)) | is_infinite(x));
    let factor = <V::Re as Value>::select(is_infinite(x), number(f64::INFINITY), factor);
    let re = <V::Re as Value>::select(bare, x, sinh * y.cos() * factor);
    let im = <V::Re as Value>::select(y.eq(number(0.0)), y, cosh * y.sin() * factor);
    V::from_parts(re, im)
}

/// The hyperbolic cosine: cosh x cos y + i sinh x sin y.
#[inline(always)]
pub fn cosh<V: Cartesian>(z: V) -> V
where
    V::Re: Part,
{
    let (x, y) = (z.re(), z.im());
    let (sinh, cosh, factor) = hyperbolic(x);
    let zero = number::<V::Re>(0.0);
    let factor = <V::Re as Value>::select(is_infinite(x), number(f64::INFINITY), factor);
    let re = <V::Re as Value>::select(is_infinite(x) & !y.is_finite(), x.abs(), cosh * y.cos() * factor);
    let im = sinh * y.sin() * factor;
    let im = <V::Re as Value>::select(x.eq(zero) & !y.is_finite(), zero, im);
    let im = <V::Re as Value>::select(y.eq(zero), y * number::<V::Re>(1.0).copysign(x), im);
    V::from_parts(re, im)
}

/// The sine.
#[inline(always)]
pub fn sin<V: Cartesian>(z: V) -> V
where
    V::Re: Part,
{
    turned_back(sinh(turned(z)))
}

/// The cosine.
#[inline(always)]
pub fn cos<V: Cartesian>(z: V) -> V
where
    V::Re: Part,
{
    cosh(turned(z))
}

/// The tangent, by the hyperbolic one.
#[inline(always)]
pub fn tan<V: Cartesian<Re: Num> + Hyperbolic>(z: V) -> V {
    turned_back(turned(z).tanh())
}

/// √(1 − z) and √(1 + z), neither with a signed zero that z has not.
#[inline(always)]
fn roots<V: Cartesian + Root>(z: V) -> (V, V)
where
    V::Re: Part,
{
    let one = number::<V::Re>(1.0);
    (V::from_parts(one - z.re(), -z.im()).sqrt(), V::from_parts(one + z.re(), z.im()).sqrt())
}

/// The inverse of the sine.
#[inline(always)]
pub fn asin<V: Cartesian + Root>(z: V) -> V
where
    V::Re: Part,
{
    let (x, y) = (z.re(), z.im());
    let (s, t) = roots(z);
    let re = x.atan2(s.re() * t.re() - s.im() * t.im());
    let im = (s.re() * t.im() - s.im() * t.re()).asinh().copysign(y);
    let infinite = is_infinite(x) | is_infinite(y);
    let re = <V::Re as Value>::select(infinite, x.atan2(y.abs()), re);
    let im = <V::Re as Value>::select(infinite, number::<V::Re>(f64::INFINITY).copysign(y), im);
    let re = <V::Re as Value>::select(x.eq(number(0.0)) & y.is_nan(), x, re);
    V::from_parts(re, im)
}

/// The inverse of the cosine.
#[inline(always)]
pub fn acos<V: Cartesian + Root>(z: V) -> V
where
    V::Re: Part,
{
    let (x, y) = (z.re(), z.im());
    let (s, t) = roots(z);
    let re = number::<V::Re>(2.0) * s.re().atan2(t.re());
    let im = -(t.im() * s.re() - t.re() * s.im()).asinh().copysign(y);
    let infinite = is_infinite(x) | is_infinite(y);
    let re = <V::Re as Value>::select(infinite, y.abs().atan2(x), re);
    let im = <V::Re as Value>::select(infinite, -number::<V::Re>(f64::INFINITY).copysign(y), im);
    let half_pi = number(std::f64::consts::FRAC_PI_2);
    let re = <V::Re as Value>::select(x.eq(number(0.0)) & y.is_nan(), half_pi, re);
    V::from_parts(re, im)
}

/// The inverse of the hyperbolic tangent.
#[inline(always)]
pub fn atanh<V: Cartesian>(z: V) -> V
where
    V::Re: Part,
{
    let (x, y) = (z.re(), z.im());
    let (a, b) = (x.abs(), y.abs());
    let (one, zero) = (number::<V::Re>(1.0), number::<V::Re>(0.0));
    let minus = one - a;
    // log1p(4a / ((1 - a)² + y²)) / 4; next to 1, where y² vanishes, half of log1p(2 / |y|).
    let pole = minus.eq(zero) & b.lt(number(1e-100));
    let ratio = number::<V::Re>(4.0) * a / (minus * minus + b * b);
    let ratio = <V::Re as Value>::select(pole, number::<V::Re>(2.0) / b, ratio);
    let share = <V::Re as Value>::select(pole, number(0.5), number(0.25));
    let re = share * ratio.log1p();
    let im = number::<V::Re>(0.5) * (y + y).atan2(minus * (one + a) - b * b);
    // Far away: x / |z|² and a quarter turn.
    let large = <V::Re as Value>::select(a.gt(b), a, b);
    let small = <V::Re as Value>::select(a.gt(b), b, a);
    let far = large.gt(number(1e9));
    let slope = small / large;
    let re = <V::Re as Value>::select(far, a / large / (large + small * slope), re);
    let quarter = number::<V::Re>(std::f64::consts::FRAC_PI_2).copysign(y);
    let infinite = is_infinite(x) | is_infinite(y);
    let re = <V::Re as Value>::select(infinite | (x.eq(zero) & y.is_nan()), zero, re);
    let im = <V::Re as Value>::select((far | infinite) & !y.is_nan(), quarter, im);
    V::from_parts(re.copysign(x), im)
}

/// The inverse of the hyperbolic sine.
#[inline(always)]
pub fn asinh<V: Cartesian + Root>(z: V) -> V
where
    V::Re: Part,
{
    turned_back(asin(turned(z)))
}

/// The inverse of the hyperbolic cosine: that of the cosine, turned so that its real part is not negative.
#[inline(always)]
pub fn acosh<V: Cartesian + Root>(z: V) -> V
where
    V::Re: Part,
{
    let angle = acos(z);
    V::from_parts(angle.im().abs(), angle.re().copysign(z.im()))
}

/// The inverse of the tangent.
#[inline(always)]
pub fn atan<V: Cartesian>(z: V) -> V
where
    V::Re: Part,
{
    turned_back(atanh(turned(z)))
}

/// The angle from the positive real axis.
#[inline(always)]
pub fn angle<V: Cartesian>(z: V) -> V::Re
where
    V::Re: Part,
{
    z.im().atan2(z.re())
}

/// The value times a real number.
#[inline(always)]
fn scaled<V: Cartesian>(z: V, factor: f64) -> V
where
    V::Re: Num,
{
    let factor = number::<V::Re>(factor);
    V::from_parts(z.re() * factor, z.im() * factor)
}

/// 2 to the power of the value.
#[inline(always)]
pub fn exp2<V: Cartesian + Exponential>(z: V) -> V
where
    V::Re: Num,
{
    scaled(z, std::f64::consts::LN_2).exp()
}

/// The logarithm to base 2.
#[inline(always)]
pub fn log2<V: Cartesian + Logarithm>(z: V) -> V
where
    V::Re: Num,
{
    scaled(z.log(), std::f64::consts::LOG2_E)
}

/// The logarithm to base 10.
#[inline(always)]
pub fn log10<V: Cartesian + Logarithm>(z: V) -> V
where
    V::Re: Num,
{
    scaled(z.log(), std::f64::consts::LOG10_E)
}

/// The exponential less one: expm1 x cos y − 2 sin²(y/2) + i e^x sin y. Of an infinite y it is NaN whatever x is, as in
/// PyTorch.
#[inline(always)]
pub fn expm1<V: Cartesian + Exponential>(z: V) -> V
where
    V::Re: Part,
{
    let (x, y) = (z.re(), z.im());
    let e = z.exp();
    let half = (y * number(0.5)).sin();
    let near = x.expm1() * y.cos() - number::<V::Re>(2.0) * half * half;
    let real = <V::Re as Value>::select(x.abs().lt(number(700.0)), near, e.re() - number(1.0));
    let part = |part| <V::Re as Value>::select(y.is_finite(), part, number(f64::NAN));
    V::from_parts(part(real), part(e.im()))
}

/// The natural logarithm of one more than the value: its real part is half of log1p(2x + x² + y²) where that is near.
#[inline(always)]
pub fn log1p<V: Cartesian + Logarithm>(z: V) -> V
where
    V::Re: Part,
{
    let (x, y) = (z.re(), z.im());
    let whole = V::from_parts(x + number(1.0), y).log();
    let more = x * (x + number(2.0)) + y * y;
    let near = more.abs().lt(number(0.5));
    V::from_parts(<V::Re as Value>::select(near, number::<V::Re>(0.5) * more.log1p(), whole.re()), whole.im())
}

/// log(e^a + e^b): by the one with the larger real part; a sum of infinite ones as it stands. NaN in any part is NaN in
/// both.
#[inline(always)]
pub fn log_sum_exp<V: Cartesian + Exponential + Logarithm>(a: V, b: V) -> V
where
    V::Re: Part,
{
    let less = a.re().lt(b.re());
    let (small, large) = (V::select(less, a, b), V::select(less, b, a));
    let sum = large + log1p((small - large).exp());
    let level = small.re();
    let infinite = !level.is_finite() & level.eq(large.re());
    let both = V::select(level.lt(number(0.0)), small, (small.exp() + large.exp()).log());
    let nan = a.re().is_nan() | a.im().is_nan() | b.re().is_nan() | b.im().is_nan();
    V::select(nan, V::from_complex(f64::NAN, f64::NAN), V::select(infinite, both, sum))
}
