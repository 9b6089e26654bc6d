//! Images at the points of a grid on the CPU, a block of points at a time: which elements are around each point, and
//! what they weigh, is found once, side by side for all points ([`axis`]); each channel is a sum of such elements then
//! ([`sum`]).
//!
//! Every step is rounded to the dtype of the image in the order in which PyTorch computes it: halves are computed in
//! float32, and rounded after each operation.

mod axis;
mod gradient;
mod real;
mod sum;

use crate::converted::ConvertedOutput;
use crate::dense::Dense;
use crate::device::Cpu;
use crate::isa::{Isa, Kernel, Level};
use crate::rounding::{Exact, Rounding, ToBf16, ToF16};
use axis::{Along, Axis};
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{DType, Result};
use monomorph_iter::{is_parallel, share};
use monomorph_ops::grid::{GridFn, GridInputs, GridPlan, GridSample, Interpolation};
use real::Real;
use std::ops::Range;
use sum::Corners;

/// Points that are looked at together.
const POINTS: usize = 64;

/// Sums that are worth a piece of work for a thread.
const WORK: usize = 1 << 14;

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
            DType::F64 => ready.sample::<f64, _>(plan, Exact),
            DType::F16 => ready.sample::<f32, _>(plan, ToF16),
            DType::BF16 => ready.sample::<f32, _>(plan, ToBf16),
            _ => ready.sample::<f32, _>(plan, Exact),
        }
        match &mut ready.staged {
            // SAFETY: the elements were just written, and the output is nobody else's (E2).
            Some(staged) => unsafe { staged.store() },
            None => Ok(()),
        }
    }
}

impl Ready {
    fn sample<T: Real, R: Rounding>(&self, plan: &GridPlan, rounds: R) {
        let (image, grid) = (self.image.elements::<T>(), self.grid.elements::<T>());
        if image.is_empty() || grid.is_empty() {
            return;
        }
        let volume = plan.sizes.iter().product::<usize>();
        debug_assert_eq!(image.len(), plan.batch * plan.channels * volume);
        let axes = [0, 1, 2].map(|d| Axis::new(d, plan));
        let output = Output(self.output.cast::<T>());
        let call = Call { plan, axes, volume, image, grid, output, rounds };
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

/// Finds the elements around a block of points along each dimension.
#[inline(always)]
fn find_all<T: Real, R: Rounding>(
    plan: &GridPlan,
    axes: &[Axis<T>; 3],
    coordinates: &[T],
    all: &mut [Along<T>; 3],
    rounds: R,
) {
    let (all, axes) = (&mut all[3 - plan.dims..], &axes[3 - plan.dims..]);
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
        along.find(axis, &at, rounds);
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
struct Call<'a, T, R> {
    plan: &'a GridPlan,
    axes: [Axis<T>; 3],
    /// Elements of a channel.
    volume: usize,
    image: &'a [T],
    grid: &'a [T],
    output: Output<T>,
    rounds: R,
}

/// Blocks of points, which are nobody else's.
struct Piece<'a, T, R> {
    of: &'a Call<'a, T, R>,
    blocks: Range<usize>,
}

impl<T: Real, I: Isa, R: Rounding> Kernel<I> for Piece<'_, T, R> {
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

impl<T: Real, R: Rounding> Call<'_, T, R> {
    /// Computes block number `block` of all images.
    #[inline(always)]
    fn block(&self, block: usize, all: &mut [Along<T>; 3], corners: &mut Corners<T>) {
        let plan = self.plan;
        let blocks = plan.points.div_ceil(POINTS);
        let (image, first) = (block / blocks, block % blocks * POINTS);
        let points = POINTS.min(plan.points - first);
        let coordinates = &self.grid[(image * plan.points + first) * plan.dims..][..points * plan.dims];
        find_all(plan, &self.axes, coordinates, all, self.rounds);
        let (all, axes) = (&all[3 - plan.dims..], &self.axes[3 - plan.dims..]);
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
                (Interpolation::Nearest, _) => corners.sum::<1, false, R>(plane, self.rounds),
                _ if sum::are_pairs(axes) => corners.sum_of_pairs(plane, self.rounds),
                (_, 2) => corners.sum::<4, true, R>(plane, self.rounds),
                _ => corners.sum::<8, true, R>(plane, self.rounds),
            };
            store(channel, &sums);
        }
    }
}
