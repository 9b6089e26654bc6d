//! Accumulates the elements of one chunk into lanes, in place or by way of a stage. There is one method for each way of
//! vectorising a reduction ([`Vectorization`]).

use super::fold_kernels::FoldKernels;
use super::lanes::Lanes;
use super::layout::{Dim, Layout, STAGED_LANES, Vectorization};
use super::parts::PART;
use super::row_accumulator::RowAccumulator;
use super::rows::{GROUP_ROWS, RowGroups};
use super::runs::Runs;
use crate::staging::{STAGE_BLOCK_BYTES, StageBlock, StageBuffer, Stager, Tile};
use monomorph_ops::reduce::Numbers;
use std::ops::Range;

/// Room for a group of rows, which are staged together because a kernel accumulates them in one pass.
pub(super) type StagedGroup = StageBuffer<{ GROUP_ROWS * STAGE_BLOCK_BYTES }>;

/// A reduction chunk by chunk: where its elements are, the kernels of its fold, and how elements are staged.
///
/// Invariants:
/// * H1: every element that the layout reaches from the operand's first is in bounds, and nobody writes any.
/// * H2: the kernels were chosen for the dtype that `stager` loads, and for this host (A1).
#[derive(Clone, Copy)]
pub(super) struct Chunks<'a> {
    pub(super) layout: &'a Layout,
    pub(super) kernels: &'a FoldKernels,
    pub(super) stager: &'a Stager,
    /// What the fold is told besides the elements.
    pub(super) numbers: Numbers,
}

impl Chunks<'_> {
    /// Accumulates elements `range` of the outputs whose first element is at `at` into `width` lanes of `into`.
    ///
    /// # Safety
    ///
    /// H1 from `at`; `into` has `width` lanes, which nobody else uses, and the range is not empty.
    pub(super) unsafe fn fold(&self, at: *const u8, width: usize, range: Range<usize>, into: Lanes) {
        match self.layout.vectorization {
            // SAFETY: H1 from `at`, the lanes of `into` and a range that is not empty are the caller's promise.
            Vectorization::Inner(_) => unsafe { self.inner(at, range, into) },
            // SAFETY: H1 from `at`, the lanes of `into` and a range that is not empty are the caller's promise.
            Vectorization::Outer(dim, _) => unsafe { self.outer(at, dim, width, range, into) },
            // SAFETY: H1 from `at`, the lanes of `into` and a range that is not empty are the caller's promise.
            Vectorization::BatchedInner(dim, _) => unsafe { self.batched_inner(at, dim, width, range, into) },
        }
    }

    /// Copies `n` accumulators.
    ///
    /// # Safety
    ///
    /// Both runs of lanes have room for them, and lie apart.
    pub(super) unsafe fn copy(&self, from: Lanes, to: Lanes, n: usize) {
        let [first, second] = self.kernels.parts;
        for (from, to, bytes) in [(from.first, to.first, first * n), (from.second, to.second, second * n)] {
            match bytes {
                0 => {}
                // The accumulator of most folds. A constant size compiles to one move instead of a call of memcpy.
                // SAFETY: both runs have 8 bytes of parts, and lie apart, by the caller's promise.
                8 => unsafe { std::ptr::copy_nonoverlapping(from, to, 8) },
                // SAFETY: both runs have so many bytes of parts, and lie apart, by the caller's promise.
                _ => unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) },
            }
        }
    }

    /// # Safety
    ///
    /// As for `fold`.
    unsafe fn inner(&self, at: *const u8, range: Range<usize>, into: Lanes) {
        let (mut first, mut second) = (StageBlock::NEW, StageBlock::NEW);
        // A block has room for STAGED_LANES parts, of which `fold_kernels` asserts that they have no more than PART
        // bytes, and is aligned for any; no row has more lanes.
        const { assert!(STAGED_LANES * PART <= STAGE_BLOCK_BYTES && align_of::<StageBlock>() >= PART) };
        let lanes = Lanes { first: first.data(), second: second.data() };
        let (row, unit) = (self.layout.row_lanes(), self.layout.task_lanes());
        let prefetch = if self.layout.in_place { self.layout.prefetch } else { 0 };
        let mut accumulator = RowAccumulator::new(self.kernels, lanes, row, self.stager.size(), prefetch, self.numbers);
        if let (true, [dim]) = (self.layout.in_place, &self.layout.reduced[..]) {
            let x = at.wrapping_offset(dim.input.wrapping_mul(range.start as isize));
            // SAFETY: H1, H2: a layout in place has dense runs of what the kernels take.
            unsafe { accumulator.accumulate(x, range.len() * unit, range.start) };
        } else if self.layout.in_place {
            for run in Runs::new(&self.layout.reduced, range) {
                let x = at.wrapping_offset(run.offset);
                // SAFETY: H1, H2: a layout in place has dense runs of what the kernels take.
                unsafe { accumulator.accumulate(x, run.len * unit, run.start) };
            }
        } else {
            // SAFETY: H1 from `at` is the caller's promise; the lanes of `accumulator` are this function's own.
            unsafe { self.inner_staged(at, range, &mut accumulator) };
        }
        // SAFETY: A1 by H2; A2: so many lanes are filled, which are this function's own.
        unsafe { (self.kernels.reduce_lanes)(lanes, accumulator.filled(), unit) };
        // SAFETY: both have room for `unit` lanes, and lie apart: `lanes` are this function's own.
        unsafe { self.copy(lanes, into, unit) };
    }

    /// Accumulates elements that are strided, or of another dtype. Not inlined into `inner`, whose frame would then
    /// have room for the stage in every call.
    ///
    /// # Safety
    ///
    /// H1 from `at`.
    #[inline(never)]
    unsafe fn inner_staged(&self, at: *const u8, range: Range<usize>, accumulator: &mut RowAccumulator<'_>) {
        let (mut stage, mut scratch) = ([const { StageBlock::NEW }; GROUP_ROWS], StageBlock::NEW);
        let size = self.stager.size();
        let start_of = stage.as_mut_ptr().cast::<u8>();
        let (mut start, mut staged) = (range.start, 0);
        for run in Runs::new(&self.layout.reduced, range) {
            let mut done = 0;
            while done < run.len {
                // No more than STAGED_LANES elements: a load takes as many as a block holds in either dtype.
                let len = (run.len - done).min(STAGED_LANES).min(accumulator.row() * GROUP_ROWS - staged);
                let x = at.wrapping_offset(run.offset.wrapping_add(run.stride.wrapping_mul(done as isize)));
                let tile = Tile { cols: len, rows: 1, inner: run.stride, outer: 0 };
                // SAFETY: L1 and L3 by H1, L2: GROUP_ROWS blocks have room for STAGED_LANES elements of any dtype each.
                unsafe { self.stager.load(x, tile, start_of.wrapping_add(staged * size), scratch.data()) };
                (done, staged) = (done + len, staged + len);
                if staged == accumulator.row() * GROUP_ROWS {
                    // SAFETY: the stage was just filled with what the kernels take (H2).
                    unsafe { accumulator.accumulate(start_of, staged, start) };
                    (start, staged) = (start + staged, 0);
                }
            }
        }
        // SAFETY: so many elements of the stage were filled with what the kernels take (H2) since it was last folded.
        unsafe { accumulator.accumulate(start_of, staged, start) };
    }

    /// # Safety
    ///
    /// As for `fold`.
    unsafe fn outer(&self, at: *const u8, dim: Dim, width: usize, range: Range<usize>, into: Lanes) {
        let mut fresh = true;
        let prefetches = self.layout.prefetches_rows;
        let mut accumulate = |at: *const u8, stride: isize, rows: usize, start: usize| {
            let row = RowGroups {
                at,
                row_stride: stride,
                group_stride: 0,
                groups: 1,
                tall: false,
                lanes: width,
                index: [start as i64, 1, 0, 0],
                fresh,
                prefetch: if prefetches { stride.wrapping_mul(GROUP_ROWS as isize) } else { 0 },
                outputs: 1,
                output_strides: (0, 0),
                numbers: self.numbers,
            };
            for part in row.repeated(rows) {
                // SAFETY: A1 by H2, A2 by the caller's promise, A3: the rows are in place (H1) or were just staged.
                unsafe { (self.kernels.accumulate)(into, &part) };
            }
            fresh = false;
        };
        if self.layout.in_place {
            for run in Runs::new(&self.layout.reduced, range) {
                accumulate(at.wrapping_offset(run.offset), run.stride, run.len, run.start);
            }
            return;
        }
        let (mut stage, mut scratch) = (StagedGroup::NEW, StagedGroup::NEW);
        let size = self.stager.size();
        let (mut start, mut staged) = (range.start, 0);
        for run in Runs::new(&self.layout.reduced, range) {
            let mut done = 0;
            while done < run.len {
                let rows = (run.len - done).min(GROUP_ROWS - staged);
                let x = at.wrapping_offset(run.offset.wrapping_add(run.stride.wrapping_mul(done as isize)));
                // All rows in one tile: where rows lie closer together than lanes, a cache line has elements of several
                // rows, which are then read while the line is in the cache.
                let tile = Tile { cols: width, rows, inner: dim.input, outer: run.stride };
                let to = stage.data().wrapping_add(staged * width * size);
                // SAFETY: L1 and L3 by H1, L2: staged rows have no more than STAGED_LANES lanes, and the stage has room
                // for so many elements of any dtype in each of GROUP_ROWS rows.
                unsafe { self.stager.load(x, tile, to, scratch.data()) };
                (done, staged) = (done + rows, staged + rows);
                if staged == GROUP_ROWS {
                    accumulate(stage.data(), (width * size) as isize, staged, start);
                    (start, staged) = (start + staged, 0);
                }
            }
        }
        if staged > 0 {
            accumulate(stage.data(), (width * size) as isize, staged, start);
        }
    }
}
