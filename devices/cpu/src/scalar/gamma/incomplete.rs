//! The regularised incomplete gamma functions. Where each way is taken is what PyTorch has from S. L. Moshier's Cephes
//! library (*Methods and Programs for Mathematical Functions*, 1989) as SciPy extended it, so that small results keep
//! their digits:
//!
//! * the lower function's power series (NIST, *Digital Library of Mathematical Functions*, 8.11.4), where `x` is not
//!   above `a`;
//! * the upper function's continued fraction (8.9.2), where it is;
//! * the upper function's power series (8.7.3) for small `a` and `x`;
//! * N. M. Temme's uniform asymptotic expansion (`temme.rs`) for large `a` and `x` near it, here up to 0.3 a away.
//!
//! All but the last have the factor x^a e^(−x) / Γ(a), whose exponent is computed in twice the digits for a float64.

use super::double::{Double, Number, sum};
use super::lgamma::positive;
use super::{quick, temme};
use crate::isa::Isa;
use crate::scalar::exp::exp_f64;
use crate::scalar::expm1::expm1_f64;
use crate::scalar::horner::fma_f64;
use crate::scalar::log::log_f64;

/// From here on the factor vanishes wherever Temme's expansion does not hold.
const LARGE: f64 = 1e6;
/// Of a small `a` lgamma(1 + a) is −γ a + ζ(2)/2 a².
const EULER: f64 = 0.577_215_664_901_532_9;
const HALF_ZETA: f64 = 0.822_467_033_424_113_2;
/// So many terms and no more.
const TERMS: u32 = 2000;

/// The dtype that is computed for.
pub(super) struct Precision {
    /// The least exponent of PyTorch's factor, and the least shape where `x` is near it: where it vanishes shows for
    /// shapes next to zero.
    exponent: f64,
    shape: f64,
    /// Of what a term is relative to the sum, nothing that counts.
    nothing: f64,
    /// Whether float64's digits are enough for all steps.
    single: bool,
}

impl Precision {
    /// float32, and the halves.
    pub(super) const SINGLE: Precision =
        Precision { exponent: -88.722_839_355_468_75, shape: 4.189_62e-39, nothing: 1e-11, single: true };
    /// float64.
    pub(super) const DOUBLE: Precision = Precision {
        exponent: -709.782_712_893_384,
        shape: 7.930_386_434_158_49e-309,
        nothing: 1.110_223_024_625_156_5e-16,
        single: false,
    };
}

/// log(x^a e^(−x) / Γ(a)) as a head and a tail.
#[inline(always)]
fn exponent<I: Isa>(a: f64, x: f64, precision: &Precision) -> (f64, f64) {
    if I::FMA {
        return if precision.single { (quick::exponent_short(a, x), 0.0) } else { quick::exponent(a, x) };
    }
    if precision.single {
        return (x.logarithm() * a - x - positive(a), 0.0);
    }
    let exponent = Double::from(x).logarithm() * a.into() - x.into() - positive(a.into());
    (exponent.head, exponent.tail)
}

/// log(x^a / Γ(1 + a)) of a small `a`.
#[inline(always)]
fn small_exponent<I: Isa>(a: f64, x: f64, precision: &Precision) -> f64 {
    if I::FMA {
        let (head, tail) = quick::small_exponent(a, x);
        return if precision.single { quick::small_exponent_short(a, x) } else { head + tail };
    }
    if !precision.single {
        return (Double::from(x).logarithm() * a.into() - positive(sum(1.0, a))).value();
    }
    // What the logarithms lack counts, even for a float32.
    if a < 1e-5 { a * (x.logarithm() + (EULER - HALF_ZETA * a)) } else { x.logarithm() * a - positive(1.0 + a) }
}

/// x^a e^(−x) / Γ(a).
#[inline(always)]
fn factor<I: Isa>(a: f64, x: f64, precision: &Precision) -> f64 {
    /// More than log √(a / 2π) is.
    const MORE: f64 = 8.0;
    let mu = (x - a) / a;
    let far = mu.abs() > 0.4;
    // log(1 + μ) is at most its Padé approximant μ (6 + μ) / (6 + 4μ).
    if a > LARGE || (far && -3.0 * a * mu * (mu / (6.0 + 4.0 * mu)) < precision.exponent - MORE) {
        return 0.0;
    }
    let (head, tail) = exponent::<I>(a, x, precision);
    // As the dtype has the exponent.
    let rounded = if precision.single { f64::from(head as f32) } else { head };
    if if far { rounded < precision.exponent } else { a < precision.shape } {
        return 0.0;
    }
    exp_f64::<I>(head) * (1.0 + tail)
}

/// The lower function over the factor.
#[inline(always)]
fn lower_series(a: f64, x: f64, precision: &Precision) -> f64 {
    let (mut term, mut total, mut place) = (1.0, 1.0, a);
    for _ in 0..TERMS {
        place += 1.0;
        term *= x / place;
        total += term;
        if term <= precision.nothing * total {
            break;
        }
    }
    total / a
}

/// The upper function over the factor, where `x` is above 1.1 and not below `a`: convergents by their recurrence of
/// three terms, so that no quotient waits for another.
#[inline(always)]
fn upper_fraction<I: Isa>(a: f64, x: f64, precision: &Precision) -> f64 {
    /// Where numbers are scaled down, and by how much.
    const BIG: f64 = 4_503_599_627_370_496.0;
    let fma = fma_f64::<I>;
    let (mut k, mut z) = (0.0, x - a + 2.0);
    let ([mut before, mut below_before], [mut above, mut below]) = ([1.0, x], [x + 1.0, z * x]);
    let mut fraction = above / below;
    for _ in 0..TERMS {
        k += 1.0;
        z += 2.0;
        let factor = k * (a - 1.0 - k);
        let next = [fma(above, z, factor * before), fma(below, z, factor * below_before)];
        [before, below_before] = [above, below];
        [above, below] = next;
        let last = fraction;
        fraction = above / below;
        if (fraction - last).abs() <= precision.nothing * fraction.abs() {
            break;
        }
        if above.abs() > BIG {
            for x in [&mut before, &mut below_before, &mut above, &mut below] {
                *x *= 1.0 / BIG;
            }
        }
    }
    fraction
}

/// The upper function, for `x` up to 1.1: 1 − x^a / Γ(a + 1) without a difference, less the terms behind the first.
#[inline(always)]
fn upper_series<I: Isa>(a: f64, x: f64, precision: &Precision) -> f64 {
    let (mut power, mut total, mut n) = (1.0, 0.0, 0.0);
    for _ in 0..TERMS {
        n += 1.0;
        power *= -x / n;
        let term = power / (a + n);
        total += term;
        if term.abs() <= precision.nothing * f64::abs(total) {
            break;
        }
    }
    let exponent = small_exponent::<I>(a, x, precision);
    -expm1_f64::<I>(exponent) - a * exp_f64::<I>(exponent) * total
}

/// Both functions where an argument is not within the domain, or at its edge.
#[inline(always)]
fn edge(a: f64, x: f64) -> Option<[f64; 2]> {
    const NONE: Option<[f64; 2]> = Some([f64::NAN; 2]);
    const ALL: Option<[f64; 2]> = Some([1.0, 0.0]);
    const NOTHING: Option<[f64; 2]> = Some([0.0, 1.0]);
    if x < 0.0 || a < 0.0 {
        NONE
    } else if a == 0.0 {
        if x > 0.0 { ALL } else { NONE }
    } else if x == 0.0 {
        NOTHING
    } else if a == f64::INFINITY {
        if x == f64::INFINITY { NONE } else { NOTHING }
    } else if x == f64::INFINITY {
        ALL
    } else if a.is_nan() || x.is_nan() {
        NONE
    } else {
        None
    }
}

/// The share above `x`, or below it.
#[inline(always)]
pub(super) fn share_f64<I: Isa>(a: f64, x: f64, is_upper: bool, precision: &Precision) -> f64 {
    if let Some([lower, upper]) = edge(a, x) {
        return if is_upper { upper } else { lower };
    }
    if let Some(share) = temme::share::<I>(a, x, is_upper) {
        return share;
    }
    // The lower function's series, even for the upper one.
    let by_lower = if x > 1.1 {
        x < a || (!is_upper && x <= a)
    } else if !is_upper {
        x <= 1.0 || x <= a
    } else if x <= 0.5 {
        -0.4 / log_f64::<I>(x) < a
    } else {
        x * 1.1 < a
    };
    let share = if !by_lower && x <= 1.1 {
        upper_series::<I>(a, x, precision)
    } else {
        match factor::<I>(a, x, precision) {
            0.0 => 0.0,
            factor if by_lower => factor * lower_series(a, x, precision),
            factor => factor * upper_fraction::<I>(a, x, precision),
        }
    };
    if by_lower == is_upper { 1.0 - share } else { share }
}
