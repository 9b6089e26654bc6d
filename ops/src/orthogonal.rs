//! The orthogonal polynomials of Chebyshev (four kinds, also shifted to 0 up to 1), Hermite (two), Laguerre and Legendre. A degree
//! is an operand, of which the integer part counts; below zero, and where int64 has none, the polynomial is 0.
//!
//! They are computed by their recurrences of three terms (F. W. J. Olver et al., *NIST Handbook of Mathematical Functions*, 18.9), and
//! the Chebyshev ones between -1 and 1 by the angle whose cosine is x (18.5), from the degree on that PyTorch chooses: off by
//! some units of the angle times the degree, as PyTorch's are. Recurrences are PyTorch's too but for the rounding of single
//! steps, which shows near zeros of a polynomial: at 400 random points with degrees to 30 the largest error, in units of
//! max(1, |value|), is 176 where PyTorch's is 57 (Hermite's H of float32 within 3), and 1063 where it is 80 (He of float64). A
//! recurrence of more than 2^20 steps is NaN, for which PyTorch computes on.

use crate::algebra::{Real, Repeat, Rounding, Trigonometric};
use crate::pointwise::{Common, Map, Rule, Same, WideReals, pointwise};
use crate::record::record;

/// The value of a degree, zero where it is none: PyTorch makes an int64 of it, which of what has none is the lowest.
#[inline(always)]
fn of_degree<V: Repeat>(n: V, value: impl FnOnce(V) -> V) -> V {
    let n = n.trunc();
    let is_degree = n.ge(V::zero()) & n.lt(V::from_f64(9_223_372_036_854_775_808.0));
    V::select(is_degree, value(V::select(is_degree, n, V::zero())), V::zero())
}

/// The degree up to which recurrences are computed, which takes some milliseconds. PyTorch goes on for hours.
const MOST: i64 = 1 << 20;

/// The polynomial of degree `n` from that of degree 1: `step` makes the degree k + 2 of k and the degrees k and k + 1. NaN beyond
/// the degree `most`.
#[inline(always)]
fn recurrence<V: Repeat>(n: V, most: V, first: V, step: impl Fn(V, V, V) -> V) -> V {
    let beyond = n.gt(most);
    let n = V::select(beyond, V::zero(), n);
    // What is no number stays none.
    let goes_on = |[_, q]: [V; 2]| !q.is_nan();
    let [_, q] = V::repeat(n - V::one(), [V::one(), first], goes_on, |k, [p, q]| [q, step(k, p, q)]);
    V::select(beyond, V::from_f64(f64::NAN), V::select(n.lt(V::one()), V::one(), q))
}

/// The value, negated for odd degrees.
#[inline(always)]
fn alternating<V: Rounding>(n: V, value: V) -> V {
    let half = n * V::from_f64(0.5);
    V::select(half.eq(half.trunc()), value, -value)
}

/// Out of line, as is what follows: the Chebyshev polynomials share them.
#[inline(never)]
fn arc<V: Trigonometric>(x: V) -> V {
    x.acos()
}

#[inline(never)]
fn sine<V: Trigonometric>(x: V) -> V {
    x.sin()
}

#[inline(never)]
fn cosine<V: Trigonometric>(x: V) -> V {
    x.cos()
}

/// A Chebyshev polynomial: what it is of degree 1, at 1, at -1 for even degrees, and above the degree `plain` by the angle.
#[inline(always)]
fn chebyshev<V: Repeat + Trigonometric>(
    [x, n]: [V; 2],
    plain: i64,
    first: V,
    ends: impl Fn(V) -> [V; 2],
    by_angle: impl Fn(V, V) -> V,
) -> V {
    of_degree(n, |n| {
        let (a, one) = (x.abs(), V::one());
        let (at_end, far) = (a.eq(one), n.gt(V::from_i64(plain)) & a.lt(one));
        // Not computed where it is not used.
        let steps = V::select(at_end | far, V::zero(), n);
        let near = recurrence(steps, V::from_i64(MOST), first, |_, p, q| (x + x) * q - p);
        let value = V::select_with(far, || by_angle(n, arc(x)), near);
        let [right, left] = ends(n);
        V::select(at_end, V::select(x.gt(V::zero()), right, alternating(n, left)), value)
    })
}

#[inline(always)]
fn kind_t<V: Repeat + Trigonometric>(x: V, n: V, plain: i64) -> V {
    chebyshev([x, n], plain, x, |_| [V::one(); 2], |n, angle| cosine(n * angle))
}

#[inline(always)]
fn kind_u<V: Repeat + Trigonometric>(x: V, n: V, plain: i64) -> V {
    let by_angle = |n, angle| sine((n + V::one()) * angle) / sine(angle);
    chebyshev([x, n], plain, x + x, |n| [n + V::one(); 2], by_angle)
}

#[inline(always)]
fn kind_v<V: Repeat + Trigonometric>(x: V, n: V, plain: i64) -> V {
    let (half, at_left) = (V::from_f64(0.5), |n: V| n + n + V::one());
    let by_angle = |n: V, angle: V| {
        let quotient = cosine((n + half) * angle) / cosine(angle * half);
        // Next to -1 nothing is left of the divisor.
        V::select(sine(angle * half).eq(V::one()), alternating(n, at_left(n)), quotient)
    };
    chebyshev([x, n], plain, x + x - V::one(), |n| [V::one(), at_left(n)], by_angle)
}

/// What PyTorch gives next to 1, where nothing is left of the divisor, is `next`.
#[inline(always)]
fn kind_w<V: Repeat + Trigonometric>(x: V, n: V, plain: i64, next: impl Fn(V) -> V) -> V {
    let half = V::from_f64(0.5);
    let by_angle = |n: V, angle: V| {
        let quotient = sine((n + half) * angle) / sine(angle * half);
        V::select(cosine(angle * half).eq(V::one()), next(n), quotient)
    };
    chebyshev([x, n], plain, x + x + V::one(), |n| [n + n + V::one(), V::one()], by_angle)
}

/// From 0 up to 1, where the shifted polynomials are orthogonal, to -1 up to 1.
#[inline(always)]
fn shifted<V: Real>(x: V) -> V {
    x + x - V::one()
}

/// NaN from the degree on that PyTorch does not go beyond.
#[inline(always)]
fn hermite<V: Repeat>(n: V, first: V, step: impl Fn(V, V, V) -> V) -> V {
    of_degree(n, |n| {
        let is_single = (V::one() + V::from_f64(1e-10)).eq(V::one());
        recurrence(n, V::select(is_single, V::from_i64(128), V::from_i64(512)), first, step)
    })
}

#[inline(always)]
fn laguerre<V: Repeat>(x: V, n: V) -> V {
    let first = V::one() - x;
    let step = |k: V, p: V, q: V| {
        let k = k + V::one();
        ((k + k + first) * q - k * p) / (k + V::one())
    };
    // Of degree 0 it is what it is at 0.
    of_degree(n, |n| recurrence(V::select(x.eq(V::zero()), V::zero(), n), V::from_i64(MOST), first, step))
}

#[inline(always)]
fn legendre<V: Repeat>(x: V, n: V) -> V {
    let step = |k: V, p: V, q: V| {
        let k = k + V::one();
        ((k + k + V::one()) * x * q - k * p) / (k + V::one())
    };
    of_degree(n, |n| {
        let end = V::select(x.gt(V::zero()), V::one(), alternating(n, V::one()));
        let at_end = x.abs().eq(V::one());
        V::select(at_end, end, recurrence(V::select(at_end, V::zero(), n), V::from_i64(MOST), x, step))
    })
}

/// The polynomials by their coefficients, of small degrees: what the records compare with.
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
    ($($name:ident $call:literal, $text:literal, $inputs:ident: |$x:ident, $n:ident| $value:expr, $reference:expr;)+) => {$(
        pointwise! { $name $text: WideReals, Same<2>; () => Common; Rule::BINARY_FLOAT, elementwise_only = true }
        impl<V: Repeat + Trigonometric> Map<V> for $name {
            #[inline(always)]
            fn eval([$x, $n]: [V; 2], (): ()) -> V {
                $value
            }
        }
        record! { $name $call, $inputs within 4096 or 2e-5: float |[$x, $n], []| $reference }
    )+};
}
polynomials! {
    ChebyshevTFn "special_chebyshev_polynomial_t: x x", "special_chebyshev_polynomial_t", Small: |x, n| kind_t(x, n, 6), exact::t(x, n);
    ChebyshevUFn "special_chebyshev_polynomial_u: x x", "special_chebyshev_polynomial_u", Small: |x, n| kind_u(x, n, 8), exact::u(x, n);
    ChebyshevVFn "special_chebyshev_polynomial_v: x x", "special_chebyshev_polynomial_v", Small: |x, n| kind_v(x, n, 8), exact::v(x, n);
    ChebyshevWFn "special_chebyshev_polynomial_w: x x", "special_chebyshev_polynomial_w", Small: |x, n| kind_w(x, n, 8, |n| n + n + V::one()), exact::w(x, n);
    ShiftedChebyshevTFn "special_shifted_chebyshev_polynomial_t: x x", "special_shifted_chebyshev_polynomial_t", Small: |x, n| kind_t(shifted(x), n, 6), exact::t(2.0 * x - 1.0, n);
    ShiftedChebyshevUFn "special_shifted_chebyshev_polynomial_u: x x", "special_shifted_chebyshev_polynomial_u", Small: |x, n| kind_u(shifted(x), n, 6), exact::u(2.0 * x - 1.0, n);
    ShiftedChebyshevVFn "special_shifted_chebyshev_polynomial_v: x x", "special_shifted_chebyshev_polynomial_v", Small: |x, n| kind_v(shifted(x), n, 6), exact::v(2.0 * x - 1.0, n);
    ShiftedChebyshevWFn "special_shifted_chebyshev_polynomial_w: x x", "special_shifted_chebyshev_polynomial_w", Small: |x, n| kind_w(shifted(x), n, 4, |n| alternating(n, V::one())), exact::w(2.0 * x - 1.0, n);
    HermiteHFn "special_hermite_polynomial_h: x x", "special_hermite_polynomial_h", Small: |x, n| hermite(n, x + x, |k, p, q| (x + x) * q - (k + k + V::from_i64(2)) * p), exact::h(x, n);
    HermiteHeFn "special_hermite_polynomial_he: x x", "special_hermite_polynomial_he", Small: |x, n| hermite(n, x, |k, p, q| x * q - (k + V::one()) * p), exact::he(x, n);
    LaguerreLFn "special_laguerre_polynomial_l: x x", "special_laguerre_polynomial_l", Tame: |x, n| laguerre(x, n), exact::l(x, n);
    LegendrePFn "special_legendre_polynomial_p: x x", "special_legendre_polynomial_p", Small: |x, n| legendre(x, n), exact::p(x, n);
}

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __orthogonal_rows {
    ($callback:ident $($context:tt)*) => { $crate::__polynomial_rows! { $callback [$($context)*]
        special_chebyshev_polynomial_t special_chebyshev_polynomial_t_out ChebyshevTFn,
        special_chebyshev_polynomial_u special_chebyshev_polynomial_u_out ChebyshevUFn,
        special_chebyshev_polynomial_v special_chebyshev_polynomial_v_out ChebyshevVFn,
        special_chebyshev_polynomial_w special_chebyshev_polynomial_w_out ChebyshevWFn,
        special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_t_out ShiftedChebyshevTFn,
        special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_u_out ShiftedChebyshevUFn,
        special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_v_out ShiftedChebyshevVFn,
        special_shifted_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_w_out ShiftedChebyshevWFn,
        special_hermite_polynomial_h special_hermite_polynomial_h_out HermiteHFn,
        special_hermite_polynomial_he special_hermite_polynomial_he_out HermiteHeFn,
        special_laguerre_polynomial_l special_laguerre_polynomial_l_out LaguerreLFn,
        special_legendre_polynomial_p special_legendre_polynomial_p_out LegendrePFn,
    } };
}

/// Three rows for each polynomial: name, name of its out= form, formula.
#[doc(hidden)]
#[macro_export]
macro_rules! __polynomial_rows {
    ($callback:ident $context:tt $($name:ident $out:ident $formula:ident,)*) => { $crate::$callback! { $context $(
        { [$name] (Tensor x, Tensor n) -> (Tensor) : formula ($crate::orthogonal::$formula) {
            functional $name; out $out [$name.out];
        } }
        { [$name.x_scalar] (Scalar x, Tensor n) -> (Tensor) : op ($crate::Op<$crate::orthogonal::$formula>) {
            functional -; out - [$name.x_scalar_out];
        } }
        { [$name.n_scalar] (Tensor x, Scalar n) -> (Tensor) : op ($crate::Op<$crate::orthogonal::$formula>) {
            functional -; out - [$name.n_scalar_out];
        } }
    )* } };
}
