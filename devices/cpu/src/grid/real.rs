//! The numbers that points are computed in, and how they are rounded.

use crate::dense::Plain;
use crate::half_bits::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::tile_product::Number;
use num_traits::Float;

/// A dtype that points are computed in.
pub(super) trait Real: Number + Plain + Float {
    /// All bits of a value, or none.
    type Mask: Copy + Default + Send + Sync;

    /// No bits.
    const NO_BITS: Self::Mask;

    /// Zero.
    const ZERO: Self;

    /// The mask of a choice.
    fn mask(keep: bool) -> Self::Mask;

    /// The bits that both have.
    fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask;

    /// The other value where the mask has all bits.
    fn or(self, other: Self, mask: Self::Mask) -> Self;

    /// The value where the mask has all bits, else 0.
    fn masked(self, mask: Self::Mask) -> Self;

    /// A constant.
    fn constant(x: f64) -> Self;

    /// The nearest integer, the even one of two.
    fn nearest(self) -> Self;

    /// A whole number that is not negative as an index.
    fn index(self) -> usize;

    /// The same.
    ///
    /// # Safety
    ///
    /// The number is less than 2^31.
    unsafe fn short_index(self) -> u32;

    /// Rounded to float16, if it is a float32.
    fn to_f16(self) -> Self;

    /// Rounded to bfloat16, if it is a float32.
    fn to_bf16(self) -> Self;
}

macro_rules! real {
    ($($t:ty: $bits:ty, |$x:ident| $f16:expr, $bf16:expr;)*) => {$(
        impl Real for $t {
            type Mask = $bits;
            const NO_BITS: $bits = 0;
            const ZERO: $t = 0.0;

            #[inline(always)]
            fn mask(keep: bool) -> $bits {
                if keep { <$bits>::MAX } else { 0 }
            }

            #[inline(always)]
            fn both(a: $bits, b: $bits) -> $bits {
                a & b
            }

            #[inline(always)]
            fn or(self, other: $t, mask: $bits) -> $t {
                <$t>::from_bits(self.to_bits() & !mask | other.to_bits() & mask)
            }

            #[inline(always)]
            fn masked(self, mask: $bits) -> $t {
                <$t>::from_bits(self.to_bits() & mask)
            }

            #[inline(always)]
            fn constant(x: f64) -> $t {
                x as $t
            }

            #[inline(always)]
            fn nearest(self) -> $t {
                self.round_ties_even()
            }

            #[inline(always)]
            fn index(self) -> usize {
                self as usize
            }

            #[inline(always)]
            unsafe fn short_index(self) -> u32 {
                // SAFETY: the caller's promise.
                let index: i32 = unsafe { self.to_int_unchecked() };
                index as u32
            }

            #[inline(always)]
            fn to_f16(self) -> $t {
                let $x = self;
                $f16
            }

            #[inline(always)]
            fn to_bf16(self) -> $t {
                let $x = self;
                $bf16
            }
        }
    )*};
}
real! {
    f32: u32, |x| f16_to_f32(f32_to_f16(x)), bf16_to_f32(f32_to_bf16(x));
    f64: u64, |x| x, x;
}

/// How values of a block of points are rounded: to the dtype of the image. A type, so that loops have no choice.
pub(super) trait Rounding: Copy + Send + Sync {
    /// The value that is nearest to this one.
    fn of<T: Real>(self, x: T) -> T;
}

/// Of float32 and float64 values are what they are.
#[derive(Clone, Copy)]
pub(super) struct Exact;

/// To float16.
#[derive(Clone, Copy)]
pub(super) struct ToF16;

/// To bfloat16.
#[derive(Clone, Copy)]
pub(super) struct ToBf16;

impl Rounding for Exact {
    #[inline(always)]
    fn of<T: Real>(self, x: T) -> T {
        x
    }
}

impl Rounding for ToF16 {
    #[inline(always)]
    fn of<T: Real>(self, x: T) -> T {
        x.to_f16()
    }
}

impl Rounding for ToBf16 {
    #[inline(always)]
    fn of<T: Real>(self, x: T) -> T {
        x.to_bf16()
    }
}
