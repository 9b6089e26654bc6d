//! Values whose type only a schema knows: the boxed calling convention, and what schemas say of such a call. Owns
//! values, their way from and to arguments of Rust, and their defaults; finds no kernel.
//!
//! | file | owns |
//! | --- | --- |
//! | `ivalue`, `shared` | a value of any schema type; the word by which it holds a tensor |
//! | `arg` | the Rust types of arguments, and how values are read as them |
//! | `std_ops` | Rust's operators (`+`, `-`, …) between tensors |
//! | `defaults` | what stands for an argument that is left out |
//! | `generator`, `mt19937` | sources of random numbers, which schemas have as arguments |
//! | `stack` | the arguments of a boxed call, and its results |
//! | `trace` | the calls that a traced function makes |
//! | `annotations` | what a schema promises of a call, held against what the kernel did |

pub mod annotations;
mod arg;
mod defaults;
mod generator;
mod ivalue;
mod mt19937;
mod shared;
mod stack;
pub mod std_ops;
pub mod trace;

pub use arg::{
    Arg, ArgType, BoolArg, BoolsArg, DTypeArg, DeviceArg, FloatArg, FloatsArg, GeneratorArg, IntArg, IntoArg, IntsArg,
    LayoutArg, MemoryFormatArg, Optional, OptionalTensorArg, OptionalTensors, OptionalTensorsArg, ScalarArg,
    ScalarsArg, StorageArg, StrArg, TensorArg, TensorOrNumber, TensorsArg,
};
pub use defaults::default_value;
pub use generator::Generator;
pub use ivalue::{IValue, ItemList};
pub use mt19937::Mt19937;
pub use shared::SharedTensor;
pub use stack::{BoxedFn, Stack};
pub(crate) use stack::{argument_count, fill_defaults};
