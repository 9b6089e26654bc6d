//! CUDA as a device: its tensors, streams and events, and its kernels by name. Behind the feature `cuda`. Owns what is
//! registered; the device is `monomorph_cuda`'s.
//!
//! ```no_run
//! use monomorph::cuda::Cuda;
//! use monomorph::{Tensor, add, add_};
//!
//! # fn main() -> monomorph::Result<()> {
//! let a = Tensor::<Cuda>::from_slice(&[1.0f32, 2.0, 3.0], &[3])?;
//! let mut b = a.add(&a)?; // compiled for this GPU by the first call, and kept on disk
//! b.add_(0.5)?; // behind it, on the same stream
//! assert_eq!(b.to_vec::<f32>()?, [2.5, 4.5, 6.5]);
//! # Ok(())
//! # }
//! ```

pub use monomorph_cuda::{
    Cuda, Event, Paths, Stream, StreamGuard, compile, compile_copies, compile_fold, compile_nearest, device_count,
    device_name, live_blocks, set_blocking, synchronize, trim,
};

use crate::selection::{self, Forms, Row, RunsOn, name};
use crate::{Dispatcher, Library, Result};
use monomorph_core::Error;
use monomorph_core::{DeviceId, DeviceKind, ErrorKind};

/// Rows of a formula, of a fold, of a template of its own, and of an operator of these.
macro_rules! kernel_row {
    ([$library:ident] $name:tt $args:tt -> $rets:tt : formula $formula:tt $($forms:tt)*) => {
        <Row<{ name(monomorph_ops::__row_name!($name)) }> as RunsOn<Cuda>>::register_on($library, Forms::All)?;
    };
    ([$library:ident] $name:tt $args:tt -> $rets:tt : fold $fold:tt $($forms:tt)*) => {
        <Row<{ name(monomorph_ops::__row_name!($name)) }> as RunsOn<Cuda>>::register_on($library, Forms::All)?;
    };
    ([$library:ident] $name:tt $args:tt -> $rets:tt : template $template:tt $($forms:tt)*) => {
        <Row<{ name(monomorph_ops::__row_name!($name)) }> as RunsOn<Cuda>>::register_on($library, Forms::All)?;
    };
    ([$library:ident] $name:tt $args:tt -> $rets:tt : op $operator:tt $($forms:tt)*) => {
        <Row<{ name(monomorph_ops::__row_name!($name)) }> as RunsOn<Cuda>>::register_on($library, Forms::All)?;
    };
    ($($other:tt)*) => {};
}

/// Registers the device with a dispatcher that has the operator table: views, copies, factories, every pointwise
/// operator, every reduction and resampling. Undone when the library is dropped. No driver is needed for it.
///
/// # Errors
///
/// CUDA is registered already; then nothing is.
pub fn register(dispatcher: &Dispatcher) -> Result<Library> {
    let mut library = dispatcher.library("cuda");
    library.backend::<Cuda>("Cuda")?;
    selection::register_memory::<Cuda>(&mut library)?;
    library.all_or_none(|library| {
        monomorph_ops::op_table! { __each_row kernel_row [library] }
        Ok(())
    })?;
    Ok(library)
}

/// Gives device `index` back: waits for its work, unloads its kernels, frees its buffers and its context. It is opened
/// again by what needs it next.
///
/// # Errors
///
/// Tensors or streams of the device that live, and the first error of the driver that nobody was told.
pub fn release(index: u8) -> Result<()> {
    let device = DeviceId { kind: DeviceKind::CUDA, index };
    monomorph_cuda::release(index)
        .map_err(|error| Error::from(ErrorKind::Device { device, message: error.to_string() }))
}
