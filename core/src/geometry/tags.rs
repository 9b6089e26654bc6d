//! What calls ask of every geometry, as bits of one word: found out once, where a geometry is made.
#![deny(clippy::arithmetic_side_effects)]

use super::strides;
use crate::dtype::DType;

/// What is compared of every operand of every call, as one word.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub(super) struct Tags {
    pub(super) ndim: u32,
    pub(super) dtype: DType,
    pub(super) traits: Traits,
    pub(super) zero: u16,
}

impl Tags {
    #[inline(always)]
    pub(super) fn word(self) -> u64 {
        let (dtype, traits) = (u64::from(self.dtype as u8), u64::from(self.traits.0));
        u64::from(self.ndim) | dtype << 32 | traits << 40 | u64::from(self.zero) << 48
    }
}

/// What is asked of every operand of every call, as bits: found out once, where a geometry is made, and compared at
/// once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Traits(pub(super) u8);

impl Traits {
    pub(super) const CONJ: u8 = 1;
    pub(super) const NEG: u8 = 2;
    pub(super) const WRAPPED: u8 = 4;
    pub(super) const NAMED: u8 = 8;
    /// The elements lie row-major without gaps.
    pub(super) const ROW_MAJOR: u8 = 16;
    /// The strides are those of a new row-major tensor, also where they do not matter.
    pub(super) const CANONICAL: u8 = 32;
    /// There are dimensions, and every one has more than one element: strides of the same elements can only be the
    /// same.
    pub(super) const AMPLE: u8 = 64;
    /// What says nothing of the values.
    pub(super) const LAYOUT: u8 = Traits::ROW_MAJOR | Traits::CANONICAL | Traits::AMPLE;

    /// What sizes and strides tell.
    #[inline]
    pub(super) fn of(sizes: &[i64], strides: &[i64]) -> Traits {
        let mut running: i64 = 1;
        let mut ample = !sizes.is_empty();
        let mut canonical = true;
        for (&size, &stride) in sizes.iter().zip(strides).rev() {
            ample &= size > 1;
            // Below zero where the product does not fit, which is the stride of no tensor: new tensors of such sizes
            // are refused.
            canonical &= stride == running;
            running = if running < 0 { running } else { running.checked_mul(size.max(1)).unwrap_or(-1) };
        }
        let layout = match canonical {
            true => Traits::ROW_MAJOR | Traits::CANONICAL,
            false if strides::is_contiguous(sizes, strides) => Traits::ROW_MAJOR,
            false => 0,
        };
        Traits(layout | if ample { Traits::AMPLE } else { 0 })
    }

    #[inline]
    pub(super) fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    #[inline]
    pub(super) fn set(&mut self, bit: u8, on: bool) {
        self.0 = if on { self.0 | bit } else { self.0 & !bit };
    }
}
