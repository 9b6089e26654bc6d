//! The device of a call: that of all its tensors, and of what it declares. Owns the check; where a call then runs is
//! its caller's.

use super::operand::Operand;
use super::slot::Place;
use super::state::{SinkState, contract};
use crate::error::{Error, ErrorKind, Result};
use crate::options::{DeviceId, DeviceKind};
use crate::tensor::TensorRef;

/// Checks that the tensors of a call are on one device, of kind `kind`, and returns it; `None` if no tensor is on such
/// a device (there are only numbers, or 0-dim CPU tensors that may join any device).
#[inline]
pub(super) fn common_device(
    operands: &[Operand<'_>],
    state: &SinkState<'_>,
    cpu_scalars: bool,
    kind: DeviceKind,
) -> Result<Option<DeviceId>> {
    match &state.alike {
        Some(alike) if alike.device().kind == kind => Ok(Some(alike.device())),
        _ => device_of_each(operands, state, cpu_scalars, kind),
    }
}

/// [`common_device`] of tensors that are not alike.
#[inline(never)]
fn device_of_each(
    operands: &[Operand<'_>],
    state: &SinkState<'_>,
    cpu_scalars: bool,
    kind: DeviceKind,
) -> Result<Option<DeviceId>> {
    let mut first: Option<DeviceId> = None;
    let mut differ = 0;
    for slot in &*state.slots {
        if let Place::Existing(out) = &slot.place {
            differ |= out.device().bits() ^ first.get_or_insert(out.device()).bits();
        }
    }
    for operand in operands {
        if let Operand::Tensor(t) = operand {
            differ |= t.device().bits() ^ first.get_or_insert(t.device()).bits();
        }
    }
    match first {
        Some(device) if differ == 0 && device.kind == kind => Ok(first),
        _ => mixed_devices(operands, state, cpu_scalars, kind),
    }
}

/// [`common_device`] where not all tensors are on one device.
#[cold]
fn mixed_devices(
    operands: &[Operand<'_>],
    state: &SinkState<'_>,
    cpu_scalars: bool,
    kind: DeviceKind,
) -> Result<Option<DeviceId>> {
    let outputs = || (0..state.slots.len()).filter_map(|i| state.existing(i).map(|t| (i, t)));
    let inputs = || operands.iter().enumerate().filter_map(|(i, o)| o.tensor().map(|t| (i, t)));
    let may_stay = |t: &TensorRef<'_>| cpu_scalars && t.device().is_cpu() && t.geometry().ndim() == 0;
    let mut devices = outputs().chain(inputs()).map(|(_, t)| t.device());
    let Some(device) = devices.find(|d| d.kind == kind) else {
        // No tensor is where the call runs, so any that may not stay elsewhere is misplaced.
        let want = DeviceId { kind, index: 0 };
        return match inputs().find(|(_, t)| !may_stay(t)) {
            Some((i, t)) => Err(misplaced(format!("{i}"), t.device(), want)),
            None => Ok(None),
        };
    };
    if let Some((i, t)) = outputs().find(|(_, t)| t.device() != device) {
        return Err(misplaced(format!("out {i}"), t.device(), device));
    }
    match inputs().find(|(_, t)| t.device() != device && !may_stay(t)) {
        Some((i, t)) => Err(misplaced(format!("{i}"), t.device(), device)),
        None => Ok(Some(device)),
    }
}

#[cold]
fn misplaced(arg: String, got: DeviceId, want: DeviceId) -> Error {
    ErrorKind::DeviceMismatch { arg: arg.into(), got, want }.into()
}

/// The device on which the outputs were declared, which must be that of the operands where they have one. An error
/// unless every output was declared.
pub(super) fn declared_device(state: &SinkState<'_>, kind: DeviceKind, operands: Option<DeviceId>) -> Result<DeviceId> {
    let mut device = operands;
    let mut elsewhere = None;
    for (index, slot) in state.slots.iter().enumerate() {
        let Some(declared) = slot.declared else { return Err(contract(index, "did not declare an output")) };
        let want = *device.get_or_insert(declared);
        if declared != want || want.kind != kind {
            elsewhere = elsewhere.or(Some(index));
        }
    }
    match elsewhere {
        Some(index) => Err(contract(index, "declared an output on another device than that of the call")),
        None => Ok(device.unwrap_or(DeviceId { kind, index: 0 })),
    }
}
