//! Precedence as calls see it, and the errors of a call.

use super::{call, constant, define, fault, result, tensor};
use monomorph_core::dispatch::{
    AliasKey, Backend, Definition, DispatchError, DispatchKey, Dispatcher, Flags, Frame, KernelFunction, KeyGuard,
    RegistrationKey, Source,
};
use monomorph_core::{AnyTensor, DeviceId, ErrorKind, IValue, Result, Stack};

const IMPLICIT: AliasKey = AliasKey::CompositeImplicit;
const EXPLICIT: AliasKey = AliasKey::CompositeExplicit;

#[test]
fn a_kernel_of_the_key_beats_composed_ones_which_beat_the_catch_all() {
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "f(Tensor x) -> Tensor");
    let error = call(&library, "t::f").unwrap_err();
    assert_eq!(error.op(), "t::f");
    assert!(matches!(fault(&error), DispatchError::NoKernel { key, .. } if key == "Cpu"), "{error}");

    library.kernel("t::f", RegistrationKey::CatchAll, constant::<1>()).unwrap();
    assert_eq!(call(&library, "t::f").unwrap(), [1]);
    library.kernel("t::f", EXPLICIT, constant::<2>()).unwrap();
    assert_eq!(call(&library, "t::f").unwrap(), [2]);
    library.kernel("t::f", DispatchKey::CPU, constant::<3>()).unwrap();
    assert_eq!(call(&library, "t::f").unwrap(), [3]);
}

#[test]
fn the_error_lists_the_keys_that_have_a_kernel() {
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "f(Tensor x) -> Tensor");
    library.kernel("t::f", DispatchKey::CUDA, constant::<1>()).unwrap();
    library.kernel("t::f", DispatchKey::META, constant::<1>()).unwrap();
    let error = call(&library, "t::f").unwrap_err().to_string();
    assert!(error.contains("no kernel for Cpu") && error.contains("Cuda, Meta"), "{error}");
}

#[test]
fn implicit_compositions_serve_derivatives_unless_the_backend_has_its_own() {
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "f(Tensor x) -> Tensor");
    library.kernel("t::f", IMPLICIT, constant::<1>()).unwrap();
    library.kernel("t::f", DispatchKey::META, constant::<2>()).unwrap();
    let lines = library.dispatcher().find("t::f").unwrap().explain();
    let source = |key| lines.iter().find(|(k, ..)| *k == key).unwrap().1.source;
    let implicit = Source::Kernel(RegistrationKey::Alias(IMPLICIT));
    assert_eq!(source(DispatchKey::autograd(Backend::CPU)), implicit);
    assert_eq!(source(DispatchKey::autograd(Backend::META)), Source::Fallthrough);
    assert_eq!(source(DispatchKey::CPU), implicit);
    assert_eq!(source(DispatchKey::UNDEFINED), implicit);
    assert_eq!(source(DispatchKey::META), Source::Kernel(DispatchKey::META.into()));
    assert_eq!(source(DispatchKey::TRACER), Source::Fallthrough);
}

#[test]
fn explanations_of_kernels_that_are_not_there() {
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "f(Tensor x) -> Tensor");
    let handle = library.dispatcher().find("t::f").unwrap();
    let keys = [DispatchKey::CUDA.into(), RegistrationKey::Alias(EXPLICIT)];
    let lines = handle.explain_with(&keys);
    let source = |key| lines.iter().find(|(k, _)| *k == key).unwrap().1.source;
    assert_eq!(source(DispatchKey::CUDA), Source::Kernel(keys[0]));
    assert_eq!(source(DispatchKey::CPU), Source::Kernel(keys[1]));
    assert!(handle.explain().iter().all(|(_, r, _)| matches!(r.source, Source::Missing | Source::Fallthrough)));
}

/// An operator has at most one composed kernel, but one may ask what several would do; and what derivatives there are.
#[test]
fn aliases_serve_in_their_order() {
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "f(Tensor x) -> Tensor");
    let handle = library.dispatcher().find("t::f").unwrap();
    let order = [AliasKey::CompositeExplicitNonFunctional, EXPLICIT, IMPLICIT].map(RegistrationKey::Alias);
    for (i, first) in order.into_iter().enumerate() {
        let mut keys = order[i..].to_vec();
        keys.reverse();
        let lines = handle.explain_with(&keys);
        assert!(lines.iter().any(|(k, r)| *k == DispatchKey::CPU && r.source == Source::Kernel(first)), "{first}");
    }
    let cpu = DispatchKey::autograd(Backend::CPU);
    let source =
        |keys: &[RegistrationKey]| handle.explain_with(keys).into_iter().find(|(k, _)| *k == cpu).unwrap().1.source;
    let autograd = RegistrationKey::Alias(AliasKey::Autograd);
    assert_eq!(source(&[autograd]), Source::Kernel(autograd));
    assert_eq!(
        source(&[autograd, order[1]]),
        Source::Kernel(autograd),
        "an explicit composition has no derivative of its own"
    );
    assert_eq!(source(&[autograd, order[2]]), Source::Kernel(order[2]), "an implicit one has");
    assert_eq!(source(&[autograd, order[2], DispatchKey::CPU.into()]), Source::Kernel(autograd));
}

#[test]
fn numbers_in_place_of_tensors_run_on_the_cpu() {
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "f(Tensor? x, Tensor[] rest) -> Tensor");
    let kernel = KernelFunction::stack(|stack| {
        *stack = vec![tensor(&[7]).into()];
        Ok(())
    });
    library.kernel("t::f", DispatchKey::CPU, kernel).unwrap();
    let called = |x: IValue| library.dispatcher().call("t::f", &mut vec![x, IValue::Tensors(Vec::new())]);
    called(IValue::Int(2)).unwrap();
    called(IValue::Float(0.5)).unwrap();
    let error = called(IValue::None).unwrap_err();
    assert!(error.to_string().contains("without tensors"), "{error}");
}

#[test]
fn a_kernel_hands_a_call_on_to_the_next_key() {
    fn traced(frame: &Frame<'_>, stack: &mut Stack) -> Result<()> {
        assert_eq!(frame.key(), DispatchKey::TRACER);
        assert_eq!(frame.schema().full_name(), "f");
        frame.redispatch(stack)?;
        let got = super::numbers(stack[0].as_tensor().unwrap());
        stack[0] = tensor(&[got[0] + 100]).into();
        Ok(())
    }
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "f(Tensor x) -> Tensor");
    library.kernel("t::f", DispatchKey::CPU, constant::<7>()).unwrap();
    library.fallback(DispatchKey::TRACER, KernelFunction::boxed(traced)).unwrap();
    assert_eq!(call(&library, "t::f").unwrap(), [7]);
    let _tracing = KeyGuard::include(DispatchKey::TRACER);
    assert_eq!(call(&library, "t::f").unwrap(), [107]);
    // A kernel of the operator beats the fallback of all, also if it is none.
    library.kernel("t::f", DispatchKey::TRACER, KernelFunction::fallthrough()).unwrap();
    assert_eq!(call(&library, "t::f").unwrap(), [7]);
}

#[test]
fn a_factory_takes_its_device_from_the_argument_and_else_the_cpu() {
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "make(int n, *, Device? device=None) -> Tensor");
    library
        .kernel("t::make", DispatchKey::CPU, KernelFunction::function(|n: i64, _: Option<DeviceId>| tensor(&[n])))
        .unwrap();
    library
        .kernel("t::make", DispatchKey::META, KernelFunction::function(|n: i64, _: Option<DeviceId>| tensor(&[-n])))
        .unwrap();
    let made = |mut stack: Stack| {
        library.dispatcher().call("t::make", &mut stack).unwrap();
        super::numbers(&result(stack))
    };
    assert_eq!(made(vec![IValue::Int(5)]), [5]);
    assert_eq!(made(vec![IValue::Int(5), IValue::None]), [5]);
    assert_eq!(made(vec![IValue::Int(5), DeviceId::META.into()]), [-5]);
    let typed = library.dispatcher().find("t::make").unwrap().typed::<(i64, Option<DeviceId>), AnyTensor>().unwrap();
    assert_eq!(super::numbers(&typed.call((5, None)).unwrap()), [5]);
    assert_eq!(super::numbers(&typed.call((5, Some(DeviceId::META))).unwrap()), [-5]);
}

#[test]
fn an_operator_can_be_told_to_be_a_factory() {
    let mut library = Dispatcher::new().library("t");
    let flags = Flags { factory: Some(true), device_check: false, ..Flags::default() };
    let definition = Definition::parse("like(Tensor x, *, Device? device=None) -> Tensor").unwrap().with_flags(flags);
    let of = |n: i64| match n {
        0 => KernelFunction::function(|_: &AnyTensor, _: Option<DeviceId>| tensor(&[0])),
        _ => KernelFunction::function(|_: &AnyTensor, _: Option<DeviceId>| tensor(&[1])),
    };
    library.define(definition.dispatch([DispatchKey::CPU], of(0)).dispatch([DispatchKey::META], of(1))).unwrap();
    let mut stack: Stack = vec![tensor(&[3]).into(), DeviceId::META.into()];
    library.dispatcher().call("t::like", &mut stack).unwrap();
    assert_eq!(super::numbers(&result(stack)), [1]);
}

#[test]
fn a_call_over_an_empty_list_is_served_by_a_composition_or_refused() {
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "all(Tensor[] xs) -> Tensor");
    let first = || KernelFunction::function(|xs: &[AnyTensor]| tensor(&[xs.len() as i64]));
    library.kernel("t::all", DispatchKey::CPU, first()).unwrap();
    let empty = || -> Stack { vec![IValue::Tensors(Vec::new())] };
    let mut stack = empty();
    let error = library.dispatcher().call("t::all", &mut stack).unwrap_err();
    assert!(error.to_string().contains("without tensors"), "{error}");
    assert_eq!(stack.len(), 1, "the stack is as it was");
    let typed = library.dispatcher().find("t::all").unwrap().typed::<(&[AnyTensor],), AnyTensor>().unwrap();
    let error = typed.call((&[],)).unwrap_err();
    assert!(error.to_string().contains("without tensors"), "nor does a typed call run on the CPU: {error}");
    {
        let mut any = library.dispatcher().library("any");
        any.kernel("t::all", RegistrationKey::CatchAll, first()).unwrap();
        library.dispatcher().call("t::all", &mut empty()).unwrap();
    }
    library.kernel("t::all", IMPLICIT, first()).unwrap();
    let mut stack = empty();
    library.dispatcher().call("t::all", &mut stack).unwrap();
    assert_eq!(super::numbers(&result(stack)), [0]);
}

#[test]
fn wrong_counts_and_kinds_leave_the_stack_as_it_was() {
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "f(Tensor x, int n, *, float y=1.5) -> Tensor");
    let kernel = KernelFunction::function(|_: &AnyTensor, n: i64, y: f64| tensor(&[n, (y * 2.0) as i64]));
    library.kernel("t::f", DispatchKey::CPU, kernel).unwrap();
    let f = library.dispatcher().find("t::f").unwrap();
    let x = || -> IValue { tensor(&[1]).into() };
    for (mut stack, want) in [
        (vec![x()], "1 arguments"),
        (vec![x(), IValue::Int(1), IValue::Float(0.0), IValue::None], "4 arguments"),
        (vec![x(), IValue::Float(1.0)], "n"),
        (vec![x(), IValue::Int(1), IValue::Bool(true)], "y"),
    ] {
        let before = stack.len();
        let error = f.call(&mut stack).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::ArgumentCount { .. } | ErrorKind::ArgumentKind { .. }), "{error}");
        assert!(error.to_string().contains(want.split(' ').next().unwrap()), "{error}");
        assert_eq!(stack.len(), before);
    }
    let mut stack = vec![x(), IValue::Int(4)];
    f.call(&mut stack).unwrap();
    assert_eq!(super::numbers(&result(stack)), [4, 3]);
}

#[test]
fn devices_are_checked_and_the_check_can_be_switched_off() {
    use monomorph_core::{DType, Meta, Tensor};
    let elsewhere = || Tensor::<Meta>::zeros_contiguous(DType::F32, &[1]).unwrap().into_any();
    for (device_check, fine) in [(true, false), (false, true)] {
        let mut library = Dispatcher::new().library("t");
        let flags = Flags { device_check, ..Flags::default() };
        let two = KernelFunction::function(|x: &AnyTensor, _: &AnyTensor| x.clone());
        let definition = Definition::parse("f(Tensor(a) x, Tensor y) -> Tensor(a)").unwrap().with_flags(flags);
        library.define(definition.dispatch([DispatchKey::META], two)).unwrap();
        let f = library.dispatcher().find("t::f").unwrap();
        let mut stack: Stack = vec![tensor(&[1]).into(), elsewhere().into()];
        let boxed = f.call(&mut stack);
        let (a, b) = (tensor(&[1]), elsewhere());
        let typed = f.typed::<(&AnyTensor, &AnyTensor), AnyTensor>().unwrap().call((&a, &b));
        for outcome in [boxed.map(drop), typed.map(drop)] {
            assert_eq!(outcome.is_ok(), fine);
            if let Err(error) = outcome {
                assert!(matches!(error.kind(), ErrorKind::DeviceMismatch { .. }), "{error}");
            }
        }
    }
}
