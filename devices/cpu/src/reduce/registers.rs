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

    /// Merges accumulators `0..n` into the first one, as a tree.
    ///
    /// # Safety
    ///
    /// They were set, and `n` is a power of two, at most 64.
    #[inline(always)]
    pub(super) unsafe fn reduce(&mut self, n: usize, merge: impl Fn(A, A) -> A) {
        for half in [32, 16, 8, 4, 2, 1] {
            for j in 0..if half < n { half } else { 0 } {
                // SAFETY: `j < half < n`, and all of `0..n` were set.
                let a = unsafe { self.get(j) };
                // SAFETY: `n` is at most twice `half`, a power of two as it is, so `j + half < n`, and all of `0..n`
                // were set.
                let b = unsafe { self.get(j + half) };
                self.set(j, merge(a, b));
            }
        }
    }
}

/// The groups of rows of a long dense run, which lie one after the other.
pub(super) struct DenseGroups<'a> {
    rows: &'a RowGroups,
    first: *const u8,
    row_bytes: usize,
}

impl<'a> DenseGroups<'a> {
    /// The groups from `first` on, whose rows have `lanes` elements `C`.
    #[inline(always)]
    pub(super) fn new<C: CpuElement>(rows: &'a RowGroups, first: *const u8, lanes: usize) -> Self {
        DenseGroups { rows, first, row_bytes: lanes * size_of::<C::Stored>() }
    }

    #[inline(always)]
    pub(super) fn get(&self, g: usize) -> RowGroup {
        let [start, per_row, per_group, per_lane] = self.rows.index;
        RowGroup {
            at: self.first.wrapping_add(g * GROUP_ROWS * self.row_bytes),
            stride: self.row_bytes as isize,
            start: start.wrapping_add(per_group.wrapping_mul(g as i64)),
            per_row,
            per_lane,
        }
    }

    /// The same, and the group that comes so far behind it is prefetched.
    #[inline(always)]
    pub(super) fn get_ahead<const PREFETCH: bool>(&self, g: usize) -> RowGroup {
        let group = self.get(g);
        if PREFETCH {
            prefetch_run(group.at.wrapping_offset(self.rows.prefetch), GROUP_ROWS * self.row_bytes);
        }
        group
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
    let groups = DenseGroups::new::<C>(rows, first, n);
    let mut registers = RegisterLanes::<Acc<F, C, I>>::new();
    for j in 0..n {
        // With this condition in the loop below, the compiler would not keep the accumulators in registers.
        registers.set(
            j,
            if rows.fresh {
                // SAFETY: A3: the rows of the first group have an element for every lane.
                unsafe { groups.get(0).all::<F, C, I>(j, rows.numbers) }
            } else {
                // SAFETY: lane `j` is one of the row's, and holds an accumulator since the rows are not its first (A2).
                unsafe { lanes.get::<Acc<F, C, I>>(j) }
            },
        );
    }
    // One loop each: a condition within would keep the accumulators out of registers.
    if rows.prefetch == 0 {
        // SAFETY: accumulators `0..n` were set in the loop above; A3 for the groups.
        unsafe { merge_groups::<F, C, I, false>(&mut registers, &groups, n) };
    } else {
        // SAFETY: accumulators `0..n` were set in the loop above; A3 for the groups.
        unsafe { merge_groups::<F, C, I, true>(&mut registers, &groups, n) };
    }
    for j in 0..n {
        // SAFETY: accumulators `0..n` were set in the first loop.
        let acc = unsafe { registers.get(j) };
        // SAFETY: lane `j` is one of the row's (A2).
        unsafe { lanes.set(j, acc) };
    }
}

/// Merges groups into accumulators `0..n`; all but the first one if that has set them.
///
/// # Safety
///
/// They were set; A3 for the groups.
#[inline(always)]
unsafe fn merge_groups<F, C, I, const PREFETCH: bool>(
    registers: &mut RegisterLanes<Acc<F, C, I>>,
    groups: &DenseGroups<'_>,
    n: usize,
) where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    for g in usize::from(groups.rows.fresh)..groups.rows.groups {
        let group = groups.get_ahead::<PREFETCH>(g);
        let (firsts, seconds) = registers.of(n);
        // SAFETY: A3: the rows of every group have an element for every lane.
        let all = |j| unsafe { group.all::<F, C, I>(j, groups.rows.numbers) };
        // SAFETY: accumulators `0..n` were set, by the caller's promise.
        unsafe { merge_each::<F, C, I>(firsts, seconds, all) };
    }
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
    // SAFETY: all of `0..n` were set, and `n` is a power of two.
    unsafe { registers.reduce(n, F::merge) };
    // SAFETY: all of `0..n` were set, and `n` is not 0.
    let acc = unsafe { registers.get(0) };
    // SAFETY: lane 0 is one of the row's (A2).
    unsafe { lanes.set(0, acc) };
}
