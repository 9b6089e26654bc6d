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
use super::results::Keep;
use crate::cell::{Cell, load};
use crate::isa::{Isa, Kernel, Portable};
use crate::moves::prefetch_run;
use crate::on::On;
use monomorph_ops::algebra::Value;
use monomorph_ops::reduce::{Accumulator, Fold};
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
    /// The index of the first element, and by how much it grows from row to row of a group, from group to group, and from
    /// lane to lane.
    pub(super) index: [i64; 4],
    /// The lanes hold nothing yet.
    pub(super) fresh: bool,
    /// How far ahead, in bytes, elements are fetched from memory; 0 where they are in a cache already.
    pub(super) ahead: isize,
    /// How often this is to be done, for outputs one after the other.
    pub(super) outputs: usize,
    /// Bytes from the first element of one output to that of the next, and lanes from the first of one to that of the next.
    pub(super) next: (isize, usize),
}

/// Lanes between two looks ahead: few enough that what is asked for arrives while they are folded.
const BLOCK_LANES: usize = 128;

/// Bytes of the elements that [`held`] folds in one pass over its lanes, a row of a long dense run: a line, so that lines are met in
/// order, which is what processors fetch ahead by.
const ROW_BYTES: usize = 64;

/// Lanes of a row of a long dense run of elements of so many bytes.
pub(super) const fn dense_lanes(size: usize) -> usize {
    let lanes = ROW_BYTES / size;
    if lanes > FEW_LANES { lanes } else { FEW_LANES }
}

/// The fewest lanes of a row across.
pub(super) const FEW_LANES: usize = 16;

/// One group of rows.
#[derive(Clone, Copy)]
struct Group {
    at: *const u8,
    stride: isize,
    start: i64,
    per_row: i64,
    per_lane: i64,
}

/// The loops of one fold, on one dtype, at one level. Unsafe to call by B1 to B3 of `body.rs`; only this crate does.
#[derive(Clone, Copy)]
pub struct Bodies {
    /// Bytes of the first and of the second part of an accumulator.
    pub(super) parts: [usize; 2],
    /// Folds rows into lanes.
    pub(super) absorb: unsafe fn(Lanes, &Rows),
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
        merge: merge::<F, C, I>,
        collapse: collapse::<F, C, I>,
        // These run once per output element, and compute the same at every level.
        finish: finish::<F, C>,
        nothing: nothing::<F, C>,
    }
}

type Acc<F, C, I> = <F as Fold<On<C, I>, On<i64, I>>>::Acc;
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
    isa.enter(Work::<F, C, _>::new(lanes, *rows));
}

/// Sets or merges each lane: the one loop of all bodies.
///
/// # Safety
///
/// Without `fresh`, every lane holds an accumulator of fold `F` (B2).
#[inline(always)]
unsafe fn sweep<F, C, I>(
    first: &mut [MaybeUninit<First<F, C, I>>],
    second: &mut [MaybeUninit<Second<F, C, I>>],
    fresh: bool,
    acc: impl Fn(usize) -> Acc<F, C, I>,
) where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    if fresh {
        for (j, (first, second)) in first.iter_mut().zip(second).enumerate() {
            let (a, b) = acc(j).split();
            first.write(a);
            second.write(b);
        }
    } else {
        for (j, (first, second)) in first.iter_mut().zip(second).enumerate() {
            // SAFETY: the caller's promise.
            let a = unsafe { first.assume_init_read() };
            // SAFETY: the caller's promise.
            let b = unsafe { second.assume_init_read() };
            let (a, b) = F::merge(Acc::<F, C, I>::join(a, b), acc(j)).split();
            first.write(a);
            second.write(b);
        }
    }
}

impl Group {
    /// Element `j` of row `k`, and its index.
    ///
    /// # Safety
    ///
    /// B3 for the element.
    #[inline(always)]
    unsafe fn element<C: Cell, I: Isa>(&self, k: usize, j: usize) -> (On<C, I>, On<i64, I>) {
        let row = self.at.wrapping_offset(k as isize * self.stride);
        // SAFETY: B3.
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
    unsafe fn four<F, C, I>(&self, k: usize, j: usize) -> Acc<F, C, I>
    where
        C: Cell,
        I: Isa,
        On<C, I>: Value<Mask = On<bool, I>>,
        F: Fold<On<C, I>, On<i64, I>>,
    {
        // SAFETY: B3.
        let (a, at_a) = unsafe { self.element::<C, I>(k, j) };
        // SAFETY: B3.
        let (b, at_b) = unsafe { self.element::<C, I>(k + 1, j) };
        // SAFETY: B3.
        let (c, at_c) = unsafe { self.element::<C, I>(k + 2, j) };
        // SAFETY: B3.
        let (d, at_d) = unsafe { self.element::<C, I>(k + 3, j) };
        F::four([a, b, c, d], [at_a, at_b, at_c, at_d])
    }

    /// Asks for the elements that lie so far from those of the first `lanes` lanes.
    #[inline(always)]
    fn fetch(&self, ahead: isize, rows: usize, bytes: usize) {
        for k in 0..rows {
            let row = self.at.wrapping_offset(k as isize * self.stride).wrapping_offset(ahead);
            prefetch_run(row, bytes);
        }
    }
}

impl<F, C, I> Kernel<I> for Work<F, C, Rows>
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let rows = &self.task;
        let [start, per_row, per_step, per_lane] = rows.index;
        let row = const { (dense_lanes(size_of::<C::Stored>()) * size_of::<C::Stored>()) as isize };
        let is_dense = rows.stride == row && rows.step == row * TALL as isize;
        let holds = rows.tall && is_dense && rows.lanes == dense_lanes(size_of::<C::Stored>());
        for output in 0..rows.outputs {
            let first = rows.at.wrapping_offset(output as isize * rows.next.0);
            let into = self.lanes.from::<Acc<F, C, I>>(output * rows.next.1);
            if holds {
                // SAFETY: B2, B3.
                unsafe { held::<F, C, I>(into, rows, first) };
                continue;
            }
            for g in 0..rows.groups {
                let at = first.wrapping_offset(g as isize * rows.step);
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
                    // SAFETY: B2.
                    let (first, second) = unsafe { into.from::<Acc<F, C, I>>(done).of::<Acc<F, C, I>>(lanes) };
                    if rows.tall {
                        // SAFETY: B3.
                        let half = |k, j| unsafe { group.four::<F, C, I>(k, j) };
                        // SAFETY: B2.
                        unsafe { sweep::<F, C, I>(first, second, fresh, |j| F::merge(half(0, j), half(4, j))) };
                    } else {
                        let one = |j| {
                            // SAFETY: B3.
                            let (x, at) = unsafe { group.element::<C, I>(0, j) };
                            F::one(x, at)
                        };
                        // SAFETY: B2.
                        unsafe { sweep::<F, C, I>(first, second, fresh, one) };
                    }
                    done += lanes;
                }
            }
        }
    }
}

/// As many accumulators as a dense row has, held by a loop: in memory they would be loaded and stored for each group, once it is known
/// that they lie apart from the rows.
struct Held<A: Accumulator> {
    firsts: [MaybeUninit<A::First>; ROW_BYTES],
    seconds: [MaybeUninit<A::Second>; ROW_BYTES],
}

impl<A: Accumulator> Held<A> {
    #[inline(always)]
    fn new() -> Self {
        Held { firsts: [const { MaybeUninit::uninit() }; _], seconds: [const { MaybeUninit::uninit() }; _] }
    }

    #[inline(always)]
    fn set(&mut self, j: usize, acc: A) {
        let (first, second) = acc.split();
        self.firsts[j].write(first);
        self.seconds[j].write(second);
    }

    /// # Safety
    ///
    /// Accumulator `j` was set.
    #[inline(always)]
    unsafe fn get(&self, j: usize) -> A {
        // SAFETY: the caller's promise.
        let first = unsafe { self.firsts[j].assume_init_read() };
        // SAFETY: as above.
        A::join(first, unsafe { self.seconds[j].assume_init_read() })
    }
}

/// Folds groups of a dense run into as many lanes as a row of one has.
///
/// # Safety
///
/// B2 for so many lanes, and B3 for the groups from `first` on, which lie one after the other.
#[inline(always)]
unsafe fn held<F, C, I>(lanes: Lanes, rows: &Rows, first: *const u8)
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    let n = const { dense_lanes(size_of::<C::Stored>()) };
    let [start, per_row, per_step, per_lane] = rows.index;
    let row = n * size_of::<C::Stored>();
    let group = |g: usize| Group {
        at: first.wrapping_add(g * TALL * row),
        stride: row as isize,
        start: start.wrapping_add(per_step.wrapping_mul(g as i64)),
        per_row,
        per_lane,
    };
    let mut held = Held::<Acc<F, C, I>>::new();
    for j in 0..n {
        // Not a condition in the loop below, which would then not keep them in registers.
        held.set(
            j,
            if rows.fresh {
                let group = group(0);
                // SAFETY: B3.
                let half = |k| unsafe { group.four::<F, C, I>(k, j) };
                F::merge(half(0), half(4))
            } else {
                // SAFETY: B2.
                unsafe { lanes.get::<Acc<F, C, I>>(j) }
            },
        );
    }
    for g in usize::from(rows.fresh)..rows.groups {
        let group = group(g);
        // SAFETY: B3.
        let half = |k, j| unsafe { group.four::<F, C, I>(k, j) };
        let (firsts, seconds) = (&mut held.firsts[..n], &mut held.seconds[..n]);
        // SAFETY: they were set.
        unsafe { sweep::<F, C, I>(firsts, seconds, false, |j| F::merge(half(0, j), half(4, j))) };
    }
    for j in 0..n {
        // SAFETY: there is a group, which has set them.
        let acc = unsafe { held.get(j) };
        // SAFETY: B2.
        unsafe { lanes.set(j, acc) };
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
        // SAFETY: B2.
        let (first, second) = unsafe { self.lanes.of::<Acc<F, C, I>>(n) };
        // SAFETY: B2.
        let acc = |j| unsafe { other.get::<Acc<F, C, I>>(j) };
        // SAFETY: B2.
        unsafe { sweep::<F, C, I>(first, second, false, acc) };
    }
}

/// So many lanes to be merged into the first `unit` ones.
struct Halves {
    lanes: usize,
    unit: usize,
}

/// # Safety
///
/// B1, B2 for `n` lanes, a multiple of `unit`.
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
        let Halves { mut lanes, unit } = self.task;
        let n = const { dense_lanes(size_of::<C::Stored>()) };
        if lanes == n && unit == 1 {
            // SAFETY: B2.
            return unsafe { collapse_dense::<F, C, I>(self.lanes) };
        }
        // The lower half is the largest power of two: the upper one meets its beginning.
        let mut half = (if unit == 1 { lanes } else { lanes / unit }).next_power_of_two() / 2 * unit;
        while lanes > unit {
            // SAFETY: B2.
            let (first, second) = unsafe { self.lanes.of::<Acc<F, C, I>>(lanes) };
            let (first, upper_first) = first.split_at_mut(half);
            let (second, upper_second) = second.split_at_mut(half);
            let n = lanes - half;
            let acc = |j: usize| {
                // SAFETY: B2.
                let a = unsafe { upper_first[j].assume_init_read() };
                // SAFETY: B2.
                let b = unsafe { upper_second[j].assume_init_read() };
                Acc::<F, C, I>::join(a, b)
            };
            // SAFETY: B2.
            unsafe { sweep::<F, C, I>(&mut first[..n], &mut second[..n], false, acc) };
            (lanes, half) = (half, half / 2);
        }
    }
}

/// The same for as many lanes as a dense row has, which the compiler knows: it takes them in registers.
///
/// # Safety
///
/// B2 for so many lanes, which hold accumulators.
#[inline(always)]
unsafe fn collapse_dense<F, C, I>(lanes: Lanes)
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    let n = const { dense_lanes(size_of::<C::Stored>()) };
    let mut held = Held::<Acc<F, C, I>>::new();
    for j in 0..n {
        // SAFETY: B2.
        held.set(j, unsafe { lanes.get::<Acc<F, C, I>>(j) });
    }
    for half in [64, 32, 16, 8, 4, 2, 1] {
        for j in 0..if half < n { half } else { 0 } {
            // SAFETY: all were set.
            let a = unsafe { held.get(j) };
            // SAFETY: as above.
            let b = unsafe { held.get(j + half) };
            held.set(j, F::merge(a, b));
        }
    }
    // SAFETY: it was set.
    let acc = unsafe { held.get(0) };
    // SAFETY: B2.
    unsafe { lanes.set(0, acc) };
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
