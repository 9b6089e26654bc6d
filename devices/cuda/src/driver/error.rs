//! What goes wrong between the library and a device. Owns the words, and which of the driver's codes end a context.

use crate::nvrtc::CompileError;
use monomorph_core::{DeviceId, DeviceKind, Error, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

/// Why a device did not do what it was told.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// The driver is not there, or is none.
    #[error("{}: {why}; install NVIDIA's driver, or name its libcuda in MONOMORPH_CUDA_DRIVER", path.display())]
    NoDriver {
        /// Where it was looked for.
        path: PathBuf,
        /// What the loader says.
        why: String,
    },
    /// An index that no device has.
    #[error("there is no device of this index; the driver has {count}")]
    NoDevice {
        /// How many there are.
        count: usize,
    },
    /// A device that cannot do what this crate needs.
    #[error("the device has no {what}")]
    Lacks {
        /// What it lacks.
        what: &'static str,
    },
    /// The driver refused a call.
    #[error("{call}{}: {name} ({code}): {message}", 
        kernel.as_ref().map_or(String::new(), |kernel| format!(" of {kernel}")))]
    Call {
        /// The function of the driver.
        call: &'static str,
        /// Its status.
        code: i32,
        /// The name of the status.
        name: String,
        /// The driver's words.
        message: String,
        /// The kernel, where the call was about one.
        kernel: Option<Arc<str>>,
    },
    /// An error that ended the device's context: nothing on it can be used any more.
    #[error(
        "an earlier error ended the device's context: {cause}; drop its tensors and call monomorph_cuda::release, and \
         set MONOMORPH_CUDA_BLOCKING=1 to see which kernel it was"
    )]
    Broken {
        /// The error.
        cause: Box<CudaError>,
    },
    /// A device that cannot be given back.
    #[error("the device is in use by {what}; drop them first")]
    InUse {
        /// By what.
        what: &'static str,
    },
    /// A stream for work of a device that it is not of.
    #[error("the stream is of cuda:{own}, and work goes to streams of its own device; make one with Stream::new")]
    OtherStream {
        /// The device of the stream.
        own: u8,
    },
    /// A kernel that could not be compiled.
    #[error("{0}")]
    Compile(String),
    /// An iteration that no kernel walks.
    #[error("{0}")]
    Launch(#[from] crate::launch::LaunchError),
    /// Something is called on what is not of this device.
    #[error("{what}")]
    Stray {
        /// What it is.
        what: &'static str,
    },
}

impl From<CompileError> for CudaError {
    fn from(error: CompileError) -> CudaError {
        CudaError::Compile(error.to_string())
    }
}

impl CudaError {
    /// The error as the library reports it, of device `index`.
    #[cold]
    pub(crate) fn on(self, index: u8) -> Error {
        ErrorKind::Device { device: DeviceId { kind: DeviceKind::CUDA, index }, message: self.to_string() }.into()
    }

    /// The error with the kernel that the call was about.
    #[cold]
    pub(crate) fn of(self, name: &Arc<str>) -> CudaError {
        match self {
            CudaError::Call { call, code, name: status, message, kernel: None } => {
                CudaError::Call { call, code, name: status, message, kernel: Some(name.clone()) }
            }
            other => other,
        }
    }

    /// Whether memory is short.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        matches!(self, CudaError::Call { code: 2, .. })
    }

    /// Whether work is not done yet.
    pub(crate) fn is_not_ready(&self) -> bool {
        matches!(self, CudaError::Call { code: 600, .. })
    }

    /// Whether the driver says that the context can be used no more: "this leaves the process in an inconsistent
    /// state", in the words of `cuda.h`.
    pub(crate) fn ends_context(&self) -> bool {
        let CudaError::Call { code, .. } = self else { return false };
        // Uncorrectable memory and links; illegal addresses, time-outs, asserts, stacks, instructions, alignment;
        // unknown.
        matches!(code, 214 | 220 | 226 | 700 | 702 | 709 | 710 | 714..=719 | 721 | 999)
    }
}
