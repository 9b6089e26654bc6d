//! Calls by name that go from one device to another: `copy_`, `copy` and the forms of `to`, as in PyTorch. Owns what
//! brings the tensors to one device; what is done there is the kernel's of that device.
//!
//! A typed function has one device; there [`Tensor::from_any`] moves a tensor.

use crate::table::finish;
use monomorph_core::dispatch::{Frame, KernelFunction, KeySet};
use monomorph_core::strides::{preserve_strides, strides_for};
use monomorph_core::{AnyTensor, Device, DeviceId, IValue, MemoryFormat, Result, Stack, Tensor};

/// A kernel that serves calls whose tensors are all on one device of type `D`.
pub trait Here: Fn(&mut Stack) -> Result<()> + Copy + Send + Sync + 'static {}
impl<F: Fn(&mut Stack) -> Result<()> + Copy + Send + Sync + 'static> Here for F {}

/// The kernel on `D` of an operator that copies its second argument to its first.
pub fn copying<D: Device>(here: impl Here) -> KernelFunction {
    KernelFunction::boxed(move |frame, stack| copied::<D>(frame, stack, here))
}

/// The kernel on `D` of an operator that makes a tensor on the device of an argument `device` or `other`.
pub fn moving<D: Device>(here: impl Here) -> KernelFunction {
    KernelFunction::boxed(move |frame, stack| moved::<D>(frame, stack, here))
}

fn copied<D: Device>(frame: &Frame<'_>, stack: &mut Stack, here: impl Here) -> Result<()> {
    let tensor = |i: usize| stack.get(i).and_then(IValue::as_tensor);
    let (Some(this), Some(source)) = (tensor(0), tensor(1)) else { return here(stack) };
    let home = this.device();
    if home.kind != D::KIND {
        // The device that is written knows how.
        return frame.operator().redispatch(KeySet::of_device(home.kind), stack);
    }
    if source.device() == home {
        return here(stack);
    }
    let brought = Tensor::<D>::from_any(source, home.index)?;
    let source = std::mem::replace(&mut stack[1], brought.into());
    let done = here(stack);
    if done.is_err() {
        stack[1] = source;
    }
    done
}

fn moved<D: Device>(frame: &Frame<'_>, stack: &mut Stack, here: impl Here) -> Result<()> {
    let Some(this) = stack.first().and_then(IValue::as_tensor) else { return here(stack) };
    let arguments = Arguments { frame, stack };
    let other = arguments.of("other").as_tensor();
    let device = match (arguments.of("device"), other) {
        (IValue::Device(device), _) => *device,
        (_, Some(other)) => other.device(),
        _ => this.device(),
    };
    if this.device().kind == D::KIND && device == this.device() {
        return here(stack);
    }
    let result = to_device(&arguments, this, other, device)?;
    let count = stack.len();
    finish(stack, count, [result.into()]);
    Ok(())
}

/// The arguments of a call by their names in the schema.
struct Arguments<'a> {
    frame: &'a Frame<'a>,
    stack: &'a Stack,
}

impl<'a> Arguments<'a> {
    fn of(&self, name: &str) -> &'a IValue {
        let place = self.frame.schema().args().position(|arg| arg.name() == name);
        place.and_then(|i| self.stack.get(i)).unwrap_or(&IValue::None)
    }
}

/// A new tensor on another device: made there, and copied to.
fn to_device(
    arguments: &Arguments<'_>,
    this: &AnyTensor,
    other: Option<&AnyTensor>,
    device: DeviceId,
) -> Result<AnyTensor> {
    let dtype = match (arguments.of("dtype"), other) {
        (IValue::DType(dtype), _) => *dtype,
        (_, Some(other)) => other.dtype(),
        _ => this.dtype(),
    };
    let strides = match arguments.of("memory_format") {
        IValue::MemoryFormat(format) if *format != MemoryFormat::Preserve => strides_for(this.sizes(), *format)?,
        _ => preserve_strides(this.sizes(), this.strides()),
    };
    let [sizes, strides] = [this.sizes(), &strides].map(|list| IValue::Ints(list.to_vec()));
    let pinned = arguments.of("pin_memory").clone();
    let mut made: Stack = vec![sizes, strides, dtype.into(), IValue::None, device.into(), pinned];
    let dispatcher = arguments.frame.dispatcher();
    dispatcher.call("empty_strided", &mut made)?;
    made.extend([this.clone().into(), arguments.of("non_blocking").clone()]);
    dispatcher.call("copy_", &mut made)?;
    let result = made.pop().and_then(IValue::into_tensor);
    result.ok_or_else(|| monomorph_core::ErrorKind::ResultCount { got: 0, want: 1 }.into())
}
