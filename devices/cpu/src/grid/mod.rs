//! Images at the points of a grid on the CPU, a block of points at a time: which elements are around each point, and
//! what they weigh, is found once, side by side for all points ([`axis`]); each channel is a sum of such elements then
//! ([`sum`]).
//!
//! Every step is rounded to the dtype of the image in the order in which PyTorch computes it: halves are computed in
//! float32, and rounded after each operation.

mod axis;
mod sum;

use crate::converted::ConvertedOutput;
use crate::dense::{Dense, Plain};
use crate::device::Cpu;
use crate::isa::{Isa, Kernel, Level};
use crate::tile_product::Number;
use axis::{Along, Axis};
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{DType, Result};
use monomorph_iter::{is_parallel, share};
use monomorph_ops::grid::{GridFn, GridInputs, GridPlan, GridSample, Interpolation};
use num_traits::Float;
use std::ops::Range;
use sum::Corners;

/// Points that are looked at together.
const POINTS: usize = 64;

/// Sums that are worth a piece of work for a thread.
const WORK: usize = 1 << 14;

/// A dtype that points are computed in.
trait Real: Number + Plain + Float {
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
    ($($t:ty: $bits:ty),*) => {$(
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
real! { f32: u32, f64: u64 }

/// A value of a block of points, rounded to the dtype of the image where that is a half.
#[derive(Clone, Copy)]
struct Rounds<const HALF: bool>(DType);

impl<const HALF: bool> Rounds<HALF> {
    #[inline(always)]
    fn of<T: Real>(self, x: T) -> T {
        if HALF { x.rounded(self.0) } else { x }
    }
}

/// A call bound to memory: image and grid in the dtype that is computed in, row-major, and the output.
#[derive(Debug)]
pub struct Ready {
    level: Level,
    dtype: DType,
    image: Dense,
    grid: Dense,
    output: *mut u8,
    /// The output that is converted afterwards.
    staged: Option<ConvertedOutput>,
}

// SAFETY: the output is written by whoever has the only reference.
unsafe impl Send for Ready {}

// SAFETY: every element of the inputs is in bounds, and every one of the output, which is row-major, is written.
unsafe impl<F: GridFn> Executes<GridSample<F>> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &GridPlan, inputs: &GridInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        let [image, grid] = inputs.operands();
        let dtype = outputs.geometry(0).dtype();
        let wide = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
        // SAFETY: E2: the operands are borrowed as long as the result lives.
        let dense = |operand| unsafe { Dense::new(operand, wide, plan.copies) };
        let (image, grid) = (dense(image)?, dense(grid)?);
        let mut staged = ConvertedOutput::new(outputs, 0, wide)?;
        let output = staged.as_mut().map_or_else(|| outputs.data(0), ConvertedOutput::data);
        Ok(Ready { level: crate::level()?, dtype, image, grid, output, staged })
    }

    unsafe fn run(ready: &mut Ready, plan: &GridPlan) -> Result<()> {
        for input in [&mut ready.image, &mut ready.grid] {
            // SAFETY: E2: the operands are borrowed.
            unsafe { input.load() }?;
        }
        match ready.dtype {
            DType::F64 => ready.sample::<f64, false>(plan),
            DType::F32 => ready.sample::<f32, false>(plan),
            _ => ready.sample::<f32, true>(plan),
        }
        match &mut ready.staged {
            // SAFETY: the elements were just written, and the output is nobody else's (E2).
            Some(staged) => unsafe { staged.store() },
            None => Ok(()),
        }
    }
}

impl Ready {
    fn sample<T: Real, const HALF: bool>(&self, plan: &GridPlan) {
        let (image, grid) = (self.image.elements::<T>(), self.grid.elements::<T>());
        if image.is_empty() || grid.is_empty() {
            return;
        }
        let volume = plan.sizes.iter().product::<usize>();
        debug_assert_eq!(image.len(), plan.batch * plan.channels * volume);
        let axes = [0, 1, 2].map(|d| Axis::new(d, plan));
        let output = Output(self.output.cast::<T>());
        let call = Call { plan, axes, volume, image, grid, output, rounds: Rounds::<HALF>(self.dtype) };
        let blocks = plan.points.div_ceil(POINTS);
        let all = plan.batch * blocks;
        let work = POINTS * plan.channels * if plan.interpolation == Interpolation::Cubic { 4 } else { 1 };
        let together = (WORK / work.max(1)).clamp(1, all);
        let level = self.level;
        let piece = |piece: usize| {
            let blocks = piece * together..all.min((piece + 1) * together);
            level.enter(Piece { of: &call, blocks });
        };
        if is_parallel(all * work, WORK) {
            share(all.div_ceil(together), piece);
        } else {
            (0..all.div_ceil(together)).for_each(piece);
        }
    }
}

/// Coordinate number `D` of points that have `N`.
#[inline(always)]
fn take<T: Real, const N: usize, const D: usize>(at: &mut [T; POINTS], coordinates: &[T]) {
    for (at, point) in at.iter_mut().zip(coordinates.as_chunks::<N>().0) {
        *at = point[D];
    }
}

/// The output.
///
/// Invariant: it has an element for each point of each channel of each image, which only blocks of these points use.
#[derive(Clone, Copy)]
struct Output<T>(*mut T);

// SAFETY: threads write elements of their own.
unsafe impl<T: Send> Sync for Output<T> {}

/// What all blocks of a call share.
struct Call<'a, T, const HALF: bool> {
    plan: &'a GridPlan,
    axes: [Axis<T>; 3],
    /// Elements of a channel.
    volume: usize,
    image: &'a [T],
    grid: &'a [T],
    output: Output<T>,
    rounds: Rounds<HALF>,
}

/// Blocks of points, which are nobody else's.
struct Piece<'a, T, const HALF: bool> {
    of: &'a Call<'a, T, HALF>,
    blocks: Range<usize>,
}

impl<T: Real, I: Isa, const HALF: bool> Kernel<I> for Piece<'_, T, HALF> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        // Kept from block to block: to clear them would take as long as what is done with them.
        let mut all = [Along::NONE; 3];
        let mut corners = Corners::NONE;
        for block in self.blocks {
            self.of.block(block, &mut all, &mut corners);
        }
    }
}

impl<T: Real, const HALF: bool> Call<'_, T, HALF> {
    /// Computes block number `block` of all images.
    #[inline(always)]
    fn block(&self, block: usize, all: &mut [Along<T>; 3], corners: &mut Corners<T>) {
        let plan = self.plan;
        let blocks = plan.points.div_ceil(POINTS);
        let (image, first) = (block / blocks, block % blocks * POINTS);
        let points = POINTS.min(plan.points - first);
        let coordinates = &self.grid[(image * plan.points + first) * plan.dims..][..points * plan.dims];
        let (all, axes) = (&mut all[3 - plan.dims..], &self.axes[3 - plan.dims..]);
        for (d, (along, axis)) in all.iter_mut().rev().zip(axes.iter().rev()).enumerate() {
            // The first coordinate is of the last axis. Where there are fewer points than lanes, the others are 0.
            let mut at = [T::ZERO; POINTS];
            // Dimension by dimension, so that it is known which elements of the grid are taken.
            match (plan.dims, d) {
                (2, 0) => take::<T, 2, 0>(&mut at, coordinates),
                (2, _) => take::<T, 2, 1>(&mut at, coordinates),
                (_, 0) => take::<T, 3, 0>(&mut at, coordinates),
                (_, 1) => take::<T, 3, 1>(&mut at, coordinates),
                _ => take::<T, 3, 2>(&mut at, coordinates),
            }
            along.find(axis, &at, self.rounds);
        }
        let channels = self.image[image * plan.channels * self.volume..].chunks_exact(self.volume).take(plan.channels);
        let store = |channel: usize, sums: &[T; POINTS]| {
            let to = self.output.0.wrapping_add((image * plan.channels + channel) * plan.points + first);
            // SAFETY: the points of this block in this channel are elements of the output, which nobody else uses
            // (the invariant, and that of a piece).
            unsafe { to.copy_from_nonoverlapping(sums.as_ptr(), points) };
        };
        if plan.interpolation == Interpolation::Cubic {
            for (channel, plane) in channels.enumerate() {
                store(channel, &sum::nested(all, plane, self.rounds));
            }
            return;
        }
        corners.find(all, axes, self.rounds);
        for (channel, plane) in channels.enumerate() {
            // One nearest element is not weighted.
            let sums = match (plan.interpolation, plan.dims) {
                (Interpolation::Nearest, _) => corners.sum::<1, false, HALF>(plane, self.rounds),
                _ if sum::are_pairs(axes) => corners.sum_of_pairs(plane, self.rounds),
                (_, 2) => corners.sum::<4, true, HALF>(plane, self.rounds),
                _ => corners.sum::<8, true, HALF>(plane, self.rounds),
            };
            store(channel, &sums);
        }
    }
}
