//! Recursion: rings of operators, deep calls, long lists of what a kernel calls. Each would overflow the stack or never
//! end.

use super::{call, constant, define, fault, numbers, result, tensor};
use monomorph_core::dispatch::{
    AliasKey, Definition, DispatchError, DispatchKey, Dispatcher, KernelFunction, Library, RegistrationKey,
};
use monomorph_core::{Error, IValue, ItemList, Result, Stack};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const IMPLICIT: AliasKey = AliasKey::CompositeImplicit;

fn library(names: &[&str]) -> Library {
    let mut library = Dispatcher::new().library("t");
    names.iter().for_each(|name| define(&mut library, &format!("{name}(Tensor x) -> Tensor")));
    library
}

/// The ring that a refused registration names.
fn ring(refused: Result<()>) -> String {
    match fault(&refused.unwrap_err()) {
        DispatchError::RedirectRing { ring } => ring.clone(),
        other => panic!("{other}"),
    }
}

#[test]
fn rings_of_redirections_are_refused_when_they_close() {
    let mut library = library(&["a", "b", "c"]);
    let to = KernelFunction::redirect;
    assert_eq!(ring(library.kernel("t::a", IMPLICIT, to("t::a"))), "t::a -> t::a");
    library.kernel("t::a", IMPLICIT, to("t::b")).unwrap();
    // Over different keys all the same: a call on the CPU would go round.
    library.kernel("t::b", DispatchKey::CPU, to("t::c")).unwrap();
    let before = library.dispatcher().dump();
    assert_eq!(ring(library.kernel("t::c", IMPLICIT, to("t::a"))), "t::c -> t::a -> t::b -> t::c");
    assert_eq!(ring(library.kernels("t::c", &[RegistrationKey::META, IMPLICIT.into()], to("aten::t::a"))), {
        "t::c -> t::a -> t::b -> t::c"
    });
    assert_eq!(library.dispatcher().dump(), before);
    // One of a definition.
    let definition = Definition::parse("own(Tensor x) -> Tensor").unwrap().default_kernel(to("t::own"));
    assert_eq!(ring(library.define(definition)), "t::own -> t::own");
    assert_eq!(library.dispatcher().dump(), before);
    // No ring, as `c` is computed on the CPU.
    library.kernel("t::c", DispatchKey::CPU, constant::<3>()).unwrap();
    library.kernel("t::c", IMPLICIT, to("t::a")).unwrap();
    assert_eq!(call(&library, "t::a").unwrap(), [3]);
}

/// What was put over a redirection is gone, and the ring is there although each registration was none.
#[test]
fn a_ring_that_a_removal_closes_is_an_error_of_the_call() {
    let mut library = library(&["a", "b"]);
    library.kernel("t::a", IMPLICIT, KernelFunction::redirect("t::b")).unwrap();
    let mut over = library.dispatcher().library("over");
    over.replace("t::a", IMPLICIT, constant::<4>()).unwrap();
    library.kernel("t::b", IMPLICIT, KernelFunction::redirect("t::a")).unwrap();
    assert_eq!(call(&library, "t::b").unwrap(), [4]);
    drop(over);
    let error = call(&library, "t::b").unwrap_err();
    assert!(matches!(fault(&error), DispatchError::TooDeep { .. }), "{error}");
    assert!(error.to_string().contains("limit") && error.op().starts_with("t::"), "{error}");
}

#[test]
fn completion_has_one_step() {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    let definition = |name: &str, by: &str| {
        Definition::parse(&format!("{name}(Tensor x) -> Tensor")).unwrap().completed_by(by.to_owned())
    };
    let chain = |refused: Result<()>| match fault(&refused.unwrap_err()) {
        DispatchError::CompletionChain { chain } => chain.clone(),
        other => panic!("{other}"),
    };
    assert_eq!(chain(library.define(definition("a", "t::a"))), "t::a -> t::a");
    assert_eq!(dispatcher.dump(), "", "nothing is left of it");
    library.define(definition("a", "t::b")).unwrap();
    assert_eq!(chain(library.define(definition("b", "t::a"))), "t::b -> t::a -> t::b");
    assert_eq!(chain(library.define(definition("c", "t::a"))), "t::c -> t::a -> t::b");
    assert_eq!(chain(library.define(definition("b", "t::c"))), "t::a -> t::b -> t::c");
    define(&mut library, "b(Tensor x) -> Tensor");
    library.kernel("t::b", DispatchKey::CPU, constant::<1>()).unwrap();
    drop(library);
    assert_eq!(dispatcher.dump(), "", "the operator that completed is gone, too");
}

/// Values decide what these call, so no registration can be refused. On a thread with the stack that Rust gives one.
fn too_deep(kernel: impl Fn() -> KernelFunction + Send + 'static) {
    let thread = std::thread::spawn(move || {
        let mut library = library(&["f", "g", "leaf"]);
        library.kernel("t::f", IMPLICIT, kernel()).unwrap();
        library.kernel("t::leaf", DispatchKey::CPU, constant::<1>()).unwrap();
        library.kernel("t::g", IMPLICIT, KernelFunction::redirect("t::f")).unwrap();
        for _ in 0..2 {
            let mut stack: Stack = vec![tensor(&[0]).into()];
            let error = library.dispatcher().call("t::f", &mut stack).unwrap_err();
            assert!(matches!(fault(&error), DispatchError::TooDeep { limit: 100.. }), "{error}");
            assert_eq!(stack.len(), 1);
        }
        assert_eq!(call(&library, "t::leaf").unwrap(), [1], "calls are counted back");
    });
    thread.join().unwrap();
}

#[test]
fn kernels_that_call_their_own_operator_are_errors() {
    let x = |stack: &Stack| -> Stack { stack.clone() };
    too_deep(move || KernelFunction::composed(move |calls, stack| calls.call("t::f", &mut x(stack))));
    too_deep(move || KernelFunction::composed(move |calls, stack| calls.call("t::g", &mut x(stack))));
    too_deep(move || KernelFunction::boxed(move |frame, stack| frame.dispatcher().call("t::f", &mut x(stack))));
    too_deep(move || {
        KernelFunction::boxed(move |frame, stack| {
            let f = frame.dispatcher().find("t::f")?;
            let f = f.typed::<(&monomorph_core::AnyTensor,), monomorph_core::AnyTensor>()?;
            let x = stack[0].clone().into_tensor().expect("a tensor");
            *stack = vec![f.call((&x,))?.into()];
            Ok(())
        })
    });
}

/// Also where the kernel ends by a panic.
#[test]
fn calls_that_panic_are_counted_back() {
    let mut library = library(&["f"]);
    library
        .kernel("t::f", DispatchKey::CPU, KernelFunction::boxed(|_, _| std::panic::resume_unwind(Box::new(0))))
        .unwrap();
    let f = library.dispatcher().find("t::f").unwrap();
    for _ in 0..1000 {
        let mut stack: Stack = vec![tensor(&[0]).into()];
        let called = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f.call(&mut stack)));
        assert!(called.is_err(), "{called:?}");
    }
}

/// How much stack a call in a call takes: the limit of nested calls has to fit into a thread's.
#[test]
fn nested_calls_fit_into_the_stack_of_a_thread() {
    static DEEPEST: AtomicUsize = AtomicUsize::new(usize::MAX);
    let thread = std::thread::spawn(|| {
        let here = 0u8;
        too_deep_here(|| {
            let place = 0u8;
            DEEPEST.fetch_min(std::ptr::from_ref(&place).addr(), Ordering::Relaxed);
        });
        std::ptr::from_ref(&here).addr() - DEEPEST.load(Ordering::Relaxed)
    });
    let taken = thread.join().unwrap();
    assert!(taken < 1 << 20, "{taken} bytes");
}

fn too_deep_here(note: fn()) {
    let mut library = library(&["f"]);
    let kernel = KernelFunction::composed(move |calls, stack| {
        note();
        let y = calls.tensor("t::f", [stack[0].clone()])?;
        *stack = vec![y.into()];
        Ok(())
    });
    library.kernel("t::f", IMPLICIT, kernel).unwrap();
    assert!(call(&library, "t::f").is_err());
}

/// A kernel that calls 20,000 operators: what it keeps of them is bounded, and dropped without recursion.
#[test]
fn a_composition_of_many_operators() {
    const MANY: usize = 20_000;
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    define(&mut library, "all(Tensor x) -> Tensor");
    for i in 0..MANY {
        let definition = Definition::parse(&format!("f{i}(Tensor x) -> Tensor")).unwrap();
        library.define(definition.dispatch([DispatchKey::CPU], constant::<1>())).unwrap();
    }
    let all = KernelFunction::composed(|calls, stack| {
        let mut sum = 0;
        for i in 0..MANY {
            sum += numbers(&calls.tensor(&format!("t::f{i}"), [stack[0].clone()])?)[0];
        }
        *stack = vec![tensor(&[sum]).into()];
        Ok(())
    });
    library.kernel("t::all", IMPLICIT, all).unwrap();
    let handle = dispatcher.find("t::all").unwrap();
    let mut stack: Stack = vec![tensor(&[0]).into()];
    handle.call(&mut stack).unwrap();
    assert_eq!(numbers(&result(stack)), [MANY as i64]);
    std::thread::spawn(move || drop(handle)).join().unwrap();
}

/// A value as deep as anyone can make it is two lists deep.
#[test]
fn lists_of_values_do_not_nest() {
    let list = |items: Vec<IValue>| ItemList::try_from(items);
    let flat = list(vec![IValue::Int(1), IValue::None, IValue::Ints(vec![1, 2])]).unwrap();
    assert_eq!(format!("{flat:?}"), "[Int(1), None, Ints([1, 2])]");
    let nested: Error = list(vec![IValue::Int(1), IValue::List(flat)]).unwrap_err();
    assert!(nested.to_string().contains("lists of one type"), "{nested}");
    assert!(list(vec![IValue::List(ItemList::EMPTY)]).is_err());
}

/// Libraries that own each other through their kernels are dropped in a loop.
#[test]
fn a_tower_of_libraries_is_dropped_without_recursion() {
    let dispatcher = Dispatcher::new();
    let mut top = dispatcher.library("t");
    for i in 0..20_000 {
        let below = Arc::new(std::mem::replace(&mut top, dispatcher.library("t")));
        let kernel = KernelFunction::functor(move || {
            let below = below.clone();
            move |_: &monomorph_core::AnyTensor| tensor(&[i64::from(below.namespace() == "t")])
        });
        top.kernel(&format!("t::f{i}"), DispatchKey::CPU, kernel).unwrap();
    }
    std::thread::spawn(move || drop(top)).join().unwrap();
    assert_eq!(dispatcher.dump(), "");
}
