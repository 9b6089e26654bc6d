//! The loops of one fold on one dtype at one level. The only code that is generic over the fold.
//!
//! Accumulators lie in *lanes*: lane `j` of an accumulator of two parts is element `j` of each of two runs.
//!
//! Invariants of a call:
//! * B1: the host has the level that the bodies were chosen for.
//! * B2: every lane that is read holds an accumulator of this fold, of this dtype; runs of lanes are in bounds, and nobody
//!   else uses them. Both parts are aligned for any of them.
//! * B3: rows that are read have as many initialised elements of the dtype as there are lanes, and lie apart from them.

use super::lanes::Lanes;
use super::layout::LANES;
use super::results::Keep;
use super::tile::{Acc, Run, collapsed, folded, tiles};
use crate::cell::Cell;
use crate::isa::{Isa, Kernel, Portable};
use crate::on::On;
use monomorph_ops::algebra::Value;
use monomorph_ops::reduce::{Accumulator, Fold};
use std::marker::PhantomData;

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
    /// The index of the first element, and by how much it grows from row to row of a group, from group to group, and from
    /// lane to lane.
    pub(super) index: [i64; 4],
    /// The lanes hold nothing yet.
    pub(super) fresh: bool,
    /// How far ahead, in bytes, elements are fetched from memory; 0 where they are in a cache already.
    pub(super) ahead: isize,
}

/// The loops of one fold, on one dtype, at one level. Unsafe to call by B1 to B3 of `body.rs`; only this crate does.
#[derive(Clone, Copy)]
pub struct Bodies {
    /// Bytes of the first and of the second part of an accumulator.
    pub(super) parts: [usize; 2],
    /// Folds rows into lanes.
    pub(super) absorb: unsafe fn(Lanes, &Rows),
    /// Folds a dense run into as many lanes as there are outputs that take turns.
    pub(super) run: unsafe fn(Lanes, &Run),
    /// Merges lanes `0..n` of the second into the first.
    pub(super) merge: unsafe fn(Lanes, Lanes, usize),
    /// Merges lanes `0..n`, of which every `unit` is for the same output, into lanes `0..unit`.
    pub(super) collapse: unsafe fn(Lanes, usize, usize),
    /// Stores the results of lanes `0..n`, each of so many elements, to dense runs.
    pub(super) finish: unsafe fn(Lanes, usize, i64, [*mut u8; 2]),
    /// Fills lane 0 with the accumulator of nothing; false if there is none.
    pub(super) nothing: unsafe fn(Lanes) -> bool,
}

/// The bodies of fold `F` on `C` at level `I`.
pub(super) const fn bodies<F, C, I>() -> Bodies
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    On<C, Portable>: Value<Mask = On<bool, Portable>>,
    F: Fold<On<C, I>, On<i64, I>> + Fold<On<C, Portable>, On<i64, Portable>>,
    F::Results: Keep<C, Portable>,
{
    const {
        assert!(size_of::<First<F, C, I>>() == size_of::<First<F, C, Portable>>());
        assert!(size_of::<Second<F, C, I>>() == size_of::<Second<F, C, Portable>>());
    }
    Bodies {
        parts: [size_of::<First<F, C, I>>(), size_of::<Second<F, C, I>>()],
        absorb: absorb::<F, C, I>,
        run: run::<F, C, I>,
        merge: merge::<F, C, I>,
        collapse: collapse::<F, C, I>,
        // These run once per output element, and compute the same at every level.
        finish: finish::<F, C>,
        nothing: nothing::<F, C>,
    }
}

type First<F, C, I> = <Acc<F, C, I> as Accumulator>::First;
type Second<F, C, I> = <Acc<F, C, I> as Accumulator>::Second;

/// Work on lanes in the frame of a level.
struct Work<F, C, T> {
    lanes: Lanes,
    task: T,
    fold: PhantomData<(F, C)>,
}

impl<F, C, T> Work<F, C, T> {
    fn new(lanes: Lanes, task: T) -> Self {
        Work { lanes, task, fold: PhantomData }
    }
}

/// # Safety
///
/// B1–B3.
unsafe fn absorb<F, C, I>(lanes: Lanes, rows: &Rows)
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    // SAFETY: B1.
    let isa = unsafe { I::assume() };
    isa.enter(Work::<F, C, _>::new(lanes, rows));
}

impl<F, C, I> Kernel<I> for Work<F, C, &Rows>
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let rows = self.task;
        // What comes from memory comes in its order; what lies in a cache may come tile by tile.
        let span = if rows.ahead == 0 || rows.lanes <= LANES { rows.groups.max(1) } else { 1 };
        for g in (0..rows.groups).step_by(span) {
            let groups = [g, rows.groups.min(g + span)];
            // SAFETY: B1–B3.
            unsafe { tiles::<F, C, I>(self.lanes, rows, groups, rows.fresh && g == 0) };
        }
    }
}

/// # Safety
///
/// B1 to B3 for the elements of the run and for `unit` lanes.
unsafe fn run<F, C, I>(lanes: Lanes, run: &Run)
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    // SAFETY: B1.
    let isa = unsafe { I::assume() };
    isa.enter(Work::<F, C, _>::new(lanes, run));
}

impl<F, C, I> Kernel<I> for Work<F, C, &Run>
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        // SAFETY: B1–B3.
        unsafe { folded::<F, C, I>(self.lanes, self.task) };
    }
}

/// Lanes to be merged into the first ones.
struct Other(Lanes, usize);

/// # Safety
///
/// B1, B2 for `n` lanes of both, which lie apart.
unsafe fn merge<F, C, I>(lanes: Lanes, other: Lanes, n: usize)
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    // SAFETY: B1.
    let isa = unsafe { I::assume() };
    isa.enter(Work::<F, C, _>::new(lanes, Other(other, n)));
}

impl<F, C, I> Kernel<I> for Work<F, C, Other>
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let Other(other, n) = self.task;
        for j in 0..n {
            // SAFETY: B2.
            let a = unsafe { self.lanes.get::<Acc<F, C, I>>(j) };
            // SAFETY: B2.
            let b = unsafe { other.get::<Acc<F, C, I>>(j) };
            // SAFETY: B2.
            unsafe { self.lanes.set(j, F::merge(a, b)) };
        }
    }
}

/// So many lanes to be merged into the first `unit` ones.
struct Halves {
    lanes: usize,
    unit: usize,
}

/// # Safety
///
/// B1, B2 for `n` lanes, a multiple of `unit`; there is room for `LANES`.
unsafe fn collapse<F, C, I>(lanes: Lanes, n: usize, unit: usize)
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    // SAFETY: B1.
    let isa = unsafe { I::assume() };
    isa.enter(Work::<F, C, _>::new(lanes, Halves { lanes: n, unit }));
}

impl<F, C, I> Kernel<I> for Work<F, C, Halves>
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let Halves { lanes, unit } = self.task;
        // SAFETY: B1, B2.
        unsafe { collapsed::<F, C, I>(self.lanes, lanes, unit) };
    }
}

/// # Safety
///
/// B2 for `n` lanes; each run of the results has `n` elements of the dtype that `result_dtype` names.
unsafe fn finish<F, C>(lanes: Lanes, n: usize, count: i64, outs: [*mut u8; 2])
where
    C: Cell,
    On<C, Portable>: Value<Mask = On<bool, Portable>>,
    F: Fold<On<C, Portable>, On<i64, Portable>>,
    F::Results: Keep<C, Portable>,
{
    for j in 0..n {
        // SAFETY: B2.
        let acc = unsafe { lanes.get::<Acc<F, C, Portable>>(j) };
        let result = F::finish(acc, On::new(count));
        // SAFETY: the caller's promise.
        unsafe { <F::Results as Keep<C, Portable>>::keep(result, outs, j) };
    }
}

/// # Safety
///
/// B2 for lane 0.
unsafe fn nothing<F, C>(lanes: Lanes) -> bool
where
    C: Cell,
    On<C, Portable>: Value<Mask = On<bool, Portable>>,
    F: Fold<On<C, Portable>, On<i64, Portable>>,
{
    let Some(acc) = <F as Fold<On<C, Portable>, On<i64, Portable>>>::nothing() else { return false };
    // SAFETY: B2.
    unsafe { lanes.set(0, acc) };
    true
}
