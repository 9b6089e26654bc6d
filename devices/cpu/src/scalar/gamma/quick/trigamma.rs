//! The second derivative of the gamma function's logarithm of most numbers, without branches: NaN of those that
//! `../digamma.rs` has to compute (zero, what is not finite, negative integers).
//!
//! * From 3 on the asymptotic formula (M. Abramowitz, I. A. Stegun, *Handbook of Mathematical Functions*, 1964,
//!   6.4.12), its series replaced by a polynomial of 1 / x², fitted from 3 on.
//! * Up to there one of two polynomials. What is below 1 is moved up by one (6.4.6).
//! * Below zero by reflection (6.4.7).
//!
//! Polynomials are Chebyshev interpolations: of relative errors below 2⁻⁵⁷ and, for float32, 2⁻³².

use super::PLAIN_F64;
use super::parts::{Parts, ending, horner_of, inverse_parts, quotient, sine_ratio_parts, sine_ratio_short, times};
use crate::scalar::horner::horner;
use crate::scalar::pair::sum_f64;
use std::f64::consts::PI;

/// From here on the asymptotic formula.
const FAR: f64 = 3.0;
/// Below, an argument is moved up.
const LOW: f64 = 1.0;

/// How far a number below [`FAR`], or the next one, is from a polynomial's middle, and whether it is the second.
#[inline(always)]
fn off_middle(a: f64) -> (f64, bool) {
    let lacks = if a < LOW { 1.0 } else { 0.0 };
    let second = a + lacks >= 1.75;
    (a - (if second { 2.375 } else { 1.375 } - lacks), second)
}

/// Of a positive number; of one below [`LOW`] that of the next one.
#[inline(always)]
fn magnitude(a: f64, inverse: Parts) -> Parts {
    let (x, second) = off_middle(a);
    let rest = horner_of! { second, x;
    [0.029_571_380_794_095_777, 1.719_976_993_506_982_4e-7],
    [-0.038_797_952_349_848_87, -3.897_866_539_847_184e-7],
    [0.028_954_083_849_931_627, 5.286_249_276_710_751e-7],
    [-0.037_665_769_376_425_48, -1.188_561_006_062_023_3e-6],
    [0.055_747_765_166_738_4, 2.974_241_246_870_962_2e-6],
    [-0.072_162_151_930_264_73, -6.654_457_966_082_983e-6],
    [0.091_826_683_973_413_7, 1.468_293_426_356_594_2e-5],
    [-0.117_855_516_059_266_38, -3.259_772_232_941_346e-5], [0.150_635_827_195_711_28, 7.209_595_777_061_88e-5],
    [-0.191_258_931_677_620_76, -0.000_158_566_952_367_98],
    [0.241_204_163_365_901_84, 0.000_346_812_017_851_614_2],
    [-0.301_825_521_347_437_7, -0.000_753_846_920_692_548_7],
    [0.374_203_741_517_918_85, 0.001_627_176_404_521_899_6],
    [-0.458_856_069_196_466_04, -0.003_484_711_300_834_050_5],
    [0.555_265_508_553_797_6, 0.007_396_852_799_655_76], [-0.661_247_142_602_762_7, -0.015_544_798_331_916_876],
    [0.772_169_228_648_286_5, 0.032_301_959_047_671_01], [-0.880_130_488_562_147, -0.066_276_492_001_365_14],
    [0.973_343_826_973_443_5, 0.134_056_893_020_845_6] };
    let c1 = if second {
        (-0.266_846_214_985_002_33, -1.090_312_692_799_727e-17)
    } else {
        (-1.036_192_571_108_216_7, -9.307_410_875_130_997e-18)
    };
    let c0 = if second {
        (0.521_740_901_815_686, 1.963_929_482_791_549_6e-18)
    } else {
        (1.050_666_521_650_396_8, -1.271_670_555_357_415_6e-17)
    };
    let near = ending(x, c0, c1, rest);

    let z = inverse.0 * inverse.0;
    let series = horner!(f64::mul_add, z; -14_074.060_850_362_162, 12_453.772_497_757_57, -5_159.302_656_872_705,
        1_355.617_460_055_766, -262.681_639_807_984_8, 42.586_552_301_671_425, -6.639_068_782_706_134,
        1.154_297_503_748_716_4, -0.252_873_998_146_597_33, 0.075_754_477_869_306_59, -0.033_333_308_801_446_96,
        0.023_809_523_706_389_883, -0.033_333_333_333_160_034, 0.166_666_666_666_666_63);
    let far = (inverse.0, 0.5f64.mul_add(z, (inverse.0 * z).mul_add(series, inverse.1)));
    if a < FAR { near } else { far }
}

/// Of a positive number, from [`magnitude`].
#[inline(always)]
fn above(a: f64, inverse: Parts, (head, tail): Parts) -> f64 {
    let square = times(inverse, inverse);
    let more = if a < LOW { square } else { (0.0, 0.0) };
    let (head, rest) = sum_f64(head, more.0);
    let value = head + (rest + (tail + more.1));
    // Nothing over- or underflows on the way.
    if PLAIN_F64.contains(&a) { value } else { f64::NAN }
}

/// Of any number.
#[inline(always)]
pub(in crate::scalar::gamma) fn trigamma_quick_f64(x: f64) -> f64 {
    const PI_PARTS: Parts = (PI, 1.224_646_799_147_353_2e-16);
    let a = x.abs();
    let inverse = inverse_parts(a);
    let mirror = magnitude(a, inverse);
    let less = if a < LOW { (0.0, 0.0) } else { times(inverse, inverse) };
    let off = a - a.round_ties_even();
    let root = quotient(PI_PARTS, times(sine_ratio_parts(off), (off, 0.0)));
    let square = times(root, root);
    let (head, low) = sum_f64(mirror.0, -less.0);
    let (value, rest) = sum_f64(square.0, -head);
    let value = value + (rest + (square.1 - (low + (mirror.1 - less.1))));
    let below = if a >= PLAIN_F64.start && off != 0.0 { value } else { f64::NAN };
    if x > 0.0 { above(a, inverse, mirror) } else { below }
}

/// As [`magnitude`], for a float32.
#[inline(always)]
fn magnitude_short(a: f64, inverse: f64) -> f64 {
    let (x, second) = off_middle(a);
    let near = horner_of! { second, x;
    [-0.250_068_924_361_143_7, -0.000_203_184_202_976_443_24],
    [0.316_437_280_798_486_2, 0.000_445_570_506_287_756_2],
    [-0.292_027_844_939_541_5, -0.000_733_275_312_722_775_3],
    [0.361_665_215_644_069_17, 0.001_581_627_052_646_29],
    [-0.459_587_922_660_839_5, -0.003_488_972_413_216_928_5],
    [0.556_202_278_199_501_2, 0.007_406_289_264_446_984], [-0.661_222_714_962_127_3, -0.015_544_403_612_461_656],
    [0.772_137_958_019_930_3, 0.032_301_084_841_105_77], [-0.880_130_784_803_754_2, -0.066_276_505_292_516_34],
    [0.973_344_206_221_95, 0.134_056_922_458_777_96], [-1.036_192_570_528_938_8, -0.266_846_214_912_814_35],
    [1.050_666_520_908_797_3, 0.521_740_901_655_798_9] };
    let z = inverse * inverse;
    let series = horner!(f64::mul_add, z; -0.083_110_920_953_016_27, 0.060_231_312_839_156_43,
        -0.032_559_712_704_583_13, 0.023_790_811_589_677_042, -0.033_333_161_292_450_41, 0.166_666_666_402_993_96);
    let far = inverse + 0.5f64.mul_add(z, inverse * z * series);
    if a < FAR { near } else { far }
}

/// Of a positive float32, from [`magnitude_short`].
#[inline(always)]
fn above_short(a: f64, inverse: f64, value: f64) -> f32 {
    let value = value + if a < LOW { inverse * inverse } else { 0.0 };
    if a > 0.0 && a < f64::INFINITY { value as f32 } else { f32::NAN }
}

/// Of any number.
#[inline(always)]
pub(in crate::scalar::gamma) fn trigamma_quick_f32(x: f32) -> f32 {
    let a = f64::from(x.abs());
    let inverse = 1.0 / a;
    let mirror = magnitude_short(a, inverse);
    let off = a - a.round_ties_even();
    let root = PI / (off * sine_ratio_short(off));
    let less = mirror - if a < LOW { 0.0 } else { inverse * inverse };
    let below = if off != 0.0 { root.mul_add(root, -less) as f32 } else { f32::NAN };
    if x > 0.0 { above_short(a, inverse, mirror) } else { below }
}
