//! PyTorch's tensor operators for Rust: one definition, every form, exact semantics.
//!
//! ```
//! use monomorph::prelude::*;
//!
//! # fn main() -> monomorph::Result<()> {
//! let t = tensor![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
//! let b = tensor![10i32, 20, 30];
//! let mut c = (&t + &b)?; // int32 promotes to float32, [3] broadcasts
//! c.mul_(0.5)?; // in place
//! assert_eq!(c.sum(1)?.to_vec::<f32>()?, [33.0, 37.5]);
//! # Ok(())
//! # }
//! ```
//!
//! [`prelude`] brings the types, the dtypes, the methods and the options; every operator is a function in [`ops`], too,
//! under PyTorch's name.
//!
//! # Tour
//!
//! **1. Making.** From elements that stand there, from a vector, which is not copied, or by a factory.
//!
//! ```
//! # use monomorph::{ops, prelude::*};
//! # fn main() -> monomorph::Result<()> {
//! let a = tensor![[1.0f32, 2.0], [3.0, 4.0]];
//! let b = Tensor::from_vec(vec![5i64, 6, 7], 3)?;
//! let c = ops::zeros((2, 3), F32)?;
//! let d = ops::arange_with(2, Arange { step: 0.5.into(), ..Default::default() })?;
//! assert_eq!((a.sizes(), b.dtype(), c.numel()), (&[2, 2][..], I64, 6));
//! assert_eq!(d.to_vec::<f32>()?, [0.0, 0.5, 1.0, 1.5]);
//! # Ok(())
//! # }
//! ```
//!
//! **2. Dtypes** are values, so one function serves all twelve. Where two meet, they promote as in PyTorch; a number
//! does not widen a tensor.
//!
//! ```
//! # use monomorph::prelude::*;
//! # fn main() -> monomorph::Result<()> {
//! let (bytes, halves) = (tensor![1u8, 255], tensor![0.5f32, 1.5].to(F16)?);
//! assert_eq!((&bytes + &halves)?.dtype(), F16);
//! assert_eq!((&bytes + 1)?.to_vec::<u8>()?, [2, 0]);
//! assert_eq!((&bytes / 2)?.dtype(), F32);
//! # Ok(())
//! # }
//! ```
//!
//! **3. Arithmetic.** Numbers and results stand on either side of Rust's operators; comparisons are methods and give
//! bool tensors.
//!
//! ```
//! # use monomorph::{ops, prelude::*};
//! # fn main() -> monomorph::Result<()> {
//! let x = tensor![-1.0f32, 0.5, 2.0];
//! let y = ((1.0 - &x)? * x.exp()? + &x)?;
//! let small = (x.ge(0)? & y.lt(3)?)?;
//! assert_eq!(small.to_vec::<bool>()?, [false, true, true]);
//! assert_eq!(ops::where_(&small, &x, 0)?.to_vec::<f32>()?, [0.0, 0.5, 2.0]);
//! # Ok(())
//! # }
//! ```
//!
//! **4. Broadcasting.** Sizes are compared from the last; 1 and what is missing stretch.
//!
//! ```
//! # use monomorph::prelude::*;
//! # fn main() -> monomorph::Result<()> {
//! let (rows, columns) = (tensor![0i64, 10, 20], tensor![1i64, 2]);
//! let table = (rows.unsqueeze(1)? + &columns)?;
//! assert_eq!((table.sizes(), table.to_vec::<i64>()?), (&[3, 2][..], vec![1, 2, 11, 12, 21, 22]));
//! # Ok(())
//! # }
//! ```
//!
//! **5. Views and indexing.** A view shares the storage, and so does `clone`; [`deep_clone`](ops::deep_clone) copies.
//!
//! ```
//! # use monomorph::{ops, prelude::*};
//! # fn main() -> monomorph::Result<()> {
//! let x = ops::arange(12)?.reshape((3, 4))?;
//! assert_eq!(x.i((-1, (..).by(2)))?.to_vec::<i64>()?, [8, 10]);
//! x.i((.., 1))?.fill_(0)?;
//! assert_eq!(x.i(0)?.to_vec::<i64>()?, [0, 0, 2, 3]);
//! assert_eq!(x.t()?.i((1.., None))?.sizes(), [3, 1, 3]);
//! # Ok(())
//! # }
//! ```
//!
//! **6. Reductions and options.** Dims are `1`, `-1`, `(0, 2)` or `..`. What has a default is left out; the function
//! whose name ends in `_with` takes it as a structure of [`ops::options`].
//!
//! ```
//! # use monomorph::prelude::*;
//! # fn main() -> monomorph::Result<()> {
//! let x = tensor![[1.0f32, 2.0], [3.0, 5.0]];
//! assert_eq!(x.mean(0)?.to_vec::<f32>()?, [2.0, 3.5]);
//! assert_eq!(x.sum_with(1, Sum { keepdim: true, ..Default::default() })?.sizes(), [2, 1]);
//! assert_eq!(x.add_with(&x, Add { alpha: 10.into(), ..Default::default() })?.at::<f32>((1, 1))?, 55.0);
//! assert_eq!(x.argmax(..)?.item()?, 3.into());
//! # Ok(())
//! # }
//! ```
//!
//! **7. In place and out=.** A name that ends in `_` changes its tensor, one that ends in `_out` writes to another.
//! [`prepared`] calls are checked once and run often.
//!
//! ```
//! # use monomorph::{ops, prelude::*, prepared};
//! # fn main() -> monomorph::Result<()> {
//! let (mut x, mut out) = (tensor![1.0f32, 2.0], ops::empty(0, F32)?);
//! x.add_(1)?.mul_(2)?;
//! ops::sub_out(&x, 4, &mut out)?;
//! assert_eq!(out.to_vec::<f32>()?, [0.0, 2.0]);
//! prepared::add(&x, &x, 1, &mut out)?.run()?;
//! assert_eq!(out.to_vec::<f32>()?, [8.0, 12.0]);
//! # Ok(())
//! # }
//! ```
//!
//! **8. Shapes only.** A function over any device asks for [`Kernels`](kernels::Kernels); on [`Meta`] it computes
//! sizes, strides and dtypes alone. Every operator is in [`meta`], too.
//!
//! ```
//! # use monomorph::{Result, meta, prelude::*};
//! # fn main() -> Result<()> {
//! fn centre<D: Kernels>(x: &Tensor<D>) -> Result<Tensor<D>> {
//!     x - x.mean_with(-1, Mean { keepdim: true, ..Default::default() })?
//! }
//! assert_eq!(centre(&tensor![1.0f32, 3.0])?.to_vec::<f32>()?, [-1.0, 1.0]);
//! assert_eq!(meta::run(centre, &([1_000_000, 1024], BF16))?.sizes(), [1_000_000, 1024]);
//! # Ok(())
//! # }
//! ```
//!
//! **9. By name.** [`call`] takes every overload of PyTorch's schema that is here; a [`Library`] adds more while the
//! program runs.
//!
//! ```
//! # use monomorph::{Stack, prelude::*};
//! # fn main() -> monomorph::Result<()> {
//! let mut stack: Stack = vec![tensor![1.0f32, 2.0].into(), tensor![3.0f32, 4.0].into()];
//! monomorph::call("add.Tensor", &mut stack)?;
//! let sum = stack[0].as_tensor().and_then(|t| t.downcast_ref::<Cpu>()).expect("a CPU tensor");
//! assert_eq!(sum.to_vec::<f32>()?, [4.0, 6.0]);
//! # Ok(())
//! # }
//! ```
//!
//! **10. Errors** say the operator, the argument, what it is and what is accepted, and leave every argument as it was.
//!
//! ```
//! # use monomorph::{ErrorKind, prelude::*};
//! let error = (tensor![1.0f32, 2.0] + tensor![1.0f32, 2.0, 3.0]).unwrap_err();
//! assert!(matches!(error.kind(), ErrorKind::Broadcast { .. }));
//! assert!(error.to_string().starts_with("add: sizes [2] and [3] do not broadcast"));
//! ```
//!
//! # Guides
//!
//! Pages of the repository, under `docs/guide`: `from-pytorch.md`, `from-candle.md` and `from-ndarray.md` put idioms
//! side by side; `performance.md` says which forms save what; `write-an-operator.md` adds operators, gradients,
//! reductions and devices.

#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(any(feature = "npy", feature = "safetensors"))]
pub mod files;
#[cfg(doctest)]
mod guide;
pub mod meta;
mod operators;
pub mod prelude;
#[cfg(feature = "program")]
pub mod program;
pub mod selection;

pub use monomorph_core::dispatch::{Dispatcher, Library};
pub use monomorph_core::{
    AnyTensor, Complex32, Complex64, DType, Device, DeviceHandle, DeviceId, Dim, Dims, Error, ErrorKind, Generator,
    Geometry, IValue, Index, MemoryFormat, Result, Scalar, Sizes, Stack, Tensor, bf16, dlpack, f16, rounding,
};
pub use monomorph_cpu::{Cpu, memory};
pub use monomorph_ops::{Meta, algebra, kernels, pointwise, prepared};

/// Every operator as a function, under PyTorch's name.
pub mod ops {
    pub use monomorph_ops::functions::*;
    pub use monomorph_ops::options;
}

/// The crates that this one is made of, for whoever writes kernels, devices or compilers.
pub mod crates {
    pub use monomorph_core as core;
    pub use monomorph_iter as iter;
    pub use monomorph_ops as ops;
}

use std::sync::LazyLock;

/// Begins the stream of this seed in the [source](Generator::shared) that operators draw from if they are given none.
///
/// ```
/// use monomorph::{ops, prelude::*};
/// # fn main() -> monomorph::Result<()> {
/// # #[cfg(feature = "random")] {
/// monomorph::manual_seed(7);
/// let first = ops::rand(3, F32)?.to_vec::<f32>()?;
/// monomorph::manual_seed(7);
/// assert_eq!(ops::rand(3, F32)?.to_vec::<f32>()?, first);
/// # }
/// # Ok(())
/// # }
/// ```
pub fn manual_seed(seed: u64) {
    Generator::shared().manual_seed(seed);
}

/// Every operator of the table by name, with kernels for the CPU and for meta tensors. Libraries can add operators and
/// kernels to it while the program runs: see [`Dispatcher::library`].
pub fn dispatcher() -> &'static Dispatcher {
    struct InTree {
        dispatcher: Dispatcher,
        /// What it registers is there as long as it is.
        _table: Library,
    }
    static IN_TREE: LazyLock<InTree> = LazyLock::new(|| {
        let dispatcher = Dispatcher::new();
        dispatcher.set_feature_of(monomorph_ops::feature_of);
        let mut table = dispatcher.library("aten");
        match selection::register_all(&mut table) {
            Ok(()) => InTree { dispatcher, _table: table },
            Err(error) => unreachable!("the operator table does not register: {error}"),
        }
    });
    &IN_TREE.dispatcher
}

/// A contiguous tensor on the CPU of the elements that stand there, of the dtype of their Rust type: without a suffix a
/// float is `f64` and an integer `i32`. Rows of different lengths do not compile. Panics where there is no memory, as
/// `vec!` does.
///
/// ```
/// use monomorph::tensor;
///
/// let t = tensor![[1.0f32, 2.0], [3.0, 4.0]];
/// assert_eq!(t.sizes(), [2, 2]);
/// ```
///
/// ```compile_fail,E0308
/// let ragged = monomorph::tensor![[1.0f32, 2.0], [3.0]];
/// ```
#[macro_export]
macro_rules! tensor {
    ($($element:expr),* $(,)?) => {
        <$crate::Tensor<$crate::Cpu> as ::std::convert::From<_>>::from([$($element),*])
    };
}

/// Calls an operator by name, such as `add.Tensor`: takes its arguments off the stack, in schema order, and leaves its
/// results. Trailing arguments with a default may be missing. On an error the stack is as it was.
///
/// ```
/// use monomorph::{Cpu, Stack, Tensor};
///
/// # fn main() -> monomorph::Result<()> {
/// let a = Tensor::<Cpu>::from_slice(&[1i64, 2], [2])?;
/// let mut stack: Stack = vec![a.clone().into(), a.into()];
/// monomorph::call("add.Tensor", &mut stack)?;
/// assert_eq!(stack.len(), 1);
/// # Ok(())
/// # }
/// ```
pub fn call(name: &str, stack: &mut Stack) -> Result<()> {
    dispatcher().call(name, stack)
}
