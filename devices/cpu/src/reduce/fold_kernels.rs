//! The kernels of one fold on one dtype at one level, as functions that the driver calls without knowing the fold: how
//! elements are accumulated into lanes, how lanes are merged, and what results they give. The loops are in
//! `accumulate.rs`, `registers.rs` and `merge.rs`; what a call must keep is A1 to A3 of `lanes.rs`.

use super::accumulate::accumulate;
use super::classes::KernelsOn;
use super::lanes::Lanes;
use super::merge::{merge, reduce_lanes};
use super::parts::{Acc, AccumulatorAt, First, LaneParts, PART, Second};
use super::results::StoreResults;
use super::rows::RowGroups;
use crate::element::CpuElement;
use crate::isa::{Isa, Portable};
use crate::scalar::Lane;
use monomorph_ops::algebra::Value;
use monomorph_ops::reduce::{AccumulatedBy, Fold, Identity, Numbers, ReduceFn};

/// What the loops of fold `F` accumulate in: the accumulator of the fold whose functions they call.
type Accumulated<F> = <AccumulatedBy<F> as ReduceFn>::Accumulator;

/// The kernels of one fold, on one dtype, at one level. Unsafe to call by A1 to A3 of `lanes.rs`; only this crate does.
#[derive(Clone, Copy)]
pub struct FoldKernels {
    /// Bytes of the first and of the second part of an accumulator, each no more than [`PART`].
    pub(super) parts: [usize; 2],
    /// Accumulates rows into lanes.
    pub(super) accumulate: unsafe fn(Lanes, &RowGroups),
    /// Merges lanes `0..n` of the second into those of the first.
    pub(super) merge: unsafe fn(Lanes, Lanes, usize),
    /// The horizontal reduction: merges lanes `0..n`, of which every `unit`-th is of the same output, into lanes
    /// `0..unit`.
    pub(super) reduce_lanes: unsafe fn(Lanes, usize, usize),
    /// Stores the results of lanes `0..n`, each of so many elements, to dense runs; the fold is told the numbers.
    pub(super) finish: unsafe fn(Lanes, usize, (i64, Numbers), [*mut u8; 2]),
    /// Sets lane 0 to the fold's identity, the accumulator of no element, if it has one.
    pub(super) identity: Option<unsafe fn(Lanes)>,
}

impl<F, C, I> KernelsOn<F, C, I> for FoldKernels
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    Lane<C, Portable>: Value<Mask = Lane<bool, Portable>>,
    F: Fold<Lane<C, Portable>, Lane<i64, Portable>, Accumulator: AccumulatorAt<C, Portable>>,
    AccumulatedBy<F>: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
    // What accumulates the elements leaves parts that `finish` may read.
    Accumulated<F>: LaneParts<C, First = First<F, C>, Second = Second<F, C>>,
    F::Results: StoreResults<C, Portable>,
{
    const KERNELS: FoldKernels = {
        // Buffers for lanes have room for parts of this size and alignment.
        assert!(size_of::<First<F, C>>() <= PART && align_of::<First<F, C>>() <= PART);
        assert!(size_of::<Second<F, C>>() <= PART && align_of::<Second<F, C>>() <= PART);
        FoldKernels {
            parts: [size_of::<First<F, C>>(), size_of::<Second<F, C>>()],
            accumulate: accumulate::<AccumulatedBy<F>, C, I>,
            merge: merge::<AccumulatedBy<F>, C, I>,
            reduce_lanes: reduce_lanes::<AccumulatedBy<F>, C, I>,
            // These run once per output element, and compute the same at every level.
            finish: finish::<F, C>,
            identity: if F::Identity::EXISTS { Some(identity::<F, C>) } else { None },
        }
    };
}

/// Stores the results that the accumulators of lanes `0..n` finish to.
///
/// The lanes may have been written by kernels of another level. They are read correctly all the same: the types
/// [`First`] and [`Second`] do not depend on the level, and the accumulators of every level split into them
/// ([`AccumulatorAt`]).
///
/// # Safety
///
/// A2 for `n` lanes, which hold accumulators; each run of the results has `n` elements of the dtype that `result_dtype`
/// names, which nobody else uses.
unsafe fn finish<F, C>(lanes: Lanes, n: usize, (count, numbers): (i64, Numbers), outs: [*mut u8; 2])
where
    C: CpuElement,
    Lane<C, Portable>: Value<Mask = Lane<bool, Portable>>,
    F: Fold<Lane<C, Portable>, Lane<i64, Portable>, Accumulator: AccumulatorAt<C, Portable>>,
    F::Results: StoreResults<C, Portable>,
{
    for j in 0..n {
        // SAFETY: lane `j < n` is in bounds and holds an accumulator, of parts of these types (A2).
        let acc = unsafe { lanes.get::<Acc<F, C, Portable>>(j) };
        let result = F::finish_by(acc, Lane::new(count), numbers);
        // SAFETY: each run has an element `j < n` of the dtype that `result_dtype` names for these results, which
        // nobody else uses: the caller's promise.
        unsafe { <F::Results as StoreResults<C, Portable>>::store_results(result, outs, j) };
    }
}

/// Sets lane 0 to the fold's identity. [`KernelsOn`] takes this function of folds that have one only; for others it
/// does nothing.
///
/// # Safety
///
/// A2 for lane 0, which need not hold anything.
unsafe fn identity<F, C>(lanes: Lanes)
where
    C: CpuElement,
    Lane<C, Portable>: Value<Mask = Lane<bool, Portable>>,
    F: Fold<Lane<C, Portable>, Lane<i64, Portable>, Accumulator: AccumulatorAt<C, Portable>>,
{
    let acc = <F as Fold<Lane<C, Portable>, Lane<i64, Portable>>>::identity();
    if let Some(acc) = F::Identity::optional::<Acc<F, C, Portable>>(acc) {
        // SAFETY: lane 0 is in bounds, aligned, and nobody else uses it (A2).
        unsafe { lanes.set(0, acc) };
    }
}
