//! Accumulates rows of elements into lanes, group by group.

use super::lane_kernel::{LaneKernel, merge_each};
use super::lanes::Lanes;
use super::parts::{Acc, AccumulatorAt};
use super::registers::accumulate_in_registers;
use super::rows::{GROUP_ROWS, RowGroup, RowGroups, dense_lanes};
use crate::element::CpuElement;
use crate::isa::{Isa, Kernel};
use crate::scalar::Lane;
use monomorph_ops::algebra::Value;
use monomorph_ops::reduce::Fold;

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
            if const { I::LEVEL.has_special_loops() } && fits_registers {
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
                    if rows.tall {
                        // SAFETY: A3: each of the GROUP_ROWS rows has an element for every lane.
                        let half = |k, j| unsafe { group.four::<F, C, I>(k, j, rows.numbers) };
                        // SAFETY: unless this is the first group of fresh lanes, they hold accumulators (A2).
                        unsafe { merge_each::<F, C, I>(first, second, fresh, |j| F::merge(half(0, j), half(4, j))) };
                    } else {
                        let one = |j| {
                            // SAFETY: A3: the row has an element for every lane.
                            let (x, at) = unsafe { group.element::<C, I>(0, j) };
                            F::one_by(x, at, rows.numbers)
                        };
                        // SAFETY: unless this is the first group of fresh lanes, they hold accumulators (A2).
                        unsafe { merge_each::<F, C, I>(first, second, fresh, one) };
                    }
                    done += lanes;
                }
            }
        }
    }
}
