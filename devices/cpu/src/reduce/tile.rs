//! Lanes held by a loop: a copy of a few accumulators that no pointer leads to. Owns the loops over rows and over halves of
//! lanes, which are all that an input is folded by.
//!
//! Accumulators in memory may overlap the rows for all that the compiler knows: it would check that they do not, group by
//! group.

use super::body::{Rows, TALL};
use super::lanes::Lanes;
use super::layout::LANES;
use crate::cell::{Cell, load};
use crate::isa::Isa;
use crate::moves::prefetch_run;
use crate::on::On;
use monomorph_ops::algebra::Value;
use monomorph_ops::reduce::{Accumulator, Fold};
use std::mem::MaybeUninit;

/// The accumulator of a fold.
pub(super) type Acc<F, C, I> = <F as Fold<On<C, I>, On<i64, I>>>::Acc;

/// Lanes that halve in registers.
const NARROW: usize = 16;

/// A row of values that begins with a line, so that a wide register's access touches one.
#[repr(align(64))]
struct Aligned<T>([MaybeUninit<T>; LANES]);

impl<T: Copy> Aligned<T> {
    const NEW: Self = Aligned([const { MaybeUninit::uninit() }; LANES]);

    /// # Safety
    ///
    /// Value `j` was set.
    #[inline(always)]
    unsafe fn get(&self, j: usize) -> T {
        // SAFETY: below LANES, since it was set.
        let value = unsafe { self.0.get_unchecked(j) };
        // SAFETY: passed on.
        unsafe { value.assume_init() }
    }

    /// # Safety
    ///
    /// `j` is below `LANES`.
    #[inline(always)]
    unsafe fn set(&mut self, j: usize, value: T) {
        // SAFETY: passed on.
        unsafe { self.0.get_unchecked_mut(j) }.write(value);
    }
}

/// Accumulators that a loop holds.
#[repr(align(64))]
struct Held<A: Accumulator, const N: usize> {
    first: [MaybeUninit<A::First>; N],
    second: [MaybeUninit<A::Second>; N],
}

impl<A: Accumulator, const N: usize> Held<A, N> {
    #[inline(always)]
    fn new() -> Self {
        Held { first: [const { MaybeUninit::uninit() }; N], second: [const { MaybeUninit::uninit() }; N] }
    }

    /// Takes the first `n` lanes from memory.
    ///
    /// # Safety
    ///
    /// B2 for these lanes; `n` is at most `N`.
    #[inline(always)]
    unsafe fn read(&mut self, from: Lanes, n: usize) {
        // SAFETY: in bounds on both sides, which are apart since nobody has a pointer to these.
        unsafe { std::ptr::copy_nonoverlapping(from.first.cast(), self.first.as_mut_ptr(), n) };
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(from.second.cast(), self.second.as_mut_ptr(), n) };
    }

    /// Stores the first `n` lanes to memory.
    ///
    /// # Safety
    ///
    /// As for `read`; the lanes in memory need not hold anything.
    #[inline(always)]
    unsafe fn write(&self, to: Lanes, n: usize) {
        // SAFETY: in bounds on both sides, which are apart since nobody has a pointer to these.
        unsafe { std::ptr::copy_nonoverlapping(self.first.as_ptr(), to.first.cast(), n) };
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(self.second.as_ptr(), to.second.cast(), n) };
    }

    /// Unchecked, as all lanes are here: a loop that may end at a check leaves its last elements to scalar code.
    ///
    /// # Safety
    ///
    /// Lane `j` was read or set.
    #[inline(always)]
    unsafe fn get(&self, j: usize) -> A {
        // SAFETY: `j` is below N, since the lane was set.
        let first = unsafe { self.first.get_unchecked(j) };
        // SAFETY: as above.
        let second = unsafe { self.second.get_unchecked(j) };
        // SAFETY: passed on.
        let first = unsafe { first.assume_init() };
        // SAFETY: passed on.
        let second = unsafe { second.assume_init() };
        A::join(first, second)
    }

    /// # Safety
    ///
    /// `j` is below `N`.
    #[inline(always)]
    unsafe fn set(&mut self, j: usize, acc: A) {
        let (first, second) = acc.split();
        // SAFETY: passed on.
        unsafe { self.first.get_unchecked_mut(j) }.write(first);
        // SAFETY: passed on.
        unsafe { self.second.get_unchecked_mut(j) }.write(second);
    }

    /// Merges `W` lanes, from `start + half` on, into those from `start` on. None of them is both.
    ///
    /// # Safety
    ///
    /// All of them were read or set.
    #[inline(always)]
    unsafe fn meet<const W: usize>(&mut self, start: usize, half: usize, merge: impl Fn(A, A) -> A) {
        let merged: [A; W] = std::array::from_fn(
            #[inline(always)]
            |j| {
                // SAFETY: passed on.
                let a = unsafe { self.get(start + j) };
                // SAFETY: passed on.
                let b = unsafe { self.get(start + j + half) };
                merge(a, b)
            },
        );
        for (j, acc) in merged.into_iter().enumerate() {
            // SAFETY: the lane was set, so there is one.
            unsafe { self.set(start + j, acc) };
        }
    }

    /// Merges lanes `0..n`, of which every `unit` is for the same output, into lanes `0..unit`: the lower half is the largest
    /// power of two, and the upper one meets its beginning.
    ///
    /// # Safety
    ///
    /// Lanes `0..n` were read or set; `n` is a multiple of `unit`.
    #[inline(always)]
    unsafe fn halves(&mut self, mut n: usize, unit: usize, merge: impl Fn(A, A) -> A + Copy) {
        let narrow = unit == 1 && n.is_multiple_of(NARROW);
        while n > if narrow { NARROW } else { unit } {
            let half = if unit == 1 { n.next_power_of_two() } else { (n / unit).next_power_of_two() * unit } / 2;
            if narrow {
                for start in (0..n - half).step_by(NARROW) {
                    // SAFETY: passed on, here and below.
                    unsafe { self.meet::<NARROW>(start, half, merge) };
                }
            } else {
                for start in 0..n - half {
                    // SAFETY: as above.
                    unsafe { self.meet::<1>(start, half, merge) };
                }
            }
            n = half;
        }
        if narrow {
            // SAFETY: as above.
            unsafe { self.meet::<8>(0, 8, merge) };
            // SAFETY: as above.
            unsafe { self.meet::<4>(0, 4, merge) };
            // SAFETY: as above.
            unsafe { self.meet::<2>(0, 2, merge) };
            // SAFETY: as above.
            unsafe { self.meet::<1>(0, 1, merge) };
        }
    }
}

/// A dense run of elements of one output, or of `unit` outputs by turns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) at: *const u8,
    pub(super) n: usize,
    /// The index of the first element.
    pub(super) start: usize,
    /// How many lanes a row has.
    pub(super) row: usize,
    pub(super) unit: usize,
    /// How far ahead elements are fetched; 0 for not at all.
    pub(super) ahead: isize,
}

impl Run {
    /// Its groups of eight rows, its single rows, and what is left.
    #[inline(always)]
    fn parts(&self, size: usize) -> [Rows; 3] {
        let row = self.row;
        let (whole, rest) = (self.n / row, self.n % row);
        let (tall, single) = (whole / TALL, whole % TALL);
        let stride = (row * size) as isize;
        let part = |done: usize, groups: usize, height: usize, lanes: usize| Rows {
            at: self.at.wrapping_add(done * size),
            stride,
            step: stride.wrapping_mul(height as isize),
            groups,
            tall: height == TALL,
            lanes,
            index: [(self.start + done) as i64, row as i64, (row * height) as i64, 1],
            fresh: false,
            ahead: self.ahead,
        };
        [
            part(0, tall, TALL, row),
            part(tall * TALL * row, single, 1, row),
            part(whole * row, usize::from(rest > 0), 1, rest),
        ]
    }
}

/// One group of rows.
#[derive(Clone, Copy)]
pub(super) struct Group {
    pub(super) at: *const u8,
    pub(super) stride: isize,
    pub(super) start: i64,
    pub(super) per_row: i64,
    pub(super) per_lane: i64,
}

impl Group {
    /// Group `g` from lane `lane` on, of elements of so many bytes.
    #[inline(always)]
    pub(super) fn of(rows: &Rows, g: usize, lane: usize, size: usize) -> Group {
        let [start, per_row, per_step, per_lane] = rows.index;
        let start = start.wrapping_add(per_step.wrapping_mul(g as i64));
        Group {
            at: rows.at.wrapping_offset(g as isize * rows.step).wrapping_add(lane * size),
            stride: rows.stride,
            start: start.wrapping_add(per_lane.wrapping_mul(lane as i64)),
            per_row,
            per_lane,
        }
    }

    /// Row `k`.
    #[inline(always)]
    pub(super) fn row(&self, k: usize) -> *const u8 {
        self.at.wrapping_offset(k as isize * self.stride)
    }

    /// The index of element `j` of row `k`.
    #[inline(always)]
    pub(super) fn index<I: Isa>(&self, k: usize, j: usize) -> On<i64, I> {
        let row = self.start.wrapping_add(self.per_row.wrapping_mul(k as i64));
        On::new(row.wrapping_add(self.per_lane.wrapping_mul(j as i64)))
    }

    /// Asks for the elements that lie so far from those of the first lanes, which are so many bytes of each row.
    #[inline(always)]
    pub(super) fn fetch(&self, ahead: isize, rows: usize, bytes: usize) {
        for k in 0..rows {
            prefetch_run(self.row(k).wrapping_offset(ahead), bytes);
        }
    }

    /// The accumulator of the elements `j` of rows `k` to `k + 3`; `x` is that of a row.
    #[inline(always)]
    fn four<F, C, I>(&self, k: usize, j: usize, x: impl Fn(usize) -> C::Repr) -> Acc<F, C, I>
    where
        C: Cell,
        I: Isa,
        On<C, I>: Value<Mask = On<bool, I>>,
        F: Fold<On<C, I>, On<i64, I>>,
    {
        let one = |k| F::one(On::new(x(k)), self.index(k, j));
        match F::met([k, k + 1, k + 2, k + 3].map(|k| On::new(x(k)))) {
            Some(met) => F::one(met, self.index(k, j)),
            None => F::merge(F::merge(one(k), one(k + 1)), F::merge(one(k + 2), one(k + 3))),
        }
    }
}

/// Folds groups `from..to` of rows into lanes.
///
/// # Safety
///
/// B1 to B3; the lanes hold accumulators unless `fresh`.
#[inline(always)]
pub(super) unsafe fn tiles<F, C, I>(lanes: Lanes, rows: &Rows, [from, to]: [usize; 2], fresh: bool)
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    for done in (0..rows.lanes).step_by(LANES) {
        let n = LANES.min(rows.lanes - done);
        let into = lanes.skip::<Acc<F, C, I>>(done);
        let mut held = Held::<Acc<F, C, I>, LANES>::new();
        let mut next = from;
        if fresh {
            // SAFETY: B1, B3.
            unsafe { fold_group::<F, C, I>(rows, next, done, n, &mut held, |_, _, acc| acc) };
            next += 1;
        } else {
            // SAFETY: B2.
            unsafe { held.read(into, n) };
        }
        for g in next..to {
            // SAFETY: all lanes were read or set.
            let meet = |held: &Held<_, LANES>, j, acc| F::merge(unsafe { held.get(j) }, acc);
            // SAFETY: B1, B3.
            unsafe { fold_group::<F, C, I>(rows, g, done, n, &mut held, meet) };
        }
        // SAFETY: B2.
        unsafe { held.write(into, n) };
    }
}

/// # Safety
///
/// B1 and B3 for `n` lanes, at most `LANES`, from lane `done` of group `g` on.
#[inline(always)]
unsafe fn fold_group<F, C, I>(
    rows: &Rows,
    g: usize,
    done: usize,
    n: usize,
    held: &mut Held<Acc<F, C, I>, LANES>,
    meet: impl Fn(&Held<Acc<F, C, I>, LANES>, usize, Acc<F, C, I>) -> Acc<F, C, I>,
) where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    let size = size_of::<C::Stored>();
    let group = Group::of(rows, g, done, size);
    if rows.ahead != 0 {
        group.fetch(rows.ahead, if rows.tall { TALL } else { 1 }, n * size);
    }
    // SAFETY: B3.
    let stored = |k: usize, j: usize| unsafe { load::<C>(group.row(k), j) };
    if !rows.tall {
        for j in 0..n {
            let acc = meet(held, j, F::one(On::new(stored(0, j)), group.index(0, j)));
            // SAFETY: `n` is at most LANES.
            unsafe { held.set(j, acc) };
        }
        return;
    }
    if C::in_runs::<I>() {
        let mut wide = [const { Aligned::<C::Repr>::NEW }; TALL];
        for (k, row) in wide.iter_mut().enumerate() {
            // SAFETY: B1, R1 by B3, R2 since nobody has a pointer to the copy.
            unsafe { C::widen_run::<I>(group.row(k), row.0.as_mut_ptr().cast(), n) };
        }
        // SAFETY: the rows were just filled.
        let widened = |k: usize, j: usize| unsafe { wide[k].get(j) };
        for j in 0..n {
            let four = |k| group.four::<F, C, I>(k, j, |k| widened(k, j));
            let acc = meet(held, j, F::merge(four(0), four(4)));
            // SAFETY: `n` is at most LANES.
            unsafe { held.set(j, acc) };
        }
        return;
    }
    let met = |k: usize, j: usize| F::met([k, k + 1, k + 2, k + 3].map(|k| On::new(stored(k, j))));
    let widens = size_of::<<Acc<F, C, I> as Accumulator>::First>() > size_of::<C::Repr>();
    if widens && !C::DTYPE.is_complex() && met(0, 0).is_some() {
        // A loop is as wide as its widest type: two loops let the narrow additions fill their registers. Complex numbers are
        // taken apart in either loop, which costs more than is gained.
        let mut narrow = [const { Aligned::<On<C, I>>::NEW }; 2];
        for j in 0..n {
            for (half, k) in narrow.iter_mut().zip([0, 4]) {
                if let Some(met) = met(k, j) {
                    // SAFETY: `n` is at most LANES.
                    unsafe { half.set(j, met) };
                }
            }
        }
        for j in 0..n {
            // SAFETY: some were met, so all were.
            let [a, b] = [0, 1].map(|half| unsafe { narrow[half].get(j) });
            let acc = F::merge(F::one(a, group.index(0, j)), F::one(b, group.index(4, j)));
            let acc = meet(held, j, acc);
            // SAFETY: `n` is at most LANES.
            unsafe { held.set(j, acc) };
        }
        return;
    }
    for j in 0..n {
        let four = |k| group.four::<F, C, I>(k, j, |k| stored(k, j));
        let acc = meet(held, j, F::merge(four(0), four(4)));
        // SAFETY: `n` is at most LANES.
        unsafe { held.set(j, acc) };
    }
}

/// Folds a dense run into the accumulators of one output, or of those that take turns.
///
/// # Safety
///
/// B1 to B3 for the elements of the run and for `unit` lanes.
#[inline(always)]
pub(super) unsafe fn folded<F, C, I>(into: Lanes, run: &Run)
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    let mut held = Held::<Acc<F, C, I>, LANES>::new();
    let mut filled = 0;
    for rows in run.parts(size_of::<C::Stored>()) {
        for g in 0..rows.groups {
            if filled == 0 {
                // SAFETY: B1, B3.
                unsafe { fold_group::<F, C, I>(&rows, g, 0, rows.lanes, &mut held, |_, _, acc| acc) };
                filled = rows.lanes;
            } else {
                // SAFETY: as many lanes as the first row has were set, and no row has more.
                let meet = |held: &Held<_, LANES>, j, acc| F::merge(unsafe { held.get(j) }, acc);
                // SAFETY: B1, B3.
                unsafe { fold_group::<F, C, I>(&rows, g, 0, rows.lanes, &mut held, meet) };
            }
        }
    }
    // SAFETY: so many lanes were set.
    unsafe { held.halves(filled, run.unit, F::merge) };
    for j in 0..run.unit {
        // SAFETY: as above.
        let acc = unsafe { held.get(j) };
        // SAFETY: B2.
        unsafe { into.set(j, acc) };
    }
}

/// Merges lanes `0..n`, of which every `unit` is for the same output, into lanes `0..unit`.
///
/// # Safety
///
/// B1, B2 for `n` lanes, a multiple of `unit`; there is room for `LANES`.
#[inline(always)]
pub(super) unsafe fn collapsed<F, C, I>(lanes: Lanes, n: usize, unit: usize)
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Fold<On<C, I>, On<i64, I>>,
{
    let mut held = Held::<Acc<F, C, I>, LANES>::new();
    // SAFETY: B2. All of the room, because a copy of a known length needs no call.
    unsafe { held.read(lanes, LANES) };
    // SAFETY: so many lanes hold an accumulator.
    unsafe { held.halves(n, unit, F::merge) };
    // SAFETY: B2.
    unsafe { held.write(lanes, unit) };
}
