//! What is refused, one by one: the error says what was wrong, and everything that is registered is as it was.

use super::{call, constant, define, fault, tensor};
use crate::host::Host;
use monomorph_core::dispatch::{
    AliasKey, Backend, Definition, DispatchError, DispatchKey, Dispatcher, Flags, KernelFunction, Library,
    RegistrationKey,
};
use monomorph_core::{AnyTensor, Device, DeviceKind, Error, ErrorKind, IValue, Memory, Result, Scalar, Stack, Strided};

/// A dispatcher in which something of every sort is registered.
struct Registered {
    dispatcher: Dispatcher,
    base: Option<Library>,
    other: Library,
}

const CPU: RegistrationKey = RegistrationKey::CPU;
const IMPLICIT: AliasKey = AliasKey::CompositeImplicit;

fn parsed(schema: &str) -> Definition {
    Definition::parse(schema).expect("a schema")
}

fn registered() -> Registered {
    let dispatcher = Dispatcher::new();
    let mut base = dispatcher.library("t");
    base.define(parsed("f(Tensor x) -> Tensor").dispatch([CPU], constant::<1>())).unwrap();
    base.define(parsed("composed(Tensor x) -> Tensor").default_kernel(constant::<2>())).unwrap();
    base.define(parsed("scaled(Tensor x, Scalar by=1, *, int[] dims=[]) -> Tensor")).unwrap();
    base.fallback(DispatchKey::TRACER, KernelFunction::fallthrough()).unwrap();
    let mut other = dispatcher.library("other");
    other.kernel("t::f", DispatchKey::META, constant::<3>()).unwrap();
    other.kernel("later::op", DispatchKey::CPU, constant::<4>()).unwrap();
    other.backend::<Own<16>>("Own").unwrap();
    Registered { dispatcher, base: Some(base), other }
}

/// A device of another crate.
#[derive(Clone, Copy, Debug)]
struct Own<const KIND: u8>;

// SAFETY: no other device of this binary has these kinds, and all that is its own is the host's.
unsafe impl<const KIND: u8> Device for Own<KIND> {
    const KIND: DeviceKind = DeviceKind(KIND);
    const MEMORY: Option<&'static Memory> = Host::MEMORY;
    type Guard = ();
    type StdOps = ();
    fn enter(_: u8) {}
    unsafe fn copy(index: u8, sizes: &[i64], to: Strided<'_>, from: Strided<'_>) -> Result<()> {
        // SAFETY: passed on.
        unsafe { Host::copy(index, sizes, to, from) }
    }
}

/// Asks for something that is refused: the words of the error, and nothing registered, removed or replaced.
fn refused(what: &str, words: &[&str], ask: impl FnOnce(&mut Registered) -> Result<()>) -> Error {
    let mut registered = registered();
    let before = registered.dispatcher.dump();
    let error = ask(&mut registered).expect_err(what);
    assert_eq!(registered.dispatcher.dump(), before, "{what} has changed what is registered");
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "{what}: {text:?} does not say {word:?}");
    }
    error
}

fn base(registered: &mut Registered) -> &mut Library {
    registered.base.as_mut().expect("there until it is closed")
}

#[test]
fn a_dump_tells_registrations_apart() {
    let registered = registered();
    let text = registered.dispatcher.dump();
    for line in [
        "t::f: f(Tensor x) -> Tensor, Flags",
        "  Cpu: Function",
        "  Meta: Function",
        "  CompositeImplicit: Function",
        "later::op: not defined",
        "fallback Tracer: Fallthrough",
        "backend Private0 is Own",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    // Each change is seen.
    let changes: [fn(&mut Library); 5] = [
        |library| library.kernel("t::f", DispatchKey::CUDA, constant::<5>()).unwrap(),
        |library| library.replace("t::f", CPU, constant::<5>()).unwrap(),
        |library| define(library, "g(Tensor x) -> Tensor"),
        |library| library.fallback(DispatchKey::CPU, KernelFunction::fallthrough()).unwrap(),
        |library| assert!(library.backend::<Own<17>>("Another").is_ok()),
    ];
    for (i, change) in changes.into_iter().enumerate() {
        let mut library = registered.dispatcher.library("changing");
        change(&mut library);
        assert_ne!(registered.dispatcher.dump(), text, "change {i}");
        drop(library);
        assert_eq!(registered.dispatcher.dump(), text, "change {i}, undone");
    }
}

#[test]
fn schemas_and_names() {
    for (schema, words) in [
        ("g(Tensro x) -> Tensor", ["Tensro", "\n  ^"]),
        ("g(Tensor x -> Tensor", ["^", "`)`"]),
        ("g(Tensor x, int n=[) -> Tensor", ["^", "n"]),
        ("g(int n=1, Tensor x) -> Tensor", ["^", "default"]),
        ("", ["^", "name"]),
    ] {
        refused(schema, &words, |r| base(r).define(Definition::parse(schema)?));
    }
    let outside = refused("another namespace", &["aten::g", "namespace is t"], |r| {
        base(r).define(parsed("aten::g(Tensor x) -> Tensor"))
    });
    assert_eq!(outside.op(), "aten::g");
    refused("an unknown operator", &["t::ff", "t::f"], |r| r.dispatcher.find("t::ff").map(drop));
    refused("a call of one", &["t::fff"], |r| r.dispatcher.call("t::fff", &mut Stack::new()));
    refused("an unknown key", &["Cpv", "Cpu"], |r| r.dispatcher.key("Cpv").map(drop));
}

#[test]
fn what_is_there_already() {
    let error = refused("a second definition", &["t::f", "library t"], |r| {
        r.dispatcher.library("t").define(parsed("f(Tensor x) -> Tensor").dispatch([CPU], constant::<5>()))
    });
    assert_eq!(error.op(), "t::f");
    refused("a second kernel", &["t::f", "Cpu", "library t", "replace"], |r| {
        r.other.kernel("t::f", CPU, constant::<5>())
    });
    refused("a kernel for two keys, one of which has one", &["t::f", "Meta", "library other"], |r| {
        base(r).kernels("t::f", &[RegistrationKey::CUDA, RegistrationKey::META], constant::<5>())
    });
    refused("one kernel twice for a key", &["t::f", "Cuda"], |r| {
        base(r).kernels("t::f", &[RegistrationKey::CUDA, RegistrationKey::CUDA], constant::<5>())
    });
    refused("two kernels of a definition for a key", &["t::g", "Cpu"], |r| {
        base(r).define(parsed("g(Tensor x) -> Tensor").dispatch([CPU, CPU], constant::<5>()))
    });
    refused("a second fallback", &["Tracer", "library t"], |r| {
        r.other.fallback(DispatchKey::TRACER, KernelFunction::fallthrough())
    });
    refused("a device twice", &["16", "Own"], |r| base(r).backend::<Own<16>>("Again").map(drop));
    refused("a name twice", &["Own"], |r| base(r).backend::<Own<17>>("Own").map(drop));
    refused("the name of another key", &["Meta"], |r| base(r).backend::<Own<17>>("Meta").map(drop));
    refused("a kind without a key", &["99", "16 to 20"], |r| base(r).backend::<Own<99>>("Far").map(drop));
}

#[test]
fn aliases_and_keys_that_conflict() {
    for other in [AliasKey::CompositeExplicit, AliasKey::CompositeExplicitNonFunctional] {
        let words = ["t::composed", "CompositeImplicit", &format!("{other:?}")].map(str::to_owned);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        refused("a second composition", &words, |r| r.other.kernel("t::composed", other, constant::<5>()));
        refused("one over the first", &words, |r| r.other.replace("t::composed", other, constant::<5>()));
        refused("two of a definition", &words[1..], |r| {
            let both: [RegistrationKey; 2] = [IMPLICIT.into(), other.into()];
            base(r).define(parsed("g(Tensor x) -> Tensor").dispatch(both, constant::<5>()))
        });
    }
    refused("a default beside a dispatch section", &["t::g", "Cpu", "CompositeImplicit"], |r| {
        base(r).define(parsed("g(Tensor x) -> Tensor").default_kernel(constant::<5>()).dispatch([CPU], constant::<6>()))
    });
    let flags = Flags { manual_registration: true, ..Flags::default() };
    refused("manual registration with a kernel", &["t::g", "manual", "Cpu"], |r| {
        base(r).define(parsed("g(Tensor x) -> Tensor").with_flags(flags).dispatch([CPU], constant::<5>()))
    });
    refused("a kernel of the undefined key", &["t::f", "Undefined"], |r| {
        r.other.kernel("t::f", RegistrationKey::Runtime(DispatchKey::UNDEFINED), constant::<5>())
    });
    refused("an unboxed fallback", &["Cpu", "boxed"], |r| r.other.fallback(DispatchKey::CPU, constant::<5>()));
}

#[test]
fn functions_that_are_not_what_is_declared() {
    fn two(_: &AnyTensor, _: i64) -> AnyTensor {
        tensor(&[0])
    }
    refused("a kernel", &["t::f", "int", "f(Tensor x) -> Tensor"], |r| {
        r.other.kernel("t::f", DispatchKey::CUDA, KernelFunction::function(two))
    });
    refused("a kernel of a definition", &["t::g", "int"], |r| {
        base(r).define(parsed("g(Tensor x) -> Tensor").dispatch([CPU], KernelFunction::function(two)))
    });
    refused("a definition behind its kernel", &["later::op", "bool"], |r| {
        r.dispatcher.library("later").define(parsed("op(Tensor x, bool b) -> Tensor"))
    });
    refused("a handle", &["t::f", "float"], |r| {
        r.dispatcher.find("t::f")?.typed::<(&AnyTensor, f64), AnyTensor>().map(drop)
    });
}

#[test]
fn calls_with_wrong_counts_and_kinds() {
    let with = |stack: Vec<IValue>| {
        move |r: &mut Registered| {
            base(r).kernel(
                "t::scaled",
                CPU,
                KernelFunction::function(|x: &AnyTensor, _: Scalar, _: &[i64]| x.clone()),
            )?;
            let before = r.dispatcher.dump();
            let mut given: Stack = stack.clone();
            let called = r.dispatcher.call("t::scaled", &mut given);
            assert_eq!(format!("{given:?}"), format!("{stack:?}"), "the stack is as it was");
            assert_eq!(r.dispatcher.dump(), before);
            called
        }
    };
    let x = || IValue::from(tensor(&[1]));
    let cases: [(&str, Vec<IValue>, &[&str]); 6] = [
        ("no argument", vec![], &["t::scaled", "0", "1"]),
        ("too many", vec![x(), 1i64.into(), IValue::Ints(vec![]), 1i64.into()], &["t::scaled", "4", "3"]),
        ("text for a tensor", vec![IValue::Str("x".into())], &["t::scaled", "argument 0 (x)", "str", "Tensor"]),
        ("a tensor for a number", vec![x(), x()], &["t::scaled", "argument 1 (by)", "Tensor", "Scalar"]),
        (
            "a number for a list",
            vec![x(), 1i64.into(), 1.5.into()],
            &["t::scaled", "argument 2 (dims)", "float", "int[]"],
        ),
        ("nothing for a tensor", vec![IValue::None], &["t::scaled", "argument 0 (x)", "None", "Tensor"]),
    ];
    for (what, stack, words) in cases {
        let ask = with(stack);
        let mut registered = registered();
        let error = ask(&mut registered).expect_err(what);
        let text = error.to_string();
        words.iter().for_each(|word| assert!(text.contains(word), "{what}: {text:?} does not say {word:?}"));
        let of_arguments = matches!(error.kind(), ErrorKind::ArgumentCount { .. } | ErrorKind::ArgumentKind { .. });
        assert!(of_arguments, "{what}: {error}");
    }
}

#[test]
fn a_key_without_a_kernel() {
    // The call is of a CUDA key; those that have a kernel are listed.
    let cuda = monomorph_core::dispatch::KeySet::of(DispatchKey::CUDA);
    let error = refused("a kernel that is missing", &["t::f", "Cuda", "Cpu, Meta"], |r| {
        r.dispatcher.find("t::f")?.redispatch(cuda, &mut vec![tensor(&[1]).into()])
    });
    assert!(
        matches!(fault(&error), DispatchError::NoKernel { key, available } if key == "Cuda" && available == "Cpu, Meta")
    );
    refused("no kernel at all", &["t::scaled", "Cpu", "no key"], |r| {
        r.dispatcher.call("t::scaled", &mut vec![tensor(&[1]).into()])
    });
    refused("an operator that is not defined", &["later::op", "definition"], |r| {
        r.dispatcher.find("later::op")?.call(&mut vec![tensor(&[1]).into()])
    });
    // By the unboxed door as well.
    refused("an unboxed call", &["t::scaled", "Cpu", "no key"], |r| {
        let f = r.dispatcher.find("t::scaled")?.typed::<(&AnyTensor, Scalar, &[i64]), AnyTensor>()?;
        f.call((&tensor(&[1]), Scalar::Int(1), &[])).map(drop)
    });
}

#[test]
fn removal_while_others_use_it() {
    let error = refused("a library in use", &["other", "Meta of t::f"], |r| {
        let (library, error) = r.base.take().expect("there").close().expect_err("in use");
        assert_eq!(call(&library, "t::f")?, [1], "it works on");
        r.base = Some(library);
        Err(error)
    });
    assert!(matches!(fault(&error), DispatchError::InUse { .. }));
}

/// A kernel of which the constructor panics is registered all the same; calls are errors, boxed or not, until it can be
/// made.
#[test]
fn constructors_that_panic() {
    fn never() -> fn(&AnyTensor) -> AnyTensor {
        panic!("out of order")
    }
    let words = ["t::f", "out of order"];
    for boxed in [true, false] {
        let error = refused("a constructor", &words, |r| {
            let mut library = r.dispatcher.library("panics");
            library.replace("t::f", CPU, KernelFunction::functor(never))?;
            let before = r.dispatcher.dump();
            let f = r.dispatcher.find("t::f")?;
            let x = tensor(&[1]);
            let called = match boxed {
                true => {
                    let mut stack: Stack = vec![x.into()];
                    let called = f.call(&mut stack);
                    assert_eq!(stack.len(), 1, "the stack is as it was");
                    called
                }
                false => f.typed::<(&AnyTensor,), AnyTensor>()?.call((&x,)).map(drop),
            };
            assert_eq!(r.dispatcher.dump(), before);
            called
        });
        assert!(matches!(fault(&error), DispatchError::ConstructorPanicked { .. }), "{error}");
    }
    // And what it stood over is back.
    let registered = registered();
    assert_eq!(call(registered.base.as_ref().unwrap(), "t::f").unwrap(), [1]);
}

#[test]
fn several_things_are_registered_together_or_not_at_all() {
    refused("the last of several", &["t::f", "Cpu"], |r| {
        base(r).all_or_none(|library| {
            define(library, "new(Tensor x) -> Tensor");
            library.kernel("t::new", CPU, constant::<7>())?;
            library.kernel("later::op", DispatchKey::META, constant::<7>())?;
            library.replace("t::f", DispatchKey::META, constant::<7>())?;
            library.fallback(DispatchKey::CUDA, KernelFunction::fallthrough())?;
            library.backend::<Own<17>>("Second")?;
            library.kernel("t::f", CPU, constant::<7>())
        })
    });
    // Those that succeed are the library's: there until it is dropped.
    let mut registered = registered();
    let before = registered.dispatcher.dump();
    let mut library = registered.dispatcher.library("t");
    let together = library.all_or_none(|library| {
        define(library, "new(Tensor x) -> Tensor");
        library.kernel("t::new", CPU, constant::<7>())?;
        library.fallback(DispatchKey::CUDA, KernelFunction::fallthrough())?;
        library.backend::<Own<17>>("Second").map(drop)
    });
    together.unwrap();
    assert_eq!(call(&library, "t::new").unwrap(), [7]);
    assert!(registered.dispatcher.dump().contains("fallback Cuda"));
    assert_eq!(registered.dispatcher.key("Second").unwrap(), Backend::private(1).unwrap().into());
    registered.other.kernel("t::new", DispatchKey::META, constant::<8>()).unwrap();
    let (library, error) = library.close().unwrap_err();
    assert!(matches!(fault(&error), DispatchError::InUse { by } if by.contains("t::new")), "{error}");
    // What another library has for it waits for another definition.
    drop(library);
    let waiting = "t::new: not defined\n  Meta: Function";
    let after = registered.dispatcher.dump();
    assert!(after.contains(waiting), "{after}");
    assert_eq!(after.lines().count(), before.lines().count() + 2, "nothing else is left");
}
