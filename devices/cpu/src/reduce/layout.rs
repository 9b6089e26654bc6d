//! How a reduction is vectorised and cut: along which dimension lanes are, whether rows are read in place, where chunks
//! begin. Decided by shape, strides and dtypes alone, so that results depend on nothing else.

use super::rows::{GROUP_ROWS, MIN_ROW_LANES, dense_lanes};
use crate::processor::Vendor;
use crate::staging::Stager;
use monomorph_iter::TensorIter;
use smallvec::SmallVec;
use std::ops::Range;

/// Lanes of a row that is staged, and the most of any row of elements of one output.
pub(super) const STAGED_LANES: usize = 128;

/// An input of more bytes is not expected in the second-level cache, so it is prefetched.
const PREFETCH_MIN_BYTES: usize = 1 << 20;

/// How far ahead dense runs are prefetched, in bytes. Hardware prefetchers stop at the end of a page of 4 KiB, so this
/// is more than one.
const PREFETCH_DISTANCE: isize = 8192;

/// Rows of a chunk. More rows save calls and merges, but rounding errors grow with the number of additions into one
/// lane (measured: decision 0012).
pub(super) const CHUNK_ROWS: usize = 128;

/// Rows of a chunk of a long dense run, whose rows are short, if accumulators are wider than elements. Additions in a
/// wide type add little error, so more of them are allowed: in float32, and in float64 (measured: decision 0012).
const WIDE_CHUNK_ROWS: [usize; 2] = [256, 2048];

/// Bytes of either part of the accumulators of a row along a kept dimension: both fit in the first-level cache.
const OUTER_LANE_BYTES: usize = 8192;

/// The most lanes of a row along a kept dimension.
const MAX_OUTER_LANES: usize = 1024;

/// A kept dimension shorter than this would leave registers partly empty.
const MIN_OUTER_LANES: usize = 16;

/// A dense reduced dimension shorter than this is not worth a horizontal reduction at its end.
const MIN_INNER_RUN: usize = 64;

/// Lengths of dense runs that are accumulated in batches: calls of kernels for single runs would take longer than their
/// elements. Shorter runs do not fill a group of eight rows, and are staged transposed.
const BATCHED_RUN: Range<usize> = GROUP_ROWS * MIN_ROW_LANES..1 << 14;

/// The most lanes of a batch of outputs.
pub(super) const BATCH_LANES: usize = 512;

/// The most lanes of any task.
pub(super) const MAX_TASK_LANES: usize = MAX_OUTER_LANES;
const _: () =
    assert!(MAX_TASK_LANES >= STAGED_LANES && MAX_TASK_LANES >= BATCH_LANES && MAX_TASK_LANES >= MIN_OUTER_LANES);

/// One dimension: its size and its strides in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dim {
    pub(super) size: usize,
    pub(super) input: isize,
    pub(super) outs: [isize; 2],
}

/// Dimensions, innermost first.
pub(super) type DimVec = SmallVec<[Dim; 2]>;

/// Which elements lie next to each other in lanes; drawn in `mod.rs`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Vectorization {
    /// Elements of one output, along the dense reduced dimension. With a dimension: elements of all outputs along that
    /// short kept dimension, which alternate in memory and so in the lanes.
    Inner(Option<Dim>),
    /// One element each of outputs along a kept dimension, at most so many at a time.
    Outer(Dim, usize),
    /// As `Inner`, for at most so many outputs along a kept dimension in one call of a kernel.
    BatchedInner(Dim, usize),
}

/// A reduction as the driver walks it.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The reduced dimensions.
    pub(super) reduced: DimVec,
    /// The kept dimensions but that of the lanes.
    pub(super) kept: DimVec,
    pub(super) vectorization: Vectorization,
    /// Rows are read where they lie; otherwise they are staged.
    pub(super) in_place: bool,
    /// The most lanes of a row of elements of one output.
    lanes: usize,
    /// Rows of a chunk, unless lanes are outputs.
    rows: usize,
    /// Rows along a kept dimension are prefetched.
    pub(super) prefetches_rows: bool,
    /// How far ahead, in bytes, dense runs are prefetched; 0 where they are expected in a cache.
    pub(super) prefetch: isize,
    /// Bytes of an element of the input.
    pub(super) size: usize,
    /// Elements per output.
    pub(super) count: usize,
    /// Outputs, or runs of lanes.
    pub(super) tasks: usize,
}

impl Layout {
    /// The layout of a reduction whose input is read through `stager`, with accumulators of parts of so many bytes.
    /// `indexed` if the fold counts elements. The iteration has elements, so products of some of its sizes are no
    /// larger than their number, and what is rounded up to whole blocks of lanes is less than twice that.
    pub(super) fn new(iter: &TensorIter, stager: &Stager, parts: [usize; 2], indexed: bool) -> Layout {
        let input = iter.noutputs();
        let dim = |d: usize| {
            let out = |k: usize| if k < input { iter.strides(k)[d] } else { 0 };
            Dim { size: iter.shape()[d], input: iter.strides(input)[d], outs: [out(0), out(1)] }
        };
        let pick = |reduced| (0..iter.ndim()).filter(|&d| iter.is_dim_reduced(d) == reduced).map(dim).collect();
        let (reduced, mut kept): (DimVec, DimVec) = (pick(true), pick(false));
        let numel = |dims: &DimVec| dims.iter().fold(1_usize, |all, d| all.saturating_mul(d.size));
        let count = numel(&reduced);
        let bytes = iter.numel().saturating_mul(iter.dtype(input).size());
        let prefetches_rows = bytes > PREFETCH_MIN_BYTES && Vendor::current().needs_row_prefetch();
        let prefetch = if bytes > PREFETCH_MIN_BYTES { PREFETCH_DISTANCE } else { 0 };

        let size = iter.dtype(input).size();
        let lanes_of = |in_place| if in_place { dense_lanes(size) } else { STAGED_LANES };
        // Integers are the same however they are grouped.
        let is_exact = iter.dtype(input).is_integral(true);
        let rows_of = |in_place: bool| match parts[0] {
            part if !in_place || part <= size && !is_exact => CHUNK_ROWS,
            ..8 => WIDE_CHUNK_ROWS[0],
            _ => WIDE_CHUNK_ROWS[1],
        };
        let is_dense = |d: &Dim| d.input == size as isize;
        let layout = |reduced, kept, vectorization, in_place, tasks| {
            let (lanes, rows) = match vectorization {
                Vectorization::Outer(..) => (STAGED_LANES, CHUNK_ROWS),
                _ => (lanes_of(in_place), rows_of(in_place)),
            };
            Layout {
                reduced,
                kept,
                vectorization,
                in_place,
                lanes,
                rows,
                prefetches_rows,
                prefetch,
                size,
                count,
                tasks,
            }
        };
        // A short kept dimension within the innermost reduced one: its outputs alternate in one dense run.
        let alternates = |d: &Dim| {
            let rows = reduced
                .first()
                .is_some_and(|r| r.input == d.size.wrapping_mul(size) as isize && r.size >= MIN_INNER_RUN);
            rows && is_dense(d) && (2..MIN_OUTER_LANES).contains(&d.size) && stager.is_direct() && !indexed
        };
        if let Some(place) = kept.iter().position(alternates) {
            let dim = kept.remove(place);
            let tasks = numel(&kept);
            return layout(reduced, kept, Vectorization::Inner(Some(dim)), true, tasks);
        }
        let short = count < BATCHED_RUN.start && kept.iter().any(|d| d.size >= MIN_OUTER_LANES);
        let good_row = reduced.first().is_some_and(|d| is_dense(d) && d.size >= MIN_INNER_RUN) && !short;
        let place = if good_row { None } else { outer_dim(&kept, is_dense, count) };
        let Some(place) = place else {
            let whole = count == 1 || reduced.len() == 1 && is_dense(&reduced[0]);
            let in_place = stager.is_direct() && (whole || good_row);
            let row = row_lanes_for(count, 1, lanes_of(in_place));
            if let (true, [run, others @ ..], Some(&next)) = (whole || good_row, &reduced[..], kept.first())
                && is_dense(run)
                && BATCHED_RUN.contains(&run.size)
                // Runs, or what chunks leave of them, begin with a whole row.
                && (others.is_empty() || run.size.is_multiple_of(row) || count <= row * rows_of(in_place))
            {
                kept.remove(0);
                let block = BATCH_LANES / row;
                let tasks = numel(&kept).saturating_mul(next.size.div_ceil(block));
                return layout(reduced, kept, Vectorization::BatchedInner(next, block), in_place, tasks);
            }
            let tasks = numel(&kept);
            return layout(reduced, kept, Vectorization::Inner(None), in_place, tasks);
        };
        let outer = kept.remove(place);
        let in_place = stager.is_direct() && is_dense(&outer);
        let most = most_lanes(parts);
        let block = if in_place { most } else { STAGED_LANES.min(most) };
        let tasks = numel(&kept).saturating_mul(outer.size.div_ceil(block));
        layout(reduced, kept, Vectorization::Outer(outer, block), in_place, tasks)
    }

    /// Gives a task as many lanes along a kept dimension as their accumulators have room for, of parts of so many
    /// bytes, but whole units of lanes: rows are not staged, wherever they lie.
    pub(super) fn widen_tasks(&mut self, parts: [usize; 2], unit: usize) {
        if let Vectorization::Outer(dim, block) = &mut self.vectorization {
            *block = most_lanes(parts) / unit * unit;
            let others = self.kept.iter().fold(1_usize, |all, d| all.saturating_mul(d.size));
            self.tasks = others.saturating_mul(dim.size.div_ceil(*block));
        }
    }

    /// Elements of one output in a chunk.
    pub(super) fn chunk_elements(&self) -> usize {
        match self.vectorization {
            Vectorization::Inner(_) => self.row_lanes() / self.task_lanes() * self.rows,
            Vectorization::Outer(..) => CHUNK_ROWS,
            Vectorization::BatchedInner(..) => self.row_lanes() * self.rows,
        }
    }

    /// The elements of one output in these chunks.
    pub(super) fn elements_of(&self, chunks: Range<usize>) -> Range<usize> {
        let size = self.chunk_elements();
        chunks.start * size..self.count.min(chunks.end * size)
    }

    /// The most lanes that a task has results in.
    pub(super) fn task_lanes(&self) -> usize {
        match self.vectorization {
            Vectorization::Inner(None) => 1,
            Vectorization::Inner(Some(dim)) => dim.size,
            Vectorization::Outer(dim, block) | Vectorization::BatchedInner(dim, block) => block.min(dim.size),
        }
    }

    /// Lanes of a row of elements of one output.
    pub(super) fn row_lanes(&self) -> usize {
        match self.vectorization {
            Vectorization::Inner(_) => row_lanes_for(self.count, self.task_lanes(), self.lanes),
            Vectorization::Outer(..) | Vectorization::BatchedInner(..) => row_lanes_for(self.count, 1, self.lanes),
        }
    }

    /// Bytes from the first element of one lane's output to that of the next.
    pub(super) fn lane_stride(&self) -> isize {
        match self.vectorization {
            Vectorization::Inner(None) => 0,
            Vectorization::Inner(Some(dim)) | Vectorization::Outer(dim, _) | Vectorization::BatchedInner(dim, _) => {
                dim.input
            }
        }
    }

    /// A task: the offsets in bytes of input and outputs, and its lanes.
    pub(super) fn task(&self, index: usize) -> Task {
        let mut task = Task { input: 0, outs: [0; 2], lanes: 1, strides: [0; 2] };
        let mut rest = index;
        if let Vectorization::Inner(Some(dim)) = self.vectorization {
            (task.lanes, task.strides) = (dim.size, dim.outs);
        }
        if let Vectorization::Outer(dim, block) | Vectorization::BatchedInner(dim, block) = self.vectorization {
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

/// The most lanes of a row along a kept dimension, of accumulators of parts of so many bytes.
fn most_lanes(parts: [usize; 2]) -> usize {
    (OUTER_LANE_BYTES / parts[0].max(parts[1]).max(1)).min(MAX_OUTER_LANES)
}

/// Lanes of a row of elements of one output, or of `width` outputs that alternate, of `count` elements each; no more
/// than `lanes`.
fn row_lanes_for(count: usize, width: usize, lanes: usize) -> usize {
    // An eighth of a short run, so that it fills a group of eight rows.
    let most = (count.saturating_mul(width) / GROUP_ROWS / MIN_ROW_LANES * MIN_ROW_LANES).clamp(MIN_ROW_LANES, lanes);
    if width == 1 { most } else { most / width * width }
}

/// The kept dimension along which lanes are, where that is better than lanes of elements of one output: a dense one, or
/// the longest where an output has so few elements that a row of them would be mostly empty.
fn outer_dim(kept: &DimVec, is_dense: impl Fn(&Dim) -> bool, count: usize) -> Option<usize> {
    let dense = kept.iter().position(|d| is_dense(d) && d.size >= MIN_OUTER_LANES);
    let longest = || (0..kept.len()).max_by_key(|&d| kept[d].size).filter(|&d| kept[d].size > 1);
    dense.or_else(|| longest().filter(|&d| count < MIN_INNER_RUN || kept[d].size >= MIN_OUTER_LANES))
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
