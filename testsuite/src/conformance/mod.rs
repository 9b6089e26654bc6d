//! The conformance oracle: recorded calls with their exact arguments and results, replayed and compared.
//!
//! A *case* ([`Case`]) is one call of one overload. Cases come in pairs of files, `<base>.json` and
//! `<base>.safetensors` ([`CaseFile`]). Whoever can run operators by name implements [`Replayer`]; [`compare()`] turns
//! what it returns into a [`Verdict`]; [`run`] and [`worker`] go through a directory, in this process or in children
//! that may die; [`report`] prints the outcome.
//!
//! Nothing here knows a tensor library: only bytes, sizes, strides and dtypes.

pub mod case;
pub mod compare;
pub mod element;
pub mod library;
pub mod mismatch;
pub mod replay;
pub mod report;
pub mod run;
pub mod storages;
pub mod value;
pub mod worker;

mod json;
mod known;
mod memory;
mod schema;

pub use case::{Case, CaseError, CaseFile, ErrorSpec, Expected, Mutated, NamedValue};
pub use compare::{Verdict, compare};
pub use mismatch::{Change, Mismatch, Place};
pub use replay::{
    After, ArgState, Buffer, Call, GotStorage, GotTensor, GotValue, Identity, Outcome, Replayer, StorageId,
};
pub use report::{Failure, Finding, Report, Tally};
pub use run::{Selection, bases, golden_cases, judge, recorded_cases, run_here, use_golden_cases, workspace_root};
pub use storages::Storages;
pub use value::{Alias, AliasKind, MemoryFormat, Number, TensorSpec, Value};
pub use worker::{Supervisor, serve};
