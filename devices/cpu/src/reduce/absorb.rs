//! Rows of elements into lanes, group by group.

use super::body::{Rows, TALL, Work, dense_lanes, sweep};
use super::held::held;
use super::lanes::Lanes;
use super::parts::{Acc, AccumulatorAt};
use crate::cache_lines::prefetch_run;
use crate::element::{CpuElement, load};
use crate::isa::{Isa, Kernel};
use crate::on::On;
use monomorph_ops::algebra::Value;
use monomorph_ops::reduce::Fold;

/// Lanes between two looks ahead: few enough that what is asked for arrives while they are folded.
const BLOCK_LANES: usize = 128;

/// One group of rows.
#[derive(Clone, Copy)]
pub(super) struct Group {
    pub(super) at: *const u8,
    pub(super) stride: isize,
    pub(super) start: i64,
    pub(super) per_row: i64,
    pub(super) per_lane: i64,
}

/// Folds rows into lanes.
///
/// # Safety
///
/// B1 to B3.
pub(super) unsafe fn absorb<F, C, I>(lanes: Lanes, rows: &Rows)
where
    C: CpuElement,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    // SAFETY: the host has the level (B1).
    let isa = unsafe { I::assume() };
    isa.enter(Work::<F, C, _>::new(lanes, *rows));
}

impl Group {
    /// Element `j` of row `k`, and its index.
    ///
    /// # Safety
    ///
    /// B3 for the element.
    #[inline(always)]
    unsafe fn element<C: CpuElement, I: Isa>(&self, k: usize, j: usize) -> (On<C, I>, On<i64, I>) {
        let row = self.at.wrapping_offset(self.stride.wrapping_mul(k as isize));
        // SAFETY: row `k` has an initialised element `j` (B3).
        let x = unsafe { load::<C>(row, j) };
        let index = self.start.wrapping_add(self.per_row.wrapping_mul(k as i64));
        (On::new(x), On::new(index.wrapping_add(self.per_lane.wrapping_mul(j as i64))))
    }

    /// The accumulator of element `j` of rows `k` to `k + 3`.
    ///
    /// # Safety
    ///
    /// B3 for the elements.
    #[inline(always)]
    pub(super) unsafe fn four<F, C, I>(&self, k: usize, j: usize) -> Acc<F, C, I>
    where
        C: CpuElement,
        I: Isa,
        On<C, I>: Value<Mask = On<bool, I>>,
        F: Fold<On<C, I>, On<i64, I>, Accumulator: AccumulatorAt<C, I>>,
    {
        // SAFETY: B3 for element `j` of row `k`, by the caller's promise.
        let (a, at_a) = unsafe { self.element::<C, I>(k, j) };
        // SAFETY: B3 for element `j` of row `k + 1`, by the caller's promise.
        let (b, at_b) = unsafe { self.element::<C, I>(k + 1, j) };
        // SAFETY: B3 for element `j` of row `k + 2`, by the caller's promise.
        let (c, at_c) = unsafe { self.element::<C, I>(k + 2, j) };
        // SAFETY: B3 for element `j` of row `k + 3`, by the caller's promise.
        let (d, at_d) = unsafe { self.element::<C, I>(k + 3, j) };
        F::four([a, b, c, d], [at_a, at_b, at_c, at_d])
    }

    /// Asks for the elements that lie so far from those of the first `lanes` lanes.
    #[inline(always)]
    fn fetch(&self, ahead: isize, rows: usize, bytes: usize) {
        for k in 0..rows {
            let row = self.at.wrapping_offset(self.stride.wrapping_mul(k as isize)).wrapping_offset(ahead);
            prefetch_run(row, bytes);
        }
    }
}

impl<F, C, I> Kernel<I> for Work<F, C, Rows>
where
    C: CpuElement,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    type Home = F;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let rows = &self.task;
        let [start, per_row, per_step, per_lane] = rows.index;
        let row = const { (dense_lanes(size_of::<C::Stored>()) * size_of::<C::Stored>()) as isize };
        let is_dense = rows.stride == row && rows.step == row * TALL as isize;
        let holds = rows.tall && is_dense && rows.lanes == dense_lanes(size_of::<C::Stored>());
        for output in 0..rows.outputs {
            let first = rows.at.wrapping_offset(rows.next.0.wrapping_mul(output as isize));
            let into = self.lanes.from::<Acc<F, C, I>>(output * rows.next.1);
            if holds {
                // SAFETY: B2 for the lanes of this output, as many as a dense row has; B3: the groups lie one after
                // the other.
                unsafe { held::<F, C, I>(into, rows, first) };
                continue;
            }
            for g in 0..rows.groups {
                let at = first.wrapping_offset(rows.step.wrapping_mul(g as isize));
                let start = start.wrapping_add(per_step.wrapping_mul(g as i64));
                let fresh = rows.fresh && g == 0;
                let mut done = 0;
                while done < rows.lanes {
                    let lanes = if rows.ahead == 0 { rows.lanes } else { BLOCK_LANES.min(rows.lanes - done) };
                    let group = Group {
                        at: at.wrapping_add(done * size_of::<C::Stored>()),
                        stride: rows.stride,
                        start: start.wrapping_add(per_lane.wrapping_mul(done as i64)),
                        per_row,
                        per_lane,
                    };
                    if rows.ahead != 0 {
                        let height = if rows.tall { TALL } else { 1 };
                        group.fetch(rows.ahead, height, lanes * size_of::<C::Stored>());
                    }
                    // SAFETY: B2 for `lanes` of the `rows.lanes` lanes, from lane `done` on; the slices end before
                    // the next round.
                    let (first, second) = unsafe { into.from::<Acc<F, C, I>>(done).of::<Acc<F, C, I>>(lanes) };
                    if rows.tall {
                        // SAFETY: B3: each of the TALL rows has an element for every lane.
                        let half = |k, j| unsafe { group.four::<F, C, I>(k, j) };
                        // SAFETY: unless this is the first group of lanes that hold nothing, they hold accumulators
                        // (B2).
                        unsafe { sweep::<F, C, I>(first, second, fresh, |j| F::merge(half(0, j), half(4, j))) };
                    } else {
                        let one = |j| {
                            // SAFETY: B3: the row has an element for every lane.
                            let (x, at) = unsafe { group.element::<C, I>(0, j) };
                            F::one(x, at)
                        };
                        // SAFETY: unless this is the first group of lanes that hold nothing, they hold accumulators
                        // (B2).
                        unsafe { sweep::<F, C, I>(first, second, fresh, one) };
                    }
                    done += lanes;
                }
            }
        }
    }
}
