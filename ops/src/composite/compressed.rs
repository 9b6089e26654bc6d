//! Indices of compressed rows to coordinates and back: `_convert_indices_from_coo_to_csr` and
//! `_convert_indices_from_csr_to_coo`. Where a row begins is a search in the sorted rows of the elements, and the row
//! of an element a search in where rows end.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::Callees;
use super::products::volume;
use super::tensor;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::DimVec;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, MemoryFormat, Result};

fn check_indices(what: &'static str, t: &AnyTensor) -> Result<()> {
    let got = t.dtype();
    if got.is_integral(false) {
        return Ok(());
    }
    Err(ErrorKind::DTypeNotSupported { what, got, accepted: "integers" }.into())
}

/// The numbers from 0 on.
fn numbers(calls: &Calls<'_>, n: i64, like: &AnyTensor) -> Result<AnyTensor> {
    let options = [n.into(), DType::I64.into(), IValue::None, like.device().into(), IValue::None];
    calls.tensor("arange", options)
}

fn search(calls: &Calls<'_>, sorted: AnyTensor, values: AnyTensor, int32: bool, right: bool) -> Result<AnyTensor> {
    let options = [sorted.into(), values.into(), int32.into(), right.into(), IValue::None, IValue::None];
    calls.tensor("searchsorted.Tensor", options)
}

/// `_convert_indices_from_coo_to_csr`: how many of the sorted rows come before each.
pub fn coo_to_csr(calls: &Calls<'_>, this: &IValue, size: i64, out_int32: bool) -> Result<AnyTensor> {
    let rows = tensor(this, "self")?;
    if rows.ndim() > 1 {
        return Err(ErrorKind::DimCount { arg: "self", got: rows.ndim(), accepted: "0 or 1" }.into());
    }
    if size < 0 {
        return Err(ErrorKind::NegativeSize { arg: "size", got: size }.into());
    }
    check_indices("argument self has dtype", rows)?;
    let rows = calls.reshape(rows, &[rows.numel() as i64])?;
    search(calls, rows, numbers(calls, size.saturating_add(1), tensor(this, "self")?)?, out_int32, false)
}

/// `_convert_indices_from_csr_to_coo`: the batch, row and column of each element, or column and row.
pub fn csr_to_coo(
    calls: &Calls<'_>,
    crow_indices: &IValue,
    col_indices: &IValue,
    out_int32: bool,
    transpose: bool,
) -> Result<AnyTensor> {
    let (crow, col) = (tensor(crow_indices, "crow_indices")?, tensor(col_indices, "col_indices")?);
    check_indices("argument crow_indices has dtype", crow)?;
    check_indices("argument col_indices has dtype", col)?;
    let (Some((&ends, batch)), Some((&n, col_batch))) = (crow.sizes().split_last(), col.sizes().split_last()) else {
        return Err(ErrorKind::DimCount { arg: "crow_indices", got: crow.ndim(), accepted: "1 or more" }.into());
    };
    if batch != col_batch {
        let want = batch.iter().copied().chain([n]).collect();
        return Err(ErrorKind::UnequalSizes { arg: "col_indices", got: col.sizes().to_vec(), want }.into());
    }
    let dtype = if out_int32 { DType::I32 } else { DType::I64 };
    let (members, all) = (volume(batch)?, col.numel() as i64);
    let lines = col.ndim().saturating_add(1) as i64;
    if all == 0 || ends < 2 {
        let zeros = calls.empty(&[lines, all], dtype, crow.device(), MemoryFormat::Contiguous)?;
        return calls.tensor("zero", [zeros.into()]);
    }
    let mut parts = Vec::new();
    for (d, &size) in batch.iter().enumerate() {
        let place: DimVec = (0..col.ndim()).map(|other| if other == d { size } else { 1 }).collect();
        let line = calls.view(&numbers(calls, size, crow)?, &place)?;
        parts.push(calls.reshape(&calls.expand(&line, col.sizes())?, &[all])?);
    }
    let begins = calls.reshape(crow, &[members, ends])?;
    let behind = calls.narrow(&begins, 1, 1, ends.saturating_sub(1))?;
    let behind = calls.cloned(&behind, MemoryFormat::Contiguous)?;
    let elements = calls.expand(&numbers(calls, n, crow)?, &[members, n])?;
    let elements = calls.cloned(&elements, MemoryFormat::Contiguous)?;
    let rows = calls.reshape(&search(calls, behind, elements, false, true)?, &[all])?;
    let columns = calls.reshape(col, &[all])?;
    parts.extend(if transpose { [columns, rows] } else { [rows, columns] });
    let mut cast = Vec::with_capacity(parts.len());
    for part in parts {
        let to = [part.into(), dtype.into(), false.into(), false.into(), IValue::None];
        cast.push(calls.tensor("to.dtype", to)?);
    }
    calls.tensor("stack", [IValue::Tensors(cast), 0i64.into()])
}

native! {
    family: Compressed, functions: crate::fill::Fills;

    func: _convert_indices_from_coo_to_csr(Tensor self, int size, *, bool out_int32=False) -> Tensor,
    autogen: _convert_indices_from_coo_to_csr.out, composite: explicit coo_to_csr;

    func: _convert_indices_from_csr_to_coo(Tensor crow_indices, Tensor col_indices, *, bool out_int32=False,
        bool transpose=False) -> Tensor,
    autogen: _convert_indices_from_csr_to_coo.out, composite: explicit csr_to_coo;
}
