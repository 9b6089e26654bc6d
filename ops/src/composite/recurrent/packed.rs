//! Sequences of several lengths as one tensor without padding, and recurrent layers over them.
//!
//! ```text
//!   lengths 3, 2, 1      step 0: a0 b0 c0      packed: a0 b0 c0 a1 b1 a2
//!                        step 1: a1 b1         batch sizes: 3, 2, 1
//!                        step 2: a2
//! ```
//!
//! The longest sequence comes first, so that each step has the first so many of those of the step before.
#![deny(clippy::arithmetic_side_effects)]

use super::super::callees::{Callees, Fillers};
use super::super::steps::Steps;
use super::super::tensor;
use super::cell::{Cell, State};
use super::layers::Stack;
use crate::composite::rule;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result, Scalar};

/// The integers of a list that is a tensor. PyTorch takes those on the CPU alone.
fn integers(calls: &Calls<'_>, value: &IValue, arg: &'static str) -> Result<Vec<i64>> {
    let t = tensor(value, arg)?;
    if t.dtype() != DType::I64 {
        return Err(ErrorKind::DTypeMismatch { arg, got: t.dtype(), want: DType::I64 }.into());
    }
    if t.ndim() != 1 {
        return Err(ErrorKind::DimCount { arg, got: t.ndim(), accepted: "1" }.into());
    }
    let number = |t: AnyTensor| {
        let mut stack = vec![t.into()];
        calls.call("item", &mut stack)?;
        match stack.first() {
            Some(&IValue::Int(number)) => Ok(number),
            _ => Err(rule("lengths and batch sizes are integers")),
        }
    };
    calls.tensors("unbind.int", [t.clone().into(), 0_i64.into()])?.into_iter().map(number).collect()
}

/// Steps that have as many sequences: the first one, the one behind the last, and how many sequences that is.
type Run = (i64, i64, i64);

/// How many sequences each step has: at least one, and never more than the step before.
fn batch_sizes(calls: &Calls<'_>, value: &IValue, rows: i64) -> Result<Vec<i64>> {
    let sizes = integers(calls, value, "batch_sizes")?;
    if sizes.is_empty() {
        return Err(rule("argument batch_sizes is empty; accepted is one number or more"));
    }
    let falls = sizes.windows(2).all(|pair| pair[0] >= pair[1]) && sizes.last().is_some_and(|&last| last > 0);
    let sum = sizes.iter().try_fold(0_i64, |sum, &size| sum.checked_add(size));
    match sum {
        Some(sum) if falls && sum <= rows => Ok(sizes),
        _ => Err(rule(
            "argument batch_sizes has a number below 1, one that is larger than the one before, or more than the data \
             has rows; accepted are numbers that do not grow",
        )),
    }
}

/// The runs of steps, from the first one on.
fn runs(batch_sizes: &[i64]) -> Vec<Run> {
    let mut end = 0_i64;
    let run = |run: &[i64]| {
        let start = end;
        end = end.saturating_add(i64::try_from(run.len()).unwrap_or(i64::MAX));
        (start, end, run[0])
    };
    batch_sizes.chunk_by(|a, b| a == b).map(run).collect()
}

/// A tensor like `like` of numbers, each so many times.
fn listed(calls: &Calls<'_>, like: &IValue, numbers: impl Iterator<Item = (i64, i64)>) -> Result<AnyTensor> {
    let like = tensor(like, "lengths")?;
    let part = |(count, number)| calls.full_like(like, &[count], Scalar::Int(number));
    calls.cat(numbers.map(part).collect::<Result<Vec<_>>>()?, 0)
}

/// `_pack_padded_sequence`: the steps of sequences one behind the other, and how many sequences each has.
pub fn pack(calls: &Calls<'_>, input: &IValue, lengths: &IValue, batch_first: bool) -> Result<(AnyTensor, AnyTensor)> {
    let input = tensor(input, "input")?;
    if input.numel() == 0 {
        return Err(rule("argument input has no elements; accepted are sequences of one step or more"));
    }
    let each = integers(calls, lengths, "lengths")?;
    if input.ndim() < 2 {
        return Err(ErrorKind::DimCount { arg: "input", got: input.ndim(), accepted: "2 or more" }.into());
    }
    let steps = if batch_first { calls.transpose(input, 0, 1)? } else { input.clone() };
    if i64::try_from(each.len()) != Ok(steps.sizes()[1]) {
        let want = usize::try_from(steps.sizes()[1]).unwrap_or(usize::MAX);
        return Err(ErrorKind::ListLength { arg: "lengths", got: each.len(), want }.into());
    }
    if each.last().is_none_or(|&last| last < 1) || each.windows(2).any(|pair| pair[0] < pair[1]) {
        return Err(rule("argument lengths has a number below 1 or larger than the one before; sort the sequences"));
    }
    // The shortest sequence is the last one: behind its end steps have one sequence less.
    let (mut runs, mut start, mut sequences): (Vec<Run>, _, _) = (Vec::new(), 0, steps.sizes()[1]);
    for &end in each.iter().rev() {
        if end > start {
            runs.push((start, end, sequences));
        }
        (start, sequences) = (end, sequences.saturating_sub(1));
    }
    let part = |&(start, end, sequences): &Run| {
        // A length that is larger than the number of steps ends with them, as in PyTorch.
        let run = calls.slice(&calls.slice(&steps, 0, start, end)?, 1, 0, sequences)?;
        let rows = run.sizes()[0].saturating_mul(sequences);
        let shape: Vec<i64> = [rows].iter().chain(&run.sizes()[2..]).copied().collect();
        calls.reshape(&run, &shape)
    };
    let packed = calls.cat(runs.iter().map(part).collect::<Result<Vec<_>>>()?, 0)?;
    let sizes = runs.iter().map(|&(start, end, sequences)| (end.saturating_sub(start), sequences));
    Ok((packed, listed(calls, lengths, sizes)?))
}

/// Copies rows of packed sequences to their places in a tensor of steps and sequences.
fn unpack(calls: &Calls<'_>, rows: &AnyTensor, into: &AnyTensor, runs: &[Run]) -> Result<()> {
    let mut first = 0_i64;
    for &(start, end, sequences) in runs {
        let steps = end.saturating_sub(start);
        let place = calls.slice(&calls.slice(into, 0, start, end)?, 1, 0, sequences)?;
        let count = steps.saturating_mul(sequences);
        let run = calls.narrow(rows, 0, first, count)?;
        let shape: Vec<i64> = [steps, sequences].iter().chain(&rows.sizes()[1..]).copied().collect();
        calls.copy_into(place, &calls.reshape(&run, &shape)?)?;
        first = first.saturating_add(count);
    }
    Ok(())
}

/// `_pad_packed_sequence`: sequences as long as the longest, or as `total_length` where that is above 0, and the length
/// of each.
pub fn pad(
    calls: &Calls<'_>,
    data: &IValue,
    sizes: &IValue,
    batch_first: bool,
    padding_value: Scalar,
    total_length: i64,
) -> Result<(AnyTensor, AnyTensor)> {
    let data = tensor(data, "data")?;
    if data.ndim() == 0 {
        return Err(ErrorKind::DimCount { arg: "data", got: 0, accepted: "1 or more" }.into());
    }
    let each = batch_sizes(calls, sizes, data.sizes()[0])?;
    let (longest, runs) = (i64::try_from(each.len()).unwrap_or(i64::MAX), runs(&each));
    if total_length > 0 && total_length < longest {
        let (got, low, high) = (total_length, longest, i64::MAX);
        return Err(ErrorKind::OutOfRange { arg: "total_length", got, low, high }.into());
    }
    let shape: Vec<i64> = [longest.max(total_length), each[0]].iter().chain(&data.sizes()[1..]).copied().collect();
    let padded = calls.full_like(data, &shape, padding_value)?;
    unpack(calls, data, &padded, &runs)?;
    // The sequences that end with a run are those that the next one has not. The longest ones come first.
    let later = runs.iter().skip(1).map(|run| run.2).chain([0]);
    let ends: Vec<_> = runs.iter().zip(later).map(|(run, later)| (run.2.saturating_sub(later), run.1)).collect();
    let padded = if batch_first { calls.transpose(&padded, 0, 1)? } else { padded };
    Ok((padded, listed(calls, sizes, ends.into_iter().rev())?))
}

/// `_pack_padded_sequence_backward`: the gradient by the padded sequences, which is 0 behind the end of each.
pub fn pack_backward(
    calls: &Calls<'_>,
    grad: &IValue,
    input_size: &[i64],
    sizes: &IValue,
    batch_first: bool,
) -> Result<AnyTensor> {
    let grad = tensor(grad, "grad")?;
    if input_size.len() < 2 || grad.ndim().saturating_add(1) != input_size.len() {
        return Err(ErrorKind::DimCount { arg: "grad", got: grad.ndim(), accepted: "one less than input_size" }.into());
    }
    let each = batch_sizes(calls, sizes, grad.sizes()[0])?;
    let mut shape = input_size.to_vec();
    if batch_first {
        shape.swap(0, 1);
    }
    let gradient = calls.full_like(grad, &shape, Scalar::Int(0))?;
    unpack(calls, grad, &gradient, &runs(&each))?;
    if batch_first { calls.transpose(&gradient, 0, 1) } else { Ok(gradient) }
}

/// The states of the sequences that a step has, of all that a layer starts with.
pub(super) struct Running<'a> {
    start: &'a State,
    /// Of the sequences of this step.
    pub(super) now: State,
    /// Of those that have ended, the shortest first.
    ended: Vec<State>,
}

impl<'a> Running<'a> {
    /// The states before a step of so many sequences.
    pub(super) fn before(calls: &Calls<'_>, start: &'a State, sequences: Option<i64>) -> Result<Running<'a>> {
        let now = match sequences {
            Some(sequences) => start.sequences(calls, 0, sequences)?,
            None => start.clone(),
        };
        Ok(Running { start, now, ended: Vec::new() })
    }

    /// The states before the next step, which has so many sequences: forwards some have ended, backwards some begin.
    pub(super) fn resize(&mut self, calls: &Calls<'_>, sequences: i64) -> Result<()> {
        let had = self.now.hidden.sizes()[0];
        if sequences < had {
            self.ended.push(self.now.sequences(calls, sequences, had)?);
            self.now = self.now.sequences(calls, 0, sequences)?;
        } else if sequences > had {
            let begin = self.start.sequences(calls, had, sequences)?;
            self.now = State::joined(calls, [self.now.clone(), begin])?;
        }
        Ok(())
    }

    /// The states of all sequences behind their last steps.
    pub(super) fn end(self, calls: &Calls<'_>) -> Result<State> {
        match self.ended.is_empty() {
            true => Ok(self.now),
            false => State::joined(calls, std::iter::once(self.now).chain(self.ended.into_iter().rev())),
        }
    }
}

impl State {
    /// Those of some sequences.
    fn sequences(&self, calls: &Calls<'_>, start: i64, end: i64) -> Result<State> {
        let of = |t: &AnyTensor| calls.slice(t, 0, start, end);
        Ok(State { hidden: of(&self.hidden)?, cell: self.cell.as_ref().map(of).transpose()? })
    }

    /// Those of several groups of sequences, one behind the other.
    fn joined(calls: &Calls<'_>, states: impl IntoIterator<Item = State>) -> Result<State> {
        let (hidden, cells): (Vec<_>, Vec<_>) = states.into_iter().map(|s| (s.hidden, s.cell)).unzip();
        let cells = cells.into_iter().collect::<Option<Vec<_>>>();
        Ok(State { hidden: calls.cat(hidden, 0)?, cell: cells.map(|cells| calls.cat(cells, 0)).transpose()? })
    }
}

/// Layers over packed sequences, whose batch sizes must be those of all rows.
fn run(
    calls: &Calls<'_>,
    stack: Stack,
    [data, sizes]: [&IValue; 2],
    states: [Option<&AnyTensor>; 2],
    params: &[AnyTensor],
) -> Result<(AnyTensor, AnyTensor, Option<AnyTensor>)> {
    let t = tensor(data, "data")?;
    if t.ndim() != 2 {
        return Err(ErrorKind::DimCount { arg: "data", got: t.ndim(), accepted: "2" }.into());
    }
    let each = batch_sizes(calls, sizes, t.sizes()[0])?;
    if each.iter().sum::<i64>() != t.sizes()[0] {
        return Err(rule("argument data has more rows than batch_sizes tells of"));
    }
    for h in states.into_iter().flatten() {
        if h.sizes().get(1) != Some(&each[0]) {
            let want = h.sizes().iter().enumerate().map(|(d, &size)| if d == 1 { each[0] } else { size }).collect();
            return Err(ErrorKind::UnequalSizes { arg: "hx", got: h.sizes().to_vec(), want }.into());
        }
    }
    stack.run(calls, data, Some(&each), states, params)
}

/// `lstm.data`.
#[expect(clippy::too_many_arguments, reason = "they are the schema's")]
pub fn lstm(
    calls: &Calls<'_>,
    data: &IValue,
    batch_sizes: &IValue,
    hx: &[AnyTensor],
    params: &[AnyTensor],
    has_biases: bool,
    num_layers: i64,
    dropout: f64,
    train: bool,
    bidirectional: bool,
) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
    let [hidden, cell] = hx else {
        return Err(ErrorKind::ListLength { arg: "hx", got: hx.len(), want: 2 }.into());
    };
    let (kind, batch_first) = (Cell::Lstm, false);
    let stack = Stack { kind, has_biases, num_layers, dropout, train, bidirectional, batch_first };
    let (output, hidden, cell) = run(calls, stack, [data, batch_sizes], [Some(hidden), Some(cell)], params)?;
    Ok((output, hidden, cell.ok_or_else(|| rule("an lstm has two states"))?))
}

/// Layers of cells with one state.
macro_rules! one_state {
    ($($layers:ident $kind:ident;)*) => {$(
        #[doc = concat!("`", stringify!($layers), ".data`.")]
        #[allow(clippy::too_many_arguments, reason = "they are the schema's")]
        pub fn $layers(
            calls: &Calls<'_>,
            data: &IValue,
            batch_sizes: &IValue,
            hx: &IValue,
            params: &[AnyTensor],
            has_biases: bool,
            num_layers: i64,
            dropout: f64,
            train: bool,
            bidirectional: bool,
        ) -> Result<(AnyTensor, AnyTensor)> {
            let (kind, batch_first) = (Cell::$kind, false);
            let stack = Stack { kind, has_biases, num_layers, dropout, train, bidirectional, batch_first };
            let states = [Some(tensor(hx, "hx")?), None];
            let (output, hidden, _) = run(calls, stack, [data, batch_sizes], states, params)?;
            Ok((output, hidden))
        }
    )*};
}
one_state! {
    gru Gru;
    rnn_tanh Tanh;
    rnn_relu Relu;
}

native! {
    family: PackedSequences, functions: crate::fill::Fills;

    func: _pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor),
    autogen: _pack_padded_sequence.out, composite: explicit pack;

    func: _pack_padded_sequence_backward(Tensor grad, SymInt[] input_size, Tensor batch_sizes, bool batch_first)
        -> Tensor,
    composite: implicit pack_backward;

    func: _pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value,
        int total_length) -> (Tensor, Tensor),
    composite: implicit pad;

    func: lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers,
        float dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor),
    composite: implicit lstm;

    func: gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers,
        float dropout, bool train, bool bidirectional) -> (Tensor, Tensor),
    composite: implicit gru;

    func: rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers,
        float dropout, bool train, bool bidirectional) -> (Tensor, Tensor),
    composite: implicit rnn_tanh;

    func: rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers,
        float dropout, bool train, bool bidirectional) -> (Tensor, Tensor),
    composite: implicit rnn_relu;
}
