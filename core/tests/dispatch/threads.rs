//! Registering while others call.

use super::{constant, define, numbers, result, tensor};
use monomorph_core::dispatch::{DispatchKey, Dispatcher};
use monomorph_core::{ErrorKind, Stack};
use std::sync::atomic::{AtomicBool, Ordering};

/// Four threads define, replace and remove a thousand operators in all while four call: those they keep to themselves,
/// one that never changes, and one whose kernel comes and goes.
#[test]
fn a_thousand_operators_come_and_go_while_four_threads_call() {
    let dispatcher = Dispatcher::new();
    let mut base = dispatcher.library("base");
    define(&mut base, "steady(Tensor x) -> Tensor");
    base.kernel("base::steady", DispatchKey::CPU, constant::<1>()).unwrap();
    define(&mut base, "moving(Tensor x) -> Tensor");
    base.kernel("base::moving", DispatchKey::CPU, constant::<1>()).unwrap();
    let done = AtomicBool::new(false);
    let once = |name: &str| -> Result<i64, monomorph_core::Error> {
        let mut stack: Stack = vec![tensor(&[0]).into()];
        dispatcher.call(name, &mut stack)?;
        Ok(numbers(&result(stack))[0])
    };
    std::thread::scope(|s| {
        let writers: Vec<_> = (0..4)
            .map(|t| {
                let (dispatcher, once) = (&dispatcher, &once);
                s.spawn(move || {
                    for n in 0..250 {
                        let mut library = dispatcher.library("t");
                        define(&mut library, &format!("f{t}_{n}(Tensor x) -> Tensor"));
                        let name = format!("t::f{t}_{n}");
                        library.kernel(&name, DispatchKey::CPU, constant::<2>()).unwrap();
                        assert_eq!(once(&name).unwrap(), 2);
                        library.replace("base::moving", DispatchKey::CPU, constant::<2>()).unwrap();
                        assert_eq!(once("base::moving").unwrap(), 2, "all who replace it replace it by the same");
                        drop(library);
                        assert!(matches!(once(&name).unwrap_err().kind(), ErrorKind::UnknownOperator { .. }));
                    }
                })
            })
            .collect();
        let callers: Vec<_> = (0..4)
            .map(|_| {
                let (dispatcher, once, done) = (&dispatcher, &once, &done);
                s.spawn(move || {
                    let moving = dispatcher.find("base::moving").unwrap();
                    let mut seen = [false; 2];
                    while !done.load(Ordering::Acquire) {
                        assert_eq!(once("base::steady").unwrap(), 1);
                        let mut stack: Stack = vec![tensor(&[0]).into()];
                        moving.call(&mut stack).unwrap();
                        match numbers(&result(stack))[0] {
                            1 => seen[0] = true,
                            2 => seen[1] = true,
                            other => panic!("{other}"),
                        }
                    }
                    seen
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Release);
        assert!(callers.into_iter().any(|c| c.join().unwrap()[1]), "no caller saw a replacement");
    });
    assert_eq!(once("base::moving").unwrap(), 1);
    assert_eq!(dispatcher.operators().len(), 2);
}

/// A handle that several threads share reads new tables without a lock.
#[test]
fn one_handle_in_several_threads() {
    let dispatcher = Dispatcher::new();
    let mut base = dispatcher.library("base");
    define(&mut base, "f(Tensor x) -> Tensor");
    base.kernel("base::f", DispatchKey::CPU, constant::<0>()).unwrap();
    let handle = dispatcher.find("base::f").unwrap();
    let typed = handle.typed::<(&monomorph_core::AnyTensor,), monomorph_core::AnyTensor>().unwrap();
    std::thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                let x = tensor(&[0]);
                for _ in 0..2000 {
                    assert!((0..3).contains(&numbers(&typed.call((&x,)).unwrap())[0]));
                }
            });
        }
        for _ in 0..200 {
            let mut library = dispatcher.library("over");
            library.replace("base::f", DispatchKey::CPU, constant::<1>()).unwrap();
            library.replace("base::f", DispatchKey::CPU, constant::<2>()).unwrap();
        }
    });
    assert_eq!(numbers(&typed.call((&tensor(&[0]),)).unwrap()), [0]);
}
