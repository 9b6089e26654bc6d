//! What can be wrong with an outcome. One variant per rule of the format, each with what was got and what was wanted.

use std::fmt;

use monomorph_core::DType;

use super::element::Element;
use super::value::AliasKind;

/// Which value of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A result by its number, then places inside lists.
    Output(Vec<usize>),
    /// A tensor argument by its path.
    Argument(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Argument(path) => write!(f, "argument {path}"),
            Place::Output(path) => {
                f.write_str("output")?;
                for (depth, i) in path.iter().enumerate() {
                    if depth == 0 { write!(f, " {i}")? } else { write!(f, "[{i}]")? }
                }
                Ok(())
            }
        }
    }
}

/// What differs in the description of a tensor, got first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The element type.
    DType(DType, DType),
    /// The sizes.
    Sizes(Vec<usize>, Vec<usize>),
    /// The strides.
    Strides(Vec<isize>, Vec<isize>),
    /// The storage offset.
    Offset(usize, usize),
    /// The conjugate bit. Only compared where an argument must be unchanged.
    Conj(bool, bool),
    /// The negative bit. Only compared where an argument must be unchanged.
    Neg(bool, bool),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::DType(got, want) => write!(f, "got dtype {got}, want {want}"),
            Change::Sizes(got, want) => write!(f, "got sizes {got:?}, want {want:?}"),
            Change::Strides(got, want) => write!(f, "got strides {got:?}, want {want:?}"),
            Change::Offset(got, want) => write!(f, "got offset {got}, want {want}"),
            Change::Conj(got, want) => write!(f, "got conjugate bit {got}, want {want}"),
            Change::Neg(got, want) => write!(f, "got negative bit {got}, want {want}"),
        }
    }
}

/// One way in which an outcome differs from the recording.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// The call failed where PyTorch returned.
    #[error("the call failed: {message}")]
    UnexpectedError {
        /// The library's words.
        message: String,
    },
    /// The call returned where PyTorch raised.
    #[error("the call returned; want an error such as {kind}: {message}")]
    MissingError {
        /// The Python class.
        kind: String,
        /// PyTorch's words.
        message: String,
    },
    /// The call panicked.
    #[error("the call panicked: {message}")]
    Panicked {
        /// The panic's message and place.
        message: String,
    },
    /// The process that ran the call ended.
    #[error("the process died: {how}")]
    Died {
        /// Its exit status or signal.
        how: String,
    },
    /// The call did not come back.
    #[error("no answer within {seconds} s")]
    TimedOut {
        /// The limit.
        seconds: u64,
    },
    /// Another number of results, or of tensors in a result.
    #[error("{}: got {got} values, want {want}", .place.as_ref().map_or("outputs".to_owned(), Place::to_string))]
    Count {
        /// The list; `None` is the list of all outputs.
        place: Option<Place>,
        /// How many came.
        got: usize,
        /// How many were recorded.
        want: usize,
    },
    /// A result of another kind, such as a tensor for a bool.
    #[error("{place}: got a value of kind {got}, want {want}")]
    Kind {
        /// Which value.
        place: Place,
        /// The format's key for what came.
        got: &'static str,
        /// The format's key for what was recorded.
        want: &'static str,
    },
    /// A result that is no tensor has another value.
    #[error("{place}: got {got}, want {want}")]
    Plain {
        /// Which value.
        place: Place,
        /// What came.
        got: String,
        /// What was recorded.
        want: String,
    },
    /// dtype, sizes, strides or offset differ.
    #[error("{place}: {change}")]
    Metadata {
        /// Which tensor.
        place: Place,
        /// What differs.
        change: Change,
    },
    /// Elements differ.
    #[error(
        "{place} at {index:?}: got {got}, want {want} (off by more than {allowed:e}; {wrong} of {total} elements \
            differ)"
    )]
    Element {
        /// Which tensor.
        place: Place,
        /// The first element that differs.
        index: Vec<usize>,
        /// What it is.
        got: Element,
        /// What was recorded.
        want: Element,
        /// What the tolerance allowed there.
        allowed: f64,
        /// How many elements differ.
        wrong: usize,
        /// How many elements there are.
        total: usize,
    },
    /// A result shares memory with an argument where it should not, or not with the right one, or not as recorded.
    #[error("{place}: got {}, want {}", AliasText(.got), AliasText(.want))]
    Alias {
        /// Which result.
        place: Place,
        /// What it shares now.
        got: Option<(String, AliasKind)>,
        /// What it was recorded to share.
        want: Option<(String, AliasKind)>,
    },
    /// A byte of a written storage that no element of a written tensor covers has changed.
    #[error("{place}: byte {byte} of the storage lies in no written element: got {got:#04x}, want {want:#04x}")]
    Gap {
        /// Which argument.
        place: Place,
        /// Where in the storage.
        byte: usize,
        /// What it is.
        got: u8,
        /// What was recorded.
        want: u8,
    },
    /// A storage that did not have to grow has another length.
    #[error("{place}: got a storage of {got} bytes, want {want}")]
    StorageLength {
        /// Which argument.
        place: Place,
        /// Bytes now.
        got: usize,
        /// Bytes recorded.
        want: usize,
    },
    /// A written argument lies in other memory than before, so that views of it do not see the write.
    #[error("{place}: was moved to other memory although it did not have to grow")]
    Moved {
        /// Which argument.
        place: Place,
    },
    /// An argument that must not change was given another geometry.
    #[error("argument {arg}: changed{}: {change}", after(.failed))]
    ArgumentMetadata {
        /// Its path.
        arg: String,
        /// What differs.
        change: Change,
        /// Whether the call returned an error.
        failed: bool,
    },
    /// The memory of an argument that must not change was written.
    #[error("argument {arg}: byte {byte} of its storage changed{}: got {got:#04x}, want {want:#04x}", after(.failed))]
    ArgumentBytes {
        /// Its path.
        arg: String,
        /// Where in the storage.
        byte: usize,
        /// What it is.
        got: u8,
        /// What it was.
        want: u8,
        /// Whether the call returned an error.
        failed: bool,
    },
    /// The memory of an argument that must not change has another length.
    #[error("argument {arg}: its storage changed its length{}: got {got} bytes, want {want}", after(.failed))]
    ArgumentLength {
        /// Its path.
        arg: String,
        /// Bytes now.
        got: usize,
        /// Bytes before.
        want: usize,
        /// Whether the call returned an error.
        failed: bool,
    },
    /// An argument that must not change lies in other memory than before.
    #[error("argument {arg}: was moved to other memory{}", after(.failed))]
    ArgumentMoved {
        /// Its path.
        arg: String,
        /// Whether the call returned an error.
        failed: bool,
    },
    /// The replayer did not report an argument or the memory of a buffer.
    #[error("{what}: the replayer reports no state of it")]
    Unreported {
        /// The argument or buffer.
        what: String,
    },
    /// A tensor reaches outside its own storage.
    #[error("{place}: reaches outside its storage of {has} bytes")]
    OutOfBounds {
        /// Which tensor.
        place: Place,
        /// Bytes that its storage has.
        has: usize,
    },
}

impl Mismatch {
    /// A short name of the variant, for counting.
    pub fn kind(&self) -> &'static str {
        match self {
            Mismatch::UnexpectedError { .. } => "unexpected_error",
            Mismatch::MissingError { .. } => "missing_error",
            Mismatch::Panicked { .. } => "panicked",
            Mismatch::Died { .. } => "died",
            Mismatch::TimedOut { .. } => "timed_out",
            Mismatch::Count { .. } => "count",
            Mismatch::Kind { .. } => "kind",
            Mismatch::Plain { .. } => "plain",
            Mismatch::Metadata { change: Change::DType(..), .. } => "dtype",
            Mismatch::Metadata { change: Change::Sizes(..), .. } => "sizes",
            Mismatch::Metadata { change: Change::Strides(..), .. } => "strides",
            Mismatch::Metadata { .. } => "offset",
            Mismatch::Element { .. } => "element",
            Mismatch::Alias { .. } => "alias",
            Mismatch::Gap { .. } => "gap",
            Mismatch::StorageLength { .. } => "storage_length",
            Mismatch::Moved { .. } => "moved",
            Mismatch::ArgumentMetadata { .. } => "argument_metadata",
            Mismatch::ArgumentBytes { .. } => "argument_bytes",
            Mismatch::ArgumentLength { .. } => "argument_length",
            Mismatch::ArgumentMoved { .. } => "argument_moved",
            Mismatch::Unreported { .. } => "unreported",
            Mismatch::OutOfBounds { .. } => "out_of_bounds",
        }
    }
}

fn after(failed: &bool) -> &'static str {
    if *failed { " although the call failed" } else { "" }
}

struct AliasText<'a>(&'a Option<(String, AliasKind)>);

impl fmt::Display for AliasText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("new memory"),
            Some((arg, AliasKind::Same)) => write!(f, "argument {arg} itself"),
            Some((arg, AliasKind::View)) => write!(f, "a view of argument {arg}"),
        }
    }
}
