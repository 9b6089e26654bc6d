//! What can be wrong with a program, its inputs and its run.

use monomorph_core::{DType, Error as OperatorError};
use std::fmt;
use std::sync::Arc;

/// The result of reading or running a program.
pub type Result<T, E = ProgramError> = std::result::Result<T, E>;

/// What can be wrong with a program, its inputs and its run. Names and texts of a file are cut where they are long.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The file cannot be opened or mapped.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// What the system says.
        source: Arc<std::io::Error>,
    },
    /// The file is no archive, or one that does not hold together.
    #[error("not a readable archive: {what}")]
    Archive {
        /// What is wrong.
        what: String,
    },
    /// The archive is of a kind, or has content of a kind, that is not read.
    #[error("{what}")]
    Unsupported {
        /// What it is, and the way out.
        what: String,
    },
    /// A part of the program contradicts itself or the format.
    #[error("{place}: {what}")]
    Malformed {
        /// The entry, node or value.
        place: String,
        /// What is wrong.
        what: String,
    },
    /// Operators that are not registered: all of them.
    #[error("{} operators of the program are not there:{}", .0.len(), lines(.0))]
    MissingOperators(Vec<MissingOperator>),
    /// A number of inputs that is not the program's.
    #[error("the program has {want} inputs, {got} were given")]
    InputCount {
        /// How many were given.
        got: usize,
        /// How many it has.
        want: usize,
    },
    /// An input that the program does not accept.
    #[error("input {index} ({name}): {what}")]
    Input {
        /// Which one, counting from 0.
        index: usize,
        /// Its name in the program.
        name: String,
        /// What it is, and what is accepted.
        what: String,
    },
    /// A node that failed.
    #[error("node {node} ({target}){}: {what}", within(module))]
    Node {
        /// The node's name.
        node: String,
        /// What it calls.
        target: String,
        /// The module that it is part of.
        module: String,
        /// What went wrong.
        what: String,
    },
    /// An error of a tensor outside of any node, such as a weight that no memory is left for.
    #[error("{place}: {source}")]
    Tensor {
        /// Which tensor.
        place: String,
        /// The error.
        source: OperatorError,
    },
}

/// An operator that a program calls and that is not registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingOperator {
    /// The target, as the program names it.
    pub target: String,
    /// How many nodes call it.
    pub nodes: usize,
    /// The modules that these nodes are part of, each once; the first few of them.
    pub modules: Vec<String>,
    /// Why it is not there, where there is more to say: the feature that has it.
    pub why: String,
}

impl fmt::Display for MissingOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} node{}", self.target, self.nodes, if self.nodes == 1 { "" } else { "s" })?;
        if !self.modules.is_empty() {
            write!(f, " in {}", self.modules.join(", "))?;
        }
        if !self.why.is_empty() {
            write!(f, " ({})", self.why)?;
        }
        Ok(())
    }
}

fn lines(missing: &[MissingOperator]) -> String {
    missing.iter().map(|operator| format!("\n  {operator}")).collect()
}

/// The module as the end of a phrase, unless it is the outermost one.
pub(crate) fn within(module: &str) -> String {
    if module.is_empty() { String::new() } else { format!(" in {module}") }
}

/// Text of a file as a message shows it.
pub(crate) fn cut(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// An error of a part of the file.
#[cold]
pub(crate) fn malformed(place: &str, what: impl Into<String>) -> ProgramError {
    ProgramError::Malformed { place: cut(place), what: what.into() }
}

/// An error about content of a kind that is not read.
#[cold]
pub(crate) fn unsupported(what: impl Into<String>) -> ProgramError {
    ProgramError::Unsupported { what: what.into() }
}

/// A dtype as messages name it.
pub(crate) fn dtype_name(dtype: DType) -> String {
    dtype.to_string()
}
