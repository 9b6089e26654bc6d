//! PyTorch's tensor operators for Rust: one definition, every form, exact semantics.
//!
//! Operators are functions and methods of the same name: `use monomorph::add` brings both [`add`](fn@add) and its
//! method. Each has the forms that PyTorch gives it: functional (`add`), in-place (`add_`), out= (`add_out`), shapes
//! only ([`meta::add`]), prepared ([`prepared::add`]) and boxed by name ([`call`]).
//!
//! ```
//! use monomorph::{Cpu, Tensor, add, mul_};
//!
//! # fn main() -> monomorph::Result<()> {
//! let a = Tensor::<Cpu>::from_slice(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
//! let b = Tensor::<Cpu>::from_slice(&[10i32, 20, 30], [3])?;
//! let mut c = a.add(&b)?; // int32 promotes, [3] broadcasts
//! c.mul_(0.5)?; // in place
//! assert_eq!(c.to_vec::<f32>()?, [5.5, 11.0, 16.5, 7.0, 12.5, 18.0]);
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "cuda")]
pub mod cuda;
mod operators;
pub mod selection;

pub use monomorph_core as core;
pub use monomorph_iter as iter;
pub use monomorph_ops as ops;

pub use monomorph_core::dispatch::{Dispatcher, Library};
pub use monomorph_core::{
    AnyTensor, Complex32, Complex64, DType, Device, DeviceId, Error, ErrorKind, Geometry, IValue, MemoryFormat, Result,
    Scalar, Sizes, Stack, Tensor, bf16, f16,
};
pub use monomorph_cpu::{Cpu, memory};
pub use monomorph_ops::functions::*;
pub use monomorph_ops::{Meta, Op, StdOps, algebra, meta, pointwise, prepared};

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
        <$crate::Tensor<$crate::Cpu> as ::core::convert::From<_>>::from([$($element),*])
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
