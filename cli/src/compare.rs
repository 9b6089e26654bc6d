//! Outputs against expected ones in a file.

use crate::files::{self, Read};
use crate::{Result, message};
use monomorph::prelude::*;
use monomorph::program::Value;
use std::path::Path;

/// Compares outputs with those of a file, `out.0`, `out.1`, … or the only one; true if all are close.
pub(crate) fn compare(path: &Path, outputs: &[Value], rtol: f64, atol: f64, out: &mut String) -> Result<bool> {
    let expected = match files::read(path)? {
        Read::One(tensor) => vec![("out.0".to_owned(), tensor)],
        Read::Named(tensors) => tensors,
        Read::Other => return Err(format!("{}: .npy, .npz and .safetensors files are read", path.display())),
    };
    let (mut compared, mut is_close) = (0, true);
    for (index, output) in outputs.iter().enumerate() {
        let Some((_, want)) = expected.iter().find(|(name, _)| *name == format!("out.{index}")) else { continue };
        let Some(got) = output.as_tensor().and_then(|tensor| tensor.downcast_ref::<Cpu>()) else { continue };
        compared += 1;
        let verdict = if got.dtype() != want.dtype() || got.sizes() != want.sizes() {
            let sides = (got.dtype(), got.sizes(), want.dtype(), want.sizes());
            Some(format!("{}{:?}, expected is {}{:?}", sides.0, sides.1, sides.2, sides.3))
        } else {
            difference(got, want, rtol, atol).map_err(message)?
        };
        say!(out, "out.{index}: {}", verdict.as_deref().unwrap_or("close"));
        is_close &= verdict.is_none();
    }
    if compared == 0 {
        return Err(format!(
            "{} has no output of the program: out.0 to out.{}",
            path.display(),
            outputs.len().max(1) - 1
        ));
    }
    Ok(is_close)
}

/// How many elements are off, and by how much; `None` if none is.
fn difference(got: &Tensor<Cpu>, want: &Tensor<Cpu>, rtol: f64, atol: f64) -> monomorph::Result<Option<String>> {
    let dtype = if got.dtype().is_complex() { C128 } else { F64 };
    let (got, want) = (got.to(dtype)?, want.to(dtype)?);
    let close = got.isclose_with(&want, Isclose { rtol, atol, equal_nan: true, ..Default::default() })?;
    let wrong = got.numel() as i64 - close.sum(..)?.item()?.to_i64();
    if wrong == 0 {
        return Ok(None);
    }
    let most = got.sub(&want)?.abs()?.nan_to_num()?.amax(..)?.to_vec::<f64>()?;
    Ok(Some(format!(
        "{wrong} of {} elements differ, by {:.3e} at most; {atol:e} + {rtol:e} * |expected| is accepted",
        got.numel(),
        most.first().copied().unwrap_or_default()
    )))
}
