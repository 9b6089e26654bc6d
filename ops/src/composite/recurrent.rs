//! Recurrent cells and the layers that are made of them: lstm, gru, rnn_tanh and rnn_relu.
//!
//! ```text
//!   layer:   x0 ─► cell ─► y0      the input's part of every step is one product, before the steps; a step adds
//!                   │ h            that of the hidden state. In a bidirectional layer a second one goes from the
//!            x1 ─► cell ─► y1      end, and both outputs are joined; the next layer takes them.
//! ```
#![deny(clippy::arithmetic_side_effects)]

use super::callees::Callees;
use super::products::{Multiplies, linear};
use super::steps::Steps;
use super::{operand, tensor};
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result};

/// A kind of cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
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
struct Weights {
    input: AnyTensor,
    hidden: AnyTensor,
    biases: Option<[AnyTensor; 2]>,
    /// What the output of an lstm is multiplied by.
    projection: Option<AnyTensor>,
}

impl Weights {
    /// The part of the input, of one step or of all.
    fn of_input(&self, calls: &Calls<'_>, x: &AnyTensor) -> Result<AnyTensor> {
        linear(calls, x, &self.input, self.biases.as_ref().map(|[bias, _]| bias))
    }

    fn of_hidden(&self, calls: &Calls<'_>, h: &AnyTensor) -> Result<AnyTensor> {
        linear(calls, h, &self.hidden, self.biases.as_ref().map(|[_, bias]| bias))
    }
}

/// What a cell carries from step to step: an lstm has a second state.
#[derive(Clone)]
struct State {
    hidden: AnyTensor,
    cell: Option<AnyTensor>,
}

fn rule(rule: &'static str) -> monomorph_core::Error {
    ErrorKind::ArgumentRule { rule }.into()
}

/// A step: the part of the input, and the state before it.
fn step(calls: &Calls<'_>, kind: Cell, weights: &Weights, input: AnyTensor, state: &State) -> Result<State> {
    let hidden = weights.of_hidden(calls, &state.hidden)?;
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
fn one_step(calls: &Calls<'_>, kind: Cell, input: &IValue, state: &State, weights: Params<'_>) -> Result<State> {
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
struct Params<'a>([&'a IValue; 4]);

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
        Ok(Weights { input, hidden, biases, projection: None })
    }
}

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
            let (output, hidden, _) = stack.run(calls, input, [Some(tensor(hx, "hx")?), None], params)?;
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
        let (output, hidden, cell) = stack.run(calls, input, [Some(hidden), Some(cell)], params)?;
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
    let (output, hidden, cell) = stack.run(calls, &input, [Some(&hidden), Some(&cell)], &params)?;
    let narrow = |t: AnyTensor| calls.cast(t, dtype);
    Ok((narrow(output)?, narrow(hidden)?, narrow(cell.ok_or_else(two)?)?))
}

/// Layers, each of which takes the output of the one before.
struct Stack {
    kind: Cell,
    has_biases: bool,
    num_layers: i64,
    dropout: f64,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
}

impl Stack {
    /// The output of the last layer, and the states behind the last step of each.
    fn run(
        &self,
        calls: &Calls<'_>,
        input: &IValue,
        states: [Option<&AnyTensor>; 2],
        params: &[AnyTensor],
    ) -> Result<(AnyTensor, AnyTensor, Option<AnyTensor>)> {
        let input = tensor(input, "input")?;
        if input.ndim() != 3 {
            return Err(ErrorKind::DimCount { arg: "input", got: input.ndim(), accepted: "3" }.into());
        }
        for t in params.iter().chain(states.into_iter().flatten()) {
            if t.dtype() != input.dtype() {
                let (got, want) = (t.dtype(), input.dtype());
                return Err(ErrorKind::DTypeMismatch { arg: "params", got, want }.into());
            }
        }
        let unbound = |state: Option<&AnyTensor>| match state {
            Some(t) if t.ndim() != 3 => Err(ErrorKind::DimCount { arg: "hx", got: t.ndim(), accepted: "3" }.into()),
            Some(t) => calls.tensors("unbind.int", [t.clone().into(), 0i64.into()]).map(Some),
            None => Ok(None),
        };
        let [hidden, cell] = states;
        let projects = matches!((hidden, cell), (Some(h), Some(c)) if h.sizes().get(2) != c.sizes().get(2));
        let (hidden, cell) = (unbound(hidden)?.unwrap_or_default(), unbound(cell)?);
        let directions = if self.bidirectional { 2 } else { 1 };
        let cells = usize::try_from(self.num_layers.saturating_mul(directions as i64)).unwrap_or(0);
        let weights = self.weights(params, projects)?;
        for (arg, got) in [("params", weights.len()), ("hx", hidden.len())] {
            if got != cells || cells == 0 {
                return Err(ErrorKind::ListLength { arg, got, want: cells }.into());
            }
        }
        if let Some(cell) = cell.as_ref().filter(|cell| cell.len() != cells) {
            return Err(ErrorKind::ListLength { arg: "hx", got: cell.len(), want: cells }.into());
        }
        let mut x = if self.batch_first { calls.transpose(input, 0, 1)? } else { input.clone() };
        if x.sizes()[0] == 0 {
            return Err(rule("argument input has no step; give a sequence of one or more"));
        }
        let (mut last_hidden, mut last_cell) = (Vec::new(), Vec::new());
        for layer in 0..cells.checked_div(directions).unwrap_or(0) {
            let mut outputs = Vec::new();
            for direction in 0..directions {
                let i = layer.saturating_mul(directions).saturating_add(direction);
                let start = State { hidden: hidden[i].clone(), cell: cell.as_ref().map(|cell| cell[i].clone()) };
                let (output, end) = self.layer(calls, &weights[i], &x, start, direction == 1)?;
                outputs.push(output);
                last_hidden.push(end.hidden);
                last_cell.extend(end.cell);
            }
            x = match <[AnyTensor; 1]>::try_from(outputs) {
                Ok([output]) => output,
                Err(outputs) => calls.tensor("cat", [IValue::Tensors(outputs), 2i64.into()])?,
            };
            let is_last = layer.saturating_add(1).saturating_mul(directions) >= cells;
            if self.train && self.dropout != 0.0 && !is_last {
                x = calls.tensor("dropout", [x.into(), self.dropout.into(), true.into()])?;
            }
        }
        let output = if self.batch_first { calls.transpose(&x, 0, 1)? } else { x };
        let stacked = |all: Vec<AnyTensor>| calls.tensor("stack", [IValue::Tensors(all), 0i64.into()]);
        let cell = if last_cell.is_empty() { None } else { Some(stacked(last_cell)?) };
        Ok((output, stacked(last_hidden)?, cell))
    }

    /// The weights of each cell, in the order in which they are listed.
    fn weights(&self, params: &[AnyTensor], projects: bool) -> Result<Vec<Weights>> {
        let each = match (self.has_biases, projects) {
            (true, true) => 5,
            (true, false) => 4,
            (false, true) => 3,
            (false, false) => 2,
        };
        let groups = params.chunks_exact(each);
        if !groups.remainder().is_empty() {
            let rule = "argument params has another number of weights than each cell takes: 2, and 2 biases, and 1 of \
                a projection";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        let weights = |group: &[AnyTensor]| match group {
            [input, hidden, rest @ ..] => {
                let biases = match rest {
                    [first, second, ..] if self.has_biases => Some([first.clone(), second.clone()]),
                    _ => None,
                };
                let projection = rest.last().filter(|_| projects).cloned();
                Ok(Weights { input: input.clone(), hidden: hidden.clone(), biases, projection })
            }
            _ => Err(rule("argument params has no weights")),
        };
        groups.map(weights).collect()
    }

    /// The outputs of all steps of a layer in one direction, and the state behind the last.
    fn layer(
        &self,
        calls: &Calls<'_>,
        weights: &Weights,
        x: &AnyTensor,
        mut state: State,
        reversed: bool,
    ) -> Result<(AnyTensor, State)> {
        let inputs = weights.of_input(calls, x)?;
        let mut inputs = calls.tensors("unbind.int", [inputs.into(), 0i64.into()])?;
        if reversed {
            inputs.reverse();
        }
        let mut outputs = Vec::with_capacity(inputs.len());
        for input in inputs {
            state = step(calls, self.kind, weights, input, &state)?;
            outputs.push(state.hidden.clone());
        }
        if reversed {
            outputs.reverse();
        }
        Ok((calls.tensor("stack", [IValue::Tensors(outputs), 0i64.into()])?, state))
    }
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
