//! The operator table by name: its schemas are PyTorch's, it has every overload that was recorded, and no argument list
//! that does not fit makes a call panic or change anything.

use monomorph::crates::core::ErrorKind;
use monomorph::crates::core::dispatch::OperatorHandle;
use monomorph::{IValue, Library, Stack, dispatcher};
use monomorph_testsuite::conformance::{CaseFile, Selection, bases, golden_cases, workspace_root};
use monomorph_testsuite::hostile::{describe, every_kind, extremes, fitting_stack};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

/// Every operator that the library can register, those of programs too.
fn operators() -> &'static [OperatorHandle] {
    static ALL: LazyLock<(Vec<OperatorHandle>, [Library; 3])> = LazyLock::new(|| {
        let (dispatcher, libraries) = super::composites::dispatcher();
        (dispatcher.operators(), libraries)
    });
    &ALL.0
}

#[test]
fn every_schema_is_one_of_pytorch() {
    let path = workspace_root().join("testsuite/golden/schemas.txt");
    let text = std::fs::read_to_string(path).expect("the list of schemas");
    // In one notation: PyTorch's lists and texts have two.
    let line = |line: &str| line.replace('"', "'").replace(", ", ",");
    let lines: BTreeSet<String> = text.lines().map(line).collect();
    let ours = dispatcher().operators().into_iter().map(|entry| entry.schema().unwrap().to_string());
    let strangers: Vec<String> = ours.filter(|schema| !lines.contains(&line(schema))).collect();
    assert_eq!(strangers, [] as [String; 0]);
}

#[test]
fn every_recorded_overload_is_in_the_table() {
    let mut recorded = BTreeSet::new();
    for base in bases(&golden_cases(), &Selection::default()).unwrap() {
        let file = CaseFile::load(&golden_cases(), &base).unwrap();
        recorded.extend(file.cases.iter().map(|case| case.op.clone()));
    }
    assert_eq!(recorded.len(), 405, "overloads");
    let missing: Vec<_> = recorded.iter().filter(|op| dispatcher().find(op).is_err()).collect();
    assert_eq!(missing, [] as [&String; 0]);
}

#[test]
fn an_unknown_operator_is_answered_with_near_names() {
    for (name, near) in
        [("ad.Tensor", "add.Tensor"), ("add.Tensr", "add.Tensor"), ("clmp", "clamp"), ("aten::ngg", "neg")]
    {
        let error = dispatcher().find(name).expect_err(name);
        match error.kind() {
            ErrorKind::UnknownOperator { near: names, .. } => {
                assert!(names.iter().any(|n| n == near), "{name}: {names:?}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    assert!(["", "aten::", "add."].iter().all(|name| dispatcher().find(name).is_err()));
    let mut stack: Stack = vec![IValue::Int(1)];
    assert!(dispatcher().call("no_such_operator", &mut stack).is_err());
    assert_eq!(stack.len(), 1);
}

/// Calls an overload; a panic is a failure, and an error leaves the stack and every tensor as they were.
fn try_call(entry: &OperatorHandle, stack: &Stack) -> Result<Stack, monomorph::Error> {
    let mut given = stack.clone();
    let before: Vec<String> = stack.iter().map(|value| describe(value, true)).collect();
    let outcome = catch_unwind(AssertUnwindSafe(|| entry.call(&mut given)));
    let schema = entry.schema().unwrap();
    let outcome = outcome.unwrap_or_else(|_| panic!("{schema}: panicked on {stack:?}"));
    match outcome {
        Ok(()) => Ok(given),
        Err(error) => {
            let bytes = *error.kind() != ErrorKind::DivisionByZero;
            let after: Vec<String> = given.iter().map(|value| describe(value, bytes)).collect();
            let before = if bytes { before } else { stack.iter().map(|value| describe(value, false)).collect() };
            assert_eq!(before, after, "{schema}: {error}");
            assert!(!error.op().is_empty(), "{schema}: {error} names no operator");
            Err(error)
        }
    }
}

/// The stack with its tensors replaced by copies, so that one call does not see what another wrote.
fn fresh(entry: &OperatorHandle) -> Stack {
    fitting_stack(&entry.schema().unwrap())
}

#[test]
fn fitting_arguments_return() {
    for entry in operators() {
        let result = try_call(entry, &fresh(entry));
        let stack = result.unwrap_or_else(|error| panic!("{}: {error}", entry.schema().unwrap()));
        assert_eq!(stack.len(), entry.schema().unwrap().returns().len(), "{}", entry.schema().unwrap());
    }
}

#[test]
fn every_write_is_counted() {
    // These change a geometry and write no element, or find nothing to write in a real tensor, or leave what they keep
    // for a backward operator as it is.
    const VIEWS: [&str; 14] = [
        "_batch_norm_with_update",
        "conj_physical_",
        "transpose_",
        "squeeze_",
        "unsqueeze_",
        "as_strided_",
        "t_",
        "swapaxes_",
        "swapdims_",
        "detach_",
        "empty",
        "resize_",
        "resize_as_",
        "set_",
    ];
    let mut written = 0;
    for entry in operators().iter().filter(|entry| !VIEWS.contains(&entry.schema().unwrap().name())) {
        let stack = fresh(entry);
        let schema = entry.schema().unwrap();
        let mutable = || schema.args().zip(&stack).filter(|(arg, _)| arg.is_mutable());
        let versions = || mutable().flat_map(|(_, v)| v.tensors().map(|t| t.version())).collect::<Vec<_>>();
        let before = versions();
        entry.call(&mut stack.clone()).unwrap_or_else(|error| panic!("{}: {error}", entry.schema().unwrap()));
        assert!(versions().iter().zip(&before).all(|(now, then)| now > then), "{}", entry.schema().unwrap());
        written += before.len();
    }
    assert!(written > 60, "{written}");
}

#[test]
fn wrong_counts_are_errors() {
    for entry in operators() {
        let schema = entry.schema().unwrap();
        let required = schema.args().filter(|arg| arg.default().is_none()).count();
        let full = fresh(entry);
        for keep in 0..full.len() {
            let result = try_call(entry, &full[..keep].to_vec());
            // Arguments with a default may be missing from the end on.
            let tail_has_defaults = schema.args().skip(keep).all(|arg| arg.default().is_some());
            if tail_has_defaults {
                continue;
            }
            let error = result.expect_err("too few arguments");
            assert!(matches!(error.kind(), ErrorKind::ArgumentCount { .. }), "{schema}: {error}");
            assert!(keep < full.len() && required > 0);
        }
        let mut more = fresh(entry);
        more.push(IValue::Int(1));
        let error = try_call(entry, &more).expect_err("too many arguments");
        assert!(matches!(error.kind(), ErrorKind::ArgumentCount { .. }), "{schema}: {error}");
    }
}

#[test]
fn wrong_kinds_and_orders_are_no_panic() {
    let mut refused = 0;
    for entry in operators() {
        let n = entry.schema().unwrap().args().len();
        for i in 0..n {
            for value in every_kind() {
                let mut stack = fresh(entry);
                stack[i] = value;
                refused += u32::from(try_call(entry, &stack).is_err());
            }
            for j in 0..n {
                let mut stack = fresh(entry);
                stack.swap(i, j);
                let _ = try_call(entry, &stack);
                stack[j] = stack[i].clone();
                let _ = try_call(entry, &stack);
            }
        }
        let list = IValue::List(vec![IValue::None].try_into().unwrap());
        let odd = [IValue::Strs(Vec::new()), list, IValue::OptionalTensors(Vec::new())];
        for (i, value) in (0..n).flat_map(|i| odd.iter().map(move |value| (i, value))) {
            // Lists of tensors that may be absent are what some operators index with.
            let indexes = entry.schema().unwrap().args().nth(i).is_some_and(|arg| arg.ty().to_string() == "Tensor?[]");
            if indexes && matches!(value, IValue::OptionalTensors(_)) {
                continue;
            }
            let mut stack = fresh(entry);
            stack[i] = value.clone();
            let error = try_call(entry, &stack).expect_err("no schema of the table takes such a list");
            assert!(matches!(error.kind(), ErrorKind::ArgumentKind { .. }), "{}: {error}", entry.schema().unwrap());
        }
    }
    assert!(refused > 3000, "{refused}");
}

#[test]
fn extreme_numbers_are_no_panic() {
    let mut refused = 0;
    for entry in operators() {
        let schema = entry.schema().unwrap();
        let args: Vec<_> = schema.args().collect();
        for (i, arg) in args.iter().enumerate() {
            for value in extremes(arg) {
                let mut stack = fresh(entry);
                stack[i] = value;
                refused += u32::from(try_call(entry, &stack).is_err());
            }
        }
    }
    assert!(refused > 1000, "{refused}");
}

/// An expanded tensor has any number of elements in a few bytes: what would need memory for all of them is an error.
#[test]
fn results_that_no_memory_holds_are_errors() {
    // These walk every element without needing memory for it, as is their right.
    const WALKERS: [&str; 12] = [
        "sum",
        "mean",
        "amax",
        "amin",
        "any",
        "argmax",
        "aminmax",
        "fill_",
        "zero_",
        "threshold_",
        "index_fill",
        "index_fill_",
    ];
    let mut refused = 0;
    for entry in operators().iter().filter(|entry| !WALKERS.contains(&entry.schema().unwrap().name())) {
        let n = entry.schema().unwrap().args().len();
        for i in 0..n {
            let mut stack = fresh(entry);
            let IValue::Tensor(t) = &stack[i] else { continue };
            let huge = monomorph::Geometry::new(t.dtype(), &[1 << 50], &[0], 0).unwrap();
            stack[i] = t.with_geometry(huge).unwrap().into();
            refused += u32::from(try_call(entry, &stack).is_err());
        }
    }
    assert!(refused > 100, "{refused}");
}
