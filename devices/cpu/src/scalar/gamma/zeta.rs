//! Hurwitz's zeta function: so many terms of its sum, then Euler's and Maclaurin's formula for the others (M.
//! Abramowitz, I. A. Stegun, *Handbook of Mathematical Functions*, 1964, 23.1.30), in the order in which `zeta` of S.
//! L. Moshier's Cephes library (*Methods and Programs for Mathematical Functions*, 1989) and PyTorch have them: that
//! shows at infinities and where powers underflow.
//!
//! Far below zero the terms near zero count, and their number does not: with q = f − m, 0 < f < 1 and an integer s, the
//! sum is ζ(s, f) + (−1)^s (ζ(s, 1 − f) − ζ(s, 1 − q)).

use crate::isa::Isa;
use crate::scalar::pow::pow_f64;

/// So many terms are summed one by one, at least.
const TERMS: u32 = 9;
/// From here on the formula for the others holds.
const FAR: f64 = 9.0;
/// Of what a term is relative to the sum, nothing that counts.
const NOTHING: f64 = 1.110_223_024_625_156_5e-16;

/// B₂ₖ / (2k)!, from k = 1.
const EULER_MACLAURIN: [f64; 12] = [
    0.083_333_333_333_333_33,
    -0.001_388_888_888_888_889,
    3.306_878_306_878_307e-05,
    -8.267_195_767_195_768e-07,
    2.087_675_698_786_81e-08,
    -5.284_190_138_687_493e-10,
    1.338_253_653_068_467_9e-11,
    -3.389_680_296_322_582_7e-13,
    8.586_062_056_277_845e-15,
    -2.174_868_698_558_062e-16,
    5.509_002_828_360_229_5e-18,
    -1.395_446_468_581_252e-19,
];

/// So many powers are computed at once: their loop vectorises.
const BATCH: usize = 12;

/// The sum of (q + k)^-s.
#[inline(always)]
fn total<I: Isa>(s: f64, q: f64) -> f64 {
    let (mut sum, mut place, mut count) = (0.0, q, 0);
    let mut term = 'terms: loop {
        let mut places = [0.0; BATCH];
        for at in &mut places {
            (*at, place) = (place, place + 1.0);
        }
        let mut powers = [0.0; BATCH];
        // By reference: the loop over an array that is moved keeps count in memory, and does not vectorise.
        for (power, at) in powers.iter_mut().zip(&places) {
            *power = pow_f64::<I>(*at, -s);
        }
        for (at, term) in places.into_iter().zip(powers) {
            sum += term;
            if count > 0 && -NOTHING * sum < term && term < NOTHING * sum {
                return sum;
            }
            if count >= TERMS && (at > FAR || at.is_nan()) {
                place = at;
                break 'terms term;
            }
            count += 1;
        }
    };
    sum += term * place / (s - 1.0);
    sum -= 0.5 * term;
    let inverse = 1.0 / place;
    let (mut rising, mut next) = (1.0, s);
    for factor in EULER_MACLAURIN {
        rising *= next;
        term *= inverse;
        let correction = rising * term * factor;
        sum += correction;
        if correction.abs() < NOTHING * sum.abs() {
            return sum;
        }
        rising *= next + 1.0;
        term *= inverse;
        next += 2.0;
    }
    sum
}

/// Down to here the terms are summed: splitting them costs a digit where both parts cancel.
const SPLIT: f64 = -4096.0;

/// Hurwitz's zeta function.
#[inline(always)]
pub(super) fn zeta_f64<I: Isa>(s: f64, q: f64) -> f64 {
    if s == 1.0 {
        return f64::INFINITY;
    }
    if s < 1.0 {
        return f64::NAN;
    }
    if q <= 0.0 {
        if q == q.floor() {
            return f64::INFINITY;
        }
        if s != s.floor() {
            return f64::NAN;
        }
    }
    if q < SPLIT {
        let rest = q.ceil() - q;
        let mirrored = total::<I>(s, rest) - total::<I>(s, 1.0 - q);
        let odd = (s * 0.5).floor() != s * 0.5;
        return total::<I>(s, 1.0 - rest) + if odd { -mirrored } else { mirrored };
    }
    total::<I>(s, q)
}
