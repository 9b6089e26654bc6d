//! What every room of monomorph shares: dtypes, scalars, geometry, storage, tensors, structured operators, schemas.
//! Knows no operator and runs no kernel.
//!
//! The folders are layers. Each imports only from those above it in this list, which `cargo xtask tidy` checks:
//!
//! | layer | owns |
//! | --- | --- |
//! | `dtype` | dtypes, the types of their elements, numbers, promotion |
//! | `options` | memory formats, layouts, devices as values, roundings: what is asked of a new tensor |
//! | `error` | the error, and every kind of it as plain data |
//! | `geometry` | sizes, strides, names of dimensions, overlap |
//! | `storage` | memory and who borrows it; what a device is |
//! | `tensor` | a geometry over a storage: views, access, copies, growth, printing |
//! | `structured` | operators that declare their outputs, and the sinks that make forms of them |
//! | `value` | values of schema types, arguments, defaults, what schemas promise |
//! | `dispatch` | from a name to a kernel |

pub mod dispatch;
mod dtype;
mod error;
mod geometry;
mod options;
mod storage;
pub mod structured;
mod tensor;
mod value;

pub use dtype::{
    BoolByte, Category, DEFAULT_FLOAT, DType, Element, Kind, ResultType, Scalar, scalar_bytes, scalar_from_bytes,
};
pub use error::{Error, ErrorKind, Result};
pub use geometry::{
    By, Dim, Dims, Ellipsis, Geometry, Index, IndexArg, IndexItem, Integer, Names, NewDim, Sizes, overlap, strides,
    unify_names,
};
pub use half::{bf16, f16};
pub use monomorph_schema as schema;
pub use num_complex::{Complex, Complex32, Complex64};
pub use options::{DeviceId, DeviceKind, Layout, MemoryFormat, Options, rounding};
pub use storage::{
    Contents, DefaultDevice, Device, DeviceHandle, Memory, Meta, Part, Reach, Rearrange, Rearrangement, Segment,
    SegmentSource, Standard, Strided, borrow, list,
};
#[cfg(feature = "ndarray")]
pub use tensor::NdarrayData;
pub use tensor::{
    Access, AnyTensor, Data, DataMut, Nested, Replacement, Rows, Storage, Tensor, TensorMut, TensorRef, dlpack,
    observe, overwrite,
};
pub use value::{
    Arg, ArgType, BoolArg, BoolsArg, BoxedFn, DTypeArg, DeviceArg, FloatArg, FloatsArg, Generator, GeneratorArg,
    IValue, IntArg, IntoArg, IntsArg, ItemList, LayoutArg, MemoryFormatArg, Mt19937, Optional, OptionalTensorArg,
    OptionalTensors, OptionalTensorsArg, ScalarArg, ScalarsArg, SharedTensor, Stack, StorageArg, StrArg, TensorArg,
    TensorOrNumber, TensorsArg, annotations, default_value, std_ops, trace,
};
// What loom checks by itself.
#[doc(hidden)]
pub use storage::extent;
#[doc(hidden)]
pub use structured::each;
