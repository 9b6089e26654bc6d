//! Results of boxed kernels: in every build they are of the number and the kinds that the schema declares, or the call
//! is an error.

use super::{define, fault, tensor};
use monomorph_core::dispatch::{DispatchError, DispatchKey, Dispatcher, KernelFunction, Library};
use monomorph_core::{AnyTensor, DeviceId, ErrorKind, IValue, ItemList, Result, Scalar, Stack};

/// An operator whose boxed kernel leaves these results.
fn library(schema: &str, results: Vec<IValue>) -> Library {
    let mut library = Dispatcher::new().library("t");
    define(&mut library, schema);
    let kernel = KernelFunction::boxed(move |_, stack| {
        *stack = results.clone();
        Ok(())
    });
    library.kernel("t::f", DispatchKey::CPU, kernel).unwrap();
    library
}

/// Calls it, and what the stack is then.
fn called(schema: &str, results: &[IValue]) -> (Result<()>, Stack) {
    let arguments = if schema.contains("output_mask") { 2 } else { 1 };
    let mut stack: Stack = vec![tensor(&[1]).into(), IValue::Bools(vec![false, true])];
    stack.truncate(arguments);
    let outcome = library(schema, results.to_vec()).dispatcher().call("t::f", &mut stack);
    (outcome, stack)
}

fn accepted(returns: &str, results: &[IValue]) {
    let (outcome, stack) = called(&format!("f(Tensor x) -> {returns}"), results);
    outcome.unwrap_or_else(|error| panic!("{returns}: {error}"));
    assert_eq!(stack.len(), results.len());
}

fn refused(returns: &str, results: &[IValue]) -> monomorph_core::Error {
    let (outcome, mut stack) = called(&format!("f(Tensor x) -> {returns}"), results);
    let error = outcome.expect_err(returns);
    assert_eq!(error.op(), "t::f");
    assert!(stack.is_empty(), "what the kernel left is dropped: {stack:?}");
    stack.push(tensor(&[1]).into());
    error
}

fn list(items: Vec<IValue>) -> IValue {
    IValue::List(ItemList::try_from(items).unwrap())
}

#[test]
fn results_of_the_declared_kinds_are_accepted() {
    let t = || IValue::from(tensor(&[2]));
    accepted("()", &[]);
    accepted("Tensor", &[t()]);
    accepted("(Tensor, int, Tensor)", &[t(), IValue::Int(1), t()]);
    accepted("Tensor[]", &[IValue::Tensors(vec![tensor(&[2])])]);
    accepted("Tensor[]", &[IValue::List(ItemList::EMPTY)]);
    for number in [IValue::Bool(true), IValue::Int(1), IValue::Float(0.5)] {
        accepted("Scalar", &[number]);
    }
    accepted("SymInt", &[IValue::Int(1)]);
    accepted("SymInt[]", &[IValue::Ints(vec![1])]);
    accepted("(bool, float)", &[IValue::Bool(true), IValue::Float(0.5)]);
    accepted("Scalar[]", &[IValue::Scalars(vec![Scalar::Int(1)])]);
    accepted("Device[]", &[list(vec![DeviceId::CPU.into()])]);
    accepted("str", &["x".into()]);
}

#[test]
fn results_of_other_kinds_are_errors() {
    let t = || IValue::from(tensor(&[2]));
    let cases: [(&str, Vec<IValue>); 12] = [
        ("Tensor", vec![IValue::Int(1)]),
        ("Tensor", vec![IValue::Tensors(vec![tensor(&[2])])]),
        ("(Tensor, Tensor)", vec![t(), IValue::Ints(vec![1])]),
        ("Tensor[]", vec![t()]),
        ("Tensor[]", vec![IValue::OptionalTensors(vec![None])]),
        ("Tensor[]", vec![list(vec![IValue::Int(1)])]),
        ("int", vec![IValue::Float(1.0)]),
        ("int", vec![t()]),
        ("float", vec![IValue::Int(1)]),
        ("Scalar", vec![IValue::None]),
        ("int[]", vec![IValue::Int(1)]),
        ("bool", vec![IValue::None]),
    ];
    for (returns, results) in cases {
        let error = refused(returns, &results);
        assert!(matches!(fault(&error), DispatchError::WrongResults { .. }), "{returns}: {error}");
    }
}

#[test]
fn other_numbers_of_results_are_errors() {
    let t = || IValue::from(tensor(&[2]));
    for (returns, results) in [("Tensor", vec![]), ("Tensor", vec![t(), t()]), ("()", vec![t()])] {
        let want = usize::from(returns == "Tensor");
        assert_eq!(*refused(returns, &results).kind(), ErrorKind::ResultCount { got: results.len(), want });
    }
}

/// Undefined is a tensor of a backward operator that its caller did not ask for, and nothing else.
#[test]
fn undefined_results() {
    let error = refused("Tensor", &[IValue::None]);
    assert_eq!(*error.kind(), ErrorKind::Undefined { result: 0, mask: None });
    let masked = "f(Tensor x, bool[2] output_mask) -> (Tensor, Tensor)";
    called(masked, &[IValue::None, tensor(&[2]).into()]).0.unwrap();
}

/// A message is short, whatever a kernel leaves.
#[test]
fn many_results_are_not_listed() {
    let returns = format!("({})", vec!["Tensor"; 500].join(", "));
    let error = refused(&returns, &vec![IValue::Int(1); 500]);
    assert!(error.to_string().len() < 400, "{error}");
}

/// A typed handle was made for one schema; under another one its signature is compared anew.
#[test]
fn a_typed_handle_of_an_operator_that_is_defined_anew() {
    let dispatcher = Dispatcher::new();
    // A kernel for it, so that the operator of this name stays the same one.
    let mut keeper = dispatcher.library("keeper");
    keeper.kernel("t::f", DispatchKey::META, KernelFunction::boxed(|_, _| Ok(()))).unwrap();
    let defined = |schema: &str, kernel: KernelFunction| {
        let mut library = dispatcher.library("t");
        define(&mut library, schema);
        library.kernel("t::f", DispatchKey::CPU, kernel).unwrap();
        library
    };
    let own = || KernelFunction::function(|x: &AnyTensor| x.clone());
    let first = defined("f(Tensor(a) x) -> Tensor(a)", own());
    let f = dispatcher.find("t::f").unwrap().typed::<(&AnyTensor,), AnyTensor>().unwrap();
    let x = tensor(&[1]);
    f.call((&x,)).unwrap();
    drop(first);
    let boxed = KernelFunction::boxed(|_, _| Ok(()));
    let other = defined("f(Tensor x, int n=1) -> Tensor", boxed);
    let error = f.call((&x,)).unwrap_err();
    assert!(matches!(fault(&error), DispatchError::SchemaMismatch { .. }), "{error}");
    drop(other);
    let _same = defined("f(Tensor(b) y) -> Tensor(b)", own());
    f.call((&x,)).unwrap();
}
