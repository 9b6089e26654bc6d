//! Layers of cells, one behind the other, in one direction or in both.
#![deny(clippy::arithmetic_side_effects)]

use super::super::callees::Callees;
use super::super::tensor;
use super::cell::{Cell, State, Weights, step};
use super::packed::Running;
use crate::composite::rule;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, ErrorKind, IValue, MemoryFormat, Result};

/// Layers, each of which takes the output of the one before.
pub(super) struct Stack {
    pub(super) kind: Cell,
    pub(super) has_biases: bool,
    pub(super) num_layers: i64,
    pub(super) dropout: f64,
    pub(super) train: bool,
    pub(super) bidirectional: bool,
    pub(super) batch_first: bool,
}

impl Stack {
    /// The output of the last layer, and the states behind the last step of each. Packed sequences come with the number
    /// of them at each step.
    pub(super) fn run(
        &self,
        calls: &Calls<'_>,
        input: &IValue,
        batch_sizes: Option<&[i64]>,
        states: [Option<&AnyTensor>; 2],
        params: &[AnyTensor],
    ) -> Result<(AnyTensor, AnyTensor, Option<AnyTensor>)> {
        let input = tensor(input, "input")?;
        if batch_sizes.is_none() && input.ndim() != 3 {
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
                let (output, end) = self.layer(calls, &weights[i], (&x, batch_sizes), start, direction == 1)?;
                outputs.push(output);
                last_hidden.push(end.hidden);
                last_cell.extend(end.cell);
            }
            x = match <[AnyTensor; 1]>::try_from(outputs) {
                Ok([output]) => output,
                Err(outputs) => calls.tensor("cat", [IValue::Tensors(outputs), (-1_i64).into()])?,
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
                Ok(Weights { input: input.clone(), hidden: hidden.clone(), biases, projection, turned: None })
            }
            _ => Err(rule("argument params has no weights")),
        };
        groups.map(weights).collect()
    }

    /// The outputs of all steps of a layer in one direction, and the states behind the last.
    fn layer(
        &self,
        calls: &Calls<'_>,
        weights: &Weights,
        (x, batch_sizes): (&AnyTensor, Option<&[i64]>),
        start: State,
        reversed: bool,
    ) -> Result<(AnyTensor, State)> {
        let inputs = weights.of_input(calls, x)?;
        let weights = weights.turned(calls)?;
        let mut inputs: Vec<_> = steps_of(calls, &inputs, batch_sizes)?.into_iter().enumerate().collect();
        if reversed {
            inputs.reverse();
        }
        let sequences = |step: usize| batch_sizes.and_then(|sizes| sizes.get(step)).copied();
        let first = inputs.first().and_then(|&(t, _)| sequences(t));
        let mut states = Running::before(calls, &start, first)?;
        // Each output is copied while it is in the first-level cache.
        let (mut outputs, steps) = (None, inputs.len());
        for (t, input) in inputs {
            if let Some(sequences) = sequences(t) {
                states.resize(calls, sequences)?;
            }
            states.now = step(calls, self.kind, &weights, input, &states.now)?;
            if outputs.is_none() {
                outputs = Some(places(calls, &states.now.hidden, steps, batch_sizes)?);
            }
            if let Some(place) = outputs.as_ref().and_then(|(_, places)| places.get(t)) {
                calls.copy_into(place.clone(), &states.now.hidden)?;
            }
        }
        let (outputs, _) = outputs.ok_or_else(|| rule("argument input has no step; give a sequence of one or more"))?;
        Ok((outputs, states.end(calls)?))
    }
}

/// Views of all steps.
fn steps_of(calls: &Calls<'_>, all: &AnyTensor, batch_sizes: Option<&[i64]>) -> Result<Vec<AnyTensor>> {
    match batch_sizes {
        None => calls.tensors("unbind.int", [all.clone().into(), 0i64.into()]),
        Some(sizes) => {
            let sizes = IValue::Ints(sizes.to_vec());
            calls.tensors("split_with_sizes", [all.clone().into(), sizes, 0i64.into()])
        }
    }
}

/// A new tensor for the outputs of all steps, and the place of each, of which `like` is one.
fn places(
    calls: &Calls<'_>,
    like: &AnyTensor,
    steps: usize,
    batch_sizes: Option<&[i64]>,
) -> Result<(AnyTensor, Vec<AnyTensor>)> {
    let sizes: Vec<i64> = match batch_sizes {
        None => [steps as i64].iter().chain(like.sizes()).copied().collect(),
        Some(each) => [each.iter().sum()].iter().chain(like.sizes().iter().skip(1)).copied().collect(),
    };
    let all = calls.empty(&sizes, like.dtype(), like.device(), MemoryFormat::Contiguous)?;
    let places = steps_of(calls, &all, batch_sizes)?;
    Ok((all, places))
}
