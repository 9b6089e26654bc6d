//! gelu, and its approximation by a logistic function: branch-free, vectorised from scalar source.
//!
//! gelu x = max(x, 0) − |x|·Q(|x|), where Q(a), the probability that a normal variable exceeds a, falls as fast as
//! e^(−a²/2): 1 + erf would cancel on the negative side. Q(a) = e^(−a²/2)·h(t) / (a + 4), with h a polynomial of
//! t = (a − 4) / (a + 4), which takes the half line to [−1, 1) (the transformation of M. M. Shepherd, J. G.
//! Laframboise, *Chebyshev approximation of (1 + 2x) exp(x²) erfc x in 0 ≤ x < ∞*, Mathematics of Computation 36,
//! 1981). float32 takes q = a / (a + p) instead, which is one rounding and of which h / (a + p) is a multiple too:
//! a·Q(a) = e^(−a²/2)·q·h(q). In the exponential a² is not rounded, or its rounding goes along as a tail, else the
//! result would be off by a²/2 units.

use super::exp::{exp_lite_f64, exp_parts_f64, power_f64};
use super::pair::{fast_sum_f64, product_f64, rest_f64, sum_f64};
use crate::isa::Isa;

/// `x` times the probability that a normal variable is below `x`.
#[inline(always)]
pub(super) fn gelu_f32<I: Isa>(x: f32) -> f32 {
    if !I::FMA {
        return gelu_f64::<I>(x.into()) as f32;
    }
    /// With this p a polynomial of degree 8 is good to 2⁻²⁶; with 4 it is good to 2⁻²⁴.
    const POLE: f32 = 243.0 / 64.0;
    /// Where h is expanded: exact beside quotients near it, and h there is nearly a float32.
    const CENTRE: f32 = 29.0 / 64.0;
    /// Its last place is one; its low bits keep 2ⁿ normal.
    const SHIFT: f32 = 12_582_912.0 + 40.0;
    // Beyond, the subtrahend is 0. NaN passes.
    let a = x.abs();
    let a = if a > 15.0 { 15.0 } else { a };
    let q = a / (a + POLE);
    let b = q - CENTRE;
    let h = 0.118_162_07f32;
    let h = h.mul_add(b, 4.827_042_7e-2);
    let h = h.mul_add(b, -0.292_871_53);
    let h = h.mul_add(b, 7.340_719e-2);
    let h = h.mul_add(b, 0.657_930_8);
    let h = h.mul_add(b, -1.389_480_1);
    let h = h.mul_add(b, 1.625_060_2);
    let h = h.mul_add(b, -1.327_645_5);
    let h = h.mul_add(b, 0.810_094_54);
    // e^(−a²/2) = 2ⁿ·e^(−r/2), the reduction doubled and negated, so that no factor of a² is left: r = a² + 2n·ln 2.
    // The first product is exact, so that a² is not rounded before most of it is gone.
    let shifted = (a * a).mul_add(-0.5 * std::f32::consts::LOG2_E, SHIFT);
    let n = shifted - SHIFT;
    let r = n.mul_add(-4.243_888_8e-4, a.mul_add(a, n * 1.386_718_8));
    let u = -2.590_739_5e-4f32;
    let u = u.mul_add(r, 2.618_635_5e-3);
    let u = u.mul_add(r, -2.083_454_7e-2);
    let u = u.mul_add(r, 0.124_997_87);
    let u = u.mul_add(r, -0.499_999_85);
    let e = u.mul_add(r, 1.0);
    // Minus infinity gives NaN, as in PyTorch.
    let positive = if x < 0.0 { x * 0.0 } else { x };
    // 2ⁿ in two factors, of which the first is added to the exponent and the second goes into the difference. What is
    // known last is multiplied last.
    let power = f32::from_bits(e.to_bits().wrapping_add(shifted.to_bits() << 23));
    (q * power * h).mul_add(-f32::from_bits((127 - 40) << 23), positive)
}

/// `x` times the probability that a normal variable is below `x`.
#[inline(always)]
pub(super) fn gelu_f64<I: Isa>(x: f64) -> f64 {
    let fma = |a: f64, b: f64, c: f64| if I::FMA { a.mul_add(b, c) } else { a * b + c };
    // Beyond, the subtrahend is 0. NaN passes.
    let a = x.abs();
    let a = if a > 39.0 { 39.0 } else { a };
    let (square, low) = product_f64::<I>(a, a);
    let inverse = 1.0 / (a + 4.0);
    let t = (a - 4.0) * inverse;
    let h = -1.187_393_853_741_426_2e-9;
    let h = fma(h, t, -3.189_391_690_931_768_5e-10);
    let h = fma(h, t, 1.459_996_057_920_467_8e-8);
    let h = fma(h, t, 1.600_307_800_853_606e-8);
    let h = fma(h, t, -7.720_387_580_744_427e-8);
    let h = fma(h, t, -1.564_987_357_742_494_1e-7);
    let h = fma(h, t, 2.641_706_366_979_719e-7);
    let h = fma(h, t, 1.021_783_359_188_476e-6);
    let h = fma(h, t, -6.252_500_779_543_541e-7);
    let h = fma(h, t, -5.919_975_335_070_572e-6);
    let h = fma(h, t, 7.149_879_946_889_198e-7);
    let h = fma(h, t, 3.514_455_856_805_174_4e-5);
    let h = fma(h, t, -1.907_847_973_491_502_3e-6);
    let h = fma(h, t, -0.000_231_094_901_546_409_24);
    let h = fma(h, t, 0.000_133_344_249_266_171_9);
    let h = fma(h, t, 0.001_630_818_453_021_795_4);
    let h = fma(h, t, -0.003_479_692_361_683_539);
    let h = fma(h, t, -0.007_540_188_966_418_019);
    let h = fma(h, t, 0.060_396_574_890_670_2);
    let h = fma(h, t, -0.186_521_857_959_665_94);
    let h = fma(h, t, 0.387_137_400_742_219_4);
    let h = fma(h, t, -0.607_896_641_971_892_1);
    let h = fma(h, t, 0.755_285_130_415_751_5);
    let factor = a * inverse * h;
    let product = if I::FMA {
        // 2ⁿ in two factors, as n is not positive; the bits of `shifted` above n drop out.
        let (shifted, s) = exp_lite_f64(-0.5 * square, -0.5 * low);
        let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add((1023 + 74) << 52));
        factor.mul_add(s, factor) * power * f64::from_bits((1023 - 74) << 52)
    } else {
        let (n, head, tail) = exp_parts_f64::<I>(-0.5 * square, -0.5 * low);
        let first = n >> 1;
        fma(factor, head + tail, factor) * (power_f64(first) * power_f64(n.wrapping_sub(first)))
    };
    // Minus infinity gives NaN, as in PyTorch.
    let positive = if x < 0.0 { x * 0.0 } else { x };
    positive - product
}

/// √(8/π), and what float64 lacks of it.
const SLOPE: (f64, f64) = (1.595_769_121_605_730_8, -9.969_308_809_110_92e-17);

/// x·sigmoid(√(8/π)·(x + 0.044715·x³)), the approximation of gelu.
#[inline(always)]
pub(super) fn gelu_tanh_f64<I: Isa>(x: f64) -> f64 {
    /// The factor of the cube, and what float64 lacks of it.
    const CUBIC: (f64, f64) = (0.044_715, 2.196_021_142_708_559_5e-18);
    // Beyond, the result is 0 or x.
    let a = x.abs();
    let a = if a > 30.0 { 30.0 } else { a };
    // The argument as a head and a tail: its rounding would be multiplied by its size.
    let (square, square_low) = product_f64::<I>(a, a);
    let (scaled, scaled_low) = product_f64::<I>(CUBIC.0, square);
    let (head, low) = sum_f64(1.0, scaled);
    let low = low + (scaled_low + (CUBIC.0 * square_low + CUBIC.1 * square));
    let (slope, slope_low) = product_f64::<I>(SLOPE.0, a);
    let (t, t_low) = product_f64::<I>(slope, head);
    let t_low = t_low + (slope * low + (slope_low + SLOPE.1 * a) * head);
    let t_low = if t > 760.0 { 0.0 } else { t_low };
    let t = if t > 760.0 { 760.0 } else { t };
    let (n, p, q) = exp_parts_f64::<I>(-t, -t_low);
    let (head, low) = fast_sum_f64(1.0, p);
    let (head, tail) = fast_sum_f64(head, low + q);
    // e^-t is nothing beside 1 where it is subnormal.
    let scale = power_f64(if n < -1022 { -1022 } else { n });
    let (below, below_low) = fast_sum_f64(1.0, scale * head);
    let below_low = below_low + scale * tail;
    // x / (1 + e^-t), or x·e^-t / (1 + e^-t).
    let negative = x < 0.0;
    let (above, above_low) = if negative { (head, tail) } else { (1.0, 0.0) };
    let inverse = 1.0 / below;
    let quotient = above * inverse;
    let rest = rest_f64::<I>(above, quotient, below) + (above_low - quotient * below_low);
    let (result, result_low) = product_f64::<I>(quotient, a);
    let result = result + (result_low + rest * inverse * a);
    let n = if negative { n } else { 0 };
    let first = n >> 1;
    let result = (result * power_f64(first) * power_f64(n.wrapping_sub(first))).copysign(x);
    // Minus infinity gives NaN, as in PyTorch.
    let large = if negative { x * 0.0 } else { x };
    if x.abs() > 30.0 { large } else { result }
}

/// The same in float64, whose roundings are nothing beside those of float32, so that none has a tail.
#[inline(always)]
pub(super) fn gelu_tanh_f32<I: Isa>(x: f32) -> f32 {
    if !I::FMA {
        return gelu_tanh_f64::<I>(x.into()) as f32;
    }
    /// Its last place is one; its low bits are the bias of 2ⁿ.
    const SHIFT: f64 = 6_755_399_441_055_744.0 + 1023.0;
    // Beyond, the result is 0 or x.
    let a = f64::from(x.abs());
    let a = if a > 12.0 { 12.0 } else { a };
    let t = -SLOPE.0 * a * (0.044_715 * a).mul_add(a, 1.0);
    let shifted = t.mul_add(std::f64::consts::LOG2_E, SHIFT);
    let r = (shifted - SHIFT).mul_add(-std::f64::consts::LN_2, t);
    // The series of the exponential: for |r| up to ln 2 / 2 the first term that is left out is 2⁻³².
    let e = 1.0 / 40_320.0f64;
    let e = e.mul_add(r, 1.0 / 5040.0);
    let e = e.mul_add(r, 1.0 / 720.0);
    let e = e.mul_add(r, 1.0 / 120.0);
    let e = e.mul_add(r, 1.0 / 24.0);
    let e = e.mul_add(r, 1.0 / 6.0);
    let e = e.mul_add(r, 0.5);
    let e = e.mul_add(r, 1.0).mul_add(r, 1.0);
    let e = e * f64::from_bits(shifted.to_bits() << 52);
    // x / (1 + e^-t), or x·e^-t / (1 + e^-t).
    let above = if x < 0.0 { -a * e } else { a };
    let result = (above / (1.0 + e)) as f32;
    // Minus infinity gives NaN, as in PyTorch; zeros keep their sign.
    let large = if x < 0.0 { x * 0.0 } else { x };
    if x.abs() > 12.0 || x == 0.0 { large } else { result }
}
