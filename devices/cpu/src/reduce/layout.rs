//! How a reduction is laid out: which dimension makes the lanes, where rows are read in place, where chunks begin. Decided
//! by shape, strides and dtypes alone.

use super::body::{FEW_LANES, TALL, dense_lanes};
use crate::processor::Vendor;
use crate::staging::Stager;
use monomorph_iter::TensorIter;
use smallvec::SmallVec;

/// Lanes of a row that is staged, and the most of any row across.
pub(super) const LANES: usize = 128;

/// An input of more bytes is not expected in the second-level cache.
const FAR_BYTES: usize = 1 << 20;

/// How far ahead a dense run from memory is asked for, in bytes: processors fetch ahead by themselves, but not beyond a page.
const AHEAD: isize = 8192;

/// Rows of a chunk.
pub(super) const ROWS: usize = 128;

/// Rows of a chunk of a dense run, which are short, where more of them add little error: accumulators are wider than elements. And where
/// they add none: these are of float64.
const WIDE_ROWS: [usize; 2] = [256, 2048];

/// Bytes of either part of the accumulators of a row that is read in place: they stay in the first-level cache.
const LANE_BYTES: usize = 8192;

/// The most lanes of a row that is read in place.
const MAX_LANES: usize = 1024;

/// A kept dimension this long makes good lanes.
const GOOD_LANES: usize = 16;

/// A reduced dimension this long makes good rows.
const GOOD_ROW: usize = 64;

/// Runs of so many elements are folded beside each other: calls of bodies would take longer than the elements. Shorter ones
/// do not fill a group of eight rows, and are staged turned.
const SHORT_RUN: std::ops::Range<usize> = TALL * FEW_LANES..1 << 14;

/// The most lanes of outputs that are folded beside each other.
pub(super) const BESIDE: usize = 512;

/// The most lanes of any task.
pub(super) const MOST_LANES: usize = MAX_LANES;
const _: () = assert!(MOST_LANES >= LANES && MOST_LANES >= BESIDE && MOST_LANES >= GOOD_LANES);

/// One dimension: its size and its strides in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dim {
    pub(super) size: usize,
    pub(super) input: isize,
    pub(super) outs: [isize; 2],
}

/// Dimensions, innermost first.
pub(super) type Dims = SmallVec<[Dim; 2]>;

/// What the lanes are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// Elements of one output; or of all outputs along a short kept dimension, by turns as they lie in memory.
    Across(Option<Dim>),
    /// Outputs along a kept dimension, at most so many at a time.
    Along(Dim, usize),
    /// Elements of one output, for at most so many outputs along a kept dimension.
    Beside(Dim, usize),
}

/// A reduction as the driver walks it.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The reduced dimensions.
    pub(super) reduced: Dims,
    /// The kept dimensions but that of the lanes.
    pub(super) kept: Dims,
    pub(super) way: Way,
    /// Rows are read where they lie; otherwise they are staged.
    pub(super) in_place: bool,
    /// The most lanes of a row across.
    lanes: usize,
    /// Rows of a chunk across.
    rows: usize,
    /// Rows along are asked for before they are met.
    pub(super) fetches: bool,
    /// How far ahead, in bytes, dense runs are asked for; 0 where they are expected in a cache.
    pub(super) ahead: isize,
    /// Elements per output.
    pub(super) count: usize,
    /// Outputs, or runs of lanes.
    pub(super) tasks: usize,
}

impl Layout {
    /// The layout of a reduction whose input is read through `lane`, with accumulators of parts of so many bytes.
    /// `indexed` if the fold counts elements. The iteration has elements, so products of some of its sizes are no
    /// larger than their number, and what is rounded up to whole blocks of lanes is less than twice that.
    pub(super) fn new(iter: &TensorIter, lane: &Stager, parts: [usize; 2], indexed: bool) -> Layout {
        let input = iter.noutputs();
        let dim = |d: usize| {
            let out = |k: usize| if k < input { iter.strides(k)[d] } else { 0 };
            Dim { size: iter.shape()[d], input: iter.strides(input)[d], outs: [out(0), out(1)] }
        };
        let pick = |reduced| (0..iter.ndim()).filter(|&d| iter.is_dim_reduced(d) == reduced).map(dim).collect();
        let (reduced, mut kept): (Dims, Dims) = (pick(true), pick(false));
        let numel = |dims: &Dims| dims.iter().fold(1_usize, |all, d| all.saturating_mul(d.size));
        let count = numel(&reduced);
        let bytes = iter.numel().saturating_mul(iter.dtype(input).size());
        let fetches = bytes > FAR_BYTES && Vendor::current().needs_row_prefetch();
        let ahead = if bytes > FAR_BYTES { AHEAD } else { 0 };

        let size = iter.dtype(input).size();
        let lanes_of = |in_place| if in_place { dense_lanes(size) } else { LANES };
        let rows_of = |in_place: bool| match parts[0] {
            part if !in_place || part <= size => ROWS,
            ..8 => WIDE_ROWS[0],
            _ => WIDE_ROWS[1],
        };
        let is_dense = |d: &Dim| d.input == size as isize;
        // Whole rows of a few outputs each lie one after the other.
        let by_turns = |d: &Dim| {
            let rows =
                reduced.first().is_some_and(|r| r.input == d.size.wrapping_mul(size) as isize && r.size >= GOOD_ROW);
            rows && is_dense(d) && (2..GOOD_LANES).contains(&d.size) && lane.is_direct() && !indexed
        };
        if let Some(place) = kept.iter().position(by_turns) {
            let dim = kept.remove(place);
            let tasks = numel(&kept);
            let (way, lanes, rows) = (Way::Across(Some(dim)), lanes_of(true), rows_of(true));
            return Layout { reduced, kept, way, in_place: true, lanes, rows, fetches, ahead, count, tasks };
        }
        let few = count < SHORT_RUN.start && kept.iter().any(|d| d.size >= GOOD_LANES);
        let good_row = reduced.first().is_some_and(|d| is_dense(d) && d.size >= GOOD_ROW) && !few;
        let place = if good_row { None } else { lane_dim(&kept, is_dense, count) };
        let Some(place) = place else {
            let whole = count == 1 || reduced.len() == 1 && is_dense(&reduced[0]);
            let in_place = lane.is_direct() && (whole || good_row);
            let (lanes, rows) = (lanes_of(in_place), rows_of(in_place));
            if let (true, [run], Some(&next)) = (in_place, &reduced[..], kept.first())
                && is_dense(run)
                && SHORT_RUN.contains(&count)
            {
                kept.remove(0);
                let block = BESIDE / row_of(count, 1, lanes);
                let tasks = numel(&kept).saturating_mul(next.size.div_ceil(block));
                let way = Way::Beside(next, block);
                return Layout { reduced, kept, way, in_place, lanes, rows, fetches, ahead, count, tasks };
            }
            let tasks = numel(&kept);
            return Layout {
                reduced,
                kept,
                way: Way::Across(None),
                in_place,
                lanes,
                rows,
                fetches,
                ahead,
                count,
                tasks,
            };
        };
        let along = kept.remove(place);
        let in_place = lane.is_direct() && is_dense(&along);
        let most = (LANE_BYTES / parts[0].max(parts[1]).max(1)).min(MAX_LANES);
        let block = if in_place { most } else { LANES.min(most) };
        let tasks = numel(&kept).saturating_mul(along.size.div_ceil(block));
        Layout {
            reduced,
            kept,
            way: Way::Along(along, block),
            in_place,
            lanes: LANES,
            rows: ROWS,
            fetches,
            ahead,
            count,
            tasks,
        }
    }

    /// Elements of one output in a chunk.
    pub(super) fn chunk(&self) -> usize {
        match self.way {
            Way::Across(_) => self.row() / self.width() * self.rows,
            Way::Along(..) => ROWS,
            Way::Beside(..) => self.row() * self.rows,
        }
    }

    /// The most lanes that a task has results in.
    pub(super) fn width(&self) -> usize {
        match self.way {
            Way::Across(None) => 1,
            Way::Across(Some(dim)) => dim.size,
            Way::Along(dim, block) | Way::Beside(dim, block) => block.min(dim.size),
        }
    }

    /// Lanes of a row across.
    pub(super) fn row(&self) -> usize {
        match self.way {
            Way::Across(_) => row_of(self.count, self.width(), self.lanes),
            Way::Along(..) | Way::Beside(..) => row_of(self.count, 1, self.lanes),
        }
    }

    /// A task: the offsets in bytes of input and outputs, and its lanes.
    pub(super) fn task(&self, index: usize) -> Task {
        let mut task = Task { input: 0, outs: [0; 2], lanes: 1, strides: [0; 2] };
        let mut rest = index;
        if let Way::Across(Some(dim)) = self.way {
            (task.lanes, task.strides) = (dim.size, dim.outs);
        }
        if let Way::Along(dim, block) | Way::Beside(dim, block) = self.way {
            let blocks = dim.size.div_ceil(block);
            let start = rest % blocks * block;
            rest /= blocks;
            task.lanes = block.min(dim.size - start);
            task.strides = dim.outs;
            task.shift(&dim, start);
        }
        for (i, dim) in self.kept.iter().enumerate() {
            let last = i + 1 == self.kept.len();
            let at = if last { rest } else { rest % dim.size };
            rest = if last { 0 } else { rest / dim.size };
            task.shift(dim, at);
        }
        task
    }
}

/// Lanes of a row across, of outputs of `count` elements each that have `width` lanes by turns; no more than `lanes`.
fn row_of(count: usize, width: usize, lanes: usize) -> usize {
    // An eighth of a short run, so that it has a group of eight rows.
    let most = (count.saturating_mul(width) / TALL / FEW_LANES * FEW_LANES).clamp(FEW_LANES, lanes);
    if width == 1 { most } else { most / width * width }
}

/// The kept dimension that makes the lanes, if lanes along one are better than across: dense ones, or any where an output
/// has so few elements that a row of them would be mostly empty.
fn lane_dim(kept: &Dims, is_dense: impl Fn(&Dim) -> bool, count: usize) -> Option<usize> {
    let dense = kept.iter().position(|d| is_dense(d) && d.size >= GOOD_LANES);
    let longest = || (0..kept.len()).max_by_key(|&d| kept[d].size).filter(|&d| kept[d].size > 1);
    dense.or_else(|| longest().filter(|&d| count < GOOD_ROW || kept[d].size >= GOOD_LANES))
}

/// Outputs that are computed together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    /// Bytes from the input's first element to the task's.
    pub(super) input: isize,
    /// The same for the outputs.
    pub(super) outs: [isize; 2],
    /// How many outputs there are.
    pub(super) lanes: usize,
    /// Bytes from one to the next.
    pub(super) strides: [isize; 2],
}

impl Task {
    fn shift(&mut self, dim: &Dim, by: usize) {
        // I2 of the iteration: these are offsets of elements, so nothing overflows; wrapping keeps this safe code.
        let by = by as isize;
        self.input = self.input.wrapping_add(dim.input.wrapping_mul(by));
        for (out, stride) in self.outs.iter_mut().zip(dim.outs) {
            *out = out.wrapping_add(stride.wrapping_mul(by));
        }
    }
}
