//! Checks of calls by name that go from one device to another: between devices of the kind, and between them and the
//! CPU.

use super::{Registered, Subject, Verdict, device, ensure, geometry, ramp, refused, result, same, values};
use monomorph::{AnyTensor, Cpu, DType, DeviceId, ErrorKind, IValue, MemoryFormat, Meta, Stack, Tensor};

/// Each device of the kind, and the CPU.
fn places<S: Subject>() -> Vec<DeviceId> {
    let mut places: Vec<_> = (0..S::DEVICES).map(device::<S>).collect();
    if !places.contains(&DeviceId::CPU) {
        places.push(DeviceId::CPU);
    }
    places
}

/// 1, 2, 3 … of these sizes on one of the devices.
fn at<S: Subject>(place: DeviceId, dtype: DType, sizes: &[i64]) -> monomorph::Result<AnyTensor> {
    match place {
        DeviceId::CPU => Ok(ramp::<Cpu>(0, dtype, sizes)?.into_any()),
        place => Ok(ramp::<S::Device>(place.index, dtype, sizes)?.into_any()),
    }
}

/// `copy_` writes what is on another device, converted and broadcast; `copy` gives it.
pub fn copies_cross_devices<S: Subject>() -> Verdict {
    let registered = Registered::new::<S>()?;
    let call = |name: &str, stack: &mut Stack| registered.dispatcher.call(name, stack);
    for (to, from) in places::<S>().into_iter().flat_map(|to| places::<S>().into_iter().map(move |from| (to, from))) {
        let what = format!("from {from} to {to}");
        let (target, source) = (at::<S>(to, DType::F64, &[2, 3])?, at::<S>(from, DType::I32, &[3])?);
        let mut stack: Stack = vec![target.clone().into(), source.clone().into()];
        call("copy_", &mut stack)?;
        let written = result(stack)?;
        same(&(written.device(), written.storage_id()), &(to, target.storage_id()), &format!("copy_ {what}"))?;
        let numbers: Vec<f64> = values(&target)?.iter().map(|v| v.to_f64()).collect();
        same(&numbers, &vec![1.0, 2.0, 3.0, 1.0, 2.0, 3.0], &format!("what copy_ wrote {what}"))?;
        same(&(target.version(), source.version()), &(1, 0), &format!("versions behind copy_ {what}"))?;

        let mut stack: Stack = vec![at::<S>(to, DType::F32, &[3])?.into(), source.clone().into()];
        call("copy", &mut stack)?;
        let copied = result(stack)?;
        same(&(copied.device(), copied.dtype()), &(to, DType::F32), &format!("copy {what}"))?;

        // What does not fit is an error, wherever it is, and the arguments are where they were.
        let wrong = at::<S>(from, DType::I32, &[4])?;
        let mut stack: Stack = vec![target.clone().into(), wrong.clone().into(), false.into()];
        refused(call("copy_", &mut stack), &format!("copy_ of sizes that do not fit {what}"))?;
        let devices: Vec<_> = stack.iter().flat_map(IValue::tensors).map(|t| (t.device(), t.storage_id())).collect();
        let want = vec![(to, target.storage_id()), (from, wrong.storage_id())];
        same(&devices, &want, &format!("the arguments of a failed copy_ {what}"))?;
        same(&target.version(), &1, &format!("the version behind a failed copy_ {what}"))?;
    }
    Ok(())
}

/// Every form of `to` gives a tensor on the device that it names; the tensor itself where it is there.
pub fn tensors_move_between_devices<S: Subject>() -> Verdict {
    let registered = Registered::new::<S>()?;
    let none = || IValue::None;
    for (to, from) in places::<S>().into_iter().flat_map(|to| places::<S>().into_iter().map(move |from| (to, from))) {
        let base = at::<S>(from, DType::F32, &[3, 2])?;
        // Transposed: its strides are kept.
        let source = base.with_geometry(geometry(DType::F32, &[2, 3], &[1, 2], 0)?)?;
        let other = at::<S>(to, DType::F32, &[1])?;
        let (this, device) = (|| IValue::from(source.clone()), || IValue::Device(to));
        let forms: [(&str, Stack); 5] = [
            ("to.device", vec![this(), device(), DType::F32.into()]),
            ("to.dtype_layout", vec![this(), none(), none(), device()]),
            ("to.other", vec![this(), other.clone().into()]),
            ("type_as", vec![this(), other.into()]),
            ("_to_copy", vec![this(), none(), none(), device()]),
        ];
        for (name, mut stack) in forms {
            let what = format!("{name} from {from} to {to}");
            registered.dispatcher.call(name, &mut stack)?;
            let moved = result(stack)?;
            same(&(moved.device(), moved.dtype(), moved.strides()), &(to, DType::F32, &[1, 2][..]), &what)?;
            same(&values(&moved)?, &values(&source)?, &format!("the elements of {what}"))?;
            let itself = from == to && name != "_to_copy";
            same(&(moved.storage_id() == source.storage_id()), &itself, &format!("whether it stays, {what}"))?;
        }
        let format = IValue::MemoryFormat(MemoryFormat::Contiguous);
        let mut stack: Stack =
            vec![this(), DType::I64.into(), none(), device(), none(), false.into(), true.into(), format];
        registered.dispatcher.call("to.dtype_layout", &mut stack)?;
        let moved = result(stack)?;
        same(&(moved.device(), moved.dtype(), moved.strides()), &(to, DType::I64, &[3, 1][..]), "to with all options")?;
    }
    let lost: Stack = vec![Tensor::<Meta>::zeros_contiguous(DType::F32, &[2])?.into()];
    for place in places::<S>() {
        let mut there: Stack =
            vec![at::<S>(place, DType::F32, &[2])?.into(), IValue::Device(DeviceId::META), DType::F32.into()];
        registered.dispatcher.call("to.device", &mut there)?;
        ensure(result(there)?.device().is_meta(), || format!("to.device from {place} to meta"))?;
        let mut back = [lost.clone(), vec![IValue::Device(place), DType::F32.into()]].concat();
        let error = refused(registered.dispatcher.call("to.device", &mut back), "elements of a meta tensor")?;
        ensure(matches!(error.kind(), ErrorKind::NoHostData { .. }), || format!("another error: {error}"))?;
    }
    Ok(())
}
