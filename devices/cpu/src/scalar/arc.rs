//! The inverse trigonometric functions: branch-free, within 1 ULP, vectorised from scalar source.
//!
//! * asin and acos (the shape of fdlibm's `e_asin.c`, Sun Microsystems, 1993): up to ½ the odd polynomial s + s³·p(s²)
//!   of the argument; beyond, of s = √((1 − |x|) / 2), of which asin x = π/2 − 2·asin s.
//! * atan and atan2: the quotient of two magnitudes, the smaller by the larger; where it exceeds tan π/8, that of their
//!   difference by their sum, of which the angle is π/4 less. What quotients and sums lack is carried along.
//!
//! Polynomials are minimax fits: relative errors below 2⁻⁵⁹ and 2⁻⁶³. In float32 2⁻³¹; where products do not fuse, and
//! for atan2, float32 is computed in float64 with shorter ones (2⁻³⁹, 2⁻⁴⁰).

use super::horner::{fma_f32, fma_f64, horner};
use super::pair::{fast_sum_f32, fast_sum_f64, rest_f32, rest_f64};
use crate::isa::Isa;
use std::f64::consts::{FRAC_PI_2, PI};

/// What float64 lacks of π/2.
const FRAC_PI_2_LOW: f64 = 6.123_233_995_736_766e-17;

/// What float32 lacks of π/2.
const FRAC_PI_2_LOW_F32: f32 = -4.371_139e-8;

/// (asin s − s) / s as a function of z = s².
#[inline(always)]
fn arcsine<I: Isa>(z: f64) -> f64 {
    let fma = fma_f64::<I>;
    z * horner!(fma, z; 3.262_611_178_574_31e-2, -2.099_485_893_090_953e-2, 2.170_432_555_336_977e-2,
        0.003_707_763_531_769_342_3, 1.077_987_186_834_304_7e-2, 1.139_898_489_079_152_8e-2, 1.398_081_097_138_973_4e-2,
        0.017_351_612_884_603_268, 0.022_372_214_933_962_416, 3.038_194_270_993_962_3e-2, 4.464_285_717_455_937e-2,
        7.499_999_999_970_867e-2, 0.166_666_666_666_667_6)
}

/// (asin s − s) / s as a function of z = s², good for a float32.
#[inline(always)]
fn arcsine_short<I: Isa>(z: f64) -> f64 {
    let fma = fma_f64::<I>;
    z * horner!(fma, z; 0.032_896_467_640_561_027, 1.993_368_424_575_008e-3, 0.020_640_993_409_613_04,
        2.186_676_674_568_741_4e-2, 3.042_641_156_413_052e-2, 4.464_071_412_154_673e-2, 7.500_004_965_298_689e-2,
        0.166_666_666_274_801_78)
}

/// (asin s − s) / s as a function of z = s², in float32.
#[inline(always)]
fn arcsine_single<I: Isa>(z: f32) -> f32 {
    let fma = fma_f32::<I>;
    z * horner!(fma, z; 0.037_697_077, 0.014_314_775, 0.031_839_095, 0.044_513_375, 0.075_005_22, 0.166_666_6)
}

/// Declares the inverses of sine and cosine of one float type.
macro_rules! arcs {
    (
        $float:ident, $low:ident: $folded:ident $asin:ident $acos:ident
        by $arcsine:ident $fma:ident $fast_sum:ident $rest:ident
    ) => {
        /// s, z = s², (asin s − s) / s, and what s lacks: s is |x|, or √((1 − |x|) / 2).
        #[inline(always)]
        fn $folded<I: Isa>(a: $float) -> ($float, $float, $float) {
            let large = a > 0.5;
            let z = if large { 0.5 - 0.5 * a } else { a * a };
            let s = if large { z.sqrt() } else { a };
            let rest = if large { $rest::<I>(z, s, s) } else { 0.0 };
            // Of nothing the root is nothing.
            let twice = if s > 0.0 { s + s } else { 1.0 };
            (s, $arcsine::<I>(z), rest / twice)
        }

        /// The inverse of the sine.
        #[inline(always)]
        pub(super) fn $asin<I: Isa>(x: $float) -> $float {
            let a = x.abs();
            let (s, r, low) = $folded::<I>(a);
            let small = $fma::<I>(s, r, s);
            let (head, tail) = $fast_sum(std::$float::consts::FRAC_PI_2, -2.0 * s);
            let large = head + (tail + ($low - 2.0 * $fma::<I>(s, r, low)));
            (if a > 0.5 { large } else { small }).copysign(x)
        }

        /// The inverse of the cosine.
        #[inline(always)]
        pub(super) fn $acos<I: Isa>(x: $float) -> $float {
            let a = x.abs();
            let (s, r, low) = $folded::<I>(a);
            let correction = $fma::<I>(s, r, low);
            // π/2 − asin x, 2·asin s, or π − 2·asin s.
            let negative = x < 0.0;
            let large = a > 0.5;
            let (s, correction) = if large { (2.0 * s, 2.0 * correction) } else { (s, correction) };
            let plus = large != negative;
            let (s, correction) = if plus { (s, correction) } else { (-s, -correction) };
            let from = if large & negative { std::$float::consts::PI } else { std::$float::consts::FRAC_PI_2 };
            let (from, from_low) =
                if large & !negative { (0.0, 0.0) } else { (from, if large { 2.0 * $low } else { $low }) };
            let (head, tail) = $fast_sum(from, s);
            head + (tail + (from_low + correction))
        }
    };
}
arcs! { f64, FRAC_PI_2_LOW: folded asin_f64 acos_f64 by arcsine fma_f64 fast_sum_f64 rest_f64 }
arcs! { f32, FRAC_PI_2_LOW_F32: folded_single asin_single acos_single by arcsine_single fma_f32 fast_sum_f32 rest_f32 }

/// The inverse of the sine: with fused products in float32, else in float64.
#[inline(always)]
pub(super) fn asin_f32<I: Isa>(x: f32) -> f32 {
    if I::FMA {
        return asin_single::<I>(x);
    }
    let fma = fma_f64::<I>;
    let a = f64::from(x).abs();
    let large = a > 0.5;
    let z = if large { 0.5 - 0.5 * a } else { a * a };
    let s = if large { z.sqrt() } else { a };
    let r = fma(s, arcsine_short::<I>(z), s);
    let r = if large { fma(-2.0, r, FRAC_PI_2) } else { r };
    r.copysign(x.into()) as f32
}

/// The inverse of the cosine: with fused products in float32, else in float64.
#[inline(always)]
pub(super) fn acos_f32<I: Isa>(x: f32) -> f32 {
    if I::FMA {
        return acos_single::<I>(x);
    }
    let fma = fma_f64::<I>;
    let x = f64::from(x);
    let a = x.abs();
    let large = a > 0.5;
    let z = if large { 0.5 - 0.5 * a } else { a * a };
    let s = if large { z.sqrt() } else { a };
    let r = fma(s, arcsine_short::<I>(z), s).copysign(x);
    let twice = 2.0 * r;
    let from = if x < 0.0 { PI } else { 0.0 };
    (if large { from + twice } else { FRAC_PI_2 - r }) as f32
}

/// (atan q − q) / q as a function of z = q².
#[inline(always)]
fn arctangent<I: Isa>(z: f64) -> f64 {
    let fma = fma_f64::<I>;
    z * horner!(fma, z; 0.015_139_005_250_838_573, -0.033_414_194_775_419_31, 4.500_710_948_965_127_4e-2,
        -5.217_633_419_893_366e-2, 0.058_768_883_768_257_264, -6.666_211_417_265_833e-2, 7.692_281_573_372_567e-2,
        -9.090_908_083_671_016e-2, 0.111_111_110_861_731_93, -0.142_857_142_853_484_86, 0.199_999_999_999_972_62,
        -0.333_333_333_333_333_26)
}

/// The same, good for a float32.
#[inline(always)]
fn arctangent_short<I: Isa>(z: f64) -> f64 {
    let fma = fma_f64::<I>;
    z * horner!(fma, z; -3.792_474_251_970_789e-2, 6.991_239_845_257_662e-2, -8.996_844_631_115_215e-2,
        0.111_040_043_043_976_81, -0.142_854_236_423_737_68, 0.199_999_943_267_732_77, -0.333_333_332_957_293_2)
}

/// tan π/8, about.
const TAN_PI_8: f64 = 0.414_213_562_373_095_03;

/// The angle whose tangent is small / large, both not negative and neither zero, huge nor tiny, or that angle
/// subtracted from (or, if `negated`, added to) a number of quarter turns.
#[inline(always)]
fn angle<I: Isa>(small: f64, large: f64, eighths: f64, negated: bool) -> f64 {
    /// π/4 in 50 digits, so that products with small integers are exact, and the rest.
    const EIGHTH: f64 = std::f64::consts::FRAC_PI_4;
    const EIGHTH_LOW: f64 = 3.061_616_997_868_383e-17;
    let middle = small > TAN_PI_8 * large;
    let (minus, minus_low) = fast_sum_f64(-large, small);
    let (plus, plus_low) = fast_sum_f64(large, small);
    let (above, above_low) = if middle { (minus, minus_low) } else { (small, 0.0) };
    let (below, below_low) = if middle { (plus, plus_low) } else { (large, 0.0) };
    let eighth = if middle { 1.0 } else { 0.0 };
    let eighths = eighths + if negated { -eighth } else { eighth };
    let inverse = 1.0 / below;
    let quotient = above * inverse;
    let rest = rest_f64::<I>(above, quotient, below) + (above_low - quotient * below_low);
    let quotient_low = rest * inverse;
    let correction = fma_f64::<I>(quotient, arctangent::<I>(quotient * quotient), quotient_low);
    let (quotient, correction) = if negated { (-quotient, -correction) } else { (quotient, correction) };
    let (head, tail) = fast_sum_f64(eighths * EIGHTH, quotient);
    head + (tail + fma_f64::<I>(eighths, EIGHTH_LOW, correction))
}

/// The inverse of the tangent.
#[inline(always)]
pub(super) fn atan_f64<I: Isa>(x: f64) -> f64 {
    // Beyond, the result is π/2. NaN passes.
    let a = x.abs();
    let a = if a > 1e18 { 1e18 } else { a };
    let steep = a > 1.0;
    let small = if steep { 1.0 } else { a };
    let large = if steep { a } else { 1.0 };
    let result = angle::<I>(small, large, if steep { 2.0 } else { 0.0 }, steep).copysign(x);
    // The rest of a subnormal quotient is none.
    if a < 1e-20 { x } else { result }
}

/// The angle of the point (x, y) from the axis of x.
#[inline(always)]
pub(super) fn atan2_f64<I: Isa>(y: f64, x: f64) -> f64 {
    let (a, b) = (y.abs(), x.abs());
    let steep = a > b;
    let (small, large) = if steep { (b, a) } else { (a, b) };
    // Two infinities are as good as two ones, and so is infinity beside nothing; zeros have the angle of nothing beside
    // one.
    let infinite = large == f64::INFINITY;
    let small = if infinite { if small == f64::INFINITY { 1.0 } else { 0.0 } } else { small };
    let large = if infinite | (large == 0.0) { 1.0 } else { large };
    // So that neither sums overflow nor rests underflow.
    let scale = if large > 1e290 { 7.888_609_052_210_118e-31 } else { 1.0 };
    let scale = if large < 1e-250 { 1_267_650_600_228_229_401_496_703_205_376.0 } else { scale };
    let (small, large) = (small * scale, large * scale);
    let behind = x.is_sign_negative();
    // ϑ, π/2 − ϑ, π/2 + ϑ, π − ϑ.
    let eighths = if steep {
        2.0
    } else if behind {
        4.0
    } else {
        0.0
    };
    let result = angle::<I>(small, large, eighths, steep != behind).copysign(y);
    if x.is_nan() | y.is_nan() { f64::NAN } else { result }
}

/// The inverse of the tangent in float32: of the argument up to 1, of its reciprocal and what that lacks beyond.
#[inline(always)]
fn atan_single<I: Isa>(x: f32) -> f32 {
    let fma = fma_f32::<I>;
    // Beyond, the result is π/2. NaN passes.
    let a = x.abs();
    let a = if a > 1e18 { 1e18 } else { a };
    let steep = a > 1.0;
    let t = if steep { 1.0 / a } else { a };
    let z = t * t;
    let h = horner!(fma, z; 0.001_134_522_1, -0.007_425_363, 0.022_777_617, -0.044_983_257, 0.067_636_49, -0.088_214_62,
        0.110_612_33, -0.142_803_43, 0.199_997_16, -0.333_333_28);
    let (head, tail) = fast_sum_f32(std::f32::consts::FRAC_PI_2, -t);
    // What the reciprocal lacks, times the slope 1 / (1 + z), near enough.
    let low = FRAC_PI_2_LOW_F32 - t * fma(-t, a, 1.0) * fma(-0.5, z, 1.0);
    let cube = t * z;
    let result = if steep { head + fma(-cube, h, low + tail) } else { fma(cube, h, t) };
    result.copysign(x)
}

/// The inverse of the tangent: with fused products in float32, else in float64.
#[inline(always)]
pub(super) fn atan_f32<I: Isa>(x: f32) -> f32 {
    if I::FMA {
        return atan_single::<I>(x);
    }
    let a = f64::from(x).abs();
    let a = if a > 1e18 { 1e18 } else { a };
    let steep = a > 1.0;
    let result = angle_short::<I>(
        if steep { 1.0 } else { a },
        if steep { a } else { 1.0 },
        if steep { FRAC_PI_2 } else { 0.0 },
        steep,
    );
    result.copysign(x.into()) as f32
}

/// The angle whose tangent is small / large, added to another or subtracted from it, good for a float32.
#[inline(always)]
fn angle_short<I: Isa>(small: f64, large: f64, from: f64, negated: bool) -> f64 {
    let middle = small > TAN_PI_8 * large;
    let above = if middle { small - large } else { small };
    let below = if middle { small + large } else { large };
    let quotient = above / below;
    let angle = fma_f64::<I>(quotient, arctangent_short::<I>(quotient * quotient), quotient);
    let angle = if middle { angle + std::f64::consts::FRAC_PI_4 } else { angle };
    if negated { from - angle } else { from + angle }
}

/// The angle of the point (x, y), computed in float64.
#[inline(always)]
pub(super) fn atan2_f32<I: Isa>(y: f32, x: f32) -> f32 {
    let (a, b) = (f64::from(y).abs(), f64::from(x).abs());
    let steep = a > b;
    let (small, large) = if steep { (b, a) } else { (a, b) };
    let infinite = large == f64::INFINITY;
    let small = if infinite { if small == f64::INFINITY { 1.0 } else { 0.0 } } else { small };
    let large = if infinite | (large == 0.0) { 1.0 } else { large };
    let behind = x.is_sign_negative();
    let from = if steep {
        FRAC_PI_2
    } else if behind {
        PI
    } else {
        0.0
    };
    let result = angle_short::<I>(small, large, from, steep != behind).copysign(y.into()) as f32;
    if x.is_nan() | y.is_nan() { f32::NAN } else { result }
}
