//! Accumulates rows of elements into lanes, group by group.

use super::lane_kernel::{LaneKernel, merge_each, set_each};
use super::lanes::Lanes;
use super::parts::{Acc, AccumulatorAt, First, Second};
use super::registers::accumulate_in_registers;
use super::rows::{GROUP_ROWS, RowGroup, RowGroups, dense_lanes};
use super::search::search;
use crate::element::CpuElement;
use crate::isa::{Isa, Kernel};
use crate::scalar::Lane;
use monomorph_ops::algebra::Value;
use monomorph_ops::reduce::{Fold, Numbers};
use std::mem::MaybeUninit;

/// Lanes between two rounds of prefetches: few enough that the lines arrive while these lanes are accumulated.
const PREFETCH_BLOCK_LANES: usize = 128;

/// Accumulates rows into lanes.
///
/// # Safety
///
/// A1 to A3.
pub(super) unsafe fn accumulate<F, C, I>(lanes: Lanes, rows: &RowGroups)
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    // SAFETY: the host has the level (A1).
    let isa = unsafe { I::assume() };
    isa.enter(LaneKernel::<F, C, _>::new(lanes, *rows));
}

impl<F, C, I> Kernel<I> for LaneKernel<F, C, RowGroups>
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    type Home = F;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let rows = &self.task;
        let [start, per_row, per_group, per_lane] = rows.index;
        let row = const { (dense_lanes(size_of::<C::Stored>()) * size_of::<C::Stored>()) as isize };
        let is_dense = rows.row_stride == row && rows.group_stride == row * GROUP_ROWS as isize;
        let fits_registers = rows.tall && is_dense && rows.lanes == dense_lanes(size_of::<C::Stored>());
        let prefetch = if const { I::LEVEL.has_special_loops() } { rows.prefetch } else { 0 };
        for output in 0..rows.outputs {
            let first = rows.at.wrapping_offset(rows.output_strides.0.wrapping_mul(output as isize));
            let into = self.lanes.from::<Acc<F, C, I>>(output * rows.output_strides.1);
            // Lanes of one output count elements; those of outputs next to each other have the same index.
            if const { I::LEVEL.has_special_loops() && F::SEARCHES } && fits_registers && per_lane != 0 {
                // SAFETY: A2 for the lanes of this output, as many as a dense row has; A3 for its groups, which lie one
                // after the other.
                unsafe { search::<F, C, I>(into, rows, first) };
                continue;
            }
            if const { I::LEVEL.has_special_loops() && !F::SEARCHES } && fits_registers {
                // SAFETY: A2 for the lanes of this output, as many as a dense row has; A3 for its groups, which lie one
                // after the other.
                unsafe { accumulate_in_registers::<F, C, I>(into, rows, first) };
                continue;
            }
            for g in 0..rows.groups {
                let at = first.wrapping_offset(rows.group_stride.wrapping_mul(g as isize));
                let start = start.wrapping_add(per_group.wrapping_mul(g as i64));
                let fresh = rows.fresh && g == 0;
                let mut done = 0;
                while done < rows.lanes {
                    let lanes = if prefetch == 0 { rows.lanes } else { PREFETCH_BLOCK_LANES.min(rows.lanes - done) };
                    let group = RowGroup {
                        at: at.wrapping_add(done * size_of::<C::Stored>()),
                        stride: rows.row_stride,
                        start: start.wrapping_add(per_lane.wrapping_mul(done as i64)),
                        per_row,
                        per_lane,
                    };
                    if const { I::LEVEL.has_special_loops() } && prefetch != 0 {
                        let height = if rows.tall { GROUP_ROWS } else { 1 };
                        group.prefetch(prefetch, height, lanes * size_of::<C::Stored>());
                    }
                    // SAFETY: A2 for `lanes` of the `rows.lanes` lanes, from lane `done` on; the slices end before
                    // the next round.
                    let (first, second) = unsafe { into.from::<Acc<F, C, I>>(done).of::<Acc<F, C, I>>(lanes) };
                    // SAFETY: A3: each row of the group has an element for every lane; unless they are fresh, the lanes
                    // hold accumulators (A2).
                    unsafe { accumulate_group::<F, C, I>(first, second, &group, (rows.tall, fresh), rows.numbers) };
                    done += lanes;
                }
            }
        }
    }
}

/// Sets lanes to the accumulators of a group (`fresh`), or merges these into them. A group has [`GROUP_ROWS`] rows
/// (`tall`) or one.
///
/// # Safety
///
/// A3 for the group's rows and as many elements as there are lanes, which hold accumulators unless `fresh` (A2).
#[inline(always)]
unsafe fn accumulate_group<F, C, I>(
    first: &mut [MaybeUninit<First<F, C>>],
    second: &mut [MaybeUninit<Second<F, C>>],
    group: &RowGroup,
    (tall, fresh): (bool, bool),
    numbers: Numbers,
) where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    // Four closures, each of which is called once (see `set_each`).
    match (tall, fresh) {
        (true, true) => {
            // SAFETY: A3 for all rows, by the caller's promise.
            set_each::<F, C, I>(first, second, |j| unsafe { group.all::<F, C, I>(j, numbers) });
        }
        (true, false) => {
            // SAFETY: A3 for all rows, by the caller's promise.
            let acc = |j| unsafe { group.all::<F, C, I>(j, numbers) };
            // SAFETY: the lanes hold accumulators, by the caller's promise.
            unsafe { merge_each::<F, C, I>(first, second, acc) };
        }
        (false, true) => {
            // SAFETY: A3 for the row, by the caller's promise.
            set_each::<F, C, I>(first, second, |j| unsafe { group.one::<F, C, I>(j, numbers) });
        }
        (false, false) => {
            // SAFETY: A3 for the row, by the caller's promise.
            let acc = |j| unsafe { group.one::<F, C, I>(j, numbers) };
            // SAFETY: the lanes hold accumulators, by the caller's promise.
            unsafe { merge_each::<F, C, I>(first, second, acc) };
        }
    }
}
