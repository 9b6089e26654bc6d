//! Files of arrays, by the extension of their names.

use crate::{Result, message};
use monomorph::files::{npy, safetensors};
use monomorph::program::Value;
use monomorph::{AnyTensor, Cpu, Tensor};
use std::ffi::OsStr;
use std::path::Path;

/// The extension, in lower case.
fn extension(path: &Path) -> String {
    path.extension().and_then(OsStr::to_str).unwrap_or_default().to_lowercase()
}

/// The one tensor of an .npy file, or the tensors of others with their names; `None` for another kind of file.
pub(crate) enum Read {
    One(Tensor<Cpu>),
    Named(Vec<(String, Tensor<Cpu>)>),
    Other,
}

pub(crate) fn read(path: &Path) -> Result<Read> {
    match &*extension(path) {
        "npy" => npy::read(path).map(Read::One).map_err(message),
        "npz" => npy::read_archive(path).map(Read::Named).map_err(message),
        "safetensors" => safetensors::read(path).map(Read::Named).map_err(message),
        _ => Ok(Read::Other),
    }
}

/// Writes the outputs that are tensors as `out.0`, `out.1`, …; others are printed.
pub(crate) fn write(path: &Path, outputs: &[Value], out: &mut String) -> Result<()> {
    let mut tensors: Vec<(String, &AnyTensor)> = Vec::new();
    for (index, output) in outputs.iter().enumerate() {
        match output {
            Value::Tensor(tensor) => tensors.push((format!("out.{index}"), tensor)),
            other => say!(out, "out.{index}: {other:?}"),
        }
    }
    let named = tensors.iter().map(|(name, tensor)| (&**name, *tensor));
    match &*extension(path) {
        "safetensors" => safetensors::write(path, named).map_err(message),
        "npz" => npy::write_archive(path, named).map_err(message),
        _ => {
            std::fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
            tensors
                .iter()
                .try_for_each(|(name, tensor)| npy::write(path.join(format!("{name}.npy")), tensor))
                .map_err(message)
        }
    }
}
