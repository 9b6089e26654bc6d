//! The inverse of the error function: branch-free, within 1 ULP (1.3 in float64), vectorised from scalar source.
//!
//! A first value comes from w = −log(1 − x²) (M. Giles, *Approximating the erfinv function*, GPU Computing Gems 2, 2010): x times
//! a polynomial of w, or of √w where w is large; the polynomials are interpolated anew. Good to 2⁻³² it is a float32's result.
//! For float64 it is good to 2⁻²⁰ at the tails, and one step of Halley's triples its digits: what erf is off by is taken where
//! nothing cancels, from erf's polynomial below ¾, from its complement up to 2, both as `erf.rs` has them, and beyond from the
//! complement times e^(y²), of which less and less counts.

use super::erf::{ERF_P0, erf_rest_f64, erf_slope_f64};
use super::exp::{exp_parts_f64, power_f64};
use super::horner::{fma_f64, paired};
use super::log::log_f64;
use super::pair::{product_f64, sum_f64};
use super::short::log_short;
use crate::isa::Isa;

/// −log(1 − a²) where that tells large from small arguments.
const TAIL: f64 = 5.4;

/// The inverse of the error function.
#[inline(always)]
pub(super) fn erfinv_f64<I: Isa>(x: f64) -> f64 {
    let fma = fma_f64::<I>;
    let a = x.abs();
    let w = -log_f64::<I>((1.0 - a) * (1.0 + a));
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
    let (scale, s) = erf_rest_f64::<I>(if y > 2.5 { 2.5 } else { y });
    let middle = fma(-s, scale, (1.0 - a) - scale);
    let off = if a < 0.765 { small } else { middle };
    let (n, head, low) = exp_parts_f64::<I>(if square > 40.0 { 40.0 } else { square }, square_low);
    let power = power_f64(n);
    let e = fma(power, head + low, power);
    // e^(y²) erfc y from 2 to 6, by the transformation of `erfc.rs`.
    let inverse = 1.0 / (y + 3.5);
    let t = (y - 3.5) * inverse;
    let scaled = inverse
        * paired!(fma, t, t * t; 7.416_932_516_395_877e-6, 1.772_188_067_728_820_8e-5, -7.484_910_618_822_567e-5,
        -4.196_087_214_990_108_4e-5, 0.000_714_539_370_067_271, -0.001_305_360_227_199_729,
        -0.003_177_050_706_252_781, 0.026_518_620_037_039_344, -0.092_318_706_630_458_52,
        0.225_738_621_645_360_04, -0.435_256_026_716_962_1, 0.694_113_646_634_654, -0.937_799_724_567_111_8,
        1.087_055_589_262_26);
    let off = if y < 2.0 { off * e } else { fma(1.0 - a, e, -scaled) };
    let step = off * (1.0 / std::f64::consts::FRAC_2_SQRT_PI);
    let result = y - step / fma(y, step, 1.0);
    beyond(x, a, result)
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
