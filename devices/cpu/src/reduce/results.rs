//! How the results of a fold are stored as elements of dense runs, for each kind of result that a fold may have.

use crate::element::{CpuElement, store};
use crate::isa::Isa;
use crate::scalar::Lane;
use monomorph_core::DType;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{Common, Truth};
use monomorph_ops::reduce::{CommonAndIndex, Index, Real, RealAndCommon, ResultKind, Results, Two};

/// How the results of a fold on `C` at level `I` are stored.
pub trait StoreResults<C: CpuElement, I: Isa>: Results
where
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
{
    /// Stores the results as element `i` of dense runs.
    ///
    /// # Safety
    ///
    /// Each run has an element `i` of the dtype that [`result_dtype`] names, which nobody else uses.
    unsafe fn store_results(result: Self::Of<Lane<C, I>, Lane<i64, I>>, outs: [*mut u8; 2], i: usize);
}

impl<C: CpuElement, I: Isa> StoreResults<C, I> for Common
where
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
{
    #[inline(always)]
    unsafe fn store_results(result: Lane<C, I>, outs: [*mut u8; 2], i: usize) {
        // SAFETY: the run has an element `i` of dtype `C`, which nobody else uses, by the caller's promise.
        unsafe { store::<C>(outs[0], i, result.get()) };
    }
}

/// A value that is stored as an element of its own dtype: the real part of another.
pub trait StoreLane {
    /// Stores it as element `i` of a dense run.
    ///
    /// # Safety
    ///
    /// The run has an element `i` of the dtype of the value, which nobody else uses.
    unsafe fn store_lane(self, out: *mut u8, i: usize);
}

impl<E: CpuElement, I: Isa> StoreLane for Lane<E, I> {
    #[inline(always)]
    unsafe fn store_lane(self, out: *mut u8, i: usize) {
        // SAFETY: the run has an element `i` of dtype `E`, which nobody else uses, by the caller's promise.
        unsafe { store::<E>(out, i, self.get()) };
    }
}

impl<C: CpuElement, I: Isa> StoreResults<C, I> for Real
where
    Lane<C, I>: Value<Mask = Lane<bool, I>, Re: StoreLane>,
{
    #[inline(always)]
    unsafe fn store_results(result: <Lane<C, I> as Value>::Re, outs: [*mut u8; 2], i: usize) {
        // SAFETY: the run has an element `i` of the real dtype of `C`, which nobody else uses, by the caller's promise.
        unsafe { result.store_lane(outs[0], i) };
    }
}

impl<C: CpuElement, I: Isa> StoreResults<C, I> for RealAndCommon
where
    Lane<C, I>: Value<Mask = Lane<bool, I>, Re: StoreLane>,
{
    #[inline(always)]
    unsafe fn store_results((real, common): (<Lane<C, I> as Value>::Re, Lane<C, I>), outs: [*mut u8; 2], i: usize) {
        // SAFETY: the first run has an element `i` of the real dtype of `C`, which nobody else uses, by the caller's
        // promise.
        unsafe { real.store_lane(outs[0], i) };
        // SAFETY: the second run has an element `i` of dtype `C`, which nobody else uses, by the caller's promise.
        unsafe { store::<C>(outs[1], i, common.get()) };
    }
}

impl<C: CpuElement, I: Isa> StoreResults<C, I> for Truth
where
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
{
    #[inline(always)]
    unsafe fn store_results(result: Lane<bool, I>, outs: [*mut u8; 2], i: usize) {
        // SAFETY: the run has an element `i` of bool, which nobody else uses, by the caller's promise.
        unsafe { store::<bool>(outs[0], i, result.get()) };
    }
}

impl<C: CpuElement, I: Isa> StoreResults<C, I> for Index
where
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
{
    #[inline(always)]
    unsafe fn store_results(result: Lane<i64, I>, outs: [*mut u8; 2], i: usize) {
        // SAFETY: the run has an element `i` of int64, which nobody else uses, by the caller's promise.
        unsafe { store::<i64>(outs[0], i, result.get()) };
    }
}

impl<C: CpuElement, I: Isa> StoreResults<C, I> for CommonAndIndex
where
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
{
    #[inline(always)]
    unsafe fn store_results((common, index): (Lane<C, I>, Lane<i64, I>), outs: [*mut u8; 2], i: usize) {
        // SAFETY: the first run has an element `i` of dtype `C`, which nobody else uses, by the caller's promise.
        unsafe { store::<C>(outs[0], i, common.get()) };
        // SAFETY: the second run has an element `i` of int64, which nobody else uses, by the caller's promise.
        unsafe { store::<i64>(outs[1], i, index.get()) };
    }
}

impl<C: CpuElement, I: Isa> StoreResults<C, I> for Two
where
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
{
    #[inline(always)]
    unsafe fn store_results((first, second): (Lane<C, I>, Lane<C, I>), outs: [*mut u8; 2], i: usize) {
        // SAFETY: the first run has an element `i` of dtype `C`, which nobody else uses, by the caller's promise.
        unsafe { store::<C>(outs[0], i, first.get()) };
        // SAFETY: the second run has an element `i` of dtype `C`, which nobody else uses, by the caller's promise.
        unsafe { store::<C>(outs[1], i, second.get()) };
    }
}

/// The dtype of a result of this kind, of a fold that computes in `compute`.
pub(super) fn result_dtype(kind: ResultKind, compute: DType) -> DType {
    match kind {
        ResultKind::Common => compute,
        ResultKind::Real => compute.to_real(),
        ResultKind::Truth => DType::Bool,
        ResultKind::Index => DType::I64,
    }
}
