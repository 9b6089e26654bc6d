//! Composed kernels: kernels that are made of calls of other operators, and so run on every device that those run on.
//! Owns how such a kernel calls, and the one sort that calls a single operator under another name; what a kernel is
//! composed of is its author's.

use super::completion::OnMeta;
use super::handle::OperatorHandle;
use super::kernel::Frame;
use super::key::DispatchKey;
use super::set::{KeyGuard, KeySet};
use crate::error::{Error, ErrorKind, Result};
use crate::tensor::AnyTensor;
use crate::value::{IValue, Stack};
use std::fmt;
use std::sync::OnceLock;

/// How many operators a kernel keeps the handles of: compositions call a handful. One that calls more looks the others
/// up each time.
const KNOWN: usize = 32;

/// The first operators that a kernel has called: places that are filled in order and stay, so that reading them takes
/// no lock. They belong to one look-up of the composed operator.
#[derive(Default)]
pub(super) struct Known([OnceLock<Box<Callee>>; KNOWN]);

struct Callee {
    name: Box<str>,
    handle: OperatorHandle,
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map_while(OnceLock::get).map(|callee| &callee.name);
        f.debug_list().entries(names).finish()
    }
}

impl Known {
    /// The handle of this operator, looked up at its first call; `None` for one that is not kept.
    fn handle(&self, name: &str, frame: &Frame<'_>) -> Result<Option<&OperatorHandle>> {
        for place in &self.0 {
            if place.get().is_none() {
                let handle = frame.dispatcher().find(name)?;
                // Where another thread was faster, this place has what it has put here, and the next is tried.
                let _ = place.set(Box::new(Callee { name: name.into(), handle }));
            }
            if let Some(callee) = place.get().filter(|callee| *callee.name == *name) {
                return Ok(Some(&callee.handle));
            }
        }
        Ok(None)
    }
}

/// What a composed kernel calls other operators with.
///
/// Every call goes through the dispatcher, with the keys of its own arguments, so a composed kernel runs wherever its
/// parts do. It must do nothing else to tensors: reading or writing elements, making views without a call, writing an
/// argument that the schema does not mark, or deciding by values what to call are what
/// [`compliance`](super::compliance) finds.
#[derive(Clone, Copy, Debug)]
pub struct Calls<'a> {
    frame: &'a Frame<'a>,
    known: &'a Known,
}

impl<'a> Calls<'a> {
    pub(super) fn new(frame: &'a Frame<'a>, known: &'a Known) -> Calls<'a> {
        Calls { frame, known }
    }

    /// The call that the kernel serves.
    pub fn frame(&self) -> &'a Frame<'a> {
        self.frame
    }

    /// Calls an operator: takes its arguments off the stack and leaves its results, as [`OperatorHandle::call`].
    ///
    /// # Errors
    ///
    /// Those of the operator; one that is not in the dispatcher.
    pub fn call(&self, name: &str, stack: &mut Stack) -> Result<()> {
        match self.known.handle(name, self.frame)? {
            Some(handle) if handle.is_defined() => handle.call(stack),
            // Not kept; or the library that had defined it is gone, and another may have defined it since.
            _ => self.frame.dispatcher().find(name)?.call(stack),
        }
    }

    /// Calls an operator that returns one tensor.
    pub fn tensor<const N: usize>(&self, name: &str, arguments: [IValue; N]) -> Result<AnyTensor> {
        let result = self.result(name, arguments)?;
        let got = result.kind_name();
        result.into_tensor().ok_or_else(|| unexpected(name, got, "Tensor"))
    }

    /// Calls an operator that returns `N` tensors.
    pub fn several<const N: usize>(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = IValue>,
    ) -> Result<[AnyTensor; N]> {
        let mut stack: Stack = arguments.into_iter().collect();
        self.call(name, &mut stack)?;
        let results: Vec<_> = stack.into_iter().filter_map(IValue::into_tensor).collect();
        results.try_into().map_err(|got: Vec<_>| ErrorKind::ResultCount { got: got.len(), want: N }.into())
    }

    /// Calls an operator that returns a list of tensors.
    pub fn tensors<const N: usize>(&self, name: &str, arguments: [IValue; N]) -> Result<Vec<AnyTensor>> {
        match self.result(name, arguments)? {
            IValue::Tensors(list) => Ok(list),
            other => Err(unexpected(name, other.kind_name(), "Tensor[]")),
        }
    }

    /// Says what a call would be refused for, without making it: what the operator's meta kernel finds in these
    /// arguments, tensors on other devices than the first is, and a written one that is frozen. For kernels that write
    /// several tensors one after another and must not stop halfway. What depends on contents, and what others borrow
    /// meanwhile, is found by the call alone.
    ///
    /// # Errors
    ///
    /// That of the call.
    pub fn rehearse(&self, name: &str, arguments: &[IValue]) -> Result<()> {
        let kept = self.known.handle(name, self.frame)?;
        let found = if kept.is_some() { None } else { Some(self.frame.dispatcher().find(name)?) };
        let Some(handle) = kept.or(found.as_ref()) else { return Ok(()) };
        self.rehearsed(handle, arguments).map_err(|e| e.of(name.to_owned()))
    }

    fn rehearsed(&self, handle: &OperatorHandle, arguments: &[IValue]) -> Result<()> {
        let Some(want) = arguments.iter().flat_map(IValue::tensors).next().map(AnyTensor::device) else {
            return Ok(());
        };
        // Meta tensors take any other along, and a number that is a tensor on the CPU is taken along by any.
        let fits = |t: &AnyTensor| want.is_meta() || t.device() == want || t.device().is_cpu() && t.ndim() == 0;
        let shared = |t: &AnyTensor| t.0.header().is_some_and(|header| !header.borrow().is_unique());
        for (argument, value) in handle.schema()?.args().zip(arguments) {
            if let Some(other) = value.tensors().find(|t| !fits(t)) {
                let (arg, got) = (argument.name().to_owned().into(), other.device());
                return Err(ErrorKind::DeviceMismatch { arg, got, want }.into());
            }
            if argument.is_mutable() && value.tensors().any(|t| t.is_frozen() && shared(t)) {
                return Err(ErrorKind::Frozen.into());
            }
        }
        let mut dry = OnMeta::default();
        let mut shapes: Stack = arguments.iter().map(|value| dry.value(value)).collect();
        // No call of the kernel: whoever traces its calls does not see it.
        let _untraced = KeyGuard::exclude(DispatchKey::TRACER);
        handle.redispatch(KeySet::of(DispatchKey::META), &mut shapes)
    }

    fn result<const N: usize>(&self, name: &str, arguments: [IValue; N]) -> Result<IValue> {
        let mut stack: Stack = Vec::with_capacity(N + 2);
        stack.extend(arguments);
        self.call(name, &mut stack)?;
        match <[IValue; 1]>::try_from(stack) {
            Ok([result]) => Ok(result),
            Err(results) => {
                Err(Error::from(ErrorKind::ResultCount { got: results.len(), want: 1 }).of(name.to_owned()))
            }
        }
    }
}

#[cold]
fn unexpected(name: &str, got: &str, want: &str) -> Error {
    let error = super::DispatchError::WrongResults { got: got.to_owned(), want: want.to_owned() };
    Error::from(error).of(name.to_owned())
}
