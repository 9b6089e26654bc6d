//! The loop of a formula that has branches or loops in it: a block is computed for all elements without branches, with
//! a mask of those for which that held, and the rest is completed one by one.
//!
//! ```text
//! inputs ─► branch-free way ─► block [y y ? y y y ? y]   mask: ? = not given by this way
//!                                         ▼       ▼
//!                              Map::eval  y       y      the elements left over, one by one
//!                              block ──────────────────► output
//! ```
//!
//! So the few elements that take long don't hold up the others, which vectorise. Two branch-free ways exist, and a
//! formula has one or both: [`PARTIAL`](crate::tuning::Tuning::PARTIAL) formulas give most elements by
//! [`FastPaths::eval_partial`]; formulas with [`STEPS`](crate::tuning::Tuning::STEPS) are loops, whose steps
//! are taken for all elements of a block until none needs another. The output may be an input, since a block is moved
//! to it only when it is complete. Decision 0019 has the measurements.
//!
//! K2 and K3 are those of `kernel_fn.rs`.

use super::element_loop::{all_usual, loop_over};
use super::operands::{InputPointers, LoadOperands, StoreOutput};
use crate::element::CpuElement;
use crate::isa::Isa;
use crate::scalar::Lane;
use crate::staging::StageBuffer;
use crate::tuning::FastPaths;
use monomorph_core::each;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{Map, ParamsOf};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Elements of a block. Results, masks and loop states of a block stay in the first-level cache.
const BLOCK: usize = 128;

/// Computes `n` elements, block by block.
///
/// # Safety
///
/// K2, K3 for `n` elements.
#[inline(always)]
pub(super) unsafe fn loop_over_masked_blocks<F, T, C, I>(
    out: *mut u8,
    ins: InputPointers<F, C, I>,
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
    let size = <F::Out as StoreOutput<Lane<C, I>>>::SIZE;
    let mut block = StageBuffer::<{ BLOCK * size_of::<u128>() }>::NEW;
    let block = block.data();
    // Which elements of the block have no result yet.
    let mut left = [false; BLOCK];
    let mut states = [[MaybeUninit::uninit(); BLOCK]; 3];
    for start in (0..n).step_by(BLOCK) {
        let range = start..n.min(start + BLOCK);
        // Results are stored at the index of their operands, so the block begins where element 0 would be.
        let (to, count) = (block.wrapping_sub(start * size), range.len());
        // SAFETY: the range is part of `0..n`, so its elements of all inputs are in bounds and initialised (K2).
        if T::USUAL && unsafe { all_usual::<F, T, C, I>(ins, range.clone()) } {
            // SAFETY: K2: inputs are in bounds, and the block has room for `BLOCK` elements of 16 bytes; K3: it is a
            // local.
            unsafe { loop_over::<F, T, C, I, false, true>(to, ins, range, params) };
        // SAFETY: the range is part of `0..n`, so its elements of all inputs are in bounds and initialised (K2).
        } else if T::PARTIAL && T::STEPS == 0 && !unsafe { partial_pays::<F, T, C, I>(ins, range.clone()) } {
            // SAFETY: K2: inputs are in bounds, and the block has room for `BLOCK` elements of 16 bytes; K3: it is a
            // local.
            unsafe { loop_over::<F, T, C, I, false, false>(to, ins, range, params) };
        } else {
            if T::STEPS > 0 {
                // SAFETY: the range is part of `0..n`: in bounds and initialised (K2); it is no longer than a block.
                unsafe { iterate_block::<F, T, C, I>(&mut states, ins, range.clone(), params) };
            }
            let [a, b, c] = &states;
            let mut any = false;
            for ((((i, left), a), b), c) in range.clone().zip(&mut left).zip(a).zip(b).zip(c) {
                // SAFETY: `i` is below `n`, so element `i` of each operand is in bounds and initialised (K2).
                let x = unsafe { <F::Operands as LoadOperands<Lane<C, I>>>::load::<false>(ins, i) };
                let (y, done) = if T::STEPS > 0 {
                    // SAFETY: `iterate_block` initialised a state for every element of the range.
                    T::finish(each(|k| unsafe { [a, b, c][k].assume_init() }), x, params)
                } else {
                    T::eval_partial(x, params)
                };
                // SAFETY: `i - start < BLOCK`, so the element is within the block, which is a local.
                unsafe { <F::Out as StoreOutput<Lane<C, I>>>::store::<false>(to, i, y, false) };
                *left = !done.get();
                any |= *left;
            }
            if T::STEPS > 0 && T::PARTIAL && any {
                any = false;
                for (i, left) in range.clone().zip(&mut left) {
                    // SAFETY: `i` is below `n`, so element `i` of each operand is in bounds and initialised (K2).
                    let x = unsafe { <F::Operands as LoadOperands<Lane<C, I>>>::load::<false>(ins, i) };
                    let (y, done) = T::eval_partial(x, params);
                    if *left & done.get() {
                        // SAFETY: `i - start < BLOCK`, so the element is within the block, which is a local.
                        unsafe { <F::Out as StoreOutput<Lane<C, I>>>::store::<false>(to, i, y, false) };
                    }
                    *left &= !done.get();
                    any |= *left;
                }
            }
            for (i, _) in range.zip(&left).filter(|(_, left)| any && **left) {
                // SAFETY: `i` is below `n`, so element `i` of each operand is in bounds and initialised (K2).
                let x = unsafe { <F::Operands as LoadOperands<Lane<C, I>>>::load::<false>(ins, i) };
                // SAFETY: `i - start < BLOCK`, so the element is within the block, which is a local.
                unsafe { <F::Out as StoreOutput<Lane<C, I>>>::store::<false>(to, i, F::eval(x, params), false) };
            }
        }
        // SAFETY: `start + count <= n` elements of the output are writable (K2); the block's `count` elements were just
        // stored; it is a local, apart from the output.
        unsafe { std::ptr::copy_nonoverlapping(block, out.wrapping_add(start * size), count * size) };
    }
}

/// Whether [`FastPaths::eval_partial`] may hold for more than half of the range. If not, its work would be done twice.
///
/// # Safety
///
/// K2 for the inputs of the range.
#[inline(always)]
unsafe fn partial_pays<F, T, C, I>(ins: InputPointers<F, C, I>, range: Range<usize>) -> bool
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Map<Lane<C, I>>,
    T: FastPaths<Lane<C, I>, F>,
    F::Operands: LoadOperands<Lane<C, I>>,
{
    let (all, mut may_hold) = (range.len() as u32, 0);
    for i in range {
        // SAFETY: `i` is in the range, so element `i` of each operand is in bounds and initialised (K2).
        let x = unsafe { <F::Operands as LoadOperands<Lane<C, I>>>::load::<false>(ins, i) };
        may_hold += u32::from(T::may_hold(x).get());
    }
    2 * may_hold > all
}

/// Runs the formula's loop for every element of a block: initialises the states, then takes
/// [`STEPS`](crate::tuning::Tuning::STEPS) steps at a time for all elements until none needs another.
///
/// # Safety
///
/// K2 for the inputs of the range, which has at most [`BLOCK`] elements.
#[inline(always)]
unsafe fn iterate_block<F, T, C, I>(
    states: &mut [[MaybeUninit<Lane<C, I>>; BLOCK]; 3],
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
{
    let [a, b, c] = states;
    for (((i, a), b), c) in range.clone().zip(&mut *a).zip(&mut *b).zip(&mut *c) {
        // SAFETY: `i` is in the range, so element `i` of each operand is in bounds and initialised (K2).
        let x = unsafe { <F::Operands as LoadOperands<Lane<C, I>>>::load::<false>(ins, i) };
        let state = T::start(x, params);
        [*a, *b, *c] = each(|k| MaybeUninit::new(state[k]));
    }
    for first in (0..).step_by(T::STEPS as usize) {
        let mut any = false;
        for (((i, a), b), c) in range.clone().zip(&mut *a).zip(&mut *b).zip(&mut *c) {
            // SAFETY: the loop above initialised the state of every element of the range.
            let mut state = each(|k| unsafe { [&*a, b, c][k].assume_init() });
            let mut follows = Lane::new(false);
            for k in first..first + T::STEPS {
                // SAFETY: `i` is in the range, so element `i` of each operand is in bounds and initialised (K2).
                let x = unsafe { <F::Operands as LoadOperands<Lane<C, I>>>::load::<false>(ins, i) };
                (state, follows) = T::step(Lane::<C, I>::from_i64(k), state, x, params);
            }
            any |= follows.get();
            [*a, *b, *c] = each(|k| MaybeUninit::new(state[k]));
        }
        if !any {
            break;
        }
    }
}
