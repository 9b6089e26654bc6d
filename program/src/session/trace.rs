//! What a node calls in the end: the operators that a composed operator is composed of, each with its arguments and
//! results as it was called. Owns the kernel at the key `Tracer`, which also notes calls by name in functions that are
//! traced, and the notes of one node.
//!
//! A composed operator does nothing to tensors but call operators, and decides by sizes and dtypes alone which ones
//! (`monomorph_core::dispatch::compliance` checks that), so for the same sizes it calls the same ones again.

use monomorph_core::dispatch::{DispatchKey, Dispatcher, Frame, KernelFunction, KeyGuard, Library, OperatorHandle};
use monomorph_core::{IValue, Result, Stack, trace};
use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

/// A call of an operator that calls no other.
pub(super) struct Call {
    pub(super) handle: OperatorHandle,
    pub(super) args: Vec<IValue>,
    pub(super) results: Vec<IValue>,
}

thread_local! {
    /// The calls of the node that this thread traces.
    static CALLS: RefCell<Option<Vec<Call>>> = const { RefCell::new(None) };
}

/// Calls a handle and notes what it calls in the end; `None` where calls cannot be noted, because something else
/// watches them.
pub(super) fn traced(handle: &OperatorHandle, stack: &mut Stack) -> Result<Option<Vec<Call>>> {
    if !is_watched(handle) {
        return handle.call(stack).map(|()| None);
    }
    /// Ends the notes, also where the operator panics.
    struct Ends;
    impl Drop for Ends {
        fn drop(&mut self) {
            CALLS.set(None);
        }
    }
    CALLS.set(Some(Vec::new()));
    let _ends = Ends;
    let _traced = KeyGuard::include(DispatchKey::TRACER);
    handle.call(stack)?;
    Ok(CALLS.take())
}

/// The kernel of every operator at the key `Tracer`.
fn observe(frame: &Frame<'_>, stack: &mut Stack) -> Result<()> {
    if trace::is_tracing() {
        let (name, args) = (frame.operator().name().to_owned(), stack.iter().cloned().map(Some).collect());
        return trace::note(name, args, || frame.redispatch(stack).map(|()| stack.clone()), Stack::clone).map(drop);
    }
    let noted = |calls: &Option<Vec<Call>>| calls.as_ref().map(Vec::len);
    let Some(before) = CALLS.with_borrow(noted) else { return frame.redispatch(stack) };
    let args = stack.clone();
    frame.redispatch(stack)?;
    CALLS.with_borrow_mut(|calls| {
        if let Some(calls) = calls.as_mut().filter(|calls| calls.len() == before) {
            calls.push(Call { handle: frame.operator().clone(), args, results: stack.clone() });
        }
    });
    Ok(())
}

/// Runs a function whose calls by name are noted while it is traced.
pub(crate) fn observed<R>(dispatcher: &Dispatcher, function: impl FnOnce() -> R) -> R {
    watch(dispatcher);
    let _traced = KeyGuard::include(DispatchKey::TRACER);
    function()
}

const NAME: &str = "trace of a program";

/// Whether the kernel is registered with the dispatcher of a handle, which is done if it is not; false if another is
/// in its place.
fn is_watched(handle: &OperatorHandle) -> bool {
    let is_there = || handle.explain().iter().any(|(key, _, name)| *key == DispatchKey::TRACER && *name == Some(NAME));
    is_there() || {
        watch(handle.dispatcher());
        is_there()
    }
}

/// Registers the kernel with a dispatcher, if none is there.
///
/// It stays for good: handles keep every table that they have seen, so what is registered again and again would make
/// calls slow.
fn watch(dispatcher: &Dispatcher) {
    static WATCHING: Mutex<Vec<Library>> = Mutex::new(Vec::new());
    let mut library = dispatcher.library("program");
    if library.fallback(DispatchKey::TRACER, KernelFunction::boxed(observe).named(NAME)).is_ok() {
        WATCHING.lock().unwrap_or_else(PoisonError::into_inner).push(library);
    }
}
