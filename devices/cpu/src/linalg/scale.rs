//! Scaling by powers of two, which loses no bit.

use super::number::Number;
use super::precision::Precision;
use monomorph_core::Result;
use monomorph_ops::linalg::spectral::NOT_CONVERGED;
use std::ops::RangeInclusive;

/// `size`, or `-size` where `x` is negative: a negative zero is not, unlike with `copysign`.
///
/// That is how MKL's Fortran compiler has it, and where an element is zero, signs of vectors depend on it.
pub(super) fn with_sign(size: f64, x: f64) -> f64 {
    if x < 0.0 { -size } else { size }
}

/// The largest absolute value of a component; NaN counts as infinite.
pub(super) fn largest_component<E: Number>(elements: &[E]) -> f64 {
    let mut largest = 0.0_f64;
    for component in elements.iter().flat_map(|x| [x.re().abs(), x.im().abs()]) {
        largest = if component.is_nan() { f64::INFINITY } else { largest.max(component) };
        if largest.is_infinite() {
            break;
        }
    }
    largest
}

/// The exponent of a positive number.
fn exponent(x: f64) -> i32 {
    let biased = |x: f64| (x.to_bits() >> 52 & 0x7ff) as i32;
    if x.is_normal() {
        biased(x) - 1023
    } else {
        // A subnormal number has no exponent of its own before it is scaled.
        biased(x * f64::from_bits((1023 + 64) << 52)) - 1023 - 64
    }
}

/// `x·2ᵏ`, where |k| is up to 2000: a number as well as its exponent may be out of the range of one factor.
pub(super) fn times_power<E: Number>(x: E, k: i32) -> E {
    let half = k / 2;
    let power = |k: i32| f64::from_bits(((1023 + k) as u64) << 52);
    x * power(half) * power(k - half)
}

/// The power of two that brings elements into the range of exponents: 0 for those that are in it, and for zeros.
pub(super) fn power_into(range: &RangeInclusive<i32>, largest: f64) -> i32 {
    if largest == 0.0 { 0 } else { exponent(largest).clamp(*range.start(), *range.end()) - exponent(largest) }
}

/// Multiplies elements by a power of two.
pub(super) fn scale<E: Number>(elements: &mut [E], power: i32) {
    if power != 0 {
        elements.iter_mut().for_each(|x| *x = times_power(*x, power));
    }
}

/// Scales elements so that squares of the largest neither overflow nor underflow, where necessary: the power of two
/// that it takes. Infinite elements and NaN have no decomposition.
pub(super) fn normalize<E: Number>(elements: &mut [E], precision: Precision) -> Result<i32> {
    let largest = largest_component(elements);
    if largest.is_infinite() {
        return Err(NOT_CONVERGED.into());
    }
    let power = power_into(&precision.safe_exponents(), largest);
    scale(elements, power);
    Ok(power)
}
