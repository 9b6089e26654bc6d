//! Functional results brought into the caller's outputs.

use super::stack::{device_error, kind_error};
use monomorph_core::overlap::{self, Internal};
use monomorph_core::{AnyTensor, Device, ErrorKind, Geometry, IValue, Result, Tensor, strides};

/// A list of tensors on device `D` to be written, argument number `position` of the schema.
pub fn written_list<D: Device>(value: &mut IValue, position: usize) -> Result<Vec<&mut Tensor<D>>> {
    let list = match value {
        IValue::Tensors(list) => &mut list[..],
        IValue::List(list) if list.is_empty() => &mut [],
        other => return Err(kind_error(other, position, "out", "Tensor[]")),
    };
    if let Some(t) = list.iter().find(|t| t.device().kind != D::KIND) {
        return Err(device_error::<D>(t, "out"));
    }
    Ok(list.iter_mut().filter_map(AnyTensor::downcast_mut).collect())
}

/// Writes a functional result to an out= tensor, as the out= form of an operator that has only a functional kernel: the
/// dtype must be the same; the output is resized, then copied to.
pub fn write_out<D: Device>(result: &Tensor<D>, out: &mut Tensor<D>) -> Result<()> {
    if out.dtype() != result.dtype() {
        return Err(ErrorKind::OutputDType { index: 0, got: out.dtype(), want: result.dtype() }.into());
    }
    resize(out, result.sizes())?;
    out.copy_from(result)
}

/// [`write_out`] of what PyTorch's iterator makes: an output that is resized has the result's strides.
pub(crate) fn write_out_as_made<D: Device>(result: &Tensor<D>, out: &mut Tensor<D>) -> Result<()> {
    if out.dtype() == result.dtype() && out.sizes() != result.sizes() {
        restride(out, result.sizes(), result.strides())?;
    }
    write_out(result, out)
}

/// Writes each result to an out= tensor, as [`write_out`] does. What one of them would refuse is found before any is written.
pub fn write_outs<D: Device>(results: &[Tensor<D>], outs: &mut [&mut Tensor<D>]) -> Result<()> {
    check_outs(results, outs)?;
    for (index, (result, out)) in results.iter().zip(&mut *outs).enumerate() {
        if out.dtype() != result.dtype() {
            return Err(ErrorKind::OutputDType { index, got: out.dtype(), want: result.dtype() }.into());
        }
    }
    results.iter().zip(outs).try_for_each(|(result, out)| write_out(result, out))
}

/// Writes each result to an out= tensor that keeps its sizes and dtype: results are broadcast and converted. What one of them would
/// refuse is found before any is written.
pub fn copy_into<D: Device>(results: &[Tensor<D>], outs: &mut [&mut Tensor<D>]) -> Result<()> {
    check_outs(results, outs)?;
    for (index, (result, out)) in results.iter().zip(&mut *outs).enumerate() {
        let broadcast = strides::broadcast_sizes(out.sizes(), result.sizes())?;
        if broadcast.as_slice() != out.sizes() {
            return Err(ErrorKind::OutputSize { index, got: out.sizes().to_vec(), want: broadcast.to_vec() }.into());
        }
    }
    results.iter().zip(outs).try_for_each(|(result, out)| out.copy_from(result))
}

fn check_outs<D: Device>(results: &[Tensor<D>], outs: &[&mut Tensor<D>]) -> Result<()> {
    if results.len() != outs.len() {
        return Err(ErrorKind::ListLength { arg: "out", got: outs.len(), want: results.len() }.into());
    }
    let overlaps = |t: &Tensor<D>| overlap::internal(t.sizes(), t.strides()) == Internal::Yes;
    match outs.iter().position(|out| overlaps(out)) {
        Some(index) => {
            let (sizes, strides) = (outs[index].sizes().to_vec(), outs[index].strides().to_vec());
            Err(ErrorKind::InternalOverlap { index, sizes, strides }.into())
        }
        None => Ok(()),
    }
}

/// Gives a tensor other sizes, contiguous; its storage grows if it must. A tensor of these sizes stays as it is.
pub fn resize<D: Device>(tensor: &mut Tensor<D>, sizes: &[i64]) -> Result<()> {
    if tensor.sizes() == sizes {
        return Ok(());
    }
    restride(tensor, sizes, &strides::contiguous_strides(sizes))
}

fn restride<D: Device>(tensor: &mut Tensor<D>, sizes: &[i64], strides: &[i64]) -> Result<()> {
    let g = tensor.geometry();
    let geometry = Geometry::new(g.dtype(), sizes, strides, g.offset())?.with_conj(g.is_conj()).with_neg(g.is_neg());
    tensor.grow_to(geometry)
}
