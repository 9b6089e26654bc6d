//! Complex numbers of lengths and angles, branch-free where the angle is near.

use super::{FastPaths, Tuning};
use monomorph_ops::algebra::{Real, Trigonometric};
use monomorph_ops::polar::{PolarImFn, PolarReFn};

impl Tuning for PolarReFn {
    const PARTIAL: bool = true;
    const RARE: bool = true;
}
impl<V: Real + Trigonometric> FastPaths<V> for PolarReFn {
    #[inline(always)]
    fn eval_partial([length, angle]: [V; 2], (): ()) -> (V, V::Mask) {
        (length * angle.cos_near(), angle.is_near())
    }
}

impl Tuning for PolarImFn {
    const PARTIAL: bool = true;
    const RARE: bool = true;
}
impl<V: Real + Trigonometric> FastPaths<V> for PolarImFn {
    #[inline(always)]
    fn eval_partial([length, angle]: [V; 2], (): ()) -> (V, V::Mask) {
        (length * angle.sin_near(), angle.is_near())
    }
}
