//! What a caller can get wrong. An [`Error`] is one pointer (results stay small); it names the operator, the argument,
//! what it got and what is accepted.
//!
//! Every layer but the two below reports errors, so a kind holds values of those two and text, and the checks of their
//! values are here (`number.rs`).

mod dispatch;
mod kind;
mod number;

pub use dispatch::DispatchError;
pub(crate) use dispatch::cut;
pub use kind::ErrorKind;

use std::borrow::Cow;

/// The result of every fallible call.
pub type Result<T> = std::result::Result<T, Error>;

/// An error with the operator that reported it.
#[derive(Clone, PartialEq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq)]
struct Inner {
    op: Cow<'static, str>,
    kind: ErrorKind,
}

impl Error {
    /// An error of `kind`, not yet bound to an operator.
    #[cold]
    pub fn new(kind: ErrorKind) -> Error {
        Error(Box::new(Inner { op: Cow::Borrowed(""), kind }))
    }

    /// The error as reported by operator `op`; an operator that is already named stays.
    #[cold]
    #[must_use]
    pub fn of(mut self, op: impl Into<Cow<'static, str>>) -> Error {
        if self.0.op.is_empty() {
            self.0.op = op.into();
        }
        self
    }

    /// The error as reported by the function `op` that was called, whichever operator found it.
    #[cold]
    #[must_use]
    pub fn called(mut self, op: &'static str) -> Error {
        self.0.op = Cow::Borrowed(op);
        self
    }

    /// Panics with the text of the error: the way out of traits of `std` that return no `Result` (`a += b`, `From`,
    /// `FromIterator`).
    #[cold]
    #[track_caller]
    pub(crate) fn panic(&self) -> ! {
        panic!("{self}")
    }

    /// The operator that reported the error; empty if none is known.
    pub fn op(&self) -> &str {
        &self.0.op
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Error {
        Error::new(kind)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.op.is_empty() { write!(f, "{}", self.0.kind) } else { write!(f, "{}: {}", self.0.op, self.0.kind) }
    }
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Error({self})")
    }
}

impl std::error::Error for Error {}
