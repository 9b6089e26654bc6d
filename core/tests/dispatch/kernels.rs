//! Kinds of kernels and their two doors.

use super::{define, fault, numbers, result, tensor};
use monomorph_core::dispatch::{
    BoxedKernel, DispatchError, DispatchKey, Dispatcher, Frame, KernelFunction, KernelKind, Library,
};
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, MemoryFormat, Result, Scalar, Stack};
use std::sync::atomic::{AtomicI64, Ordering};

fn twice(x: &AnyTensor, by: Scalar) -> Result<AnyTensor> {
    let by = if let Scalar::Int(i) = by { i } else { 0 };
    Ok(tensor(&numbers(x).iter().map(|v| v * by).collect::<Vec<_>>()))
}

fn library(schema: &str, kernel: KernelFunction) -> Library {
    let mut library = Dispatcher::new().library("t");
    define(&mut library, schema);
    let name = format!("t::{}", schema.split('(').next().expect("a name"));
    library.kernel(&name, DispatchKey::CPU, kernel).expect("the kernel fits");
    library
}

fn boxed_twice(_: &Frame<'_>, stack: &mut Stack) -> Result<()> {
    let by = stack.pop().and_then(|v| v.to_scalar()).expect("checked by nobody but the test");
    let x = stack.pop().and_then(IValue::into_tensor).expect("a tensor");
    stack.push(twice(&x, by)?.into());
    Ok(())
}

#[test]
fn every_kind_answers_at_both_doors() {
    let pointer: fn(&AnyTensor, Scalar) -> Result<AnyTensor> =
        if numbers(&tensor(&[1])) == [1] { twice } else { |_, _| unreachable!() };
    let kernels = [
        (KernelKind::Function, KernelFunction::function(twice)),
        (KernelKind::Function, KernelFunction::function(|x: &AnyTensor, by: Scalar| twice(x, by))),
        (KernelKind::Pointer, KernelFunction::pointer(pointer)),
        (
            KernelKind::Functor,
            KernelFunction::functor(|| {
                let calls = AtomicI64::new(0);
                move |x: &AnyTensor, by: Scalar| {
                    calls.fetch_add(1, Ordering::Relaxed);
                    twice(x, by)
                }
            }),
        ),
        (KernelKind::Boxed, KernelFunction::boxed(boxed_twice)),
    ];
    for (kind, kernel) in kernels {
        assert_eq!(kernel.kind(), kind);
        assert_eq!(kernel.inferred().is_none(), kind == KernelKind::Boxed);
        let library = library("f(Tensor x, Scalar by) -> Tensor", kernel);
        let f = library.dispatcher().find("t::f").unwrap();
        let mut stack: Stack = vec![tensor(&[1, 2]).into(), IValue::Int(3)];
        f.call(&mut stack).unwrap();
        assert_eq!(numbers(&result(stack)), [3, 6], "{kind:?}");
        let x = tensor(&[4]);
        let typed = f.typed::<(&AnyTensor, Scalar), AnyTensor>().unwrap();
        assert_eq!(numbers(&typed.call((&x, Scalar::Int(5))).unwrap()), [20], "{kind:?}");
    }
}

#[test]
fn a_functor_has_state_per_look_up() {
    static MADE: AtomicI64 = AtomicI64::new(0);
    let counting = |start: i64| {
        KernelFunction::functor(move || {
            MADE.fetch_add(1, Ordering::Relaxed);
            let calls = AtomicI64::new(start);
            move |_: &AnyTensor| tensor(&[calls.fetch_add(1, Ordering::Relaxed)])
        })
    };
    let library = library("f(Tensor x) -> Tensor", counting(10));
    assert_eq!(MADE.load(Ordering::Relaxed), 0, "registration makes no object");
    let count = |f: &monomorph_core::dispatch::OperatorHandle| {
        let mut stack: Stack = vec![tensor(&[0]).into()];
        f.call(&mut stack).unwrap();
        numbers(&result(stack))[0]
    };
    let f = library.dispatcher().find("t::f").unwrap();
    assert_eq!([count(&f), count(&f)], [10, 11], "the constructor's argument is kept, the object too");
    let copy = f.clone();
    assert_eq!([count(&copy), count(&f)], [10, 12], "a clone starts anew and leaves the other alone");
    assert_eq!(MADE.load(Ordering::Relaxed), 2);
}

#[test]
fn a_constructor_that_panics_is_an_error_and_can_be_tried_again() {
    static READY: AtomicI64 = AtomicI64::new(0);
    let kernel = KernelFunction::functor(|| {
        assert!(READY.fetch_add(1, Ordering::Relaxed) > 0, "not ready");
        |_: &AnyTensor| tensor(&[1])
    });
    let library = library("f(Tensor x) -> Tensor", kernel);
    let f = library.dispatcher().find("t::f").unwrap();
    let mut stack: Stack = vec![tensor(&[0]).into()];
    let error = f.call(&mut stack).unwrap_err();
    assert!(
        matches!(fault(&error), DispatchError::ConstructorPanicked { message, .. } if message.contains("not ready")),
        "{error}"
    );
    assert_eq!(stack.len(), 1);
    f.call(&mut stack).unwrap();
}

#[test]
fn written_arguments_come_back_as_results() {
    fn fill(x: &mut AnyTensor, n: i64) -> Result<()> {
        let x = x.downcast_mut::<super::Host>().expect("on the host");
        x.data_mut::<i64>()?.fill(n);
        Ok(())
    }
    fn boxed_fill(_: &Frame<'_>, stack: &mut Stack) -> Result<()> {
        let n = stack.pop().and_then(|v| if let IValue::Int(n) = v { Some(n) } else { None }).expect("an int");
        fill(stack[0].as_tensor_mut().expect("a tensor"), n)
    }
    for kernel in [KernelFunction::function(fill), KernelFunction::boxed(boxed_fill)] {
        let library = library("f_(Tensor(a!) self, int n) -> Tensor(a!)", kernel);
        let f = library.dispatcher().find("t::f_").unwrap();
        let mut x = tensor(&[1, 2]);
        let mut stack: Stack = vec![x.clone().into(), IValue::Int(7)];
        f.call(&mut stack).unwrap();
        let y = result(stack);
        assert_eq!((numbers(&y), y.storage_id()), (vec![7, 7], x.storage_id()));
        let storage = x.storage_id();
        f.typed::<(&mut AnyTensor, i64), ()>().unwrap().call((&mut x, 9)).unwrap();
        assert_eq!((numbers(&x), x.storage_id()), (vec![9, 9], storage));
    }
}

/// A boxed kernel works on a tensor of its own that shares the storage; the caller's gets the geometry that it is left
/// with.
#[test]
fn a_typed_caller_sees_what_a_boxed_kernel_did_to_the_geometry() {
    fn column(_: &Frame<'_>, stack: &mut Stack) -> Result<()> {
        let x = stack[0].as_tensor_mut().and_then(|t| t.downcast_mut::<super::Host>()).expect("on the host");
        let sizes = [x.sizes()[0], 1];
        x.set_view(monomorph_core::Geometry::contiguous(x.dtype(), &sizes)?)
    }
    let library = library("f_(Tensor(a!) self) -> Tensor(a!)", KernelFunction::boxed(column));
    let f = library.dispatcher().find("t::f_").unwrap().typed::<(&mut AnyTensor,), ()>().unwrap();
    let mut x = tensor(&[1, 2]);
    let storage = x.storage_id();
    f.call((&mut x,)).unwrap();
    assert_eq!((x.sizes(), x.storage_id()), (&[2, 1][..], storage));
}

#[test]
fn a_written_argument_is_returned_as_nothing_or_as_a_tensor() {
    fn nothing(x: &mut AnyTensor) {
        x.downcast_mut::<super::Host>().expect("on the host").data_mut::<i64>().expect("unshared").fill(3);
    }
    fn itself(x: &mut AnyTensor) -> AnyTensor {
        nothing(x);
        x.clone()
    }
    for kernel in [KernelFunction::function(nothing), KernelFunction::function(itself)] {
        let library = library("f_(Tensor(a!) self) -> Tensor(a!)", kernel);
        let f = library.dispatcher().find("t::f_").unwrap();
        let (mut x, mut y) = (tensor(&[1]), tensor(&[2]));
        f.typed::<(&mut AnyTensor,), ()>().unwrap().call((&mut x,)).unwrap();
        let z = f.typed::<(&mut AnyTensor,), AnyTensor>().unwrap().call((&mut y,)).unwrap();
        assert_eq!((numbers(&x), numbers(&y), numbers(&z)), (vec![3], vec![3], vec![3]));
        assert_eq!(y.storage_id(), z.storage_id());
    }
}

#[test]
fn every_schema_type_passes_through_both_doors() {
    #[allow(clippy::too_many_arguments, reason = "one of each type")]
    fn all(
        a: &AnyTensor,
        b: Option<&AnyTensor>,
        c: &[AnyTensor],
        d: &[i64],
        e: &str,
        f: bool,
        g: Option<DType>,
        h: Option<MemoryFormat>,
        i: Option<&[f64]>,
        j: f64,
    ) -> i64 {
        let dtype = g.map_or(0, |d| d.size() as i64);
        a.numel() as i64
            + b.map_or(100, |t| t.numel() as i64)
            + c.len() as i64 * 10
            + d.iter().sum::<i64>()
            + e.len() as i64 * 1000
            + i64::from(f)
            + dtype
            + i64::from(h.is_some())
            + i.map_or(0, |l| l.len() as i64)
            + j as i64
    }
    let schema = "f(Tensor a, Tensor? b, Tensor[] c, SymInt[2] d, str e, bool f, ScalarType? g=None, MemoryFormat? \
        h=None, float[]? i=None, float j=2.0) -> int";
    let library = library(schema, KernelFunction::function(all));
    let f = library.dispatcher().find("t::f").unwrap();
    let mut stack: Stack = vec![
        tensor(&[1, 2, 3]).into(),
        IValue::None,
        IValue::Tensors(vec![tensor(&[1]), tensor(&[2])]),
        IValue::Int(4),
        "ab".into(),
        true.into(),
    ];
    f.call(&mut stack).unwrap();
    assert!(matches!(stack[..], [IValue::Int(n)] if n == 3 + 100 + 20 + 4 + 2000 + 1 + 2), "{stack:?}");
    let (a, c) = (tensor(&[1]), [tensor(&[2])]);
    type Args<'a> = (
        &'a AnyTensor,
        Option<&'a AnyTensor>,
        &'a [AnyTensor],
        &'a [i64],
        &'a str,
        bool,
        Option<DType>,
        Option<MemoryFormat>,
        Option<&'a [f64]>,
        f64,
    );
    let typed = f.typed::<Args<'_>, i64>().unwrap();
    let n = typed.call((&a, Some(&a), &c, &[1, 2], "x", false, Some(DType::F32), None, Some(&[0.5]), 3.0)).unwrap();
    assert_eq!(n, 1 + 1 + 10 + 3 + 1000 + 4 + 1 + 3);
}

#[test]
fn functions_that_are_not_what_the_schema_declares_are_refused() {
    let wrong: [(&str, KernelFunction, &str); 6] = [
        (
            "f(Tensor x, int n) -> Tensor",
            KernelFunction::function(|x: &AnyTensor| x.clone()),
            "1 parameters, 2 declared",
        ),
        (
            "f(Tensor x, int n) -> Tensor",
            KernelFunction::function(|x: &AnyTensor, _: f64| x.clone()),
            "parameter 1 is float",
        ),
        (
            "f(Tensor x) -> Tensor",
            KernelFunction::function(|_: &mut AnyTensor| tensor(&[])),
            "parameter 0 is Tensor(a!)",
        ),
        ("f(Tensor? x) -> Tensor", KernelFunction::function(|x: &AnyTensor| x.clone()), "declared is `Tensor? x`"),
        ("f(Tensor x) -> Tensor[]", KernelFunction::function(|x: &AnyTensor| x.clone()), "result 0 is Tensor"),
        (
            "f(Tensor x) -> (Tensor, Tensor)",
            KernelFunction::function(|x: &AnyTensor| x.clone()),
            "1 results, 2 declared",
        ),
    ];
    for (schema, kernel, message) in wrong {
        let mut library = Dispatcher::new().library("t");
        define(&mut library, schema);
        let error = library.kernel("t::f", DispatchKey::CPU, kernel.clone()).unwrap_err();
        assert!(matches!(fault(&error), DispatchError::SchemaMismatch { .. }), "{error}");
        assert!(error.to_string().contains(message), "{error}");
        let lines = library.dispatcher().find("t::f").unwrap().explain();
        assert!(lines.iter().all(|(_, _, kernel)| kernel.is_none()), "nothing is registered");
        // The other order: the kernel first, then the definition.
        let mut library = Dispatcher::new().library("t");
        library.kernel("t::f", DispatchKey::CPU, kernel).unwrap();
        let error = library.define(monomorph_core::dispatch::Definition::parse(schema).unwrap()).unwrap_err();
        assert!(matches!(fault(&error), DispatchError::SchemaMismatch { .. }), "{error}");
    }
}

#[test]
fn a_typed_handle_has_the_schema_of_its_operator() {
    let library = library("f(Tensor x, Scalar by) -> Tensor", KernelFunction::function(twice));
    let f = library.dispatcher().find("t::f").unwrap();
    assert!(f.typed::<(&AnyTensor, i64), AnyTensor>().is_err());
    assert!(f.typed::<(&AnyTensor, Scalar), (AnyTensor, AnyTensor)>().is_err());
}

#[test]
fn a_boxed_kernel_that_leaves_other_results_is_reported() {
    fn nothing(_: &Frame<'_>, stack: &mut Stack) -> Result<()> {
        stack.clear();
        Ok(())
    }
    fn number(_: &Frame<'_>, stack: &mut Stack) -> Result<()> {
        stack.clear();
        stack.push(IValue::Int(1));
        Ok(())
    }
    let fails = |kernel: BoxedKernel| {
        let library = library("f(Tensor x) -> Tensor", KernelFunction::boxed(kernel));
        let f = library.dispatcher().find("t::f").unwrap();
        f.typed::<(&AnyTensor,), AnyTensor>().unwrap().call((&tensor(&[1]),)).unwrap_err()
    };
    assert_eq!(*fails(nothing).kind(), ErrorKind::ResultCount { got: 0, want: 1 });
    let error = fails(number);
    assert!(matches!(fault(&error), DispatchError::WrongResults { .. }), "{error}");
}
