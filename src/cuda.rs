//! CUDA as a device: its tensors, streams and events, and its kernels by name. Behind the feature `cuda`. Owns what is
//! registered; the device is `monomorph_cuda`'s.
//!
//! ```no_run
//! use monomorph::cuda::Cuda;
//! use monomorph::prelude::*;
//!
//! # fn main() -> monomorph::Result<()> {
//! let a = Tensor::<Cuda>::from_slice_on(0, &[1.0f32, 2.0, 3.0], [3])?;
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

use crate::selection::{self, Forms};
use crate::{Dispatcher, Library, Result};
use monomorph_core::Error;
use monomorph_core::{DeviceId, DeviceKind, ErrorKind};
use monomorph_ops::table::{self, DeviceKernels};

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
        let kernels = DeviceKernels::new::<Cuda>(monomorph_ops::common_kernels::<Cuda>());
        table::add(library, &monomorph_ops::entries(), kernels, Forms::All)
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
