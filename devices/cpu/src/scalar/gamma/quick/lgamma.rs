//! The logarithm of the gamma function of most numbers, without branches: NaN of those that `../lgamma.rs` has to
//! compute (zero, what is not finite, negative integers, and numbers next to a zero below zero).
//!
//! * From 2.5 on Stirling's formula (M. Abramowitz, I. A. Stegun, *Handbook of Mathematical Functions*, 1964, 6.1.37),
//!   its series replaced by a polynomial of 1 / x², fitted from 2.5 on.
//! * Up to there polynomials around the zeros 1 and 2, which are factors. What is below 0.85 is moved up by one
//!   (6.1.15).
//! * Below zero by reflection (6.1.17).
//!
//! Polynomials are Chebyshev interpolations: of relative errors below 2⁻⁵⁸ and, for float32, 2⁻³⁷.

use super::PLAIN_F64;
use super::parts::{
    Parts, ending, horner_of, inverse_parts, log_parts, log_short, quotient, sine_ratio_parts, sine_ratio_short, step,
    times,
};
use crate::scalar::horner::horner;
use crate::scalar::pair::{fast_sum_f64, sum_f64};
use std::f64::consts::TAU;

/// From here on Stirling's formula.
const FAR: f64 = 2.5;
/// Below, an argument is moved up.
const LOW: f64 = 0.85;
/// log √2π − ½.
const SHIFT: Parts = (0.418_938_533_204_672_7, 1.672_820_965_058_541_3e-17);
const LOG_PI: Parts = (1.144_729_885_849_400_2, 1.026_595_116_270_782_6e-17);

/// How far a positive number below [`FAR`], or the next one, is from the zero 1 or 2, and whether it is 2.
#[inline(always)]
fn off_zero(a: f64) -> (f64, bool) {
    let off = a - if a < LOW { 0.0 } else { 1.0 };
    let second = off >= 0.5;
    (off - if second { 1.0 } else { 0.0 }, second)
}

/// Of a number so far from the zero 1, or 2.
#[inline(always)]
fn near(x: f64, second: bool) -> Parts {
    let rest = horner_of! { second, x;
    [-0.002_739_049_939_099_175_5, -3.085_985_478_390_577e-8],
    [0.012_959_324_900_987_043, 6.472_569_840_064_724e-8],
    [-0.029_795_473_875_177_444, -9.558_178_101_635_195e-8],
    [0.046_004_272_071_532_14, 2.019_383_540_113_691_5e-7],
    [-0.056_550_399_019_831_74, -4.508_168_225_446_838e-7], [0.062_439_980_741_040_29, 9.584_207_048_594_987e-7],
    [-0.066_807_059_802_524_83, -2.038_907_782_567_710_4e-6],
    [0.071_470_180_151_735_2, 4.374_223_481_082_048e-6], [-0.076_933_616_940_653_05, -9.439_526_202_058_818e-6],
    [0.083_352_685_518_934_9, 2.050_729_199_656_382_5e-5],
    [-0.090_953_844_855_566_4, -4.492_623_382_061_082_6e-5], [0.100_099_467_040_714_85, 9.945_750_668_788_14e-5],
    [-0.111_334_269_617_286_74, -0.000_223_154_758_588_186_15],
    [0.125_509_669_605_824_55, 0.000_509_669_525_024_195_5],
    [-0.144_049_896_733_709_08, -0.001_192_753_911_699_852_7],
    [0.169_557_176_995_753_46, 0.002_890_510_330_734_404_5],
    [-0.207_385_551_028_825_6, -0.007_385_551_028_674_025], [0.270_580_808_427_792_2, 0.020_580_808_427_784_63] };
    let c2 = if second {
        (-0.067_352_301_053_198_09, -6.866_272_839_416_534e-18)
    } else {
        (-0.400_685_634_386_531_15, -1.721_112_726_549_836_7e-17)
    };
    let c1 = if second {
        (0.322_467_033_424_113_2, 1.492_173_008_894_894e-17)
    } else {
        (0.822_467_033_424_113_2, 6.621_399_098_721_565e-18)
    };
    let c0 = if second {
        (0.422_784_335_098_467_13, 4.942_915_152_430_645e-18)
    } else {
        (-0.577_215_664_901_532_9, 4.861_342_703_701_303_6e-18)
    };
    times(step(x, c0, step(x, c1, step(x, c2, (rest, 0.0)))), (x, 0.0))
}

/// What Stirling's formula lacks.
#[inline(always)]
fn stirling(a: f64) -> Parts {
    let inverse = inverse_parts(a);
    let z = inverse.0 * inverse.0;
    let rest = horner!(f64::mul_add, z; -7.799_039_484_906_417, 9.831_640_759_734_448, -5.775_768_193_222_592,
        2.136_362_544_544_643_7, -0.576_189_107_339_001_2, 0.127_988_621_762_721_94, -0.026_921_312_998_235_08,
        0.006_309_103_536_112_234, -0.001_914_745_147_701_519_4, 0.000_841_699_517_911_848_6,
        -0.000_595_237_513_552_076_9, 0.000_793_650_790_142_904);
    times(
        inverse,
        ending(
            z,
            (0.083_333_333_333_333_33, 1.181_911_987_887_261e-18),
            (-0.002_777_777_777_769_307_2, -1.896_275_212_799_226_6e-19),
            rest,
        ),
    )
}

/// Of a positive number with this logarithm; of one below [`LOW`] that of the next one.
#[inline(always)]
fn magnitude(a: f64, log: Parts) -> Parts {
    let (x, second) = off_zero(a);
    let near = near(x, second);
    let (half_less, low) = fast_sum_f64(a, -0.5);
    let (less, rest) = fast_sum_f64(log.0, -1.0);
    let (head, tail) = times((half_less, low), (less, rest + log.1));
    let lacks = stirling(a);
    let (shift, low) = fast_sum_f64(SHIFT.0, lacks.0);
    let (head, rest) = sum_f64(head, shift);
    let far = (head, rest + (tail + (low + (lacks.1 + SHIFT.1))));
    if a < FAR { near } else { far }
}

/// Of a positive number, from [`magnitude`].
#[inline(always)]
fn above(a: f64, log: Parts, (head, tail): Parts) -> f64 {
    let less = if a < LOW { log } else { (0.0, 0.0) };
    let (head, rest) = sum_f64(head, -less.0);
    let value = head + (rest + (tail - less.1));
    // Nothing over- or underflows on the way.
    if PLAIN_F64.contains(&a) { value } else { f64::NAN }
}

/// Of a positive number.
#[inline(always)]
pub(in crate::scalar::gamma) fn lgamma_above_f64(x: f64) -> f64 {
    let log = log_parts(x, 0.0);
    above(x, log, magnitude(x, log))
}

/// Of any number.
#[inline(always)]
pub(in crate::scalar::gamma) fn lgamma_quick_f64(x: f64) -> f64 {
    /// Where less of a result is left, its parts are not good enough.
    const LEFT: f64 = 0.025;
    let a = x.abs();
    let log = log_parts(a, 0.0);
    let mirror = magnitude(a, log);
    let off = (a - a.round_ties_even()).abs();
    let factor = if a < LOW { 1.0 } else { a };
    let width = off * factor;
    let sine = times(sine_ratio_parts(off), (width, off.mul_add(factor, -width)));
    let less = log_parts(sine.0, sine.1 / sine.0);
    let (head, low) = sum_f64(LOG_PI.0, -less.0);
    let (head, rest) = sum_f64(head, -mirror.0);
    let value = head + (rest + ((LOG_PI.1 - less.1 + low) - mirror.1));
    let is_good = a >= PLAIN_F64.start && off > 0.0 && value.abs() > LEFT * (2.0 + mirror.0.abs());
    let below = if is_good { value } else { f64::NAN };
    if x > 0.0 { above(a, log, mirror) } else { below }
}

/// As [`near`], for a float32.
#[inline(always)]
fn near_short(x: f64, second: bool) -> f64 {
    x * horner_of! { second, x;
    [-0.013_701_636_513_824_457, -1.129_649_910_221_429_6e-5],
    [0.046_160_873_644_234_64, 2.448_705_297_585_398_7e-5],
    [-0.078_673_848_225_221_1, -4.432_468_453_306_581_5e-5],
    [0.098_717_762_070_291_22, 9.816_870_450_896_373e-5],
    [-0.111_717_526_933_444_25, -0.000_223_246_539_872_874_43],
    [0.125_638_114_441_492_9, 0.000_509_866_134_813_700_4],
    [-0.144_054_247_686_153_96, -0.001_192_747_157_380_730_7],
    [0.169_554_800_171_230_76, 0.002_890_495_863_084_301_4],
    [-0.207_385_355_899_921_08, -0.007_385_551_240_791_602],
    [0.270_580_823_843_659_8, 0.020_580_808_882_117_916], [-0.400_685_635_725_995, -0.067_352_301_051_300_44],
    [0.822_467_033_393_540_5, 0.322_467_033_420_048_73], [-0.577_215_664_900_288_4, 0.422_784_335_098_467_13] }
}

/// As [`stirling`], for a float32.
#[inline(always)]
fn stirling_short(inverse: f64) -> f64 {
    let z = inverse * inverse;
    inverse
        * horner!(f64::mul_add, z; 0.001_205_388_291_394_323_1, -0.001_206_950_922_934_830_6,
            0.000_779_957_467_675_996_5, -0.000_592_168_428_833_263_8, 0.000_793_574_143_872_778_8,
            -0.002_777_777_035_832_047_3, 0.083_333_333_332_129_74)
}

/// As [`magnitude`], for a float32.
#[inline(always)]
fn magnitude_short(a: f64, log: f64) -> f64 {
    let (x, second) = off_zero(a);
    let far = (a - 0.5).mul_add(log - 1.0, stirling_short(1.0 / a) + SHIFT.0);
    if a < FAR { near_short(x, second) } else { far }
}

/// Of a positive float32, from [`magnitude_short`].
#[inline(always)]
fn above_short(a: f64, log: f64, value: f64) -> f32 {
    let value = value - if a < LOW { log } else { 0.0 };
    if a > 0.0 && a < f64::INFINITY { value as f32 } else { f32::NAN }
}

/// Of a positive number.
#[inline(always)]
pub(in crate::scalar::gamma) fn lgamma_above_f32(x: f32) -> f32 {
    let x = f64::from(x);
    let log = log_short(x);
    above_short(x, log, magnitude_short(x, log))
}

/// Of any number.
#[inline(always)]
pub(in crate::scalar::gamma) fn lgamma_quick_f32(x: f32) -> f32 {
    /// Where less of a result is left, its parts are not good enough.
    const LEFT: f64 = 0.003;
    let a = f64::from(x.abs());
    let log = log_short(a);
    let mirror = magnitude_short(a, log);
    let off = (a - a.round_ties_even()).abs();
    let less = log_short(off * if a < LOW { 1.0 } else { a } * sine_ratio_short(off));
    let value = LOG_PI.0 - less - mirror;
    let is_good = off > 0.0 && value.abs() > LEFT * (1.0 + mirror.abs());
    let below = if is_good { value as f32 } else { f32::NAN };
    if x > 0.0 { above_short(a, log, mirror) } else { below }
}

/// log(x^a / Γ(1 + a)) of an `a` below 1.5.
#[inline(always)]
pub(in crate::scalar::gamma) fn small_exponent(a: f64, x: f64) -> Parts {
    let second = a >= 0.5;
    let (head, tail) = times(log_parts(x, 0.0), (a, 0.0));
    let (less, low) = near(if second { a - 1.0 } else { a }, second);
    let (head, rest) = sum_f64(head, -less);
    (head, rest + (tail - low))
}

/// log(x^a e^(−x) / Γ(a)). From [`FAR`] on it is a (log (x / a) − (x − a) / a) + log √(a / 2π) less what Stirling's
/// formula lacks, whose parts do not cancel.
#[inline(always)]
pub(in crate::scalar::gamma) fn exponent(a: f64, x: f64) -> Parts {
    const HALF_LOG_TWO_PI: Parts = (0.918_938_533_204_672_8, -3.878_294_158_067_241_4e-17);
    let log = log_parts(a, 0.0);
    if a < FAR {
        let (head, tail) = times(log_parts(x, 0.0), (a, 0.0));
        let (head, rest) = sum_f64(head, -x);
        let more = if a < LOW { log } else { (0.0, 0.0) };
        let (head, low) = sum_f64(head, more.0);
        let (x, second) = off_zero(a);
        let less = near(x, second);
        let (head, last) = sum_f64(head, -less.0);
        return (head, rest + low + last + (tail + more.1 - less.1));
    }
    let ratio = quotient((x, 0.0), (a, 0.0));
    let of_ratio = log_parts(ratio.0, ratio.1 / ratio.0);
    let off = quotient(sum_f64(x, -a), (a, 0.0));
    let (head, rest) = sum_f64(of_ratio.0, -off.0);
    let (head, tail) = times((head, rest + (of_ratio.1 - off.1)), (a, 0.0));
    let (half, low) = sum_f64(0.5 * log.0, -HALF_LOG_TWO_PI.0);
    let (head, rest) = sum_f64(head, half);
    let lacks = stirling(a);
    let (head, last) = sum_f64(head, -lacks.0);
    (head, rest + last + (tail + (low + (0.5 * log.1 - HALF_LOG_TWO_PI.1) - lacks.1)))
}

/// As [`small_exponent`], for a float32.
#[inline(always)]
pub(in crate::scalar::gamma) fn small_exponent_short(a: f64, x: f64) -> f64 {
    let second = a >= 0.5;
    a.mul_add(log_short(x), -near_short(if second { a - 1.0 } else { a }, second))
}

/// As [`exponent`], for a float32.
#[inline(always)]
pub(in crate::scalar::gamma) fn exponent_short(a: f64, x: f64) -> f64 {
    if a < FAR {
        let (off, second) = off_zero(a);
        let more = if a < LOW { log_short(a) } else { 0.0 };
        return a.mul_add(log_short(x), more - x) - near_short(off, second);
    }
    let inverse = 1.0 / a;
    let less = log_short(x * inverse) - (x - a) * inverse;
    a.mul_add(less, 0.5 * log_short(a / TAU)) - stirling_short(inverse)
}
