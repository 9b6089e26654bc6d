//! The magnitude of a complex value.

/// hypot of two float32: in float64 neither overflow nor underflow can happen, and one rounding remains.
#[inline(always)]
pub(super) fn hypot_f32(x: f32, y: f32) -> f32 {
    let (wide_x, wide_y) = (f64::from(x), f64::from(y));
    let length = (wide_x * wide_x + wide_y * wide_y).sqrt() as f32;
    let infinite = x.is_infinite() | y.is_infinite();
    if infinite { f32::INFINITY } else { length }
}

/// hypot of two float64.
#[inline(always)]
pub(super) fn hypot_f64(x: f64, y: f64) -> f64 {
    x.hypot(y)
}
