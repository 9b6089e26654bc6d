//! Every kind of difference is seen, one spoilt answer at a time, and what is not contract passes.

use monomorph_core::DType;
use monomorph_testsuite::conformance::{
    After, AliasKind, CaseFile, Change, GotTensor, GotValue, Identity, Mismatch, Outcome, Replayer, StorageId, Value,
    Verdict, compare, judge,
};

use crate::echo::{case_file, f32_tensor, parse, recorded, storage_file};

/// `f(Tensor self) -> Tensor`: two new elements from three.
fn functional() -> CaseFile {
    let args = f32_tensor("s0", &[3], &[1], 0, "");
    let outputs = format!(r#""outputs":[{}]"#, f32_tensor("s1", &[2], &[1], 0, ""));
    let storages = storage_file(&[("s0", &[1.0, 2.0, 3.0]), ("s1", &[1000.0, 2000.0])]);
    parse(&case_file("f(Tensor self) -> Tensor", &args, "", &outputs), &storages)
}

/// `f.out` into every second element of a buffer of four; `other` is an unrelated input.
fn stepped_out() -> CaseFile {
    let args = f32_tensor("s0", &[2], &[1], 0, "");
    let kwargs = format!(r#""out":{}"#, f32_tensor("s1", &[2], &[2], 0, ""));
    let alias = r#","alias":{"arg":"out","kind":"same"}"#;
    let rest = format!(
        r#""outputs":[{}],"mutated":[{{"arg":"out",{}}}]"#,
        f32_tensor("s2", &[2], &[2], 0, alias),
        f32_tensor("s2", &[2], &[2], 0, "").trim_start_matches('{').trim_end_matches("}}").to_owned() + "}"
    );
    let storages = storage_file(&[("s0", &[5.0, 6.0]), ("s1", &[0.0, 7.0, 0.0, 8.0]), ("s2", &[5.0, 7.0, 6.0, 8.0])]);
    parse(&case_file("f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", &args, &kwargs, &rest), &storages)
}

fn view() -> CaseFile {
    let args = f32_tensor("s0", &[3], &[1], 0, "");
    let alias = r#","alias":{"arg":"self","kind":"view"}"#;
    let outputs = format!(r#""outputs":[{}]"#, f32_tensor("s0", &[2], &[1], 1, alias));
    let storages = storage_file(&[("s0", &[1.0, 2.0, 3.0])]);
    parse(&case_file("f(Tensor(a) self) -> Tensor(a)", &args, "", &outputs), &storages)
}

fn raising() -> CaseFile {
    let args = f32_tensor("s0", &[3], &[1], 0, "");
    let storages = storage_file(&[("s0", &[1.0, 2.0, 3.0])]);
    let rest = r#""error":{"type":"RuntimeError","message":"no"}"#;
    parse(&case_file("f(Tensor self) -> Tensor", &args, "", rest), &storages)
}

/// What the comparison says about the recorded answer after `spoil`.
fn after_spoiling(file: &CaseFile, spoil: impl FnOnce(&mut Vec<GotValue>, &mut After)) -> Vec<Mismatch> {
    let mut outcome = recorded(&file.cases[0], &file.storages);
    match &mut outcome {
        Outcome::Returned { outputs, after } => spoil(outputs, after),
        Outcome::Error { after, .. } => spoil(&mut Vec::new(), after),
        Outcome::Unsupported => {}
    }
    match compare(&file.cases[0], &file.storages, &outcome) {
        Verdict::Failed(mismatches) => mismatches,
        Verdict::Passed => Vec::new(),
        Verdict::Unsupported => panic!("nothing here is unsupported"),
    }
}

fn tensor(value: &mut GotValue) -> &mut GotTensor {
    match value {
        GotValue::Tensor(tensor) => tensor,
        other => panic!("{other:?} is no tensor"),
    }
}

fn write(after: &mut After, id: StorageId, element: usize, x: f32) {
    let storage = after.storages.iter_mut().find(|storage| storage.id == id).expect("a known storage");
    storage.bytes[element * 4..element * 4 + 4].copy_from_slice(&x.to_le_bytes());
}

fn kinds(mismatches: &[Mismatch]) -> Vec<&'static str> {
    mismatches.iter().map(Mismatch::kind).collect()
}

#[test]
fn the_recorded_answers_pass() {
    for file in [functional(), stepped_out(), view(), raising()] {
        assert_eq!(after_spoiling(&file, |_, _| ()), []);
    }
}

#[test]
fn elements_within_tolerance_pass_and_others_are_shown() {
    let file = functional();
    let spoilt = |x: f32| after_spoiling(&file, |outputs, after| write(after, tensor(&mut outputs[0]).storage, 1, x));
    assert_eq!(spoilt(2001.0), []);
    let found = spoilt(2003.0);
    let text = "output 0 at [1]: got 2003.0, want 2000.0 (off by more than 2e0; 1 of 2 elements differ)";
    assert_eq!(found.iter().map(Mismatch::to_string).collect::<Vec<_>>(), [text]);
    assert_eq!(kinds(&spoilt(f32::NAN)), ["element"]);
}

#[test]
fn excess_widens_the_tolerance() {
    let mut file = functional();
    file.cases[0].f64_excess = 4.0;
    let found = after_spoiling(&file, |outputs, after| write(after, tensor(&mut outputs[0]).storage, 1, 2009.0));
    assert_eq!(found, []);
}

#[test]
fn metadata_of_results() {
    let file = functional();
    let spoilt = |spoil: fn(&mut GotTensor)| kinds(&after_spoiling(&file, |outputs, _| spoil(tensor(&mut outputs[0]))));
    assert_eq!(spoilt(|t| t.dtype = DType::I32), ["dtype"]);
    assert_eq!(spoilt(|t| t.sizes = vec![1]), ["sizes"]);
    assert_eq!(spoilt(|t| t.strides = vec![0]), ["strides", "element"]);
    assert_eq!(spoilt(|t| (t.sizes, t.offset) = (vec![1], 1)), ["sizes", "offset"]);
    assert_eq!(spoilt(|t| t.neg = true), ["element"], "values are seen through the bit");
    assert_eq!(spoilt(|t| t.offset = 1), ["offset", "out_of_bounds"]);
    assert_eq!(spoilt(|t| t.strides = vec![-1]), ["strides", "out_of_bounds"]);
    assert_eq!(spoilt(|t| t.strides = vec![isize::MAX]), ["strides", "out_of_bounds"]);
    assert_eq!(spoilt(|t| t.strides = vec![]), ["strides", "out_of_bounds"]);
    assert_eq!(spoilt(|t| t.sizes = vec![usize::MAX]), ["sizes", "out_of_bounds"]);
    assert_eq!(spoilt(|t| t.storage = StorageId(77)), ["unreported"]);
}

#[test]
fn counts_and_kinds_of_results() {
    let file = functional();
    let none = after_spoiling(&file, |outputs, _| outputs.clear());
    assert_eq!(none, [Mismatch::Count { place: None, got: 0, want: 1 }]);
    let plain = after_spoiling(&file, |outputs, _| outputs[0] = GotValue::Plain(Value::None));
    assert_eq!(
        plain.iter().map(Mismatch::to_string).collect::<Vec<_>>(),
        ["output 0: got a value of kind none, want tensor"]
    );
}

#[test]
fn lists_and_plain_results() {
    let args = f32_tensor("s0", &[1], &[1], 0, "");
    let inner = |at: usize| {
        let tensor = f32_tensor("s0", &[1], &[1], at, "");
        tensor["{\"tensor\":".len()..tensor.len() - 1].to_owned()
    };
    let outputs = format!(
        r#""outputs":[{{"tensors":[{},{}]}},{{"int":3}},{{"float":"1000.0"}},{{"complex":["1.0","nan"]}},
            {{"list":[{{"bool":true}}]}}]"#,
        inner(0),
        inner(1)
    );
    let schema = "f(Tensor self) -> (Tensor[], int, float, Scalar, bool[])";
    let file = parse(&case_file(schema, &args, "", &outputs), &storage_file(&[("s0", &[1.0, 2.0])]));
    assert_eq!(after_spoiling(&file, |_, _| ()), []);
    let found = after_spoiling(&file, |outputs, _| {
        if let GotValue::Tensors(tensors) = &mut outputs[0] {
            tensors[1].offset = 0;
        }
        outputs[1] = GotValue::Plain(Value::Int(4));
        outputs[2] = GotValue::Plain(Value::Float(1000.5));
        outputs[3] = GotValue::Plain(Value::Complex(1.0, 2.0));
        outputs[4] = GotValue::List(vec![GotValue::Plain(Value::Bool(false)), GotValue::Plain(Value::None)]);
    });
    assert_eq!(kinds(&found), ["offset", "element", "plain", "plain", "count", "plain"]);
    assert_eq!(found[0].to_string(), "output 0[1]: got offset 0, want 1");
    assert_eq!(found[5].to_string(), "output 4[0]: got Bool(false), want Bool(true)");
    let short = after_spoiling(&file, |outputs, _| outputs[0] = GotValue::Tensors(vec![]));
    assert_eq!(short.iter().map(Mismatch::to_string).collect::<Vec<_>>(), ["output 0: got 0 values, want 2"]);
}

#[test]
fn new_memory_must_be_new() {
    let file = functional();
    let found = after_spoiling(&file, |outputs, _| tensor(&mut outputs[0]).storage = StorageId(0));
    assert!(matches!(
        &found[..],
        [Mismatch::Element { .. }, Mismatch::Alias { got: Some((arg, AliasKind::View)), want: None, .. }]
            if arg == "self"
    ));
}

#[test]
fn views_share_and_are_not_the_argument() {
    let file = view();
    let copied = after_spoiling(&file, |outputs, after| {
        let copy = after.storages[0].bytes.clone();
        after.storages.push(monomorph_testsuite::conformance::GotStorage { id: StorageId(50), bytes: copy });
        tensor(&mut outputs[0]).storage = StorageId(50);
    });
    let text: Vec<_> = copied.iter().map(Mismatch::to_string).collect();
    assert_eq!(text, ["output 0: got new memory, want a view of argument self"]);
    let itself = after_spoiling(&file, |outputs, _| tensor(&mut outputs[0]).identity = Identity::Argument(0));
    assert_eq!(kinds(&itself), ["alias"]);
    let other = after_spoiling(&file, |outputs, _| tensor(&mut outputs[0]).identity = Identity::Other);
    assert_eq!(other, []);
}

#[test]
fn out_must_be_returned_itself() {
    let file = stepped_out();
    let other = after_spoiling(&file, |outputs, _| tensor(&mut outputs[0]).identity = Identity::Other);
    let text: Vec<_> = other.iter().map(Mismatch::to_string).collect();
    assert_eq!(text, ["output 0: got a view of argument out, want argument out itself"]);
    let itself = after_spoiling(&file, |outputs, _| tensor(&mut outputs[0]).identity = Identity::Argument(1));
    assert_eq!(itself, []);
    let wrong = after_spoiling(&file, |outputs, _| tensor(&mut outputs[0]).identity = Identity::Argument(0));
    assert_eq!(kinds(&wrong), ["alias"]);
    let input = after_spoiling(&file, |outputs, _| {
        let output = tensor(&mut outputs[0]);
        (output.storage, output.strides) = (StorageId(0), vec![1]);
    });
    assert_eq!(kinds(&input), ["strides", "alias"]);
}

#[test]
fn written_arguments_with_their_gaps() {
    let file = stepped_out();
    let gap = after_spoiling(&file, |_, after| write(after, StorageId(1), 3, 9.0));
    assert_eq!(
        gap.iter().map(Mismatch::to_string).collect::<Vec<_>>(),
        ["argument out: byte 14 of the storage lies in no written element: got 0x10, want 0x00"]
    );
    let value = after_spoiling(&file, |_, after| write(after, StorageId(1), 2, 9.0));
    assert_eq!(kinds(&value), ["element", "element"], "seen in the output and in the argument");
    let strides = after_spoiling(&file, |_, after| after.arguments[1].tensor.strides = vec![1]);
    assert_eq!(kinds(&strides)[0], "alias", "the output is no longer the argument");
    assert!(kinds(&strides).contains(&"strides"));
    let longer = after_spoiling(&file, |_, after| after.storages[1].bytes.push(0));
    assert_eq!(kinds(&longer), ["storage_length"]);
    let moved = after_spoiling(&file, |outputs, after| {
        let copy = after.storages[1].bytes.clone();
        after.storages.push(monomorph_testsuite::conformance::GotStorage { id: StorageId(50), bytes: copy });
        after.arguments[1].tensor.storage = StorageId(50);
        tensor(&mut outputs[0]).storage = StorageId(50);
    });
    assert_eq!(kinds(&moved), ["moved"]);
    let unreported = after_spoiling(&file, |_, after| after.arguments.truncate(1));
    assert!(kinds(&unreported).contains(&"unreported"));
}

#[test]
fn a_grown_storage_may_have_any_length_behind_its_elements() {
    let args = f32_tensor("s0", &[2], &[1], 0, "");
    let kwargs = format!(r#""out":{}"#, f32_tensor("s1", &[1], &[1], 0, ""));
    let alias = r#","alias":{"arg":"out","kind":"same"}"#;
    let mutated = f32_tensor("s0", &[2], &[1], 0, "");
    let rest = format!(
        r#""outputs":[{}],"mutated":[{{"arg":"out",{}]"#,
        f32_tensor("s0", &[2], &[1], 0, alias),
        &mutated[1..]
    );
    let schema = "f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    let file = parse(&case_file(schema, &args, &kwargs, &rest), &storage_file(&[("s0", &[5.0, 6.0]), ("s1", &[0.0])]));
    let found = after_spoiling(&file, |outputs, after| {
        after.storages[1].bytes.extend([1; 8]);
        after.storages[1].id = StorageId(9);
        after.arguments[1].tensor.storage = StorageId(9);
        tensor(&mut outputs[0]).storage = StorageId(9);
    });
    assert_eq!(found, []);
}

#[test]
fn other_arguments_stay_as_they_were() {
    let file = stepped_out();
    let input = |spoil: fn(&mut After)| after_spoiling(&file, |_, after| spoil(after));
    let text: Vec<_> = input(|after| write(after, StorageId(0), 1, 6.5)).iter().map(Mismatch::to_string).collect();
    assert_eq!(text, ["argument self: byte 6 of its storage changed: got 0xd0, want 0xc0"]);
    assert_eq!(kinds(&input(|after| after.arguments[0].tensor.sizes = vec![1])), ["argument_metadata"]);
    assert_eq!(kinds(&input(|after| after.arguments[0].tensor.conj = true)), ["argument_metadata"]);
    assert_eq!(kinds(&input(|after| after.arguments[0].tensor.neg = true)), ["argument_metadata"]);
    assert_eq!(kinds(&input(|after| after.storages[0].bytes.truncate(4))), ["argument_length"]);
    assert_eq!(
        kinds(&input(|after| after.arguments[0].tensor.storage = StorageId(70))),
        ["argument_moved", "unreported"]
    );
    assert!(kinds(&input(|after| after.buffers.clear())).contains(&"unreported"));
    assert_eq!(kinds(&input(|after| _ = after.arguments.remove(0))), ["unreported"]);
}

#[test]
fn errors_are_expected_or_not() {
    let (returning, failing) = (functional(), raising());
    let answer = recorded(&returning.cases[0], &returning.storages);
    let Verdict::Failed(found) = compare(&failing.cases[0], &failing.storages, &answer) else { panic!() };
    assert_eq!(found[0].to_string(), "the call returned; want an error such as RuntimeError: no");
    let error = recorded(&failing.cases[0], &failing.storages);
    let Verdict::Failed(found) = compare(&returning.cases[0], &returning.storages, &error) else { panic!() };
    assert_eq!(found, [Mismatch::UnexpectedError { message: "no".to_owned() }]);
}

#[test]
fn an_error_leaves_the_arguments_alone() {
    let file = raising();
    let text: Vec<_> =
        after_spoiling(&file, |_, after| write(after, StorageId(0), 0, -1.0)).iter().map(Mismatch::to_string).collect();
    assert_eq!(text, ["argument self: byte 3 of its storage changed although the call failed: got 0xbf, want 0x3f"]);
    let resized = after_spoiling(&file, |_, after| after.arguments[0].tensor.sizes = vec![1]);
    let change = Change::Sizes(vec![1], vec![3]);
    assert_eq!(resized, [Mismatch::ArgumentMetadata { arg: "self".to_owned(), change, failed: true }]);
}

#[test]
fn values_without_contract_are_not_compared() {
    let args = f32_tensor("s0", &[3], &[1], 0, "");
    let output = f32_tensor("", &[2], &[1], 0, "").replace("\"\"", "null");
    let file = parse(
        &case_file("f(Tensor self) -> Tensor", &args, "", &format!(r#""outputs":[{output}]"#)),
        &storage_file(&[("s0", &[1.0, 2.0, 3.0])]),
    );
    assert_eq!(after_spoiling(&file, |_, _| ()), []);
    assert_eq!(kinds(&after_spoiling(&file, |outputs, _| tensor(&mut outputs[0]).sizes = vec![1])), ["sizes"]);
    let shared = after_spoiling(&file, |outputs, _| tensor(&mut outputs[0]).storage = StorageId(0));
    assert_eq!(kinds(&shared), ["alias"]);
}

#[test]
fn unsupported_and_panics_have_verdicts() {
    struct Absent;
    impl Replayer for Absent {
        fn call(&mut self, _: &monomorph_testsuite::conformance::Call<'_>) -> Outcome {
            Outcome::Unsupported
        }
    }
    struct Panics;
    impl Replayer for Panics {
        fn call(&mut self, call: &monomorph_testsuite::conformance::Call<'_>) -> Outcome {
            panic!("in {}", call.op)
        }
    }
    let file = functional();
    assert_eq!(judge(&file.cases[0], &file.storages, &mut Absent), Verdict::Unsupported);
    let panicked = Mismatch::Panicked { message: "in f".to_owned() };
    assert_eq!(judge(&file.cases[0], &file.storages, &mut Panics), Verdict::Failed(vec![panicked]));
}
