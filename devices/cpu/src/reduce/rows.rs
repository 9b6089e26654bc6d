//! Rows of elements in memory, as they are about to be accumulated: row by row, or in groups of [`GROUP_ROWS`] whose
//! elements are first merged with each other as a small reduction tree.

use super::parts::{Acc, AccumulatorAt};
use crate::cache_lines::prefetch_run;
use crate::element::{CpuElement, load};
use crate::isa::Isa;
use crate::scalar::Lane;
use monomorph_ops::algebra::Value;
use monomorph_ops::reduce::{Fold, Numbers};

/// Rows of a group: two times the four that a fold merges before it widens them ([`Fold::four`]).
pub(super) const GROUP_ROWS: usize = 8;

/// The fewest lanes of a row of elements of one output.
pub(super) const MIN_ROW_LANES: usize = 16;

/// Bytes of a row of a long dense run: a cache line, so that the loop reads line after line, which is the pattern that
/// hardware prefetchers follow.
pub(super) const ROW_BYTES: usize = 64;

/// Lanes of a row of a long dense run of elements of so many bytes.
pub(super) const fn dense_lanes(size: usize) -> usize {
    let lanes = ROW_BYTES / size;
    if lanes > MIN_ROW_LANES { lanes } else { MIN_ROW_LANES }
}

/// Rows to be accumulated into lanes, one row or one group of [`GROUP_ROWS`] at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowGroups {
    /// The first element.
    pub(super) at: *const u8,
    /// Bytes from one row of a group to the next.
    pub(super) row_stride: isize,
    /// Bytes from the first row of one group to that of the next.
    pub(super) group_stride: isize,
    /// How many groups there are.
    pub(super) groups: usize,
    /// A group has [`GROUP_ROWS`] rows; otherwise a single one.
    pub(super) tall: bool,
    pub(super) lanes: usize,
    /// The index of the first element, and by how much it grows from row to row of a group, from group to group, and
    /// from lane to lane.
    pub(super) index: [i64; 4],
    /// The lanes hold no accumulator yet: the first group sets them, and the others are merged into them.
    pub(super) fresh: bool,
    /// How far ahead, in bytes, elements are prefetched; 0 where they are expected in a cache.
    pub(super) prefetch: isize,
    /// How many outputs have such rows.
    pub(super) outputs: usize,
    /// From one output to the next: bytes between first elements, and lanes between first lanes.
    pub(super) output_strides: (isize, usize),
    /// What the fold is told besides the elements.
    pub(super) numbers: Numbers,
}

/// One group of rows, or a single row.
#[derive(Clone, Copy)]
pub(super) struct RowGroup {
    pub(super) at: *const u8,
    pub(super) stride: isize,
    pub(super) start: i64,
    pub(super) per_row: i64,
    pub(super) per_lane: i64,
}

impl RowGroups {
    /// `rows` rows, `row_stride` bytes apart, of which `self` is the first: as many whole groups as they make, then the
    /// others one by one. Only what has rows is given.
    pub(super) fn repeated(self, rows: usize) -> impl Iterator<Item = RowGroups> {
        let (tall, [start, per_row, _, per_lane]) = (rows / GROUP_ROWS, self.index);
        let done = tall * GROUP_ROWS;
        let groups = RowGroups {
            group_stride: self.row_stride.wrapping_mul(GROUP_ROWS as isize),
            groups: tall,
            tall: true,
            index: [start, per_row, per_row * GROUP_ROWS as i64, per_lane],
            ..self
        };
        let rest = RowGroups {
            at: self.at.wrapping_offset(self.row_stride.wrapping_mul(done as isize)),
            group_stride: self.row_stride,
            groups: rows - done,
            tall: false,
            index: [start + per_row * done as i64, 0, per_row, per_lane],
            fresh: self.fresh && done == 0,
            ..self
        };
        [groups, rest].into_iter().filter(|part| part.groups > 0)
    }
}

impl RowGroup {
    /// Element `j` of row `k`, and its index.
    ///
    /// # Safety
    ///
    /// A3 for the element.
    #[inline(always)]
    pub(super) unsafe fn element<C: CpuElement, I: Isa>(&self, k: usize, j: usize) -> (Lane<C, I>, Lane<i64, I>) {
        let row = self.at.wrapping_offset(self.stride.wrapping_mul(k as isize));
        // SAFETY: row `k` has an initialised element `j` (A3).
        let x = unsafe { load::<C>(row, j) };
        let index = self.start.wrapping_add(self.per_row.wrapping_mul(k as i64));
        (Lane::new(x), Lane::new(index.wrapping_add(self.per_lane.wrapping_mul(j as i64))))
    }

    /// The accumulator of element `j` of rows `k` to `k + 3`.
    ///
    /// # Safety
    ///
    /// A3 for the elements.
    #[inline(always)]
    pub(super) unsafe fn four<F, C, I>(&self, k: usize, j: usize, numbers: Numbers) -> Acc<F, C, I>
    where
        C: CpuElement,
        I: Isa,
        Lane<C, I>: Value<Mask = Lane<bool, I>>,
        F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
    {
        // SAFETY: A3 for element `j` of row `k`, by the caller's promise.
        let (a, at_a) = unsafe { self.element::<C, I>(k, j) };
        // SAFETY: A3 for element `j` of row `k + 1`, by the caller's promise.
        let (b, at_b) = unsafe { self.element::<C, I>(k + 1, j) };
        // SAFETY: A3 for element `j` of row `k + 2`, by the caller's promise.
        let (c, at_c) = unsafe { self.element::<C, I>(k + 2, j) };
        // SAFETY: A3 for element `j` of row `k + 3`, by the caller's promise.
        let (d, at_d) = unsafe { self.element::<C, I>(k + 3, j) };
        F::four_by([a, b, c, d], [at_a, at_b, at_c, at_d], numbers)
    }

    /// The accumulator of element `j` of a single row.
    ///
    /// # Safety
    ///
    /// A3 for the element.
    #[inline(always)]
    pub(super) unsafe fn one<F, C, I>(&self, j: usize, numbers: Numbers) -> Acc<F, C, I>
    where
        C: CpuElement,
        I: Isa,
        Lane<C, I>: Value<Mask = Lane<bool, I>>,
        F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
    {
        // SAFETY: A3, by the caller's promise.
        let (x, at) = unsafe { self.element::<C, I>(0, j) };
        F::one_by(x, at, numbers)
    }

    /// The accumulator of element `j` of all rows of a group.
    ///
    /// # Safety
    ///
    /// A3 for the elements.
    #[inline(always)]
    pub(super) unsafe fn all<F, C, I>(&self, j: usize, numbers: Numbers) -> Acc<F, C, I>
    where
        C: CpuElement,
        I: Isa,
        Lane<C, I>: Value<Mask = Lane<bool, I>>,
        F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
    {
        // SAFETY: A3, by the caller's promise.
        let first = unsafe { self.four::<F, C, I>(0, j, numbers) };
        // SAFETY: A3, by the caller's promise.
        F::merge(first, unsafe { self.four::<F, C, I>(GROUP_ROWS / 2, j, numbers) })
    }

    /// Prefetches `bytes` bytes of each row, `ahead` bytes behind its first element.
    #[inline(always)]
    pub(super) fn prefetch(&self, ahead: isize, rows: usize, bytes: usize) {
        for k in 0..rows {
            let row = self.at.wrapping_offset(self.stride.wrapping_mul(k as isize)).wrapping_offset(ahead);
            prefetch_run(row, bytes);
        }
    }
}
