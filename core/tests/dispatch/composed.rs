//! Kernels that are composed of other operators.

use super::{call, constant, define, fault, numbers, result, tensor};
use monomorph_core::dispatch::{
    AliasKey, DispatchError, DispatchKey, Dispatcher, KernelFunction, KernelKind, RegistrationKey,
};
use monomorph_core::{AnyTensor, ErrorKind, IValue, Stack};

const IMPLICIT: AliasKey = AliasKey::CompositeImplicit;

#[test]
fn a_composition_follows_the_operators_that_it_calls() {
    let dispatcher = Dispatcher::new();
    let mut user = dispatcher.library("user");
    define(&mut user, "both(Tensor x) -> Tensor");
    let both = KernelFunction::composed(|calls, stack| {
        let first = calls.tensor("t::f", [stack[0].clone()])?;
        let second = calls.tensor("t::g", [first.into()])?;
        *stack = vec![second.into()];
        Ok(())
    });
    assert_eq!((both.kind(), both.inferred().is_none()), (KernelKind::Composed, true));
    user.kernel("user::both", IMPLICIT, both).unwrap();
    let handle = dispatcher.find("user::both").unwrap();
    let called = || {
        let mut stack: Stack = vec![tensor(&[0]).into()];
        handle.call(&mut stack).map(|()| numbers(&result(stack)))
    };
    assert!(matches!(called().unwrap_err().kind(), ErrorKind::UnknownOperator { .. }), "nothing to call yet");

    let define_t = |n: bool| {
        let mut t = dispatcher.library("t");
        define(&mut t, "f(Tensor x) -> Tensor");
        define(&mut t, "g(Tensor x) -> Tensor");
        t.kernel("t::f", DispatchKey::CPU, constant::<1>()).unwrap();
        t.kernel("t::g", DispatchKey::CPU, if n { constant::<2>() } else { constant::<3>() }).unwrap();
        t
    };
    let t = define_t(true);
    assert_eq!(called().unwrap(), [2]);
    assert_eq!(called().unwrap(), [2], "through handles that are kept");
    drop(t);
    assert!(called().is_err());
    let _t = define_t(false);
    assert_eq!(called().unwrap(), [3], "handles of what is gone are not");
    let typed = handle.typed::<(&AnyTensor,), AnyTensor>().unwrap();
    assert_eq!(numbers(&typed.call((&tensor(&[0]),)).unwrap()), [3]);
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| (0..50).for_each(|_| assert_eq!(called().unwrap(), [3])));
        }
    });
}

#[test]
fn another_name_is_the_operator_itself() {
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "f(Tensor x) -> Tensor");
    define(&mut library, "other(Tensor x) -> Tensor");
    library.kernel("t::f", DispatchKey::CPU, constant::<5>()).unwrap();
    library.kernel("t::other", IMPLICIT, KernelFunction::redirect("t::f")).unwrap();
    assert_eq!(call(&library, "t::other").unwrap(), [5]);
    library.replace("t::f", DispatchKey::CPU, constant::<6>()).unwrap();
    assert_eq!(call(&library, "t::other").unwrap(), [6]);
    let error = library.dispatcher().call("t::other", &mut vec![IValue::None]).unwrap_err();
    assert_eq!(error.op(), "t::f");
}

#[test]
fn what_a_called_operator_returns_is_looked_at() {
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "number(Tensor x) -> int");
    define(&mut library, "none(Tensor x) -> ()");
    library.kernel("t::number", RegistrationKey::CatchAll, KernelFunction::function(|_: &AnyTensor| 1i64)).unwrap();
    library.kernel("t::none", RegistrationKey::CatchAll, KernelFunction::function(|_: &AnyTensor| ())).unwrap();
    let mut ask = |name: &'static str, list: bool| {
        define(&mut library, &format!("ask_{list}_{}(Tensor x) -> Tensor", &name[3..]));
        let kernel = KernelFunction::composed(move |calls, stack| {
            let x = stack[0].clone();
            let result = if list { calls.tensors(name, [x])?.remove(0) } else { calls.tensor(name, [x])? };
            *stack = vec![result.into()];
            Ok(())
        });
        let asked = format!("t::ask_{list}_{}", &name[3..]);
        library.kernel(&asked, IMPLICIT, kernel).unwrap();
        let mut stack: Stack = vec![tensor(&[1]).into()];
        let error = library.dispatcher().call(&asked, &mut stack).unwrap_err();
        assert_eq!(stack.len(), 1, "the stack is as it was");
        error
    };
    assert!(matches!(fault(&ask("t::number", false)), DispatchError::WrongResults { .. }));
    assert!(matches!(fault(&ask("t::number", true)), DispatchError::WrongResults { .. }));
    assert!(matches!(ask("t::none", false).kind(), ErrorKind::ResultCount { got: 0, want: 1 }));
}

/// Where its tensors are, and what device is current, is the affair of the operators that it calls.
#[test]
fn a_composition_may_have_tensors_of_several_devices() {
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "two(Tensor x, Tensor y) -> Tensor");
    let two = || KernelFunction::function(|_: &AnyTensor, _: &AnyTensor| tensor(&[4]));
    library.kernel("t::two", IMPLICIT, two()).unwrap();
    let called = || {
        let mut stack: Stack = vec![tensor(&[1]).into(), tensor(&[2]).to_meta().into()];
        library.dispatcher().call("t::two", &mut stack).map(|()| numbers(&result(stack)))
    };
    assert_eq!(called().unwrap(), [4]);
    let mut own = library.dispatcher().library("own");
    own.kernel("t::two", DispatchKey::META, two()).unwrap();
    assert!(
        matches!(called().unwrap_err().kind(), ErrorKind::DeviceMismatch { .. }),
        "a kernel of a device is checked"
    );
}
