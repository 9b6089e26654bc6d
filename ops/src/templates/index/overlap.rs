//! What the output of an index operator may share memory with.

use super::inputs::IndexInputs;
use monomorph_core::overlap::{self, Internal, Place, Shared};
use monomorph_core::structured::{Operand, SinkState};
use monomorph_core::{ErrorKind, Geometry, Result};

/// Refuses an output that reaches an element twice, and one that shares memory with an operand: `apart` lists those
/// that it may share nothing with, `in_step` those that it may be element for element. The answer is whether the
/// output has to be written by one thread.
pub(super) fn check(
    inputs: &IndexInputs<'_>,
    sink: &SinkState<'_>,
    apart: &[usize],
    in_step: &[usize],
) -> Result<bool> {
    check_operands(inputs.operands(), sink, apart, in_step)
}

/// The same for any list of operands.
pub(super) fn check_operands(
    operands: &[Operand<'_>],
    sink: &SinkState<'_>,
    apart: &[usize],
    in_step: &[usize],
) -> Result<bool> {
    if let Some(written) = sink.written(0).filter(|_| sink.existing(0).is_some()) {
        check_single(written)?;
    }
    apart_from(operands, sink, apart, in_step)
}

/// An error for an output that reaches an element twice.
pub(super) fn check_single(output: &Geometry) -> Result<()> {
    if overlap::internal(output.sizes(), output.strides()) != Internal::Yes {
        return Ok(());
    }
    let (sizes, strides) = (output.sizes().to_vec(), output.strides().to_vec());
    Err(ErrorKind::InternalOverlap { index: 0, sizes, strides }.into())
}

/// The same for an output that may reach an element twice.
pub(super) fn check_apart(
    inputs: &IndexInputs<'_>,
    sink: &SinkState<'_>,
    apart: &[usize],
    in_step: &[usize],
) -> Result<bool> {
    apart_from(inputs.operands(), sink, apart, in_step)
}

fn apart_from(operands: &[Operand<'_>], sink: &SinkState<'_>, apart: &[usize], in_step: &[usize]) -> Result<bool> {
    let (Some(out), Some(written)) = (sink.existing(0), sink.written(0)) else { return Ok(false) };
    let internal = overlap::internal(written.sizes(), written.strides());
    let place = Place::of(out, written);
    let shared = |i: usize| {
        let tensor = operands.get(i).and_then(Operand::tensor);
        tensor.map_or(Shared::None, |t| overlap::shared(&place, &Place::of(t, t.geometry())))
    };
    for &i in apart {
        if matches!(shared(i), Shared::Partial | Shared::Full) {
            return Err(ErrorKind::Overlap { output: 0, other: format!("argument {i}") }.into());
        }
    }
    for &i in in_step {
        if shared(i) == Shared::Partial {
            return Err(ErrorKind::PartialOverlap { output: 0, other: format!("argument {i}") }.into());
        }
    }
    Ok(internal != Internal::No)
}
