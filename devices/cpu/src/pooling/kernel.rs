//! The loops over windows: one walk over the places of a window for a block of lanes, and the three folds.

use super::numbers::{Average, Lowest, divided};
use super::{Way, columns, spread};
use crate::element::{CpuElement, load, store};
use crate::isa::{Isa, Kernel, Level};
use crate::stride2::every_second;
#[cfg(feature = "halves")]
use half::{bf16, f16};
use monomorph_core::DType;
use monomorph_ops::pooling::Fold;
use std::marker::PhantomData;

/// Lanes of a block: of float32 a register of AVX-512.
pub(super) const LANES: usize = 16;

/// Lanes of a block where there are fewer.
const FEW: usize = 4;

/// Places of a window in a dimension: the first one, and how many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tap {
    pub(super) start: i64,
    pub(super) count: i64,
}

impl Tap {
    /// The places, where they are neighbours.
    #[inline(always)]
    pub(super) fn places(&self) -> std::ops::Range<i64> {
        self.start..self.start.wrapping_add(self.count)
    }
}

/// Places of the output along the last dimension, whose windows have one size and lie at equal distances.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) first: i64,
    pub(super) n: usize,
    pub(super) tap: Tap,
    pub(super) distance: i64,
    pub(super) divisor: i64,
}

/// A row of the output. Invariants:
/// * N1: places of `taps` and `runs`, `steps` apart, are elements of the input with `strides` in bytes, from `input`
///   on, for each of the lanes, which lie side by side if there are any; without lanes so are all `sizes[2]` places of
///   the lines that `taps` lead to;
/// * N2: the places of the runs, and lanes, are elements of the outputs, `to` bytes apart, which nobody else uses.
pub(super) struct Row<'a> {
    pub(super) input: *const u8,
    pub(super) values: *mut u8,
    /// Null if maxima are wanted without their places.
    pub(super) places: *mut u8,
    /// Channels side by side.
    pub(super) lanes: Option<usize>,
    pub(super) taps: [Tap; 2],
    /// What the windows of the first two dimensions count in a divisor.
    pub(super) counts: [i64; 2],
    pub(super) steps: [i64; 3],
    pub(super) strides: [isize; 3],
    pub(super) sizes: [i64; 3],
    pub(super) runs: &'a [Run],
    pub(super) divisors: [&'a [i64]; 3],
    /// For gradients that are spread, the places that the windows of the last dimension cover.
    pub(super) covered: &'a [Tap],
    /// Each place is covered by one of them.
    pub(super) tiles: bool,
    pub(super) width: usize,
    pub(super) to: [isize; 2],
    pub(super) to_place: [isize; 2],
    pub(super) fold: Fold,
}

/// Computes a row at a level. Unsafe to call: N1, N2, and the elements have the dtype that it was chosen for. By
/// columns the scratch memory has as many words as a row of the input needs; it is not read otherwise.
pub(super) type RowKernel = unsafe fn(Level, &Row<'_>, &mut [u64]);

/// The kernel of a fold on a dtype.
pub(super) fn row_kernel(dtype: DType, fold: Fold, way: Way) -> Option<RowKernel> {
    Some(match (fold, dtype) {
        (Fold::Max, DType::U8) => largest_kernel::<u8>(way),
        (Fold::Max, DType::I8) => largest_kernel::<i8>(way),
        (Fold::Max, DType::I16) => largest_kernel::<i16>(way),
        (Fold::Max, DType::I32) => largest_kernel::<i32>(way),
        (Fold::Max, DType::I64) => largest_kernel::<i64>(way),
        #[cfg(feature = "halves")]
        (Fold::Max, DType::F16) => largest_kernel::<f16>(way),
        #[cfg(feature = "halves")]
        (Fold::Max, DType::BF16) => largest_kernel::<bf16>(way),
        (Fold::Max, DType::F32) => largest_kernel::<f32>(way),
        (Fold::Max, DType::F64) => largest_kernel::<f64>(way),
        (_, DType::I64) => mean_kernel::<i64>(way),
        #[cfg(feature = "halves")]
        (_, DType::F16) => mean_kernel::<f16>(way),
        #[cfg(feature = "halves")]
        (_, DType::BF16) => mean_kernel::<bf16>(way),
        (_, DType::F32) => mean_kernel::<f32>(way),
        (_, DType::F64) => mean_kernel::<f64>(way),
        _ => return None,
    })
}

fn largest_kernel<C: Lowest>(way: Way) -> RowKernel
where
    C::Repr: PartialOrd,
{
    if way == Way::Columns { columns::largest::<C> } else { largest::<C> }
}

fn mean_kernel<C: Average>(way: Way) -> RowKernel {
    if way == Way::Spread { spread::spread::<C> } else { mean::<C> }
}

/// # Safety
///
/// N1, N2; elements of `C`, and places in int64.
unsafe fn largest<C: Lowest>(level: Level, row: &Row<'_>, _: &mut [u64])
where
    C::Repr: PartialOrd,
{
    if const { !C::IS_USUAL } {
        return level.enter(Largest::<C, true>(row, PhantomData));
    }
    match row.places.is_null() {
        true => level.enter(Largest::<C, false>(row, PhantomData)),
        false => level.enter(Largest::<C, true>(row, PhantomData)),
    }
}

/// # Safety
///
/// N1, N2; elements of `C`.
unsafe fn mean<C: Average>(level: Level, row: &Row<'_>, _: &mut [u64]) {
    match row.fold {
        Fold::Spread(_) => level.enter(Means::<C, true>(row, PhantomData)),
        _ => level.enter(Means::<C, false>(row, PhantomData)),
    }
}

/// Lanes of a block: elements of the input that are loaded together, and where their results go.
#[derive(Clone, Copy)]
struct Block<'a> {
    run: &'a Run,
    /// The first element of the window, on which the row's `input` is, of the first lane.
    input: *const u8,
    /// Bytes from lane to lane in the input.
    step: isize,
    values: *mut u8,
    places: *mut u8,
    /// Bytes from lane to lane in the outputs.
    to: [isize; 2],
    /// The place in the plane of the first one of the window, of the first lane.
    place: i64,
    /// From lane to lane.
    place_step: i64,
}

/// A place of a window: how far it is behind the first one in the plane, and where it is in each dimension.
#[derive(Clone, Copy)]
struct Place {
    offset: u32,
    at: [i64; 3],
}

impl Row<'_> {
    /// Calls `f` with blocks of `LANES` lanes that lie side by side in the input, `second` with those that are every
    /// second element of a line, `g` with others, `few` with `FEW` lanes where there are no more, `h` with single ones.
    /// The last block goes back where it would go beyond the end: lanes that are computed twice are the same.
    #[inline(always)]
    fn blocks<'s>(
        &'s self,
        size: usize,
        f: impl Fn(Block<'s>),
        second: impl Fn(Block<'s>),
        g: impl Fn(Block<'s>),
        few: impl Fn(Block<'s>),
        h: impl Fn(Block<'s>),
    ) {
        for run in self.runs {
            let starts = [self.taps[0].start, self.taps[1].start, run.tap.start];
            // Modulo 2^64: a window without places may begin anywhere.
            let row = starts[0].wrapping_mul(self.sizes[1]).wrapping_add(starts[1]);
            let place = row.wrapping_mul(self.sizes[2]).wrapping_add(starts[2]);
            let offset = |d: usize| (starts[d] as isize).wrapping_mul(self.strides[d]);
            let first = self.input.wrapping_offset(offset(0).wrapping_add(offset(1)).wrapping_add(offset(2)));
            let at = |to: [isize; 2]| (run.first as isize).wrapping_mul(to[0]);
            let (lanes, step, side, place_step) = match self.lanes {
                Some(lanes) => (lanes, size as isize, 1, 0),
                None => (run.n, self.strides[2].wrapping_mul(run.distance as isize), 0, run.distance),
            };
            let to = [self.to[side], self.to_place[side]];
            let block = |lane: usize| Block {
                run,
                input: first.wrapping_offset(step.wrapping_mul(lane as isize)),
                step,
                values: self.values.wrapping_offset(at(self.to).wrapping_add(to[0].wrapping_mul(lane as isize))),
                places: self.places.wrapping_offset(at(self.to_place).wrapping_add(to[1].wrapping_mul(lane as isize))),
                to,
                place: place.wrapping_add(place_step.wrapping_mul(lane as i64)),
                place_step,
            };
            let starts = |of: usize| (0..lanes.div_ceil(of)).map(move |i| (i * of).min(lanes - of));
            // Loops and no `for_each`, which may stay a function of its own, compiled for the baseline.
            if lanes < FEW {
                for lane in 0..lanes {
                    h(block(lane));
                }
            } else if lanes < LANES {
                for lane in starts(FEW) {
                    few(block(lane));
                }
            } else if step == size as isize {
                for lane in starts(LANES) {
                    f(block(lane));
                }
            } else if (step, self.strides[2]) == (2 * size as isize, size as isize) {
                for lane in starts(LANES) {
                    second(block(lane));
                }
            } else {
                for lane in starts(LANES) {
                    g(block(lane));
                }
            }
        }
    }

    /// Calls `f` with the elements of each place of the window, in row-major order.
    ///
    /// # Safety
    ///
    /// N1 for `N` lanes of the block, which lie `STEP` elements of a line apart: 1, 2, or anyhow if that is 0.
    #[inline(always)]
    unsafe fn walk<C: CpuElement, const N: usize, const STEP: usize>(
        &self,
        block: Block<'_>,
        mut f: impl FnMut([C::Repr; N], Place),
    ) {
        let along = |d: usize| (self.steps[d] as isize).wrapping_mul(self.strides[d]);
        let taps = [self.taps[0], self.taps[1], block.run.tap];
        let step = if STEP == 0 { block.step } else { (STEP * size_of::<C::Stored>()) as isize };
        let (rows, plane) = (self.steps[1] * self.sizes[2], self.steps[0] * self.sizes[1] * self.sizes[2]);
        for d in 0..taps[0].count {
            for h in 0..taps[1].count {
                let line = along(0).wrapping_mul(d as isize).wrapping_add(along(1).wrapping_mul(h as isize));
                let mut at = block.input.wrapping_offset(line);
                let mut offset = (d * plane + h * rows) as u32;
                for w in 0..taps[2].count {
                    let elements = if STEP == 2 {
                        // SAFETY: places of the windows of lanes, by N1 and the caller's promise, and between them
                        // elements of the same line.
                        unsafe { every_second::<C::Stored, N>(at.cast()) }.map(C::widen)
                    } else {
                        std::array::from_fn(|lane| {
                            // SAFETY: a place of the window of a lane, by N1 and the caller's promise.
                            unsafe { load::<C>(at.wrapping_offset(step.wrapping_mul(lane as isize)), 0) }
                        })
                    };
                    f(elements, Place { offset, at: [taps[0].start + d, taps[1].start + h, taps[2].start + w] });
                    at = at.wrapping_offset(along(2));
                    offset = offset.wrapping_add(self.steps[2] as u32);
                }
            }
        }
    }
}

impl Block<'_> {
    /// # Safety
    ///
    /// N2 for `N` lanes of the block; elements of `C`.
    #[inline(always)]
    unsafe fn store<C: CpuElement, const N: usize>(&self, values: [C::Repr; N]) {
        for (lane, value) in values.into_iter().enumerate() {
            let to = self.values.wrapping_offset(self.to[0].wrapping_mul(lane as isize));
            // SAFETY: N2 for this lane.
            unsafe { store::<C>(to, 0, value) };
        }
    }
}

/// Maxima, and if `PLACES` their places, if these are wanted.
struct Largest<'a, C, const PLACES: bool>(&'a Row<'a>, PhantomData<C>);

impl<C: Lowest, I: Isa, const PLACES: bool> Kernel<I> for Largest<'_, C, PLACES>
where
    C::Repr: PartialOrd,
{
    type Home = C;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let row = self.0;
        row.blocks(
            size_of::<C::Stored>(),
            |block| largest_of::<C, LANES, 1, PLACES>(row, block),
            |block| largest_of::<C, LANES, 2, PLACES>(row, block),
            |block| largest_of::<C, LANES, 0, PLACES>(row, block),
            |block| largest_of::<C, FEW, 0, PLACES>(row, block),
            |block| largest_of::<C, 1, 1, PLACES>(row, block),
        );
    }
}

#[inline(always)]
fn largest_of<C: Lowest, const N: usize, const STEP: usize, const PLACES: bool>(row: &Row<'_>, block: Block<'_>)
where
    C::Repr: PartialOrd,
{
    let (mut values, mut offsets) = ([C::LOWEST; N], [0_u32; N]);
    // SAFETY: N1: `blocks` made the block.
    unsafe {
        row.walk::<C, N, STEP>(block, |elements, place| {
            // Apart, so that each of these is a loop over lanes of one size.
            let mut takes = [false; N];
            for lane in 0..N {
                let x = elements[lane];
                // The last NaN stays, as in PyTorch.
                #[allow(clippy::eq_op, reason = "NaN is not itself")]
                let is_larger = x > values[lane] || x != x;
                takes[lane] = is_larger;
                values[lane] = if is_larger { x } else { values[lane] };
            }
            if !PLACES {
                return;
            }
            for lane in 0..N {
                let mask = u32::from(takes[lane]).wrapping_neg();
                offsets[lane] = (place.offset & mask) | (offsets[lane] & !mask);
            }
        })
    };
    // SAFETY: N2: `blocks` made the block.
    unsafe { block.store::<C, N>(values) };
    if !PLACES || row.places.is_null() {
        return;
    }
    for (lane, offset) in offsets.into_iter().enumerate() {
        let place =
            block.place.wrapping_add(block.place_step.wrapping_mul(lane as i64)).wrapping_add(i64::from(offset));
        let to = block.places.wrapping_offset(block.to[1].wrapping_mul(lane as isize));
        // SAFETY: N2 for this lane of the second output, which is of int64.
        unsafe { to.cast::<i64>().write_unaligned(place) };
    }
}

/// Means, or where `SPREAD` their gradients.
struct Means<'a, C, const SPREAD: bool>(&'a Row<'a>, PhantomData<C>);

impl<C: Average, I: Isa, const SPREAD: bool> Kernel<I> for Means<'_, C, SPREAD> {
    type Home = C;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let row = self.0;
        row.blocks(
            size_of::<C::Stored>(),
            |block| mean_of::<C, LANES, 1, SPREAD>(row, block),
            |block| mean_of::<C, LANES, 2, SPREAD>(row, block),
            |block| mean_of::<C, LANES, 0, SPREAD>(row, block),
            |block| mean_of::<C, FEW, 0, SPREAD>(row, block),
            |block| mean_of::<C, 1, 1, SPREAD>(row, block),
        );
    }
}

#[inline(always)]
fn mean_of<C: Average, const N: usize, const STEP: usize, const SPREAD: bool>(row: &Row<'_>, block: Block<'_>) {
    let mut sums = [C::ZERO; N];
    // What a step of the sum rounds to: gradients are summed in the output's own dtype.
    let rounded = |x: C::Repr| C::widen(C::narrow(x));
    // SAFETY: N1: `blocks` made the block.
    unsafe {
        row.walk::<C, N, STEP>(block, |elements, place| {
            let sizes = match SPREAD {
                true => std::array::from_fn(|d| row.divisors[d].get(place.at[d] as usize).copied().unwrap_or(1)),
                false => [1; 3],
            };
            for lane in 0..N {
                let x = match SPREAD {
                    true => divided::<C, true>(elements[lane], row.fold, sizes),
                    false => elements[lane],
                };
                let sum = C::plus(sums[lane], x);
                sums[lane] = if SPREAD { rounded(sum) } else { sum };
            }
        })
    };
    let counts = [row.taps[0].count, row.taps[1].count, block.run.tap.count];
    if !SPREAD && counts.iter().all(|&count| count > 0) {
        let sizes = [row.counts[0], row.counts[1], block.run.divisor];
        sums.iter_mut().for_each(|sum| *sum = divided::<C, false>(*sum, row.fold, sizes));
    }
    // SAFETY: N2: `blocks` made the block.
    unsafe { block.store::<C, N>(sums) };
}
