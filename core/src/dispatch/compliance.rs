//! Whether a composed kernel does nothing but call operators. Runs one with instrumented arguments and reports, by
//! name, what it does besides: for the tests of whoever writes composed kernels. Judges no result; that is the affair
//! of other tests.
//!
//! ```text
//!                       between calls: storages locked           during a call: unlocked, written down
//! kernel ──────────────────────────────────────────────► Tracer ──► operator ──► results: known from now on
//! ```
//!
//! * **Calls** are seen at the key `Tracer`, which the checking thread includes in all of them.
//! * **Data.** Between calls every storage that the kernel can know is locked as one that is being written is, so that
//!   whoever reads or writes elements without a call, or calls a kernel of one device directly, gets an error.
//! * **Metadata.** Whatever tensor a kernel returns or hands to a call is an argument or has come from a call, with its
//!   sizes and strides.
//! * **Values and devices.** The same calls with the same geometries are made for other contents, and on meta tensors.
//! * **The schema** is held against the whole call: writes and aliases that it does not declare. What it returns of a
//!   written argument is that argument, with the storage and the geometry that the calls have left it with.

mod watch;

use super::Dispatcher;
use super::completion::OnMeta;
use super::handle::OperatorHandle;
use super::kernel::KernelFunction;
use super::key::DispatchKey;
use super::library::Library;
use super::set::{KeyGuard, KeySet};
use crate::error::{ErrorKind, Result};
use crate::schema::Schema;
use crate::value::annotations::{Before, check_alias_annotations};
use crate::value::{IValue, Stack};
use watch::{Watch, observe, watched};

/// What a composed kernel must not do, and did.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Breach {
    /// Elements were read or written, or a kernel of one device was called, without the dispatcher.
    #[error("after {after}, it reads or writes elements without a call; call an operator for it")]
    TouchesData {
        /// The call that came before.
        after: String,
    },
    /// A tensor that has come from no call.
    #[error(
        "{what} is no argument and has come from no call: a view or a kernel behind the dispatcher's back; call an \
            operator for it"
    )]
    ComesFromNowhere {
        /// Which tensor.
        what: String,
    },
    /// An argument was written, or a result aliases one, and the schema does not say so.
    #[error("{0}")]
    Schema(ErrorKind),
    /// What is declared to be a written argument is another tensor.
    #[error(
        "result {result} is not the argument {arg}, which the schema says it is, but {what}; write to it and return it"
    )]
    NotTheArgument {
        /// Which result, from 0.
        result: usize,
        /// The argument.
        arg: String,
        /// How the result differs.
        what: &'static str,
    },
    /// A storage was given another size.
    #[error("it calls {call}, which resizes; only an out= form may resize, and only its output")]
    Resizes {
        /// The call.
        call: String,
    },
    /// An out= form was called by an operator that is none.
    #[error("it calls the out= form {call}, which has no derivative; call the functional form")]
    CallsOut {
        /// The call.
        call: String,
    },
    /// A number was asked for.
    #[error("it calls {call}, which reads values; neither meta tensors nor derivatives pass through that")]
    ReadsValues {
        /// The call.
        call: String,
    },
    /// Other contents led to other calls.
    #[error("with other contents it does {other} where it did {one}")]
    DependsOnValues {
        /// The first call that differs.
        one: String,
        /// What came in its place.
        other: String,
    },
    /// On meta tensors it did something else.
    #[error("on meta tensors it does {other} where it did {one}")]
    DependsOnDevice {
        /// The first call that differs.
        one: String,
        /// What came in its place.
        other: String,
    },
}

/// The checker of one dispatcher. It needs the key `Tracer` to have no fallback.
#[derive(Debug)]
pub struct Compliance {
    dispatcher: Dispatcher,
    /// What it has registered is there as long as it is.
    _observer: Library,
}

impl Compliance {
    /// Begins to observe.
    ///
    /// # Errors
    ///
    /// The key `Tracer` has a fallback.
    pub fn new(dispatcher: &Dispatcher) -> Result<Compliance> {
        let mut observer = dispatcher.library("compliance");
        observer.fallback(DispatchKey::TRACER, KernelFunction::boxed(observe).named("compliance"))?;
        Ok(Compliance { dispatcher: dispatcher.clone(), _observer: observer })
    }

    /// Runs the composed kernel of an operator, also where the arguments' device has one of its own, and reports what
    /// it must not do; nothing if it complies. `arguments` makes arguments, all of them: of the same geometries each
    /// time, with contents that depend on its own one.
    ///
    /// # Errors
    ///
    /// An operator that has no composed kernel; an error of the kernel with these arguments.
    pub fn check(&self, name: &str, arguments: impl Fn(u64) -> Stack) -> Result<Vec<Breach>> {
        let handle = self.dispatcher.find(name)?;
        let schema = handle.schema()?.clone();
        let run = |stack: Stack| {
            let watch = Watch::new(&schema, &stack);
            let before = Before::of(&stack);
            let held = stack.clone();
            let mut results = stack;
            let (watch, outcome) = watched(watch, || {
                let _traced = KeyGuard::include(DispatchKey::TRACER);
                // Without keys a call is served by the composed kernel.
                handle.redispatch(KeySet::EMPTY, &mut results)
            });
            Ran::new(watch, &handle, &schema, (&before, &held), outcome.map(|()| results))
        };
        let first = run(arguments(0))?;
        if !first.breaches.is_empty() {
            return Ok(first.breaches);
        }
        let mut breaches = Vec::new();
        let second = run(arguments(1))?;
        breaches.extend(second.breaches);
        if let Some((one, other)) = difference(&first.trace, &second.trace) {
            breaches.push(Breach::DependsOnValues { one, other });
        }
        let mut dry = OnMeta::default();
        match run(arguments(0).iter().map(|value| dry.value(value)).collect()) {
            Ok(meta) => {
                breaches.extend(meta.breaches);
                if let Some((one, other)) = difference(&first.trace, &meta.trace) {
                    breaches.push(Breach::DependsOnDevice { one, other });
                }
            }
            Err(error) => {
                let one = first.trace.last().cloned().unwrap_or_default();
                breaches.push(Breach::DependsOnDevice { one, other: format!("the error {error:?}") });
            }
        }
        breaches.dedup();
        Ok(breaches)
    }
}

fn difference(one: &[String], other: &[String]) -> Option<(String, String)> {
    let at = (0..one.len().max(other.len())).find(|&i| one.get(i) != other.get(i))?;
    let text = |trace: &[String]| trace.get(at).cloned().unwrap_or_else(|| "nothing".to_owned());
    Some((text(one), text(other)))
}

/// One run of a kernel.
struct Ran {
    trace: Vec<String>,
    breaches: Vec<Breach>,
}

impl Ran {
    fn new(
        mut watch: Watch,
        handle: &OperatorHandle,
        schema: &Schema,
        (before, arguments): (&Before, &[IValue]),
        outcome: Result<Stack>,
    ) -> Result<Ran> {
        watch.unlock();
        let declared =
            |kind: &ErrorKind| matches!(kind, ErrorKind::UndeclaredWrite { .. } | ErrorKind::UndeclaredAlias { .. });
        match outcome {
            Ok(results) => {
                for (i, t) in results.iter().flat_map(IValue::tensors).enumerate() {
                    watch.must_be_known(t, || format!("result {i}"));
                }
                watch.must_be_written(&results);
                if let Err(error) = check_alias_annotations(schema, handle.silent(), before, arguments, &results) {
                    watch.breaches.push(Breach::Schema(error.kind().clone()));
                }
            }
            Err(error) if declared(error.kind()) && error.op() == handle.name() => {
                watch.breaches.push(Breach::Schema(error.kind().clone()));
            }
            // Storages are locked between calls and unlocked during them.
            Err(error) if matches!(error.kind(), ErrorKind::Borrowed { .. }) && !watch.failed => {
                let after = watch.trace.last().cloned().unwrap_or_else(|| "nothing".to_owned());
                watch.breaches.push(Breach::TouchesData { after });
            }
            Err(error) if watch.breaches.is_empty() => return Err(error),
            Err(_) => {}
        }
        Ok(Ran { trace: watch.trace, breaches: watch.breaches })
    }
}
