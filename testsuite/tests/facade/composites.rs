//! Composed operators: each does nothing but call operators, on whatever device; one that does more is found out; and
//! what they give where a device has a kernel of its own is what that kernel gives.

use monomorph::crates::core::dispatch::compliance::{Breach, Compliance};
use monomorph::crates::core::dispatch::{
    AliasKey, Calls, Definition, DispatchKey, KernelFunction, KeySet, OperatorHandle, RegistrationKey, Source,
};
use monomorph::crates::core::with_element;
use monomorph::{
    AnyTensor, Cpu, DType, Dispatcher, ErrorKind, Geometry, IValue, Library, Result, Scalar, Stack, Tensor, selection,
};
use monomorph_core::Element;
use monomorph_testsuite::hostile::fitting_stack;

/// A dispatcher of the test's own, with every operator that the library can register: a checker registers with it.
pub(super) fn dispatcher() -> (Dispatcher, [Library; 3]) {
    let dispatcher = Dispatcher::new();
    let mut libraries = ["aten", "quantized_decomposed", "transformers"].map(|namespace| dispatcher.library(namespace));
    selection::register_all(&mut libraries[0]).unwrap();
    selection::register_quantized(&mut libraries[1]).unwrap();
    selection::register_transformers(&mut libraries[2]).unwrap();
    (dispatcher, libraries)
}

fn is_composed(handle: &OperatorHandle) -> bool {
    let undefined = handle.explain().into_iter().find(|(key, ..)| *key == DispatchKey::UNDEFINED);
    let alias = |source| match source {
        Source::Kernel(RegistrationKey::Alias(alias)) => alias.is_composite(),
        _ => false,
    };
    undefined.is_some_and(|(_, resolution, _)| alias(resolution.source))
}

/// The tensor with other contents. Integers of 64 bits are indices and lengths, of which others may not be accepted.
fn refilled(t: &AnyTensor, seed: u64) -> AnyTensor {
    if t.dtype() == DType::I64 {
        return t.clone();
    }
    let numel = t.numel() as u64;
    with_element!(t.dtype(), E => {
        let value = |i: u64| Scalar::Float(((i * 7 + seed * 5) % 6) as f64 * 0.25 + 0.5);
        let data: Vec<E> = (0..numel).map(|i| E::from_scalar(value(i))).collect();
        Tensor::<Cpu>::from_slice(&data, t.sizes()).unwrap().into_any()
    })
}

fn contents(stack: Stack, seed: u64) -> Stack {
    let other = |value: IValue| match value {
        IValue::Tensor(t) => refilled(&t, seed).into(),
        IValue::Tensors(list) => IValue::Tensors(list.iter().map(|t| refilled(t, seed)).collect()),
        value => value,
    };
    stack.into_iter().map(other).collect()
}

/// Overloads that read the lengths of sequences from tensors on the CPU, as PyTorch's compositions of them do.
const READ_LENGTHS: [&str; 8] = [
    "_pack_padded_sequence",
    "_pack_padded_sequence.out",
    "_pack_padded_sequence_backward",
    "_pad_packed_sequence",
    "gru.data",
    "lstm.data",
    "rnn_relu.data",
    "rnn_tanh.data",
];

/// That an operator reads values, and nothing else.
fn only_reads_lengths(breaches: &[Breach]) -> bool {
    let reads = |breach: &Breach| {
        let text = breach.to_string();
        text.starts_with("it calls item,") || text.starts_with("on meta tensors it does the error")
    };
    !breaches.is_empty() && breaches.iter().all(reads)
}

#[test]
fn every_composed_kernel_of_the_table_complies() {
    let (dispatcher, _table) = dispatcher();
    let compliance = Compliance::new(&dispatcher).unwrap();
    let composed: Vec<_> = dispatcher.operators().into_iter().filter(is_composed).collect();
    assert!(composed.len() > 90, "{}", composed.len());
    let mut problems = Vec::new();
    for handle in &composed {
        let schema = handle.schema().unwrap();
        match compliance.check(handle.name(), |seed| contents(fitting_stack(&schema), seed)) {
            Ok(breaches) if READ_LENGTHS.contains(&handle.name()) => {
                if !only_reads_lengths(&breaches) {
                    problems.push(format!("{}: {breaches:?}", handle.name()));
                }
            }
            Ok(breaches) => problems.extend(breaches.iter().map(|breach| format!("{}: {breach}", handle.name()))),
            Err(error) => problems.push(format!("{}: {error}", handle.name())),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Dtypes, sizes and strides of the tensors, and their values.
fn described(stack: &Stack) -> (Vec<String>, Vec<f64>) {
    let tensors = || stack.iter().flat_map(IValue::tensors).map(|t| t.downcast_ref::<Cpu>().expect("on the CPU"));
    let geometries = tensors().map(|t| format!("{} {:?} {:?}", t.dtype(), t.sizes(), t.strides())).collect();
    let values = tensors().flat_map(|t| {
        with_element!(t.dtype(), E => {
            t.to_vec::<E>().unwrap().iter().map(|v| v.to_scalar().to_f64()).collect::<Vec<_>>()
        })
    });
    (geometries, values.collect())
}

/// Where the CPU has a kernel and the row a composition, they agree, in every form: dtypes, sizes and strides, and
/// values but for rounding.
#[test]
fn a_composition_gives_what_the_kernel_gives() {
    let (dispatcher, _table) = dispatcher();
    let own = |handle: &OperatorHandle| {
        let cpu = handle.explain().into_iter().find(|(key, ..)| *key == DispatchKey::CPU);
        cpu.is_some_and(|(_, resolution, _)| resolution.source == Source::Kernel(RegistrationKey::CPU))
    };
    let both: Vec<_> = dispatcher.operators().into_iter().filter(|h| own(h) && is_composed(h)).collect();
    assert!(both.len() >= 12, "{:?}", both.iter().map(OperatorHandle::name).collect::<Vec<_>>());
    for handle in &both {
        let arguments = || contents(fitting_stack(&handle.schema().unwrap()), 3);
        let (mut kernel, mut composed) = (arguments(), arguments());
        handle.call(&mut kernel).unwrap();
        handle.redispatch(KeySet::EMPTY, &mut composed).unwrap();
        let ((want, kernel), (got, composed)) = (described(&kernel), described(&composed));
        assert_eq!(want, got, "{}", handle.name());
        let far = kernel.iter().zip(&composed).find(|(a, b)| (*a - *b).abs() > 1e-6 * a.abs().max(0.1));
        assert_eq!((far, kernel.len()), (None, composed.len()), "{}", handle.name());
    }
    // The errors are the operator's, too.
    let sub = dispatcher.find("sub.Tensor").unwrap();
    let flags = || IValue::from(Tensor::<Cpu>::from_slice(&[true], [1]).unwrap());
    let error = |keys: Option<KeySet>| {
        let mut stack: Stack = vec![flags(), flags(), 1i64.into()];
        let result = match keys {
            Some(keys) => sub.redispatch(keys, &mut stack),
            None => sub.call(&mut stack),
        };
        result.unwrap_err().to_string()
    };
    assert_eq!(error(None), error(Some(KeySet::EMPTY)));
}

type Composed = fn(&Calls<'_>, &mut Stack) -> Result<()>;

fn cpu(stack: &Stack) -> Result<&Tensor<Cpu>> {
    let tensor = stack[0].as_tensor().and_then(|t| t.downcast_ref::<Cpu>());
    tensor.ok_or_else(|| ErrorKind::ArgumentRule { rule: "not on the CPU" }.into())
}

/// One offender of each sort. All have the schema `(Tensor self) -> Tensor`.
fn offenders() -> Vec<(&'static str, Composed)> {
    fn left(stack: &mut Stack, result: impl Into<IValue>) -> Result<()> {
        *stack = vec![result.into()];
        Ok(())
    }
    vec![
        ("reads", |calls, stack| {
            let sum: f32 = cpu(stack)?.to_vec::<f32>()?.iter().sum();
            let result = calls.tensor("mul.Scalar", [stack[0].clone(), f64::from(sum).into()])?;
            left(stack, result)
        }),
        ("writes", |calls, stack| {
            let mut result = calls.tensor("clone", [stack[0].clone()])?;
            if let Some(t) = result.downcast_mut::<Cpu>() {
                t.data_mut::<f32>()?[0] = 0.0;
            }
            left(stack, result)
        }),
        ("kernel of one device", |_, stack| {
            let result = monomorph::ops::exp(cpu(stack)?)?;
            left(stack, result)
        }),
        ("factory of one device", |_, stack| {
            let result = Tensor::<Cpu>::zeros_contiguous(DType::F32, stack[0].as_tensor().expect("a tensor").sizes())?;
            left(stack, result)
        }),
        ("view behind", |calls, stack| {
            let t = stack[0].as_tensor().expect("a tensor");
            let flat = t.with_geometry(Geometry::contiguous(t.dtype(), &[t.numel() as i64])?)?;
            let result = calls.tensor("exp", [flat.into()])?;
            left(stack, result)
        }),
        ("writes argument", |calls, stack| {
            calls.tensor("add_.Tensor", [stack[0].clone(), 1i64.into()])?;
            let result = calls.tensor("exp", [stack[0].clone()])?;
            left(stack, result)
        }),
        ("alias", |calls, stack| {
            let result = calls.tensor("t", [stack[0].clone()])?;
            left(stack, result)
        }),
        ("resizes", |calls, stack| {
            let copy = calls.tensor("clone", [stack[0].clone()])?;
            let result = calls.tensor("resize_", [copy.into(), IValue::Ints(vec![7, 7])])?;
            left(stack, result)
        }),
        ("out", |calls, stack| {
            let copy = calls.tensor("clone", [stack[0].clone()])?;
            let result = calls.tensor("exp.out", [stack[0].clone(), copy.into()])?;
            left(stack, result)
        }),
        ("number", |calls, stack| {
            let mut number: Stack = vec![stack[0].clone()];
            calls.call("test::first", &mut number)?;
            let result = calls.tensor("exp", [stack[0].clone()])?;
            left(stack, result)
        }),
        ("values", |calls, stack| {
            let row = calls.tensor("select.int", [stack[0].clone(), 0i64.into(), 0i64.into()])?;
            let small = calls.tensor("lt.Scalar", [row.into(), 1.1.into()])?;
            let places = calls.tensors("where", [small.into()])?;
            let result = calls.tensor("stack", [IValue::Tensors(places)])?;
            left(stack, result)
        }),
        ("device", |calls, stack| {
            let name = if stack[0].as_tensor().is_some_and(|t| t.device().is_cpu()) { "exp" } else { "neg" };
            let result = calls.tensor(name, [stack[0].clone()])?;
            left(stack, result)
        }),
        ("honest", |calls, stack| {
            let result = calls.tensor("exp", [stack[0].clone()])?;
            left(stack, result)
        }),
    ]
}

#[test]
fn offenders_of_every_sort_are_found() {
    let (dispatcher, _table) = dispatcher();
    let mut test = dispatcher.library("test");
    let first = |_: &AnyTensor| 1.5f64;
    let definition = Definition::parse("first(Tensor self) -> float").unwrap();
    test.define(definition.dispatch([RegistrationKey::CatchAll], KernelFunction::function(first))).unwrap();
    for (i, (_, kernel)) in offenders().into_iter().enumerate() {
        let definition = Definition::parse(&format!("offender{i}(Tensor self) -> Tensor")).unwrap();
        let kernel = KernelFunction::composed(kernel);
        test.define(definition.dispatch([AliasKey::CompositeExplicit], kernel)).unwrap();
    }
    let compliance = Compliance::new(&dispatcher).unwrap();
    let x = Tensor::<Cpu>::from_slice(&[0.0f32; 6], [2, 3]).unwrap().into_any();
    for (i, (sort, _)) in offenders().into_iter().enumerate() {
        let found = compliance.check(&format!("test::offender{i}"), |seed| vec![refilled(&x, seed).into()]);
        let found = found.unwrap_or_else(|error| panic!("{sort}: {error}"));
        let is = |what: fn(&Breach) -> bool| found.iter().any(what);
        let expected = match sort {
            "reads" | "writes" | "kernel of one device" => is(|b| matches!(b, Breach::TouchesData { .. })),
            "factory of one device" | "view behind" => is(|b| matches!(b, Breach::ComesFromNowhere { .. })),
            "writes argument" => is(|b| matches!(b, Breach::Schema(ErrorKind::UndeclaredWrite { .. }))),
            "alias" => is(|b| matches!(b, Breach::Schema(ErrorKind::UndeclaredAlias { .. }))),
            "resizes" => is(|b| matches!(b, Breach::Resizes { call } if call == "resize_")),
            "out" => is(|b| matches!(b, Breach::CallsOut { call } if call == "exp.out")),
            "number" => is(|b| matches!(b, Breach::ReadsValues { call } if call == "test::first")),
            "values" => is(|b| matches!(b, Breach::DependsOnValues { .. })),
            "device" => is(|b| matches!(b, Breach::DependsOnDevice { .. })),
            _ => found.is_empty(),
        };
        assert!(expected, "{sort}: {found:?}");
    }
}

/// A checker needs the slot of tracing, gives it back, and leaves what it was given writable.
#[test]
fn a_checker_leaves_no_trace() {
    let (dispatcher, _table) = dispatcher();
    let compliance = Compliance::new(&dispatcher).unwrap();
    assert!(Compliance::new(&dispatcher).is_err(), "one at a time");
    let mut x = Tensor::<Cpu>::from_slice(&[1.0f32, 2.0], [2]).unwrap();
    assert_eq!(compliance.check("square", |_| vec![x.clone().into()]).unwrap(), []);
    assert!(compliance.check("exp", |_| vec![x.clone().into()]).is_err(), "not composed");
    assert!(compliance.check("no_such", |_| vec![]).is_err());
    drop(compliance);
    x.data_mut::<f32>().unwrap()[0] = 3.0;
    assert_eq!(x.version(), 1);
    Compliance::new(&dispatcher).unwrap();
}
