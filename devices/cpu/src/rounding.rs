//! How values of float32 are rounded where a dtype of 16 bits is computed step by step: after each step, to that dtype.

use crate::half_bits::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

/// A number that steps are computed in.
pub(crate) trait Rounded: Copy {
    /// Rounded to float16, if it is a float32.
    fn to_f16(self) -> Self;

    /// Rounded to bfloat16, if it is a float32.
    fn to_bf16(self) -> Self;
}

impl Rounded for f32 {
    #[inline(always)]
    fn to_f16(self) -> f32 {
        f16_to_f32(f32_to_f16(self))
    }

    #[inline(always)]
    fn to_bf16(self) -> f32 {
        bf16_to_f32(f32_to_bf16(self))
    }
}

impl Rounded for f64 {
    #[inline(always)]
    fn to_f16(self) -> f64 {
        self
    }

    #[inline(always)]
    fn to_bf16(self) -> f64 {
        self
    }
}

/// The dtype that steps are rounded to. A type, so that loops have no choice.
pub(crate) trait Rounding: Copy + Send + Sync {
    /// The value that is nearest to this one.
    fn of<T: Rounded>(self, x: T) -> T;
}

/// Of float32 and float64 values are what they are.
#[derive(Clone, Copy)]
pub(crate) struct Exact;

/// To float16.
#[derive(Clone, Copy)]
pub(crate) struct ToF16;

/// To bfloat16.
#[derive(Clone, Copy)]
pub(crate) struct ToBf16;

impl Rounding for Exact {
    #[inline(always)]
    fn of<T: Rounded>(self, x: T) -> T {
        x
    }
}

impl Rounding for ToF16 {
    #[inline(always)]
    fn of<T: Rounded>(self, x: T) -> T {
        x.to_f16()
    }
}

impl Rounding for ToBf16 {
    #[inline(always)]
    fn of<T: Rounded>(self, x: T) -> T {
        x.to_bf16()
    }
}
