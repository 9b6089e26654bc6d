//! The border between the oracle and whatever runs operators by name. Owns the form of a call and of its outcome; runs
//! nothing itself.
//!
//! An implementor builds one memory per [`Buffer`], one tensor per tensor argument over them, calls the operator, and
//! reports outputs and the state of *every* tensor argument. Bytes are given once per memory ([`GotStorage`]), so
//! tensors that share memory say so through equal [`StorageId`]s.

use monomorph_core::DType;

use super::case::{Case, NamedValue};
use super::storages::Storages;
use super::value::{TensorSpec, Value};

/// Runs operators by name.
pub trait Replayer {
    /// Runs one call. [`Outcome::Unsupported`] means that the table has no such overload, and nothing else.
    fn call(&mut self, call: &Call<'_>) -> Outcome;
}

/// The initial contents of one memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffer<'a> {
    /// The storage's name in the case.
    pub name: &'a str,
    /// All of its bytes. Not necessarily aligned.
    pub bytes: &'a [u8],
}

/// One call: an overload, its memory and its arguments.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// The overload without namespace: `add.Tensor`, `relu`.
    pub op: &'a str,
    /// Every argument in schema order, positional ones first, defaults filled in.
    pub args: &'a [NamedValue],
    /// One buffer per storage name that the arguments mention, in order of first mention.
    pub buffers: Vec<Buffer<'a>>,
}

impl<'a> Call<'a> {
    /// The call of `case`. Storages that `storages` lacks are taken as empty; a loaded case file lacks none.
    pub fn new(case: &'a Case, storages: &'a Storages) -> Call<'a> {
        let mut buffers: Vec<Buffer<'a>> = Vec::new();
        for (_, spec) in case.tensor_arguments() {
            if let Some(name) = spec.storage.as_deref()
                && !buffers.iter().any(|buffer| buffer.name == name)
            {
                buffers.push(Buffer { name, bytes: storages.get(name).unwrap_or_default() });
            }
        }
        Call { op: &case.op, args: &case.args, buffers }
    }

    /// Which of [`buffers`](Call::buffers) an argument lies in.
    pub fn buffer_of(&self, spec: &TensorSpec) -> Option<usize> {
        let name = spec.storage.as_deref()?;
        self.buffers.iter().position(|buffer| buffer.name == name)
    }

    /// Every tensor argument with its path (`self`, `tensors[1]`), in schema order.
    pub fn tensors(&self) -> Vec<(String, &'a TensorSpec)> {
        self.args.iter().flat_map(|arg| arg.value.tensors(&arg.name)).collect()
    }
}

/// Names one memory during one call. Equal ids mean shared memory; the numbers mean nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StorageId(pub u64);

/// How a result relates to the arguments as an object, beyond sharing memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Identity {
    /// Tensors have no identity of their own: a result is the very argument if it lies in the same memory with the same
    /// geometry and dtype.
    #[default]
    ByGeometry,
    /// The result is an object of its own.
    Other,
    /// The result is the tensor argument with this place in [`Call::tensors`].
    Argument(usize),
}

/// A tensor as the library left it. Strides and offset count elements of `dtype`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GotTensor {
    /// Its memory; the bytes are in [`After::storages`].
    pub storage: StorageId,
    /// The element type.
    pub dtype: DType,
    /// The size of each dimension.
    pub sizes: Vec<usize>,
    /// The stride of each dimension.
    pub strides: Vec<isize>,
    /// The first element's place in the storage.
    pub offset: usize,
    /// The conjugate bit.
    pub conj: bool,
    /// The negative bit.
    pub neg: bool,
    /// Whether it is one of the arguments. Ignored for the state of arguments.
    pub identity: Identity,
}

/// One result.
#[derive(Debug, Clone, PartialEq)]
pub enum GotValue {
    /// A tensor.
    Tensor(GotTensor),
    /// A list of tensors.
    Tensors(Vec<GotTensor>),
    /// Any other list.
    List(Vec<GotValue>),
    /// A value without tensors: [`Value::Int`], [`Value::Bool`], [`Value::Float`], [`Value::Complex`],
    /// [`Value::Ints`], …; [`Value::None`] for an undefined tensor.
    Plain(Value),
}

impl GotValue {
    /// The format's key for this kind of value.
    pub fn kind(&self) -> &'static str {
        match self {
            GotValue::Tensor(_) => "tensor",
            GotValue::Tensors(_) => "tensors",
            GotValue::List(_) => "list",
            GotValue::Plain(value) => value.kind(),
        }
    }
}

/// The bytes of one memory after the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GotStorage {
    /// Which memory.
    pub id: StorageId,
    /// All of its bytes, gaps included.
    pub bytes: Vec<u8>,
}

/// A tensor argument after the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgState {
    /// Its path as in [`Call::tensors`].
    pub path: String,
    /// Its geometry and memory now.
    pub tensor: GotTensor,
}

/// The memory and the arguments after the call, whether it returned or failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct After {
    /// The memory that was made from each of [`Call::buffers`], *before* the call ran.
    pub buffers: Vec<StorageId>,
    /// Every tensor argument of [`Call::tensors`].
    pub arguments: Vec<ArgState>,
    /// The bytes of every memory that an argument or a result lies in.
    pub storages: Vec<GotStorage>,
}

/// What the library did.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The table has no such overload.
    Unsupported,
    /// The call failed.
    Error {
        /// What it said.
        message: String,
        /// The arguments, which must be as they were.
        after: After,
    },
    /// The call returned.
    Returned {
        /// One value per schema return.
        outputs: Vec<GotValue>,
        /// The arguments, changed or not.
        after: After,
    },
}
