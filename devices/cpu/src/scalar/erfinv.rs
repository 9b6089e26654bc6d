//! The inverse of the error function: branch-free, within 1 ULP, vectorised from scalar source.
//!
//! A first value comes from w = −log(1 − x²) (M. Giles, *Approximating the erfinv function*, GPU Computing Gems 2,
//! 2010): x times a polynomial of w, or of √w where w is large; the polynomials are interpolated anew. Good to 2⁻³² it
//! is a float32's result. For float64 it is good to 2⁻¹⁷, at the tails to 2⁻²¹, and one step of Halley's triples its
//! digits: what erf is off by is taken where nothing cancels, from erf's polynomial below ¾ (`erf.rs`), and beyond from
//! the complement times e^(y²), of which less and less counts; where it starts, what is rounded away is put back.

use super::erf::{ERF_P0, erf_slope_f64};
use super::exp::{exp_lite_f64, exp_parts_f64, power_f64};
use super::horner::{fma_f64, paired};
use super::log::reduced_normal;
use super::pair::{fast_sum_f64, product_f64, rest_f64, sum_f64};
use super::short::log_short;
use crate::isa::Isa;

/// The inverse of the error function.
#[inline(always)]
pub(super) fn erfinv_f64<I: Isa>(x: f64) -> f64 {
    /// From here on −log(1 − x²) is large: both polynomials are as good, for Halley's step.
    const TAIL: f64 = 8.75;
    /// With this one h(0) is nearly a float64, and what t and the last steps of h round away is small where h counts
    /// most.
    const POLE: f64 = 537.0 / 256.0;
    let fma = fma_f64::<I>;
    let a = x.abs();
    let w = -log_rough::<I>((1.0 - a) * (1.0 + a));
    let u = w - 4.375;
    let central = paired!(fma, u, u * u; -1.746_726_81e-8, 1.376_309_12e-7, 6.584_350_33e-7, -1.444_546_41e-5,
        9.235_684_71e-5, -4.513_596_68e-5, -0.007_361_365_89, 0.222_874_564, 1.943_389_35);
    let v = w.sqrt() - 4.5;
    let tail = paired!(fma, v, v * v; -1.474_122_74e-5, 2.908_529_87e-5, -1.508_574_41e-5, 0.000_116_090_552,
        -0.000_450_988_228, 0.000_343_701_177, 1.010_237_25, 4.344_752_56);
    let y = a * if w < TAIL { central } else { tail };

    // What erf y is off by, over the slope of erf but for 2/√π.
    let (square, square_low) = product_f64::<I>(y, y);
    let (slope, slope_low) = erf_slope_f64::<I>(square);
    let (product, low) = product_f64::<I>(square, slope);
    let (p, rest) = sum_f64(product, ERF_P0);
    let small = (y - a) + fma(y, p, y * (rest + fma(square_low, slope, fma(square, slope_low, low))));
    let limited = if square > 40.0 { 40.0 } else { square };
    let (power, tail) = if I::FMA {
        let (n, s) = exp_lite_f64(limited, square_low);
        (f64::from_bits((n.to_bits() << 52).wrapping_add(1.0f64.to_bits())), s)
    } else {
        let (n, head, low) = exp_parts_f64::<I>(limited, square_low);
        (power_f64(n), head + low)
    };
    // e^(y²) erfc y from 0.81 to 5.95, by the transformation of `erfc.rs`.
    let (below, below_low) = fast_sum_f64(POLE, y);
    let inverse = 1.0 / below;
    let t = (y - POLE) * inverse;
    let h = paired!(fma, t, t * t; 2.858_627_365_965_013_3e-6, 4.485_425_160_408_352e-6, -7.203_920_568_690_519e-6,
        -2.961_389_722_694_723_5e-5, -9.471_192_080_960_834e-6, 0.000_123_156_305_535_137_55,
        0.000_190_442_365_342_360_64, -0.000_435_350_301_980_844_5, -0.001_388_644_275_373_535_2,
        0.001_823_193_602_940_648_2, 0.009_313_813_378_391_374, -0.016_408_977_378_030_057, -0.060_732_014_628_398_806,
        0.316_521_659_756_616_45);
    let (slope, value) = (fma(h, t, -0.714_102_864_172_133_5), 1.029_324_438_839_222_6);
    let h = fma(slope, t, value);
    let h_low = fma(slope, t, value - h);
    // What the inverse lacks, which is known for small y, counts here and in t, together 1.4 to 0.7 times, the more the
    // more it shows.
    let lacks = 1.3 * (rest_f64::<I>(1.0, inverse, below) - inverse * below_low);
    let (rest, rest_low) = product_f64::<I>(1.0 - a, power);
    let (scaled, scaled_low) = product_f64::<I>(inverse, h);
    let low = rest_low - scaled_low - inverse * fma(lacks, h, h_low);
    // The first difference is exact, as the tail is small.
    let large = fma(rest, tail, rest - scaled) + low;
    let off = if a < 0.75 { small * fma(power, tail, power) } else { large };
    let step = off * (1.0 / std::f64::consts::FRAC_2_SQRT_PI);
    // The first terms of step / (1 + y step).
    let bend = y * step;
    let result = y - fma(step, fma(bend, bend, -bend), step);
    beyond(x, a, result)
}

/// log x for x positive and normal, to 2⁻²¹.
#[inline(always)]
fn log_rough<I: Isa>(x: f64) -> f64 {
    let fma = fma_f64::<I>;
    let (f, k) = reduced_normal(x);
    let square = f * f;
    let p = paired!(fma, f, square; 0.119_867_175, -0.187_617_39, 0.204_924_801, -0.248_977_658, 0.333_155_513,
        -0.500_014_857);
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
    let central = paired!(fma, u, u * u; -1.897_297_916_040_717e-11, 6.668_466_023_597_069e-11,
        1.049_853_777_098_533_9e-9,
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
    beyond(x, a, a * if w < 5.4 { central } else { tail }) as f32
}
