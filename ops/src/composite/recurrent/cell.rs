//! One step: products of the input and of the hidden state, and what a kind of cell makes of them.
#![deny(clippy::arithmetic_side_effects)]

use super::super::callees::Callees;
use super::super::products::{Multiplies, linear};
use super::super::steps::Steps;
use super::super::{operand, tensor};
use crate::composite::rule;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DEFAULT_FLOAT, DType, ErrorKind, IValue, Result};

/// A kind of cell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell {
    Lstm,
    Gru,
    Tanh,
    Relu,
}

impl Cell {
    /// Rows of the weights for each element of the hidden state.
    fn gates(self) -> i64 {
        match self {
            Cell::Lstm => 4,
            Cell::Gru => 3,
            Cell::Tanh | Cell::Relu => 1,
        }
    }
}

/// The weights of a cell, of the input and the hidden state.
#[derive(Clone)]
pub(super) struct Weights {
    pub(super) input: AnyTensor,
    pub(super) hidden: AnyTensor,
    pub(super) biases: Option<[AnyTensor; 2]>,
    /// What the output of an lstm is multiplied by.
    pub(super) projection: Option<AnyTensor>,
    /// Those of the hidden state, transposed for all steps of a layer.
    pub(super) turned: Option<AnyTensor>,
}

impl Weights {
    /// The part of the input, of one step or of all.
    pub(super) fn of_input(&self, calls: &Calls<'_>, x: &AnyTensor) -> Result<AnyTensor> {
        linear(calls, x, &self.input, self.biases.as_ref().map(|[bias, _]| bias))
    }

    /// The same for many steps.
    pub(super) fn turned(&self, calls: &Calls<'_>) -> Result<Weights> {
        let turned = match self.hidden.ndim() {
            2 => Some(calls.transpose(&self.hidden, 0, 1)?),
            _ => None,
        };
        Ok(Weights { turned, ..self.clone() })
    }

    fn of_hidden(&self, calls: &Calls<'_>, h: &AnyTensor) -> Result<AnyTensor> {
        match (&self.turned, &self.biases) {
            (Some(turned), Some([_, bias])) if h.ndim() == 2 => return calls.addmm(bias, h, turned),
            (Some(turned), None) if h.ndim() == 2 => return calls.mm(h, turned),
            _ => {}
        }
        linear(calls, h, &self.hidden, self.biases.as_ref().map(|[_, bias]| bias))
    }
}

/// What a cell carries from step to step: an lstm has a second state.
#[derive(Clone)]
pub(super) struct State {
    pub(super) hidden: AnyTensor,
    pub(super) cell: Option<AnyTensor>,
}

/// Whether there is one operator for what follows the products of a step. It neither broadcasts nor promotes, rounds
/// halves once and not in each step of the composition, and gives row-major states, as that does of such operands.
fn is_fused(kind: Cell, [input, hidden]: [&AnyTensor; 2], state: &AnyTensor) -> bool {
    let dtype = state.dtype();
    let &[batch, size] = state.sizes() else { return false };
    let gates = [batch, size.saturating_mul(kind.gates())];
    let is_row_major = |t: &AnyTensor| matches!(t.strides(), &[row, 1] if row == 0 || row >= t.sizes()[1]);
    matches!(dtype, DType::F32 | DType::F64)
        && [input, hidden].into_iter().all(|t| t.dtype() == dtype && t.sizes() == gates)
        && [input, hidden, state].into_iter().all(is_row_major)
}

/// What follows the products of a step as one call, whose first results are the state: the last one is the workspace
/// of a backward pass.
fn fused<const N: usize>(calls: &Calls<'_>, name: &str, operands: [&AnyTensor; 3]) -> Result<[AnyTensor; N]> {
    let operands = operands.map(|t| IValue::from(t.clone()));
    calls.several(name, operands.into_iter().chain([IValue::None, IValue::None]))
}

/// A step: the part of the input, and the state before it.
pub(super) fn step(calls: &Calls<'_>, kind: Cell, weights: &Weights, input: AnyTensor, state: &State) -> Result<State> {
    let hidden = weights.of_hidden(calls, &state.hidden)?;
    match (kind, &state.cell) {
        (Cell::Lstm, Some(cell)) if is_fused(kind, [&input, &hidden], cell) => {
            let [mut hidden, cell, _] = fused(calls, "_thnn_fused_lstm_cell", [&input, &hidden, cell])?;
            if let Some(projection) = &weights.projection {
                hidden = linear(calls, &hidden, projection, None)?;
            }
            return Ok(State { hidden, cell: Some(cell) });
        }
        (Cell::Gru, _) if is_fused(kind, [&input, &hidden], &state.hidden) => {
            let [hidden, _] = fused(calls, "_thnn_fused_gru_cell", [&input, &hidden, &state.hidden])?;
            return Ok(State { hidden, cell: None });
        }
        _ => {}
    }
    // The gates take the place of their arguments, and are floats.
    let to = hidden.dtype();
    if kind.gates() > 1 && to.is_integral(true) {
        return Err(ErrorKind::Cast { from: DEFAULT_FLOAT, to }.into());
    }
    let chunks = |t: &AnyTensor| calls.tensors("unsafe_chunk", [t.clone().into(), kind.gates().into(), 1i64.into()]);
    let wrong = || rule("the weights have no rows for each gate");
    match kind {
        Cell::Tanh | Cell::Relu => {
            let sum = calls.add_to(hidden, &input)?;
            let hidden = calls.unary(if kind == Cell::Tanh { "tanh" } else { "relu" }, sum)?;
            Ok(State { hidden, cell: None })
        }
        Cell::Gru => {
            let [reset_x, update_x, new_x] = <[_; 3]>::try_from(chunks(&input)?).map_err(|_| wrong())?;
            let [reset_h, update_h, new_h] = <[_; 3]>::try_from(chunks(&hidden)?).map_err(|_| wrong())?;
            let reset = calls.unary("sigmoid", calls.add(reset_h, reset_x)?)?;
            let update = calls.unary("sigmoid", calls.add(update_h, update_x)?)?;
            let new = calls.unary("tanh", calls.add(new_x, calls.mul(new_h, reset)?)?)?;
            let difference = calls.sub(state.hidden.clone(), new.clone())?;
            let hidden = calls.add(calls.mul(difference, update)?, new)?;
            Ok(State { hidden, cell: None })
        }
        Cell::Lstm => {
            let gates = calls.add_to(hidden, &input)?;
            let [enter, forget, new, leave] = <[_; 4]>::try_from(chunks(&gates)?).map_err(|_| wrong())?;
            let before = state.cell.clone().ok_or_else(|| rule("an lstm has two states"))?;
            let (enter, forget) = (calls.unary("sigmoid", enter)?, calls.unary("sigmoid", forget)?);
            let kept = calls.mul(forget, before)?;
            let cell = calls.add(kept, calls.mul(enter, calls.unary("tanh", new)?)?)?;
            let leave = calls.unary("sigmoid", leave)?;
            let mut hidden = calls.mul(leave, calls.unary("tanh", cell.clone())?)?;
            if let Some(projection) = &weights.projection {
                hidden = linear(calls, &hidden, projection, None)?;
            }
            Ok(State { hidden, cell: Some(cell) })
        }
    }
}

/// A step of one cell, its operands checked.
pub(super) fn one_step(
    calls: &Calls<'_>,
    kind: Cell,
    input: &IValue,
    state: &State,
    weights: Params<'_>,
) -> Result<State> {
    let x = tensor(input, "input")?;
    let weights = weights.weights()?;
    let (&[_, inputs], &[gates, outputs]) = (weights.input.sizes(), weights.hidden.sizes()) else {
        return Err(rule("arguments w_ih and w_hh are matrices"));
    };
    let rows = outputs.saturating_mul(kind.gates());
    if gates != rows || weights.input.sizes()[0] != rows {
        let (got, want) = (weights.input.sizes().to_vec(), vec![rows, inputs]);
        return Err(ErrorKind::UnequalSizes { arg: "w_ih", got, want }.into());
    }
    let &[batch, got] = x.sizes() else {
        return Err(ErrorKind::DimCount { arg: "input", got: x.ndim(), accepted: "2" }.into());
    };
    if got != inputs {
        return Err(ErrorKind::UnequalSizes { arg: "input", got: x.sizes().to_vec(), want: vec![batch, inputs] }.into());
    }
    for h in [Some(&state.hidden), state.cell.as_ref()].into_iter().flatten() {
        if h.sizes() != [batch, outputs] {
            let (got, want) = (h.sizes().to_vec(), vec![batch, outputs]);
            return Err(ErrorKind::UnequalSizes { arg: "hx", got, want }.into());
        }
    }
    step(calls, kind, &weights, weights.of_input(calls, x)?, state)
}

/// The weights of a cell as arguments.
pub(super) struct Params<'a>(pub(super) [&'a IValue; 4]);

impl Params<'_> {
    fn weights(&self) -> Result<Weights> {
        let [w_ih, w_hh, b_ih, b_hh] = self.0;
        let bias = |value: &IValue| value.as_tensor().filter(|_| !operand(value).is_absent()).cloned();
        let biases = match (bias(b_ih), bias(b_hh)) {
            (Some(input), Some(hidden)) => Some([input, hidden]),
            (None, None) => None,
            _ => return Err(rule("one of the biases is given and the other is not; give both or none")),
        };
        let (input, hidden) = (tensor(w_ih, "w_ih")?.clone(), tensor(w_hh, "w_hh")?.clone());
        Ok(Weights { input, hidden, biases, projection: None, turned: None })
    }
}
