//! Programs: graphs of operator calls, read from archives that PyTorch's `torch.export.save` wrote (.pt2) or traced
//! from functions of tensors, and run.
//!
//! A program is to operators what an executable is to functions: names that are resolved when it is loaded, data that
//! is mapped and not copied, calls in an order that is fixed. This crate knows names, schemas and calls; it knows no
//! operator, and of devices only that values are on the CPU.
//!
//! ```text
//! .pt2 ─► reader (pt2) ────────┐
//! function ─► shapes (tracer) ─┴► Graph ─► Session, operator by operator
//! ```
//!
//! [`Program::load_with`] checks everything that can be checked before a run: versions, names, sizes, offsets, that
//! every operator is there and that its arguments are those of its schema. [`Session::run`] checks the inputs and calls
//! the operators. The facade's `monomorph::program` has a `Program` with the library's operators on the CPU.
//!
//! A file is not trusted: whatever its bytes are, reading it is an `Err` or a program, never a panic, and never takes
//! memory out of proportion to the file. Nothing is ever unpickled. The only unsafe code is the map of a file.
#![deny(unsafe_code)]

mod copies;
mod error;
mod graph;
mod number;
#[allow(unsafe_code, reason = "the map of a file")]
mod program;
mod pt2;
mod relaxed;
mod session;
mod signature;
mod symbol;
mod tracer;

pub use error::{MissingOperator, ProgramError, Result};
pub use graph::{
    Argument, Autocast, Called, Callee, Check, Graph, InputKind, Item, ListKind, Literal, Node, Output, OutputKind,
    Recorded, RecordedTensor, Rows, ValueId, ValueInfo,
};
pub use number::NumberOp;
pub use program::Program;
pub use session::{Difference, Kept, MemoryBlock, Session, Timing, Value};
pub use signature::{UserInput, UserInputKind};
pub use symbol::{Expr, Function};
pub use tracer::{TracedOutputs, Tracer};
