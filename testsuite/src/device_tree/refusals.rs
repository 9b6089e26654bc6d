//! Checks of what a device has to refuse, and of registration: clear errors, nothing changed, everything undone.

use super::{Balance, Failure, Registered, Subject, Verdict, backend, ensure, ramp, refused, same};
use monomorph::crates::core::dispatch::{
    Definition, DispatchError, DispatchKey, KernelFunction, OperatorHandle, Source,
};
use monomorph::crates::core::schema::{Argument, Base};
use monomorph::{AnyTensor, Cpu, DType, ErrorKind, IValue, Meta, Stack, Tensor};

/// True for an operator whose first two arguments, and no others without a default, are tensors.
fn takes_two_tensors(handle: &OperatorHandle) -> bool {
    let Ok(schema) = handle.schema() else { return false };
    let plain = |arg: &Argument| arg.ty().base() == Base::Tensor && !arg.ty().is_list() && !arg.ty().is_optional();
    let mut args = schema.args();
    schema.args().len() >= 2 && args.by_ref().take(2).all(plain) && args.all(|arg| arg.default().is_some())
}

/// Tensors of different devices in one call are an error that says so.
pub fn mixed_devices_are_errors<S: Subject>() -> Verdict {
    let registered = Registered::new::<S>()?;
    let own = ramp::<S::Device>(0, DType::F32, &[2, 3])?;
    let mut others: Vec<AnyTensor> = Vec::new();
    if S::DEVICES > 1 {
        others.push(ramp::<S::Device>(1, DType::F32, &[2, 3])?.into_any());
    }
    if own.device().kind != ramp::<Cpu>(0, DType::F32, &[])?.device().kind {
        others.push(ramp::<Cpu>(0, DType::F32, &[2, 3])?.into_any());
    }
    let mut asked = 0;
    for handle in registered.operators::<S>()?.iter().filter(|handle| takes_two_tensors(handle)) {
        // They read sizes, or a dtype, of one of the tensors, or go from one device to another.
        const TAKE_ANY: [&str; 13] = [
            "reshape_as",
            "view_as",
            "expand_as",
            "slice_inverse",
            "resize_as",
            "resize_as_",
            "type_as",
            "to",
            "copy",
            "copy_",
            "is_same_size",
            "is_set_to",
            "result_type",
        ];
        if TAKE_ANY.contains(&handle.schema()?.name()) {
            continue;
        }
        let mate = || -> monomorph::Result<IValue> { Ok(ramp::<S::Device>(0, DType::F32, &[2, 3])?.into()) };
        if handle.call(&mut vec![mate()?, mate()?]).is_err() {
            continue;
        }
        for other in &others {
            let mut stack: Stack = vec![own.clone().into(), other.clone().into()];
            let what = format!("{} of tensors on {} and {}", handle.name(), own.device(), other.device());
            let error = refused(handle.call(&mut stack), &what)?;
            let mismatch = matches!(error.kind(), ErrorKind::DeviceMismatch { .. });
            ensure(mismatch, || format!("{what}: another error: {error}"))?;
            same(&(own.version(), other.version()), &(0, 0), &format!("versions behind {what}"))?;
            asked += 1;
        }
    }
    ensure(asked > 0 || others.is_empty(), || "the device has no operator of two tensors".to_owned())
}

/// An operator without a kernel for the device is an error that names the key and those that have one.
pub fn missing_kernels_are_named<S: Subject>() -> Verdict {
    let registered = Registered::new::<S>()?;
    let mut library = registered.dispatcher.library("tree");
    let definition = Definition::parse("nothing(Tensor self) -> Tensor")?;
    let meta = KernelFunction::function(|x: &Tensor<Meta>| x.clone());
    library.define(definition.dispatch([DispatchKey::META], meta))?;
    let key = registered.dispatcher.name_of(DispatchKey::dense(backend::<S>()?).into());
    let mut stack: Stack = vec![ramp::<S::Device>(0, DType::F32, &[2])?.into()];
    let error = refused(registered.dispatcher.call("tree::nothing", &mut stack), "an operator without a kernel")?;
    match error.kind() {
        ErrorKind::Dispatch(DispatchError::NoKernel { key: got, available }) => {
            same(&(got, available), &(&key, &"Meta".to_owned()), "the key, and those that have a kernel")
        }
        other => Err(Failure(format!("another error: {other}"))),
    }
}

/// A call that fails leaves its arguments and the memory as they were.
pub fn failed_calls_change_nothing<S: Subject>() -> Verdict {
    let registered = Registered::new::<S>()?;
    let balance = Balance::begin::<S>();
    let mut failed = 0;
    for handle in registered.operators::<S>()? {
        let arguments = handle.schema()?.args().len();
        // Sizes that do not fit, and then besides one argument of a kind that does not.
        for wrong in 0..=arguments {
            let (a, b) = (ramp::<S::Device>(0, DType::F32, &[2, 3])?, ramp::<S::Device>(0, DType::F32, &[5])?);
            let mut stack: Stack = handle.schema()?.args().map(|arg| unfitting(arg, &a, &b)).collect();
            if let Some(value) = stack.get_mut(wrong) {
                *value = IValue::Str("no such thing".into());
            }
            if handle.call(&mut stack).is_ok() {
                continue;
            }
            failed += 1;
            let what = format!("a failed call of {}", handle.name());
            same(&stack.len(), &arguments, &format!("values on the stack behind {what}"))?;
            same(&(a.version(), b.version()), &(0, 0), &format!("versions behind {what}"))?;
            same(&(a.sizes(), b.sizes()), &(&[2, 3][..], &[5][..]), &format!("sizes behind {what}"))?;
            same(&a.to_vec::<f32>()?, &(1..=6).map(|i| i as f32).collect(), &format!("elements behind {what}"))?;
        }
    }
    ensure(failed > 0, || "nothing failed".to_owned())?;
    balance.check::<S>("failed calls")
}

fn unfitting<D: monomorph::Device>(arg: &Argument, a: &Tensor<D>, b: &Tensor<D>) -> IValue {
    match (arg.ty().base(), arg.ty().is_list()) {
        (Base::Tensor, false) if arg.name() == "self" => a.clone().into(),
        (Base::Tensor, false) => b.clone().into(),
        (Base::Tensor, true) => IValue::Tensors(vec![a.clone().into_any(), b.clone().into_any()]),
        (Base::Int | Base::SymInt, true) => IValue::Ints(vec![-7, 9]),
        (Base::Int | Base::SymInt, false) => IValue::Int(99),
        (Base::Scalar, _) => IValue::Int(2),
        (Base::Bool, _) => IValue::Bool(false),
        _ => IValue::None,
    }
}

/// Registration is complete or not at all, cannot be had twice, and is undone by dropping.
pub fn registration_is_undone<S: Subject>() -> Verdict {
    let mut registered = Registered::new::<S>()?;
    if registered.device.is_empty() {
        return Ok(());
    }
    let running = |registered: &Registered| -> Result<Vec<String>, Failure> {
        Ok(registered.operators::<S>()?.iter().map(|handle| handle.name().to_owned()).collect())
    };
    let with = running(&registered)?;
    ensure(!with.is_empty(), || "the device runs nothing".to_owned())?;
    refused(S::register(&registered.dispatcher), "a second registration")?;
    same(&running(&registered)?, &with, "operators behind a refused registration")?;
    let handle = registered.dispatcher.find(&with[0])?;
    registered.device.clear();
    // A handle from before sees it, too.
    same(&handle.name().to_owned(), &with[0], "a handle from before")?;
    let composed = running(&registered)?;
    let own: Vec<&String> = with.iter().filter(|name| !composed.contains(name)).collect();
    ensure(!own.is_empty(), || "no operator is gone with the device's libraries".to_owned())?;
    for name in own {
        if let Ok(handle) = registered.dispatcher.find(name) {
            let lines = handle.explain();
            let key = DispatchKey::dense(backend::<S>()?);
            let kept =
                lines.iter().any(|(at, resolution, _)| *at == key && resolution.source == Source::Kernel(key.into()));
            ensure(!kept, || format!("{name} has a kernel of the device yet"))?;
        }
    }
    registered.device = S::register(&registered.dispatcher)?;
    same(&running(&registered)?, &with, "operators of a device that was registered again")
}
