//! Dispatch from a name to a kernel: precedence, kinds of kernels, registration and its undoing, completion of a
//! backend that has only out= kernels. Operators here are the tests' own.

#[path = "../host/mod.rs"]
mod host;

mod backend;
mod calls;
mod compliance;
mod composed;
mod hostile;
mod kernels;
mod keys;
mod locks;
mod parameters;
mod recursion;
mod refusals;
mod registration;
mod results;
mod threads;

use host::Host;
use monomorph_core::dispatch::{Definition, DispatchError, KernelFunction, Library};
use monomorph_core::{AnyTensor, DType, Error, ErrorKind, Geometry, Result, Stack, Tensor};

/// A tensor of these numbers.
fn tensor(values: &[i64]) -> AnyTensor {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    let geometry = Geometry::contiguous(DType::I64, &[values.len() as i64]).expect("a size");
    Tensor::<Host>::from_storage(&bytes, geometry).expect("memory").into_any()
}

/// The numbers of a tensor.
fn numbers(t: &AnyTensor) -> Vec<i64> {
    t.downcast_ref::<Host>().expect("a tensor of the host").to_vec::<i64>().expect("int64")
}

/// The one tensor that a call has left.
fn result(mut stack: Stack) -> AnyTensor {
    assert_eq!(stack.len(), 1);
    stack.pop().and_then(|v| v.into_tensor()).expect("a tensor")
}

/// Defines `schema` without kernels.
fn define(library: &mut Library, schema: &str) {
    library.define(Definition::parse(schema).expect("a schema")).expect("a new name");
}

/// The dispatch error inside an error.
fn fault(error: &Error) -> &DispatchError {
    match error.kind() {
        ErrorKind::Dispatch(fault) => fault,
        other => panic!("another kind of error: {other}"),
    }
}

/// A kernel that returns these numbers, whatever it is given.
fn constant<const N: i64>() -> KernelFunction {
    KernelFunction::function(|_: &AnyTensor| tensor(&[N]))
}

/// What a call of `name` with one tensor gives.
fn call(library: &Library, name: &str) -> Result<Vec<i64>> {
    let mut stack: Stack = vec![tensor(&[0]).into()];
    library.dispatcher().call(name, &mut stack)?;
    Ok(numbers(&result(stack)))
}
