//! The hyperbolic tangent and the logistic function: branch-free, within 1 ULP, vectorised from scalar source.
//!
//! Both are quotients of e^t ∓ 1 or so, taken from the parts of the exponential, 2ⁿ·(1 + head + tail), before anything
//! is rounded away:
//!
//! * tanh |x| = (e^t − 1) / (e^t + 1) with t = 2|x|. The numerator is (2ⁿ − 1) + 2ⁿ·(head + tail), exact in its first
//!   term, so small arguments need no series of their own.
//! * sigmoid x = 1 / (1 + e^-x), whose e^-x needs no more of a tail than what adding 1 rounds away.
//!
//! Numerator and denominator are heads with tails; the quotient of the heads is corrected by what it leaves, with the
//! same reciprocal. Without a fused product float32 is computed in float64, and products are split. tanh of float32, of
//! which every argument can be checked, goes a shorter way.

use super::exp::{exp_near_f32, exp_near_f64, exp_parts_f64, power_f32, power_f64};
use super::pair::{fast_sum_f64, rest_f64};
use crate::isa::Isa;

/// The hyperbolic tangent of `x`: an odd polynomial (minimax, error below 2⁻²⁷) up to 1, then
/// 1 − 2 / (e^2|x| + 1), whose error shrinks with what it subtracts.
#[inline(always)]
pub(super) fn tanh_f32<I: Isa>(x: f32) -> f32 {
    if !I::FMA {
        return tanh_f64::<I>(x.into()) as f32;
    }
    let z = x * x;
    let p = -3.584_067_7e-4f32;
    let p = p.mul_add(z, 2.301_254e-3);
    let p = p.mul_add(z, -7.946_037e-3);
    let p = p.mul_add(z, 0.021_486_683);
    let p = p.mul_add(z, -0.053_879_846);
    let p = p.mul_add(z, 0.133_323_46);
    let p = p.mul_add(z, -0.333_332_96);
    let small = (p * z).mul_add(x, x);

    /// Its last place is one; its low bits are the bias of 2ⁿ.
    const SHIFT: f32 = 12_582_912.0 + 127.0;
    // Beyond, the result is 1. NaN passes.
    let a = x.abs();
    let a = if a > 10.0 { 10.0 } else { a };
    // e^2a = 2ⁿ·e^2r; the polynomial of the exponential with its argument doubled.
    let shifted = a.mul_add(2.0 * std::f32::consts::LOG2_E, SHIFT);
    let n = shifted - SHIFT;
    let r = n.mul_add(0.5 * 2.121_944_4e-4, n.mul_add(-0.5 * 0.693_359_4, a));
    let u = 64.0 * 1.382_324_1e-3f32;
    let u = u.mul_add(r, 32.0 * 8.368_827e-3);
    let u = u.mul_add(r, 16.0 * 4.166_824e-2);
    let u = u.mul_add(r, 8.0 * 1.666_652e-1);
    let u = u.mul_add(r, 4.0 * 4.999_999_4e-1);
    let e = u.mul_add(r, 2.0).mul_add(r, 1.0);
    let below = e.mul_add(f32::from_bits(shifted.to_bits() << 23), 1.0);
    let large = (1.0 - 2.0 / below).copysign(x);
    if a < 1.0 { small } else { large }
}

/// The hyperbolic tangent of `x`.
#[inline(always)]
pub(super) fn tanh_f64<I: Isa>(x: f64) -> f64 {
    // Beyond, the result is 1. NaN passes.
    let t = 2.0 * x.abs();
    let t = if t > 80.0 { 80.0 } else { t };
    let (n, p, q) = exp_parts_f64::<I>(t, -0.0);
    let (head, tail) = fast_sum_f64(p, q);
    let scale = power_f64(n);
    let (head, tail) = (scale * head, scale * tail);
    // 2ⁿ − 1 is 0, or not below the head.
    let (minus, minus_low) = fast_sum_f64(scale, -1.0);
    let (above, above_low) = fast_sum_f64(minus, head);
    let (plus, plus_low) = fast_sum_f64(scale, 1.0);
    let (below, below_low) = fast_sum_f64(plus, head);
    let (above_low, below_low) = (above_low + (minus_low + tail), below_low + (plus_low + tail));
    let inverse = 1.0 / below;
    let quotient = above * inverse;
    let rest = rest_f64::<I>(above, quotient, below) + (above_low - quotient * below_low);
    (quotient + rest * inverse).copysign(x)
}

macro_rules! logistic {
    ($name:ident: $float:ident, $near:ident, $power:ident, bias $bias:literal, mantissa $mantissa:literal;
        vanishes $vanishes:literal, one from $one:literal, lower by $fall:literal) => {
        /// 1 / (1 + e^-x).
        #[inline(always)]
        pub(super) fn $name<I: Isa>(x: $float) -> $float {
            if !I::FMA {
                return sigmoid_split::<I>(x.into()) as $float;
            }
            // Beyond, the result is 0 or 1. NaN passes.
            let x = if x > $one { $one } else { x };
            let x = if x < $vanishes { $vanishes } else { x };
            // Both terms of the sum are so small that none overflows, and the quotient so large that it is normal.
            let one = $power(-$fall);
            let (shifted, r, u) = $near(-1.0, x, -0.0, ($bias - $fall) as $float);
            let scale = $float::from_bits(shifted.to_bits() << $mantissa);
            let (large, small) = if scale > one { (scale, one) } else { (one, scale) };
            // 1 + 2ⁿ + 2ⁿ·(e^r − 1), and what it lacks: the first difference is exact.
            let p = u.mul_add(r * r, r);
            let below = scale.mul_add(p, scale + one);
            let below_low = scale.mul_add(p, small - (below - large));
            let inverse = 1.0 / below;
            let rest = (-inverse).mul_add(below_low, (-inverse).mul_add(below, 1.0));
            inverse.mul_add(rest, inverse) * one
        }
    };
}
logistic! {
    sigmoid_f32: f32, exp_near_f32, power_f32, bias 127, mantissa 23;
    vanishes -104.0, one from 20.0, lower by 40
}
logistic! {
    sigmoid_f64: f64, exp_near_f64, power_f64, bias 1023, mantissa 52;
    vanishes -746.0, one from 40.0, lower by 100
}

/// The logistic function without fused products: e^t / (1 + e^t) for negative x, 1 / (1 + e^t) for others, with t =
/// −|x|.
#[inline(always)]
fn sigmoid_split<I: Isa>(x: f64) -> f64 {
    let t = -x.abs();
    let t = if t < -746.0 { -746.0 } else { t };
    let (n, p, q) = exp_parts_f64::<I>(t, -0.0);
    let (sum, rest) = fast_sum_f64(1.0, p);
    let (head, low) = fast_sum_f64(sum, rest + q);
    // A quotient that is not normal is rounded once, at the end.
    let far = t < -707.5;
    let scale = power_f64(if far { n.wrapping_add(128) } else { n });
    let (above, above_low) = (scale * head, scale * low);
    // Where it was raised, it is still nothing beside 1.
    let (below, below_low) = fast_sum_f64(1.0, above);
    let below_low = below_low + above_low;
    let negative = x < 0.0;
    let (above, above_low) = if negative { (above, above_low) } else { (1.0, 0.0) };
    let inverse = 1.0 / below;
    let quotient = above * inverse;
    let rest = rest_f64::<I>(above, quotient, below) + above_low;
    let result = quotient + rest_f64::<I>(rest, quotient, below_low) * inverse;
    if far & negative { result * power_f64(-128) } else { result }
}
