//! Functions that are waves far from zero: Bessel's and Airy's. Waves of near angles are branch-free.

use super::trigonometric::waves_near;
use super::{FastPaths, Tuning};
use monomorph_ops::airy::AiryAiFn;
use monomorph_ops::algebra::{Exponential, Logarithm, Real, Root, Trigonometric};
use monomorph_ops::bessel::{J0Fn, J1Fn, SphericalJ0Fn, Y0Fn, Y1Fn};

macro_rules! bessel {
    ($($formula:ident)+) => {$(
        impl Tuning for $formula {
            const USUAL: bool = true;
        }
        impl<V: Real + Root + Trigonometric + Logarithm> FastPaths<V> for $formula {
            #[inline(always)]
            fn is_usual([x]: [V; 1]) -> V::Mask {
                // Phases are at most a turn off.
                (x.abs() + V::from_f64(4.0)).is_near()
            }
            #[inline(always)]
            fn eval_usual([x]: [V; 1], (): ()) -> V {
                $formula::with_waves(x, waves_near)
            }
        }
    )+};
}
bessel! { J0Fn J1Fn Y0Fn Y1Fn SphericalJ0Fn }

impl Tuning for AiryAiFn {
    const PARTIAL: bool = true;
    const RARE: bool = true;
}
impl<V: Real + Root + Exponential + Trigonometric> FastPaths<V> for AiryAiFn {
    #[inline(always)]
    fn eval_partial([x]: [V; 1], (): ()) -> (V, V::Mask) {
        let is_near = x.ge(V::zero()) | AiryAiFn::angle(x).is_near();
        (AiryAiFn::with_waves(x, waves_near), is_near)
    }
}
