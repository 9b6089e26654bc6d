//! A reduction bound to memory. Only the look-up of its kernels is generic over the fold.

use super::driver::{Driver, Input};
use super::fold_kernels::FoldKernels;
use super::identity_fill::IdentityFill;
use super::kernels::Kernels;
use super::layout::Layout;
use super::output::OutputStagers;
use crate::cast::Bits;
use crate::device::Cpu;
use crate::isa::Level;
use crate::left_out::no_kernel;
use crate::pointwise::OperandBase;
use crate::staging::Stager;
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, ErrorKind, Geometry, Result};
use monomorph_ops::reduce::{Numbers, Reduce, ReduceInputs, ReducePlan, TypedRule};
use smallvec::SmallVec;

/// A reduction bound to memory: pointers, layout, kernels. It may be moved between runs.
pub struct Ready(Action);

/// What a run does.
#[allow(
    clippy::large_enum_variant,
    reason = "the large one is that of nearly every call, which a box would allocate for"
)]
enum Action {
    /// Reduces the elements of the input.
    Fold { driver: Driver, input: OperandBase },
    /// Writes the result of no element to every element of the outputs.
    IdentityFill(IdentityFill),
    /// The input and the outputs have no element.
    Nothing,
}

// SAFETY: whatever `F` is, memory is touched by way of what types of closed sets and this crate decide.
//
// * The operator is `Reduce`, which no other crate implements: `operands` gives the one operand there is, and `meta`
//   plans by `TypedRule::of::<F>()`, in which the number and the dtypes of the outputs are those of `F::Results`, and
//   the compute dtypes those of `F::Domain`; both are sealed. What the author of `F` writes as `F::RULE` only decides
//   which calls are errors and whether elements are numbered in row-major order.
// * The kernels are those of `F` (`Kernels` is unsafe to implement). They keep accumulators in lanes as `LaneParts` of
//   `parts.rs`, which depend on `F::Accumulator`, sealed as well, and the dtype alone, and of which any has room in
//   any lane: those of a fold that shares its loops are of the same types, as `fold_kernels.rs` demands; and they store
//   results as `F::Results` says. The methods of the fold itself take and give values: whatever they compute, only
//   numbers depend on it.
// * The driver reads elements of the input and writes elements of the outputs only, within the iteration of the plan.
//   Every output element belongs to a task, each of which ends with the store of its outputs; of a reduction over
//   nothing, every one is filled, or `ready` fails.
unsafe impl<F, W: 'static> Executes<Reduce<F, W>> for Cpu
where
    F: Kernels<W>,
{
    type Ready = Ready;

    #[inline]
    unsafe fn ready(plan: &ReducePlan, inputs: &ReduceInputs<'_, F>, outputs: &Outputs<'_>) -> Result<Ready> {
        let input = match inputs.operand() {
            // SAFETY: the storage stays borrowed until the result is dropped (E2).
            Operand::Tensor(tensor) => OperandBase::Memory(unsafe { tensor.data() }),
            Operand::Number(number) => OperandBase::number(number.bytes()),
            Operand::Absent => {
                let rule = "argument self is absent; a reduction needs a tensor";
                return Err(ErrorKind::ArgumentRule { rule }.into());
            }
        };
        // SAFETY: E1 and E2 are the caller's promise; `lookup` gives the kernels of this fold, whose rule this is.
        unsafe { bind(plan, F::lookup, const { &TypedRule::of::<F>() }, (input, inputs.numbers()), outputs) }
    }

    #[inline]
    unsafe fn run(ready: &mut Ready, _: &ReducePlan) -> Result<()> {
        // SAFETY: the storages of all operands are still borrowed, the outputs' for writing (E2).
        unsafe { ready.run() };
        Ok(())
    }
}

/// Chooses kernels, layout and lanes, and resolves pointers.
///
/// # Safety
///
/// E1, E2 of [`Executes`], but that the first element of the input is at `input`; `lookup` gives the kernels of the
/// fold that the rule is of.
pub(super) unsafe fn bind(
    plan: &ReducePlan,
    lookup: fn(DType, Level) -> Option<FoldKernels>,
    rule: &'static TypedRule,
    (input, numbers): (OperandBase, Option<Numbers>),
    outputs: &Outputs<'_>,
) -> Result<Ready> {
    let (iter, kinds) = (plan.iter(), rule.results());
    let numbers = numbers.unwrap_or_default();
    // Without elements there is no layout: the sizes of the others need not have a product. And meta lets a dtype
    // outside of the domain pass where there is no result either.
    if iter.numel() == 0 && outputs.geometry(0).numel() == 0 {
        return Ok(Ready(Action::Nothing));
    }
    let level = crate::level()?;
    let compute = plan.compute().unwrap_or(iter.common_dtype());
    let kernels = lookup(compute, level).ok_or_else(|| no_kernel(compute, rule.words()))?;
    let output = OutputStagers::new(iter, kinds, compute, level);
    let mut outs = [std::ptr::null_mut(); 2];
    for (k, out) in outs.iter_mut().enumerate().take(kinds.len()) {
        *out = outputs.data(k);
    }
    if iter.numel() == 0 {
        let written: SmallVec<[&Geometry; 2]> = (0..kinds.len()).map(|k| outputs.geometry(k)).collect();
        return Ok(Ready(Action::IdentityFill(IdentityFill::new(kernels, output, numbers, outs, &written)?)));
    }
    let from = kinds.len();
    let stager = Stager::input(
        iter.dtype(from),
        compute,
        Bits::of(iter.dtype(from), iter.is_conj(from), iter.is_neg(from)),
        level,
    );
    let layout = Layout::new(iter, &stager, kernels.parts, rule.is_indexed());
    let serial = iter.must_be_serial();
    Ok(Ready(Action::Fold { driver: Driver { layout, kernels, stager, output, outs, serial, numbers }, input }))
}

impl Ready {
    /// The driver, if there are elements.
    pub(super) fn driver(&self) -> Option<&Driver> {
        match &self.0 {
            Action::Fold { driver, .. } => Some(driver),
            _ => None,
        }
    }

    /// The same, to change how it is cut.
    pub(super) fn driver_mut(&mut self) -> Option<&mut Driver> {
        match &mut self.0 {
            Action::Fold { driver, .. } => Some(driver),
            _ => None,
        }
    }

    /// # Safety
    ///
    /// The operands are borrowed as `ready` was promised.
    pub(super) unsafe fn run(&self) {
        match &self.0 {
            // SAFETY: the operands are borrowed, and `input` points to the first element of the one that the layout
            // was made for; there is an element.
            Action::Fold { driver, input } => unsafe { driver.run(Input::Memory(input.pointer())) },
            // SAFETY: the outputs are borrowed for writing.
            Action::IdentityFill(fill) => unsafe { fill.run() },
            Action::Nothing => {}
        }
    }
}
