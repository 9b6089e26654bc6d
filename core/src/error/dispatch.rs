//! What can go wrong between a name and a kernel.

use super::{Error, ErrorKind};
use crate::dtype::DType;
use std::borrow::Cow;

/// Text of a user's as a message shows it: names and schemas may be of any length, and nobody reads further than this.
pub(crate) fn cut(text: &str) -> Cow<'_, str> {
    /// Longer than every schema of PyTorch's.
    const LONGEST: usize = 2000;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// Errors of definition, registration and dispatch. A failed registration leaves everything as it was.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DispatchError {
    /// No kernel for the key that the arguments lead to.
    #[error("no kernel for {key}; there are kernels for {available}; register one, or a composed one for all backends")]
    NoKernel {
        /// The key.
        key: String,
        /// The keys that have a kernel, in words.
        available: String,
    },
    /// An operator that has kernels or had a definition, and has none now.
    #[error("the operator has no definition: its library is gone, or has not been loaded")]
    NotDefined,
    /// An operator that this build leaves out.
    #[error("this build has no such operator: the feature `{feature}` has it")]
    LeftOut {
        /// The feature.
        feature: &'static str,
    },
    /// Kernels on a dtype that this build leaves out.
    #[error("this build has no kernels on {dtype}: the feature `{feature}` has them")]
    DTypeLeftOut {
        /// The dtype.
        dtype: DType,
        /// The feature.
        feature: &'static str,
    },
    /// A second definition.
    #[error("already defined by library {by}; overload names are unique")]
    AlreadyDefined {
        /// The library.
        by: String,
    },
    /// A second kernel at one key.
    #[error("library {by} has registered a kernel for {key}; use `replace` to put another over it")]
    AlreadyRegistered {
        /// The key.
        key: String,
        /// The library.
        by: String,
    },
    /// A second composed kernel.
    #[error("a kernel for {have} is registered; an operator has at most one composed kernel, so {got} is refused")]
    ConflictingAliases {
        /// The alias that has a kernel.
        have: String,
        /// The one that was to get one.
        got: String,
    },
    /// A definition that leaves the meaning of its default kernel open.
    #[error(
        "the operator has a default kernel, which is CompositeImplicit as long as there is no other; with a kernel for \
         {key} say CompositeImplicit explicitly to keep it"
    )]
    DefaultWithDispatch {
        /// The key of the other kernel.
        key: String,
    },
    /// Kernels in the definition of an operator that is registered by hand.
    #[error("the operator is marked for manual registration, so its definition takes no kernel (got one for {key})")]
    ManualRegistration {
        /// The key of the kernel.
        key: String,
    },
    /// A Rust function that is not what the schema declares.
    #[error("the kernel is {inferred}, which is not what `{declared}` declares: {at}")]
    SchemaMismatch {
        /// What the function implies.
        inferred: String,
        /// The schema.
        declared: String,
        /// The first difference.
        at: String,
    },
    /// A kernel registered for a key that nothing is dispatched to.
    #[error("{key} takes no kernel: {reason}")]
    KeyTakesNoKernel {
        /// The key.
        key: String,
        /// Why.
        reason: &'static str,
    },
    /// A name outside of the library's namespace.
    #[error("the library's namespace is {namespace}; names outside of it can get kernels, but not be defined there")]
    OutsideNamespace {
        /// The namespace.
        namespace: String,
    },
    /// A name that no message could show.
    #[error("an operator's name of {length} bytes, its namespace included; up to {limit} are accepted")]
    LongName {
        /// Its length in bytes.
        length: usize,
        /// The longest accepted.
        limit: usize,
    },
    /// A library whose operators others have given kernels.
    #[error("still in use: {by}; close those libraries first")]
    InUse {
        /// Who, and at what.
        by: String,
    },
    /// Operators that redirect to each other, or one that redirects to itself.
    #[error(
        "the operators redirect in a ring, so a call would never end: {ring}; have one of them computed by a kernel"
    )]
    RedirectRing {
        /// The names, from the operator that was to get the kernel to itself.
        ring: String,
    },
    /// Completion by an operator that is completed itself, or by the operator itself.
    #[error("completed in more than one step: {chain}; name an out= form that is not completed by another")]
    CompletionChain {
        /// The names, each completed by the next.
        chain: String,
    },
    /// Kernels that call operators that call kernels, and so on.
    #[error(
        "the call is nested in {limit} others, which is the limit; a kernel calls the operator that it serves, or \
         operators call each other in a ring"
    )]
    TooDeep {
        /// How many calls a thread may have in one another.
        limit: u32,
    },
    /// A functor that could not be made.
    #[error("the constructor of the kernel {kernel} panicked: {message}")]
    ConstructorPanicked {
        /// The kernel's name.
        kernel: String,
        /// The panic's message.
        message: String,
    },
    /// A key that does not exist.
    #[error("no dispatch key is called {name}; near names: {near}")]
    UnknownKey {
        /// The name.
        name: String,
        /// Near names.
        near: String,
    },
    /// A boxed kernel whose results are not those of the schema.
    #[error("the kernel left {got}; the schema returns {want}")]
    WrongResults {
        /// What it left, in words.
        got: String,
        /// What the schema returns.
        want: String,
    },
    /// A device kind that there is no key for.
    #[error("device kind {kind} has no dispatch key; kinds 16 to 20 are for devices of other crates")]
    NoBackend {
        /// The kind.
        kind: u8,
    },
    /// A device kind that another library has made known.
    #[error("device kind {kind} is taken by {by}; choose another from 16 to 20")]
    BackendTaken {
        /// The kind.
        kind: u8,
        /// The name of the device that has it.
        by: String,
    },
    /// A name for a device that a key has.
    #[error("{name} is the name of another key; give the device a name of its own")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A schema that is none.
    #[error("{0}")]
    Schema(crate::schema::SchemaError),
}

impl From<DispatchError> for Error {
    #[cold]
    fn from(error: DispatchError) -> Self {
        ErrorKind::Dispatch(error).into()
    }
}
