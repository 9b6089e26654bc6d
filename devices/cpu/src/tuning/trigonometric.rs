//! Waves: a block of angles that are all near is reduced without the way that large ones take (decision 0008).

use super::{FastPaths, Tuning};
use monomorph_ops::algebra::{Trigonometric, TrueDivision};
use monomorph_ops::trigonometric::{CosFn, SinFn, SincFn, TanFn};
use std::f64::consts::PI;

/// Sine and cosine of an angle that is near.
#[inline(always)]
#[cfg(feature = "special")]
pub(super) fn waves_near<V: Trigonometric>(angle: V) -> (V, V) {
    (angle.sin_near(), angle.cos_near())
}

impl Tuning for SinFn {
    const HALVES_AS_F32: bool = true;
    const USUAL: bool = true;
}
impl<V: Trigonometric> FastPaths<V> for SinFn {
    #[inline(always)]
    fn is_usual([a]: [V; 1]) -> V::Mask {
        a.is_near()
    }
    #[inline(always)]
    fn eval_usual([a]: [V; 1], (): ()) -> V {
        a.sin_near()
    }
}

impl Tuning for CosFn {
    const HALVES_AS_F32: bool = true;
    const USUAL: bool = true;
}
impl<V: Trigonometric> FastPaths<V> for CosFn {
    #[inline(always)]
    fn is_usual([a]: [V; 1]) -> V::Mask {
        a.is_near()
    }
    #[inline(always)]
    fn eval_usual([a]: [V; 1], (): ()) -> V {
        a.cos_near()
    }
}

impl Tuning for TanFn {
    const HALVES_AS_F32: bool = true;
    const USUAL: bool = true;
}
impl<V: Trigonometric> FastPaths<V> for TanFn {
    #[inline(always)]
    fn is_usual([a]: [V; 1]) -> V::Mask {
        a.is_near()
    }
    #[inline(always)]
    fn eval_usual([a]: [V; 1], (): ()) -> V {
        a.tan_near()
    }
}

impl Tuning for SincFn {
    const HALVES_AS_F32: bool = true;
    const USUAL: bool = true;
}
impl<V: Trigonometric + TrueDivision> FastPaths<V> for SincFn {
    #[inline(always)]
    fn is_usual([a]: [V; 1]) -> V::Mask {
        (V::from_f64(PI) * a).is_near()
    }
    #[inline(always)]
    fn eval_usual([a]: [V; 1], (): ()) -> V {
        SincFn::with_sine(a, V::sin_near)
    }
}
