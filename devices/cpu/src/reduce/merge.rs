//! Merges lanes into lanes: those of one chunk into those of another, and the upper half of a row into the lower, which
//! is a horizontal reduction.

use super::lane_kernel::{LaneKernel, merge_each};
use super::lanes::Lanes;
use super::parts::{Acc, AccumulatorAt, Parts};
use super::registers::reduce_registers;
use super::rows::dense_lanes;
use crate::element::CpuElement;
use crate::isa::{Isa, Kernel};
use crate::scalar::Lane;
use monomorph_ops::algebra::Value;
use monomorph_ops::reduce::Fold;

/// Lanes to be merged into others, and how many.
struct Other(Lanes, usize);

/// Merges lanes `0..n` of `other` into those of `lanes`.
///
/// # Safety
///
/// A1, A2 for `n` lanes of both, which hold accumulators and lie apart.
pub(super) unsafe fn merge<F, C, I>(lanes: Lanes, other: Lanes, n: usize)
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    // SAFETY: the host has the level (A1).
    let isa = unsafe { I::assume() };
    isa.enter(LaneKernel::<F, C, _>::new(lanes, Other(other, n)));
}

impl<F, C, I> Kernel<I> for LaneKernel<F, C, Other>
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    type Home = F;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let Other(other, n) = self.task;
        // SAFETY: A2 for lanes `0..n`, which nothing else touches as long as the slices live: the others lie apart.
        let (first, second) = unsafe { self.lanes.of::<Acc<F, C, I>>(n) };
        // SAFETY: each of the other lanes `0..n` holds an accumulator (A2), and `merge_each` asks for as many.
        let acc = |j| unsafe { other.get::<Acc<F, C, I>>(j) };
        // SAFETY: lanes `0..n` hold accumulators (A2).
        unsafe { merge_each::<F, C, I>(first, second, acc) };
    }
}

/// How many lanes are merged into the first `unit`.
struct Halves {
    lanes: usize,
    unit: usize,
}

/// Merges lanes `0..n`, of which every `unit`-th is of the same output, into lanes `0..unit`.
///
/// # Safety
///
/// A1, A2 for `n` lanes, a multiple of `unit`, which hold accumulators.
pub(super) unsafe fn reduce_lanes<F, C, I>(lanes: Lanes, n: usize, unit: usize)
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    // SAFETY: the host has the level (A1).
    let isa = unsafe { I::assume() };
    isa.enter(LaneKernel::<F, C, _>::new(lanes, Halves { lanes: n, unit }));
}

impl<F, C, I> Kernel<I> for LaneKernel<F, C, Halves>
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    type Home = F;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let Halves { mut lanes, unit } = self.task;
        let n = const { dense_lanes(size_of::<C::Stored>()) };
        if const { I::LEVEL.has_special_loops() } && lanes == n && unit == 1 {
            // SAFETY: A2 for the lanes, as many as a dense row has, which hold accumulators.
            return unsafe { reduce_registers::<F, C, I>(self.lanes) };
        }
        // The lower half is the largest power of two below: the upper one is merged into its beginning.
        let mut half = (if unit == 1 { lanes } else { lanes / unit }).next_power_of_two() / 2 * unit;
        while lanes > unit {
            // SAFETY: A2 for the lanes that are left, of which no other slice lives.
            let (first, second) = unsafe { self.lanes.of::<Acc<F, C, I>>(lanes) };
            let (first, upper_first) = first.split_at_mut(half);
            let (second, upper_second) = second.split_at_mut(half);
            let n = lanes - half;
            let acc = |j: usize| {
                // SAFETY: lane `half + j` holds an accumulator (A2), so its first part is initialised; it is `Copy`.
                let a = unsafe { upper_first[j].assume_init_read() };
                // SAFETY: lane `half + j` holds an accumulator (A2), so its second part is initialised; it is `Copy`.
                let b = unsafe { upper_second[j].assume_init_read() };
                Acc::<F, C, I>::join(a, b)
            };
            // SAFETY: lanes `0..n` hold accumulators (A2).
            unsafe { merge_each::<F, C, I>(&mut first[..n], &mut second[..n], acc) };
            (lanes, half) = (half, half / 2);
        }
    }
}
