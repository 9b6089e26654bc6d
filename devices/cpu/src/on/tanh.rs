//! The hyperbolic tangent and the logistic function: branch-free, within 1 ULP, vectorised from scalar source.
//!
//! Both are quotients of e^t ∓ 1 or so, taken from the parts of the exponential, 2ⁿ·(1 + head + tail), before anything is
//! rounded away:
//!
//! * tanh |x| = (e^t − 1) / (e^t + 1) with t = 2|x|. The numerator is (2ⁿ − 1) + 2ⁿ·(head + tail), exact in its first term,
//!   so small arguments need no series of their own.
//! * sigmoid x = e^t / (1 + e^t) for negative x, 1 / (1 + e^t) for others, with t = −|x|. The power of two is left out of the
//!   numerator until the end, so that subnormal results are rounded once.
//!
//! Numerator and denominator are heads with tails; the quotient of the heads is corrected by what it leaves, with the same
//! reciprocal. Without a fused product float32 is computed in float64, and products are split.

use super::exp::{exp_parts_f32, exp_parts_f64, power_f32, power_f64};
use super::pair::{fast_sum_f32, fast_sum_f64, rest_f32, rest_f64};
use crate::isa::Isa;

macro_rules! functions {
    ($float:ident: $tanh:ident, $sigmoid:ident, $parts:ident, $power:ident, $sum:ident, $rest:ident;
        saturates $saturates:literal, vanishes $vanishes:literal, least $least:literal $(, in $wide:ident)?) => {
        /// The hyperbolic tangent of `x`.
        #[inline(always)]
        pub(super) fn $tanh<I: Isa>(x: $float) -> $float {
            $(if !I::FMA {
                return $wide::tanh::<I>(x.into()) as $float;
            })?
            // Beyond, the result is 1. NaN passes.
            let t = 2.0 * x.abs();
            let t = if t > $saturates { $saturates } else { t };
            let (n, p, q) = $parts::<I>(t, 0.0);
            let (head, tail) = $sum(p, q);
            let scale = $power(n);
            let (head, tail) = (scale * head, scale * tail);
            // 2ⁿ − 1 is 0, or not below the head.
            let (minus, minus_low) = $sum(scale, -1.0);
            let (above, above_low) = $sum(minus, head);
            let (plus, plus_low) = $sum(scale, 1.0);
            let (below, below_low) = $sum(plus, head);
            let inverse = 1.0 / below;
            let quotient = above * inverse;
            let rest = $rest::<I>(above, quotient, below) + ((above_low + (minus_low + tail)) - quotient * (below_low + (plus_low + tail)));
            (quotient + rest * inverse).copysign(x)
        }

        /// 1 / (1 + e^-x).
        #[inline(always)]
        pub(super) fn $sigmoid<I: Isa>(x: $float) -> $float {
            $(if !I::FMA {
                return $wide::sigmoid::<I>(x.into()) as $float;
            })?
            // Beyond, the result is 0 or 1. NaN passes.
            let t = -x.abs();
            let t = if t < $vanishes { $vanishes } else { t };
            let (n, p, q) = $parts::<I>(t, 0.0);
            let (head, low) = $sum(1.0, p);
            let (head, tail) = $sum(head, low + q);
            // Where 2ⁿ is subnormal, it is nothing beside 1.
            let scale = $power(if n < $least { $least } else { n });
            let (below, below_low) = $sum(1.0, scale * head);
            let below_low = below_low + scale * tail;
            let negative = x < 0.0;
            let (above, above_low) = if negative { (head, tail) } else { (1.0, 0.0) };
            let inverse = 1.0 / below;
            let quotient = above * inverse;
            let rest = $rest::<I>(above, quotient, below) + (above_low - quotient * below_low);
            let n = if negative { n } else { 0 };
            let first = n >> 1;
            (quotient + rest * inverse) * $power(first) * $power(n.wrapping_sub(first))
        }
    };
}

/// What float32 computes in where products are not fused.
mod wide {
    use super::{Isa, sigmoid_f64, tanh_f64};

    #[inline(always)]
    pub(super) fn tanh<I: Isa>(x: f64) -> f64 {
        tanh_f64::<I>(x)
    }

    #[inline(always)]
    pub(super) fn sigmoid<I: Isa>(x: f64) -> f64 {
        sigmoid_f64::<I>(x)
    }
}

functions! {
    f32: tanh_f32, sigmoid_f32, exp_parts_f32, power_f32, fast_sum_f32, rest_f32;
    saturates 40.0, vanishes -104.0, least -126, in wide
}
functions! {
    f64: tanh_f64, sigmoid_f64, exp_parts_f64, power_f64, fast_sum_f64, rest_f64;
    saturates 80.0, vanishes -746.0, least -1022
}
