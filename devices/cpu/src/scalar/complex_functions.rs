//! Functions of complex values with float64 parts: square root, logarithm, hyperbolic tangent, power. Special values
//! and branch cuts are those of C99 Annex G, which PyTorch has from the C library (W. Kahan, *Branch Cuts for Complex
//! Elementary Functions, or Much Ado About Nothing's Sign Bit*, 1987). Accurate to a few units of the larger part; owns
//! no vector code: the parts go through library functions.

use super::pair::sum_f64;
use num_complex::Complex;

type C = Complex<f64>;

/// The principal square root.
pub(super) fn sqrt(z: C) -> C {
    let Complex { re, im } = z;
    if im.is_infinite() {
        return C::new(f64::INFINITY, im);
    }
    if re.is_nan() || (im.is_nan() && !re.is_infinite()) {
        return C::new(f64::NAN, f64::NAN);
    }
    if re.is_infinite() {
        let zero = if im.is_nan() { f64::NAN } else { 0.0 };
        return if re > 0.0 { C::new(re, zero.copysign(im)) } else { C::new(zero.abs(), f64::INFINITY.copysign(im)) };
    }
    if re == 0.0 && im == 0.0 {
        return C::new(0.0, im);
    }
    // A power of four brings the larger part near 1, so that neither overflow nor underflow is left.
    let exponent = ((re.abs().max(im.abs()).to_bits() >> 52) as i32 - 1023) / 2;
    let (down, up) = (power_of_two(-exponent), power_of_two(exponent));
    let (x, y) = (re * down * down, im * down * down);
    let large = (0.5 * (x.abs() + x.hypot(y))).sqrt();
    let small = if y == 0.0 { 0.0 } else { 0.5 * y.abs() / large };
    let (root_re, root_im) = if x >= 0.0 { (large, small) } else { (small, large) };
    C::new(root_re * up, (root_im * up).copysign(im))
}

/// 2 to the power of `n`, where that is a normal number.
fn power_of_two(n: i32) -> f64 {
    f64::from_bits(((1023 + n) as u64) << 52)
}

/// The principal logarithm.
pub(super) fn log(z: C) -> C {
    let angle = z.im.atan2(z.re);
    let (large, small) = (z.re.abs().max(z.im.abs()), z.re.abs().min(z.im.abs()));
    let is_nan = z.re.is_nan() || z.im.is_nan();
    let modulus = if (0.5..=2.0).contains(&large) && !is_nan {
        // Near 1 the logarithm is that of 1 + (|z|² - 1), of which no term is rounded.
        let (square, other) = (large * large, small * small);
        let low = large.mul_add(large, -square) + small.mul_add(small, -other);
        let (total, rest) = sum_f64(square - 1.0, other);
        0.5 * (total + (rest + low)).ln_1p()
    } else if z.re.is_infinite() || z.im.is_infinite() {
        f64::INFINITY
    } else if is_nan {
        f64::NAN
    } else if large > 1e300 {
        (large * 0.5).hypot(small * 0.5).ln() + std::f64::consts::LN_2
    } else if large < 1e-300 {
        (large * power_of_two(1000)).hypot(small * power_of_two(1000)).ln() - 1000.0 * std::f64::consts::LN_2
    } else {
        z.re.hypot(z.im).ln()
    };
    C::new(modulus, angle)
}

/// The hyperbolic tangent.
pub(super) fn tanh(z: C) -> C {
    let Complex { re, im } = z;
    if re.is_infinite() {
        let zero = if im.is_finite() { (im.sin() * im.cos()) * 0.0 } else { 0.0f64.copysign(im) };
        return C::new(1.0f64.copysign(re), zero);
    }
    if !im.is_finite() {
        return C::new(if re == 0.0 { re } else { f64::NAN }, f64::NAN);
    }
    if re.is_nan() {
        return C::new(re, if im == 0.0 { im } else { f64::NAN });
    }
    if re.abs() > 20.0 {
        // (sinh 2x + i sin 2y) / (cosh 2x + cos 2y), whose hyperbolic terms are e^2|x| / 2 here.
        let fall = (-re.abs()).exp();
        return C::new(1.0f64.copysign(re), 4.0 * im.sin() * im.cos() * fall * fall);
    }
    // Kahan's form: t = tan y, s = sinh x.
    let (t, s) = (im.tan(), re.sinh());
    let slope = 1.0 + t * t;
    let below = 1.0 + slope * s * s;
    C::new(slope * (1.0 + s * s).sqrt() * s / below, t / below)
}

/// e^(exponent·log z).
pub(super) fn pow(z: C, exponent: C) -> C {
    exp(product(exponent, log(z)))
}

/// A product that is infinite where a factor is, even if both of its parts are NaN by the rule for numbers: the example
/// of C99, Annex G.5.1.
fn product(z: C, w: C) -> C {
    let plain = z * w;
    if !(plain.re.is_nan() && plain.im.is_nan()) {
        return plain;
    }
    let is_infinite = |z: C| z.re.is_infinite() || z.im.is_infinite();
    let by_parts = |z: C, f: fn(f64) -> f64| C::new(f(z.re), f(z.im));
    let without_nan = |z: C| by_parts(z, |x| if x.is_nan() { 0.0f64.copysign(x) } else { x });
    // An infinite factor is a direction.
    let direction = |z: C| by_parts(z, |x| if x.is_infinite() { 1.0f64 } else { 0.0 }.copysign(x));
    let overflows = || [z.re * w.re, z.im * w.im, z.re * w.im, z.im * w.re].iter().any(|x| x.is_infinite());
    let (a, b) = match (is_infinite(z), is_infinite(w)) {
        (true, true) => (direction(z), direction(w)),
        (true, false) => (direction(z), without_nan(w)),
        (false, true) => (without_nan(z), direction(w)),
        (false, false) if overflows() => (without_nan(z), without_nan(w)),
        _ => return plain,
    };
    by_parts(a * b, |x| f64::INFINITY * x)
}

/// The exponential, by the C library's real functions.
fn exp(z: C) -> C {
    let Complex { re, im } = z;
    if im == 0.0 {
        return C::new(re.exp(), im);
    }
    if !im.is_finite() {
        return if re == f64::INFINITY {
            C::new(re, f64::NAN)
        } else if re == f64::NEG_INFINITY {
            C::new(0.0, 0.0f64.copysign(im))
        } else {
            C::new(f64::NAN, f64::NAN)
        };
    }
    let (sin, cos) = im.sin_cos();
    // Where e^re overflows the product may still be finite.
    let (first, rest) = if re > 709.0 { (709.0, re - 709.0) } else { (0.0, re) };
    let (one, two) = (f64::exp(first), rest.exp());
    C::new(cos * one * two, sin * one * two)
}
