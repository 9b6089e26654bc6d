//! References of the gamma function's relatives, in float64.

use std::f64::consts::PI;

/// The logarithm of the gamma function's magnitude: by reflection below ½, and by Stirling's series from 20 on, whither
/// the recurrence leads.
pub fn log_gamma(x: f64) -> f64 {
    if x.is_infinite() || (x <= 0.0 && x == x.floor()) {
        return f64::INFINITY;
    }
    if x < 0.5 {
        return (PI / (PI * x).sin().abs()).ln() - log_gamma(1.0 - x);
    }
    let (mut product, mut y) = (1.0, x);
    while y < 20.0 {
        product *= y;
        y += 1.0;
    }
    let z = 1.0 / (y * y);
    let rest = (1.0 / 12.0 - z * (1.0 / 360.0 - z * (1.0 / 1260.0 - z / 1680.0))) / y;
    (y - 0.5) * y.ln() - y + 0.5 * (2.0 * PI).ln() + rest - f64::ln(product)
}

/// The digamma function, the derivative of [`log_gamma`].
pub fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    if x < 0.0 {
        let mirrored = || digamma(1.0 - x) - PI / (PI * (x - x.round())).tan();
        return if x == x.floor() { f64::NAN } else { mirrored() };
    }
    if x > 1e15 {
        return x.ln();
    }
    let (mut sum, mut y) = (0.0, x);
    while y < 20.0 {
        sum += 1.0 / y;
        y += 1.0;
    }
    let z = 1.0 / (y * y);
    y.ln() - 0.5 / y - z * (1.0 / 12.0 - z * (1.0 / 120.0 - z * (1.0 / 252.0 - z / 240.0))) - sum
}

/// The trigamma function, the derivative of [`digamma`]. `product` is πx as the operator rounds it, whose sine decides
/// the result where x is a negative integer.
pub fn trigamma(x: f64, product: f64) -> f64 {
    if x < 0.5 {
        let whole = x < 0.0 && x == x.floor();
        let sine = if whole { product } else { PI * (x - x.round()) }.sin();
        return PI * PI / (sine * sine) - trigamma(1.0 - x, product);
    }
    hurwitz(2.0, x)
}

/// Hurwitz's zeta function: forty terms of the sum and Euler's and Maclaurin's formula for the others.
pub fn hurwitz(s: f64, q: f64) -> f64 {
    if s.is_nan() || q.is_nan() || q == f64::INFINITY {
        return if s == 1.0 {
            f64::INFINITY
        } else if s == 2.0 && q == f64::INFINITY {
            0.0
        } else {
            f64::NAN
        };
    }
    if s <= 1.0 {
        return if s == 1.0 { f64::INFINITY } else { f64::NAN };
    }
    if q <= 0.0 && (q == q.floor() || s != s.floor()) {
        return if q == q.floor() { f64::INFINITY } else { f64::NAN };
    }
    if s == f64::INFINITY {
        return match q {
            _ if q.abs() < 1.0 => f64::INFINITY,
            1.0 => 1.0,
            _ => f64::NAN,
        };
    }
    let sum: f64 = (0..40).map(|k| (q + f64::from(k)).powf(-s)).sum();
    let w = q + 40.0;
    let corrections = s / w
        * (1.0 / 12.0 - (s + 1.0) * (s + 2.0) / (w * w) * (1.0 / 720.0 - (s + 3.0) * (s + 4.0) / (w * w) / 30240.0));
    sum + w.powf(-s) * (w / (s - 1.0) + 0.5 + corrections)
}

/// The share of the gamma function's integral of shape `a` that lies below `x`, by its power series.
pub fn lower_gamma(a: f64, x: f64) -> f64 {
    if a.is_nan() || x.is_nan() || a < 0.0 || x < 0.0 || (a == x && (a == 0.0 || a == f64::INFINITY)) {
        // A limit that the other argument decides is that limit, even if this one is none.
        return match () {
            () if a >= 0.0 && x.is_nan() => {
                if a == f64::INFINITY {
                    0.0
                } else {
                    f64::NAN
                }
            }
            () if a.is_nan() && x == 0.0 => 0.0,
            () if a.is_nan() && x == f64::INFINITY => 1.0,
            () => f64::NAN,
        };
    }
    if a == 0.0 || x == f64::INFINITY {
        return 1.0;
    }
    if x == 0.0 || a == f64::INFINITY {
        return 0.0;
    }
    let (mut term, mut sum, mut place) = (1.0 / a, 1.0 / a, a);
    // Far beyond where the reference holds there is no end to it.
    while term > 1e-17 * sum && place < a + 1000.0 {
        place += 1.0;
        term *= x / place;
        sum += term;
    }
    sum * (a * x.ln() - x - log_gamma(a)).exp()
}
