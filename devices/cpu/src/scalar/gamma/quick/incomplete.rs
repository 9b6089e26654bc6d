//! The incomplete gamma functions of small numbers, without branches and with as many terms for all, as a value and
//! whether it holds: not where `../incomplete.rs` has other ways, nor where a difference or a tail would cost digits.
//!
//! * The lower function's power series (NIST, *Digital Library of Mathematical Functions*, 8.11.4) with one quotient,
//!   at the end: the denominators a (a + 1) … (a + n) multiply what comes before them. For a float32 there is none:
//!   with the product Γ(a) is Γ(a + n + 1), of which Stirling's formula (5.11.1) has few terms.
//! * The upper function is the rest, or the continued fraction (8.9.2) by the recurrence of its convergents.

use super::lgamma::exponent;
use crate::isa::Isa;
use crate::scalar::exp::exp_f64;
use crate::scalar::log::log_f64;

/// Terms of the series behind the first.
const TERMS: i32 = 40;

/// The largest argument of the fraction of 16 steps, which a float32 takes.
const SHORT: f64 = 20.0;

/// Whether the argument is one that the terms are enough for.
#[inline(always)]
fn is_near(a: f64, x: f64) -> bool {
    x <= 0.25f64.mul_add(a, 7.5)
}

/// Whether the argument is one that the fraction's steps are enough for.
#[inline(always)]
fn is_far(a: f64, x: f64) -> bool {
    (x >= 1.1) & (x >= a) & (x <= 30.0)
}

/// Whether it is one of either.
#[inline(always)]
pub(in crate::scalar::gamma) fn is_within(a: f64, x: f64) -> bool {
    is_near(a, x) | is_far(a, x)
}

/// Σ xⁿ (a + n + 1) … (a + TERMS), and (a + 1) … (a + TERMS): from the last term on, whose errors count least.
#[inline(always)]
fn series(a: f64, x: f64) -> (f64, f64) {
    let (mut above, mut below) = (1.0f64, 1.0);
    for k in 0..TERMS {
        below *= a + f64::from(TERMS - k);
        above = above.mul_add(x, below);
    }
    (above, below)
}

/// Steps up the fraction, so few that the compiler writes them out: a loop would not be vectorised. The state is the
/// numerator and the denominator of what is below step `FROM`.
#[inline(always)]
fn steps<const FROM: i32>(a: f64, off: f64, [mut above, mut below]: [f64; 2]) -> [f64; 2] {
    for k in 0..16 {
        let k = f64::from(FROM - k);
        [above, below] = [above.mul_add(off + 2.0 * k, (k + 1.0) * (a - (k + 1.0)) * below), above];
    }
    [above, below]
}

/// The lower function by its series, and the upper one by its fraction; good for a float32.
#[inline(always)]
fn shares_short<I: Isa>(a: f64, x: f64) -> (f64, f64) {
    const HALF_LOG_TWO_PI: f64 = 0.918_938_533_204_672_8;
    let z = a + f64::from(TERMS);
    let inverse = 1.0 / z;
    let square = inverse * inverse;
    let lacks = inverse * square.mul_add(square.mul_add(1.0 / 1260.0, -1.0 / 360.0), 1.0 / 12.0);
    let rest = (f64::from(TERMS) - HALF_LOG_TWO_PI) + ((a - x) - lacks);
    // x^a e^(−x) / Γ(a + TERMS + 1)
    let power = exp_f64::<I>(a.mul_add(log_f64::<I>(x), (-0.5 - z).mul_add(log_f64::<I>(z), rest)));
    let (above, below) = series(a, x);
    let off = x - a + 1.0;
    let [next, all] = steps::<15>(a, off, [1.0, 0.0]);
    (power * above, power * (a * below) * (all / next))
}

/// The lower function, good for a float32. Beyond the series' reach it is next to 1.
#[inline(always)]
pub(in crate::scalar::gamma) fn lower_short<I: Isa>(a: f64, x: f64) -> (f64, bool) {
    let (lower, upper) = shares_short::<I>(a, x);
    let value = if is_near(a, x) { lower } else { 1.0 - upper };
    let within = is_near(a, x) | (is_far(a, x) & (x <= SHORT));
    (value, (a >= 1e-30) & (x > 0.0) & within & (value >= 1e-30))
}

/// The upper function, good for a float32: the rest where that is not so small that the lower one's 13 digits would
/// show.
#[inline(always)]
pub(in crate::scalar::gamma) fn upper_short<I: Isa>(a: f64, x: f64) -> (f64, bool) {
    let (lower, upper) = shares_short::<I>(a, x);
    let (rest, near) = (1.0 - lower, is_near(a, x));
    let holds = if near { (x > 0.0) & (rest >= 1e-5) } else { is_far(a, x) & (x <= SHORT) & (upper >= 1e-30) };
    (if near { rest } else { upper }, (a >= 1e-30) & holds)
}

/// x^a e^(−x) / Γ(a), and the lower function.
#[inline(always)]
fn lower_and_factor<I: Isa>(a: f64, x: f64) -> (f64, f64) {
    let (head, tail) = exponent(a, x);
    let power = exp_f64::<I>(head);
    let factor = power.mul_add(tail, power);
    let (above, below) = series(a, x);
    (factor * (above / (a * below)), factor)
}

/// The upper function over the factor, for x from 1.1 to 30 and not below a.
#[inline(always)]
fn fraction(a: f64, x: f64) -> f64 {
    let off = x - a + 1.0;
    let state = steps::<95>(a, off, [1.0, 0.0]);
    let state = steps::<79>(a, off, state);
    let state = steps::<63>(a, off, state);
    let state = steps::<47>(a, off, state);
    let state = steps::<31>(a, off, state);
    let [below, above] = steps::<15>(a, off, state);
    above / below
}

/// The lower function. Beyond the series' reach it is next to 1.
#[inline(always)]
pub(in crate::scalar::gamma) fn lower_quick<I: Isa>(a: f64, x: f64) -> (f64, bool) {
    let (lower, factor) = lower_and_factor::<I>(a, x);
    let rest = 1.0 - factor * fraction(a, x);
    let value = if is_near(a, x) { lower } else { rest };
    let holds = (a >= 1e-100) & (x > 0.0) & is_within(a, x) & (value >= 1e-250);
    (if value > 1.0 { 1.0 } else { value }, holds)
}

/// The upper function. Where it is not the fraction it is at least ½.
#[inline(always)]
pub(in crate::scalar::gamma) fn upper_quick<I: Isa>(a: f64, x: f64) -> (f64, bool) {
    let (lower, factor) = lower_and_factor::<I>(a, x);
    let direct = factor * fraction(a, x);
    let is_near = is_near(a, x) & (x > 0.0) & (lower <= 0.5);
    let is_far = is_far(a, x);
    let holds = (a >= 1e-100) & if is_far { direct >= 1e-250 } else { is_near };
    (if is_far { direct } else { 1.0 - lower }, holds)
}
