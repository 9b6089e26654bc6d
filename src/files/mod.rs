//! Tensors in files of other programs: NumPy's arrays (.npy) and archives of them (.npz), and safetensors. Owns the way
//! between their elements and tensors on the CPU.

#[cfg(feature = "npy")]
mod header;
#[cfg(feature = "npy")]
pub mod npy;
#[cfg(feature = "safetensors")]
pub mod safetensors;

use crate::{AnyTensor, Cpu, Tensor};
use monomorph_core::with_element;
use std::fmt;
use std::path::{Path, PathBuf};

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    path: PathBuf,
    what: String,
}

/// The result of reading or writing a file.
pub type Result<T> = std::result::Result<T, FileError>;

impl FileError {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.what)
    }
}

impl std::error::Error for FileError {}

/// Errors of the file at `path`.
fn failed<E: fmt::Display>(path: &Path) -> impl Fn(E) -> FileError + '_ {
    move |error| FileError { path: path.to_owned(), what: error.to_string() }
}

/// The elements one after another, conjugated and negated where the tensor is seen so.
fn row_major(tensor: &AnyTensor) -> crate::Result<Tensor<Cpu>> {
    with_element!(tensor.dtype(), T => Tensor::<Cpu>::from_vec(tensor.to_vec::<T>()?, tensor.sizes()))
}
