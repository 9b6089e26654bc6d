//! Checks of the operators that a device has: they give what PyTorch was recorded to give, boxed and unboxed, and leave
//! it where it belongs.

use super::{Failure, Registered, Subject, Verdict, device, ensure, ramp, result, same, values};
use crate::conformance::library::OnDevice;
use crate::conformance::{self, CaseFile, Selection, bases, golden_cases};
use monomorph::crates::core::dispatch::{DispatchError, Dispatcher, OperatorHandle};
use monomorph::{AnyTensor, DType, Error, ErrorKind, IValue, Scalar, Stack};
use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

/// True if the device does not run the operator, or not in a dtype that it does not compute in.
fn refuses<S: Subject>(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Dispatch(DispatchError::NoKernel { .. }) => true,
        ErrorKind::DTypeNotSupported { got, .. } => !S::COMPUTES.contains(got),
        _ => false,
    }
}

/// What some of the recorded calls gave.
#[derive(Default)]
struct Replayed {
    /// Those that differ, with what differs.
    wrong: Vec<String>,
    /// How many calls of an operator agree; 0 where the device lacks what all of them need.
    agreed: BTreeMap<String, usize>,
}

impl Replayed {
    fn file<S: Subject>(&mut self, dispatcher: &Dispatcher, file: &CaseFile) {
        // Devices compute elements in whatever order, most at once.
        for case in file.cases.iter().filter(|case| !case.depends_on_order()) {
            let mut replayer = OnDevice::<S::Device, _>::new(dispatcher, refuses::<S>);
            let agreed = self.agreed.entry(case.op.clone()).or_default();
            match conformance::judge(case, &file.storages, &mut replayer) {
                conformance::Verdict::Passed => *agreed += 1,
                conformance::Verdict::Unsupported => {}
                other => self.wrong.push(format!("{}: {other:?}", case.id)),
            }
        }
    }
}

/// Every recorded PyTorch call that the device can run gives what was recorded: values, dtypes, strides, aliasing,
/// errors.
pub fn recorded_calls_agree<S: Subject>() -> Verdict {
    let registered = Registered::new::<S>()?;
    let failed = |error: conformance::CaseError| Failure(error.to_string());
    let all = bases(&golden_cases(), &Selection::default()).map_err(failed)?;
    // Devices that compile their kernels when they are first called take most of the time for that.
    let (dispatcher, next) = (&registered.dispatcher, AtomicUsize::new(0));
    let work = || -> Result<Replayed, conformance::CaseError> {
        let mut replayed = Replayed::default();
        while let Some(base) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            replayed.file::<S>(dispatcher, &CaseFile::load(&golden_cases(), base)?);
        }
        Ok(replayed)
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let parts = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect::<Vec<_>>()
    });
    let Replayed { mut wrong, mut agreed } = Replayed::default();
    for part in parts {
        let part = part.map_err(failed)?;
        wrong.extend(part.wrong);
        part.agreed.into_iter().for_each(|(op, count)| *agreed.entry(op).or_default() += count);
    }
    wrong.sort();
    let lacking: Vec<&&str> = S::OPERATORS.iter().filter(|op| agreed.get(**op) == Some(&0)).collect();
    same(&lacking, &Vec::new(), "operators that the device has to run, without one recorded call that agrees")?;
    let total: usize = agreed.values().sum();
    ensure(wrong.is_empty(), || {
        format!(
            "{} recorded calls differ, {total} agree; the first: {}",
            wrong.len(),
            wrong[..wrong.len().min(5)].join("\n")
        )
    })?;
    ensure(total > 0, || "the device runs no recorded call".to_owned())
}

/// Arguments of the commonest schemas.
fn arguments<S: Subject>(index: u8) -> monomorph::Result<[AnyTensor; 2]> {
    Ok([
        ramp::<S::Device>(index, DType::F32, &[2, 3])?.into_any(),
        ramp::<S::Device>(index, DType::F32, &[3])?.into_any(),
    ])
}

/// What an unboxed call of a functional operator of tensors gives, if its schema is one of the commonest.
fn unboxed(handle: &OperatorHandle, a: &AnyTensor, b: &AnyTensor) -> Option<(monomorph::Result<AnyTensor>, Stack)> {
    let boxed = |rest: Vec<IValue>| [vec![a.clone().into()], rest].concat();
    if let Ok(f) = handle.typed::<(&AnyTensor,), AnyTensor>() {
        return Some((f.call((a,)), boxed(vec![])));
    }
    if let Ok(f) = handle.typed::<(&AnyTensor, &AnyTensor), AnyTensor>() {
        return Some((f.call((a, b)), boxed(vec![b.clone().into()])));
    }
    if let Ok(f) = handle.typed::<(&AnyTensor, &AnyTensor, Scalar), AnyTensor>() {
        let two = Scalar::Int(2);
        return Some((f.call((a, b, two)), boxed(vec![b.clone().into(), two.into()])));
    }
    let f = handle.typed::<(&AnyTensor, Option<&[i64]>, bool, Option<DType>), AnyTensor>().ok()?;
    let rest = vec![IValue::Ints(vec![0]), IValue::Bool(true), IValue::None];
    Some((f.call((a, Some(&[0]), true, None)), boxed(rest)))
}

/// An unboxed call gives what the boxed one gives.
pub fn unboxed_calls_agree<S: Subject>() -> Verdict {
    let registered = Registered::new::<S>()?;
    let mut called = 0;
    for handle in registered.operators::<S>()? {
        let [a, b] = arguments::<S>(0)?;
        let Some((direct, mut stack)) = unboxed(&handle, &a, &b) else { continue };
        let name = handle.name();
        match (direct, handle.call(&mut stack)) {
            (Ok(direct), Ok(())) => {
                let boxed = result(stack)?;
                same(&(direct.sizes(), direct.dtype()), &(boxed.sizes(), boxed.dtype()), name)?;
                same(&format!("{:?}", values(&direct)?), &format!("{:?}", values(&boxed)?), name)?;
                called += 1;
            }
            (Err(direct), Err(boxed)) => same(&direct.kind(), &boxed.kind(), name)?,
            (direct, boxed) => return Err(Failure(format!("{name}: unboxed {direct:?}, boxed {boxed:?}"))),
        }
    }
    ensure(called > 0, || "the device has no operator of tensors with one result".to_owned())
}

/// What is computed from tensors of a device lies on it; what a factory makes, where it is told.
pub fn results_stay_on_their_device<S: Subject>() -> Verdict {
    let registered = Registered::new::<S>()?;
    for index in 0..S::DEVICES {
        // The sizes of a tensor, as a tensor, are for the host.
        let for_the_host = |handle: &OperatorHandle| handle.name() == "_shape_as_tensor";
        for handle in registered.operators::<S>()?.into_iter().filter(|handle| !for_the_host(handle)) {
            let [a, b] = arguments::<S>(index)?;
            if let Some((Ok(made), _)) = unboxed(&handle, &a, &b) {
                same(&made.device(), &device::<S>(index), &format!("the device of the result of {}", handle.name()))?;
            }
        }
        for name in ["zeros", "empty.memory_format", "eye"] {
            let Ok(handle) = registered.dispatcher.find(name) else { continue };
            let size = if name == "eye" { IValue::Int(2) } else { IValue::Ints(vec![2, 2]) };
            let mut stack: Stack = vec![size, IValue::None, IValue::None, device::<S>(index).into()];
            match handle.call(&mut stack) {
                Err(error) if refuses::<S>(&error) => {}
                called => {
                    called?;
                    same(&result(stack)?.device(), &device::<S>(index), &format!("the device that {name} was told"))?;
                }
            }
        }
    }
    Ok(())
}
