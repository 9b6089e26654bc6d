//! The cases. Owns their shape and the few functions that most of them use; what is attacked is in the files, by group
//! of causes.

mod allocation;
mod arithmetic;
mod dispatch;
mod outputs;
mod recursion;
mod threads;
mod time;

use monomorph::{AnyTensor, Cpu, DType, Error, ErrorKind, Geometry, IValue, Meta, Stack, Tensor};

/// An attack.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// What it attacks, in a line.
    pub(crate) attacks: &'static str,
    /// Ends well if the library held.
    pub(crate) run: Run,
    /// What its process is told besides.
    pub(crate) environment: &'static [(&'static str, &'static str)],
}

pub(crate) type Run = fn() -> Result<(), String>;

const fn case(name: &'static str, attacks: &'static str, run: Run) -> Case {
    Case { name, attacks, run, environment: &[] }
}

/// All cases.
pub(crate) const CASES: &[&[Case]] = &[
    allocation::CASES,
    arithmetic::CASES,
    dispatch::CASES,
    outputs::CASES,
    recursion::CASES,
    threads::CASES,
    time::CASES,
];

/// The boxed call of an operator.
fn call<const N: usize>(name: &str, arguments: [IValue; N]) -> Result<Stack, Error> {
    let mut stack: Stack = arguments.into();
    monomorph::call(name, &mut stack).map(|()| stack)
}

/// The call must be refused, for what it was given: a case that misspells an operator attacks nothing.
fn refused<T>(outcome: Result<T, Error>) -> Result<(), String> {
    let Err(error) = outcome else { return Err("it returned; it had to be refused".to_owned()) };
    if matches!(error.kind(), ErrorKind::UnknownOperator { .. } | ErrorKind::ArgumentCount { .. }) {
        return Err(format!("the case is wrong: {error}"));
    }
    let length = error.to_string().len();
    if length > 10_000 { Err(format!("the message is {length} bytes long")) } else { Ok(()) }
}

/// The operator must not be there, or not be callable any more.
fn gone(outcome: Result<(), Error>) -> Result<(), String> {
    if outcome.is_err() { Ok(()) } else { Err("it returned; it had to be gone".to_owned()) }
}

/// The call may return or be refused; what it returns lies in its storages.
fn total(outcome: Result<Stack, Error>) -> Result<(), String> {
    match outcome {
        Ok(results) => results.iter().flat_map(IValue::tensors).try_for_each(in_bounds),
        Err(error) => refused::<()>(Err(error)),
    }
}

/// Every element of the tensor lies in its storage.
fn in_bounds(t: &AnyTensor) -> Result<(), String> {
    if t.sizes().contains(&0) {
        return Ok(());
    }
    let last = t.sizes().iter().zip(t.strides()).try_fold(t.offset() as u128, |at, (&size, &stride)| {
        at.checked_add((size as u128 - 1).checked_mul(stride as u128)?)
    });
    match last.and_then(|last| last.checked_add(1)?.checked_mul(t.dtype().size() as u128)) {
        Some(end) if end <= t.storage_bytes() as u128 => Ok(()),
        end => Err(format!("byte {end:?} of {} is reached by {:?}", t.storage_bytes(), t.geometry())),
    }
}

/// One element, seen in all of `sizes`.
fn expanded(dtype: DType, sizes: &[i64]) -> AnyTensor {
    let geometry = Geometry::new(dtype, sizes, &vec![0; sizes.len()], 0).expect("strides of 0 reach one element");
    Tensor::<Cpu>::from_storage(&vec![1; dtype.size()], geometry).expect("one element").into_any()
}

/// A tensor without elements, with any strides and offset.
fn empty(sizes: &[i64], strides: &[i64], offset: i64) -> AnyTensor {
    let geometry = Geometry::new(DType::F32, sizes, strides, offset).expect("no element is reached");
    Tensor::<Cpu>::from_storage(&[0; 16], geometry).expect("16 bytes").into_any()
}

/// A meta tensor whose elements all lie in one place.
fn meta(dtype: DType, sizes: &[i64]) -> AnyTensor {
    let one = Tensor::<Meta>::zeroed(dtype, &[1], &[1], 0).expect("one element");
    let geometry = Geometry::new(dtype, sizes, &vec![0; sizes.len()], 0).expect("strides of 0 reach one element");
    one.with_geometry(geometry).expect("one element").into_any()
}

/// 1, 2, 3, ...
fn ramp(sizes: &[i64]) -> AnyTensor {
    let data: Vec<f32> = (1..=sizes.iter().product::<i64>()).map(|i| i as f32).collect();
    Tensor::<Cpu>::from_slice(&data, sizes).expect("a few elements").into_any()
}

/// An error of the library where none is expected.
fn unexpected(error: Error) -> String {
    format!("unexpected: {error}")
}
