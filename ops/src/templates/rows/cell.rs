//! One step of a recurrent cell behind its products: gates are added up and activated, and the state follows.
//!
//! ```text
//!   lstm   gates = input + hidden (+ biases)     i f g o      c' = f·c + i·g     h' = o·tanh(c')
//!   gru    reset, update of sums; new = tanh(input + reset·hidden)      h' = (h − new)·update + new
//! ```
//!
//! Both keep what a backward pass needs: PyTorch's order of the workspace is that of its CUDA kernels, the only ones
//! that it has.

use super::{Rows, RowsFn, RowsInputs, RowsPlan, Task, check_dtype, check_floating, check_sizes, declare};
use crate::composite::recurrent::fused;
use crate::composite::rule;
use crate::table::native;
use monomorph_core::structured::SinkState;
use monomorph_core::{DType, ErrorKind, Result};

/// What a cell is given, checked.
struct Gates {
    batch: i64,
    hidden: i64,
    dtype: DType,
}

/// The sizes of a call whose gates have `count` columns for each element of the state, which is called `state`.
fn gates(inputs: &RowsInputs<'_>, count: i64, state: &'static str) -> Result<Gates> {
    let dtype = inputs.dtype(0)?;
    check_floating("argument input_gates has dtype", dtype)?;
    let &[batch, columns] = inputs.operand(0).sizes() else {
        let got = inputs.operand(0).sizes().len();
        return Err(ErrorKind::DimCount { arg: "input_gates", got, accepted: "2" }.into());
    };
    let hidden = columns.checked_div(count).unwrap_or(0);
    if hidden.checked_mul(count) != Some(columns) {
        return Err(rule("argument input_gates has no column for each gate of each element of the state"));
    }
    let given = [3, 4].map(|i| !inputs.operand(i).is_absent());
    if given[0] != given[1] {
        return Err(rule("one of the biases is given and the other is not; give both or none"));
    }
    check_sizes(inputs, "hidden_gates", 1, &[batch, columns])?;
    check_sizes(inputs, state, 2, &[batch, hidden])?;
    check_sizes(inputs, "input_bias", 3, &[columns])?;
    check_sizes(inputs, "hidden_bias", 4, &[columns])?;
    for (i, arg) in [(1, "hidden_gates"), (2, state), (3, "input_bias"), (4, "hidden_bias")] {
        check_dtype(inputs, arg, i, dtype)?;
    }
    Ok(Gates { batch, hidden, dtype })
}

/// `_thnn_fused_lstm_cell`.
pub struct LstmCellFn;
impl super::sealed::Sealed for LstmCellFn {}
impl RowsFn for LstmCellFn {
    const NAME: &'static str = "_thnn_fused_lstm_cell";
    const OUTPUTS: usize = 3;

    fn plan(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>) -> Result<RowsPlan> {
        let Gates { batch, hidden, dtype } = gates(inputs, 4, "cx")?;
        declare(inputs, sink, 0, &[batch, hidden], dtype)?;
        declare(inputs, sink, 1, &[batch, hidden], dtype)?;
        declare(inputs, sink, 2, inputs.operand(0).sizes(), dtype)?;
        if batch == 0 || hidden == 0 {
            return Ok(RowsPlan::of(Task::Nothing, dtype));
        }
        Ok(RowsPlan::of(Task::LstmCell { rows: batch as usize, hidden: hidden as usize }, dtype))
    }
}

/// `_thnn_fused_gru_cell`.
pub struct GruCellFn;
impl super::sealed::Sealed for GruCellFn {}
impl RowsFn for GruCellFn {
    const NAME: &'static str = "_thnn_fused_gru_cell";
    const OUTPUTS: usize = 2;

    fn plan(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>) -> Result<RowsPlan> {
        let Gates { batch, hidden, dtype } = gates(inputs, 3, "hx")?;
        declare(inputs, sink, 0, &[batch, hidden], dtype)?;
        declare(inputs, sink, 1, &[batch, hidden.saturating_mul(5)], dtype)?;
        if batch == 0 || hidden == 0 {
            return Ok(RowsPlan::of(Task::Nothing, dtype));
        }
        Ok(RowsPlan::of(Task::GruCell { rows: batch as usize, hidden: hidden as usize }, dtype))
    }
}

native! {
    family: RecurrentCells;

    func: _thnn_fused_lstm_cell(Tensor input_gates, Tensor hidden_gates, Tensor cx, Tensor? input_bias=None,
        Tensor? hidden_bias=None) -> (Tensor, Tensor, Tensor),
    autogen: _thnn_fused_lstm_cell.out, structured: Rows<LstmCellFn>,
    otherwise: explicit fused::lstm;

    func: _thnn_fused_gru_cell(Tensor input_gates, Tensor hidden_gates, Tensor hx, Tensor? input_bias=None,
        Tensor? hidden_bias=None) -> (Tensor, Tensor),
    autogen: _thnn_fused_gru_cell.out, structured: Rows<GruCellFn>,
    otherwise: explicit fused::gru;
}
