//! A pointwise call bound to memory. The generic part is a shell: it asks for a body and keeps the parameters.

use super::body::{Body, kernel_dtype};
use super::driver::{Base, Driver, MAX};
use super::kernels::Kernels;
use crate::cast::Bits;
use crate::device::Cpu;
use crate::lane::Lane;
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, ErrorKind, Result};
use monomorph_iter::TensorIter;
use monomorph_ops::pointwise::{
    DomainSet, Operands, OutputKind, Outputs as _, Pointwise, PointwiseInputs, PointwisePlan,
};
use smallvec::SmallVec;

/// A pointwise call bound to memory: pointers, kernel body, parameters. It may be moved between runs.
pub struct Ready<P> {
    driver: Driver,
    params: P,
}

/// What the shell knows of a formula.
struct Shape {
    kind: OutputKind,
    masks: usize,
    words: &'static str,
}

// SAFETY: the driver reads elements of the inputs and writes elements of the output only, within the geometry that the plan
// was made for, and `for_each` reaches every element of it.
unsafe impl<F, W: 'static> Executes<Pointwise<F, W>> for Cpu
where
    F: Kernels<W>,
{
    type Ready = Ready<F::Params>;

    unsafe fn ready(
        plan: &PointwisePlan<F::Params>,
        inputs: &PointwiseInputs<'_, F>,
        outputs: &Outputs<'_>,
    ) -> Result<Self::Ready> {
        const { assert!(F::Operands::COUNT < MAX, "a pointwise operator has at most 7 operands") };
        let shape = Shape { kind: F::Out::KIND, masks: F::Operands::MASKS, words: F::Domain::WORDS };
        // SAFETY: E1, E2 are passed on; `lookup` gives bodies of this formula.
        let driver = unsafe { bind(plan.iter(), plan.compute(), &shape, F::lookup, inputs.operands(), outputs) }?;
        Ok(Ready { driver, params: plan.params().clone() })
    }

    unsafe fn run(ready: &mut Self::Ready) -> Result<()> {
        // SAFETY: E2: the memory is still borrowed. K4: these are the formula's parameters.
        unsafe { ready.driver.run((&raw const ready.params).cast()) }
    }
}

/// Chooses body and lanes and resolves pointers.
///
/// # Safety
///
/// E1, E2 of [`Executes`], and `lookup` gives bodies of the formula that `shape` describes.
unsafe fn bind(
    iter: &TensorIter,
    compute: Option<DType>,
    shape: &Shape,
    lookup: fn(DType, crate::isa::Level) -> Option<Body>,
    inputs: &[Operand<'_>],
    outputs: &Outputs<'_>,
) -> Result<Driver> {
    let level = crate::level()?;
    let compute = compute.unwrap_or(iter.common_dtype());
    let what = "no kernel is compiled for";
    let none = || ErrorKind::DTypeNotSupported { what, got: compute, accepted: shape.words };
    let body = lookup(compute, level).ok_or_else(none)?;
    let mut bases: SmallVec<[Base; 4]> = SmallVec::new();
    bases.push(Base::At(outputs.data(0)));
    for input in inputs {
        bases.push(match input {
            // SAFETY: E2: the storage is borrowed as long as the result lives.
            Operand::Tensor(tensor) => Base::At(unsafe { tensor.data() }),
            Operand::Number(number) => Base::number(*number.bytes()),
            // The plan refuses absent operands.
            Operand::Absent => continue,
        });
    }
    let lane = |k: usize| {
        let (dtype, want) = (iter.dtype(k), kernel_dtype(shape.kind, shape.masks, compute, k));
        let bits = Bits::of(dtype, iter.is_conj(k), iter.is_neg(k));
        if k == 0 { Lane::output(dtype, want, bits, level) } else { Lane::input(dtype, want, bits, level) }
    };
    // SAFETY: the bases are those of the plan's operands (E1), the lanes end in the dtypes that the body takes.
    Ok(unsafe { Driver::new(iter, body, bases, lane, shape.masks) })
}
