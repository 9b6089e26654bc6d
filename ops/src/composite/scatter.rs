//! The inverse of views, composed: a copy of a tensor in which the elements of a view are those of another. Functional
//! operators made of ones that alias, so a backend may decline them.

use super::{operand, tensor};
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, ErrorKind, IValue, Result};

/// A copy of `this` in which what the view `name` reaches holds the elements of `src`.
fn scattered<const N: usize>(
    calls: &Calls<'_>,
    this: &IValue,
    src: &IValue,
    name: &str,
    view: impl FnOnce(IValue) -> [IValue; N],
) -> Result<AnyTensor> {
    tensor(this, "self")?;
    let copy = calls.tensor("clone", [this.clone(), IValue::None])?;
    let part = calls.tensor(name, view(copy.clone().into()))?;
    let (got, want) = (operand(src).sizes(), part.sizes());
    if got != want {
        return Err(ErrorKind::OutputSize { index: 0, got: got.to_vec(), want: want.to_vec() }.into());
    }
    calls.tensor("copy_", [part.into(), src.clone(), false.into()])?;
    Ok(copy)
}

/// `select_scatter`: `src` in place of one index of a dimension.
pub fn select_scatter(calls: &Calls<'_>, this: &IValue, src: &IValue, dim: i64, index: i64) -> Result<AnyTensor> {
    scattered(calls, this, src, "select.int", |copy| [copy, dim.into(), index.into()])
}

/// `slice_scatter`: `src` in place of the indices `start..end` of a dimension in steps.
pub fn slice_scatter(
    calls: &Calls<'_>,
    this: &IValue,
    src: &IValue,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<AnyTensor> {
    scattered(calls, this, src, "slice.Tensor", |copy| [copy, dim.into(), start.into(), end.into(), step.into()])
}

/// `diagonal_scatter`: `src` in place of a diagonal.
pub fn diagonal_scatter(
    calls: &Calls<'_>,
    this: &IValue,
    src: &IValue,
    offset: i64,
    dim1: i64,
    dim2: i64,
) -> Result<AnyTensor> {
    scattered(calls, this, src, "diagonal", |copy| [copy, offset.into(), dim1.into(), dim2.into()])
}
