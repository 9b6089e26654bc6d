//! Composed kernels: kernels that are made of calls of other operators, and so run on every device that those run on.
//! Owns how such a kernel calls, and the one sort that calls a single operator under another name; what a kernel is
//! composed of is its author's.

use super::handle::OperatorHandle;
use super::kernel::Frame;
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

    /// Calls an operator that returns a list of tensors.
    pub fn tensors<const N: usize>(&self, name: &str, arguments: [IValue; N]) -> Result<Vec<AnyTensor>> {
        match self.result(name, arguments)? {
            IValue::Tensors(list) => Ok(list),
            other => Err(unexpected(name, other.kind_name(), "Tensor[]")),
        }
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
