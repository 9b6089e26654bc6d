//! Boxed kernels that do what their schema does not say: each is reported by name, and those that keep their word are
//! not.

mod host;

use host::Host;
use monomorph_core::annotations::{Before, Silent, check_alias_annotations};
use monomorph_core::dispatch::{Definition, DispatchKey, Dispatcher, KernelFunction};
use monomorph_core::schema::Schema;
use monomorph_core::{AnyTensor, BoxedFn, DType, Error, ErrorKind, Geometry, IValue, Meta, Stack, Tensor};

/// A kernel that leaves its arguments where they are, so that the check sees them afterwards.
type Kernel = fn(&mut [IValue]) -> Result<Vec<IValue>, Error>;

fn tensor(sizes: &[i64]) -> AnyTensor {
    let data: Vec<f32> = (0..sizes.iter().product::<i64>()).map(|i| i as f32).collect();
    Tensor::<Host>::from_slice(&data, sizes).unwrap().into_any()
}

fn schema(text: &str) -> Schema {
    Schema::parse(text).unwrap()
}

/// Runs a kernel and asks the check about it, in any build.
fn ask(text: &str, mut args: Stack, kernel: Kernel) -> Result<Vec<IValue>, Error> {
    let schema = schema(text);
    assert_eq!(args.len(), schema.args().len(), "{text}");
    let before = Before::of(&args);
    let results = kernel(&mut args).expect("the kernel itself returns");
    check_alias_annotations(&schema, Silent::default(), &before, &args, &results).map(|()| results)
}

/// Asks and names what was found.
fn found(text: &str, args: Stack, kernel: Kernel) -> Option<ErrorKind> {
    ask(text, args, kernel).err().map(|error| error.kind().clone())
}

fn write(value: &mut IValue) {
    let t = value.as_tensor_mut().and_then(|t| t.downcast_mut::<Host>()).expect("a tensor");
    let source = Tensor::<Host>::zeroed(t.dtype(), &[], &[], 0).unwrap();
    t.copy_from(&source).unwrap();
}

fn fresh() -> IValue {
    tensor(&[2]).into()
}

#[test]
fn writes_are_marked() {
    let second: Kernel = |args| {
        write(&mut args[1]);
        Ok(vec![fresh()])
    };
    let two = || vec![fresh(), fresh()];
    let offence = ErrorKind::UndeclaredWrite { position: 1, arg: "b".into() };
    assert_eq!(found("f(Tensor a, Tensor b) -> Tensor", two(), second), Some(offence.clone()));
    assert_eq!(found("f(Tensor(a!) a, Tensor b) -> Tensor", two(), second), Some(offence.clone()));
    assert_eq!(found("f(Tensor a, Tensor(b) b) -> Tensor", two(), second), Some(offence));
    assert_eq!(found("f(Tensor a, Tensor(b!) b) -> Tensor", two(), second), None);
    assert_eq!(found("f(Tensor a, Tensor! b) -> Tensor", two(), second), None);

    // Shared storage: what one argument is marked for shows in the others.
    let t = tensor(&[2]);
    let shared = || vec![t.clone().into(), t.clone().into()];
    assert_eq!(found("f(Tensor a, Tensor(b!) b) -> Tensor", shared(), second), None);
    let first = ErrorKind::UndeclaredWrite { position: 0, arg: "a".into() };
    assert_eq!(found("f(Tensor a, Tensor b) -> Tensor", shared(), second), Some(first));
}

#[test]
fn a_tensor_in_a_list_is_an_argument_too() {
    let writes: Kernel = |args| {
        let IValue::Tensors(list) = &mut args[0] else { panic!("a list") };
        let source = Tensor::<Host>::zeroed(DType::F32, &[], &[], 0).unwrap();
        list[1].downcast_mut::<Host>().unwrap().copy_from(&source).unwrap();
        Ok(vec![])
    };
    let list = || vec![IValue::Tensors(vec![tensor(&[2]), tensor(&[3])])];
    let offence = ErrorKind::UndeclaredWrite { position: 0, arg: "list".into() };
    assert_eq!(found("f(Tensor[] list) -> ()", list(), writes), Some(offence));
    assert_eq!(found("f(Tensor(a!)[] list) -> ()", list(), writes), None);
}

#[test]
fn sizes_strides_and_the_value_itself_are_written_too() {
    let turns: Kernel = |args| {
        let t = args[0].as_tensor_mut().expect("a tensor");
        let geometry = Geometry::new(DType::F32, &[2, 1], &[1, 1], 0).unwrap();
        t.downcast_mut::<Host>().unwrap().set_view(geometry).unwrap();
        Ok(vec![])
    };
    let replaces: Kernel = |args| {
        args[0] = fresh();
        Ok(vec![])
    };
    let takes: Kernel = |args| {
        args[0] = IValue::None;
        Ok(vec![])
    };
    for kernel in [turns, replaces, takes] {
        let offence = ErrorKind::UndeclaredWrite { position: 0, arg: "x".into() };
        assert_eq!(found("f(Tensor x) -> ()", vec![fresh()], kernel), Some(offence));
        assert_eq!(found("f(Tensor(a!) x) -> ()", vec![fresh()], kernel), None);
    }
    let defines: Kernel = |args| {
        args[0] = fresh();
        Ok(vec![])
    };
    let offence = ErrorKind::UndeclaredWrite { position: 0, arg: "x".into() };
    assert_eq!(found("f(Tensor? x) -> ()", vec![IValue::None], defines), Some(offence));
}

#[test]
fn shared_storage_is_declared() {
    let second: Kernel = |args| Ok(vec![args[1].clone()]);
    let two = || vec![fresh(), fresh()];
    let offence = ErrorKind::UndeclaredAlias { result: 0, arg: "b".into() };
    for text in [
        "f(Tensor a, Tensor b) -> Tensor",
        "f(Tensor(a) a, Tensor b) -> Tensor(a)",
        "f(Tensor a, Tensor(b) b) -> Tensor",
        "f(Tensor(a) a, Tensor(b) b) -> Tensor(a)",
    ] {
        assert_eq!(found(text, two(), second), Some(offence.clone()), "{text}");
    }
    for text in [
        "f(Tensor a, Tensor(b) b) -> Tensor(b)",
        "f(Tensor(a) a, Tensor(b) b) -> Tensor(a|b)",
        "f(Tensor a, Tensor(b -> *) b) -> Tensor(b)",
        "f(Tensor a, Tensor(*) b) -> Tensor(b)",
        "f(Tensor a, Tensor(b) b) -> Tensor(*)",
    ] {
        assert_eq!(found(text, two(), second), None, "{text}");
    }
    // A view of the storage is as good as the tensor; one that is shared with a declared argument is declared.
    let view: Kernel = |args| {
        let IValue::Tensor(t) = &args[0] else { panic!("a tensor") };
        Ok(vec![t.with_geometry(Geometry::new(DType::F32, &[], &[], 1)?)?.into()])
    };
    let offence = ErrorKind::UndeclaredAlias { result: 0, arg: "a".into() };
    assert_eq!(found("f(Tensor a, Tensor b) -> Tensor", two(), view), Some(offence));
    let t = tensor(&[2]);
    let shared = || vec![t.clone().into(), t.clone().into()];
    assert_eq!(found("f(Tensor a, Tensor(b) b) -> Tensor(b)", shared(), view), None);
    // What is not shared need not be declared, and what is declared need not be shared.
    let copies: Kernel = |_| Ok(vec![fresh()]);
    assert_eq!(found("f(Tensor(a) a, Tensor b) -> Tensor(a)", two(), copies), None);
}

#[test]
fn one_of_several_results_and_lists_of_them() {
    let pair: Kernel = |args| Ok(vec![fresh(), args[0].clone()]);
    let offence = ErrorKind::UndeclaredAlias { result: 1, arg: "a".into() };
    assert_eq!(found("f(Tensor(a) a) -> (Tensor(a), Tensor)", vec![fresh()], pair), Some(offence));
    assert_eq!(found("f(Tensor(a) a) -> (Tensor, Tensor(a))", vec![fresh()], pair), None);
    let list: Kernel = |args| Ok(vec![IValue::Tensors(vec![tensor(&[1]), args[0].tensors().next().unwrap().clone()])]);
    let offence = ErrorKind::UndeclaredAlias { result: 0, arg: "a".into() };
    assert_eq!(found("f(Tensor a) -> Tensor[]", vec![fresh()], list), Some(offence));
    assert_eq!(found("f(Tensor(a -> *) a) -> Tensor(a)[]", vec![fresh()], list), None);
}

#[test]
fn a_written_argument_that_moves_to_another_storage_is_known_by_the_new_one() {
    let moves: Kernel = |args| {
        args[0] = args[1].clone();
        Ok(vec![args[0].clone()])
    };
    assert_eq!(found("f_(Tensor(a!) self, Tensor source) -> Tensor(a!)", vec![fresh(), fresh()], moves), None);
}

#[test]
fn meta_tensors_have_storages() {
    let meta = || -> IValue { Tensor::<Meta>::zeros_contiguous(DType::F32, &[2]).unwrap().into() };
    let same: Kernel = |args| Ok(vec![args[0].clone()]);
    let offence = ErrorKind::UndeclaredAlias { result: 0, arg: "a".into() };
    assert_eq!(found("f(Tensor a) -> Tensor", vec![meta()], same), Some(offence));
    assert_eq!(found("f(Tensor(a) a) -> Tensor(a)", vec![meta()], same), None);
}

#[test]
fn results_are_as_many_as_the_schema_has() {
    let none: Kernel = |_| Ok(vec![]);
    assert_eq!(found("f() -> Tensor", vec![], none), Some(ErrorKind::ResultCount { got: 0, want: 1 }));
    let two: Kernel = |_| Ok(vec![fresh(), fresh()]);
    assert_eq!(found("f() -> Tensor", vec![], two), Some(ErrorKind::ResultCount { got: 2, want: 1 }));
    assert_eq!(found("f() -> (Tensor, Tensor)", vec![], two), None);
}

const BACKWARD: &str = "f_backward(Tensor grad, Tensor? weight, bool[3] output_mask) -> (Tensor, Tensor, Tensor)";

#[test]
fn results_are_undefined_only_where_the_mask_is_false() {
    let masked: Kernel = |args| {
        let IValue::Bools(mask) = &args[2] else { panic!("a mask") };
        Ok(mask.iter().map(|&wanted| if wanted { fresh() } else { IValue::None }).collect())
    };
    let all: Kernel = |_| Ok(vec![fresh(), fresh(), fresh()]);
    let nothing: Kernel = |_| Ok(vec![IValue::None, IValue::None, IValue::None]);
    let args = |mask: [bool; 3]| vec![fresh(), IValue::None, IValue::Bools(mask.to_vec())];
    for bits in 0..8 {
        let mask = [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0];
        assert_eq!(found(BACKWARD, args(mask), masked), None, "{mask:?}");
        // One that is not asked for may be there all the same.
        assert_eq!(found(BACKWARD, args(mask), all), None, "{mask:?}");
        let first = mask.iter().position(|&wanted| wanted);
        let offence = first.map(|result| ErrorKind::Undefined { result, mask: Some(true) });
        assert_eq!(found(BACKWARD, args(mask), nothing), offence, "{mask:?}");
    }
    let one: Kernel = |_| Ok(vec![IValue::None]);
    assert_eq!(
        found("f(Tensor x) -> Tensor", vec![fresh()], one),
        Some(ErrorKind::Undefined { result: 0, mask: None })
    );
    assert_eq!(found("f(bool flag) -> int", vec![IValue::Bool(true)], |_| Ok(vec![IValue::Int(1)])), None);
}

/// The boxed entry: undefined tensors go in and come out, and a debug build names the operator that breaks its word.
#[test]
fn the_boxed_entry_asks() {
    let mut library = Dispatcher::new().library("my");
    let mut entry = |text: &str, kernel: BoxedFn| {
        let definition = Definition::parse(text).unwrap().dispatch([DispatchKey::CPU], KernelFunction::stack(kernel));
        library.define(definition).unwrap();
        library.dispatcher().find(&format!("my::{}", schema(text).full_name())).unwrap()
    };
    let backward = entry(BACKWARD, |stack| {
        assert!(matches!(stack[1], IValue::None), "the weight is undefined");
        *stack = vec![IValue::None, fresh(), IValue::None];
        Ok(())
    });
    let mut stack: Stack = vec![fresh(), IValue::None, IValue::Bools(vec![false, true, false])];
    backward.call(&mut stack).unwrap();
    assert!(matches!(stack[..], [IValue::None, IValue::Tensor(_), IValue::None]));

    let undefined = entry("my::g(Tensor a, Tensor b=[]) -> Tensor", |stack| {
        assert!(matches!(stack[1], IValue::None), "left out, the second tensor is undefined");
        *stack = vec![fresh()];
        Ok(())
    });
    undefined.call(&mut vec![fresh()]).unwrap();

    let offender = entry("my::sneaky(Tensor a, Tensor other) -> Tensor", |stack| {
        write(&mut stack[1]);
        *stack = vec![fresh()];
        Ok(())
    });
    let leak = entry("my::leak(Tensor a) -> Tensor", |_| Ok(()));
    let moves = entry("my::move_(Tensor(a!) self, Tensor source) -> Tensor(a!)", |stack| {
        stack.remove(0);
        Ok(())
    });
    for (call, offence) in [
        (offender.call(&mut vec![fresh(), fresh()]), Some("my::sneaky: argument 1 (other) was changed by the call")),
        (leak.call(&mut vec![fresh()]), Some("my::leak: result 0 shares the storage of argument a")),
        (moves.call(&mut vec![fresh(), fresh()]), None),
    ] {
        match offence.filter(|_| cfg!(debug_assertions)) {
            Some(offence) => {
                let text = call.unwrap_err().to_string();
                assert!(text.starts_with(offence), "{text}");
            }
            None => call.unwrap(),
        }
    }
}

/// A set that the call moves an argument to counts as well as the one that it came from, on both sides.
#[test]
fn sets_behind_an_arrow_are_sets() {
    let itself: Kernel = |args| Ok(vec![args[0].clone()]);
    let offence = || Some(ErrorKind::UndeclaredAlias { result: 0, arg: "x".into() });
    assert_eq!(found("f(Tensor(a -> b) x) -> Tensor(b)", vec![fresh()], itself), None);
    assert_eq!(found("f(Tensor(b) x) -> Tensor(a -> b)", vec![fresh()], itself), None);
    assert_eq!(found("f(Tensor(a -> b) x) -> Tensor(a)", vec![fresh()], itself), None);
    assert_eq!(found("f(Tensor(a -> b) x) -> Tensor(c)", vec![fresh()], itself), offence());
    assert_eq!(found("f(Tensor(a) x) -> Tensor(b -> c)", vec![fresh()], itself), offence());
}

/// The storage that a written argument has got is its own as well as the one that it had.
#[test]
fn an_argument_may_have_another_storage_afterwards() {
    let replaces: Kernel = |args| {
        args[0] = fresh();
        Ok(vec![args[0].clone()])
    };
    let offence = ErrorKind::UndeclaredAlias { result: 0, arg: "x".into() };
    assert_eq!(found("f(Tensor(a!) x) -> Tensor", vec![fresh()], replaces), Some(offence));
    assert_eq!(found("f_(Tensor(a!) self) -> Tensor(a!)", vec![fresh()], replaces), None);
}

/// One bool stands for a whole mask.
#[test]
fn a_bare_bool_is_a_mask() {
    let text = "f(Tensor x, bool[2] output_mask) -> (Tensor, Tensor)";
    let none: Kernel = |_| Ok(vec![IValue::None, IValue::None]);
    let both: Kernel = |_| Ok(vec![fresh(), fresh()]);
    let args = |mask: bool| vec![fresh(), IValue::Bool(mask)];
    assert_eq!((found(text, args(false), none), found(text, args(true), both)), (None, None));
    assert_eq!(found(text, args(true), none), Some(ErrorKind::Undefined { result: 0, mask: Some(true) }));
}

#[test]
fn silent_writes_are_by_arguments() {
    let schema = schema("f(Tensor a, Tensor? mean, bool training) -> Tensor");
    let asked = |write: &'static [&'static str], mean: bool, training: bool| {
        let mut args = vec![fresh(), if mean { fresh() } else { IValue::None }, training.into()];
        let before = Before::of(&args);
        self::write(&mut args[0]);
        let silent = Silent { write, ..Silent::default() };
        check_alias_annotations(&schema, silent, &before, &args, &[fresh()]).is_ok()
    };
    let (training, either) = (&["training"][..], &["mean", "training"][..]);
    assert!(asked(training, false, true) && asked(either, true, false) && asked(either, false, true));
    assert!(!asked(&[], true, true) && !asked(training, true, false) && !asked(either, false, false));
    // A value that is not known, as of an argument that a program computes, may be true.
    assert!(Silent { write: training, ..Silent::default() }.may_write(&schema, |_| None));
}
