//! The logarithm of the gamma function, within 1 ULP but next to its zeros below zero.
//!
//! * From 2.5 on Stirling's formula (M. Abramowitz, I. A. Stegun, *Handbook of Mathematical Functions*, 1964, 6.1.37),
//!   its series replaced by a polynomial of 1 / x², a Chebyshev interpolation that is good to 2⁻⁷⁴ from there on.
//! * Below, that of x + n less the logarithm of x (x + 1) … (x + n − 1) (6.1.15).
//! * Near its zeros 1 and 2, Taylor's series there, whose coefficients are those of 6.1.33.
//! * Below zero log π − log(x sin πx) − lgamma(−x), by reflection (6.1.17).
//!
//! Everything but what a float64's digits suffice for is computed in twice as many (`double.rs`): near the zeros below
//! zero all of the leading digits cancel.

use super::double::{Double, Number};
use crate::isa::Portable;
use crate::scalar::log::log_f64;
use crate::scalar::sine::sin_f64;
use std::f64::consts::PI;

/// From here on Stirling's formula is used.
const FAR: f64 = 2.5;
/// From here on all but the first terms are below a last place.
pub(super) const HUGE: f64 = 1e17;
const LOG_PI: [f64; 2] = [1.144_729_885_849_400_2, 1.026_595_116_270_782_6e-17];
const HALF_LOG_TWO_PI: [f64; 2] = [0.918_938_533_204_672_8, -3.878_294_158_067_241_4e-17];

/// Of an `x` not below [`FAR`].
fn stirling<T: Number>(x: T) -> T {
    const HEADS: [[f64; 2]; 4] = [
        [0.083_333_333_333_333_33, 4.625_708_851_045_361e-18],
        [-0.002_777_777_777_777_776_6, 2.335_617_797_612_496e-20],
        [0.000_793_650_793_649_661_4, 6.574_329_792_454_744e-21],
        [-0.000_595_238_094_815_339_6, -5.063_173_566_659_283e-20],
    ];
    const REST: [f64; 17] = [
        0.000_841_750_757_107_611_1,
        -0.001_917_516_392_542_439_5,
        0.006_409_367_503_265_794_5,
        -0.029_496_447_141_268_16,
        0.177_145_395_628_703_9,
        -1.301_933_797_108_031_8,
        10.733_057_138_927_013,
        -90.086_931_584_755_5,
        707.934_890_191_328_7,
        -4_895.271_399_775_823,
        28_477.426_061_112_63,
        -134_394.054_370_177_15,
        496_376.722_861_022_05,
        -1_372_989.110_051_721_3,
        2_664_555.406_145_852_5,
        -3_227_397.950_776_445,
        1_832_597.293_173_390_4,
    ];
    let inverse = T::from(1.0).over(x);
    let corrections = (inverse * inverse).series(&HEADS, &REST) * inverse;
    (x - 0.5.into()) * x.logarithm() - x + (T::constant(HALF_LOG_TWO_PI) + corrections)
}

/// Of 1 + δ, and of 2 + δ, for a small δ: the series over δ.
const NEAR: [([[f64; 2]; 1], [f64; 15]); 2] = [
    (
        [[-0.577_215_664_901_532_9, 4.942_915_152_430_645e-18]],
        [
            0.822_467_033_424_113_2,
            -0.400_685_634_386_531_43,
            0.270_580_808_427_784_54,
            -0.207_385_551_028_673_98,
            0.169_557_176_997_408_2,
            -0.144_049_896_768_846_1,
            0.125_509_669_524_743_04,
            -0.111_334_265_869_564_69,
            0.100_099_457_512_781_8,
            -0.090_954_017_145_829_04,
            0.083_353_840_546_109,
            -0.076_932_516_411_352_2,
            0.071_432_946_295_361_33,
            -0.066_668_705_882_420_46,
            0.062_500_955_141_213_04,
        ],
    ),
    (
        [[0.422_784_335_098_467_13, 4.942_915_152_430_645e-18]],
        [
            0.322_467_033_424_113_2,
            -0.067_352_301_053_198_1,
            0.020_580_808_427_784_546,
            -0.007_385_551_028_673_986,
            0.002_890_510_330_741_523_4,
            -0.001_192_753_911_703_261,
            0.000_509_669_524_743_042_5,
            -0.000_223_154_758_453_579_39,
            9.945_751_278_180_853e-05,
            -4.492_623_673_813_314e-05,
            2.050_721_277_567_069e-05,
            -9.439_488_275_268_397e-06,
            4.374_866_789_907_488e-06,
            -2.039_215_753_801_366e-06,
            9.551_412_130_407_42e-07,
        ],
    ),
];

/// Of a positive number that is not huge.
pub(super) fn positive<T: Number>(x: T) -> T {
    for (place, (heads, rest)) in [1.0, 2.0].into_iter().zip(&NEAR) {
        let off = x - place.into();
        if off.head().abs() < 0.0625 {
            return off * off.series(heads, rest);
        }
    }
    let (mut product, mut y) = (T::from(1.0), x);
    while y.head() < FAR {
        product = product * y;
        y = y + 1.0.into();
    }
    stirling(y) - product.logarithm()
}

/// sin πr / r of an `r` of at most ½ in magnitude.
pub(super) fn sine_ratio(r: f64) -> Double {
    const HEADS: [[f64; 2]; 5] = [
        [std::f64::consts::PI, 1.224_646_799_147_353_2e-16],
        [-5.167_712_780_049_97, 2.266_562_282_578_944_7e-16],
        [2.550_164_039_877_345_5, -7.931_006_345_326_556e-17],
        [-0.599_264_529_320_792_1, 2.845_026_112_698_218e-17],
        [0.082_145_886_611_128_23, -3.847_292_805_297_656e-18],
    ];
    const REST: [f64; 9] = [
        -0.007_370_430_945_714_350_4,
        0.000_466_302_805_767_612_55,
        -2.191_535_344_783_021_7e-05,
        7.952_054_001_475_513e-07,
        -2.294_842_899_726_987_3e-08,
        5.392_664_662_608_129e-10,
        -1.051_847_171_693_206_5e-11,
        1.730_219_245_836_110_7e-13,
        -2.432_561_179_993_389e-15,
    ];
    let r = Double::from(r);
    (r * r).series(&HEADS, &REST)
}

/// How far `x` is from the nearest integer, which is exact.
pub(super) fn off_integer(x: f64) -> f64 {
    x - x.round_ties_even()
}

/// The logarithm of the gamma function's magnitude.
#[inline(never)]
pub(super) fn lgamma_f64(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() || a == f64::INFINITY {
        return a;
    }
    if a < 1e-20 {
        return -log_f64::<Portable>(a);
    }
    if x >= HUGE {
        // The scale keeps products and their rests in range.
        let scale = f64::from_bits((1023 - 64) << 52);
        return ((Double::from(x).logarithm() - 1.0.into()) * (x * scale).into()).value() / scale;
    }
    if x > 0.0 {
        return positive(Double::from(x)).value();
    }
    let off = off_integer(a);
    if off == 0.0 {
        return f64::INFINITY;
    }
    let sine = sine_ratio(off) * off.abs().into();
    (Double::constant(LOG_PI) - (sine * a.into()).logarithm() - positive(Double::from(a))).value()
}

/// The logarithm of the gamma function's magnitude of a float32, good for one: in float64 where nothing cancels.
#[inline(never)]
pub(super) fn lgamma_f32(x: f32) -> f32 {
    let x = f64::from(x);
    let (a, off) = (x.abs(), off_integer(x));
    if !(1e-20..HUGE).contains(&a) || (x < 0.0 && off == 0.0) {
        return lgamma_f64(x) as f32;
    }
    let result = positive(a);
    if x > 0.0 {
        return result as f32;
    }
    let mirrored = LOG_PI[0] - (sin_f64::<Portable>(PI * off.abs()) * a).logarithm() - result;
    (if mirrored.abs() < 1e-6 * (1.0 + result.abs()) { lgamma_f64(x) } else { mirrored }) as f32
}
