//! Results of a fold on their way to memory.

use crate::element::{CpuElement, store};
use crate::isa::Isa;
use crate::on::On;
use monomorph_core::DType;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{Common, Truth};
use monomorph_ops::reduce::{Index, ResultKind, Results, Two};

/// How the results of a fold on `C` at level `I` are stored.
pub trait Keep<C: CpuElement, I: Isa>: Results
where
    On<C, I>: Value<Mask = On<bool, I>>,
{
    /// Stores the results as element `i` of dense runs.
    ///
    /// # Safety
    ///
    /// Each run has an element `i` of the dtype that [`result_dtype`] names, which nobody else uses.
    unsafe fn keep(result: Self::Of<On<C, I>, On<i64, I>>, outs: [*mut u8; 2], i: usize);
}

impl<C: CpuElement, I: Isa> Keep<C, I> for Common
where
    On<C, I>: Value<Mask = On<bool, I>>,
{
    #[inline(always)]
    unsafe fn keep(result: On<C, I>, outs: [*mut u8; 2], i: usize) {
        // SAFETY: passed on.
        unsafe { store::<C>(outs[0], i, result.get()) };
    }
}

impl<C: CpuElement, I: Isa> Keep<C, I> for Truth
where
    On<C, I>: Value<Mask = On<bool, I>>,
{
    #[inline(always)]
    unsafe fn keep(result: On<bool, I>, outs: [*mut u8; 2], i: usize) {
        // SAFETY: passed on.
        unsafe { store::<bool>(outs[0], i, result.get()) };
    }
}

impl<C: CpuElement, I: Isa> Keep<C, I> for Index
where
    On<C, I>: Value<Mask = On<bool, I>>,
{
    #[inline(always)]
    unsafe fn keep(result: On<i64, I>, outs: [*mut u8; 2], i: usize) {
        // SAFETY: passed on.
        unsafe { store::<i64>(outs[0], i, result.get()) };
    }
}

impl<C: CpuElement, I: Isa> Keep<C, I> for Two
where
    On<C, I>: Value<Mask = On<bool, I>>,
{
    #[inline(always)]
    unsafe fn keep((first, second): (On<C, I>, On<C, I>), outs: [*mut u8; 2], i: usize) {
        // SAFETY: passed on.
        unsafe { store::<C>(outs[0], i, first.get()) };
        // SAFETY: passed on.
        unsafe { store::<C>(outs[1], i, second.get()) };
    }
}

/// The dtype that a result of this kind has when it leaves a fold that computes in `compute`.
pub(super) fn result_dtype(kind: ResultKind, compute: DType) -> DType {
    match kind {
        ResultKind::Common => compute,
        ResultKind::Truth => DType::Bool,
        ResultKind::Index => DType::I64,
    }
}
