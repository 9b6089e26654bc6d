//! What the arguments of a call say of devices: the keys that they bring, the device that they are on, and the call
//! with that device current.

use super::key::DispatchKey;
use super::operator::{Defined, Slot};
use super::set::KeySet;
use crate::error::{ErrorKind, Result};
use crate::options::DeviceId;
use crate::tensor::AnyTensor;
use crate::value::IValue;

/// The device of the first tensor; an error if the slot asks for one device and there are two.
pub(super) fn checked_device(
    slot: &Slot,
    each: impl FnOnce(&mut dyn FnMut(&AnyTensor) -> Result<()>) -> Result<()>,
) -> Result<Option<DeviceId>> {
    let mut first = None;
    let mut position = 0;
    each(&mut |tensor| {
        let (got, want) = (tensor.device(), *first.get_or_insert(tensor.device()));
        position += 1;
        if slot.check && got != want {
            let arg = format!("tensor number {position}").into();
            return Err(ErrorKind::DeviceMismatch { arg, got, want }.into());
        }
        Ok(())
    })?;
    Ok(first)
}

/// Calls with the device current, if the slot asks for that.
pub(super) fn within<R>(slot: &Slot, device: Option<DeviceId>, call: impl FnOnce() -> R) -> R {
    match (slot.within, device) {
        (Some(within), Some(device)) => {
            let mut call = Some(call);
            let mut result = None;
            within(device.index, &mut || result = call.take().map(|call| call()));
            match result {
                Some(result) => result,
                None => unreachable!("`within` calls once"),
            }
        }
        _ => call(),
    }
}

/// The keys of a device argument; without one, the CPU's.
pub(super) fn keys_of_device(device: Option<DeviceId>) -> KeySet {
    KeySet::of_device(device.unwrap_or(DeviceId::CPU).kind)
}

/// The keys of boxed arguments: those of the tensors; the CPU's for numbers in place of tensors; those of the device
/// argument for a factory.
pub(super) fn keys_of_stack(defined: &Defined, stack: &[IValue]) -> KeySet {
    let mut keys = KeySet::EMPTY;
    if defined.flags.factory != Some(true) {
        for value in stack {
            match value {
                IValue::Tensor(t) => keys = keys | KeySet::of_device(t.device().kind),
                IValue::Tensors(_) | IValue::OptionalTensors(_) => {
                    keys = value.tensors().fold(keys, |keys, t| keys | KeySet::of_device(t.device().kind));
                }
                _ => {}
            }
        }
    }
    if !keys.is_empty() {
        return keys;
    }
    if defined.is_factory() {
        let named = stack.iter().find_map(|v| if let IValue::Device(d) = v { Some(*d) } else { None });
        return keys_of_device(named);
    }
    // Numbers in place of tensors are the CPU's. So is what is no tensor at all: its kernel says so.
    let empty = |value: &IValue| match value {
        IValue::None => true,
        IValue::Tensors(list) => list.is_empty(),
        IValue::OptionalTensors(list) => list.is_empty(),
        IValue::List(list) => list.is_empty(),
        _ => false,
    };
    let present = |(arg, value): (&crate::schema::Argument, &IValue)| {
        arg.ty().is_tensor() && !(empty(value) && (arg.ty().is_list() || arg.ty().is_optional()))
    };
    match defined.schema.args().zip(stack).any(present) {
        true => KeySet::of(DispatchKey::CPU),
        false => KeySet::EMPTY,
    }
}
