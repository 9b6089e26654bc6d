//! The kernel of a formula: one function for each dtype and level, of one signature for all of them.
//!
//! A call plans its operands without knowing the formula, then calls the kernel through a [`KernelFn`] pointer with
//! dense runs of one dtype. Here the pointer becomes a loop: the kernel picks the one that suits the [`Traversal`] and
//! enters it in the frame of its level, where the compiler vectorises it. Both come from `F`, what is computed, and
//! `T`, how ([`Tuning`](crate::tuning::Tuning)).
//!
//! ```text
//! KernelFn(out, ins, n, params, traversal)
//!    ├─ NonTemporal, light formula ────────► NonTemporalLoop   (non_temporal.rs)
//!    ├─ Rows, one operand broadcast ───────► BroadcastOperand  (broadcast_operand.rs)
//!    └─ anything else ─────────────────────► DenseLoop         (dense_loop.rs)
//! ```
//!
//! Invariants of a call to a kernel:
//! * K1: the host has the level that the kernel was chosen for.
//! * K2: `out` has `n` writable elements, each input `n` initialised ones, of the dtypes that `KernelSpec::dtype`
//!   names; there is a pointer in `ins` for every input.
//! * K3: if `n > 1`, each input either is `out` exactly, or does not overlap it.
//! * K4: `params` points to the formula's parameters.
//! * K5: with [`Traversal::NonTemporal`], no input is `out`, and the caller ends with
//!   [`store_fence`](crate::cache_lines::store_fence).
//! * K6: with [`Traversal::Rows`], the kernel is one that takes such rows ([`RowMode`]); K2 and K3 hold for each row,
//!   except that of a broadcast operand one element is initialised, and no input is `out`.

use super::broadcast_operand::BroadcastOperand;
use super::dense_loop::DenseLoop;
use super::non_temporal::NonTemporalLoop;
use super::operands::{LoadOperands, StoreOutput};
use super::row_layout::{RowLayout, RowMode, compiles_broadcast, has_plain_light_loop};
use crate::element::CpuElement;
use crate::isa::{Isa, Level};
use crate::scalar::Lane;
use crate::tuning::{FastPaths, TuningValues};
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{Map, PointwiseFn};
use std::marker::PhantomData;

/// A kernel: output, inputs, number of elements, parameters, and how to traverse them. False if some operands have no
/// result ([`Map::fault`]); part of the output may be written by then.
///
/// Unsafe by K1 to K6 of `kernel_fn.rs`; only this crate calls it.
pub type KernelFn =
    unsafe fn(out: *mut u8, ins: *const *const u8, n: usize, params: *const (), traversal: Traversal<'_>) -> bool;

/// How a kernel goes through its operands.
#[derive(Clone, Copy, Debug)]
pub enum Traversal<'r> {
    /// One dense run.
    Dense,
    /// One dense run, which light formulas write with non-temporal stores.
    NonTemporal,
    /// Several rows, `n` elements each.
    Rows(&'r RowLayout),
}

/// The kernels of a formula. They are methods of the formula so that the compiler puts them in the formula's codegen
/// unit, as it does with their frames ([`Kernel::Home`](crate::isa::Kernel::Home); measured in decision 0025).
pub(super) trait FormulaKernel: PointwiseFn {
    /// The kernel on `C` at level `I`.
    ///
    /// # Safety
    ///
    /// K1–K6.
    unsafe fn kernel<T, C, I>(
        out: *mut u8,
        ins: *const *const u8,
        n: usize,
        params: *const (),
        traversal: Traversal<'_>,
    ) -> bool
    where
        C: CpuElement,
        I: Isa,
        Lane<C, I>: Value<Mask = Lane<bool, I>>,
        Self: Map<Lane<C, I>>,
        T: FastPaths<Lane<C, I>, Self>,
        Self::Operands: LoadOperands<Lane<C, I>>,
        Self::Out: StoreOutput<Lane<C, I>>;
}

/// Whether kernels at the level have a loop with non-temporal stores. The portable level does without: other
/// architectures have no intrinsics for it here, and the x86-64 machines that run it are too old to be worth a second
/// loop for every formula.
const fn has_non_temporal_loop<I: Isa>() -> bool {
    !matches!(I::LEVEL, Level::Portable)
}

impl<F: PointwiseFn> FormulaKernel for F {
    unsafe fn kernel<T, C, I>(
        out: *mut u8,
        ins: *const *const u8,
        n: usize,
        params: *const (),
        traversal: Traversal<'_>,
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
        // SAFETY: the host has the level `I` that this kernel was chosen for (K1).
        let isa = unsafe { I::assume() };
        let rows = match traversal {
            Traversal::Rows(rows) if const { !matches!(RowMode::of::<F, T>(), RowMode::Single) } => Some(rows),
            _ => None,
        };
        let dense = DenseLoop::<F, T, C> { out, ins, n, params: params.cast(), rows, types: PhantomData };
        if const { has_plain_light_loop::<F>(&TuningValues::of::<T>()) && has_non_temporal_loop::<I>() }
            && let Traversal::NonTemporal = traversal
        {
            return isa.enter(NonTemporalLoop(dense));
        }
        if const { matches!(RowMode::of::<F, T>(), RowMode::Broadcast) && compiles_broadcast(C::DTYPE, I::LEVEL) }
            && let Some(rows) = rows
            && let Some(k) = rows.broadcast
        {
            return if k == 0 {
                isa.enter(BroadcastOperand::<F, T, C, 0>(dense, rows))
            } else {
                isa.enter(BroadcastOperand::<F, T, C, 1>(dense, rows))
            };
        }
        isa.enter(dense)
    }
}
