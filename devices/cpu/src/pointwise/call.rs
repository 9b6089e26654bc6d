//! A pointwise call bound to memory. The generic part is a shell: it asks for a body and keeps the parameters.

use super::body::Body;
use super::classes::as_f32;
use super::driver::{Base, Driver, MAX};
use super::few::Few;
use super::flat::Flat;
use super::kernels::Kernels;
use super::rows::{Planar, Walks};
use super::taking::Taking;
use super::tiled::Tiled;
use crate::device::Cpu;
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, ErrorKind, Result};
use monomorph_iter::TensorIter;
use monomorph_ops::pointwise::{
    DomainSet, Operands, OutputKind, Outputs as _, Pointwise, PointwiseInputs, PointwisePlan, Walk,
};
use smallvec::SmallVec;

/// A pointwise call bound to memory: pointers and kernel body. It may be moved between runs.
pub struct Ready(How);

/// How the elements are computed.
#[allow(clippy::large_enum_variant, reason = "a box would be an allocation in calls that otherwise make one")]
enum How {
    /// By one call of the body.
    Flat(Flat),
    /// By one call of the body, row after row.
    Planar(Planar),
    /// By as many values as there are.
    Few(Few),
    /// By one call, of operands that are staged whole.
    Tiled(Tiled),
    /// By any number of them.
    Driver(Driver),
}

/// What the shell knows of a formula.
struct Shape {
    kind: OutputKind,
    masks: u8,
    light: bool,
    walks: Walks,
    words: &'static str,
    as_f32: fn(DType) -> bool,
    fault: bool,
    alike: bool,
}

// SAFETY: the driver reads elements of the inputs and writes elements of the output only, within the geometry that the plan
// was made for, and `for_each` reaches every element of it.
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
        const { assert!(F::Operands::COUNT < MAX, "a pointwise operator has at most 7 operands") };
        let shape = Shape {
            kind: F::Out::KIND,
            masks: F::Operands::MASKS as u8,
            light: F::LIGHT,
            walks: const { Walks::of::<F>() },
            words: F::Domain::WORDS,
            as_f32: as_f32::<F>,
            fault: F::FAULT,
            alike: F::INTEGERS_ALIKE,
        };
        // SAFETY: E1, E2 are passed on; `lookup` gives bodies of this formula.
        unsafe { bind(plan.walk(), plan.compute(), &shape, F::lookup, inputs.operands(), outputs) }
    }

    #[inline]
    unsafe fn run(ready: &mut Self::Ready, plan: &PointwisePlan<F::Params>) -> Result<()> {
        let params = std::ptr::from_ref(plan.params()).cast();
        match &ready.0 {
            // SAFETY: E2: the memory is still borrowed. K4: these are the formula's parameters.
            How::Flat(flat) => unsafe { flat.run(params) },
            // SAFETY: the same.
            How::Planar(planar) => unsafe { planar.run(params) },
            // SAFETY: the same; E3: it is the plan's iteration.
            How::Few(few) => unsafe { few.run(plan.iter(), params) },
            // SAFETY: as above.
            How::Tiled(tiled) => unsafe { tiled.run(plan.iter(), params) },
            // SAFETY: as above.
            How::Driver(driver) => unsafe { driver.run(plan.iter(), params) },
        }
    }
}

/// Chooses body and lanes and resolves pointers.
///
/// # Safety
///
/// E1, E2 of [`Executes`], and `lookup` gives bodies of the formula that `shape` describes.
unsafe fn bind(
    walk: &Walk,
    compute: Option<DType>,
    shape: &Shape,
    lookup: fn(DType, crate::isa::Level) -> Option<Body>,
    inputs: &[Operand<'_>],
    outputs: &Outputs<'_>,
) -> Result<Ready> {
    let level = crate::level()?;
    let common = compute.unwrap_or(DType::F32);
    let what = "no kernel is compiled for";
    let none = || ErrorKind::DTypeNotSupported { what, got: common, accepted: shape.words };
    let compute = if (shape.as_f32)(common) { DType::F32 } else { common };
    let body = lookup(compute, level).ok_or_else(none)?;
    let walks = shape.walks.taken(compute, level);
    let taking =
        Taking { body, kind: shape.kind, masks: shape.masks, light: shape.light, walks, common, compute, level };
    if let Some(uniform) = walk.uniform()
        && Flat::suits(uniform, &taking, inputs)
    {
        // SAFETY: E1, E2 are passed on, and this is the formula's body.
        if let Some(ins) = unsafe { Flat::tensors(inputs, outputs) } {
            return Ok(Ready(How::Flat(Flat::of(body, outputs, uniform.numel(), ins))));
        }
        // SAFETY: as above.
        return unsafe { bind_number(walk, uniform.numel(), &taking, shape, inputs, outputs) };
    }
    // SAFETY: as above.
    unsafe { bind_any(walk.iter(), &taking, shape, inputs, outputs) }
}

/// What [`bind`] does where an input may be a number.
///
/// # Safety
///
/// As for [`Flat::new`].
#[inline(never)]
unsafe fn bind_number(
    walk: &Walk,
    n: usize,
    taking: &Taking,
    shape: &Shape,
    inputs: &[Operand<'_>],
    outputs: &Outputs<'_>,
) -> Result<Ready> {
    // SAFETY: as for this function.
    match unsafe { Flat::with_number(n, taking, inputs, outputs) } {
        Some(flat) => Ok(Ready(How::Flat(flat))),
        // SAFETY: as above.
        None => unsafe { bind_any(walk.iter(), taking, shape, inputs, outputs) },
    }
}

/// What [`bind`] does with all but the commonest calls.
///
/// # Safety
///
/// As for [`Flat::new`].
#[inline(never)]
unsafe fn bind_any(
    iter: &TensorIter,
    taking: &Taking,
    shape: &Shape,
    inputs: &[Operand<'_>],
    outputs: &Outputs<'_>,
) -> Result<Ready> {
    // SAFETY: as for this function.
    if let Some(flat) = unsafe { Flat::new(iter, taking, inputs, outputs) } {
        return Ok(Ready(How::Flat(flat)));
    }
    if !shape.fault
        // SAFETY: as above.
        && let Some(few) = unsafe { Few::new(iter, taking, shape.alike, inputs, outputs) }
    {
        return Ok(Ready(How::Few(few)));
    }
    // SAFETY: as above.
    if let Some(planar) = unsafe { Planar::new(iter, taking, inputs, outputs) } {
        return Ok(Ready(How::Planar(planar)));
    }
    // SAFETY: as above.
    if let Some(tiled) = unsafe { Tiled::new(iter, taking, inputs, outputs) } {
        return Ok(Ready(How::Tiled(tiled)));
    }
    // SAFETY: as above.
    Ok(Ready(How::Driver(unsafe { drive(iter, taking, inputs, outputs) })))
}

/// The general way.
///
/// # Safety
///
/// As for [`Flat::new`].
#[inline(never)]
unsafe fn drive(iter: &TensorIter, taking: &Taking, inputs: &[Operand<'_>], outputs: &Outputs<'_>) -> Driver {
    // SAFETY: passed on.
    let bases = unsafe { bases(inputs, outputs) };
    // SAFETY: the bases are those of the plan's operands (E1), the lanes end in the dtypes that the body takes.
    unsafe { Driver::new(iter, taking, bases) }
}

/// Where the operands begin, output first.
///
/// # Safety
///
/// E2 of [`Executes`].
pub(super) unsafe fn bases(inputs: &[Operand<'_>], outputs: &Outputs<'_>) -> SmallVec<[Base; 4]> {
    let base = |input: &Operand<'_>| match input {
        // SAFETY: E2: the storage is borrowed as long as the result lives.
        Operand::Tensor(tensor) => Some(Base::At(unsafe { tensor.data() })),
        Operand::Number(number) => Some(Base::number(number.bytes())),
        // The plan refuses absent operands.
        Operand::Absent => None,
    };
    std::iter::once(Base::At(outputs.data(0))).chain(inputs.iter().filter_map(base)).collect()
}
