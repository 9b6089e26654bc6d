//! The inverse of the error function: branch-free, within 1 ULP (1.3 in float64), vectorised from scalar source.
//!
//! A first value comes from w = −log(1 − x²) (M. Giles, *Approximating the erfinv function*, GPU Computing Gems 2, 2010): x times
//! a polynomial of w, or of √w where w is large; the polynomials are interpolated anew. Good to 2⁻³² it is a float32's result.
//! For float64 it is good to 2⁻²⁰ at the tails, and one step of Halley's triples its digits: what erf is off by is taken where
//! nothing cancels, from erf's polynomial below ¾ (`erf.rs`), and beyond from the complement times e^(y²), of which less and less
//! counts; where it starts, what its quotient lacks is put back.

use super::erf::{ERF_P0, erf_slope_f64};
use super::exp::{exp_lite_f64, exp_parts_f64, power_f64};
use super::horner::{fma_f64, paired};
use super::log::reduced_normal;
use super::pair::{fast_sum_f64, product_f64, rest_f64, sum_f64};
use super::short::log_short;
use crate::isa::Isa;

/// −log(1 − a²) where that tells large from small arguments.
const TAIL: f64 = 5.4;

/// The inverse of the error function.
#[inline(always)]
pub(super) fn erfinv_f64<I: Isa>(x: f64) -> f64 {
    let fma = fma_f64::<I>;
    let a = x.abs();
    let w = -log_rough::<I>((1.0 - a) * (1.0 + a));
    let u = w - 2.75;
    let central = paired!(fma, u, u * u; -7.276_094_661_311_972_5e-9, 7.510_930_929_004_448e-9, 4.756_166_295_163_249e-7,
        -2.662_331_543_961_403e-6, -9.465_523_824_953_615e-6, 0.000_209_306_380_959_939_92,
        -0.001_038_601_613_615_794_8, -0.005_036_197_509_106_322, 0.244_330_262_002_261_68,
        1.562_789_644_625_318);
    let v = w.sqrt() - 4.225;
    let tail = paired!(fma, v, v * v; 9.328_840_409_281_946e-8, -3.382_299_575_986_891_3e-6, 1.485_705_615_157_058_6e-5,
        -2.019_254_168_331_986e-5, 8.706_395_177_281_998e-6, -4.748_264_263_353_064e-5,
        0.000_231_006_852_377_011_17, -0.000_645_053_662_446_810_5, 0.000_757_152_963_081_17,
        1.009_944_512_500_484, 4.066_974_421_789_691);
    let y = a * if w < TAIL { central } else { tail };

    // What erf y is off by, over the slope of erf but for 2/√π.
    let (square, square_low) = product_f64::<I>(y, y);
    let slope = erf_slope_f64::<I>(square);
    let (product, low) = product_f64::<I>(square, slope);
    let (p, rest) = sum_f64(product, ERF_P0);
    let small = (y - a) + fma(y, p, y * (rest + fma(square_low, slope, low)));
    let limited = if square > 40.0 { 40.0 } else { square };
    let (power, tail) = if I::FMA {
        let (n, s) = exp_lite_f64(limited, square_low);
        (f64::from_bits((n.to_bits() << 52).wrapping_add(1.0f64.to_bits())), s)
    } else {
        let (n, head, low) = exp_parts_f64::<I>(limited, square_low);
        (power_f64(n), head + low)
    };
    // e^(y²) erfc y from 0.81 to 5.95, by the transformation of `erfc.rs`.
    let (below, below_low) = fast_sum_f64(2.25, y);
    let inverse = 1.0 / below;
    let t = (y - 2.25) * inverse;
    let h = paired!(fma, t, t * t; -4.115_716_967_147_202_4e-07, -1.132_826_380_967_928_6e-06, 2.442_854_808_781_546_7e-07,
        5.556_193_155_131_303e-06, 6.722_571_183_176_881e-06, -1.617_935_081_899_618_7e-05,
        -5.113_014_816_620_927e-05, 2.362_878_513_360_454_5e-05, 0.000_285_716_903_637_220_8,
        8.072_946_901_385_537e-05, -0.001_635_668_373_240_365_3, -0.000_797_091_546_119_007_2,
        0.011_658_682_802_916_355, -0.003_610_910_934_921_522_7, -0.101_210_401_880_618_35, 0.371_517_473_333_030_1);
    let h = fma(fma(h, t, -0.751_959_017_590_407_1), t, 1.039_892_664_286_763_4);
    // What the inverse lacks, which is known for small y, counts here and in t, together 1.4 to 0.7 times, the more the more it shows.
    let lacks = 1.3 * (rest_f64::<I>(1.0, inverse, below) - inverse * below_low);
    let rest = (1.0 - a) * power;
    let large = fma(rest, tail, rest_f64::<I>(rest, inverse, h) - lacks * (inverse * h));
    let off = if a < 0.75 { small * fma(power, tail, power) } else { large };
    let step = off * (1.0 / std::f64::consts::FRAC_2_SQRT_PI);
    // The first terms of step / (1 + y step).
    let bend = y * step;
    let result = y - fma(step, fma(bend, bend, -bend), step);
    beyond(x, a, result)
}

/// log x for x positive and normal, to 2⁻²⁶.
#[inline(always)]
fn log_rough<I: Isa>(x: f64) -> f64 {
    let fma = fma_f64::<I>;
    let (f, k) = reduced_normal(x);
    let square = f * f;
    let p = paired!(fma, f, square; -0.076_086_566, 0.128_999_17, -0.132_458_25, 0.141_824_66, -0.166_088_01, 0.200_019_55,
        -0.250_015_97, 0.333_333_25, -0.499_999_88);
    fma(k, std::f64::consts::LN_2, fma(square, p, f))
}

/// The result with the sign of `x`; infinity of 1, NaN beyond.
#[inline(always)]
fn beyond(x: f64, a: f64, result: f64) -> f64 {
    let result = if a < 1.0 { result } else { f64::NAN };
    let result = if a == 1.0 { f64::INFINITY } else { result };
    result.copysign(x)
}

/// The inverse of the error function, computed in float64.
#[inline(always)]
pub(super) fn erfinv_f32<I: Isa>(x: f32) -> f32 {
    let fma = fma_f64::<I>;
    let x = f64::from(x);
    let a = x.abs();
    let w = -log_short::<I>((1.0 - a) * (1.0 + a));
    let u = w - 2.75;
    let central = paired!(fma, u, u * u; -1.897_297_916_040_717e-11, 6.668_466_023_597_069e-11, 1.049_853_777_098_533_9e-9,
        -8.537_143_911_712_937e-9, -7.927_832_644_397_301e-9, 4.839_689_391_154_486e-7,
        -2.569_478_464_318_028_6e-6, -9.488_147_494_446_713e-6, 0.000_209_066_876_117_126_46,
        -0.001_038_580_010_679_590_3, -0.005_035_975_914_318_458_4, 0.244_330_258_507_649_06,
        1.562_789_611_234_358_9);
    let v = w.sqrt() - 3.25;
    let tail = paired!(fma, v, v * v; 5.892_847_012_578_784e-6, 1.483_060_658_474_564_9e-6, -5.014_456_995_976_699e-5,
        8.027_977_417_634_542e-5, 2.542_774_872_988_836e-5, -0.000_361_411_607_731_770_03,
        0.000_952_940_723_726_584_4, -0.001_686_616_350_590_308_5, 0.002_491_480_284_015_327,
        -0.003_751_394_514_029_924, 0.005_370_913_337_461_753, 1.005_258_973_674_218_1,
        3.083_885_610_492_220_8);
    beyond(x, a, a * if w < TAIL { central } else { tail }) as f32
}
