//! Composed kernels: kernels that are made of calls of other operators, and so run on every device that those run on. Owns
//! how such a kernel calls, and the one sort that calls a single operator under another name; what a kernel is composed of
//! is its author's.

use super::handle::OperatorHandle;
use super::kernel::Frame;
use super::stack::Stack;
use crate::error::{Error, ErrorKind, Result};
use crate::ivalue::IValue;
use crate::tensor::AnyTensor;
use std::sync::OnceLock;

/// The operators that a kernel has called so far: a list that only grows, so that reading it takes no lock. It belongs to
/// one look-up of the composed operator.
#[derive(Debug, Default)]
pub(super) struct Known(OnceLock<Box<Callee>>);

#[derive(Debug)]
struct Callee {
    name: Box<str>,
    handle: OperatorHandle,
    next: Known,
}

impl Known {
    /// The handle of this operator, looked up at its first call.
    fn handle(&self, name: &str, frame: &Frame<'_>) -> Result<&OperatorHandle> {
        let mut place = self;
        loop {
            match place.0.get() {
                Some(callee) if *callee.name == *name => return Ok(&callee.handle),
                Some(callee) => place = &callee.next,
                None => {
                    let handle = frame.dispatcher().find(name)?;
                    // Where another thread was faster, the loop meets what it has put here.
                    let _ = place.0.set(Box::new(Callee { name: name.into(), handle, next: Known::default() }));
                }
            }
        }
    }
}

/// What a composed kernel calls other operators with.
///
/// Every call goes through the dispatcher, with the keys of its own arguments, so a composed kernel runs wherever its parts
/// do. It must do nothing else to tensors: reading or writing elements, making views without a call, writing an argument
/// that the schema does not mark, or deciding by values what to call are what [`compliance`](super::compliance) finds.
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
        let handle = self.known.handle(name, self.frame)?;
        if handle.schema().is_ok() {
            return handle.call(stack);
        }
        // The library that had defined it is gone; another may have defined it since.
        self.frame.dispatcher().find(name)?.call(stack)
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
