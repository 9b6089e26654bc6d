//! The loops over the elements of a range: load each operand, evaluate the formula, store. Everything else about a
//! kernel is around these. They are written so that the compiler vectorises them in the frame of a level:
//!
//! * neighbours of two bytes are loaded and stored as one word where that saves shuffles ([`LoadOperands::PAIRED`]);
//! * float16, whose conversion is an instruction for many elements and none for one, is widened [`CONVERSION_RUN`]
//!   elements at a time into buffers, computed there, and narrowed.
//!
//! ```text
//! loop_over:        in[i] ─► eval ─► out[i]
//! converted_run:    in[i..i+32] ─► widen ─► buffers ─► loop_over (WIDE) ─► buffer ─► narrow ─► out[i..i+32]
//! ```
//!
//! K2 and K3 are those of `kernel_fn.rs`.

use super::load_store::LoadStore;
use super::operand_base::MAX_OPERANDS;
use super::operands::{InputPointers, LoadOperands, StoreOutput};
use crate::element::{CpuElement, converts_in_runs};
use crate::isa::Isa;
use crate::scalar::Lane;
use crate::tuning::FastPaths;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{Map, Operands, ParamsOf};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Elements that are widened at a time, where conversion is done in runs. A length that the compiler knows, so that the
/// copies stay in registers: add of 64Ki float16 took 14.2 µs before and 7.5 after (decision 0010).
pub(super) const CONVERSION_RUN: usize = 32;

/// A run of one operand, widened to float32.
#[repr(C, align(64))]
struct WideBuffer(MaybeUninit<[u8; CONVERSION_RUN * size_of::<f32>()]>);

/// Computes a range, converting in runs or in the loop as the element type prefers. Operands that are read through
/// pointers other than `out` may lie at `out`, but that is slower.
///
/// # Safety
///
/// K2, K3 for the range.
#[inline(always)]
pub(super) unsafe fn loop_over_range<F, T, C, I>(
    out: *mut u8,
    ins: InputPointers<F, C, I>,
    range: Range<usize>,
    params: ParamsOf<F, Lane<C, I>>,
) where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Map<Lane<C, I>>,
    T: FastPaths<Lane<C, I>, F>,
    F::Operands: LoadOperands<Lane<C, I>>,
    F::Out: StoreOutput<Lane<C, I>>,
{
    if const { converts_in_runs::<C, I>() } {
        // SAFETY: the caller promises K2 and K3 for the range.
        unsafe { loop_over_converted_runs::<F, T, C, I>(out, ins, range, params) };
    } else {
        // SAFETY: the caller promises K2 and K3 for the range.
        unsafe { loop_over::<F, T, C, I, false, true>(out, ins, range, params) };
    }
}

/// Whether operands and output are loaded and stored pair by pair.
const fn in_pairs<V: Value, A: LoadOperands<V>, B: StoreOutput<V>>() -> bool {
    A::PAIRED && B::PAIRED
}

/// Computes a range, element by element or pair by pair. `WIDE` operands and outputs lie in buffers as registers hold
/// them; with `USUAL` the formula's short way is taken, if it has one, and all operands must be usual.
///
/// # Safety
///
/// K2, K3 for the range.
#[inline(always)]
pub(super) unsafe fn loop_over<F, T, C, I, const WIDE: bool, const USUAL: bool>(
    out: *mut u8,
    ins: InputPointers<F, C, I>,
    range: Range<usize>,
    params: ParamsOf<F, Lane<C, I>>,
) where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Map<Lane<C, I>>,
    T: FastPaths<Lane<C, I>, F>,
    F::Operands: LoadOperands<Lane<C, I>>,
    F::Out: StoreOutput<Lane<C, I>>,
{
    let mut range = range;
    // A formula that is not light gains little by pairs, and would need twice the registers.
    if const { !WIDE && T::LIGHT && in_pairs::<Lane<C, I>, F::Operands, F::Out>() } && range.start.is_multiple_of(2) {
        for i in range.start / 2..range.end / 2 {
            // SAFETY: `2 * i + 1 < range.end`, so both elements of each operand are in bounds and initialised (K2).
            let [a, b] = unsafe { <F::Operands as LoadOperands<Lane<C, I>>>::load_pair(ins, i) };
            let pair = [F::eval(a, params), F::eval(b, params)];
            // SAFETY: `2 * i + 1 < range.end`, so both elements of the output are writable (K2).
            unsafe { <F::Out as StoreOutput<Lane<C, I>>>::store_pair(out, i, pair, T::EXACT) };
        }
        if range.end.is_multiple_of(2) {
            return;
        }
        range.start = range.end - 1;
    }
    for i in range {
        // SAFETY: `i` is in the range, so element `i` of each operand is in bounds and initialised (K2).
        let x = unsafe { <F::Operands as LoadOperands<Lane<C, I>>>::load::<WIDE>(ins, i) };
        let y = if const { T::USUAL && USUAL } { T::eval_usual(x, params) } else { F::eval(x, params) };
        // SAFETY: `i` is in the range, so element `i` of the output is writable (K2).
        unsafe { <F::Out as StoreOutput<Lane<C, I>>>::store::<WIDE>(out, i, y, T::EXACT) };
    }
}

/// Computes a range by way of widened copies of the operands, run by run.
///
/// # Safety
///
/// K2, K3 for the range.
#[inline(always)]
unsafe fn loop_over_converted_runs<F, T, C, I>(
    out: *mut u8,
    ins: InputPointers<F, C, I>,
    range: Range<usize>,
    params: ParamsOf<F, Lane<C, I>>,
) where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Map<Lane<C, I>>,
    T: FastPaths<Lane<C, I>, F>,
    F::Operands: LoadOperands<Lane<C, I>>,
    F::Out: StoreOutput<Lane<C, I>>,
{
    let mut start = range.start;
    while range.end - start >= CONVERSION_RUN {
        // The length is a constant, so the compiler keeps the widened copies in registers.
        // SAFETY: `start + CONVERSION_RUN <= range.end`: part of the range, for which the caller promises K2 and K3.
        unsafe { converted_run::<F, T, C, I>(out, ins, start, CONVERSION_RUN, params) };
        start += CONVERSION_RUN;
    }
    // SAFETY: what is left of the range, for which the caller promises K2 and K3, is shorter than a run.
    unsafe { converted_run::<F, T, C, I>(out, ins, start, range.end - start, params) };
}

/// Computes at most [`CONVERSION_RUN`] elements by way of widened copies. All operands are read before any result is
/// written, so that the output may be an operand.
///
/// # Safety
///
/// K2, K3 for `n` elements from `start` on; `n` is at most `CONVERSION_RUN`.
#[inline(always)]
unsafe fn converted_run<F, T, C, I>(
    out: *mut u8,
    ins: InputPointers<F, C, I>,
    start: usize,
    n: usize,
    params: ParamsOf<F, Lane<C, I>>,
) where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Map<Lane<C, I>>,
    T: FastPaths<Lane<C, I>, F>,
    F::Operands: LoadOperands<Lane<C, I>>,
    F::Out: StoreOutput<Lane<C, I>>,
{
    const { assert!(F::Operands::COUNT < MAX_OPERANDS, "there is a buffer for every operand") };
    // Of elements that are not converted in runs, this function is never called, but its constants are evaluated.
    const {
        let has_room = size_of::<C::Repr>() * CONVERSION_RUN <= size_of::<WideBuffer>();
        assert!(has_room || !converts_in_runs::<C, I>(), "a buffer has room for a run");
    }
    let out_size = <F::Out as StoreOutput<Lane<C, I>>>::SIZE;
    // An output of another dtype than the computed one (a mask) is written directly, as it is stored.
    let wide_out = <F::Out as StoreOutput<Lane<C, I>>>::WIDE_SIZE != out_size;
    let mut buffers = [const { WideBuffer(MaybeUninit::uninit()) }; MAX_OPERANDS];
    let [result, operands @ ..] = &mut buffers;
    let mut free = operands.iter_mut();
    let widened = |from: *const u8| {
        let from = from.wrapping_add(start * size_of::<C::Stored>());
        let Some(buffer) = free.next() else { return from };
        let to = buffer.0.as_mut_ptr().cast::<u8>();
        // SAFETY:
        // * R1: `n` elements from `start` on are initialised (K2); a buffer holds `CONVERSION_RUN >= n` widened ones;
        // * R2: the buffer is a local of its own;
        // * the frame is that of level `I`, which the host has (K1).
        unsafe { <Lane<C, I> as LoadStore>::widen_run(from, to, n) };
        to.cast_const()
    };
    let ins = <F::Operands as LoadOperands<Lane<C, I>>>::map_values(ins, start, widened);
    let to = out.wrapping_add(start * out_size);
    if wide_out {
        let result = result.0.as_mut_ptr().cast::<u8>();
        // SAFETY: K2: the buffers, aligned for any wide element, were just filled with `n` of them and `result` holds
        // as many; masks are in bounds from `start` on. K3: the buffers are locals of their own.
        unsafe { loop_over::<F, T, C, I, true, true>(result, ins, 0..n, params) };
        // SAFETY: R1: `n` results were just stored in the buffer, `n` elements of the output are writable from `start`
        // on (K2); R2: the buffer is a local; the host has level `I` (K1).
        unsafe { <F::Out as StoreOutput<Lane<C, I>>>::narrow_run(result, to, n) };
    } else {
        // SAFETY: K2: the buffers, aligned for any wide element, were just filled with `n` of them, and `n` elements of
        // the output are writable from `start` on: bools, whose wide elements are bytes like the stored ones. K3: the
        // buffers are locals of their own.
        unsafe { loop_over::<F, T, C, I, true, true>(to, ins, 0..n, params) };
    }
}

/// Whether any operands of the range have no result.
///
/// # Safety
///
/// K2 for the inputs of the range.
#[inline(always)]
pub(super) unsafe fn any_fault<F, C, I>(ins: InputPointers<F, C, I>, range: Range<usize>) -> bool
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Map<Lane<C, I>>,
    F::Operands: LoadOperands<Lane<C, I>>,
{
    let mut any = false;
    for i in range {
        // SAFETY: `i` is in the range, so element `i` of each operand is in bounds and initialised (K2).
        let x = unsafe { <F::Operands as LoadOperands<Lane<C, I>>>::load::<false>(ins, i) };
        any |= F::fault(x).get();
    }
    any
}

/// Whether all operands of the range may take the formula's short way.
///
/// # Safety
///
/// K2 for the inputs of the range.
#[inline(always)]
pub(super) unsafe fn all_usual<F, T, C, I>(ins: InputPointers<F, C, I>, range: Range<usize>) -> bool
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Map<Lane<C, I>>,
    T: FastPaths<Lane<C, I>, F>,
    F::Operands: LoadOperands<Lane<C, I>>,
{
    let mut all = true;
    for i in range {
        // SAFETY: `i` is in the range, so element `i` of each operand is in bounds and initialised (K2).
        let x = unsafe { <F::Operands as LoadOperands<Lane<C, I>>>::load::<false>(ins, i) };
        all &= T::is_usual(x).get();
    }
    all
}
