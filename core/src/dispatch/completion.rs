//! Completion of a backend that has only the out= kernel of an operator: checks and shapes by the operator's meta
//! kernel, memory by the backend's own `empty_strided`, and then the out= kernel. Owns these three steps, for every
//! operator alike, and those before an out= kernel that is written by hand.

use super::handle::OperatorHandle;
use super::kernel::Frame;
use super::key::{Backend, DispatchKey};
use super::set::{KeyGuard, KeySet};
use crate::dtype::Element;
use crate::error::{DispatchError, ErrorKind, Result};
use crate::options::DeviceId;
use crate::storage::Device;
use crate::tensor::{AnyTensor, Tensor};
use crate::value::{IValue, Stack};
use crate::with_element;
use std::collections::HashMap;

/// The boxed kernel at the key `Common` of a backend.
pub(super) fn complete(frame: &Frame<'_>, stack: &mut Stack) -> Result<()> {
    let Some(backend) = frame.key.backend() else { return Err(DispatchError::NotDefined.into()) };
    let Some(out) = frame.handle.completed_by() else { return Err(DispatchError::NotDefined.into()) };
    let device = stack.iter().flat_map(IValue::tensors).map(AnyTensor::device).find(|d| d.kind == backend.kind());
    let device = device.unwrap_or(DeviceId { kind: backend.kind(), index: 0 });

    let shapes = frame.shapes(stack)?.ok_or(DispatchError::NotDefined)?;

    let all: KeySet = Backend::all().map(DispatchKey::common).collect();
    let _excluded = KeyGuard::exclude(all);
    let mut outs = Vec::with_capacity(shapes.len());
    for (shape, written) in shapes.iter().zip(frame.schema.written_positions()) {
        outs.push(match (written.and_then(|position| stack.get(position)), shape.as_tensor()) {
            (Some(argument), _) => argument.clone(),
            (None, Some(shape)) => allocated(frame, shape, device)?,
            (None, None) => shape.clone(),
        });
    }
    let mut args: Stack = stack.iter().cloned().chain(outs).collect();
    out.redispatch(KeySet::of(DispatchKey::dense(backend)), &mut args)?;
    *stack = args;
    Ok(())
}

impl Frame<'_> {
    /// What the operator's meta kernel says to these arguments: its results, or its error. Nothing if it has no meta
    /// kernel of its own.
    pub fn shapes(&self, stack: &Stack) -> Result<Option<Stack>> {
        if !self.handle.has_own(DispatchKey::META) {
            return Ok(None);
        }
        let mut dry = OnMeta::default();
        let mut shapes: Stack = stack.iter().map(|value| dry.value(value)).collect();
        self.handle.redispatch(KeySet::of(DispatchKey::META), &mut shapes)?;
        Ok(Some(shapes))
    }
}

/// What comes before an out= kernel of device `D` that leaves all but computing to the operator's meta kernel.
pub(super) fn after_meta<D: Device>(
    frame: &Frame<'_>,
    stack: &mut Stack,
    kernel: impl FnOnce(&mut Stack) -> Result<()>,
) -> Result<()> {
    let on_device = |t: &&AnyTensor| t.device().kind == D::KIND;
    let first = stack.iter().flat_map(IValue::tensors).find(on_device);
    let want = first.map_or(DeviceId { kind: D::KIND, index: 0 }, AnyTensor::device);
    let mut arguments = Stack::with_capacity(stack.len());
    for (argument, value) in frame.schema.args().zip(&*stack) {
        arguments.push(match value {
            IValue::Tensor(t) if t.device().is_cpu() && want.kind != t.device().kind && t.ndim() == 0 => {
                Tensor::<D>::from_any(t, want.index)?.into()
            }
            number if argument.ty().is_tensor() && !argument.ty().is_list() => match number.to_scalar() {
                Some(number) => with_element!(number.dtype(), T => {
                    let one = Tensor::<D>::from_slice_on(want.index, &[T::from_scalar(number)], ())?;
                    one.with_geometry(one.geometry().clone().with_wrapped(true))?.into()
                }),
                None => value.clone(),
            },
            _ => value.clone(),
        });
    }
    for (position, tensor) in arguments.iter().enumerate().flat_map(|(i, v)| v.tensors().map(move |t| (i, t))) {
        if tensor.device() != want {
            let arg = format!("number {position}").into();
            return Err(ErrorKind::DeviceMismatch { arg, got: tensor.device(), want }.into());
        }
    }
    let mut dry = OnMeta::default();
    let mut shapes: Stack = arguments.iter().map(|value| dry.value(value)).collect();
    frame.handle.redispatch(KeySet::of(DispatchKey::META), &mut shapes)?;
    for (shape, position) in shapes.iter().zip(frame.schema.written_positions()) {
        let written = position.and_then(|position| arguments.get_mut(position)).and_then(IValue::as_tensor_mut);
        if let (Some(shape), Some(written)) = (shape.as_tensor(), written)
            && shape.sizes() != written.sizes()
        {
            written.grow_to(shape.geometry().clone())?;
        }
    }
    kernel(&mut arguments)?;
    *stack = arguments;
    Ok(())
}

/// Arguments with meta tensors in place of their tensors. Tensors that share a storage share one there, too: the meta
/// kernel has to see what overlaps.
#[derive(Default)]
pub(super) struct OnMeta {
    /// The first meta tensor of each storage.
    seen: HashMap<usize, AnyTensor>,
}

impl OnMeta {
    pub(super) fn value(&mut self, value: &IValue) -> IValue {
        match value {
            IValue::Tensors(list) => IValue::Tensors(list.iter().map(|t| self.tensor(t)).collect()),
            IValue::OptionalTensors(list) => {
                IValue::OptionalTensors(list.iter().map(|t| t.as_ref().map(|t| self.tensor(t))).collect())
            }
            IValue::Device(_) => IValue::Device(DeviceId::META),
            other => other.as_tensor().map_or_else(|| other.clone(), |t| self.tensor(t).into()),
        }
    }

    fn tensor(&mut self, tensor: &AnyTensor) -> AnyTensor {
        let known = self.seen.get(&tensor.storage_id());
        if let Some(shared) = known.and_then(|first| first.with_geometry(tensor.geometry().clone()).ok()) {
            return shared;
        }
        let first = tensor.to_meta();
        self.seen.entry(tensor.storage_id()).or_insert_with(|| first.clone());
        first
    }
}

/// A tensor like `shape`, by the backend's own `empty_strided`.
fn allocated(frame: &Frame<'_>, shape: &AnyTensor, device: DeviceId) -> Result<IValue> {
    let empty: OperatorHandle = frame.dispatcher().find("empty_strided")?;
    let geometry = shape.geometry();
    let sizes = IValue::Ints(geometry.sizes().to_vec());
    let strides = IValue::Ints(geometry.strides().to_vec());
    let mut stack: Stack = vec![sizes, strides, geometry.dtype().into(), IValue::None, device.into()];
    empty.call(&mut stack)?;
    Ok(stack.pop().unwrap_or_default())
}
