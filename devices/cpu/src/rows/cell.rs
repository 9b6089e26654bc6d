//! One step of recurrent cells: gates are added up, activated and put to the workspace; the state follows from them
//! while they are in the first-level cache.

use super::frame::{Real, Work, enter};
use super::output::{Output, each_row};
use crate::isa::{Isa, Level};

/// What an element of gates costs beside one that is only copied: a sum and a function.
const COST: usize = 8;

/// The gates of input and hidden state, the state, and the biases of both, which are empty where there are none.
#[derive(Clone, Copy)]
struct Inputs<'a, T> {
    input: &'a [T],
    hidden: &'a [T],
    state: &'a [T],
    biases: [&'a [T]; 2],
}

impl<'a, T: Real> Inputs<'a, T> {
    /// Those of some rows, of so many gates and elements of the state.
    fn rows(self, rows: std::ops::Range<usize>, gates: usize, state: usize) -> Inputs<'a, T> {
        let of = |x: &'a [T], n: usize| &x[rows.start * n..rows.end * n];
        let (input, hidden, state) = (of(self.input, gates), of(self.hidden, gates), of(self.state, state));
        Inputs { input, hidden, state, ..self }
    }

    /// A range of gates in a row of `width`: the parts of the input and of the hidden state, each with its bias.
    #[inline(always)]
    fn each(
        &self,
        row: usize,
        width: usize,
        gates: std::ops::Range<usize>,
        to: &mut [T],
        f: impl Fn(usize, T, T) -> T,
    ) {
        let of = |x: &'a [T]| &x[row * width..][gates.clone()];
        let elements = to.iter_mut().zip(of(self.input)).zip(of(self.hidden)).enumerate();
        let [input_bias, hidden_bias] = self.biases;
        if input_bias.is_empty() {
            return elements.for_each(|(i, ((to, &x), &h))| *to = f(i, x, h));
        }
        let biases = input_bias[gates.clone()].iter().zip(&hidden_bias[gates.clone()]);
        elements.zip(biases).for_each(|((i, ((to, &x), &h)), (&b, &c))| *to = f(i, x + b, h + c));
    }
}

pub(super) fn lstm<T: Real>(
    level: Level,
    [rows, n]: [usize; 2],
    [input, hidden, state, input_bias, hidden_bias]: [&[T]; 5],
    [to, cell, gates]: [&mut Output; 3],
) {
    let inputs = Inputs { input, hidden, state, biases: [input_bias, hidden_bias] };
    let outputs = [(to.parts(), n), (cell.parts(), n), (gates.parts(), 4 * n)];
    each_row(rows, 4 * n * COST, outputs, |rows, [to, cell, gates]| {
        enter(level, LstmStep { inputs: inputs.rows(rows, 4 * n, n), n, to, cell, gates });
    });
}

struct LstmStep<'a, T> {
    inputs: Inputs<'a, T>,
    n: usize,
    to: &'a mut [T],
    cell: &'a mut [T],
    gates: &'a mut [T],
}

impl<T: Real> Work for LstmStep<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let LstmStep { inputs, n, to, cell, gates } = self;
        let outputs = to.chunks_exact_mut(n).zip(cell.chunks_exact_mut(n)).zip(gates.chunks_exact_mut(4 * n));
        for (row, ((to, cell), gates)) in outputs.enumerate() {
            let (both, rest) = gates.split_at_mut(2 * n);
            let (new, leave) = rest.split_at_mut(n);
            inputs.each(row, 4 * n, 0..2 * n, both, |_, x, h| (h + x).sigmoid_at::<I>());
            inputs.each(row, 4 * n, 2 * n..3 * n, new, |_, x, h| (h + x).tanh_at::<I>());
            inputs.each(row, 4 * n, 3 * n..4 * n, leave, |_, x, h| (h + x).sigmoid_at::<I>());
            let (enter, forget) = both.split_at(n);
            let before = &inputs.state[row * n..][..n];
            let parts = forget.iter().zip(before).zip(enter).zip(&*new).zip(&*leave);
            for ((to, cell), ((((&forget, &before), &enter), &new), &leave)) in to.iter_mut().zip(cell).zip(parts) {
                let state = forget * before + enter * new;
                *cell = state;
                *to = leave * state.tanh_at::<I>();
            }
        }
    }
}

pub(super) fn gru<T: Real>(
    level: Level,
    [rows, n]: [usize; 2],
    [input, hidden, state, input_bias, hidden_bias]: [&[T]; 5],
    [to, gates]: [&mut Output; 2],
) {
    let inputs = Inputs { input, hidden, state, biases: [input_bias, hidden_bias] };
    each_row(rows, 3 * n * COST, [(to.parts(), n), (gates.parts(), 5 * n)], |rows, [to, gates]| {
        enter(level, GruStep { inputs: inputs.rows(rows, 3 * n, n), n, to, gates });
    });
}

struct GruStep<'a, T> {
    inputs: Inputs<'a, T>,
    n: usize,
    to: &'a mut [T],
    gates: &'a mut [T],
}

impl<T: Real> Work for GruStep<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let GruStep { inputs, n, to, gates } = self;
        for (row, (to, gates)) in to.chunks_exact_mut(n).zip(gates.chunks_exact_mut(5 * n)).enumerate() {
            let (both, rest) = gates.split_at_mut(2 * n);
            let (new, rest) = rest.split_at_mut(n);
            let (state, of_hidden) = rest.split_at_mut(n);
            inputs.each(row, 3 * n, 0..2 * n, both, |_, x, h| (h + x).sigmoid_at::<I>());
            let (reset, update) = both.split_at(n);
            inputs.each(row, 3 * n, 2 * n..3 * n, of_hidden, |_, _, h| h);
            inputs.each(row, 3 * n, 2 * n..3 * n, new, |i, x, h| (x + h * reset[i]).tanh_at::<I>());
            state.copy_from_slice(&inputs.state[row * n..][..n]);
            for (((to, &state), &new), &update) in to.iter_mut().zip(&*state).zip(&*new).zip(update) {
                *to = (state - new) * update + new;
            }
        }
    }
}
