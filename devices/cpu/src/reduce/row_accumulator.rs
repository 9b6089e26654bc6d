//! Accumulates dense runs of one output, or of a few whose elements alternate, into a row of lanes. Runs follow one
//! another, and need not fill a whole number of rows: lanes are set when the first element reaches them.

use super::fold_kernels::FoldKernels;
use super::lanes::Lanes;
use super::rows::RowGroups;
use monomorph_ops::reduce::Numbers;
use std::ops::Range;

/// A row of lanes that is being filled.
pub(super) struct RowAccumulator<'a> {
    kernels: &'a FoldKernels,
    lanes: Lanes,
    /// How many lanes there are.
    row: usize,
    /// How many lanes hold an accumulator.
    filled: usize,
    /// Bytes of an element.
    size: usize,
    /// [`RowGroups::prefetch`] of whole rows.
    prefetch: isize,
    /// [`RowGroups::numbers`].
    numbers: Numbers,
}

impl<'a> RowAccumulator<'a> {
    /// A row of `row` lanes that hold nothing yet, for elements of `size` bytes.
    pub(super) fn new(
        kernels: &'a FoldKernels,
        lanes: Lanes,
        row: usize,
        size: usize,
        prefetch: isize,
        numbers: Numbers,
    ) -> Self {
        RowAccumulator { kernels, lanes, row, filled: 0, size, prefetch, numbers }
    }

    /// How many lanes hold an accumulator.
    pub(super) fn filled(&self) -> usize {
        self.filled
    }

    /// How many lanes there are.
    pub(super) fn row(&self) -> usize {
        self.row
    }

    /// Accumulates a dense run of `n` elements, of which the first has the index `start`.
    ///
    /// # Safety
    ///
    /// A1 to A3 for the run and for the lanes of a row.
    pub(super) unsafe fn accumulate(&mut self, at: *const u8, n: usize, start: usize) {
        let mut done = 0;
        // Where only some lanes are filled, a row is merged into those and sets the others.
        while done < n && self.filled > 0 && self.filled < self.row {
            let len = (n - done).min(self.row);
            // SAFETY: A1 to A3 by the caller's promise: the run has `len` elements from `done` on, no more than a row.
            unsafe { self.part_of_row(at, done, len, start) };
            done += len;
        }
        let rows = (n - done) / self.row;
        if rows > 0 {
            // SAFETY: A1 to A3 by the caller's promise: the run has so many whole rows from `done` on, and all lanes
            // or none are filled.
            unsafe { self.whole_rows(at, done, rows, start) };
            done += rows * self.row;
        }
        // SAFETY: A1 to A3 by the caller's promise: what is left of the run is less than a row.
        unsafe { self.part_of_row(at, done, n - done, start) };
    }

    /// Lanes `lanes` of rows of the run, from element `done` on.
    fn rows(&self, at: *const u8, done: usize, lanes: Range<usize>, start: usize) -> RowGroups {
        RowGroups {
            at: at.wrapping_add((done + lanes.start) * self.size),
            row_stride: (self.row * self.size) as isize,
            group_stride: 0,
            groups: 1,
            tall: false,
            lanes: lanes.len(),
            index: [(start + done + lanes.start) as i64, self.row as i64, 0, 1],
            fresh: lanes.start >= self.filled,
            prefetch: 0,
            outputs: 1,
            output_strides: (0, 0),
            numbers: self.numbers,
        }
    }

    /// Accumulates whole rows, while all lanes are filled or none is.
    ///
    /// # Safety
    ///
    /// A1 to A3 for those rows.
    unsafe fn whole_rows(&mut self, at: *const u8, done: usize, rows: usize, start: usize) {
        let first = RowGroups { prefetch: self.prefetch, ..self.rows(at, done, 0..self.row, start) };
        for part in first.repeated(rows) {
            // SAFETY: A1 to A3 by the caller's promise: the parts are its rows, and the first of them sets lanes that
            // hold nothing.
            unsafe { (self.kernels.accumulate)(self.lanes, &part) };
        }
        self.filled = self.row;
    }

    /// Accumulates `len` elements of one row: those of filled lanes are merged, the others set.
    ///
    /// # Safety
    ///
    /// A1 to A3 for those lanes.
    unsafe fn part_of_row(&mut self, at: *const u8, done: usize, len: usize, start: usize) {
        let merged = len.min(self.filled);
        for lanes in [0..merged, merged..len].into_iter().filter(|lanes| !lanes.is_empty()) {
            let into = self.lanes.offset(self.kernels.parts, lanes.start);
            // SAFETY: A1 to A3 by the caller's promise: `into` are lanes of the row, filled unless they are set now,
            // and the run has an element for each from `done` on.
            unsafe { (self.kernels.accumulate)(into, &self.rows(at, done, lanes, start)) };
        }
        self.filled = self.filled.max(len);
    }
}
