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
//! assert_eq!(c.sum_with(1, Sum { keepdim: true, ..Default::default() })?.sizes(), [2, 1]);
//! assert_eq!(c.i((1, 1..))?.to_vec::<f32>()?, [12.5, 18.0]);
//! # Ok(())
//! # }
//! ```
//!
//! * [`prelude`] brings the types and the methods; every operator is a function in [`ops`], too, under PyTorch's name.
//! * An operator has the forms that PyTorch gives it: functional (`add`), in-place (`add_`), out= ([`ops::add_out`]),
//!   shapes only ([`meta::add`], or any form on tensors of [`Meta`]), prepared ([`prepared::add`]), by name ([`call`]).
//! * Arguments with defaults are left out. The function whose name ends in `_with` takes them as a structure:
//!   `mean_with(dims, Mean { keepdim: true, ..Default::default() })`; the structures are in [`ops::options`].
//! * Code over any device asks for [`Kernels`](kernels::Kernels); [`kernels`] has the finer bounds.
//! * `clone` shares the storage, as in PyTorch: after `let mut y = x.clone()`, `y.add_(1)` changes `x`.
//!   `x.deep_clone()` has its own.

#[cfg(feature = "cuda")]
pub mod cuda;
pub mod meta;
mod operators;
pub mod prelude;
pub mod selection;

pub use monomorph_core::dispatch::{Dispatcher, Library};
pub use monomorph_core::{
    AnyTensor, Complex32, Complex64, DType, Device, DeviceHandle, DeviceId, Dim, Dims, Error, ErrorKind, Geometry,
    IValue, Index, MemoryFormat, Result, Scalar, Sizes, Stack, Tensor, bf16, f16,
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
