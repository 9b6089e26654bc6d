//! The orthogonal polynomials: each step of the recurrence is taken for all elements of a block, and those that are
//! computed by an angle are completed without branches where the angle is near.

use super::{FastPaths, Tuning};
use monomorph_ops::algebra::{Repeat, Trigonometric};
use monomorph_ops::orthogonal::recurrence::{Polynomial, Waves, degree, finish, start};
use monomorph_ops::orthogonal::{
    ChebyshevTFn, ChebyshevUFn, ChebyshevVFn, ChebyshevWFn, HermiteHFn, HermiteHeFn, LaguerreLFn, LegendrePFn,
    ShiftedChebyshevTFn, ShiftedChebyshevUFn, ShiftedChebyshevVFn, ShiftedChebyshevWFn,
};

/// Waves of near angles.
struct Near;

impl<V: Trigonometric> Waves<V> for Near {
    #[inline(always)]
    fn hold(angle: V) -> V::Mask {
        angle.is_near()
    }
    #[inline(always)]
    fn acos(x: V) -> V {
        x.acos()
    }
    #[inline(always)]
    fn sin(angle: V) -> V {
        angle.sin_near()
    }
    #[inline(always)]
    fn cos(angle: V) -> V {
        angle.cos_near()
    }
}

/// The next degree's values, and whether there is another. What is no number stays none.
#[inline(always)]
fn step<V: Repeat + Trigonometric, P: Polynomial<V>>(k: V, [p, q, steps]: [V; 3], [x, _]: [V; 2]) -> ([V; 3], V::Mask) {
    let next = P::next(P::argument(x), k, p, q);
    let follows = (k + V::one()).lt(steps) & !next.is_nan();
    // After the last step nobody reads the first.
    ([q, V::select(k.lt(steps), next, q), steps], follows)
}

/// The polynomial where it is computed by a near angle; or something else and the mask does not hold.
#[inline(always)]
fn by_near_angle<V: Repeat + Trigonometric, P: Polynomial<V>>([x, n]: [V; 2]) -> (V, V::Mask) {
    let (x, (n, _)) = (P::argument(x), degree(n));
    let (value, holds) = P::by_angle::<Near>(x, n);
    (value, holds & P::is_by_angle(x, n))
}

macro_rules! polynomials {
    ($($formula:ident)+) => {$(
        impl Tuning for $formula {
            const PARTIAL: bool = true;
            const STEPS: i64 = 1;
        }
        impl<V: Repeat + Trigonometric> FastPaths<V> for $formula {
            #[inline(always)]
            fn start(x: [V; 2], (): ()) -> [V; 3] {
                start::<V, $formula>(x)
            }
            #[inline(always)]
            fn step(k: V, state: [V; 3], x: [V; 2], (): ()) -> ([V; 3], V::Mask) {
                step::<V, $formula>(k, state, x)
            }
            #[inline(always)]
            fn finish(state: [V; 3], _: [V; 2], (): ()) -> (V, V::Mask) {
                finish(state)
            }
            #[inline(always)]
            fn eval_partial(x: [V; 2], (): ()) -> (V, V::Mask) {
                by_near_angle::<V, $formula>(x)
            }
        }
    )+};
}
polynomials! {
    ChebyshevTFn ChebyshevUFn ChebyshevVFn ChebyshevWFn
    ShiftedChebyshevTFn ShiftedChebyshevUFn ShiftedChebyshevVFn ShiftedChebyshevWFn
    HermiteHFn HermiteHeFn LaguerreLFn LegendrePFn
}
