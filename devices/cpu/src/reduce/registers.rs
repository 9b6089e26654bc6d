//! The loops over a long dense run, which keep their accumulators in registers: their number is that of a dense row,
//! known at compile time.

use super::lane_kernel::merge_each;
use super::lanes::Lanes;
use super::parts::{Acc, AccumulatorAt, Parts};
use super::rows::{GROUP_ROWS, ROW_BYTES, RowGroup, RowGroups, dense_lanes};
use crate::cache_lines::prefetch_run;
use crate::element::CpuElement;
use crate::isa::Isa;
use crate::scalar::Lane;
use monomorph_ops::algebra::Value;
use monomorph_ops::reduce::Fold;
use std::mem::MaybeUninit;

/// The accumulators of a dense row. A local value, so that the compiler keeps it in registers: it would load and store
/// lanes in memory for each group, and check first that they do not overlap the rows.
pub(super) struct RegisterLanes<A: Parts> {
    firsts: [MaybeUninit<A::First>; ROW_BYTES],
    seconds: [MaybeUninit<A::Second>; ROW_BYTES],
}

impl<A: Parts> RegisterLanes<A> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        RegisterLanes { firsts: [const { MaybeUninit::uninit() }; _], seconds: [const { MaybeUninit::uninit() }; _] }
    }

    #[inline(always)]
    pub(super) fn set(&mut self, j: usize, acc: A) {
        let (first, second) = acc.split();
        self.firsts[j].write(first);
        self.seconds[j].write(second);
    }

    /// Accumulators `0..n`, their first and their second parts.
    #[inline(always)]
    #[allow(clippy::type_complexity, reason = "two slices, named by the accumulator's parts")]
    pub(super) fn of(&mut self, n: usize) -> (&mut [MaybeUninit<A::First>], &mut [MaybeUninit<A::Second>]) {
        (&mut self.firsts[..n], &mut self.seconds[..n])
    }

    /// # Safety
    ///
    /// Accumulator `j` was set.
    #[inline(always)]
    pub(super) unsafe fn get(&self, j: usize) -> A {
        // SAFETY: accumulator `j` was set, so its first part is initialised; it is `Copy`.
        let first = unsafe { self.firsts[j].assume_init_read() };
        // SAFETY: accumulator `j` was set, so its second part is initialised; it is `Copy`.
        A::join(first, unsafe { self.seconds[j].assume_init_read() })
    }
}

/// Accumulates groups of a dense run into as many lanes as a row of one has.
///
/// # Safety
///
/// A2 for so many lanes, and A3 for the groups from `first` on, which lie one after the other.
#[inline(always)]
pub(super) unsafe fn accumulate_in_registers<F, C, I>(lanes: Lanes, rows: &RowGroups, first: *const u8)
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    let n = const { dense_lanes(size_of::<C::Stored>()) };
    let [start, per_row, per_group, per_lane] = rows.index;
    let row = n * size_of::<C::Stored>();
    let group = |g: usize| RowGroup {
        at: first.wrapping_add(g * GROUP_ROWS * row),
        stride: row as isize,
        start: start.wrapping_add(per_group.wrapping_mul(g as i64)),
        per_row,
        per_lane,
    };
    let mut registers = RegisterLanes::<Acc<F, C, I>>::new();
    for j in 0..n {
        // With this condition in the loop below, the compiler would not keep the accumulators in registers.
        registers.set(
            j,
            if rows.fresh {
                let group = group(0);
                // SAFETY: A3: the rows of the first group have an element for every lane.
                let half = |k| unsafe { group.four::<F, C, I>(k, j, rows.numbers) };
                F::merge(half(0), half(4))
            } else {
                // SAFETY: lane `j` is one of the row's, and holds an accumulator since the rows are not its first (A2).
                unsafe { lanes.get::<Acc<F, C, I>>(j) }
            },
        );
    }
    let mut fold = |ahead: Option<isize>| {
        for g in usize::from(rows.fresh)..rows.groups {
            let group = group(g);
            if let Some(ahead) = ahead {
                prefetch_run(group.at.wrapping_offset(ahead), GROUP_ROWS * row);
            }
            if const { F::SEARCHES } {
                let stays = |k, j| {
                    // SAFETY: accumulators `0..n` were set in the loop above.
                    let acc = unsafe { registers.get(j) };
                    // SAFETY: A3: the rows of every group have an element for every lane.
                    let (x, _) = unsafe { group.element::<C, I>(k, j) };
                    F::stays(acc, x)
                };
                if all_stay::<I>(n, stays) {
                    continue;
                }
            }
            // SAFETY: A3: the rows of every group have an element for every lane.
            let half = |k, j| unsafe { group.four::<F, C, I>(k, j, rows.numbers) };
            let (firsts, seconds) = registers.of(n);
            // SAFETY: accumulators `0..n` were set in the loop above.
            unsafe { merge_each::<F, C, I>(firsts, seconds, false, |j| F::merge(half(0, j), half(4, j))) };
        }
    };
    // One loop each: a condition within would keep the accumulators out of registers.
    if rows.prefetch == 0 {
        fold(None)
    } else {
        fold(Some(rows.prefetch))
    }
    for j in 0..n {
        // SAFETY: accumulators `0..n` were set in the first loop.
        let acc = unsafe { registers.get(j) };
        // SAFETY: lane `j` is one of the row's (A2).
        unsafe { lanes.set(j, acc) };
    }
}

/// Whether all rows of a group leave all lanes as they are. Comparisons alone take a part of the time of merging values
/// with indices, and in a long run hardly any group has an element that counts.
#[inline(always)]
fn all_stay<I: Isa>(lanes: usize, stays: impl Fn(usize, usize) -> Lane<bool, I>) -> bool {
    let mut all = true;
    for j in 0..lanes {
        for k in 0..GROUP_ROWS {
            all &= stays(k, j).get();
        }
    }
    all
}

/// Merges as many lanes as a dense row has into the first one.
///
/// # Safety
///
/// A2 for so many lanes, which hold accumulators.
#[inline(always)]
pub(super) unsafe fn reduce_registers<F, C, I>(lanes: Lanes)
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    let n = const { dense_lanes(size_of::<C::Stored>()) };
    let mut registers = RegisterLanes::<Acc<F, C, I>>::new();
    for j in 0..n {
        // SAFETY: lane `j` is one of the row's, and holds an accumulator (A2).
        registers.set(j, unsafe { lanes.get::<Acc<F, C, I>>(j) });
    }
    for half in [64, 32, 16, 8, 4, 2, 1] {
        for j in 0..if half < n { half } else { 0 } {
            // SAFETY: `j < half < n`, and all of `0..n` were set.
            let a = unsafe { registers.get(j) };
            // SAFETY: `n` is at most twice `half`, a power of two as it is, so `j + half < n`, and all of `0..n` were
            // set.
            let b = unsafe { registers.get(j + half) };
            registers.set(j, F::merge(a, b));
        }
    }
    // SAFETY: all of `0..n` were set, and `n` is not 0.
    let acc = unsafe { registers.get(0) };
    // SAFETY: lane 0 is one of the row's (A2).
    unsafe { lanes.set(0, acc) };
}
