//! What every room of monomorph shares: dtypes, scalars, geometry, storage, tensors, structured operators, schemas.
//! Knows no operator and runs no kernel.

mod access;
pub mod annotations;
mod arg;
pub mod borrow;
mod data;
mod defaults;
mod device;
pub mod dispatch;
mod dtype;
mod each;
mod element;
mod error;
mod format;
mod geometry;
mod ivalue;
pub mod list;
mod names;
pub mod observe;
pub mod overlap;
mod overwrite;
mod print;
mod promotion;
mod resize;
mod scalar;
mod set;
mod shared;
mod split;
mod storage;
pub mod strides;
pub mod structured;
mod tensor;
mod transfer;

pub use access::Access;
pub use arg::{
    Arg, ArgType, BoolArg, BoolsArg, DTypeArg, DeviceArg, FloatArg, FloatsArg, GeneratorArg, IntArg, IntList, IntoArg,
    IntsArg, LayoutArg, MemoryFormatArg, NoGenerator, Optional, OptionalTensorArg, OptionalTensors, OptionalTensorsArg,
    ScalarArg, StorageArg, StrArg, TensorArg, TensorsArg,
};
pub use data::{Data, DataMut};
pub use device::{Contents, Device, DeviceId, DeviceKind, Memory, Meta, Reach, Strided};
pub use dispatch::{BoxedFn, Stack};
pub use dtype::{DType, Kind};
#[doc(hidden)]
pub use each::each;
pub use element::{BoolByte, Element, scalar_bytes, scalar_from_bytes};
pub use error::{Error, ErrorKind, Result};
pub use format::{Layout, MemoryFormat, Options};
pub use geometry::Geometry;
pub use half::{bf16, f16};
pub use ivalue::{IValue, ItemList};
pub use monomorph_schema as schema;
pub use names::{Names, unify as unify_names};
pub use num_complex::{Complex, Complex32, Complex64};
pub use overwrite::{Replacement, overwrite};
pub use promotion::{Category, DEFAULT_FLOAT, ResultType};
pub use scalar::Scalar;
pub use set::Storage;
pub use shared::SharedTensor;
pub use split::TensorMut;
// What loom checks by itself.
#[doc(hidden)]
pub use storage::extent;
pub use tensor::{AnyTensor, Tensor, TensorRef};
