//! What users own in the tables of a dispatcher may call that dispatcher whenever it is called or dropped: no lock is
//! held then. Each test runs on a thread of its own, which a deadlock would keep from ending.

use super::{call, constant, define, fault, numbers, result, tensor};
use monomorph_core::dispatch::{
    AliasKey, Definition, DispatchError, DispatchKey, Dispatcher, KernelFunction, Library, OperatorHandle,
    RegistrationKey,
};
use monomorph_core::{AnyTensor, Result, Stack};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// Runs something that has to end.
fn ends(what: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        what();
        let _ = done.send(());
    });
    match wait.recv_timeout(Duration::from_secs(20)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it waits for a lock"),
        _ => thread.join().unwrap(),
    }
}

/// A kernel that is never called, and owns something.
fn owns<T>(_: &T) -> Result<()> {
    Ok(())
}

/// Uses everything of a dispatcher that takes a lock, when it is dropped.
struct Busy {
    dispatcher: Dispatcher,
    dropped: Arc<AtomicUsize>,
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut own = self.dispatcher.library("busy");
        define(&mut own, "f(Tensor x) -> Tensor");
        own.kernel("busy::f", DispatchKey::CPU, constant::<1>()).unwrap();
        assert_eq!(call(&own, "busy::f").unwrap(), [1]);
        own.fallback(DispatchKey::TRACER, KernelFunction::fallthrough()).unwrap();
        assert!(self.dispatcher.dump().contains("busy::f"));
        assert!(self.dispatcher.find("busy::g").is_err());
        assert!(!self.dispatcher.operators().is_empty());
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// Kernels that own something, and how many of those have been dropped.
struct Kernels {
    dispatcher: Dispatcher,
    dropped: Arc<AtomicUsize>,
}

impl Kernels {
    fn new() -> Kernels {
        Kernels { dispatcher: Dispatcher::new(), dropped: Arc::default() }
    }

    fn busy(&self) -> Busy {
        Busy { dispatcher: self.dispatcher.clone(), dropped: self.dropped.clone() }
    }

    /// One of each kind that can own anything.
    fn all(&self) -> [KernelFunction; 3] {
        let (a, b, c) = (self.busy(), self.busy(), self.busy());
        [
            KernelFunction::boxed(move |_, _| owns(&a)),
            KernelFunction::composed(move |_, _| owns(&b)),
            KernelFunction::functor(move || {
                let _own = &c;
                |x: &AnyTensor| x.clone()
            }),
        ]
    }

    fn dropped(&self) -> usize {
        self.dropped.swap(0, Ordering::Relaxed)
    }
}

#[test]
fn kernels_are_dropped_without_a_lock() {
    ends(|| {
        let kernels = Kernels::new();
        let mut base = kernels.dispatcher.library("t");
        define(&mut base, "f(Tensor x) -> Tensor");
        for kernel in kernels.all() {
            let mut library = kernels.dispatcher.library("own");
            library.kernel("t::f", DispatchKey::CPU, kernel.clone()).unwrap();
            library.replace("t::f", DispatchKey::CPU, kernel.clone()).unwrap();
            library.kernel("own::later", DispatchKey::META, kernel).unwrap();
            assert_eq!(kernels.dropped(), 0);
            drop(library);
            assert_eq!(kernels.dropped(), 1);
        }
        let [boxed, composed, _] = kernels.all();
        for kernel in [boxed, composed] {
            let mut library = kernels.dispatcher.library("own");
            library.fallback(DispatchKey::CPU, kernel).unwrap();
            drop(library);
        }
        assert_eq!(kernels.dropped(), 3);
    });
}

#[test]
fn kernels_that_are_refused_are_dropped_without_a_lock() {
    ends(|| {
        let kernels = Kernels::new();
        let mut base = kernels.dispatcher.library("t");
        define(&mut base, "f(Tensor x) -> Tensor");
        base.kernel("t::f", DispatchKey::CPU, constant::<1>()).unwrap();
        base.fallback(DispatchKey::CPU, KernelFunction::fallthrough()).unwrap();
        for kernel in kernels.all() {
            assert!(base.kernel("t::f", DispatchKey::CPU, kernel).is_err());
        }
        for kernel in kernels.all() {
            let keys = [RegistrationKey::META, RegistrationKey::CPU];
            assert!(base.kernels("t::f", &keys, kernel).is_err());
        }
        for kernel in kernels.all() {
            let twice = Definition::parse("g(Tensor x) -> Tensor").unwrap();
            let twice = twice.dispatch([DispatchKey::CPU, DispatchKey::CPU], kernel);
            assert!(base.define(twice).is_err());
        }
        for kernel in kernels.all() {
            let unclear = Definition::parse("g(Tensor x) -> Tensor").unwrap().default_kernel(kernel.clone());
            assert!(base.define(unclear.dispatch([DispatchKey::CPU], kernel)).is_err());
        }
        for kernel in kernels.all() {
            let again = Definition::parse("f(Tensor x) -> Tensor").unwrap().dispatch([DispatchKey::META], kernel);
            assert!(base.define(again).is_err());
        }
        for kernel in kernels.all() {
            assert!(base.fallback(DispatchKey::CPU, kernel).is_err());
        }
        for kernel in kernels.all() {
            let undone = base.all_or_none(|library| {
                library.kernel("t::g", DispatchKey::META, kernel)?;
                library.kernel("t::f", DispatchKey::CPU, constant::<2>())
            });
            assert!(undone.is_err());
        }
        assert_eq!(kernels.dropped(), 7 * 3);
    });
}

/// The library of a kernel is dropped with it, which takes the locks that the kernel was dropped under.
#[test]
fn a_kernel_may_own_a_library() {
    ends(|| {
        let dispatcher = Dispatcher::new();
        let mut inner = dispatcher.library("inner");
        define(&mut inner, "g(Tensor x) -> Tensor");
        inner.kernel("inner::g", DispatchKey::CPU, constant::<2>()).unwrap();
        let mut outer = dispatcher.library("outer");
        define(&mut outer, "f(Tensor x) -> Tensor");
        let kernel = KernelFunction::composed(move |calls, stack| {
            assert_eq!(inner.namespace(), "inner");
            calls.call("inner::g", stack)
        });
        outer.kernel("outer::f", AliasKey::CompositeImplicit, kernel).unwrap();
        assert_eq!(call(&outer, "outer::f").unwrap(), [2]);
        drop(outer);
        assert_eq!(dispatcher.dump(), "");
    });
}

/// State is a handle's; it is dropped with the handle, or when the handle has seen enough other tables.
#[test]
fn states_of_handles_are_dropped_without_a_lock() {
    ends(|| {
        let kernels = Kernels::new();
        let mut base = kernels.dispatcher.library("t");
        define(&mut base, "f(Tensor x) -> Tensor");
        let (dispatcher, dropped) = (kernels.dispatcher.clone(), kernels.dropped.clone());
        let functor = KernelFunction::functor(move || {
            let own = Busy { dispatcher: dispatcher.clone(), dropped: dropped.clone() };
            move |x: &AnyTensor| {
                let _own = &own;
                tensor(&[numbers(x)[0] + 1])
            }
        });
        base.kernel("t::f", DispatchKey::CPU, functor).unwrap();
        let handle = kernels.dispatcher.find("t::f").unwrap();
        let called = |handle: &OperatorHandle| {
            let mut stack: Stack = vec![tensor(&[1]).into()];
            handle.call(&mut stack).unwrap();
            assert_eq!(numbers(&result(stack)), [2]);
        };
        for _ in 0..40 {
            let mut other = kernels.dispatcher.library("other");
            other.kernel("t::f", DispatchKey::META, constant::<1>()).unwrap();
            called(&handle);
        }
        assert!(kernels.dropped.load(Ordering::Relaxed) > 0);
        drop(handle);
        assert_eq!(kernels.dropped(), 40);
    });
}

/// What a user's drop panics with goes on once everything is in order; a second panic ends where it is.
#[test]
fn drops_that_panic_leave_everything_in_order() {
    struct Panics(Arc<AtomicUsize>);
    impl Drop for Panics {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            resume_unwind(Box::new("of a drop"));
        }
    }
    ends(|| {
        let dispatcher = Dispatcher::new();
        let dropped = Arc::new(AtomicUsize::new(0));
        let kernel = || {
            let own = Panics(dropped.clone());
            KernelFunction::boxed(move |_, _| owns(&own))
        };
        let caught = |what: &mut dyn FnMut()| {
            let payload = catch_unwind(AssertUnwindSafe(what)).unwrap_err();
            assert_eq!(*payload.downcast::<&str>().unwrap(), "of a drop");
        };
        let mut base = dispatcher.library("t");
        define(&mut base, "f(Tensor x) -> Tensor");
        base.kernel("t::f", DispatchKey::CPU, constant::<1>()).unwrap();
        let before = dispatcher.dump();
        let mut over = Some(dispatcher.library("over"));
        let library = over.as_mut().unwrap();
        for key in [DispatchKey::CPU, DispatchKey::META, DispatchKey::CUDA] {
            library.replace("t::f", key, kernel()).unwrap();
        }
        library.fallback(DispatchKey::TRACER, kernel()).unwrap();
        caught(&mut || over = None);
        assert_eq!((dropped.swap(0, Ordering::Relaxed), dispatcher.dump()), (4, before.clone()));
        assert_eq!(call(&base, "t::f").unwrap(), [1]);
        caught(&mut || assert!(base.kernel("t::f", DispatchKey::CPU, kernel()).is_err()));
        assert_eq!((dropped.swap(0, Ordering::Relaxed), dispatcher.dump()), (1, before.clone()));
        caught(&mut || {
            let definition = Definition::parse("f(Tensor x) -> Tensor").unwrap();
            let definition = definition.dispatch([DispatchKey::CPU], kernel()).dispatch([DispatchKey::META], kernel());
            assert!(base.define(definition).is_err());
        });
        assert_eq!((dropped.swap(0, Ordering::Relaxed), dispatcher.dump()), (2, before.clone()));
        // A library that is dropped because of another panic.
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let mut library = dispatcher.library("over");
            library.replace("t::f", DispatchKey::CPU, kernel()).unwrap();
            resume_unwind(Box::new("of the test"));
        }));
        assert_eq!(*unwound.unwrap_err().downcast::<&str>().unwrap(), "of the test");
        assert_eq!((dropped.swap(0, Ordering::Relaxed), dispatcher.dump()), (1, before));
        assert_eq!(call(&base, "t::f").unwrap(), [1]);
    });
}

/// A constructor calls its own operator: the recursion ends by the limit of nested calls.
#[test]
fn constructors_are_called_without_a_lock() {
    ends(|| {
        let dispatcher = Dispatcher::new();
        let mut base = dispatcher.library("t");
        define(&mut base, "f(Tensor x) -> Tensor");
        define(&mut base, "g(Tensor x) -> Tensor");
        let at_work = dispatcher.clone();
        let functor = KernelFunction::functor(move || {
            let mut own = at_work.library("made");
            own.kernel("t::f", DispatchKey::META, constant::<1>()).unwrap();
            assert!(at_work.dump().contains("t::f"));
            move |_: &AnyTensor| tensor(&[i64::from(own.namespace() == "made")])
        });
        base.kernel("t::f", DispatchKey::CPU, functor).unwrap();
        assert_eq!(call(&base, "t::f").unwrap(), [1]);
        let at_work = dispatcher.clone();
        let itself = KernelFunction::functor(move || {
            let error = at_work.call("t::g", &mut vec![tensor(&[0]).into()]).map(|()| 0).unwrap_or(1);
            move |_: &AnyTensor| tensor(&[error])
        });
        base.kernel("t::g", DispatchKey::CPU, itself).unwrap();
        assert_eq!(call(&base, "t::g").unwrap(), [0], "only the innermost constructor has seen an error");
    });
}

/// A panic of a constructor whose payload panics when it is dropped is an error all the same.
#[test]
fn a_payload_of_a_constructor_is_not_dropped() {
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            resume_unwind(Box::new("again"));
        }
    }
    ends(|| {
        let mut library = Dispatcher::new().library("t");
        define(&mut library, "f(Tensor x) -> Tensor");
        fn never() -> fn(&AnyTensor) -> AnyTensor {
            resume_unwind(Box::new(Payload))
        }
        library.kernel("t::f", DispatchKey::CPU, KernelFunction::functor(never)).unwrap();
        let error = call(&library, "t::f").unwrap_err();
        assert!(matches!(fault(&error), DispatchError::ConstructorPanicked { .. }), "{error}");
    });
}

#[test]
fn several_registrations_at_once_may_use_the_dispatcher() {
    ends(|| {
        let dispatcher = Dispatcher::new();
        let mut base = dispatcher.library("t");
        let other = dispatcher.clone();
        base.all_or_none(|library| {
            define(library, "f(Tensor x) -> Tensor");
            assert!(other.find("t::f").is_ok());
            library.all_or_none(|inner| inner.kernel("t::f", DispatchKey::CPU, constant::<1>()))
        })
        .unwrap();
        let before = dispatcher.dump();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            base.all_or_none(|library| {
                define(library, "g(Tensor x) -> Tensor");
                resume_unwind(Box::new(0));
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(dispatcher.dump(), before);
    });
}

/// What is printed to is a user's, too.
#[test]
fn printing_holds_no_lock() {
    struct Writer(Dispatcher);
    impl Write for Writer {
        fn write_str(&mut self, _: &str) -> std::fmt::Result {
            let mut own = self.0.library("writer");
            own.kernel("t::f", DispatchKey::META, constant::<1>()).expect("no other has one");
            Ok(())
        }
    }
    ends(|| {
        let dispatcher = Dispatcher::new();
        let mut base = dispatcher.library("t");
        define(&mut base, "f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
        let definition = Definition::parse("f(Tensor x) -> Tensor").unwrap().completed_by("t::f.out");
        base.define(definition.dispatch([DispatchKey::CPU], constant::<1>())).unwrap();
        let handle = dispatcher.find("t::f").unwrap();
        call(&base, "t::f").unwrap();
        let typed = handle.typed::<(&AnyTensor,), AnyTensor>().unwrap();
        let mut writer = Writer(dispatcher.clone());
        write!(writer, "{dispatcher:?} {base:?} {handle:?} {typed:?}").unwrap();
        base.replace(
            "t::f",
            DispatchKey::CPU,
            KernelFunction::composed(move |calls, stack| {
                write!(Writer(calls.frame().dispatcher().clone()), "{calls:?} {:?}", calls.frame()).expect("printed");
                *stack = vec![tensor(&[2]).into()];
                Ok(())
            }),
        )
        .unwrap();
        assert_eq!(call(&base, "t::f").unwrap(), [2]);
    });
}

/// A handle that is alive while libraries come and go keeps few of their tables, and so few of their kernels.
#[test]
fn a_handle_keeps_few_tables() {
    let dispatcher = Dispatcher::new();
    let mut base = dispatcher.library("t");
    define(&mut base, "f(Tensor x) -> Tensor");
    let handle = dispatcher.find("t::f").unwrap();
    let typed = handle.typed::<(&AnyTensor,), AnyTensor>().unwrap();
    let alive = Arc::new(());
    for i in 0..2000 {
        let mut library = dispatcher.library("own");
        let own = alive.clone();
        let kernel = KernelFunction::boxed(move |_, stack| {
            let _own = &own;
            *stack = vec![tensor(&[i]).into()];
            Ok(())
        });
        library.kernel("t::f", DispatchKey::CPU, kernel).unwrap();
        let mut stack: Stack = vec![tensor(&[0]).into()];
        handle.call(&mut stack).unwrap();
        assert_eq!(numbers(&result(stack)), [i]);
        assert_eq!(numbers(&typed.call((&tensor(&[0]),)).unwrap()), [i]);
    }
    let kept = Arc::strong_count(&alive) - 1;
    assert!((1..=2 * 17).contains(&kept), "{kept} kernels of the past");
    drop((handle, typed));
    assert_eq!(Arc::strong_count(&alive), 1);
}

/// Many libraries that are alive and many handles of one operator, in several threads, with kernels that use the
/// dispatcher when they are dropped.
#[test]
fn drops_in_several_threads() {
    ends(|| {
        let dispatcher = Dispatcher::new();
        let mut base = dispatcher.library("t");
        define(&mut base, "f(Tensor x) -> Tensor");
        base.kernel("t::f", DispatchKey::CPU, constant::<1>()).unwrap();
        let handle = dispatcher.find("t::f").unwrap();
        let taken: Mutex<Vec<Library>> = Mutex::default();
        std::thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for _ in 0..200 {
                        let mut library = dispatcher.library("over");
                        let mut inner = dispatcher.library("inner");
                        inner.replace("t::f", DispatchKey::META, constant::<3>()).unwrap();
                        let kernel = KernelFunction::boxed(move |_, stack| {
                            let _own = &inner;
                            *stack = vec![tensor(&[1]).into()];
                            Ok(())
                        });
                        library.replace("t::f", DispatchKey::CPU, kernel).unwrap();
                        let mut stack: Stack = vec![tensor(&[0]).into()];
                        handle.call(&mut stack).unwrap();
                        assert_eq!(numbers(&result(stack)), [1]);
                        let other = taken.lock().unwrap().pop();
                        drop(other);
                        taken.lock().unwrap().push(library);
                    }
                });
            }
        });
        drop(taken);
        assert_eq!(call(&base, "t::f").unwrap(), [1]);
    });
}
