//! Distances of all pairs of rows of a matrix: `_pdist_forward`, its gradient, and `pdist`.

use super::norm::check_count;
use super::{Rows, RowsFn, RowsInputs, RowsPlan, Task, check_dtype, declare};
use crate::composite::rule;
use crate::composite::tensor;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::structured::SinkState;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, MemoryFormat, Result};

/// `_pdist_forward`.
pub struct PdistFn;
/// `_pdist_backward`.
pub struct PdistBackwardFn;

/// Rows, columns and pairs. Dimensions behind the second are columns, too.
fn rows_of(sizes: &[i64]) -> Result<[usize; 3]> {
    let Some((&rows, columns)) = sizes.split_first() else {
        return Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "2" }.into());
    };
    let (rows, columns) = (rows as usize, columns.iter().fold(1_usize, |all, &n| all.saturating_mul(n as usize)));
    Ok([rows, columns, rows.saturating_mul(rows.saturating_sub(1)) / 2])
}

fn check_single(got: DType) -> Result<()> {
    if matches!(got, DType::F32 | DType::F64) {
        return Ok(());
    }
    let (what, accepted) = ("argument self has dtype", "float32 and float64");
    Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
}

impl super::sealed::Sealed for PdistFn {}
impl RowsFn for PdistFn {
    const NAME: &'static str = "_pdist_forward";

    fn plan(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>) -> Result<RowsPlan> {
        let dtype = inputs.dtype(0)?;
        if inputs.operand(0).tensor().is_some_and(|t| !t.geometry().is_contiguous()) {
            return Err(rule("argument self is not contiguous; accepted is what .contiguous() gives"));
        }
        let [rows, columns, pairs] = rows_of(inputs.operand(0).sizes())?;
        declare(inputs, sink, 0, &[pairs as i64], dtype)?;
        if pairs == 0 {
            return Ok(RowsPlan::default());
        }
        check_single(dtype)?;
        Ok(RowsPlan::of(Task::Pdist { rows, columns, p: inputs.number(0) }, dtype))
    }
}

impl super::sealed::Sealed for PdistBackwardFn {}
impl RowsFn for PdistBackwardFn {
    const NAME: &'static str = "_pdist_backward";

    fn plan(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>) -> Result<RowsPlan> {
        let dtype = inputs.dtype(1)?;
        let [rows, columns, pairs] = rows_of(inputs.operand(1).sizes())?;
        check_count(inputs, "grad_output", 0, pairs)?;
        check_count(inputs, "pdist", 2, pairs)?;
        check_dtype(inputs, "grad_output", 0, dtype)?;
        check_dtype(inputs, "pdist", 2, dtype)?;
        check_single(dtype)?;
        declare(inputs, sink, 0, inputs.operand(1).sizes(), dtype)?;
        Ok(RowsPlan::of(Task::PdistBackward { rows, columns, p: inputs.number(0) }, dtype))
    }
}

/// `pdist`.
pub fn pdist(calls: &Calls<'_>, this: &IValue, p: f64) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    if this.ndim() != 2 {
        return Err(ErrorKind::DimCount { arg: "self", got: this.ndim(), accepted: "2" }.into());
    }
    if !this.dtype().is_floating() {
        let (what, got, accepted) = ("argument self has dtype", this.dtype(), "floating dtypes");
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    }
    if p.is_nan() || p < 0.0 {
        return Err(rule("argument p must be 0 or more"));
    }
    let this = calls.tensor("contiguous", [this.clone().into(), MemoryFormat::Contiguous.into()])?;
    calls.tensor("_pdist_forward", [this.into(), p.into()])
}

native! {
    family: PairDistances;

    func: pdist(Tensor self, float p=2) -> Tensor, composite: implicit pdist;

    func: _pdist_forward(Tensor self, float p=2) -> Tensor,
    autogen: _pdist_forward.out, structured: Rows<PdistFn>;

    func: _pdist_backward(Tensor grad_output, Tensor self, float p, Tensor pdist) -> Tensor,
    autogen: _pdist_backward.out, structured: Rows<PdistBackwardFn>;
}
