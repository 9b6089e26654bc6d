//! Programs that functions of tensors give: the same nodes and the same results as models that were exported, state,
//! views that no operator makes, calls by name, and what cannot be traced.

use super::archive::path;
use monomorph::kernels::AllKernels;
use monomorph::prelude::*;
use monomorph::program::{Program, ProgramError, Session, Tracer, Value};
use monomorph::{AnyTensor, IValue, Meta, Result, dispatcher, ops};

/// The model `chain` of the recordings.
fn chain<D: Kernels>(x: &Tensor<D>, y: &Tensor<D>) -> Result<(Tensor<D>, Tensor<D>)> {
    let a = ((x * 1.5)? + y)?.relu()?;
    let b = ((&a * &x.sigmoid()?)? - &y.tanh()?)?;
    let mut c = a.where_(&b.gt(0)?, &(&b / 2)?)?;
    c.add_(x)?;
    Ok(((c.abs()?.sqrt()? * &b)?, c.sum(..)?))
}

/// The model `filtered` of the recordings.
fn filtered<D: AllKernels>(x: &Tensor<D>, weight: &Tensor<D>, bias: &Tensor<D>) -> Result<Tensor<D>> {
    let padding = Conv2d { bias: Some(bias), padding: &[1, 1], ..Default::default() };
    ops::conv2d_with(x, weight, padding)
}

/// The model `counter` of the recordings, whose norm has no typed function.
fn counter(tracer: &mut Tracer, state: &Session) -> Result<[AnyTensor; 3]> {
    let weight = |name: &str| state.weight(name).and_then(AnyTensor::downcast_ref).expect("a weight");
    let mut calls: Tensor<Meta> = tracer.buffer("calls", weight("calls"))?;
    let mut table = tracer.buffer("table", weight("table"))?;
    let norm = ["norm.weight", "norm.bias", "norm.running_mean", "norm.running_var"]
        .map(|name| tracer.parameter(name, weight(name)).map(Value::from));
    let (x, mut y) = (tracer.input("x", [5, 4], F32)?, tracer.input("y", [5, 4], F32)?);
    calls.add_(1)?;
    table.select(0, 1)?.copy_(&x.mean(0)?)?;
    table.t()?.select(0, 2)?.mul_(2.0)?;
    y.add_(&x)?;
    let mut stack = vec![x.into()];
    for tensor in norm {
        stack.push(tensor?);
    }
    stack.extend([false.into(), 0.1.into(), 1e-5.into(), true.into()]);
    dispatcher().call("batch_norm", &mut stack)?;
    let normed = stack.pop().and_then(IValue::into_tensor).expect("a tensor");
    table = (table.sum(1)? + &calls)?;
    Ok([normed, table.into_any(), y.mul(2)?.relu()?.into_any()])
}

/// What nodes call, without overloads: a number in place of a tensor calls that of tensors.
fn targets(program: &Program) -> Vec<&str> {
    program.graph().nodes().iter().map(|node| node.target().rsplit_once('.').map_or("", |(name, _)| name)).collect()
}

/// Runs both and holds results against each other, in the first run, in the one that binds kernels, and in later ones.
fn assert_alike(traced: &Program, exported: &Program, inputs: impl Fn(i64) -> Vec<Value>) {
    let (mut one, mut other) = (traced.session().expect("a session"), exported.session().expect("a session"));
    for run in 0..4 {
        let results = [(&mut one, inputs(run)), (&mut other, inputs(run))].map(|(session, given)| {
            let results = session.run(&given).expect("a run");
            results.iter().chain(&given).map(|value| format!("{value:?}")).collect::<Vec<_>>()
        });
        assert_eq!(results[0], results[1], "run {run}");
    }
}

/// Numbers that differ from seed to seed.
fn numbers(sizes: &[i64], seed: i64) -> Value {
    let count: i64 = sizes.iter().product();
    let number = |i: i64| ((i * 37 + seed * 11) % 53) as f32 / 8.0 - 3.0;
    Tensor::from_vec((0..count).map(number).collect(), sizes).expect("numbers").into()
}

#[test]
fn a_function_gives_the_program_that_is_exported_of_it() {
    let exported = Program::load(path("chain.pt2")).expect("a program");
    let sizes = [54];
    let traced = Program::trace(|t| chain(&t.input("x", sizes, F32)?, &t.input("y", sizes, F32)?)).expect("a program");
    assert_eq!(targets(&traced), targets(&exported));
    assert_alike(&traced, &exported, |run| vec![numbers(&sizes, 2 * run), numbers(&sizes, 2 * run + 1)]);
}

#[test]
fn weights_are_brought_along() {
    let exported = Program::load(path("filtered.pt2")).expect("a program");
    let session = exported.session().expect("a session");
    let weight = |name: &str| session.weight(name).and_then(AnyTensor::downcast_ref::<Cpu>).expect("a weight");
    let traced = Program::trace(|t| {
        let (w, b) = (t.parameter("w", weight("conv.weight"))?, t.parameter("b", weight("conv.bias"))?);
        filtered(&t.input("x", [1, 32, 12, 14], F32)?, &w, &b)
    });
    let traced = traced.expect("a program");
    assert_eq!(targets(&traced), targets(&exported));
    assert_alike(&traced, &exported, |run| vec![numbers(&[1, 32, 12, 14], run)]);
}

#[test]
fn what_is_written_is_state_or_the_callers() {
    let exported = Program::load(path("counter.pt2")).expect("a program");
    let session = exported.session().expect("a session");
    let traced = Program::trace(|tracer| counter(tracer, &session)).expect("a program");
    assert_alike(&traced, &exported, |run| vec![numbers(&[5, 4], 2 * run), numbers(&[5, 4], 2 * run + 1)]);
    let text = traced.to_string();
    for part in [
        "buffer calls",
        "parameter norm.weight",
        "batch_norm.default(%x",
        "add_.Tensor(%y, %x",
        "copy_.default(%select,",
        "%select_1: ",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

/// Tensors that a program brings along share their storage there if they do so here.
#[test]
fn views_of_one_storage_stay_views_of_it() {
    let table = tensor![[1.0f32, 2.0], [3.0, 4.0]];
    let column = table.select(1, 0).expect("a view");
    let program = Program::trace(|t| {
        let (mut table, column) = (t.buffer("table", &table)?, t.buffer("column", &column)?);
        table.mul_(2)?;
        column.add(1)
    });
    let mut session = program.expect("a program").session().expect("a session");
    for want in [[3.0f32, 7.0], [5.0, 13.0], [9.0, 25.0], [17.0, 49.0]] {
        let results = session.run(&[]).expect("a run");
        assert_eq!(results[0].as_tensor().and_then(|y| y.to_vec().ok()), Some(want.to_vec()));
    }
    assert_eq!(table.to_vec::<f32>().expect("its elements"), [1.0, 2.0, 3.0, 4.0]);
}

/// An input that is the session's own buffer changes with it.
#[test]
fn a_buffer_may_be_an_input() {
    let zeros = tensor![0.0f32, 0.0];
    let program = Program::trace(|t| {
        let (x, mut sum) = (t.input("x", [2], F32)?, t.buffer("sum", &zeros)?);
        sum.add_(1)?;
        &x + &sum
    });
    let mut session = program.expect("a program").session().expect("a session");
    for run in 1..5 {
        session.run(&[zeros.clone().into()]).expect("a run");
        let own: Value = session.weight("sum").expect("the buffer").clone().into();
        let results = session.run(&[own]).expect("a run");
        let result = results[0].as_tensor().and_then(|y| y.to_vec::<f32>().ok());
        assert_eq!(result, Some(vec![4.0 * run as f32; 2]), "run {run}");
    }
}

#[test]
fn a_view_that_no_operator_made_is_made_by_a_node() {
    fn windows<D: Kernels>(x: &Tensor<D>) -> Result<Vec<Tensor<D>>> {
        let y = x.mul(2)?;
        y.i((1.., ..-1))?.add_(1)?;
        Ok(vec![y.i((.., 2))?, y.exp()?])
    }
    let x = Tensor::from_vec((0..12).map(|i| i as f32).collect(), (3, 4)).expect("a tensor");
    let want = windows(&x).expect("results");
    let program = Program::trace(|t| windows(&t.input("x", [3, 4], F32)?)).expect("a program");
    let mut session = program.session().expect("a session");
    for _ in 0..3 {
        let results = session.run(&[x.clone().into()]).expect("a run");
        for (result, want) in results.iter().zip(&want) {
            let result = result.as_tensor().expect("a tensor");
            assert_eq!((result.strides(), result.to_vec::<f32>()), (want.strides(), want.to_vec::<f32>()));
        }
    }
}

#[test]
fn calls_by_name_are_noted_once_however_they_are_composed() {
    let program = Program::trace(|t| {
        let x: Tensor<Meta> = t.input("x", [2, 8], F32)?;
        let mut stack = vec![x.into(), IValue::Ints(vec![8])];
        dispatcher().call("layer_norm", &mut stack)?;
        stack[0].clone().into_tensor().expect("a tensor").downcast::<Meta>().expect("a shape").softmax(-1)
    });
    assert_eq!(targets(&program.expect("a program")), ["aten.layer_norm", "aten.softmax"]);
}

#[test]
fn every_call_has_all_the_arguments_of_its_schema() {
    let program = Program::trace(|t| {
        let x: Tensor<Meta> = t.input("x", [2, 3], I64)?;
        let options = Sum { keepdim: true, dtype: Some(F64), ..Default::default() };
        let y = x.sum_with(-1, options)?.clamp(1, None)?;
        ops::cat_with(&[&y, &(1 - &y)?], Cat { dim: 1, ..Default::default() })
    });
    let program = program.expect("a program");
    let text = program.to_string();
    let sum = "aten.sum.dim_IntList(%x, [-1], true, float64)";
    assert!(text.contains(sum), "{text}");
    let x = tensor![[1i64, 2, 3], [-4, 5, -6]];
    let results = program.session().expect("a session").run(&[x.into()]).expect("a run");
    let result = results[0].as_tensor().expect("a tensor");
    assert_eq!(
        (result.sizes(), result.to_vec::<f64>().expect("its elements")),
        (&[2, 2][..], vec![6.0, -5.0, 1.0, 0.0])
    );
}

#[test]
fn what_cannot_be_traced_is_an_error() {
    type Function<'f> = &'f dyn Fn(&Tensor<Meta>) -> Result<Tensor<Meta>>;
    let failed = |function: Function<'_>| {
        let program = Program::trace(|t| function(&t.input("x", [2, 3], F32)?));
        program.expect_err("an error").to_string()
    };
    let elsewhere = monomorph::meta::add(&tensor![1.0f32], 1).expect("a shape");
    let cases: [(&str, Function<'_>); 5] = [
        ("neither an input, a parameter or a buffer", &|x| x + &elsewhere),
        ("neither an input, a parameter or a buffer", &|_| Ok(elsewhere.clone())),
        ("item: the tensor is on meta", &|x| x.mul(x.sum(..)?.item()?)),
        ("`copy_from` is no operator", &|x| {
            let mut y = x.clone();
            y.copy_from(&elsewhere)?;
            Ok(y)
        }),
        ("[2, 3]", &|x| x.matmul(x)),
    ];
    for (part, function) in cases {
        let text = failed(function);
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let twice = Program::trace(|t| {
        let x: Tensor<Meta> = t.input("x", [2], F32)?;
        x + &t.input("x", [2], F32)?
    });
    assert!(twice.expect_err("an error").to_string().contains("the same name"));
    // A function that failed leaves nothing behind.
    let program = Program::trace(|t| t.input("x", [2], F32)?.exp()).expect("a program");
    assert_eq!(targets(&program), ["aten.exp"]);
    assert!(monomorph::meta::exp(&tensor![1.0f32]).is_ok());
}

#[test]
fn an_operator_of_another_crate_has_to_be_registered() {
    mod mine {
        use monomorph::crates::ops::arithmetic::AddFn;
        use monomorph::pointwise::Pointwise;

        monomorph::operators! {
            family: Traced;

            /// `self + alpha * other`, elementwise.
            func: traced::sum(Tensor self, Tensor other, Scalar alpha) -> Tensor,
            variants: function, structured: Pointwise<AddFn>;
        }
    }
    let trace = || Program::trace(|t| mine::sum(&t.input("x", [2], F32)?, &t.input("y", [2], F32)?, 3));
    let missing = match trace() {
        Err(ProgramError::MissingOperators(missing)) => missing,
        other => panic!("operators are missing, not {other:?}"),
    };
    assert_eq!((missing.len(), &*missing[0].target, missing[0].nodes), (1, "traced.sum.default", 1));
    let mut library = dispatcher().library("traced");
    mine::register(&mut library).expect("operators");
    let program = trace().expect("a program");
    let one: Value = tensor![1.0f32, 2.0].into();
    let results = program.session().expect("a session").run(&[one.clone(), one]).expect("a run");
    assert_eq!(results[0].as_tensor().and_then(|y| y.to_vec::<f32>().ok()), Some(vec![4.0, 8.0]));
}
