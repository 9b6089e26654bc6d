//! The length of a pair: the magnitude of a complex value, and hypot.

use super::pair::product_f64;
use crate::isa::Isa;

/// hypot of two float32: in float64 neither overflow nor underflow can happen, and one rounding remains.
#[inline(always)]
pub(super) fn hypot_f32(x: f32, y: f32) -> f32 {
    let (wide_x, wide_y) = (f64::from(x), f64::from(y));
    let length = (wide_x * wide_x + wide_y * wide_y).sqrt() as f32;
    let infinite = x.is_infinite() | y.is_infinite();
    if infinite { f32::INFINITY } else { length }
}

/// hypot of two float64: the root of the sum of squares after a power of two has brought the larger one near 1, and one
/// step of Newton's with what that root lacks (C. F. Borges, *Algorithm 1014: An Improved Algorithm for hypot(x,y)*,
/// ACM TOMS 47(1), 2020).
#[inline(always)]
pub(super) fn hypot_f64<I: Isa>(x: f64, y: f64) -> f64 {
    /// Squares of what is between these are normal numbers, and so are those of what is brought there by the factors.
    const FAR: f64 = power(500);
    const NEAR: f64 = power(-500);
    let (a, b) = (x.abs(), y.abs());
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    let down = if large > FAR { power(-600) } else { 1.0 };
    let down = if large < NEAR { power(600) } else { down };
    let up = if large > FAR { power(600) } else { 1.0 };
    let up = if large < NEAR { power(-600) } else { up };
    let (large, small) = (large * down, small * down);
    let ((p, p_low), (q, q_low)) = (product_f64::<I>(large, large), product_f64::<I>(small, small));
    let root = (p + q).sqrt();
    let (square, low) = product_f64::<I>(root, root);
    let over = ((square - p) - q) + (low - p_low - q_low);
    // Zero has no correction.
    let length = if root > 0.0 { root - over / (2.0 * root) } else { root };
    // A NaN may be lost where the larger one is chosen, never where both are added.
    let length = if x.is_nan() | y.is_nan() { x + y } else { length * up };
    if x.is_infinite() | y.is_infinite() { f64::INFINITY } else { length }
}

/// The C library's, which complex values take for their magnitude, as their C text does.
#[inline(always)]
pub(super) fn library_hypot(x: f64, y: f64) -> f64 {
    x.hypot(y)
}

/// 2 to the power of `n`.
const fn power(n: i64) -> f64 {
    f64::from_bits(((1023 + n) as u64) << 52)
}
