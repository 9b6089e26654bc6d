//! The derivative of the gamma function's logarithm of most numbers, without branches: NaN of those that
//! `../digamma.rs` has to compute (zero, what is not finite, negative integers, and numbers next to a zero below zero).
//!
//! * From 2.5 on the asymptotic formula (M. Abramowitz, I. A. Stegun, *Handbook of Mathematical Functions*, 1964,
//!   6.3.18), its series replaced by a polynomial of 1 / x², fitted from 2.5 on.
//! * Up to there the distance from the zero 1.46 times one of two polynomials. What is below 0.9 is moved up by one
//!   (6.3.5).
//! * Below zero by reflection (6.3.7).
//!
//! Polynomials are Chebyshev interpolations: of relative errors below 2⁻⁵⁸ and, for float32, 2⁻³⁶.

use super::PLAIN_F64;
use super::parts::{
    Parts, cosine_parts, ending, horner_of, inverse_parts, log_parts, log_short, quotient, sine_ratio_parts,
    sine_ratio_short, times,
};
use crate::scalar::horner::horner;
use crate::scalar::pair::{fast_sum_f64, sum_f64};
use std::f64::consts::PI;

/// From here on the asymptotic formula.
const FAR: f64 = 2.5;
/// Below, an argument is moved up.
const LOW: f64 = 0.9;
/// The positive zero.
const ZERO: Parts = (1.461_632_144_968_362_2, 9.549_995_429_965_697e-17);

/// How much an argument lacks of what a polynomial takes, how far that is from the polynomial's middle, and whether it
/// is the second.
#[inline(always)]
fn off_middle(a: f64) -> (f64, f64, bool) {
    let lacks = if a < LOW { 1.0 } else { 0.0 };
    let second = a + lacks >= 1.6;
    (lacks, a - (if second { 2.0 } else { 1.25 } - lacks), second)
}

/// Of a positive number; of one below [`LOW`] that of the next one.
#[inline(always)]
fn magnitude(a: f64, inverse: Parts) -> Parts {
    let (lacks, x, second) = off_middle(a);
    let rest = horner_of! { second, x;
    [0.009_645_058_978_633_214, 2.513_562_254_462_834e-7],
    [-0.012_056_342_296_190_849, -7.666_673_948_933_157e-7],
    [0.008_867_491_114_652_468, 1.398_199_005_951_522_8e-6],
    [-0.011_084_446_034_646_4, -2.584_683_835_085_744e-6], [0.015_565_438_435_745_321, 5.187_341_085_360_668e-6],
    [-0.019_457_217_784_325_8, -1.045_058_093_193_277e-5], [0.024_058_731_388_340_898, 2.091_482_685_388_637e-5],
    [-0.030_075_545_162_459_06, -4.184_464_283_962_03e-5], [0.037_624_182_156_981_066, 8.377_489_637_735_482e-5],
    [-0.047_041_085_796_767_225, -0.000_167_815_433_806_571_53],
    [0.058_824_436_636_981_68, 0.000_336_433_094_527_288_9],
    [-0.073_586_286_929_624_02, -0.000_675_313_341_136_430_4],
    [0.092_109_882_502_327_05, 0.001_358_142_116_184_367_1],
    [-0.115_428_313_240_096_64, -0.002_739_572_885_187_300_6],
    [0.144_958_367_697_161_97, 0.005_552_254_176_086_753],
    [-0.182_777_349_270_350_86, -0.011_338_432_553_261_27], [0.232_266_501_530_490_05, 0.023_447_309_597_564_5],
    [-0.299_819_468_657_459_45, -0.049_551_032_917_673_904], [0.400_239_230_942_828, 0.108_999_917_017_628_4] };
    let c1 = if second {
        (-0.260_738_954_683_001_4, 1.310_814_287_399_252_3e-17)
    } else {
        (-0.579_166_481_823_541_6, -2.705_099_023_757_114_4e-17)
    };
    let c0 = if second {
        (0.785_307_538_604_105_3, -2.470_464_593_690_747_4e-17)
    } else {
        (1.074_758_909_665_014_5, 3.635_160_452_975_801_4e-17)
    };
    let (off, low) = sum_f64(a, lacks - ZERO.0);
    let near = times((off, low - ZERO.1), ending(x, c0, c1, rest));

    let z = inverse.0 * inverse.0;
    let series = horner!(f64::mul_add, z; 726.592_316_185_039_4, -958.326_104_404_722_1, 586.357_810_535_773_5,
        -223.199_619_966_191_02, 60.328_144_935_974_24, -12.733_161_408_751_57, 2.317_034_687_147_482_5,
        -0.411_423_505_083_528_4, 0.082_289_020_020_826_64, -0.021_068_167_832_644_653, 0.007_575_365_827_440_767,
        -0.004_166_662_822_086_599, 0.003_968_253_948_113_322, -0.008_333_333_333_291_002, 0.083_333_333_333_333_31);
    let log = log_parts(a, 0.0);
    let (head, tail) = fast_sum_f64(log.0, -0.5 * inverse.0);
    let far = (head, tail + (log.1 - z.mul_add(series, 0.5 * inverse.1)));
    if a < FAR { near } else { far }
}

/// Of a positive number, from [`magnitude`].
#[inline(always)]
fn above(a: f64, inverse: Parts, (head, tail): Parts) -> f64 {
    let less = if a < LOW { inverse } else { (0.0, 0.0) };
    let (head, rest) = sum_f64(head, -less.0);
    let value = head + (rest + (tail - less.1));
    // Nothing over- or underflows on the way.
    if PLAIN_F64.contains(&a) { value } else { f64::NAN }
}

/// Of a positive number.
#[inline(always)]
pub(in crate::scalar::gamma) fn digamma_above_f64(x: f64) -> f64 {
    let inverse = inverse_parts(x);
    above(x, inverse, magnitude(x, inverse))
}

/// Of any number.
#[inline(always)]
pub(in crate::scalar::gamma) fn digamma_quick_f64(x: f64) -> f64 {
    /// Where less of a result is left, its parts are not good enough.
    const LEFT: f64 = 0.05;
    const PI_PARTS: Parts = (PI, 1.224_646_799_147_353_2e-16);
    let a = x.abs();
    let inverse = inverse_parts(a);
    let mirror = magnitude(a, inverse);
    let more = if a < LOW { (0.0, 0.0) } else { inverse };
    let off = a - a.round_ties_even();
    let cotangent = quotient(times(PI_PARTS, cosine_parts(off)), times(sine_ratio_parts(off), (off, 0.0)));
    let (head, low) = sum_f64(mirror.0, more.0);
    let (value, rest) = sum_f64(head, cotangent.0);
    let value = value + (rest + (low + (mirror.1 + more.1 + cotangent.1)));
    let is_good = a >= PLAIN_F64.start && off != 0.0 && value.abs() > LEFT * (1.0 + head.abs());
    let below = if is_good { value } else { f64::NAN };
    if x > 0.0 { above(a, inverse, mirror) } else { below }
}

/// As [`magnitude`], for a float32.
#[inline(always)]
fn magnitude_short(a: f64, inverse: f64) -> f64 {
    let (lacks, x, second) = off_middle(a);
    let near = (a + (lacks - ZERO.0))
        * horner_of! { second, x;
        [0.048_921_127_170_523_535, 7.128_657_938_318_182e-5],
        [-0.061_163_158_005_458_39, -0.000_189_138_347_474_815_78],
        [0.057_003_802_512_429_994, 0.000_346_106_439_997_729_5],
        [-0.071_310_355_690_139_94, -0.000_671_427_284_312_267_9],
        [0.092_246_973_412_373_35, 0.001_356_105_616_628_306_8],
        [-0.115_599_687_139_611_55, -0.002_739_900_423_710_192],
        [0.144_953_405_034_784_63, 0.005_552_440_953_328_778],
        [-0.182_771_145_574_250_1, -0.011_338_419_519_844_187], [0.232_266_578_056_405_88, 0.023_447_301_991_461_93],
        [-0.299_819_564_320_503_33, -0.049_551_033_137_158_966], [0.400_239_230_607_086_9, 0.108_999_917_130_051_3],
        [-0.579_166_481_403_840_5, -0.260_738_954_681_902_83], [1.074_758_909_665_014_5, 0.785_307_538_603_837_6] };
    let z = inverse * inverse;
    let series = horner!(f64::mul_add, z; 0.012_776_209_298_592_07, -0.011_990_324_056_795_133,
        0.006_806_570_335_335_084, -0.004_129_027_450_828_665, 0.003_967_321_715_782_643, -0.008_333_324_345_411_737,
        0.083_333_333_318_764_64);
    let far = log_short(a) - z.mul_add(series, 0.5 * inverse);
    if a < FAR { near } else { far }
}

/// Of a positive float32, from [`magnitude_short`].
#[inline(always)]
fn above_short(a: f64, inverse: f64, value: f64) -> f32 {
    let value = value - if a < LOW { inverse } else { 0.0 };
    if a > 0.0 && a < f64::INFINITY { value as f32 } else { f32::NAN }
}

/// Of a positive number.
#[inline(always)]
pub(in crate::scalar::gamma) fn digamma_above_f32(x: f32) -> f32 {
    let x = f64::from(x);
    let inverse = 1.0 / x;
    above_short(x, inverse, magnitude_short(x, inverse))
}

/// Of any number.
#[inline(always)]
pub(in crate::scalar::gamma) fn digamma_quick_f32(x: f32) -> f32 {
    /// Where less of a result is left, its parts are not good enough.
    const LEFT: f64 = 0.003;
    let a = f64::from(x.abs());
    let inverse = 1.0 / a;
    let mirror = magnitude_short(a, inverse);
    let more = if a < LOW { 0.0 } else { inverse };
    let off = a - a.round_ties_even();
    let half = 0.5 * off * sine_ratio_short(0.5 * off);
    let cotangent = PI * (-2.0 * half).mul_add(half, 1.0) / (off * sine_ratio_short(off));
    let value = mirror + more + cotangent;
    let is_good = off != 0.0 && value.abs() > LEFT * (1.0 + mirror.abs());
    let below = if is_good { value as f32 } else { f32::NAN };
    if x > 0.0 { above_short(a, inverse, mirror) } else { below }
}
