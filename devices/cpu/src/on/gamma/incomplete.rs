//! The regularised incomplete gamma functions. Where each way is taken is what PyTorch has from S. L. Moshier's Cephes library
//! (*Methods and Programs for Mathematical Functions*, 1989) as SciPy extended it, so that small results keep their digits:
//!
//! * the lower function's power series (NIST, *Digital Library of Mathematical Functions*, 8.11.4), where `x` is not above `a`;
//! * the upper function's continued fraction (8.9.2) by W. J. Lentz's method as I. J. Thompson and A. R. Barnett have it (Journal of
//!   Computational Physics 64, 1986), where it is;
//! * the upper function's power series (8.7.3) for small `a` and `x`;
//! * N. M. Temme's uniform asymptotic expansion (`temme.rs`) for large `a` and `x` near it, here up to 0.3 a away.
//!
//! All but the last have the factor x^a e^(−x) / Γ(a), whose exponent is computed in twice the digits for a float64.

use super::double::{Double, Number, sum};
use super::lgamma::positive;
use super::temme;
use crate::isa::Portable;
use crate::on::exp::exp_f64;
use crate::on::expm1::expm1_f64;
use crate::on::log::log_f64;

/// From here on the factor vanishes wherever Temme's expansion does not hold.
const LARGE: f64 = 1e6;
/// Of a small `a` lgamma(1 + a) is −γ a + ζ(2)/2 a².
const EULER: f64 = 0.577_215_664_901_532_9;
const HALF_ZETA: f64 = 0.822_467_033_424_113_2;
/// So many terms and no more.
const TERMS: u32 = 2000;
/// Of what a term is relative to the sum, nothing that counts.
const NOTHING: f64 = 1.110_223_024_625_156_5e-16;

/// The dtype that is computed for.
pub(super) struct Precision {
    /// The least exponent of PyTorch's factor, and the least shape where `x` is near it: where it vanishes shows for shapes next to zero.
    exponent: f64,
    shape: f64,
    /// Whether float64's digits are enough for all steps.
    single: bool,
}

impl Precision {
    /// float32, and the halves.
    pub(super) const SINGLE: Precision =
        Precision { exponent: -88.722_839_355_468_75, shape: 4.189_62e-39, single: true };
    /// float64.
    pub(super) const DOUBLE: Precision =
        Precision { exponent: -709.782_712_893_384, shape: 7.930_386_434_158_49e-309, single: false };
}

/// log(x^a e^(−less) / Γ(b)).
fn exponent(a: f64, x: f64, less: f64, b: Double, precision: &Precision) -> Double {
    if precision.single {
        return (x.logarithm() * a - less - positive(b.head)).into();
    }
    Double::from(x).logarithm() * a.into() - less.into() - positive(b)
}

/// x^a e^(−x) / Γ(a).
fn factor(a: f64, x: f64, precision: &Precision) -> f64 {
    if a > LARGE {
        return 0.0;
    }
    let exponent = exponent(a, x, x, a.into(), precision);
    let far = (a - x).abs() > 0.4 * a;
    // As the dtype has the exponent.
    let rounded = if precision.single { f64::from(exponent.head as f32) } else { exponent.head };
    if if far { rounded < precision.exponent } else { a < precision.shape } {
        return 0.0;
    }
    exp_f64::<Portable>(exponent.head) * (1.0 + exponent.tail)
}

/// The lower function.
fn lower_series(a: f64, x: f64, precision: &Precision) -> f64 {
    let factor = factor(a, x, precision);
    if factor == 0.0 {
        return 0.0;
    }
    let (mut term, mut total, mut place) = (1.0, 1.0, a);
    for _ in 0..TERMS {
        place += 1.0;
        term *= x / place;
        total += term;
        if term <= NOTHING * total {
            break;
        }
    }
    total * factor / a
}

/// The upper function, where `x` is above 1.1 and not below `a`.
fn upper_fraction(a: f64, x: f64, precision: &Precision) -> f64 {
    let factor = factor(a, x, precision);
    if factor == 0.0 {
        return 0.0;
    }
    // Denominators never vanish: they begin with 1 or more and grow.
    let mut below = x + 1.0 - a;
    let (mut ratio, mut inverse) = (f64::INFINITY, 1.0 / below);
    let mut fraction = inverse;
    let mut k = 0.0;
    for _ in 0..TERMS {
        k += 1.0;
        let above = k * (a - k);
        below += 2.0;
        inverse = 1.0 / (above * inverse + below);
        ratio = below + above / ratio;
        let change = ratio * inverse;
        fraction *= change;
        if (change - 1.0).abs() <= NOTHING {
            break;
        }
    }
    fraction * factor
}

/// The upper function, for `x` up to 1.1: 1 − x^a / Γ(a + 1) without a difference, less the terms behind the first.
fn upper_series(a: f64, x: f64, precision: &Precision) -> f64 {
    let (mut power, mut total, mut n) = (1.0, 0.0, 0.0);
    for _ in 0..TERMS {
        n += 1.0;
        power *= -x / n;
        let term = power / (a + n);
        total += term;
        if term.abs() <= NOTHING * f64::abs(total) {
            break;
        }
    }
    // What the sum lacks counts, even for a float32.
    let exponent = if a < 1e-5 && precision.single {
        a * (x.logarithm() + (EULER - HALF_ZETA * a))
    } else {
        exponent(a, x, 0.0, sum(1.0, a), precision).value()
    };
    -expm1_f64::<Portable>(exponent) - a * exp_f64::<Portable>(exponent) * total
}

/// Both functions where an argument is not within the domain, or at its edge.
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

/// The upper function within the domain, apart from where Temme's expansion holds.
fn upper(a: f64, x: f64, precision: &Precision) -> f64 {
    let below = if x > 1.1 {
        if x >= a {
            return upper_fraction(a, x, precision);
        }
        true
    } else if x <= 0.5 {
        -0.4 / log_f64::<Portable>(x) < a
    } else {
        x * 1.1 < a
    };
    if below { 1.0 - lower_series(a, x, precision) } else { upper_series(a, x, precision) }
}

/// The upper function.
#[inline(never)]
pub(super) fn igammac_f64(a: f64, x: f64, precision: &Precision) -> f64 {
    match edge(a, x) {
        Some([_, upper]) => upper,
        None => temme::shares(a, x).map_or_else(|| upper(a, x, precision), |[_, upper]| upper),
    }
}

/// The lower function.
#[inline(never)]
pub(super) fn igamma_f64(a: f64, x: f64, precision: &Precision) -> f64 {
    if let Some([lower, _]) = edge(a, x).or_else(|| temme::shares(a, x)) {
        return lower;
    }
    if x > 1.0 && x > a { 1.0 - upper(a, x, precision) } else { lower_series(a, x, precision) }
}
