//! The gamma function's logarithm and its derivatives of most numbers, without branches, so that loops over them
//! vectorise: NaN of what takes longer. Only for levels with fused products. Errors are below 1 ULP, whose half is the
//! last rounding. The incomplete functions of small numbers, likewise.

mod digamma;
mod incomplete;
mod lgamma;
mod parts;
mod trigamma;

pub(super) use digamma::{digamma_above_f32, digamma_above_f64, digamma_quick_f32, digamma_quick_f64};
pub(super) use incomplete::{is_within, lower_quick, lower_short, upper_quick, upper_short};
pub(super) use lgamma::{exponent, exponent_short, small_exponent, small_exponent_short};
pub(super) use lgamma::{lgamma_above_f32, lgamma_above_f64, lgamma_quick_f32, lgamma_quick_f64};
pub(super) use trigamma::{trigamma_quick_f32, trigamma_quick_f64};

/// The positive numbers that everything is good for: nothing over- or underflows on the way.
pub(super) const PLAIN_F64: std::ops::Range<f64> = 1e-140..1e300;
/// The same of float32: subnormal ones are normal in float64.
pub(super) const PLAIN_F32: std::ops::Range<f32> = f32::from_bits(1)..f32::INFINITY;
