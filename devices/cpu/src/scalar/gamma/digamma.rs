//! The derivatives of the gamma function's logarithm: digamma within 1 ULP but next to its zeros, trigamma within 4.
//!
//! * From 10 on their asymptotic series (M. Abramowitz, I. A. Stegun, *Handbook of Mathematical Functions*, 1964,
//!   6.3.18, 6.4.12).
//! * Below, those of x + n and the sums of 1 / (x + k) and 1 / (x + k)² (6.3.6, 6.4.6). Near its zero at 1.46 digamma
//!   cancels, so it is computed in twice the digits.
//! * Below zero by reflection (6.3.7, 6.4.7). PyTorch's trigamma takes the sine of the rounded product πx. Of a
//!   negative integer that is not zero, and the result large, which is kept; of anything else the sine here is that of
//!   what πx is off a whole turn.

use super::double::{Double, Number, sum};
use super::lgamma::{HUGE, off_integer, sine_ratio};
use crate::isa::Portable;
use crate::scalar::log::log_f64;
use crate::scalar::sine::{sin_f32, sin_f64, tan_f64};
use std::f64::consts::PI;

/// From here on the asymptotic series are used.
const FAR: f64 = 10.0;

/// Digamma of a positive number that is not huge.
fn positive<T: Number>(x: T) -> T {
    const HEADS: [[f64; 2]; 2] = [
        [0.083_333_333_333_333_33, 4.625_929_269_271_485e-18],
        [-0.008_333_333_333_333_333, -1.156_482_317_317_871_4e-19],
    ];
    const REST: [f64; 10] = [
        0.003_968_253_968_253_968,
        -0.004_166_666_666_666_667,
        0.007_575_757_575_757_576,
        -0.021_092_796_092_796_094,
        0.083_333_333_333_333_33,
        -0.443_259_803_921_568_6,
        3.053_954_330_270_119_8,
        -26.456_212_121_212_122,
        281.460_144_927_536_25,
        -3_607.510_546_398_046_2,
    ];
    // The sum of the reciprocals as one quotient.
    let (mut above, mut below, mut y) = (T::from(0.0), T::from(1.0), x);
    while y.head() < FAR {
        above = above * y + below;
        below = below * y;
        y = y + 1.0.into();
    }
    let inverse = T::from(1.0).over(y);
    let square = inverse * inverse;
    y.logarithm() - inverse * 0.5.into() - square * square.series(&HEADS, &REST) - above.over(below)
}

/// π / tan πr of an `r` of at most ½ in magnitude, not 0.
fn cotangent(r: f64) -> Double {
    const PI: [f64; 2] = [std::f64::consts::PI, 1.224_646_799_147_353_2e-16];
    let half = sine_ratio(0.5 * r) * (0.5 * r).into();
    let cosine = Double::from(1.0) - (half + half) * half;
    (Double::constant(PI) * cosine).over(sine_ratio(r) * r.into())
}

/// Digamma.
#[inline(never)]
pub(super) fn digamma_f64(x: f64) -> f64 {
    if x.abs() < 1e-17 {
        return -1.0 / x;
    }
    if x >= HUGE || x.is_nan() {
        return log_f64::<Portable>(x);
    }
    if x > 0.0 {
        return positive(Double::from(x)).value();
    }
    let off = off_integer(x);
    if off == 0.0 || x == f64::NEG_INFINITY {
        return f64::NAN;
    }
    (positive(sum(1.0, -x)) - cotangent(off)).value()
}

/// Digamma of a float32, good for one: in float64 where nothing cancels.
#[inline(never)]
pub(super) fn digamma_f32(x: f32) -> f32 {
    let x = f64::from(x);
    let off = off_integer(x);
    if !(1e-17..HUGE).contains(&x.abs()) || (x < 0.0 && off == 0.0) {
        return digamma_f64(x) as f32;
    }
    let (result, scale) = if x > 0.0 {
        (positive(x), 1.0)
    } else {
        let mirrored = positive(1.0 - x);
        (mirrored - PI / tan_f64::<Portable>(PI * off), mirrored)
    };
    (if result.abs() < 1e-5 * scale { digamma_f64(x) } else { result }) as f32
}

/// Trigamma of a number not below ½.
fn trigamma_positive(x: f64) -> f64 {
    // The series of x·(trigamma x) in 1/x² behind 1 + 1 / (2x): Bernoulli's numbers.
    const BERNOULLI: [f64; 10] = [
        0.166_666_666_666_666_66,
        -0.033_333_333_333_333_33,
        0.023_809_523_809_523_808,
        -0.033_333_333_333_333_33,
        0.075_757_575_757_575_76,
        -0.253_113_553_113_553_1,
        1.166_666_666_666_666_7,
        -7.092_156_862_745_098,
        54.971_177_944_862_156,
        -529.124_242_424_242_4,
    ];
    let (mut total, mut y) = (0.0, x);
    while y < FAR {
        total += 1.0 / (y * y);
        y += 1.0;
    }
    let inverse = 1.0 / y;
    let square = inverse * inverse;
    let rest = BERNOULLI.iter().rev().fold(0.0, |sum, c| (sum + c) * square);
    total + (inverse + (0.5 * square + inverse * rest))
}

/// Trigamma where the sine of πx is not that of an integer.
#[inline(never)]
fn trigamma(x: f64, sine: f64) -> f64 {
    if x < 0.5 { PI * PI / (sine * sine) - trigamma_positive(1.0 - x) } else { trigamma_positive(x) }
}

/// Trigamma.
pub(super) fn trigamma_f64(x: f64) -> f64 {
    let whole = x < 0.0 && x == x.trunc();
    let product = if whole { PI * x } else { PI * off_integer(x) };
    trigamma(x, sin_f64::<Portable>(product))
}

/// Trigamma, but for integers in float64.
pub(super) fn trigamma_f32(x: f32) -> f32 {
    if x < 0.0 && x == x.trunc() {
        let sine = sin_f32::<Portable>(std::f32::consts::PI * x);
        return trigamma(x.into(), sine.into()) as f32;
    }
    trigamma_f64(x.into()) as f32
}
