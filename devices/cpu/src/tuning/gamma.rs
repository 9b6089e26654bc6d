//! The gamma function's relatives: branch-free where the argument needs no reflection or few steps (decision 0019).

use super::{FastPaths, Tuning};
use monomorph_ops::algebra::{Gamma, IncompleteGamma, Repeat};
use monomorph_ops::gamma::{DigammaFn, LgammaFn, MOST_DIMENSIONS, MvlgammaFn, TrigammaFn};
use monomorph_ops::incomplete_gamma::{IgammaFn, IgammacFn};

impl Tuning for LgammaFn {
    const HALVES_AS_F32: bool = true;
    const USUAL: bool = true;
    const PARTIAL: bool = true;
}
impl<V: Gamma> FastPaths<V> for LgammaFn {
    #[inline(always)]
    fn is_usual([a]: [V; 1]) -> V::Mask {
        a.is_plain()
    }
    #[inline(always)]
    fn eval_usual([a]: [V; 1], (): ()) -> V {
        a.lgamma_plain()
    }
    #[inline(always)]
    fn eval_partial([a]: [V; 1], (): ()) -> (V, V::Mask) {
        a.lgamma_partial()
    }
}

impl Tuning for DigammaFn {
    const HALVES_AS_F32: bool = true;
    const USUAL: bool = true;
    const PARTIAL: bool = true;
}
impl<V: Gamma> FastPaths<V> for DigammaFn {
    #[inline(always)]
    fn is_usual([a]: [V; 1]) -> V::Mask {
        a.is_plain()
    }
    #[inline(always)]
    fn eval_usual([a]: [V; 1], (): ()) -> V {
        a.digamma_plain()
    }
    #[inline(always)]
    fn eval_partial([a]: [V; 1], (): ()) -> (V, V::Mask) {
        a.digamma_partial()
    }
}

impl Tuning for TrigammaFn {
    const HALVES_AS_F32: bool = true;
    const PARTIAL: bool = true;
}
impl<V: Gamma> FastPaths<V> for TrigammaFn {
    #[inline(always)]
    fn eval_partial([a]: [V; 1], (): ()) -> (V, V::Mask) {
        a.trigamma_partial()
    }
}

// The state is the sum of the dimensions so far.
impl Tuning for MvlgammaFn {
    const STEPS: i64 = 1;
}
impl<V: Gamma + Repeat> FastPaths<V> for MvlgammaFn {
    #[inline(always)]
    fn start(_: [V; 1], _: V) -> [V; 3] {
        [V::zero(); 3]
    }
    #[inline(always)]
    fn step(k: V, [sum, ..]: [V; 3], [a]: [V; 1], p: V) -> ([V; 3], V::Mask) {
        // Of a number that is no integer the steps are those of the integer below, and of one out of bounds none.
        let takes = |steps: V| steps.le(p) & p.le(V::from_i64(MOST_DIMENSIONS));
        let goes_on = takes(k + V::one());
        let (next, holds) = (a - k * V::from_f64(0.5)).stored().lgamma_partial();
        let next = sum + V::select(holds, next.stored(), V::from_f64(f64::NAN));
        ([V::select(goes_on, next, sum), V::zero(), V::zero()], takes(k + V::from_f64(2.0)))
    }
    #[inline(always)]
    fn finish([sum, ..]: [V; 3], _: [V; 1], p: V) -> (V, V::Mask) {
        (sum.stored() + MvlgammaFn::share(p), !sum.is_nan() & p.le(V::from_i64(MOST_DIMENSIONS)))
    }
}

impl Tuning for IgammaFn {
    const HALVES_AS_F32: bool = true;
    const PARTIAL: bool = true;
    const RARE: bool = true;
}
impl<V: IncompleteGamma> FastPaths<V> for IgammaFn {
    #[inline(always)]
    fn eval_partial([a, x]: [V; 2], (): ()) -> (V, V::Mask) {
        a.igamma_partial(x)
    }
    #[inline(always)]
    fn may_hold([a, x]: [V; 2]) -> V::Mask {
        a.is_within(x)
    }
}

impl Tuning for IgammacFn {
    const HALVES_AS_F32: bool = true;
    const PARTIAL: bool = true;
    const RARE: bool = true;
}
impl<V: IncompleteGamma> FastPaths<V> for IgammacFn {
    #[inline(always)]
    fn eval_partial([a, x]: [V; 2], (): ()) -> (V, V::Mask) {
        a.igammac_partial(x)
    }
    #[inline(always)]
    fn may_hold([a, x]: [V; 2]) -> V::Mask {
        a.is_within(x)
    }
}
