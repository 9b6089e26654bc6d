//! The loop over a long dense run of a fold that looks for one element: which value it finds, then where that lies. A
//! comparison takes a part of the time of merging values with their indices, and the run is still in the cache when its
//! place is looked for.

use super::lanes::Lanes;
use super::parts::{Acc, AccumulatorAt};
use super::registers::{DenseGroups, RegisterLanes};
use super::rows::{GROUP_ROWS, RowGroup, RowGroups, dense_lanes};
use crate::element::CpuElement;
use crate::isa::Isa;
use crate::scalar::Lane;
use monomorph_ops::algebra::Value;
use monomorph_ops::reduce::Fold;
use std::ops::Range;

/// Merges what the fold finds in groups of a dense run into every lane of a row. All lanes are of the same output, and
/// a fold that finds one element finds the same if it looks at that twice.
///
/// # Safety
///
/// A2 for so many lanes, and A3 for the groups from `first` on, which lie one after the other.
#[inline(always)]
pub(super) unsafe fn search<F, C, I>(lanes: Lanes, rows: &RowGroups, first: *const u8)
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    let n = const { dense_lanes(size_of::<C::Stored>()) };
    let groups = DenseGroups::new::<C>(rows, first, n);
    let mut best = RegisterLanes::<Lane<C, I>>::new();
    for j in 0..n {
        // SAFETY: A3: the rows of the first group have an element for every lane.
        best.set(j, unsafe { best_of::<F, C, I>(&groups.get(0), j) });
    }
    // One loop each: a condition within would keep the values out of registers.
    if rows.prefetch == 0 {
        // SAFETY: values `0..n` were set in the loop above; A3 for the groups.
        unsafe { find::<F, C, I, false>(&mut best, &groups, 1..rows.groups, n) };
    } else {
        // SAFETY: values `0..n` were set in the loop above; A3 for the groups.
        unsafe { find::<F, C, I, true>(&mut best, &groups, 1..rows.groups, n) };
    }
    // SAFETY: values `0..n` were set, and a row has a power of two of lanes.
    unsafe { best.reduce(n, better::<F, C, I>) };
    // SAFETY: all values were set, and a row has one at least.
    let best = unsafe { best.get(0) };
    // SAFETY: A3 for the groups, of which there is one at least.
    let (x, at) = unsafe { first_as_good::<F, C, I>(&groups, rows.groups, n, best) };
    let acc = F::one_by(x, at, rows.numbers);
    for j in 0..n {
        // SAFETY: lane `j` is one of the row's, and holds an accumulator unless the rows are its first (A2).
        let merged = if rows.fresh { acc } else { F::merge(unsafe { lanes.get::<Acc<F, C, I>>(j) }, acc) };
        // SAFETY: lane `j` is one of the row's (A2).
        unsafe { lanes.set(j, merged) };
    }
}

/// The better one of an element and one behind it.
#[inline(always)]
fn better<F, C, I>(a: Lane<C, I>, b: Lane<C, I>) -> Lane<C, I>
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>>,
{
    Lane::select(F::keeps(a, b), a, b)
}

/// The best element `j` of all rows of a group.
///
/// # Safety
///
/// A3 for the group.
#[inline(always)]
unsafe fn best_of<F, C, I>(group: &RowGroup, j: usize) -> Lane<C, I>
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>>,
{
    // SAFETY: A3, by the caller's promise.
    let a = unsafe { better_of_two::<F, C, I>(group, 0, j) };
    // SAFETY: A3, by the caller's promise.
    let b = unsafe { better_of_two::<F, C, I>(group, 2, j) };
    // SAFETY: A3, by the caller's promise.
    let c = unsafe { better_of_two::<F, C, I>(group, 4, j) };
    // SAFETY: A3, by the caller's promise.
    let d = unsafe { better_of_two::<F, C, I>(group, 6, j) };
    better::<F, C, I>(better::<F, C, I>(a, b), better::<F, C, I>(c, d))
}

/// The better one of element `j` of row `k` and of the next.
///
/// # Safety
///
/// A3 for the elements.
#[inline(always)]
unsafe fn better_of_two<F, C, I>(group: &RowGroup, k: usize, j: usize) -> Lane<C, I>
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>>,
{
    // SAFETY: A3, by the caller's promise.
    let (a, _) = unsafe { group.element::<C, I>(k, j) };
    // SAFETY: A3, by the caller's promise.
    let (b, _) = unsafe { group.element::<C, I>(k + 1, j) };
    better::<F, C, I>(a, b)
}

/// Finds in groups what is better than values `0..n`.
///
/// # Safety
///
/// They were set; A3 for the groups.
#[inline(always)]
unsafe fn find<F, C, I, const PREFETCH: bool>(
    best: &mut RegisterLanes<Lane<C, I>>,
    groups: &DenseGroups<'_>,
    range: Range<usize>,
    n: usize,
) where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>>,
{
    for g in range {
        let group = groups.get_ahead::<PREFETCH>(g);
        for j in 0..n {
            // SAFETY: values `0..n` were set, by the caller's promise.
            let a = unsafe { best.get(j) };
            // SAFETY: A3: the rows of every group have an element for every lane.
            best.set(j, better::<F, C, I>(a, unsafe { best_of::<F, C, I>(&group, j) }));
        }
    }
}

/// The first element of groups of rows of `n` that is as good as the best one, and its index.
///
/// # Safety
///
/// A3 for `count` groups, of which there is one at least.
#[inline(always)]
unsafe fn first_as_good<F, C, I>(
    groups: &DenseGroups<'_>,
    count: usize,
    n: usize,
    best: Lane<C, I>,
) -> (Lane<C, I>, Lane<i64, I>)
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>>,
{
    for g in 0..count {
        let group = groups.get(g);
        // Loops without an exit, which vectorise: first over a group, then over a row.
        let mut any = false;
        for k in 0..GROUP_ROWS {
            for j in 0..n {
                // SAFETY: A3: the rows of every group have an element for every lane.
                let (x, _) = unsafe { group.element::<C, I>(k, j) };
                any |= F::keeps(x, best).get();
            }
        }
        for k in 0..if any { GROUP_ROWS } else { 0 } {
            let mut place = n;
            for j in (0..n).rev() {
                // SAFETY: A3: the rows of every group have an element for every lane.
                let (x, _) = unsafe { group.element::<C, I>(k, j) };
                place = if F::keeps(x, best).get() { j } else { place };
            }
            if place < n {
                // SAFETY: A3: the rows of every group have an element for every lane.
                return unsafe { group.element::<C, I>(k, place) };
            }
        }
    }
    // Only for a fold that finds no element as good as itself: it has no order.
    // SAFETY: A3: the rows of the first group have an element for every lane.
    unsafe { groups.get(0).element::<C, I>(0, 0) }
}
