//! What every kernel that works on lanes is made of: the work that is carried into the frame of a level, and the loop
//! that sets or merges each lane.

use super::lanes::Lanes;
use super::parts::{Acc, AccumulatorAt, First, Parts, Second};
use crate::element::CpuElement;
use crate::isa::Isa;
use crate::scalar::Lane;
use monomorph_ops::algebra::Value;
use monomorph_ops::reduce::Fold;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A task on lanes, which is entered in the frame of a level.
pub(super) struct LaneKernel<F, C, T> {
    pub(super) lanes: Lanes,
    pub(super) task: T,
    fold: PhantomData<(F, C)>,
}

impl<F, C, T> LaneKernel<F, C, T> {
    pub(super) fn new(lanes: Lanes, task: T) -> Self {
        LaneKernel { lanes, task, fold: PhantomData }
    }
}

/// Sets each lane to an accumulator.
///
/// This and [`merge_each`] are two functions, each of which calls what gives accumulators once: a closure that is
/// called twice may not be inlined, and is then not compiled for the level.
#[inline(always)]
pub(super) fn set_each<F, C, I>(
    first: &mut [MaybeUninit<First<F, C>>],
    second: &mut [MaybeUninit<Second<F, C>>],
    acc: impl Fn(usize) -> Acc<F, C, I>,
) where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    for (j, (first, second)) in first.iter_mut().zip(second).enumerate() {
        let (a, b) = acc(j).split();
        first.write(a);
        second.write(b);
    }
}

/// Merges an accumulator into each lane.
///
/// # Safety
///
/// Every lane holds an accumulator of fold `F` on `C` (A2), whatever level has written it.
#[inline(always)]
pub(super) unsafe fn merge_each<F, C, I>(
    first: &mut [MaybeUninit<First<F, C>>],
    second: &mut [MaybeUninit<Second<F, C>>],
    acc: impl Fn(usize) -> Acc<F, C, I>,
) where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
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
