//! Tensors with names in a file (.safetensors).

use super::{Result, failed, row_major};
use crate::{AnyTensor, Cpu, DType, Tensor};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::path::Path;

/// The dtypes that both have; complex128 is missing there.
const DTYPES: [(DType, Dtype); 11] = [
    (DType::Bool, Dtype::BOOL),
    (DType::U8, Dtype::U8),
    (DType::I8, Dtype::I8),
    (DType::I16, Dtype::I16),
    (DType::I32, Dtype::I32),
    (DType::I64, Dtype::I64),
    (DType::F16, Dtype::F16),
    (DType::BF16, Dtype::BF16),
    (DType::F32, Dtype::F32),
    (DType::F64, Dtype::F64),
    (DType::C64, Dtype::C64),
];

/// The tensors of a file with their names, sorted by these.
///
/// # Errors
///
/// The file cannot be read or is no such file, or a tensor is of a dtype that is not here.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<(String, Tensor<Cpu>)>> {
    let path = path.as_ref();
    let bytes = std::fs::read(path).map_err(failed(path))?;
    let file = SafeTensors::deserialize(&bytes).map_err(failed(path))?;
    let mut tensors = Vec::new();
    for (name, view) in file.iter() {
        let dtype = DTYPES.iter().find(|(_, theirs)| *theirs == view.dtype()).map(|(dtype, _)| *dtype);
        let dtype = dtype.ok_or_else(|| failed(path)(format!("{name}: dtype {} is not here", view.dtype())))?;
        // What does not fit is refused by what makes the tensor.
        let sizes: Vec<i64> = view.shape().iter().map(|&size| size.try_into().unwrap_or(i64::MAX)).collect();
        let tensor = Tensor::<Cpu>::from_bytes(view.data(), dtype, &sizes[..]);
        tensors.push((name.to_owned(), tensor.map_err(|error| failed(path)(format!("{name}: {error}")))?));
    }
    tensors.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(tensors)
}

/// Writes tensors with their names to a file, each row-major.
///
/// # Errors
///
/// The file cannot be written, or a dtype is complex128, which the format does not have.
pub fn write<'t>(path: impl AsRef<Path>, tensors: impl IntoIterator<Item = (&'t str, &'t AnyTensor)>) -> Result<()> {
    let path = path.as_ref();
    let mut rows = Vec::new();
    for (name, tensor) in tensors {
        let wrong = |error: String| failed(path)(format!("{name}: {error}"));
        let theirs = DTYPES.iter().find(|(dtype, _)| *dtype == tensor.dtype()).map(|(_, theirs)| *theirs);
        let theirs = theirs.ok_or_else(|| wrong(format!("the format has no dtype {}", tensor.dtype())))?;
        let shape: Vec<usize> = tensor.sizes().iter().map(|&size| size as usize).collect();
        rows.push((name, theirs, shape, row_major(tensor).map_err(|error| wrong(error.to_string()))?));
    }
    let bytes: Vec<_> =
        rows.iter().map(|(.., tensor)| tensor.as_bytes()).collect::<crate::Result<_>>().map_err(failed(path))?;
    let mut views = Vec::new();
    for ((name, dtype, shape, _), bytes) in rows.iter().zip(&bytes) {
        views.push((*name, TensorView::new(*dtype, shape.clone(), bytes).map_err(failed(path))?));
    }
    safetensors::serialize_to_file(views, None, path).map_err(failed(path))
}
