//! The loop of a formula over dense runs: one run, or one for each row.
//!
//! Beyond the plain loop over elements (`element_loop.rs`) it does, block by block, what pays for some formulas:
//!
//! * light formulas *prefetch the output*: stores leave the store buffer in order, so one that misses the cache holds
//!   up all behind it;
//! * formulas that can fault look a block over before they write any of it;
//! * formulas with a short way for usual operands ([`Tuning::USUAL`](crate::tuning::Tuning::USUAL)) take it for blocks
//!   in which every operand is usual;
//! * formulas with branches or loops in them are computed in masked blocks (`masked_block.rs`).
//!
//! Each is decided by constants of the formula and its tuning, so a formula's loop contains only what it uses.

use super::element_loop::{all_usual, any_fault, loop_over, loop_over_range};
use super::masked_block::loop_over_masked_blocks;
use super::operands::{InputPointers, LoadOperands, StoreOutput};
use super::row_layout::{RowLayout, RowMode};
use crate::cache_lines::prefetch_run;
use crate::element::{CpuElement, converts_in_runs};
use crate::isa::{Isa, Kernel};
use crate::processor::Vendor;
use crate::scalar::Lane;
use crate::tuning::{FastPaths, Tuning};
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{Map, Params, ParamsOf, PointwiseFn};
use std::marker::PhantomData;

/// Elements that are scanned for faults, or for unusual operands, before the first of them is computed: few enough that
/// the second pass finds them in the first-level cache.
const SCAN_BLOCK: usize = 1024;

/// Bytes of output whose cache lines are prefetched at a time. Larger blocks and other distances gained on two of ten
/// placements only (decision 0010).
pub(super) const OUTPUT_PREFETCH_CHUNK: usize = 4096;

/// An output of no more bytes than this is not prefetched: it is a single chunk, whose stores would follow the
/// prefetches at once. The gain was measured at 64Ki elements (decision 0010).
pub(super) const OUTPUT_PREFETCH_MIN: usize = 4096;

/// Whether formulas tuned by `T` are computed in masked blocks.
const fn in_masked_blocks<T: Tuning>() -> bool {
    T::PARTIAL || T::STEPS > 0
}

/// Whether calls in place have a loop of their own. It pays only where the plain loop is vectorised: elsewhere it would
/// compile the formula a second time and run no faster. Converted runs are read whole before they are written and need
/// no such loop.
const fn has_in_place_loop<T: Tuning, C: CpuElement, I: Isa>() -> bool {
    I::LEVEL.has_special_loops() && !T::ELEMENTWISE_ONLY && !in_masked_blocks::<T>() && !converts_in_runs::<C, I>()
}

/// Whether light formulas prefetch their output. Operands that are converted (float16, bfloat16) take longer to compute
/// than to move, so their stores don't wait.
const fn may_prefetch<T: Tuning, C: CpuElement, I: Isa>() -> bool {
    T::LIGHT && I::LEVEL.has_special_loops() && size_of::<C::Stored>() == size_of::<C::Repr>()
}

/// The operands of a kernel, and the loop over them.
pub(super) struct DenseLoop<'r, F: PointwiseFn, T, C> {
    pub(super) out: *mut u8,
    pub(super) ins: *const *const u8,
    pub(super) n: usize,
    pub(super) params: *const F::Params,
    /// What leads from row to row; `None` where there is only one.
    pub(super) rows: Option<&'r RowLayout>,
    pub(super) types: PhantomData<(T, C)>,
}

impl<F, T, C, I> Kernel<I> for DenseLoop<'_, F, T, C>
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Map<Lane<C, I>>,
    T: FastPaths<Lane<C, I>, F>,
    F::Operands: LoadOperands<Lane<C, I>>,
    F::Out: StoreOutput<Lane<C, I>>,
{
    type Home = F;
    type Output = bool;

    #[inline(always)]
    fn run(self, _: I) -> bool {
        let DenseLoop { mut out, ins, n, params, rows, .. } = self;
        // SAFETY: `params` points to the formula's parameters (K4).
        let params = unsafe { &*params }.bind::<Lane<C, I>>();
        // SAFETY: `ins` points to a pointer for each operand (K2).
        let mut ins = unsafe { <F::Operands as LoadOperands<Lane<C, I>>>::pointers(ins) };
        let mut row = 1;
        loop {
            // SAFETY: `n` elements of each operand are in bounds in this row (K2), and inputs are the output or apart
            // from it (K3); K6 says both for every row that `rows` leads to.
            if !unsafe { dense_run::<F, T, C, I>(out, ins, n, params) } {
                return false;
            }
            if const { matches!(RowMode::of::<F, T>(), RowMode::Single) } {
                return true;
            }
            match rows {
                Some(RowLayout { count, strides, .. }) if row < *count => {
                    row += 1;
                    out = out.wrapping_offset(strides[0]);
                    ins = <F::Operands as LoadOperands<Lane<C, I>>>::advanced(ins, &strides[1..]);
                }
                _ => return true,
            }
        }
    }
}

/// Computes a dense run, block by block where the formula wants it. False if some operands have no result.
///
/// # Safety
///
/// K2 and K3 for `n` elements.
#[inline(always)]
unsafe fn dense_run<F, T, C, I>(
    out: *mut u8,
    mut ins: InputPointers<F, C, I>,
    n: usize,
    params: ParamsOf<F, Lane<C, I>>,
) -> bool
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Map<Lane<C, I>>,
    T: FastPaths<Lane<C, I>, F>,
    F::Operands: LoadOperands<Lane<C, I>>,
    F::Out: StoreOutput<Lane<C, I>>,
{
    let same_size = size_of::<C::Stored>() == <F::Out as StoreOutput<Lane<C, I>>>::SIZE;
    let first = <F::Operands as LoadOperands<Lane<C, I>>>::first_value(&mut ins);
    let in_place =
        const { has_in_place_loop::<T, C, I>() } && same_size && first.is_some_and(|first| std::ptr::eq(*first, out));
    let out_size = <F::Out as StoreOutput<Lane<C, I>>>::SIZE;
    let prefetches = const { may_prefetch::<T, C, I>() }
        && !in_place
        && n * out_size > OUTPUT_PREFETCH_MIN
        && Vendor::current().needs_output_prefetch();
    if const { in_masked_blocks::<T>() } {
        const { assert!(!in_masked_blocks::<T>() || F::FAULT.is_none(), "a formula in masked blocks has no faults") };
        if const { I::FMA } {
            // SAFETY: `n` elements of each operand are in bounds (K2), inputs are the output or apart from it (K3).
            unsafe { loop_over_masked_blocks::<F, T, C, I>(out, ins, n, params) };
        } else {
            // At levels without fused multiply-add most of these formulas have no shorter way.
            // SAFETY: `n` elements of each operand are in bounds (K2), inputs are the output or apart from it (K3).
            unsafe { loop_over::<F, T, C, I, false, false>(out, ins, 0..n, params) };
        }
        return true;
    }
    let step = match (F::FAULT.is_some() || T::USUAL, prefetches) {
        (true, _) => SCAN_BLOCK,
        (false, true) => OUTPUT_PREFETCH_CHUNK / out_size,
        (false, false) => n.max(1),
    };
    // Not `step_by`, which would count the blocks by a division first.
    let mut next = 0;
    while next < n {
        let start = next;
        next = if F::FAULT.is_some() || T::USUAL || prefetches { n.min(start + step) } else { n };
        let range = start..next;
        if const { may_prefetch::<T, C, I>() } && prefetches {
            prefetch_run(out.wrapping_add(start * out_size), range.len() * out_size);
        }
        // SAFETY: the range is part of `0..n`, so its elements of all inputs are in bounds and initialised (K2).
        if const { F::FAULT.is_some() } && unsafe { any_fault::<F, C, I>(ins, range.clone()) } {
            return false;
        }
        // SAFETY: the range is part of `0..n`, so its elements of all inputs are in bounds and initialised (K2).
        if const { T::USUAL } && !unsafe { all_usual::<F, T, C, I>(ins, range.clone()) } {
            // Rare, so one loop serves calls in place too; the compiler's overlap check sends those element by element.
            // SAFETY: the range is part of `0..n`: in bounds (K2), inputs are the output or apart from it (K3).
            unsafe { loop_over::<F, T, C, I, false, false>(out, ins, range, params) };
            continue;
        }
        let mut ins = ins;
        // Reading through `out` itself tells the compiler that this operand is the output. Two pointers that happen to
        // be equal would fail its overlap check and run one element at a time.
        match <F::Operands as LoadOperands<Lane<C, I>>>::first_value(&mut ins) {
            Some(first) if const { has_in_place_loop::<T, C, I>() } && in_place => {
                *first = out;
                // SAFETY: the range is part of `0..n`: in bounds (K2), inputs are the output or apart from it (K3).
                unsafe { loop_over::<F, T, C, I, false, true>(out, ins, range, params) };
            }
            // SAFETY: the range is part of `0..n`: in bounds (K2), inputs are the output or apart from it (K3).
            _ => unsafe { loop_over_range::<F, T, C, I>(out, ins, range, params) },
        }
    }
    true
}
