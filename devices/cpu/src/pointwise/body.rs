//! The loop of one formula on one dtype at one level, over dense runs. The only code that is generic over the formula.
//!
//! Invariants of a call to a body:
//! * K1: the host has the level that the body was chosen for.
//! * K2: `out` has `n` writable elements, each input `n` initialised ones, of the dtypes that `Taking::dtype` names.
//! * K3: if `n > 1`, each input either is `out` exactly, or lies apart from it.
//! * K4: `params` points to the formula's parameters.
//! * K5: of [`Going::Streamed`], no input is `out`, and the caller ends with [`end_stream`](crate::lines::end_stream).
//! * K6: of [`Going::Rows`], the body is one that takes such rows ([`Walks`]); K2 and K3 hold for each, but of what stands still one element
//!   is initialised; no input is `out`.

use super::aside::aside;
use super::operands::{Load, Register, Store};
use super::rows::{Beside, Rows, Walks, stands};
use super::streaming::Streams;
use crate::cell::Cell;
use crate::isa::{Isa, Kernel, Level};
use crate::lines::prefetch_run;
use crate::on::On;
use crate::processor::Maker;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{Map, Operands, Params, ParamsOf, PointwiseFn};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

/// A kernel body: output, inputs, number of elements, parameters, and how to go through them. False if the data has no result
/// ([`Map::fault`]); some of the output may be written by then. Unsafe by K1 to K6 of `body.rs`; only this crate calls it.
pub type Body = unsafe fn(out: *mut u8, ins: *const *const u8, n: usize, params: *const (), going: Going<'_>) -> bool;

/// How a body goes through its operands.
#[derive(Clone, Copy, Debug)]
pub enum Going<'r> {
    /// Element by element of each.
    Along,
    /// The same, and light formulas store past the caches.
    Streamed,
    /// Element by element of each row.
    Rows(&'r Rows),
}

/// Elements that are asked for faults before the first of them is written. They stay in the first-level cache.
const CHUNK: usize = 1024;

/// Bytes of output whose lines are asked for at a time, before any of them is written ([`Maker::waits_for_lines`]).
pub(super) const OWNED: usize = 4096;

/// So few bytes of output are not worth asking for.
pub(super) const NEAR: usize = 4096;

/// Elements that are widened at a time where that is done in runs ([`Cell::in_runs`]).
pub(super) const RUN: usize = 32;

/// A run of one operand, wide.
#[repr(C, align(64))]
struct Wide(MaybeUninit<[u8; RUN * size_of::<f32>()]>);

/// Dense runs of one formula: one, or one for each row.
pub(super) struct Run<'r, F: PointwiseFn, C> {
    pub(super) out: *mut u8,
    pub(super) ins: *const *const u8,
    pub(super) n: usize,
    pub(super) params: *const F::Params,
    pub(super) rows: Option<&'r Rows>,
    cells: PhantomData<C>,
}

/// The bodies of a formula: its methods, so that they are compiled in its unit ([`Kernel::Home`]).
pub(super) trait HasBody: PointwiseFn {
    /// The body on `C` at level `I`.
    ///
    /// # Safety
    ///
    /// K1–K6.
    unsafe fn body<C, I>(out: *mut u8, ins: *const *const u8, n: usize, params: *const (), going: Going<'_>) -> bool
    where
        C: Cell,
        I: Isa,
        On<C, I>: Value<Mask = On<bool, I>>,
        Self: Map<On<C, I>>,
        Self::Operands: Load<On<C, I>>,
        Self::Out: Store<On<C, I>>;
}

/// Whether the formula is light, and its loop no other than that over its elements.
pub(super) const fn is_plain<F: PointwiseFn>() -> bool {
    F::LIGHT && !F::FAULT && !F::USUAL && !F::PARTIAL && F::STEPS == 0
}

/// Whether bodies at the level store past the caches: where it has instructions for that, and on machines of this age.
const fn streams_at<I: Isa>() -> bool {
    !matches!(I::LEVEL, Level::Portable)
}

impl<F: PointwiseFn> HasBody for F {
    unsafe fn body<C, I>(out: *mut u8, ins: *const *const u8, n: usize, params: *const (), going: Going<'_>) -> bool
    where
        C: Cell,
        I: Isa,
        On<C, I>: Value<Mask = On<bool, I>>,
        F: Map<On<C, I>>,
        F::Operands: Load<On<C, I>>,
        F::Out: Store<On<C, I>>,
    {
        // SAFETY: K1.
        let isa = unsafe { I::assume() };
        let rows = match going {
            Going::Rows(rows) if const { !matches!(Walks::of::<F>(), Walks::One) } => Some(rows),
            _ => None,
        };
        let run = Run::<F, C> { out, ins, n, params: params.cast(), rows, cells: PhantomData };
        if const { is_plain::<F>() && streams_at::<I>() }
            && let Going::Streamed = going
        {
            return isa.enter(Streams(run));
        }
        if const { matches!(Walks::of::<F>(), Walks::Still) && stands(C::DTYPE, I::LEVEL) }
            && let Some(rows) = rows
            && let Some(k) = rows.still
        {
            return if k == 0 {
                isa.enter(Beside::<F, C, 0>(run, rows))
            } else {
                isa.enter(Beside::<F, C, 1>(run, rows))
            };
        }
        isa.enter(run)
    }
}

impl<F, C, I> Kernel<I> for Run<'_, F, C>
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Map<On<C, I>>,
    F::Operands: Load<On<C, I>>,
    F::Out: Store<On<C, I>>,
{
    type Home = F;
    type Output = bool;

    #[inline(always)]
    fn run(self, _: I) -> bool {
        let Run { mut out, ins, n, params, rows, .. } = self;
        // SAFETY: K4.
        let params = unsafe { &*params }.bind::<On<C, I>>();
        // SAFETY: K2: there is a pointer for each operand.
        let mut ins = unsafe { <F::Operands as Load<On<C, I>>>::pointers(ins) };
        let mut row = 1;
        loop {
            // SAFETY: K2, K3, of each row by K6.
            if !unsafe { whole::<F, C, I>(out, ins, n, params) } {
                return false;
            }
            match rows {
                Some(Rows { count, steps, .. })
                    if const { !matches!(Walks::of::<F>(), Walks::One) } && row < *count =>
                {
                    row += 1;
                    out = out.wrapping_offset(steps[0]);
                    ins = <F::Operands as Load<On<C, I>>>::moved(ins, &steps[1..]);
                }
                _ => return true,
            }
        }
    }
}

/// A dense run. False if the data has no result.
///
/// # Safety
///
/// K2, K3.
#[inline(always)]
unsafe fn whole<F, C, I>(out: *mut u8, mut ins: Pointers<F, C, I>, n: usize, params: ParamsOf<F, On<C, I>>) -> bool
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Map<On<C, I>>,
    F::Operands: Load<On<C, I>>,
    F::Out: Store<On<C, I>>,
{
    let same_size = size_of::<C::Stored>() == <F::Out as Store<On<C, I>>>::SIZE;
    let first = <F::Operands as Load<On<C, I>>>::first(&mut ins);
    // Where elements are computed one at a time, or aside, it makes no difference, and would compile the formula twice.
    let is_aside = const { F::PARTIAL || F::STEPS > 0 };
    let in_place =
        !F::ELEMENTWISE_ONLY && !is_aside && same_size && first.is_some_and(|first| std::ptr::eq(*first, out));
    let out_size = <F::Out as Store<On<C, I>>>::SIZE;
    // Elements that are converted take longer to compute than to move.
    let owns = F::LIGHT && size_of::<C::Stored>() == size_of::<C::Repr>() && !in_place && n * out_size > NEAR;
    let owns = owns && Maker::current().waits_for_lines();
    if is_aside {
        const { assert!(!(F::PARTIAL || F::STEPS > 0) || !F::FAULT, "what is computed aside has no faults") };
        if I::FMA {
            // SAFETY: K2, K3.
            unsafe { aside::<F, C, I>(out, ins, n, params) };
        } else {
            // Most formulas of this kind have no shorter way there.
            // SAFETY: K2, K3.
            unsafe { sweep::<F, C, I, false, false>(out, ins, 0..n, params) };
        }
        return true;
    }
    let step = match (F::FAULT || F::USUAL, owns) {
        (true, _) => CHUNK,
        (false, true) => OWNED / out_size,
        (false, false) => n.max(1),
    };
    // Not `step_by`, which would count the steps by a division first.
    let mut next = 0;
    while next < n {
        let start = next;
        next = if F::FAULT || F::USUAL || owns { n.min(start + step) } else { n };
        let range = start..next;
        if owns {
            prefetch_run(out.wrapping_add(start * out_size), range.len() * out_size);
        }
        // SAFETY: K2.
        if F::FAULT && unsafe { faults::<F, C, I>(ins, range.clone()) } {
            return false;
        }
        // SAFETY: K2.
        if F::USUAL && !unsafe { are_usual::<F, C, I>(ins, range.clone()) } {
            // Rare, so one loop for all: in place it may go element by element.
            // SAFETY: K2, K3.
            unsafe { sweep::<F, C, I, false, false>(out, ins, range, params) };
            continue;
        }
        let mut ins = ins;
        // Reading through `out` itself tells the compiler that this operand is the output. Two pointers that happen to be equal
        // would fail its check for overlap and run one element at a time. Runs are apart.
        match <F::Operands as Load<On<C, I>>>::first(&mut ins) {
            Some(first) if in_place && !goes_in_runs::<C, I>() => {
                *first = out;
                // SAFETY: K2, K3.
                unsafe { sweep::<F, C, I, false, true>(out, ins, range, params) };
            }
            // SAFETY: K2, K3.
            _ => unsafe { part::<F, C, I>(out, ins, range, params) },
        }
    }
    true
}

/// Whether elements are widened in runs, which have room.
#[inline(always)]
fn goes_in_runs<C: Cell, I: Isa>() -> bool {
    C::in_runs::<I>() && size_of::<C::Repr>() * RUN <= size_of::<Wide>()
}

/// A part of a dense run, in the way that suits the cells. What is read through pointers other than `out` may lie at `out`, but is slower.
///
/// # Safety
///
/// K2, K3 for the range.
#[inline(always)]
pub(super) unsafe fn part<F, C, I>(
    out: *mut u8,
    ins: Pointers<F, C, I>,
    range: Range<usize>,
    params: ParamsOf<F, On<C, I>>,
) where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Map<On<C, I>>,
    F::Operands: Load<On<C, I>>,
    F::Out: Store<On<C, I>>,
{
    if goes_in_runs::<C, I>() {
        // SAFETY: passed on.
        unsafe { in_runs::<F, C, I>(out, ins, range, params) };
    } else {
        // SAFETY: passed on.
        unsafe { sweep::<F, C, I, false, true>(out, ins, range, params) };
    }
}

pub(super) type Pointers<F, C, I> = <<F as PointwiseFn>::Operands as Load<On<C, I>>>::Pointers;

/// # Safety
///
/// K2, K3 for the range.
#[inline(always)]
pub(super) unsafe fn sweep<F, C, I, const WIDE: bool, const USUAL: bool>(
    out: *mut u8,
    ins: Pointers<F, C, I>,
    range: Range<usize>,
    params: ParamsOf<F, On<C, I>>,
) where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Map<On<C, I>>,
    F::Operands: Load<On<C, I>>,
    F::Out: Store<On<C, I>>,
{
    let mut range = range;
    // A formula that is not light gains little, and would need twice the registers.
    let paired = const { F::LIGHT && <F::Operands as Load<On<C, I>>>::PAIRED && <F::Out as Store<On<C, I>>>::PAIRED };
    if paired && !WIDE && range.start.is_multiple_of(2) {
        for i in range.start / 2..range.end / 2 {
            // SAFETY: K2.
            let [a, b] = unsafe { <F::Operands as Load<On<C, I>>>::load_pair(ins, i) };
            let pair = [F::eval(a, params), F::eval(b, params)];
            // SAFETY: K2.
            unsafe { <F::Out as Store<On<C, I>>>::store_pair(out, i, pair, F::EXACT) };
        }
        if range.end.is_multiple_of(2) {
            return;
        }
        range.start = range.end - 1;
    }
    for i in range {
        // SAFETY: K2.
        let x = unsafe { <F::Operands as Load<On<C, I>>>::load::<WIDE>(ins, i) };
        let y = if F::USUAL && USUAL { F::eval_usual(x, params) } else { F::eval(x, params) };
        // SAFETY: K2.
        unsafe { <F::Out as Store<On<C, I>>>::store::<WIDE>(out, i, y, F::EXACT) };
    }
}

/// A sweep over wide copies of the operands, run by run.
///
/// # Safety
///
/// K2, K3 for the range.
#[inline(always)]
unsafe fn in_runs<F, C, I>(out: *mut u8, ins: Pointers<F, C, I>, range: Range<usize>, params: ParamsOf<F, On<C, I>>)
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Map<On<C, I>>,
    F::Operands: Load<On<C, I>>,
    F::Out: Store<On<C, I>>,
{
    let mut start = range.start;
    while range.end - start >= RUN {
        // Of a run whose length the compiler knows, it keeps the copies in registers.
        // SAFETY: K2, K3.
        unsafe { wide_run::<F, C, I>(out, ins, start, RUN, params) };
        start += RUN;
    }
    // SAFETY: K2, K3.
    unsafe { wide_run::<F, C, I>(out, ins, start, range.end - start, params) };
}

/// A sweep over wide copies of at most [`RUN`] elements of each operand. They are read completely before any is written, so
/// that the output may be an operand.
///
/// # Safety
///
/// K2, K3 for `n` elements from `start` on.
#[inline(always)]
unsafe fn wide_run<F, C, I>(out: *mut u8, ins: Pointers<F, C, I>, start: usize, n: usize, params: ParamsOf<F, On<C, I>>)
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Map<On<C, I>>,
    F::Operands: Load<On<C, I>>,
    F::Out: Store<On<C, I>>,
{
    const { assert!(F::Operands::COUNT < super::driver::MAX, "there is a buffer for every operand") };
    let out_size = <F::Out as Store<On<C, I>>>::SIZE;
    // An output that is not of the computed dtype (a mask) is written as it is stored.
    let wide_out = <F::Out as Store<On<C, I>>>::WIDE_SIZE != out_size;
    let mut buffers = [const { Wide(MaybeUninit::uninit()) }; super::driver::MAX];
    let [result, operands @ ..] = &mut buffers;
    let mut free = operands.iter_mut();
    let widened = |from: *const u8| {
        let from = from.wrapping_add(start * size_of::<C::Stored>());
        let Some(buffer) = free.next() else { return from };
        let to = buffer.0.as_mut_ptr().cast::<u8>();
        // SAFETY: R1 and R2 by K2: a buffer has room for a run and is apart from all operands; K1.
        unsafe { <On<C, I> as Register>::widen_run(from, to, n) };
        to.cast_const()
    };
    let ins = <F::Operands as Load<On<C, I>>>::replaced(ins, start, widened);
    let to = out.wrapping_add(start * out_size);
    if wide_out {
        let result = result.0.as_mut_ptr().cast::<u8>();
        // SAFETY: K2 for the buffers, which were just filled, and lie apart (K3).
        unsafe { sweep::<F, C, I, true, true>(result, ins, 0..n, params) };
        // SAFETY: R1, R2 by K2; K1.
        unsafe { <F::Out as Store<On<C, I>>>::narrow_run(result, to, n) };
    } else {
        // SAFETY: as above; a dtype that is not widened is stored as it lies in a register.
        unsafe { sweep::<F, C, I, true, true>(to, ins, 0..n, params) };
    }
}

/// # Safety
///
/// K2 for the range, as far as inputs go.
#[inline(always)]
unsafe fn faults<F, C, I>(ins: Pointers<F, C, I>, range: Range<usize>) -> bool
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Map<On<C, I>>,
    F::Operands: Load<On<C, I>>,
{
    let mut any = false;
    for i in range {
        // SAFETY: K2.
        let x = unsafe { <F::Operands as Load<On<C, I>>>::load::<false>(ins, i) };
        any |= F::fault(x).get();
    }
    any
}

/// Whether every element of the range may take the shorter way.
///
/// # Safety
///
/// K2 for the range, as far as inputs go.
#[inline(always)]
pub(super) unsafe fn are_usual<F, C, I>(ins: Pointers<F, C, I>, range: Range<usize>) -> bool
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Map<On<C, I>>,
    F::Operands: Load<On<C, I>>,
{
    let mut all = true;
    for i in range {
        // SAFETY: K2.
        let x = unsafe { <F::Operands as Load<On<C, I>>>::load::<false>(ins, i) };
        all &= F::is_usual(x).get();
    }
    all
}
