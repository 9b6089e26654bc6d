//! Recurrent cells and the layers that are made of them: lstm, gru, rnn_tanh and rnn_relu.
//!
//! ```text
//!   layer:   x0 ─► cell ─► y0      the input's part of every step is one product, before the steps; a step adds
//!                   │ h            that of the hidden state. In a bidirectional layer a second one goes from the
//!            x1 ─► cell ─► y1      end, and both outputs are joined; the next layer takes them.
//! ```
#![deny(clippy::arithmetic_side_effects)]

mod cell;
pub mod fused;
mod layers;
pub mod packed;

use super::steps::Steps;
use super::tensor;
use crate::composite::rule;
use crate::table::native;
use cell::{Cell, Params, State, one_step};
use layers::Stack;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result};

/// `lstm_cell`.
pub fn lstm_cell(
    calls: &Calls<'_>,
    input: &IValue,
    hx: &[AnyTensor],
    w_ih: &IValue,
    w_hh: &IValue,
    b_ih: &IValue,
    b_hh: &IValue,
) -> Result<(AnyTensor, AnyTensor)> {
    let [hidden, cell] = hx else {
        return Err(ErrorKind::ListLength { arg: "hx", got: hx.len(), want: 2 }.into());
    };
    let state = State { hidden: hidden.clone(), cell: Some(cell.clone()) };
    let State { hidden, cell } = one_step(calls, Cell::Lstm, input, &state, Params([w_ih, w_hh, b_ih, b_hh]))?;
    Ok((hidden, cell.ok_or_else(|| rule("an lstm has two states"))?))
}

/// Cells with one state, and the layers of them.
macro_rules! one_state {
    ($($cell:ident $layers:ident $kind:ident;)*) => {$(
        #[doc = concat!("`", stringify!($cell), "`.")]
        pub fn $cell(
            calls: &Calls<'_>,
            input: &IValue,
            hx: &IValue,
            w_ih: &IValue,
            w_hh: &IValue,
            b_ih: &IValue,
            b_hh: &IValue,
        ) -> Result<AnyTensor> {
            let state = State { hidden: tensor(hx, "hx")?.clone(), cell: None };
            Ok(one_step(calls, Cell::$kind, input, &state, Params([w_ih, w_hh, b_ih, b_hh]))?.hidden)
        }

        #[doc = concat!("`", stringify!($layers), ".input`.")]
        #[allow(clippy::too_many_arguments, reason = "they are the schema's")]
        pub fn $layers(
            calls: &Calls<'_>,
            input: &IValue,
            hx: &IValue,
            params: &[AnyTensor],
            has_biases: bool,
            num_layers: i64,
            dropout: f64,
            train: bool,
            bidirectional: bool,
            batch_first: bool,
        ) -> Result<(AnyTensor, AnyTensor)> {
            let stack = Stack { kind: Cell::$kind, has_biases, num_layers, dropout, train, bidirectional, batch_first };
            let (output, hidden, _) = stack.run(calls, input, None, [Some(tensor(hx, "hx")?), None], params)?;
            Ok((output, hidden))
        }
    )*};
}
one_state! {
    gru_cell gru Gru;
    rnn_tanh_cell rnn_tanh Tanh;
    rnn_relu_cell rnn_relu Relu;
}

/// `lstm.input`.
#[allow(clippy::too_many_arguments, reason = "they are the schema's")]
pub fn lstm(
    calls: &Calls<'_>,
    input: &IValue,
    hx: &[AnyTensor],
    params: &[AnyTensor],
    has_biases: bool,
    num_layers: i64,
    dropout: f64,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
    let [hidden, cell] = hx else {
        return Err(ErrorKind::ListLength { arg: "hx", got: hx.len(), want: 2 }.into());
    };
    let kind = Cell::Lstm;
    let stack = Stack { kind, has_biases, num_layers, dropout, train, bidirectional, batch_first };
    let dtype = tensor(input, "input")?.dtype();
    let two = || rule("an lstm has two states");
    if !matches!(dtype, DType::F16 | DType::BF16) {
        let (output, hidden, cell) = stack.run(calls, input, None, [Some(hidden), Some(cell)], params)?;
        return Ok((output, hidden, cell.ok_or_else(two)?));
    }
    // Halves go through all steps in float32, and are rounded in the end.
    let all = params.iter().chain(hx);
    if let Some(got) = all.map(AnyTensor::dtype).find(|got| *got != dtype) {
        return Err(ErrorKind::DTypeMismatch { arg: "params", got, want: dtype }.into());
    }
    let wide = |t: &AnyTensor| calls.cast(t.clone(), DType::F32);
    let input: IValue = wide(tensor(input, "input")?)?.into();
    let params = params.iter().map(wide).collect::<Result<Vec<_>>>()?;
    let (hidden, cell) = (wide(hidden)?, wide(cell)?);
    let (output, hidden, cell) = stack.run(calls, &input, None, [Some(&hidden), Some(&cell)], &params)?;
    let narrow = |t: AnyTensor| calls.cast(t, dtype);
    Ok((narrow(output)?, narrow(hidden)?, narrow(cell.ok_or_else(two)?)?))
}

native! {
    family: Recurrent, functions: crate::fill::Fills;

    func: lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)
        -> (Tensor, Tensor),
    composite: implicit lstm_cell;

    func: gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor,
    composite: implicit gru_cell;

    func: rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)
        -> Tensor,
    composite: implicit rnn_tanh_cell;

    func: rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)
        -> Tensor,
    composite: implicit rnn_relu_cell;

    func: lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
        bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor),
    composite: implicit lstm;

    func: gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
        bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor),
    composite: implicit gru;

    func: rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
        bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor),
    composite: implicit rnn_tanh;

    func: rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
        bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor),
    composite: implicit rnn_relu;
}
