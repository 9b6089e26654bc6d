//! Polynomials of an argument and a degree by their recurrences of three terms, as loops whose steps a device may take
//! for many elements at once. Owns degrees, limits, and what is computed beside the recurrence; refuses to know a
//! polynomial.

use crate::algebra::{Real, Repeat, Trigonometric, Value};

/// The degree up to which recurrences are computed, which takes some milliseconds. PyTorch goes on for hours.
const MOST: i64 = 1 << 20;

/// A polynomial, as its recurrence and what is beside that.
pub trait Polynomial<V: Repeat + Trigonometric> {
    /// The degree up to which the recurrence is computed; beyond, the polynomial is NaN.
    #[inline(always)]
    fn most() -> V {
        V::from_i64(MOST)
    }

    /// The argument of everything below.
    #[inline(always)]
    fn argument(x: V) -> V {
        x
    }

    /// The value of degree 1.
    fn first(x: V) -> V;

    /// The value of degree k + 2, from those of the degrees k and k + 1.
    fn next(x: V, k: V, p: V, q: V) -> V;

    /// The value of degree `n` where it is known without the recurrence, and where that is.
    #[inline(always)]
    fn end(x: V, _n: V) -> (V, V::Mask) {
        (x, <V::Mask as Value>::from_bool(false))
    }

    /// Whether the value of degree `n` is computed by the angle.
    #[inline(always)]
    fn is_by_angle(_x: V, _n: V) -> V::Mask {
        <V::Mask as Value>::from_bool(false)
    }

    /// The value of degree `n` by the angle; or something else and the mask does not hold, where `waves` do not.
    #[inline(always)]
    fn by_angle<W: Waves<V>>(x: V, _n: V) -> (V, V::Mask) {
        (x, <V::Mask as Value>::from_bool(false))
    }
}

/// Sines and cosines: of any angle, or of near ones and without branches.
pub trait Waves<V: Trigonometric> {
    /// Whether they hold for the angle.
    fn hold(angle: V) -> V::Mask;
    /// The angle of a cosine.
    fn acos(x: V) -> V;
    /// The sine.
    fn sin(angle: V) -> V;
    /// The cosine.
    fn cos(angle: V) -> V;
}

/// Of any angle: out of line, since the polynomials share them, and only where they are used.
struct Whole;

impl<V: Repeat + Trigonometric> Waves<V> for Whole {
    #[inline(always)]
    fn hold(_: V) -> V::Mask {
        <V::Mask as Value>::from_bool(true)
    }
    #[inline(never)]
    fn acos(x: V) -> V {
        x.acos()
    }
    #[inline(never)]
    fn sin(angle: V) -> V {
        angle.sin()
    }
    #[inline(never)]
    fn cos(angle: V) -> V {
        angle.cos()
    }
}

/// The degree and whether it is one: PyTorch makes an int64 of it, which of what has none is the lowest.
#[inline(always)]
pub fn degree<V: Repeat>(n: V) -> (V, V::Mask) {
    let n = n.trunc();
    let is_degree = n.ge(V::zero()) & n.lt(V::from_f64(9_223_372_036_854_775_808.0));
    (V::select(is_degree, n, V::zero()), is_degree)
}

/// Stands for the steps of what is computed by the angle: fewer than of any degree.
const BY_ANGLE: i64 = -2;

/// The values of the degrees 0 and 1, and how many steps lead to that of degree `n`; of what takes no step, the second
/// is the result.
#[inline(always)]
pub fn start<V: Repeat + Trigonometric, P: Polynomial<V>>([x, n]: [V; 2]) -> [V; 3] {
    let (x, (n, is_degree)) = (P::argument(x), degree(n));
    let (end, is_end) = P::end(x, n);
    let beyond = n.gt(P::most());
    let value = V::select(n.lt(V::one()), V::one(), P::first(x));
    let value = V::select(beyond, V::from_f64(f64::NAN), value);
    let value = V::select(is_degree, V::select(is_end, end, value), V::zero());
    let steps = V::select(beyond | is_end, V::zero(), n - V::one());
    [V::one(), value, V::select(P::is_by_angle(x, n), V::from_i64(BY_ANGLE), steps)]
}

/// The polynomial, from what the last step gave; or something else and the mask does not hold, where it is computed
/// by the angle.
#[inline(always)]
pub fn finish<V: Real>([_, q, steps]: [V; 3]) -> (V, V::Mask) {
    (q, steps.gt(V::from_i64(BY_ANGLE)))
}

/// The polynomial, one element by itself.
#[inline(always)]
pub(super) fn whole<V: Repeat + Trigonometric, P: Polynomial<V>>([x, n]: [V; 2]) -> V {
    let [p, q, steps] = start::<V, P>([x, n]);
    let next = |k, [p, q]: [V; 2]| [q, P::next(P::argument(x), k, p, q)];
    let [p, q] = V::repeat(steps, [p, q], |[_, q]| !q.is_nan(), next);
    let (value, holds) = finish([p, q, steps]);
    V::select_with(!holds, || P::by_angle::<Whole>(P::argument(x), degree(n).0).0, value)
}
