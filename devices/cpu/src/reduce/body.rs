//! The loops of one fold on one dtype at one level, as functions that the driver calls without knowing the fold. Owns what they are
//! called with and what all of them are made of; the loops are in `absorb.rs`, `held.rs` and `meet.rs`.
//!
//! Accumulators lie in *lanes*: lane `j` of an accumulator of two parts is element `j` of each of two runs. What an
//! element of a run is depends on the fold and the dtype alone (`parts.rs`).
//!
//! Invariants of a call:
//! * B1: the host has the level that the bodies were chosen for.
//! * B2: every lane that is read holds an accumulator of this fold, of this dtype; runs of lanes are in bounds, lie
//!   apart, and nobody else uses them. Both are aligned to [`PART`] bytes, or begin a whole number of parts behind
//!   such a place.
//! * B3: rows that are read have as many initialised elements of the dtype as there are lanes, and lie apart from them.

use super::absorb::absorb;
use super::lanes::Lanes;
use super::meet::{collapse, merge};
use super::parts::{Acc, AccumulatorAt, First, PART, Parts, Second};
use super::results::Keep;
use crate::element::CpuElement;
use crate::isa::{Isa, Portable};
use crate::on::On;
use monomorph_ops::algebra::Value;
use monomorph_ops::reduce::{Fold, Identity};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Rows of a tall group.
pub(super) const TALL: usize = 8;

/// Rows of elements to be folded into lanes, one by one or in groups of [`TALL`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    /// The first element.
    pub(super) at: *const u8,
    /// Bytes from one row of a group to the next.
    pub(super) stride: isize,
    /// Bytes from the first row of one group to that of the next.
    pub(super) step: isize,
    /// How many groups there are.
    pub(super) groups: usize,
    /// A group has [`TALL`] rows; otherwise a single one.
    pub(super) tall: bool,
    pub(super) lanes: usize,
    /// The index of the first element, and by how much it grows from row to row of a group, from group to group, and
    /// from lane to lane.
    pub(super) index: [i64; 4],
    /// The lanes hold nothing yet.
    pub(super) fresh: bool,
    /// How far ahead, in bytes, elements are fetched from memory; 0 where they are in a cache already.
    pub(super) ahead: isize,
    /// How often this is to be done, for outputs one after the other.
    pub(super) outputs: usize,
    /// Bytes from the first element of one output to that of the next, and lanes from the first of one to that of the
    /// next.
    pub(super) next: (isize, usize),
}

/// Bytes of the elements that [`held`](super::held::held) folds in one pass over its lanes, a row of a long dense
/// run: a line, so that lines are met in order, which is what processors fetch ahead by.
pub(super) const ROW_BYTES: usize = 64;

/// Lanes of a row of a long dense run of elements of so many bytes.
pub(super) const fn dense_lanes(size: usize) -> usize {
    let lanes = ROW_BYTES / size;
    if lanes > FEW_LANES { lanes } else { FEW_LANES }
}

/// The fewest lanes of a row across.
pub(super) const FEW_LANES: usize = 16;

/// The loops of one fold, on one dtype, at one level. Unsafe to call by B1 to B3 of `body.rs`; only this crate does.
#[derive(Clone, Copy)]
pub struct Bodies {
    /// Bytes of the first and of the second part of an accumulator, each no more than [`PART`].
    pub(super) parts: [usize; 2],
    /// Folds rows into lanes.
    pub(super) absorb: unsafe fn(Lanes, &Rows),
    /// Merges lanes `0..n` of the second into the first.
    pub(super) merge: unsafe fn(Lanes, Lanes, usize),
    /// Merges lanes `0..n`, of which every `unit` is for the same output, into lanes `0..unit`.
    pub(super) collapse: unsafe fn(Lanes, usize, usize),
    /// Stores the results of lanes `0..n`, each of so many elements, to dense runs.
    pub(super) finish: unsafe fn(Lanes, usize, i64, [*mut u8; 2]),
    /// Fills lane 0 with the accumulator of nothing, if the fold has one.
    pub(super) nothing: Option<unsafe fn(Lanes)>,
}

/// The bodies of fold `F` on `C` at level `I`.
pub(super) const fn bodies<F, C, I>() -> Bodies
where
    C: CpuElement,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    On<C, Portable>: Value<Mask = On<bool, Portable>>,
    F: Fold<On<C, I>, On<i64, I>> + Fold<On<C, Portable>, On<i64, Portable>>,
    F::Accumulator: AccumulatorAt<C, I> + AccumulatorAt<C, Portable>,
    F::Results: Keep<C, Portable>,
{
    // What `PART` promises to whoever has room for lanes.
    const {
        assert!(size_of::<First<F, C>>() <= PART && align_of::<First<F, C>>() <= PART);
        assert!(size_of::<Second<F, C>>() <= PART && align_of::<Second<F, C>>() <= PART);
    }
    Bodies {
        parts: [size_of::<First<F, C>>(), size_of::<Second<F, C>>()],
        absorb: absorb::<F, C, I>,
        merge: merge::<F, C, I>,
        collapse: collapse::<F, C, I>,
        // These run once per output element, and compute the same at every level.
        finish: finish::<F, C>,
        nothing: if F::Identity::EXISTS { Some(nothing::<F, C>) } else { None },
    }
}

/// Work on lanes in the frame of a level.
pub(super) struct Work<F, C, T> {
    pub(super) lanes: Lanes,
    pub(super) task: T,
    fold: PhantomData<(F, C)>,
}

impl<F, C, T> Work<F, C, T> {
    pub(super) fn new(lanes: Lanes, task: T) -> Self {
        Work { lanes, task, fold: PhantomData }
    }
}

/// Sets or merges each lane: the one loop of all bodies.
///
/// # Safety
///
/// Without `fresh`, every lane holds an accumulator of fold `F` on `C` (B2), whatever level has written it.
#[inline(always)]
pub(super) unsafe fn sweep<F, C, I>(
    first: &mut [MaybeUninit<First<F, C>>],
    second: &mut [MaybeUninit<Second<F, C>>],
    fresh: bool,
    acc: impl Fn(usize) -> Acc<F, C, I>,
) where
    C: CpuElement,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    if fresh {
        for (j, (first, second)) in first.iter_mut().zip(second).enumerate() {
            let (a, b) = acc(j).split();
            first.write(a);
            second.write(b);
        }
    } else {
        for (j, (first, second)) in first.iter_mut().zip(second).enumerate() {
            // SAFETY: the lane holds an accumulator by the caller's promise, so its first part is initialised; it is
            // `Copy`.
            let a = unsafe { first.assume_init_read() };
            // SAFETY: the lane holds an accumulator by the caller's promise, so its second part is initialised; it is
            // `Copy`.
            let b = unsafe { second.assume_init_read() };
            let (a, b) = F::merge(Acc::<F, C, I>::join(a, b), acc(j)).split();
            first.write(a);
            second.write(b);
        }
    }
}

/// Stores what the accumulators of lanes `0..n` mean.
///
/// The lanes were written by bodies of another level, perhaps. They hold the same: [`First`] and [`Second`] know no
/// level, and every level's accumulators are made of them ([`AccumulatorAt`]).
///
/// # Safety
///
/// B2 for `n` lanes, which hold accumulators; each run of the results has `n` elements of the dtype that `result_dtype`
/// names, which nobody else uses.
unsafe fn finish<F, C>(lanes: Lanes, n: usize, count: i64, outs: [*mut u8; 2])
where
    C: CpuElement,
    On<C, Portable>: Value<Mask = On<bool, Portable>>,
    F: Fold<On<C, Portable>, On<i64, Portable>, Accumulator: AccumulatorAt<C, Portable>>,
    F::Results: Keep<C, Portable>,
{
    for j in 0..n {
        // SAFETY: lane `j < n` is in bounds and holds an accumulator, of parts of these types (B2).
        let acc = unsafe { lanes.get::<Acc<F, C, Portable>>(j) };
        let result = F::finish(acc, On::new(count));
        // SAFETY: each run has an element `j < n` of the dtype that `result_dtype` names for these results, which
        // nobody else uses: the caller's promise.
        unsafe { <F::Results as Keep<C, Portable>>::keep(result, outs, j) };
    }
}

/// Lets lane 0 hold the accumulator of nothing. Without an identity, which only [`bodies`] asks for, it does nothing.
///
/// # Safety
///
/// B2 for lane 0, which need not hold anything.
unsafe fn nothing<F, C>(lanes: Lanes)
where
    C: CpuElement,
    On<C, Portable>: Value<Mask = On<bool, Portable>>,
    F: Fold<On<C, Portable>, On<i64, Portable>, Accumulator: AccumulatorAt<C, Portable>>,
{
    let acc = <F as Fold<On<C, Portable>, On<i64, Portable>>>::nothing();
    if let Some(acc) = F::Identity::optional::<Acc<F, C, Portable>>(acc) {
        // SAFETY: lane 0 is in bounds, aligned, and nobody else uses it (B2).
        unsafe { lanes.set(0, acc) };
    }
}
