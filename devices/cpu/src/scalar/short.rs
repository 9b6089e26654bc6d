//! The exponential and the logarithm in float64 where the result is to be one of float32: half as many terms, which
//! together are off by less than a thirtieth of its last place, and no range but float32's. Reductions are those of
//! `exp.rs` and `log.rs`; the polynomials are interpolated at Chebyshev's points.

use super::exp::{exponent_f64, power_f64};
use super::horner::{fma_f64, paired};
use super::log::reduced_normal;
use crate::isa::Isa;

/// log x for x zero or positive, infinite and NaN too, and not below float64's normal numbers; relative error below
/// 2⁻³⁵.
#[inline(always)]
pub(super) fn log_short<I: Isa>(x: f64) -> f64 {
    let fma = fma_f64::<I>;
    let (f, k) = reduced_normal(x);
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
    let power = power_f64(exponent_f64(shifted));
    fma(fma(u, r * r, r), power, power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Portable;

    /// Every 9973rd positive float32.
    fn floats() -> impl Iterator<Item = f64> {
        (1..f32::INFINITY.to_bits()).step_by(9973).map(|bits| f64::from(f32::from_bits(bits)))
    }

    #[test]
    fn the_errors_are_as_stated() {
        for x in floats() {
            let (got, want) = (log_short::<Portable>(x), x.ln());
            assert!((got - want).abs() <= want.abs() * 2f64.powi(-35), "log {x}: {got}, not {want}");
        }
        for i in -104_000..=89_000 {
            let x = f64::from(i) / 1000.0;
            let (got, want) = (exp_short::<Portable>(x), x.exp());
            assert!((got - want).abs() <= want * 2f64.powi(-32), "exp {x}: {got}, not {want}");
        }
    }

    #[test]
    fn ends_are_those_of_float32() {
        assert_eq!(log_short::<Portable>(0.0), f64::NEG_INFINITY);
        assert_eq!(log_short::<Portable>(f64::INFINITY), f64::INFINITY);
        assert!(log_short::<Portable>(f64::NAN).is_nan() && exp_short::<Portable>(f64::NAN).is_nan());
        for (x, want) in
            [(f64::INFINITY, f32::INFINITY), (91.0, f32::INFINITY), (-111.0, 0.0), (f64::NEG_INFINITY, 0.0)]
        {
            assert_eq!(exp_short::<Portable>(x) as f32, want, "{x}");
        }
    }
}
