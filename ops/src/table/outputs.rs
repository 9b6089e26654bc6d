//! The outputs of boxed forms: written arguments taken off the stack, and functional results brought into them.

use super::register::{device_error, kind_error};
use monomorph_core::overlap::{self, Internal};
use monomorph_core::{AnyTensor, Device, ErrorKind, Geometry, IValue, Result, Tensor, strides};

/// Tensor arguments taken off the stack to be written, put back when dropped: also where the call fails.
pub struct Written<'a> {
    slots: &'a mut [IValue],
    tensors: Vec<AnyTensor>,
}

impl<'a> Written<'a> {
    /// Takes the tensors of `slots`; an error, and nothing taken, if one is none.
    pub fn take(slots: &'a mut [IValue], first: usize) -> Result<Written<'a>> {
        if let Some(i) = slots.iter().position(|v| !matches!(v, IValue::Tensor(_))) {
            return Err(kind_error(&slots[i], first + i, "out", "Tensor"));
        }
        let take = |v: &mut IValue| if let IValue::Tensor(t) = std::mem::take(v) { Some(t) } else { None };
        let tensors = slots.iter_mut().filter_map(take).collect();
        Ok(Written { slots, tensors })
    }

    /// The tensors as `N` on device `D`.
    pub fn typed<D: Device, const N: usize>(&mut self) -> Result<[&mut Tensor<D>; N]> {
        for t in &self.tensors {
            if t.device().kind != D::KIND {
                return Err(device_error::<D>(t, "out"));
            }
        }
        let typed: Vec<&mut Tensor<D>> = self.tensors.iter_mut().filter_map(AnyTensor::downcast_mut).collect();
        typed.try_into().map_err(|_| ErrorKind::ListLength { arg: "out", got: 0, want: N }.into())
    }

    /// The tensors as results.
    pub fn results(&self) -> Vec<IValue> {
        self.tensors.iter().cloned().map(IValue::Tensor).collect()
    }
}

impl Drop for Written<'_> {
    fn drop(&mut self) {
        for (slot, tensor) in self.slots.iter_mut().zip(self.tensors.drain(..)) {
            *slot = IValue::Tensor(tensor);
        }
    }
}

/// A list of tensors taken off the stack to be written, put back when dropped.
pub struct WrittenList<'a> {
    slot: &'a mut IValue,
    tensors: Vec<AnyTensor>,
}

impl<'a> WrittenList<'a> {
    /// Takes the tensors of `slot`, argument number `position` of the schema; an error, and nothing taken, if it is no list of them.
    pub fn take(slot: &'a mut IValue, position: usize) -> Result<WrittenList<'a>> {
        match std::mem::take(slot) {
            IValue::Tensors(tensors) => Ok(WrittenList { slot, tensors }),
            IValue::List(list) if list.is_empty() => Ok(WrittenList { slot, tensors: Vec::new() }),
            other => {
                let error = kind_error(&other, position, "out", "Tensor[]");
                *slot = other;
                Err(error)
            }
        }
    }

    /// The tensors on device `D`.
    pub fn typed<D: Device>(&mut self) -> Result<Vec<&mut Tensor<D>>> {
        if let Some(t) = self.tensors.iter().find(|t| t.device().kind != D::KIND) {
            return Err(device_error::<D>(t, "out"));
        }
        Ok(self.tensors.iter_mut().filter_map(AnyTensor::downcast_mut).collect())
    }
}

impl Drop for WrittenList<'_> {
    fn drop(&mut self) {
        *self.slot = IValue::Tensors(std::mem::take(&mut self.tensors));
    }
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
    let g = tensor.geometry();
    let geometry = Geometry::new(g.dtype(), sizes, &strides::contiguous_strides(sizes), g.offset())?
        .with_conj(g.is_conj())
        .with_neg(g.is_neg());
    tensor.grow_to(geometry)
}
