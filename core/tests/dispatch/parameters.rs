//! What each sort of parameter brings to a call: the keys and devices of its tensors, and the boxed values that stand
//! for it.

use super::{define, fault, numbers, result, tensor};
use monomorph_core::dispatch::{Definition, DispatchError, DispatchKey, Dispatcher, Flags, KernelFunction, Library};
use monomorph_core::{AnyTensor, ErrorKind, IValue, ItemList, Result, Stack};

fn meta() -> AnyTensor {
    tensor(&[1]).to_meta()
}

/// An operator whose CPU kernel returns 1 and whose meta kernel 2.
fn library(schema: &str, flags: Flags, kernel: impl Fn(i64) -> KernelFunction) -> Library {
    let mut library = Dispatcher::new().library("t");
    let definition = Definition::parse(schema).unwrap().with_flags(flags);
    let both = definition.dispatch([DispatchKey::CPU], kernel(1)).dispatch([DispatchKey::META], kernel(2));
    library.define(both).unwrap();
    library
}

const UNCHECKED: Flags = Flags {
    silent_view: false,
    silent_write: &[],
    device_check: false,
    device_guard: false,
    manual_registration: false,
    factory: None,
};

/// The key of an unboxed call is that of all tensors among its arguments.
#[test]
fn tensors_of_every_sort_bring_their_keys() {
    let written = library("f(Tensor(a!) x, Tensor y) -> Tensor", UNCHECKED, |n| {
        KernelFunction::functor(move || move |_: &mut AnyTensor, _: &AnyTensor| tensor(&[n]))
    });
    let f = written.dispatcher().find("t::f").unwrap().typed::<(&mut AnyTensor, &AnyTensor), AnyTensor>().unwrap();
    assert_eq!(numbers(&f.call((&mut meta(), &tensor(&[1]))).unwrap()), [2]);
    assert_eq!(numbers(&f.call((&mut tensor(&[1]), &tensor(&[1]))).unwrap()), [1]);

    let maybe = library("f(Tensor? x) -> Tensor", UNCHECKED, |n| {
        KernelFunction::functor(move || move |_: Option<&AnyTensor>| tensor(&[n]))
    });
    let f = maybe.dispatcher().find("t::f").unwrap().typed::<(Option<&AnyTensor>,), AnyTensor>().unwrap();
    assert_eq!(numbers(&f.call((Some(&meta()),)).unwrap()), [2]);
    let error = f.call((None,)).unwrap_err();
    assert!(matches!(fault(&error), DispatchError::NoKernel { .. }), "{error}");

    let list = library("f(Tensor[] x) -> Tensor", UNCHECKED, |n| {
        KernelFunction::functor(move || move |_: &[AnyTensor]| tensor(&[n]))
    });
    let f = list.dispatcher().find("t::f").unwrap().typed::<(&[AnyTensor],), AnyTensor>().unwrap();
    assert_eq!(numbers(&f.call((&[tensor(&[1]), meta()],)).unwrap()), [2], "also of those behind the first");
}

/// All tensors have to be on one device, in whatever argument they are, boxed or not.
#[test]
fn tensors_of_every_sort_are_asked_for_their_device() {
    type Args<'a> = (&'a mut AnyTensor, Option<&'a AnyTensor>, &'a [AnyTensor]);
    let library = library("f(Tensor(a!) x, Tensor? y, Tensor[] z) -> Tensor", Flags::default(), |n| {
        KernelFunction::functor(move || move |_: &mut AnyTensor, _: Option<&AnyTensor>, _: &[AnyTensor]| tensor(&[n]))
    });
    let f = library.dispatcher().find("t::f").unwrap();
    let typed = f.typed::<Args<'_>, AnyTensor>().unwrap();
    let here = || tensor(&[1]);
    typed.call((&mut here(), Some(&here()), &[here(), here()])).unwrap();
    let mixed: [(AnyTensor, AnyTensor, [AnyTensor; 2]); 4] = [
        (meta(), here(), [here(), here()]),
        (here(), meta(), [here(), here()]),
        (here(), here(), [meta(), here()]),
        (here(), here(), [here(), meta()]),
    ];
    for (i, (mut x, y, z)) in mixed.into_iter().enumerate() {
        let mut stack: Stack = vec![x.clone().into(), y.clone().into(), IValue::Tensors(z.to_vec())];
        let boxed = f.call(&mut stack).unwrap_err();
        assert!(matches!(boxed.kind(), ErrorKind::DeviceMismatch { .. }), "{i}: {boxed}");
        let unboxed = typed.call((&mut x, Some(&y), &z)).unwrap_err();
        assert_eq!(unboxed.kind(), boxed.kind(), "{i}");
    }
}

/// A function over Rust values takes what the schema takes: an int for a float, one int or nothing typed for a list.
#[test]
fn boxed_values_that_stand_for_a_parameter() {
    fn all(x: &[AnyTensor], by: f64, dims: &[i64], weights: &[f64], flags: &[bool]) -> Result<AnyTensor> {
        let sum = |list: &[i64]| list.iter().sum::<i64>();
        let counts = [x.len(), weights.len(), flags.len()].map(|n| n as i64);
        Ok(tensor(&[counts[0], by as i64, sum(dims), counts[1], counts[2]]))
    }
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "f(Tensor[] x, float by, int[] dims, float[] weights, bool[] flags) -> Tensor");
    let cpu = KernelFunction::function(all);
    library.kernel("t::f", monomorph_core::dispatch::AliasKey::CompositeExplicit, cpu).unwrap();
    let call = |stack: Vec<IValue>| {
        let mut stack: Stack = stack;
        library.dispatcher().call("t::f", &mut stack).map(|()| numbers(&result(stack)))
    };
    let empty = || IValue::List(ItemList::EMPTY);
    assert_eq!(call(vec![empty(), 3i64.into(), 5i64.into(), empty(), empty()]).unwrap(), [0, 3, 5, 0, 0]);
    let x = IValue::Tensors(vec![tensor(&[1])]);
    let lists = [IValue::Ints(vec![2, 3]), IValue::Floats(vec![0.5]), IValue::Bools(vec![true, false])];
    let [dims, weights, flags] = lists.clone();
    assert_eq!(call(vec![x.clone(), 2.0.into(), dims, weights, flags]).unwrap(), [1, 2, 5, 1, 2]);
    assert_eq!(call(vec![x.clone(), 2.0.into(), empty(), empty(), empty()]).unwrap(), [1, 2, 0, 0, 0]);
    // But a list of something is not empty, and a float is no int.
    let some = IValue::List(vec![IValue::Int(1)].try_into().unwrap());
    for position in [0, 2, 3, 4] {
        let [dims, weights, flags] = lists.clone();
        let mut stack = vec![x.clone(), 2.0.into(), dims, weights, flags];
        stack[position] = some.clone();
        let error = call(stack).unwrap_err();
        let at = matches!(error.kind(), ErrorKind::ArgumentKind { position: at, .. } if *at == position);
        assert!(at, "{position}: {error}");
    }
}

/// There is no Rust type for a list of optionals, nor for lists of lists: such an operator has boxed kernels.
#[test]
fn types_that_only_boxed_kernels_take() {
    let mut library = Dispatcher::new().library("t");
    define(&mut library, "f(Tensor?[] x) -> Tensor");
    define(&mut library, "g(int[][] x) -> Tensor");
    define(&mut library, "h(Tensor[]? x) -> Tensor");
    let tensors = || KernelFunction::function(|_: &[AnyTensor]| tensor(&[1]));
    let ints = || KernelFunction::function(|_: &[i64]| tensor(&[1]));
    for (name, kernel) in [("t::f", tensors()), ("t::g", ints()), ("t::h", tensors())] {
        let error = library.kernel(name, DispatchKey::CPU, kernel).unwrap_err();
        assert!(matches!(fault(&error), DispatchError::SchemaMismatch { .. }), "{name}: {error}");
    }
    library
        .kernel(
            "t::f",
            DispatchKey::CPU,
            KernelFunction::boxed(|_, stack| {
                *stack = vec![tensor(&[stack.len() as i64]).into()];
                Ok(())
            }),
        )
        .unwrap();
    let mut stack: Stack = vec![IValue::OptionalTensors(vec![None, Some(tensor(&[1]))])];
    library.dispatcher().call("t::f", &mut stack).unwrap();
    assert_eq!(numbers(&result(stack)), [1]);
}
