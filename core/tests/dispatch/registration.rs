//! Registration and its undoing.

use super::{call, constant, define, fault};
use monomorph_core::dispatch::{
    AliasKey, Definition, DispatchError, DispatchKey, Dispatcher, Flags, KernelFunction, RegistrationKey,
};
use monomorph_core::{ErrorKind, Stack};

#[test]
fn dropping_a_library_undoes_everything() {
    let dispatcher = Dispatcher::new();
    let mut base = dispatcher.library("t");
    define(&mut base, "f(Tensor x) -> Tensor");
    base.kernel("t::f", DispatchKey::CPU, constant::<1>()).unwrap();
    let handle = dispatcher.find("t::f").unwrap();
    {
        let mut over = dispatcher.library("other");
        over.replace("t::f", DispatchKey::CPU, constant::<2>()).unwrap();
        over.define(Definition::parse("g(Tensor x) -> Tensor").unwrap().default_kernel(constant::<3>())).unwrap();
        over.fallback(DispatchKey::TRACER, KernelFunction::fallthrough()).unwrap();
        assert_eq!(call(&base, "t::f").unwrap(), [2]);
        assert_eq!(call(&base, "other::g").unwrap(), [3]);
        assert_eq!(dispatcher.operators().len(), 2);
    }
    assert_eq!(call(&base, "t::f").unwrap(), [1], "the replaced kernel is back");
    assert!(matches!(call(&base, "other::g").unwrap_err().kind(), ErrorKind::UnknownOperator { .. }));
    dispatcher.library("x").fallback(DispatchKey::TRACER, KernelFunction::fallthrough()).unwrap();
    drop(base);
    assert!(dispatcher.operators().is_empty());
    let error = handle.call(&mut Stack::new()).unwrap_err();
    assert_eq!(fault(&error), &DispatchError::NotDefined, "a handle outlives the operator");
    let mut again = dispatcher.library("t");
    define(&mut again, "f(Tensor x) -> Tensor");
}

#[test]
fn a_second_definition_or_kernel_is_refused_and_nothing_changes() {
    let dispatcher = Dispatcher::new();
    let mut base = dispatcher.library("t");
    let definition = || Definition::parse("f(Tensor x) -> Tensor").unwrap();
    base.define(definition().dispatch([DispatchKey::CPU], constant::<1>())).unwrap();
    let mut same = dispatcher.library("t");
    let error = same.define(definition().dispatch([DispatchKey::META], constant::<2>())).unwrap_err();
    assert_eq!(fault(&error), &DispatchError::AlreadyDefined { by: "t".to_owned() });
    assert_eq!(error.op(), "t::f");
    // Several keys are registered together or not at all.
    let keys = [RegistrationKey::META, RegistrationKey::CPU];
    let error = same.kernels("t::f", &keys, constant::<3>()).unwrap_err();
    assert!(matches!(fault(&error), DispatchError::AlreadyRegistered { key, .. } if key == "Cpu"));
    let served =
        |key| dispatcher.find("t::f").unwrap().explain().into_iter().find(|(k, ..)| *k == key).unwrap().2.is_some();
    assert!(served(DispatchKey::CPU) && !served(DispatchKey::META));
    same.fallback(DispatchKey::TRACER, KernelFunction::fallthrough()).unwrap();
    assert!(base.fallback(DispatchKey::TRACER, KernelFunction::fallthrough()).is_err());
}

#[test]
fn an_operator_has_one_composed_kernel() {
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "f(Tensor x) -> Tensor");
    library.kernel("t::f", AliasKey::CompositeExplicit, constant::<1>()).unwrap();
    let error = library.kernel("t::f", AliasKey::CompositeImplicit, constant::<2>()).unwrap_err();
    assert!(matches!(fault(&error), DispatchError::ConflictingAliases { .. }), "{error}");
    assert!(library.replace("t::f", AliasKey::CompositeExplicitNonFunctional, constant::<2>()).is_err());
    library.kernel("t::f", AliasKey::Autograd, constant::<3>()).unwrap();
    assert_eq!(call(&library, "t::f").unwrap(), [1]);
}

#[test]
fn a_default_kernel_beside_others_has_to_say_what_it_is() {
    let mut library = Dispatcher::new().library("t");
    let definition = || Definition::parse("f(Tensor x) -> Tensor").unwrap();
    let unclear = definition().default_kernel(constant::<1>()).dispatch([DispatchKey::CPU], constant::<2>());
    let error = library.define(unclear).unwrap_err();
    assert!(matches!(fault(&error), DispatchError::DefaultWithDispatch { .. }), "{error}");
    let clear = definition()
        .dispatch([AliasKey::CompositeImplicit], constant::<1>())
        .dispatch([DispatchKey::META], constant::<2>());
    library.define(clear).unwrap();
    assert_eq!(call(&library, "t::f").unwrap(), [1]);
}

#[test]
fn an_operator_that_is_registered_by_hand_is_defined_without_kernels() {
    let mut library = Dispatcher::new().library("t");
    let flags = Flags { manual_registration: true, ..Flags::default() };
    let definition = || Definition::parse("f(Tensor x) -> Tensor").unwrap().with_flags(flags);
    let error = library.define(definition().dispatch([DispatchKey::CPU], constant::<1>())).unwrap_err();
    assert!(matches!(fault(&error), DispatchError::ManualRegistration { .. }), "{error}");
    library.define(definition()).unwrap();
    library.kernel("t::f", DispatchKey::CPU, constant::<1>()).unwrap();
    assert_eq!(call(&library, "t::f").unwrap(), [1]);
}

#[test]
fn a_library_that_others_rely_on_is_not_closed() {
    let dispatcher = Dispatcher::new();
    let mut base = dispatcher.library("t");
    define(&mut base, "f(Tensor x) -> Tensor");
    let mut user = dispatcher.library("user");
    user.kernel("t::f", DispatchKey::CPU, constant::<5>()).unwrap();
    let (base, error) = base.close().unwrap_err();
    assert!(
        matches!(fault(&error), DispatchError::InUse { by } if by.contains("user") && by.contains("t::f")),
        "{error}"
    );
    assert_eq!(call(&user, "t::f").unwrap(), [5], "nothing has changed");
    // Dropped all the same, it takes its definition along; the kernel waits for another.
    drop(base);
    assert_eq!(fault(&call(&user, "t::f").unwrap_err()), &DispatchError::NotDefined);
    let mut again = dispatcher.library("t");
    define(&mut again, "f(Tensor x) -> Tensor");
    assert_eq!(call(&user, "t::f").unwrap(), [5]);
    user.close().unwrap();
    again.close().unwrap();
}

#[test]
fn names_keys_and_schemas_that_are_none() {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    let error = Definition::parse("f(Tensro x) -> Tensor").unwrap_err();
    assert!(matches!(fault(&error), DispatchError::Schema(_)) && error.to_string().contains("Tensro"), "{error}");
    let error = library.define(Definition::parse("aten::f(Tensor x) -> Tensor").unwrap()).unwrap_err();
    assert!(matches!(fault(&error), DispatchError::OutsideNamespace { .. }), "{error}");
    define(&mut library, "t::softmax(Tensor x) -> Tensor");
    let error = dispatcher.find("t::sofmax").unwrap_err();
    assert!(error.to_string().contains("t::softmax"), "{error}");
    let error = dispatcher.key("Cpy").unwrap_err();
    assert!(error.to_string().contains("Cpu"), "{error}");
    let undefined = RegistrationKey::Runtime(DispatchKey::UNDEFINED);
    assert!(library.kernel("t::softmax", undefined, constant::<1>()).is_err());
    assert!(library.fallback(DispatchKey::TRACER, constant::<1>()).is_err(), "not boxed");
}
