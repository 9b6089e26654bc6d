//! The orthogonal polynomials of Chebyshev (four kinds, also shifted to 0 up to 1), Hermite (two), Laguerre and
//! Legendre. A degree is an operand, of which the integer part counts; below zero, and where int64 has none, the
//! polynomial is 0.
//!
//! They are computed by their recurrences of three terms (F. W. J. Olver et al., *NIST Handbook of Mathematical
//! Functions*, 18.9), and the Chebyshev ones between -1 and 1 by the angle whose cosine is x (18.5), from the degree on
//! that PyTorch chooses: off by some units of the angle times the degree, as PyTorch's are. Recurrences are PyTorch's,
//! too, whose compiler fuses the first product with the difference: where products fuse, they are equal bit by bit. A
//! recurrence of more than 2^20 steps is NaN, for which PyTorch computes on.

pub mod recurrence;

use crate::algebra::{Real, Repeat, Rounding, Trigonometric};
use crate::pointwise::{Common, Map, Rule, Same, WideReals, pointwise};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use recurrence::{Polynomial, Waves, whole};

/// The value, negated for odd degrees.
#[inline(always)]
fn alternating<V: Rounding>(n: V, value: V) -> V {
    let half = n * V::from_f64(0.5);
    V::select(half.eq(half.trunc()), value, -value)
}

/// From 0 up to 1, where the shifted polynomials are orthogonal, to -1 up to 1.
#[inline(always)]
fn shifted<V: Real>(x: V) -> V {
    x + x - V::one()
}

/// By the angle whose cosine is the argument.
#[inline(always)]
fn kind_t<V: Trigonometric, W: Waves<V>>(n: V, angle: V) -> V {
    W::cos(n * angle)
}

#[inline(always)]
fn kind_u<V: Repeat + Trigonometric, W: Waves<V>>(n: V, angle: V) -> V {
    W::sin((n + V::one()) * angle) / W::sin(angle)
}

#[inline(always)]
fn kind_v<V: Repeat + Trigonometric, W: Waves<V>>(n: V, angle: V) -> V {
    let half = V::from_f64(0.5);
    let quotient = W::cos((n + half) * angle) / W::cos(angle * half);
    // Next to -1 nothing is left of the divisor.
    V::select(W::sin(angle * half).eq(V::one()), alternating(n, odd(n)), quotient)
}

/// What PyTorch gives next to 1, where nothing is left of the divisor, is `next`.
#[inline(always)]
fn kind_w<V: Repeat + Trigonometric, W: Waves<V>>(n: V, angle: V, next: impl Fn(V) -> V) -> V {
    let half = V::from_f64(0.5);
    let quotient = W::sin((n + half) * angle) / W::sin(angle * half);
    V::select(W::cos(angle * half).eq(V::one()), next(n), quotient)
}

#[inline(always)]
fn odd<V: Real>(n: V) -> V {
    n + n + V::one()
}

/// Chebyshev polynomials: the argument, the degree above which PyTorch computes by the angle, that of degree 1, what it
/// is at 1 and at -1 for even degrees, and by the angle.
macro_rules! chebyshev {
    ($(
        $name:ident: $argument:expr, $plain:literal, |$x:ident| $first:expr, |$n:ident| $ends:expr,
        |$angle:ident| $by_angle:expr;
    )+) => {$(
        impl<V: Repeat + Trigonometric> Polynomial<V> for $name {
            #[inline(always)]
            fn argument(x: V) -> V {
                $argument(x)
            }
            #[inline(always)]
            fn first($x: V) -> V {
                $first
            }
            #[inline(always)]
            fn next(x: V, _: V, p: V, q: V) -> V {
                (x + x).mul_add(q, -p)
            }
            #[inline(always)]
            fn end(x: V, $n: V) -> (V, V::Mask) {
                let [right, left] = $ends;
                (V::select(x.gt(V::zero()), right, alternating($n, left)), x.abs().eq(V::one()))
            }
            #[inline(always)]
            fn is_by_angle(x: V, n: V) -> V::Mask {
                n.gt(V::from_i64($plain)) & x.abs().lt(V::one())
            }
            #[inline(always)]
            fn by_angle<W: Waves<V>>(x: V, $n: V) -> (V, V::Mask) {
                let $angle = W::acos(x);
                ($by_angle, W::hold(($n + V::one()) * $angle))
            }
        }
    )+};
}
chebyshev! {
    ChebyshevTFn: own, 6, |x| x, |n| [V::one(); 2], |angle| kind_t::<V, W>(n, angle);
    ChebyshevUFn: own, 8, |x| x + x, |n| [n + V::one(); 2], |angle| kind_u::<V, W>(n, angle);
    ChebyshevVFn: own, 8, |x| x + x - V::one(), |n| [V::one(), odd(n)], |angle| kind_v::<V, W>(n, angle);
    ChebyshevWFn: own, 8, |x| odd(x), |n| [odd(n), V::one()], |angle| kind_w::<V, W>(n, angle, odd);
    ShiftedChebyshevTFn: shifted, 6, |x| x, |n| [V::one(); 2], |angle| kind_t::<V, W>(n, angle);
    ShiftedChebyshevUFn: shifted, 6, |x| x + x, |n| [n + V::one(); 2], |angle| kind_u::<V, W>(n, angle);
    ShiftedChebyshevVFn: shifted, 6, |x| x + x - V::one(), |n| [V::one(), odd(n)], |angle| kind_v::<V, W>(n, angle);
    ShiftedChebyshevWFn: shifted, 4, |x| odd(x), |n| [odd(n), V::one()],
        |angle| kind_w::<V, W>(n, angle, |n| alternating(n, V::one()));
}

#[inline(always)]
fn own<V>(x: V) -> V {
    x
}

/// The degree that PyTorch does not take Hermite's polynomials beyond.
#[inline(always)]
fn most_of_hermite<V: Repeat>() -> V {
    let is_single = (V::one() + V::from_f64(1e-10)).eq(V::one());
    V::select(is_single, V::from_i64(128), V::from_i64(512))
}

impl<V: Repeat + Trigonometric> Polynomial<V> for HermiteHFn {
    #[inline(always)]
    fn most() -> V {
        most_of_hermite()
    }
    #[inline(always)]
    fn first(x: V) -> V {
        x + x
    }
    #[inline(always)]
    fn next(x: V, k: V, p: V, q: V) -> V {
        (x + x).mul_add(q, -((k + k + V::from_i64(2)) * p))
    }
}

impl<V: Repeat + Trigonometric> Polynomial<V> for HermiteHeFn {
    #[inline(always)]
    fn most() -> V {
        most_of_hermite()
    }
    #[inline(always)]
    fn first(x: V) -> V {
        x
    }
    #[inline(always)]
    fn next(x: V, k: V, p: V, q: V) -> V {
        x.mul_add(q, -((k + V::one()) * p))
    }
}

impl<V: Repeat + Trigonometric> Polynomial<V> for LaguerreLFn {
    #[inline(always)]
    fn first(x: V) -> V {
        V::one() - x
    }
    #[inline(always)]
    fn next(x: V, k: V, p: V, q: V) -> V {
        let k = k + V::one();
        (k + k + (V::one() - x)).mul_add(q, -(k * p)) / (k + V::one())
    }
    #[inline(always)]
    fn end(x: V, _: V) -> (V, V::Mask) {
        (V::one(), x.eq(V::zero()))
    }
}

impl<V: Repeat + Trigonometric> Polynomial<V> for LegendrePFn {
    #[inline(always)]
    fn first(x: V) -> V {
        x
    }
    #[inline(always)]
    fn next(x: V, k: V, p: V, q: V) -> V {
        let k = k + V::one();
        ((k + k + V::one()) * x).mul_add(q, -(k * p)) / (k + V::one())
    }
    #[inline(always)]
    fn end(x: V, n: V) -> (V, V::Mask) {
        (V::select(x.gt(V::zero()), V::one(), alternating(n, V::one())), x.abs().eq(V::one()))
    }
}

/// The polynomials by their coefficients, of small degrees: what the records compare with.
#[cfg(feature = "record")]
mod exact {
    /// The value of a degree; none of what takes long or depends on how an angle is rounded, as it does next to 1.
    fn of_degree(x: f64, n: f64, value: impl Fn(i32) -> f64) -> Option<f64> {
        let n = n.trunc();
        if !(0.0..9.3e18).contains(&n) {
            return Some(0.0);
        }
        let off = (x.abs() - 1.0).abs();
        match n as i32 {
            31.. => None,
            _ if off > 0.0 && off < 1e-6 => None,
            0 => Some(1.0),
            n if x.is_finite() => Some(value(n)),
            // What the recurrence makes of what is not finite.
            n @ 1..3 => Some(x.powi(n)),
            _ => Some(f64::NAN),
        }
    }

    /// The sum of x^(n - 2k), alternating and weighed.
    fn sum(x: f64, n: i32, weight: impl Fn(i32) -> f64) -> f64 {
        let term = |k: i32| (-1f64).powi(k) * weight(k) * x.powi(n - 2 * k);
        (0..=n / 2).map(term).sum()
    }

    fn factorial(n: i32) -> f64 {
        (1..=n).map(f64::from).product()
    }

    fn choose(n: i32, k: i32) -> f64 {
        (factorial(n) / (factorial(k) * factorial(n - k))).round()
    }

    fn second(x: f64, n: i32) -> f64 {
        sum(2.0 * x, n, |k| choose(n - k, k))
    }

    pub(super) fn t(x: f64, n: f64) -> Option<f64> {
        of_degree(x, n, |n| second(x, n) - x * second(x, n - 1))
    }

    pub(super) fn u(x: f64, n: f64) -> Option<f64> {
        of_degree(x, n, |n| second(x, n))
    }

    pub(super) fn v(x: f64, n: f64) -> Option<f64> {
        of_degree(x, n, |n| second(x, n) - second(x, n - 1))
    }

    pub(super) fn w(x: f64, n: f64) -> Option<f64> {
        of_degree(x, n, |n| second(x, n) + second(x, n - 1))
    }

    pub(super) fn h(x: f64, n: f64) -> Option<f64> {
        of_degree(x, n, |n| sum(2.0 * x, n, |k| factorial(n) / (factorial(k) * factorial(n - 2 * k))))
    }

    pub(super) fn he(x: f64, n: f64) -> Option<f64> {
        let weight = |n: i32, k: i32| factorial(n) / (factorial(k) * factorial(n - 2 * k) * 2f64.powi(k));
        of_degree(x, n, |n| sum(x, n, |k| weight(n, k)))
    }

    pub(super) fn l(x: f64, n: f64) -> Option<f64> {
        of_degree(-x, n, |n| (0..=n).map(|k| choose(n, k) * (-x).powi(k) / factorial(k)).sum())
    }

    pub(super) fn p(x: f64, n: f64) -> Option<f64> {
        of_degree(x, n, |n| sum(x, n, |k| choose(n, k) * choose(2 * (n - k), n)) / 2f64.powi(n))
    }
}

/// Declares formulas of x and a degree, and their records.
macro_rules! polynomials {
    ($($name:ident $call:literal, $text:literal, $inputs:ident: |$x:ident, $n:ident| $reference:expr;)+) => {$(
        pointwise! { $name $text: WideReals, Same<2>; () => Common; Rule::BINARY_FLOAT }
        impl<V: Repeat + Trigonometric> Map<V> for $name {
            #[inline(always)]
            fn eval(x: [V; 2], (): ()) -> V {
                whole::<V, $name>(x)
            }
        }
        record! { $name $call, $inputs within 4096 or 2e-5: float |[$x, $n], []| $reference }
    )+};
}
polynomials! {
    ChebyshevTFn "special_chebyshev_polynomial_t: x x", "special_chebyshev_polynomial_t", Small: |x, n| exact::t(x, n);
    ChebyshevUFn "special_chebyshev_polynomial_u: x x", "special_chebyshev_polynomial_u", Small: |x, n| exact::u(x, n);
    ChebyshevVFn "special_chebyshev_polynomial_v: x x", "special_chebyshev_polynomial_v", Small: |x, n| exact::v(x, n);
    ChebyshevWFn "special_chebyshev_polynomial_w: x x", "special_chebyshev_polynomial_w", Small: |x, n| exact::w(x, n);
    ShiftedChebyshevTFn "special_shifted_chebyshev_polynomial_t: x x", "special_shifted_chebyshev_polynomial_t",
        Small: |x, n| exact::t(2.0 * x - 1.0, n);
    ShiftedChebyshevUFn "special_shifted_chebyshev_polynomial_u: x x", "special_shifted_chebyshev_polynomial_u",
        Small: |x, n| exact::u(2.0 * x - 1.0, n);
    ShiftedChebyshevVFn "special_shifted_chebyshev_polynomial_v: x x", "special_shifted_chebyshev_polynomial_v",
        Small: |x, n| exact::v(2.0 * x - 1.0, n);
    ShiftedChebyshevWFn "special_shifted_chebyshev_polynomial_w: x x", "special_shifted_chebyshev_polynomial_w",
        Small: |x, n| exact::w(2.0 * x - 1.0, n);
    HermiteHFn "special_hermite_polynomial_h: x x", "special_hermite_polynomial_h", Small: |x, n| exact::h(x, n);
    HermiteHeFn "special_hermite_polynomial_he: x x", "special_hermite_polynomial_he", Small: |x, n| exact::he(x, n);
    LaguerreLFn "special_laguerre_polynomial_l: x x", "special_laguerre_polynomial_l", Tame: |x, n| exact::l(x, n);
    LegendrePFn "special_legendre_polynomial_p: x x", "special_legendre_polynomial_p", Small: |x, n| exact::p(x, n);
}

/// Three operators for each polynomial: of tensors, and of a number in place of either.
macro_rules! polynomials {
    ($($(#[doc = $page:tt])* $name:ident $formula:ident;)*) => {
        native! {
            family: Orthogonal;
            $(
                $(#[doc = $page])*
                func: $name(Tensor x, Tensor n) -> Tensor,
                out: $name.out, variants: function, structured: Pointwise<$formula>;

                func: $name.x_scalar(Scalar x, Tensor n) -> Tensor,
                out: $name.x_scalar_out, structured: Pointwise<$formula>;

                func: $name.n_scalar(Tensor x, Scalar n) -> Tensor,
                out: $name.n_scalar_out, structured: Pointwise<$formula>;
            )*
        }
    };
}
polynomials! {
    /// The Chebyshev polynomial of the first kind of the degree `n` at `x`, elementwise.
    ///
    /// The operands broadcast; integers and bool give float32. Of a negative degree it is 0.
    ///
    /// ```
    /// let x = tensor![2.0f32, 3.0];
    /// assert_eq!(ops::special_chebyshev_polynomial_t(&x, 2)?.to_vec::<f32>()?, [7.0, 17.0]);
    /// ```
    special_chebyshev_polynomial_t ChebyshevTFn;
    /// The Chebyshev polynomial of the second kind of the degree `n` at `x`, elementwise.
    ///
    /// The operands broadcast; integers and bool give float32. Of a negative degree it is 0.
    ///
    /// ```
    /// let x = tensor![2.0f32, 3.0];
    /// assert_eq!(ops::special_chebyshev_polynomial_u(&x, 2)?.to_vec::<f32>()?, [15.0, 35.0]);
    /// ```
    special_chebyshev_polynomial_u ChebyshevUFn;
    /// The Chebyshev polynomial of the third kind of the degree `n` at `x`, elementwise.
    ///
    /// The operands broadcast; integers and bool give float32. Of a negative degree it is 0.
    ///
    /// ```
    /// let x = tensor![2.0f32, 3.0];
    /// assert_eq!(ops::special_chebyshev_polynomial_v(&x, 2)?.to_vec::<f32>()?, [11.0, 29.0]);
    /// ```
    special_chebyshev_polynomial_v ChebyshevVFn;
    /// The Chebyshev polynomial of the fourth kind of the degree `n` at `x`, elementwise.
    ///
    /// The operands broadcast; integers and bool give float32. Of a negative degree it is 0.
    ///
    /// ```
    /// let x = tensor![2.0f32, 3.0];
    /// assert_eq!(ops::special_chebyshev_polynomial_w(&x, 2)?.to_vec::<f32>()?, [19.0, 41.0]);
    /// ```
    special_chebyshev_polynomial_w ChebyshevWFn;
    /// The shifted Chebyshev polynomial of the first kind of the degree `n` at `x`, elementwise.
    ///
    /// The operands broadcast; integers and bool give float32. Of a negative degree it is 0. It is the
    /// polynomial that is not shifted at `2x - 1`.
    ///
    /// ```
    /// let x = tensor![2.0f32, 3.0];
    /// assert_eq!(ops::special_shifted_chebyshev_polynomial_t(&x, 2)?.to_vec::<f32>()?, [17.0, 49.0]);
    /// ```
    special_shifted_chebyshev_polynomial_t ShiftedChebyshevTFn;
    /// The shifted Chebyshev polynomial of the second kind of the degree `n` at `x`, elementwise.
    ///
    /// The operands broadcast; integers and bool give float32. Of a negative degree it is 0. It is the
    /// polynomial that is not shifted at `2x - 1`.
    ///
    /// ```
    /// let x = tensor![2.0f32, 3.0];
    /// assert_eq!(ops::special_shifted_chebyshev_polynomial_u(&x, 2)?.to_vec::<f32>()?, [35.0, 99.0]);
    /// ```
    special_shifted_chebyshev_polynomial_u ShiftedChebyshevUFn;
    /// The shifted Chebyshev polynomial of the third kind of the degree `n` at `x`, elementwise.
    ///
    /// The operands broadcast; integers and bool give float32. Of a negative degree it is 0. It is the
    /// polynomial that is not shifted at `2x - 1`.
    ///
    /// ```
    /// let x = tensor![2.0f32, 3.0];
    /// assert_eq!(ops::special_shifted_chebyshev_polynomial_v(&x, 2)?.to_vec::<f32>()?, [29.0, 89.0]);
    /// ```
    special_shifted_chebyshev_polynomial_v ShiftedChebyshevVFn;
    /// The shifted Chebyshev polynomial of the fourth kind of the degree `n` at `x`, elementwise.
    ///
    /// The operands broadcast; integers and bool give float32. Of a negative degree it is 0. It is the
    /// polynomial that is not shifted at `2x - 1`.
    ///
    /// ```
    /// let x = tensor![2.0f32, 3.0];
    /// assert_eq!(ops::special_shifted_chebyshev_polynomial_w(&x, 2)?.to_vec::<f32>()?, [41.0, 109.0]);
    /// ```
    special_shifted_chebyshev_polynomial_w ShiftedChebyshevWFn;
    /// The physicists' Hermite polynomial of the degree `n` at `x`, elementwise.
    ///
    /// The operands broadcast; integers and bool give float32. Of a negative degree it is 0.
    ///
    /// ```
    /// let x = tensor![2.0f32, 3.0];
    /// assert_eq!(ops::special_hermite_polynomial_h(&x, 2)?.to_vec::<f32>()?, [14.0, 34.0]);
    /// ```
    special_hermite_polynomial_h HermiteHFn;
    /// The probabilists' Hermite polynomial of the degree `n` at `x`, elementwise.
    ///
    /// The operands broadcast; integers and bool give float32. Of a negative degree it is 0.
    ///
    /// ```
    /// let x = tensor![2.0f32, 3.0];
    /// assert_eq!(ops::special_hermite_polynomial_he(&x, 2)?.to_vec::<f32>()?, [3.0, 8.0]);
    /// ```
    special_hermite_polynomial_he HermiteHeFn;
    /// The Laguerre polynomial of the degree `n` at `x`, elementwise.
    ///
    /// The operands broadcast; integers and bool give float32. Of a negative degree it is 0.
    ///
    /// ```
    /// let x = tensor![2.0f32, 3.0];
    /// assert_eq!(ops::special_laguerre_polynomial_l(&x, 2)?.to_vec::<f32>()?, [-1.0, -0.5]);
    /// ```
    special_laguerre_polynomial_l LaguerreLFn;
    /// The Legendre polynomial of the degree `n` at `x`, elementwise.
    ///
    /// The operands broadcast; integers and bool give float32. Of a negative degree it is 0.
    ///
    /// ```
    /// let x = tensor![2.0f32, 3.0];
    /// assert_eq!(ops::special_legendre_polynomial_p(&x, 2)?.to_vec::<f32>()?, [5.5, 13.0]);
    /// ```
    special_legendre_polynomial_p LegendrePFn;
}
