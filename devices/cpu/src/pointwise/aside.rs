//! The loop of a formula that is computed aside: part by part, as far as it goes without branches, and completed one by one where that does
//! not give the result. Formulas are loops themselves (`STEPS`) or not (`PARTIAL`), or loops that leave some elements to another way (both).

use super::body::{Pointers, are_usual, sweep};
use super::operands::{Load, Store};
use crate::cell::Cell;
use crate::isa::Isa;
use crate::lane::Stage;
use crate::on::On;
use monomorph_core::each;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{Map, ParamsOf};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Elements that are computed aside at a time where some are completed one by one.
const PART: usize = 128;

/// A sweep in parts that are computed aside, as far as that goes without branches, and completed before they are moved to the output: that
/// may be an operand.
///
/// # Safety
///
/// K2, K3 for `n` elements.
#[inline(always)]
pub(super) unsafe fn aside<F, C, I>(out: *mut u8, ins: Pointers<F, C, I>, n: usize, params: ParamsOf<F, On<C, I>>)
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Map<On<C, I>>,
    F::Operands: Load<On<C, I>>,
    F::Out: Store<On<C, I>>,
{
    let size = <F::Out as Store<On<C, I>>>::SIZE;
    let mut part = Stage::<{ PART * size_of::<u128>() }>::NEW;
    let part = part.data();
    let mut left = [false; PART];
    let mut states = [[MaybeUninit::uninit(); PART]; 3];
    for start in (0..n).step_by(PART) {
        let range = start..n.min(start + PART);
        let (from, count) = (part.wrapping_sub(start * size), range.len());
        // SAFETY: K2.
        if F::USUAL && unsafe { are_usual::<F, C, I>(ins, range.clone()) } {
            // SAFETY: K2 for the inputs; the part has room for as many elements of 16 bytes, and lies apart.
            unsafe { sweep::<F, C, I, false, true>(from, ins, range, params) };
        // SAFETY: K2.
        } else if F::PARTIAL && F::STEPS == 0 && !unsafe { pays::<F, C, I>(ins, range.clone()) } {
            // SAFETY: as above.
            unsafe { sweep::<F, C, I, false, false>(from, ins, range, params) };
        } else {
            if F::STEPS > 0 {
                // SAFETY: K2.
                unsafe { steps::<F, C, I>(&mut states, ins, range.clone(), params) };
            }
            let [a, b, c] = &states;
            let mut any = false;
            for ((((i, left), a), b), c) in range.clone().zip(&mut left).zip(a).zip(b).zip(c) {
                // SAFETY: K2.
                let x = unsafe { <F::Operands as Load<On<C, I>>>::load::<false>(ins, i) };
                let (y, done) = if F::STEPS > 0 {
                    // SAFETY: `steps` made the states of the range.
                    F::finish(each(|k| unsafe { [a, b, c][k].assume_init() }), x, params)
                } else {
                    F::eval_partial(x, params)
                };
                // SAFETY: the part has room.
                unsafe { <F::Out as Store<On<C, I>>>::store::<false>(from, i, y, false) };
                *left = !done.get();
                any |= *left;
            }
            if F::STEPS > 0 && F::PARTIAL && any {
                any = false;
                for (i, left) in range.clone().zip(&mut left) {
                    // SAFETY: K2.
                    let x = unsafe { <F::Operands as Load<On<C, I>>>::load::<false>(ins, i) };
                    let (y, done) = F::eval_partial(x, params);
                    if *left & done.get() {
                        // SAFETY: the part has room.
                        unsafe { <F::Out as Store<On<C, I>>>::store::<false>(from, i, y, false) };
                    }
                    *left &= !done.get();
                    any |= *left;
                }
            }
            for (i, _) in range.zip(&left).filter(|(_, left)| any && **left) {
                // SAFETY: K2.
                let x = unsafe { <F::Operands as Load<On<C, I>>>::load::<false>(ins, i) };
                // SAFETY: the part has room.
                unsafe { <F::Out as Store<On<C, I>>>::store::<false>(from, i, F::eval(x, params), false) };
            }
        }
        // SAFETY: K2; the part was just filled, and lies apart.
        unsafe { std::ptr::copy_nonoverlapping(part, out.wrapping_add(start * size), count * size) };
    }
}

/// Whether the way without branches may hold for most elements.
///
/// # Safety
///
/// K2 for the range, as far as inputs go.
#[inline(always)]
unsafe fn pays<F, C, I>(ins: Pointers<F, C, I>, range: Range<usize>) -> bool
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Map<On<C, I>>,
    F::Operands: Load<On<C, I>>,
{
    let (all, mut may) = (range.len() as u32, 0);
    for i in range {
        // SAFETY: K2.
        let x = unsafe { <F::Operands as Load<On<C, I>>>::load::<false>(ins, i) };
        may += u32::from(F::may_hold(x).get());
    }
    2 * may > all
}

/// The loops of at most [`PART`] elements, step by step: makes a state of each.
///
/// # Safety
///
/// K2 for the range, as far as inputs go.
#[inline(always)]
unsafe fn steps<F, C, I>(
    states: &mut [[MaybeUninit<On<C, I>>; PART]; 3],
    ins: Pointers<F, C, I>,
    range: Range<usize>,
    params: ParamsOf<F, On<C, I>>,
) where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Map<On<C, I>>,
    F::Operands: Load<On<C, I>>,
{
    let [a, b, c] = states;
    for (((i, a), b), c) in range.clone().zip(&mut *a).zip(&mut *b).zip(&mut *c) {
        // SAFETY: K2.
        let x = unsafe { <F::Operands as Load<On<C, I>>>::load::<false>(ins, i) };
        let state = F::start(x, params);
        [*a, *b, *c] = each(|k| MaybeUninit::new(state[k]));
    }
    for first in (0..).step_by(F::STEPS as usize) {
        let mut any = false;
        for (((i, a), b), c) in range.clone().zip(&mut *a).zip(&mut *b).zip(&mut *c) {
            // SAFETY: the loop above made it.
            let mut state = each(|k| unsafe { [&*a, b, c][k].assume_init() });
            let mut follows = On::new(false);
            for k in first..first + F::STEPS {
                // SAFETY: K2.
                let x = unsafe { <F::Operands as Load<On<C, I>>>::load::<false>(ins, i) };
                (state, follows) = F::step(On::<C, I>::from_i64(k), state, x, params);
            }
            any |= follows.get();
            [*a, *b, *c] = each(|k| MaybeUninit::new(state[k]));
        }
        if !any {
            break;
        }
    }
}
