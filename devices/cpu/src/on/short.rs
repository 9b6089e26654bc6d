//! The exponential and the logarithm in float64 where the result is to be one of float32: half as many terms, which are off by
//! less than a hundredth of its last place, and no range but float32's. Reductions are those of `exp.rs` and `log.rs`; the
//! polynomials are interpolated at Chebyshev's points.

use super::exp::power_f64;
use super::horner::{fma_f64, paired};
use crate::isa::Isa;

/// log x for x zero or positive, infinite and NaN too, and not below float64's normal numbers; relative error below 2⁻³⁵.
#[inline(always)]
pub(super) fn log_short<I: Isa>(x: f64) -> f64 {
    /// √½: the least significand of a reduced argument.
    const LEAST: u64 = 0x3fe6_a09e_667f_3bcd;
    const ONE: u64 = 1.0f64.to_bits();
    /// 2⁵²: an integer below it in its last places is a float of that value above it.
    const SHIFT: f64 = 4_503_599_627_370_496.0;
    let fma = fma_f64::<I>;
    let bits = x.to_bits();
    let biased = bits.wrapping_sub(LEAST).wrapping_add(ONE) >> 52;
    let f = f64::from_bits(bits.wrapping_sub(biased << 52).wrapping_add(ONE)) - 1.0;
    let k = f64::from_bits(biased | SHIFT.to_bits()) - (SHIFT + 1023.0);
    // 2·artanh of s, a series in its square.
    let s = f / (2.0 + f);
    let double = s + s;
    let z = s * s;
    let r = paired!(fma, z, z * z; 0.116_652_871_645_554_55, 0.142_754_084_396_870_18, 0.200_000_609_372_533_5,
        0.333_333_332_772_273_3);
    let result = fma(k, std::f64::consts::LN_2, fma(double * z, r, double));
    let result = if x < f64::INFINITY { result } else { x };
    if x == 0.0 { f64::NEG_INFINITY } else { result }
}

/// e^x, as far as float32 tells it from zero and infinity; relative error below 2⁻³².
#[inline(always)]
pub(super) fn exp_short<I: Isa>(x: f64) -> f64 {
    /// Its last place is one, so a sum with it is rounded to an integer.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    let fma = fma_f64::<I>;
    // NaN passes.
    let x = if x < -110.0 { -110.0 } else { x };
    let x = if x > 90.0 { 90.0 } else { x };
    let shifted = fma(x, std::f64::consts::LOG2_E, SHIFT);
    let r = fma(shifted - SHIFT, -std::f64::consts::LN_2, x);
    let u = paired!(fma, r, r * r; 1.989_098_086_975_032_5e-4, 1.393_364_103_198_670_1e-3, 8.333_310_934_448_868e-3,
        4.166_646_500_604_005e-2, 0.166_666_666_816_142_56, 0.500_000_001_345_772_7);
    let power = power_f64(shifted.to_bits().wrapping_sub(SHIFT.to_bits()).cast_signed());
    fma(fma(u, r * r, r), power, power)
}
