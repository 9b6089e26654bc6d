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
use crate::on::On;
use monomorph_ops::algebra::Value;
use monomorph_ops::reduce::{Accumulator, Fold};
use std::marker::PhantomData;

/// Rows of elements to be folded into lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    /// The first element.
    pub(super) at: *const u8,
    /// Bytes from one row to the next.
    pub(super) stride: isize,
    pub(super) rows: usize,
    pub(super) lanes: usize,
    /// The index of the first element, and by how much it grows from row to row and from lane to lane.
    pub(super) index: [i64; 3],
    /// The lanes hold nothing yet.
    pub(super) fresh: bool,
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
    /// Merges lanes `0..n` into lane 0.
    pub(super) collapse: unsafe fn(Lanes, usize),
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

/// The accumulator of element `j` of row `r`.
///
/// # Safety
///
/// B3 for the element.
#[inline(always)]
unsafe fn element<F, C, I>(rows: &Rows, r: usize, j: usize) -> Acc<F, C, I>
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    let row = rows.at.wrapping_offset(r as isize * rows.stride);
    // SAFETY: B3.
    let x = unsafe { load::<C>(row, j) };
    let [start, per_row, per_lane] = rows.index;
    let index = start.wrapping_add(per_row.wrapping_mul(r as i64)).wrapping_add(per_lane.wrapping_mul(j as i64));
    F::one(On::new(x), On::new(index))
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
        let (lanes, rows) = (self.lanes, &self.task);
        let mut r = 0;
        if rows.fresh && rows.rows > 0 {
            for j in 0..rows.lanes {
                // SAFETY: B3.
                let acc = unsafe { element::<F, C, I>(rows, 0, j) };
                // SAFETY: B2.
                unsafe { lanes.set(j, acc) };
            }
            r = 1;
        }
        while r + 8 <= rows.rows {
            for j in 0..rows.lanes {
                // SAFETY: B3.
                let x = |k| unsafe { element::<F, C, I>(rows, r + k, j) };
                let left = F::merge(F::merge(x(0), x(1)), F::merge(x(2), x(3)));
                let right = F::merge(F::merge(x(4), x(5)), F::merge(x(6), x(7)));
                // SAFETY: B2.
                let acc = unsafe { lanes.get(j) };
                // SAFETY: B2.
                unsafe { lanes.set(j, F::merge(acc, F::merge(left, right))) };
            }
            r += 8;
        }
        while r < rows.rows {
            for j in 0..rows.lanes {
                // SAFETY: B3.
                let x = unsafe { element::<F, C, I>(rows, r, j) };
                // SAFETY: B2.
                let acc = unsafe { lanes.get(j) };
                // SAFETY: B2.
                unsafe { lanes.set(j, F::merge(acc, x)) };
            }
            r += 1;
        }
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
            let a = unsafe { self.lanes.get(j) };
            // SAFETY: B2.
            let b = unsafe { other.get(j) };
            // SAFETY: B2.
            unsafe { self.lanes.set(j, F::merge(a, b)) };
        }
    }
}

/// # Safety
///
/// B1, B2 for `n` lanes.
unsafe fn collapse<F, C, I>(lanes: Lanes, n: usize)
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    // SAFETY: B1.
    let isa = unsafe { I::assume() };
    let [first, second] = [size_of::<First<F, C, I>>(), size_of::<Second<F, C, I>>()];
    let mut n = n;
    while n > 1 {
        // The upper half meets the lower one; of an odd number the middle lane waits.
        let half = n.div_ceil(2);
        let upper =
            Lanes { first: lanes.first.wrapping_add(half * first), second: lanes.second.wrapping_add(half * second) };
        isa.enter(Work::<F, C, _>::new(lanes, Other(upper, n - half)));
        n = half;
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
