//! Powers of real floats, within 1 ULP.
//!
//! `|x|^y = e^(y·log |x|)`. float32 computes it in float64, where the logarithm's error, multiplied by an exponent of
//! at most 2⁷, stays below the last place of the result. float64 takes the logarithm as a head and a tail, good to 2⁻⁹⁰
//! or so: log m = 2·artanh s with s = (m − 1) / (m + 1), s and the first terms of the series being pairs. Then C99's
//! Annex F: what is negative, zero, infinite or NaN.

use super::exp::{exp_parts_f64, power_f64};
use super::horner::paired;
use super::log::reduced_f64;
use super::pair::{fast_sum_f64, product_f64, rest_f64, sum_f64};
use super::short::{exp_short, log_short};
use crate::isa::Isa;

/// Where `y` lies among the integers: whether it is one, and whether it is odd. Infinities are even.
macro_rules! parity {
    ($y:expr) => {{
        let y = $y;
        let half = 0.5 * y;
        (y.trunc() == y, (y.trunc() == y) & (half.trunc() != half))
    }};
}

/// The power, from that of the magnitude.
macro_rules! signed {
    ($x:expr, $y:expr, $magnitude:expr, $float:ident) => {{
        let (x, y, magnitude): ($float, $float, $float) = ($x, $y, $magnitude);
        let (integral, odd) = parity!(y);
        // No real power: negative and finite, to what is not integral.
        let magnitude = if (x < 0.0) & (x > $float::NEG_INFINITY) & !integral { $float::NAN } else { magnitude };
        let result = if odd { magnitude.copysign(x) } else { magnitude };
        let one = (y == 0.0) | (x == 1.0) | ((x == -1.0) & y.is_infinite());
        // copysign may have signed a NaN, which is as good a NaN.
        if one { 1.0 } else { result }
    }};
}

/// `x` to the power of `y`.
#[inline(always)]
pub(super) fn pow_f32<I: Isa>(x: f32, y: f32) -> f32 {
    let magnitude = exp_short::<I>(f64::from(y) * log_short::<I>(f64::from(x.abs()))) as f32;
    signed!(x, y, magnitude, f32)
}

/// `x` to the power of `y`.
#[inline(always)]
pub(super) fn pow_f64<I: Isa>(x: f64, y: f64) -> f64 {
    let (head, tail) = log_pair::<I>(x.abs());
    let (product, low) = product_f64::<I>(y, head);
    let low = low + y * tail;
    // Beyond, the result is 0 or infinity. NaN passes.
    let outside = product.abs() >= 800.0;
    let low = if outside { 0.0 } else { low };
    let product = if product > 800.0 { 800.0 } else { product };
    let product = if product < -800.0 { -800.0 } else { product };
    let (n, p, q) = exp_parts_f64::<I>(product, low);
    let (sum, rest) = fast_sum_f64(1.0, p);
    let first = n >> 1;
    let magnitude = (sum + (rest + q)) * power_f64(first) * power_f64(n.wrapping_sub(first));
    signed!(x, y, magnitude, f64)
}

/// log x as a head and a tail, for x not negative. Infinite or NaN heads have a tail of 0.
#[inline(always)]
fn log_pair<I: Isa>(x: f64) -> (f64, f64) {
    /// 41 digits, so that products with k are exact; and the rest.
    const LN2_HIGH: f64 = 0.693_147_180_559_662_956_511_601_805_686_950_683_593_75;
    const LN2_LOW: f64 = 2.823_529_056_303_157_7e-13;
    /// What float64 lacks of a third.
    const THIRD: (f64, f64) = (1.0 / 3.0, 1.850_371_707_708_594e-17);
    let fma = |a: f64, b: f64, c: f64| if I::FMA { a.mul_add(b, c) } else { a * b + c };

    let (f, k) = reduced_f64(x);
    // s = f / (2 + f)
    let (below, below_low) = fast_sum_f64(2.0, f);
    let inverse = 1.0 / below;
    let s = f * inverse;
    let s_low = (rest_f64::<I>(f, s, below) - s * below_low) * inverse;
    // z = s²
    let (z, z_low) = product_f64::<I>(s, s);
    let z_low = z_low + 2.0 * s * s_low;
    // u = artanh s / s³ - 1 / s² = 1/3 + z/5 + z²/7 + …
    let r = paired!(fma, z, z * z; 0.058_620_655_880_145_7, 0.058_530_686_401_903_55, 0.066_674_043_701_579_92,
        0.076_922_974_402_831_5, 0.090_909_091_681_223_33, 0.111_111_111_108_258_34, 0.142_857_142_857_146_87, 0.2);
    let (u, u_low) = fast_sum_f64(THIRD.0, z * r);
    let u_low = u_low + THIRD.1;
    // v = z·u
    let (v, v_low) = product_f64::<I>(z, u);
    let v_low = v_low + (z * u_low + z_low * u);
    // artanh s = s + s·v
    let (w, w_low) = product_f64::<I>(s, v);
    let w_low = w_low + (s * v_low + s_low * v);
    let (half, half_low) = fast_sum_f64(s, w);
    let half_low = half_low + (s_low + w_low);
    // k·ln 2 + 2·artanh s
    let (sum, sum_low) = fast_sum_f64(k * LN2_HIGH, 2.0 * half);
    let sum_low = sum_low + fma(k, LN2_LOW, 2.0 * half_low);
    let (head, tail) = sum_f64(sum, sum_low);
    let ordinary = (x > 0.0) & (x < f64::INFINITY);
    let special = if x == 0.0 { f64::NEG_INFINITY } else { x };
    if ordinary { (head, tail) } else { (special, 0.0) }
}
