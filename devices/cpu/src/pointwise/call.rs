//! A pointwise call bound to memory: which kernel, and the cheapest way of calling it that the operands allow.
//!
//! ```text
//! plan, operands ─► KernelSpec ─► first that suits:  DenseCall          dense runs, one call        (dense_call.rs)
//!                                                    SmallDomainTable   bools, looked up            (small_domain.rs)
//!                                                    RowsCall           rows, one call              (rows_call.rs)
//!                                                    StagedCall         small, staged whole         (staged_call.rs)
//!                                                    Driver             everything else             (driver.rs)
//! ```
//!
//! The generic part is a shell that asks for a kernel and keeps the parameters; the rest is compiled once.

use super::classes::computes_as_f32;
use super::dense_call::DenseCall;
use super::driver::Driver;
use super::kernel_fn::KernelFn;
use super::kernel_spec::KernelSpec;
use super::kernels::Kernels;
use super::operand_base::{MAX_OPERANDS, bases};
use super::part::elementwise;
use super::row_layout::RowMode;
use super::rows_call::RowsCall;
use super::small_domain::SmallDomainTable;
use super::staged_call::StagedCall;
use crate::device::Cpu;
use crate::left_out::{left_out, no_kernel};
use crate::tuning::TuningValues;
use monomorph_core::structured::{Elementwise, Executes, Operand, Outputs};
use monomorph_core::{DType, Result};
use monomorph_iter::TensorIter;
use monomorph_ops::pointwise::{
    DomainSet, Operands, OutputKind, Outputs as _, Pointwise, PointwiseInputs, PointwisePlan, Walk,
};

/// A pointwise call bound to memory: pointers and kernel. It may be moved between runs.
pub struct Ready(Strategy);

/// How the kernel is called.
#[allow(clippy::large_enum_variant, reason = "a box would be an allocation in calls that otherwise make one")]
pub(super) enum Strategy {
    /// Once, for dense operands.
    Dense(DenseCall),
    /// Once, for rows.
    Rows(RowsCall),
    /// Once, for all the values that a small domain has; results are looked up.
    SmallDomain(SmallDomainTable),
    /// Once, for operands that are staged whole.
    Staged(StagedCall),
    /// Any number of times, by any number of threads.
    Driver(Driver),
}

/// What binding a call must know of a formula, as values.
pub(super) struct FormulaTraits {
    kind: OutputKind,
    masks: u8,
    tuning: &'static TuningValues,
    row_mode: RowMode,
    /// The domain, in words for errors.
    domain: &'static str,
    fault: bool,
}

impl FormulaTraits {
    /// Those of a formula whose kernels exist.
    pub(super) fn of<F: Kernels<W>, W>() -> FormulaTraits {
        const { assert!(F::Operands::COUNT < MAX_OPERANDS, "a pointwise operator has at most 7 operands") };
        FormulaTraits {
            kind: F::Out::KIND,
            masks: F::Operands::MASKS as u8,
            tuning: const { &F::TUNING },
            row_mode: const { RowMode::tuned::<F>(&F::TUNING) },
            domain: F::Domain::WORDS,
            fault: F::FAULT.is_some(),
        }
    }

    /// The kernel for a dtype, with what it takes; `lookup` gives those of the formula.
    pub(super) fn spec(
        &self,
        compute: Option<DType>,
        lookup: fn(DType, crate::isa::Level) -> Option<KernelFn>,
    ) -> Result<KernelSpec> {
        let level = crate::level()?;
        let common = compute.unwrap_or(DType::F32);
        let compute = if computes_as_f32(self.tuning, common) { DType::F32 } else { common };
        // What would be computed as float32 is left out along with the rest.
        let kernel = lookup(compute, level).filter(|_| left_out(common).is_none());
        Ok(KernelSpec {
            kernel: kernel.ok_or_else(|| no_kernel(common, self.domain))?,
            kind: self.kind,
            masks: self.masks,
            light: self.tuning.light,
            row_mode: self.row_mode.restricted_to(compute, level),
            common,
            compute,
            level,
        })
    }
}

// SAFETY: every strategy calls a kernel of this formula for exactly the elements of the plan: it reads elements of the
// inputs and writes every element of the output, within the geometry that the plan was made for, and nothing else.
unsafe impl<F, W: 'static> Executes<Pointwise<F, W>> for Cpu
where
    F: Kernels<W>,
{
    type Ready = Ready;

    #[inline]
    unsafe fn ready(
        plan: &PointwisePlan<F::Params>,
        inputs: &PointwiseInputs<'_, F>,
        outputs: &Outputs<'_>,
    ) -> Result<Self::Ready> {
        let formula = FormulaTraits::of::<F, W>();
        // SAFETY: the caller promises E1 and E2; `F::lookup` gives kernels of the formula that `formula` describes.
        unsafe { bind(plan.walk(), plan.compute(), &formula, F::lookup, inputs.operands(), outputs) }
    }

    #[inline]
    unsafe fn run(ready: &mut Self::Ready, plan: &PointwisePlan<F::Params>) -> Result<()> {
        let params = std::ptr::from_ref(plan.params()).cast();
        let done = match &ready.0 {
            // SAFETY: K4: these are the formula's parameters; the operands are still borrowed (E2).
            Strategy::Dense(call) => unsafe { call.run(params) },
            // SAFETY: K4: these are the formula's parameters; the operands are still borrowed (E2).
            Strategy::Rows(call) => unsafe { call.run(params) },
            // SAFETY: K4: these are the formula's parameters; the operands are still borrowed (E2); `plan` is the one
            // that the call was made from (E3).
            Strategy::SmallDomain(table) => unsafe { table.run(plan.iter(), params) },
            // SAFETY: K4: these are the formula's parameters; the operands are still borrowed (E2); `plan` is the one
            // that the call was made from (E3).
            Strategy::Staged(call) => unsafe { call.run(plan.iter(), params) },
            // SAFETY: K4: these are the formula's parameters, which are `Sync`; the operands are still borrowed (E2);
            // `plan` is the one that the call was made from (E3).
            Strategy::Driver(driver) => unsafe { driver.run(plan.iter(), params) },
        };
        match F::FAULT {
            Some(error) if !done => Err(error().into()),
            _ => Ok(()),
        }
    }

    fn elementwise(ready: &Self::Ready, plan: &PointwisePlan<F::Params>) -> Option<Elementwise> {
        let params = std::ptr::from_ref(plan.params()).cast();
        if F::FAULT.is_none() { elementwise(&ready.0, plan.iter(), params) } else { None }
    }
}

/// Looks the kernel up and binds it to the operands.
///
/// # Safety
///
/// * E1, E2 of [`Executes`] for inputs and outputs, of which `walk` is the plan.
/// * `lookup` gives kernels of the formula that `formula` describes.
unsafe fn bind(
    walk: &Walk,
    compute: Option<DType>,
    formula: &FormulaTraits,
    lookup: fn(DType, crate::isa::Level) -> Option<KernelFn>,
    inputs: &[Operand<'_>],
    outputs: &Outputs<'_>,
) -> Result<Ready> {
    let spec = formula.spec(compute, lookup)?;
    let kernel = spec.kernel;
    if let Some(uniform) = walk.uniform()
        && DenseCall::suits(uniform, &spec, inputs)
    {
        // SAFETY: the caller promises E1 and E2, and `spec` has the formula's kernel.
        if let Some(ins) = unsafe { DenseCall::tensor_inputs(inputs, outputs) } {
            return Ok(Ready(Strategy::Dense(DenseCall::of(kernel, outputs, uniform.numel(), ins))));
        }
        // SAFETY: the caller promises E1 and E2, and `spec` has the formula's kernel.
        return unsafe { bind_with_number(walk, uniform.numel(), &spec, formula, inputs, outputs) };
    }
    // SAFETY: the caller promises E1 and E2, and `spec` has the formula's kernel.
    unsafe { bind_any(walk.iter(), &spec, formula, inputs, outputs) }
}

/// [`bind`] for dense operands of which an input may be a number.
///
/// # Safety
///
/// E1 and E2 of [`Executes`] for inputs and outputs, of which `walk` is the plan; `spec` has a kernel of the formula.
#[inline(never)]
unsafe fn bind_with_number(
    walk: &Walk,
    n: usize,
    spec: &KernelSpec,
    formula: &FormulaTraits,
    inputs: &[Operand<'_>],
    outputs: &Outputs<'_>,
) -> Result<Ready> {
    // SAFETY: the caller promises E1 and E2, and that `spec` has a kernel of the formula.
    match unsafe { DenseCall::with_number(n, spec, inputs, outputs) } {
        Some(call) => Ok(Ready(Strategy::Dense(call))),
        // SAFETY: the caller promises E1 and E2, and that `spec` has a kernel of the formula.
        None => unsafe { bind_any(walk.iter(), spec, formula, inputs, outputs) },
    }
}

/// [`bind`] for all but the commonest calls.
///
/// # Safety
///
/// E1 and E2 of [`Executes`] for inputs and outputs, of which `iter` is the plan; `spec` has a kernel of the formula.
#[inline(never)]
unsafe fn bind_any(
    iter: &TensorIter,
    spec: &KernelSpec,
    formula: &FormulaTraits,
    inputs: &[Operand<'_>],
    outputs: &Outputs<'_>,
) -> Result<Ready> {
    // SAFETY: the caller promises E1 and E2, and that `spec` has a kernel of the formula.
    if let Some(call) = unsafe { DenseCall::new(iter, spec, inputs, outputs) } {
        return Ok(Ready(Strategy::Dense(call)));
    }
    let alike = formula.tuning.integers_alike;
    if !formula.fault
        // SAFETY: the caller promises E1 and E2, and that `spec` has a kernel of the formula, which has no faults.
        && let Some(table) = unsafe { SmallDomainTable::new(iter, spec, alike, inputs, outputs) }
    {
        return Ok(Ready(Strategy::SmallDomain(table)));
    }
    // SAFETY: the caller promises E1 and E2, and that `spec` has a kernel of the formula.
    if let Some(call) = unsafe { RowsCall::new(iter, spec, inputs, outputs) } {
        return Ok(Ready(Strategy::Rows(call)));
    }
    // SAFETY: the caller promises E1 and E2, and that `spec` has a kernel of the formula.
    if let Some(call) = unsafe { StagedCall::new(iter, spec, inputs, outputs) } {
        return Ok(Ready(Strategy::Staged(call)));
    }
    // SAFETY: the caller promises E1 and E2, and that `spec` has a kernel of the formula.
    Ok(Ready(Strategy::Driver(unsafe { drive(iter, spec, inputs, outputs) })))
}

/// A call by the driver.
///
/// # Safety
///
/// E1 and E2 of [`Executes`] for inputs and outputs, of which `iter` is the plan; `spec` has a kernel of the formula.
#[inline(never)]
unsafe fn drive(iter: &TensorIter, spec: &KernelSpec, inputs: &[Operand<'_>], outputs: &Outputs<'_>) -> Driver {
    // SAFETY: the caller promises E2.
    let bases = unsafe { bases(inputs, outputs) };
    // SAFETY: D1: the bases are those of the operands that `iter` is the plan of (E1); D2: the stagers of `spec` bring
    // operands to the dtypes that its kernel takes.
    unsafe { Driver::new(iter, spec, bases) }
}
