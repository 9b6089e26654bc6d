//! The numbers that points are computed in.

use crate::dense::Plain;
use crate::rounding::Rounded;
use crate::tile_product::Number;
use num_traits::Float;

/// A dtype that points are computed in.
pub(super) trait Real: Number + Plain + Float + Rounded {
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
}

macro_rules! real {
    ($($t:ty: $bits:ty;)*) => {$(
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
        }
    )*};
}
real! {
    f32: u32;
    f64: u64;
}
