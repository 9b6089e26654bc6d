//! The arithmetic of what sums of products are taken in.

use crate::isa::Isa;
use crate::lane_tree::{self, LANES, merged};
use monomorph_core::Scalar;

/// A number type that products are summed in.
pub(super) trait Summed: Copy + Send + Sync + 'static {
    const ZERO: Self;
    fn of(number: Scalar) -> Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// `self * factor + addend`, in one instruction where the level has one.
    fn fused<I: Isa>(self, factor: Self, addend: Self) -> Self;
    /// The sums of sixteen lanes each, [`merged`] in the same order at every level.
    ///
    /// # Safety
    ///
    /// The host has the level.
    #[inline(always)]
    unsafe fn four_sums<I: Isa>([a, b, c, d]: [[Self; LANES]; 4]) -> [Self; 4] {
        [merged(a, Self::plus), merged(b, Self::plus), merged(c, Self::plus), merged(d, Self::plus)]
    }
    /// Whether this is an integer of 64 bits whose value, with its sign, fits in 32.
    fn fits_i32(self) -> bool {
        false
    }
    /// `self * other` of two that fit, a product of 32 by 32 bits.
    #[inline(always)]
    fn times_as_i32(self, other: Self) -> Self {
        self.times(other)
    }
}

macro_rules! floats {
    ($($t:ty $({ $($function:item)* })?)*) => {$(
        impl Summed for $t {
            $($($function)*)?
            const ZERO: $t = 0.0;
            fn of(number: Scalar) -> $t {
                number.to_f64() as $t
            }
            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                self + other
            }
            #[inline(always)]
            fn times(self, other: $t) -> $t {
                self * other
            }
            #[inline(always)]
            fn fused<I: Isa>(self, factor: $t, addend: $t) -> $t {
                if I::FMA { self.mul_add(factor, addend) } else { self * factor + addend }
            }
        }
    )*};
}
floats! {
    f32 {
        #[inline(always)]
        unsafe fn four_sums<I: Isa>(lanes: [[f32; LANES]; 4]) -> [f32; 4] {
            // SAFETY: the host has the level: the caller's promise.
            unsafe { lane_tree::four_sums::<I>(lanes) }
        }
    }
    f64
}

// Modulo a power of two, in which signed and unsigned ones are the same.
macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Summed for $t {
            const ZERO: $t = 0;
            fn of(number: Scalar) -> $t {
                number.to_i64() as $t
            }
            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn times(self, other: $t) -> $t {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn fused<I: Isa>(self, factor: $t, addend: $t) -> $t {
                self.wrapping_mul(factor).wrapping_add(addend)
            }
            #[inline(always)]
            fn fits_i32(self) -> bool {
                size_of::<$t>() == 8 && self as i64 == i64::from(self as i32)
            }
            #[inline(always)]
            fn times_as_i32(self, other: $t) -> $t {
                (i64::from(self as i32) * i64::from(other as i32)) as $t
            }
        }
    )*};
}
integers! { i32 i64 u8 u16 u32 u64 }
