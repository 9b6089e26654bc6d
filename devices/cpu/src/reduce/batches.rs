//! Reductions of dense runs of several outputs in one call of a kernel, where a call for each would take longer than
//! its elements.

use super::chunks::{Chunks, StagedGroup};
use super::lanes::Lanes;
use super::layout::{BATCH_LANES, Dim, STAGED_LANES};
use super::parts::PART;
use super::rows::{GROUP_ROWS, RowGroups};
use super::runs::{Run, Runs};
use crate::staging::{StageBuffer, Tile};
use std::ops::Range;

/// Room for one part of the accumulators of a batch of outputs.
type BatchLanes = StageBuffer<{ BATCH_LANES * PART }>;

/// Dense elements of several outputs, as many of each.
#[derive(Clone, Copy)]
struct Lines {
    at: *const u8,
    /// How many there are.
    count: usize,
    /// Bytes from one to the next.
    stride: isize,
    /// The number of the first element of each.
    start: usize,
    len: usize,
}

impl Chunks<'_> {
    /// Dense runs of one output each, several at a time: each is accumulated as `inner` would, but one call of a kernel
    /// does it for all. Their lanes are then transposed, so that one horizontal reduction serves all outputs:
    ///
    /// ```text
    /// a0 a1 a2 a3 b0 b1 b2 b3 ─► a0 b0 a1 b1 a2 b2 a3 b3 ─► merged in halves, vector by vector ─► a b
    /// ```
    ///
    /// # Safety
    ///
    /// As for `fold`.
    pub(super) unsafe fn batched_inner(&self, at: *const u8, dim: Dim, width: usize, range: Range<usize>, into: Lanes) {
        let (mut first, mut second) = (BatchLanes::NEW, BatchLanes::NEW);
        let lanes = Lanes { first: first.data(), second: second.data() };
        // The last chunk may have less than a row. A layout of several runs has whole rows before it has less.
        let row = self.layout.row_lanes().min(range.len());
        let mut fresh = true;
        for run in Runs::new(&self.layout.reduced, range) {
            if self.layout.in_place {
                let place = at.wrapping_offset(run.offset);
                let lines = Lines { at: place, count: width, stride: dim.input, start: run.start, len: run.len };
                // SAFETY: A1 by H2; A2: `width` outputs of `row` lanes are no more than BATCH_LANES, which there is
                // room for, aligned for any part; the first run has a row, which sets all lanes; A3 by H1 and H2: the
                // runs are dense.
                unsafe { self.accumulate_lines(lanes, row, lines, fresh, self.layout.prefetch) };
            } else {
                // SAFETY: A2: `width` outputs of `row` lanes are no more than BATCH_LANES, which there is room for; the
                // first run has a row, which sets all lanes; H1 from `at`.
                unsafe { self.accumulate_staged(lanes, row, at, (dim, width), run, fresh) };
            }
            fresh = false;
        }
        if width == 1 {
            // SAFETY: A1 by H2; A2: a row of lanes is filled, which are this function's own.
            unsafe { (self.kernels.reduce_lanes)(lanes, row, 1) };
            // SAFETY: both have room for a lane, and lie apart: `lanes` are this function's own. Lane 0 holds the
            // accumulator of the run.
            return unsafe { self.copy(lanes, into, 1) };
        }
        let (mut first, mut second) = (BatchLanes::NEW, BatchLanes::NEW);
        let transposed = Lanes { first: first.data(), second: second.data() };
        let [first, second] = self.kernels.parts;
        for (from, to, part) in [(lanes.first, transposed.first, first), (lanes.second, transposed.second, second)] {
            if part > 0 {
                // SAFETY: both runs have room for `row * width` parts, which is no more than BATCH_LANES; those of
                // `from` were just written; both are this function's own, and lie apart.
                unsafe { self.stager.transpose(from, row, width, to, part) };
            }
        }
        // SAFETY: A1 by H2; A2: so many lanes are filled, which are this function's own.
        unsafe { (self.kernels.reduce_lanes)(transposed, row * width, width) };
        // SAFETY: both have room for the lanes of so many outputs, and lie apart: `transposed` are this function's own.
        unsafe { self.copy(transposed, into, width) };
    }

    /// Accumulates dense lines, each into `row` lanes of its own; those are set where they are `fresh`, which takes a
    /// whole row.
    ///
    /// # Safety
    ///
    /// A1 to A3 for the lanes and the elements of each line.
    unsafe fn accumulate_lines(&self, lanes: Lanes, row: usize, lines: Lines, fresh: bool, prefetch: isize) {
        let (size, rows, rest) = (self.stager.size(), lines.len / row, lines.len % row);
        let whole = RowGroups {
            at: lines.at,
            row_stride: (row * size) as isize,
            group_stride: 0,
            groups: 1,
            tall: false,
            lanes: row,
            index: [lines.start as i64, row as i64, 0, 1],
            fresh,
            prefetch,
            outputs: lines.count,
            output_strides: (lines.stride, row),
            numbers: self.numbers,
        };
        let done = rows * row;
        let index = [(lines.start + done) as i64, row as i64, 0, 1];
        let end = RowGroups { at: lines.at.wrapping_add(done * size), lanes: rest, index, fresh: false, ..whole };
        for part in whole.repeated(rows).chain(end.repeated(usize::from(rest > 0))) {
            // SAFETY: A1 to A3 are the caller's promise; whole rows come first, and set all lanes that hold nothing.
            unsafe { (self.kernels.accumulate)(lanes, &part) };
        }
    }

    /// Accumulates a run of each of `width` outputs along `dim` that is strided, or of another dtype. Not inlined, so
    /// that a reduction in place has no room for the stage.
    ///
    /// # Safety
    ///
    /// H1 from `at`; A2 for `row` lanes of each output, which are set where they are `fresh`: the run has a row then.
    #[inline(never)]
    unsafe fn accumulate_staged(
        &self,
        lanes: Lanes,
        row: usize,
        at: *const u8,
        (dim, width): (Dim, usize),
        run: Run,
        fresh: bool,
    ) {
        let (mut stage, mut scratch) = (StagedGroup::NEW, StagedGroup::NEW);
        let capacity = GROUP_ROWS * STAGED_LANES;
        let mut done = 0;
        while done < run.len {
            let len = (run.len - done).min(capacity / row * row);
            let together = capacity / len;
            for first in (0..width).step_by(together) {
                let count = together.min(width - first);
                let offset = run.offset.wrapping_add(run.stride.wrapping_mul(done as isize));
                let x = at.wrapping_offset(offset.wrapping_add(dim.input.wrapping_mul(first as isize)));
                let tile = Tile { cols: len, rows: count, inner: run.stride, outer: dim.input };
                // SAFETY: L1 and L3 by H1, L2: the stage has room for GROUP_ROWS times STAGED_LANES elements of any
                // dtype.
                unsafe { self.stager.load(x, tile, stage.data(), scratch.data()) };
                let stride = (len * self.stager.size()) as isize;
                let lines = Lines { at: stage.data(), count, stride, start: run.start + done, len };
                let lanes = lanes.offset(self.kernels.parts, first * row);
                // SAFETY: A1 by H2; A2 by the caller's promise, of the lanes of these outputs; A3: the lines were just
                // staged as what the kernels take (H2), and the first of a run have a row.
                unsafe { self.accumulate_lines(lanes, row, lines, fresh && done == 0, 0) };
            }
            done += len;
        }
    }
}
