//! Text and lists of any length: what is too long is refused, and messages are short.

use super::{constant, define, fault, tensor};
use monomorph_core::dispatch::{Definition, DispatchError, DispatchKey, Dispatcher, KernelFunction};
use monomorph_core::schema::{Accepted, Schema};
use monomorph_core::{IValue, Stack};
use std::time::{Duration, Instant};

const LONG: usize = 1 << 20;
/// Nobody reads more.
const MESSAGE: usize = 10_000;

fn soon<R>(what: &str, run: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = run();
    // Takes milliseconds; what grows with the square of its length takes minutes.
    assert!(start.elapsed() < Duration::from_secs(10), "{what} took {:?}", start.elapsed());
    result
}

#[test]
fn schemas_of_any_length() {
    let many = |item: &str, n: usize| vec![item; n].join(", ");
    let named = |item: &str, n: usize| (0..n).map(|i| format!("{item} x{i}")).collect::<Vec<_>>().join(", ");
    let outs = |n: usize| (0..n).map(|i| format!("Tensor(s{i}!) x{i}")).collect::<Vec<_>>().join(", ");
    let sets = |n: usize| (0..n).map(|i| format!("s{i}")).collect::<Vec<_>>().join("|");
    let refused: [(String, Accepted); 5] = [
        (format!("f(Tensor x) -> ({})", many("Tensor", 100_000)), Accepted::FewResults),
        (format!("f(Tensor x) -> ({})", many("Tensor", 1025)), Accepted::FewResults),
        (format!("f(*, {0}) -> ({0})", outs(50_000)), Accepted::FewResults),
        (format!("f(Tensor({}) x) -> Tensor", sets(100_000)), Accepted::FewAliasSets),
        (format!("f(Tensor(a -> {}) x) -> Tensor", sets(17)), Accepted::FewAliasSets),
    ];
    for (text, accepted) in refused {
        let error = soon(&text[..20], || Schema::parse(&text)).unwrap_err();
        assert_eq!(*error.accepted(), accepted);
        assert!(error.to_string().len() < MESSAGE);
    }
    for text in [
        format!("f({}) -> ()", named("int", 100_000)),
        format!("f(*, {}) -> ({})", outs(1024), outs(1024)),
        format!("f(Tensor({}) x) -> Tensor", sets(16)),
    ] {
        soon(&text[..20], || Schema::parse(&text)).unwrap();
    }
    for text in
        ["(", "[", "f(", "f(int", "f(int[", "f(int x=[", "f(Tensor(a", "f(Tensor(a|", "|", "f(str x='", "?", "x", "é"]
            .map(|item| item.repeat(LONG / item.len()))
    {
        let error = soon(&text[..20], || Schema::parse(&text)).unwrap_err();
        assert!(error.to_string().len() < MESSAGE);
    }
    for (open, item, close) in
        [("f(int[] x=[", "1, ", "1]) -> ()"), ("f(Tensor x=", "[", ") -> ()"), ("f(int", "[]", " x) -> ()")]
    {
        let text = format!("{open}{}{close}", item.repeat(LONG / item.len()));
        let _ = soon(open, || Schema::parse(&text).map_err(|error| assert!(error.to_string().len() < MESSAGE)));
    }
}

#[test]
fn names_of_any_length() {
    let long = "x".repeat(LONG);
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    let too_long = |error: monomorph_core::Error| {
        assert!(matches!(fault(&error), DispatchError::LongName { .. }), "{}", error.kind());
        assert!(error.to_string().len() < MESSAGE);
    };
    too_long(library.define(Definition::parse(&format!("{long}(Tensor x) -> Tensor")).unwrap()).unwrap_err());
    too_long(library.kernel(&long, DispatchKey::CPU, constant::<1>()).unwrap_err());
    let completed = Definition::parse("f(Tensor x) -> Tensor").unwrap().completed_by(long.clone());
    too_long(library.define(completed).unwrap_err());
    too_long(dispatcher.library(&long).define(Definition::parse("f(Tensor x) -> Tensor").unwrap()).unwrap_err());
    assert_eq!(dispatcher.dump(), "");
    let short = |error: monomorph_core::Error| assert!(error.to_string().len() < MESSAGE, "{}", error.kind());
    short(dispatcher.find(&long).unwrap_err());
    short(dispatcher.key(&long).unwrap_err());
    define(&mut library, "f(Tensor x) -> Tensor");
    library.kernel("t::f", DispatchKey::META, KernelFunction::redirect(long.clone())).unwrap();
    short(dispatcher.call("t::f", &mut vec![tensor(&[1]).to_meta().into()]).unwrap_err());
    let mut owner = dispatcher.library(&long);
    owner.kernel("t::f", DispatchKey::CPU, constant::<1>()).unwrap();
    short(library.kernel("t::f", DispatchKey::CPU, constant::<1>()).unwrap_err());
    short(library.close().unwrap_err().1);
}

#[test]
fn messages_about_long_schemas_and_lists_are_short() {
    let mut library = Dispatcher::new().library("t");
    let arguments = (0..1024).map(|i| format!("int a_long_name_of_an_argument_{i}")).collect::<Vec<_>>().join(", ");
    define(&mut library, &format!("f({arguments}) -> Tensor"));
    let mut stack: Stack = vec![IValue::Ints(vec![1; LONG])];
    let error = library.dispatcher().call("t::f", &mut stack).unwrap_err();
    assert!(error.to_string().len() < MESSAGE, "{}", error.to_string().len());
    let error = library.kernel("t::f", DispatchKey::CPU, constant::<1>()).unwrap_err();
    assert!(error.to_string().len() < MESSAGE, "{}", error.to_string().len());
    define(&mut library, "g(Tensor x) -> Tensor");
    library.kernel("t::g", DispatchKey::CPU, constant::<1>()).unwrap();
    for odd in
        [IValue::Ints(vec![1; LONG]), IValue::from(&*"x".repeat(LONG)), IValue::Tensors(vec![tensor(&[1]); 10_000])]
    {
        let error = library.dispatcher().call("t::g", &mut vec![odd]).unwrap_err();
        assert!(error.to_string().len() < MESSAGE, "{error}");
    }
}

/// Lists of many tensors: each that shares a storage is looked for once, not among all others.
#[test]
fn calls_with_many_tensors() {
    const MANY: usize = 50_000;
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "same(Tensor(a)[] x) -> Tensor(a)[]");
    library
        .kernel("t::same", DispatchKey::CPU, KernelFunction::function(|x: &[monomorph_core::AnyTensor]| x.to_vec()))
        .unwrap();
    let mut stack: Stack = vec![IValue::Tensors((0..MANY).map(|i| tensor(&[i as i64])).collect())];
    soon("a call", || library.dispatcher().call("t::same", &mut stack)).unwrap();
    assert_eq!(stack[0].tensors().count(), MANY);
}
