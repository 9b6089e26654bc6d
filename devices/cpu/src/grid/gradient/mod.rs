//! The gradients of images at the points of a grid, by the image and by the grid.
//!
//! Where points lie, and which elements are around them, is found for a block of points as it is for the images
//! themselves ([`axis`](super::axis)). By the image, each corner around a point adds its share of the gradient to the
//! element that is there: channels are apart from each other, so threads share them out. By the grid, the slopes of the
//! weights are summed over the channels ([`sums`]): blocks of points are apart from each other.

mod sums;

use super::axis::{Along, Axis, TAPS};
use super::real::Real;
use super::{POINTS, WORK};
use crate::converted::ConvertedOutput;
use crate::dense::Dense;
use crate::device::Cpu;
use crate::isa::{Isa, Kernel, Level};
use crate::rounding::{Exact, Rounding, ToBf16, ToF16};
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{DType, Result, list};
use monomorph_iter::{is_parallel, share};
use monomorph_ops::grid::{GridPlan, Interpolation};
use monomorph_ops::grid_gradient::{GridGradient, GridGradientInputs};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A call bound to memory: its inputs in the dtype that is computed in, row-major, and the gradients.
#[derive(Debug)]
pub struct Ready {
    level: Level,
    dtype: DType,
    /// The gradient, the image and the grid.
    inputs: [Dense; 3],
    outputs: [*mut u8; 2],
    /// The outputs that are converted afterwards.
    staged: [Option<ConvertedOutput>; 2],
}

// SAFETY: the outputs are written by whoever has the only reference.
unsafe impl Send for Ready {}

// SAFETY: every element of the inputs is in bounds, and every one of the outputs, which are row-major, is written.
unsafe impl Executes<GridGradient> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &GridPlan, inputs: &GridGradientInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        let dtype = outputs.geometry(0).dtype();
        let wide = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
        let [grad, image, grid] = inputs.operands();
        // SAFETY: E2: the operands are borrowed as long as the result lives.
        let dense = |operand| unsafe { Dense::new(operand, wide, plan.copies) };
        let inputs = [dense(grad)?, dense(image)?, dense(grid)?];
        let mut staged = [ConvertedOutput::new(outputs, 0, wide)?, ConvertedOutput::new(outputs, 1, wide)?];
        let mut at = 0..2;
        let outputs = staged.each_mut().map(|staged| {
            let i = at.next().unwrap_or(0);
            staged.as_mut().map_or_else(|| outputs.data(i), ConvertedOutput::data)
        });
        Ok(Ready { level: crate::level()?, dtype, inputs, outputs, staged })
    }

    unsafe fn run(ready: &mut Ready, plan: &GridPlan) -> Result<()> {
        for input in &mut ready.inputs {
            // SAFETY: E2: the operands are borrowed.
            unsafe { input.load() }?;
        }
        match ready.dtype {
            DType::F64 => ready.compute::<f64, _>(plan, Exact),
            DType::F16 => ready.compute::<f32, _>(plan, ToF16),
            DType::BF16 => ready.compute::<f32, _>(plan, ToBf16),
            _ => ready.compute::<f32, _>(plan, Exact),
        }?;
        for staged in ready.staged.iter_mut().flatten() {
            // SAFETY: the elements were just written, and the output is nobody else's (E2).
            unsafe { staged.store() }?;
        }
        Ok(())
    }
}

impl Ready {
    fn compute<T: Real, R: Rounding>(&self, plan: &GridPlan, rounds: R) -> Result<()> {
        let [grad, image, grid] = self.inputs.each_ref().map(Dense::elements::<T>);
        let [to_image, to_grid] = self.outputs.map(<*mut u8>::cast::<T>);
        let is_wanted = plan.of_image && !image.is_empty();
        if is_wanted {
            // SAFETY: the gradient by the image has as many elements, which nobody else uses; zero is 0 bits.
            unsafe { to_image.write_bytes(0, image.len()) };
        }
        // SAFETY: the gradient by the grid has as many elements, which nobody else uses; zero is 0 bits.
        unsafe { to_grid.write_bytes(0, grid.len()) };
        if image.is_empty() || grid.is_empty() {
            return Ok(());
        }
        let volume = plan.sizes.iter().product::<usize>();
        let (axes, level) = ([0, 1, 2].map(|d| Axis::new(d, plan)), self.level);
        let step = if plan.dims == 3 { 1 } else { 32 / self.dtype.size() };
        let outputs = Gradients { to_image, to_grid };
        let call = Call { plan, axes, volume, grad, image, grid, outputs, step, rounds };
        let taps = match plan.interpolation {
            Interpolation::Nearest => 1,
            Interpolation::Linear => 2_usize,
            Interpolation::Cubic => TAPS,
        };
        let corners = taps.pow(plan.dims as u32);
        let work = |points: usize| points * plan.dims * if plan.interpolation == Interpolation::Cubic { 4 } else { 1 };
        // Channels of an image share where its points are: a piece has as many as are worth it.
        let channels = (WORK / work(plan.points).max(1)).clamp(1, plan.channels);
        let groups = plan.channels.div_ceil(channels);
        if is_wanted {
            pieces(corners, plan.batch * groups, work(plan.points) * channels, |piece, state| {
                let (image, first) = (piece / groups, piece % groups * channels);
                let channels = first..plan.channels.min(first + channels);
                level.enter(OfImage { of: &call, image, channels, state });
            })?;
        }
        if plan.interpolation == Interpolation::Nearest {
            // The nearest element is the same in the surroundings of almost every point.
            return Ok(());
        }
        let blocks = plan.points.div_ceil(POINTS);
        let together = (WORK / work(POINTS * plan.channels)).clamp(1, blocks);
        let groups = blocks.div_ceil(together);
        pieces(corners, plan.batch * groups, work(POINTS * plan.channels) * together, |piece, state| {
            let (image, first) = (piece / groups, piece % groups * together);
            level.enter(OfGrid { of: &call, image, blocks: first..blocks.min(first + together), state });
        })
    }
}

/// Does pieces of so much work each, where points have so many corners.
fn pieces<T: Real>(
    corners: usize,
    pieces: usize,
    work: usize,
    run: impl Fn(usize, &mut State<T>) + Sync + Send,
) -> Result<()> {
    let failed = Mutex::new(None);
    let piece = |piece: usize| match State::new(corners) {
        Ok(mut state) => run(piece, &mut state),
        Err(error) => drop(failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error)),
    };
    if is_parallel(pieces.saturating_mul(work), WORK) {
        share(pieces, piece);
    } else {
        let mut state = State::new(corners)?;
        (0..pieces).for_each(|piece| run(piece, &mut state));
    }
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// The outputs.
///
/// Invariant: the gradient by the image has an element for each of the image's, if it is wanted, and that by the grid
/// one for each of the grid's. A piece alone uses the channels or points that are its own.
struct Gradients<T> {
    to_image: *mut T,
    to_grid: *mut T,
}

// SAFETY: threads write elements of their own.
unsafe impl<T: Send> Sync for Gradients<T> {}

/// What all pieces of a call share.
struct Call<'a, T, R> {
    plan: &'a GridPlan,
    axes: [Axis<T>; 3],
    /// Elements of a channel.
    volume: usize,
    grad: &'a [T],
    image: &'a [T],
    grid: &'a [T],
    outputs: Gradients<T>,
    /// How many points each corner adds to the image before the next one does.
    step: usize,
    rounds: R,
}

/// A corner around a block of points: an element along each dimension.
///
/// Invariant: a place is that of an element of a channel.
#[derive(Clone, Copy)]
struct Corner<T: Real> {
    /// Which element along each dimension.
    taps: [usize; 3],
    place: [usize; POINTS],
    /// All bits where it is inside of the image.
    mask: [T::Mask; POINTS],
    /// The product of its weights; of cubic ones nothing.
    weight: [T; POINTS],
    /// What it adds to the image, or the element of the image.
    value: [T; POINTS],
}

/// What a corner around a point adds to: the number of the corner, that of the point, and the place in a channel.
#[derive(Clone, Copy)]
struct Share {
    corner: u32,
    point: u32,
    place: usize,
}

/// What a piece works with, kept from block to block of a call.
///
/// Invariant: shares are of corners and points of the block, and places those of corners.
struct State<T: Real> {
    all: [Along<T>; 3],
    corners: Vec<Corner<T>>,
    shares: Vec<Share>,
}

impl<T: Real> State<T> {
    /// Room for blocks whose points have so many corners.
    fn new(corners: usize) -> Result<State<T>> {
        let all = [Along::NONE, Along::NONE, Along::NONE];
        Ok(State { all, corners: list::with_capacity(corners)?, shares: list::with_capacity(corners * POINTS)? })
    }
}

/// The gradient by these channels of an image.
struct OfImage<'a, 's, T: Real, R> {
    of: &'a Call<'a, T, R>,
    image: usize,
    channels: Range<usize>,
    state: &'s mut State<T>,
}

impl<T: Real, I: Isa, R: Rounding> Kernel<I> for OfImage<'_, '_, T, R> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let OfImage { of: call, image, channels, state } = self;
        for first in (0..call.plan.points).step_by(POINTS) {
            call.find(image, first, state);
            call.order(first, state);
            for channel in channels.clone() {
                let channel = image * call.plan.channels + channel;
                let to = call.outputs.to_image.wrapping_add(channel * call.volume);
                // SAFETY: a channel of the gradient by the image, which is this piece's (the invariant).
                let to = unsafe { std::slice::from_raw_parts_mut(to, call.volume) };
                call.add(channel, first, state, to);
            }
        }
    }
}

/// The gradient by these blocks of points.
struct OfGrid<'a, 's, T: Real, R> {
    of: &'a Call<'a, T, R>,
    image: usize,
    blocks: Range<usize>,
    state: &'s mut State<T>,
}

impl<T: Real, I: Isa, R: Rounding> Kernel<I> for OfGrid<'_, '_, T, R> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let OfGrid { of: call, image, blocks, state } = self;
        let plan = call.plan;
        for first in blocks.map(|block| block * POINTS) {
            call.find(image, first, state);
            let sums = call.slopes(image, first, state);
            let points = POINTS.min(plan.points - first);
            let to = call.outputs.to_grid.wrapping_add((image * plan.points + first) * plan.dims);
            // SAFETY: the coordinates of these points, which are this piece's (the invariant).
            let to = unsafe { std::slice::from_raw_parts_mut(to, points * plan.dims) };
            for (i, point) in to.chunks_exact_mut(plan.dims).enumerate() {
                // The first coordinate is of the last axis.
                point.iter_mut().zip(sums.iter().rev()).for_each(|(to, sums)| *to = sums[i]);
            }
        }
    }
}
