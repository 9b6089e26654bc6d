//! Steps of recurrent cells behind their products, against loops in float64, over dtypes × layouts, and against the
//! operators that they are made of, bit for bit; layers of them; what they refuse.

use monomorph::prelude::*;
use monomorph::{AnyTensor, Cpu, DType, ErrorKind, IValue, Meta, Scalar, Tensor, call, ops};
use monomorph_testsuite::layout::{Layout, Random, plain, tensor, values};

const LSTM: &str = "_thnn_fused_lstm_cell";
const GRU: &str = "_thnn_fused_gru_cell";

fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2e-3,
        DType::BF16 => 2e-2,
        DType::F32 => 2e-6,
        _ => 1e-13,
    }
}

fn numbers(t: &Tensor<Cpu>) -> Vec<f64> {
    values(t).into_iter().map(Scalar::to_f64).collect()
}

fn called(name: &str, mut stack: Vec<IValue>) -> Vec<Tensor<Cpu>> {
    call(name, &mut stack).unwrap_or_else(|e| panic!("{name}: {e}"));
    stack.iter().map(|v| v.as_tensor().unwrap().downcast_ref::<Cpu>().unwrap().clone()).collect()
}

fn boxed(t: &Tensor<Cpu>) -> IValue {
    t.clone().into_any().into()
}

fn list(tensors: &[&Tensor<Cpu>]) -> IValue {
    IValue::Tensors(tensors.iter().map(|t| (*t).clone().into_any()).collect())
}

fn close(what: &str, got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        assert!((got - want).abs() <= tolerance * (1.0 + want.abs()), "{what}: element {i} is {got}, should be {want}");
    }
}

/// Equal in every bit: neither the sign of zero nor a last place differs.
fn same(what: &str, got: &Tensor<Cpu>, want: &Tensor<Cpu>) {
    let bits = |t: &Tensor<Cpu>| numbers(t).into_iter().map(f64::to_bits).collect::<Vec<_>>();
    assert_eq!((got.dtype(), got.sizes(), bits(got)), (want.dtype(), want.sizes(), bits(want)), "{what}");
}

fn random(layout: Layout, dtype: DType, sizes: &[i64], random: &mut Random) -> Tensor<Cpu> {
    if sizes.contains(&0) {
        return Tensor::zeros_contiguous(dtype, sizes).unwrap();
    }
    tensor(layout.geometry(dtype, sizes), &plain(dtype, sizes.iter().product::<i64>() as usize, random))
}

/// What a step is given: gates of the input and of the hidden state, the state, and perhaps biases.
struct Given {
    tensors: Vec<Tensor<Cpu>>,
}

impl Given {
    fn new(layout: Layout, dtype: DType, [batch, size, gates]: [i64; 3], biases: bool, seed: &mut Random) -> Given {
        let matrices = [gates * size, gates * size, size];
        let mut tensors: Vec<_> = matrices.iter().map(|&n| random(layout, dtype, &[batch, n], seed)).collect();
        if biases {
            let vector = if layout == Layout::Expanded { Layout::Contiguous } else { layout };
            tensors.extend((0..2).map(|_| random(vector, dtype, &[gates * size], seed)));
        }
        Given { tensors }
    }

    fn arguments(&self) -> Vec<IValue> {
        let absent = std::iter::repeat(IValue::None);
        self.tensors.iter().map(boxed).chain(absent).take(5).collect()
    }

    /// The sums of gates as PyTorch makes them, the part of the hidden state apart, and the state: in float64.
    fn numbers(&self) -> [Vec<f64>; 3] {
        let [x, h, state] = [0, 1, 2].map(|i| numbers(&self.tensors[i]));
        let bias = |i: usize, k: usize| self.tensors.get(i).map_or(0.0, |t| numbers(t)[k % t.numel()]);
        let with = |x: Vec<f64>, i: usize| x.iter().enumerate().map(|(k, x)| x + bias(i, k)).collect();
        [with(x, 3), with(h, 4), state]
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Hidden state, state of the cell, workspace.
fn naive_lstm(given: &Given, n: usize) -> [Vec<f64>; 3] {
    let [x, h, state] = given.numbers();
    let gates: Vec<f64> = x.iter().zip(&h).map(|(x, h)| x + h).collect();
    let mut results = [const { Vec::new() }; 3];
    for (gates, state) in gates.chunks(4 * n).zip(state.chunks(n)) {
        let active = gates.iter().enumerate().map(|(i, &x)| if i / n == 2 { x.tanh() } else { sigmoid(x) });
        let active: Vec<f64> = active.collect();
        let cell: Vec<f64> = (0..n).map(|i| active[n + i] * state[i] + active[i] * active[2 * n + i]).collect();
        results[0].extend((0..n).map(|i| active[3 * n + i] * cell[i].tanh()));
        results[1].extend(cell);
        results[2].extend(active);
    }
    results
}

/// Hidden state and workspace.
fn naive_gru(given: &Given, n: usize) -> [Vec<f64>; 2] {
    let [x, h, state] = given.numbers();
    let mut results = [const { Vec::new() }; 2];
    for ((x, h), state) in x.chunks(3 * n).zip(h.chunks(3 * n)).zip(state.chunks(n)) {
        let both: Vec<f64> = (0..2 * n).map(|i| sigmoid(x[i] + h[i])).collect();
        let new: Vec<f64> = (0..n).map(|i| (x[2 * n + i] + both[i] * h[2 * n + i]).tanh()).collect();
        results[0].extend((0..n).map(|i| (state[i] - new[i]) * both[n + i] + new[i]));
        [&both[..], &new, state, &h[2 * n..]].iter().for_each(|part| results[1].extend_from_slice(part));
    }
    results
}

#[test]
fn a_step_of_every_dtype_and_layout() {
    let mut seed = Random::new(11);
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for layout in Layout::ALL {
            for (batch, size, biases) in [(1, 1, false), (3, 5, true), (2, 40, true), (1, 67, false), (70, 33, true)] {
                let what = format!("{dtype} {layout:?} {batch} {size} {biases}");
                let n = size as usize;
                let given = Given::new(layout, dtype, [batch, size, 4], biases, &mut seed);
                let results = called(LSTM, given.arguments());
                for (got, want) in results.iter().zip(naive_lstm(&given, n)) {
                    close(&what, &numbers(got), &want, 4.0 * tolerance(dtype));
                    assert!(got.is_contiguous() && got.dtype() == dtype, "{what}");
                }
                assert_eq!(results.len(), 3);
                let given = Given::new(layout, dtype, [batch, size, 3], biases, &mut seed);
                let results = called(GRU, given.arguments());
                for (got, want) in results.iter().zip(naive_gru(&given, n)) {
                    close(&what, &numbers(got), &want, 4.0 * tolerance(dtype));
                    assert!(got.is_contiguous() && got.dtype() == dtype, "{what}");
                }
                assert_eq!(results.len(), 2);
            }
        }
    }
}

fn columns(t: &Tensor<Cpu>, n: i64) -> Vec<Tensor<Cpu>> {
    (0..t.sizes()[1] / n).map(|i| t.narrow(1, i * n, n).unwrap()).collect()
}

/// The step as operators on elements.
fn composed_lstm(x: &Tensor<Cpu>, h: &Tensor<Cpu>, cell: &Tensor<Cpu>) -> [Tensor<Cpu>; 2] {
    let gates = columns(&h.add(x).unwrap(), cell.sizes()[1]);
    let [enter, forget, leave] = [0, 1, 3].map(|i: usize| gates[i].sigmoid().unwrap());
    let entered = enter.mul(&gates[2].tanh().unwrap()).unwrap();
    let cell = forget.mul(cell).unwrap().add(&entered).unwrap();
    [leave.mul(&cell.tanh().unwrap()).unwrap(), cell]
}

fn composed_gru(x: &Tensor<Cpu>, h: &Tensor<Cpu>, state: &Tensor<Cpu>) -> Tensor<Cpu> {
    let n = state.sizes()[1];
    let (x, h) = (columns(x, n), columns(h, n));
    let [reset, update] = [0, 1].map(|i: usize| h[i].add(&x[i]).unwrap().sigmoid().unwrap());
    let new = x[2].add(&h[2].mul(&reset).unwrap()).unwrap().tanh().unwrap();
    state.sub(&new).unwrap().mul(&update).unwrap().add(&new).unwrap()
}

#[test]
fn a_step_is_its_composition_bit_for_bit() {
    let mut seed = Random::new(12);
    for dtype in [DType::F32, DType::F64] {
        for (batch, size) in [(1, 1), (3, 5), (2, 40), (1, 128), (5, 71), (64, 129)] {
            let what = format!("{dtype} {batch} {size}");
            let given = Given::new(Layout::Contiguous, dtype, [batch, size, 4], false, &mut seed);
            let [x, h, state] = [0, 1, 2].map(|i: usize| &given.tensors[i]);
            let results = called(LSTM, given.arguments());
            let [hidden, cell] = composed_lstm(x, h, state);
            same(&what, &results[0], &hidden);
            same(&what, &results[1], &cell);
            let given = Given::new(Layout::Contiguous, dtype, [batch, size, 3], false, &mut seed);
            let [x, h, state] = [0, 1, 2].map(|i: usize| &given.tensors[i]);
            same(&what, &called(GRU, given.arguments())[0], &composed_gru(x, h, state));
        }
    }
}

/// A layer in one direction, step by step: outputs in their order, and the states behind the last step.
fn composed_layer(
    x: &Tensor<Cpu>,
    [hidden, cell]: [Tensor<Cpu>; 2],
    weights: &[Tensor<Cpu>],
    is_lstm: bool,
    reversed: bool,
) -> (Vec<Tensor<Cpu>>, [Tensor<Cpu>; 2]) {
    let [w_ih, w_hh, b_ih, b_hh] = weights else { panic!("four weights") };
    let inputs = ops::linear(x, w_ih, Some(b_ih)).unwrap();
    let steps = x.sizes()[0];
    let (mut hidden, mut cell, mut outputs) = (hidden, cell, Vec::new());
    for t in 0..steps {
        let input = inputs.select(0, if reversed { steps - 1 - t } else { t }).unwrap();
        let gates = ops::linear(&hidden, w_hh, Some(b_hh)).unwrap();
        match is_lstm {
            true => [hidden, cell] = composed_lstm(&input, &gates, &cell),
            false => hidden = composed_gru(&input, &gates, &hidden),
        }
        outputs.push(hidden.clone());
    }
    if reversed {
        outputs.reverse();
    }
    (outputs, [hidden, cell])
}

#[test]
fn layers_are_their_steps_bit_for_bit() {
    let mut seed = Random::new(13);
    for (dtype, is_lstm) in [(DType::F32, true), (DType::F64, true), (DType::F32, false), (DType::F64, false)] {
        for [steps, batch, inputs, size] in [[7, 3, 6, 10], [4, 1, 3, 40], [1, 2, 1, 1]] {
            let gates = if is_lstm { 4 } else { 3 };
            let of = |sizes: &[i64], seed: &mut Random| random(Layout::Contiguous, dtype, sizes, seed);
            let x = of(&[steps, batch, inputs], &mut seed);
            let [h0, c0] = [0, 1].map(|_| of(&[2, batch, size], &mut seed));
            let sizes = [vec![gates * size, inputs], vec![gates * size, size], vec![gates * size], vec![gates * size]];
            let params: Vec<_> = (0..2).flat_map(|_| sizes.clone()).map(|sizes| of(&sizes, &mut seed)).collect();
            let refs: Vec<_> = params.iter().collect();
            let hx = if is_lstm { list(&[&h0, &c0]) } else { boxed(&h0) };
            let flags = [true.into(), 1i64.into(), 0.0.into(), false.into(), true.into(), false.into()];
            let arguments = [boxed(&x), hx, list(&refs)].into_iter().chain(flags).collect();
            let results = called(if is_lstm { "lstm.input" } else { "gru.input" }, arguments);
            let mut halves = Vec::new();
            for direction in 0..2 {
                let state = [&h0, &c0].map(|t| t.select(0, direction as i64).unwrap());
                let weights = &params[4 * direction..][..4];
                let (outputs, end) = composed_layer(&x, state, weights, is_lstm, direction == 1);
                for (result, end) in results[1..].iter().zip(&end) {
                    same("a last state", &result.select(0, direction as i64).unwrap(), end);
                }
                halves.push(ops::stack(&outputs).unwrap());
            }
            let halves: Vec<_> = halves.iter().collect();
            let joined = ops::cat_with(&halves, ops::options::Cat { dim: 2, ..Default::default() }).unwrap();
            same("outputs", &results[0], &joined);
        }
    }
}

#[test]
fn a_cell_is_a_layer_of_one_step() {
    let mut seed = Random::new(14);
    let of = |sizes: &[i64], seed: &mut Random| random(Layout::Contiguous, DType::F32, sizes, seed);
    let [x, h, c] = [[3, 6], [3, 9], [3, 9]].map(|sizes| of(&sizes, &mut seed));
    for (gates, is_lstm) in [(4, true), (3, false)] {
        let sizes = [vec![gates * 9, 6], vec![gates * 9, 9], vec![gates * 9], vec![gates * 9]];
        let weights = sizes.map(|sizes| of(&sizes, &mut seed));
        let hx = if is_lstm { list(&[&h, &c]) } else { boxed(&h) };
        let arguments = [boxed(&x), hx].into_iter().chain(weights.iter().map(boxed)).collect();
        let results = called(if is_lstm { "lstm_cell" } else { "gru_cell" }, arguments);
        let first = x.unsqueeze(0).unwrap();
        let (_, end) = composed_layer(&first, [h.clone(), c.clone()], &weights, is_lstm, false);
        results.iter().zip(&end).for_each(|(got, want)| same("a cell", got, want));
    }
}

#[test]
fn every_form_of_a_step_is_the_same() {
    let mut seed = Random::new(15);
    for (name, gates, count) in [(LSTM, 4, 3), (GRU, 3, 2)] {
        let given = Given::new(Layout::Contiguous, DType::F32, [3, 5, gates], true, &mut seed);
        let want = called(name, given.arguments());
        let empty = || boxed(&Tensor::<Cpu>::zeros_contiguous(DType::F32, &[0]).unwrap());
        let mut stack = given.arguments();
        stack.extend((0..count).map(|_| empty()));
        let got = called(&format!("{name}.out"), stack);
        assert_eq!(got.len(), count);
        got.iter().zip(&want).for_each(|(got, want)| same(name, got, want));
        let mut stack: Vec<IValue> = given.tensors.iter().map(|t| IValue::from(on_meta(t))).collect();
        call(name, &mut stack).unwrap();
        for (got, want) in stack.iter().zip(&want) {
            let got = got.as_tensor().unwrap();
            assert!(got.device().is_meta());
            assert_eq!((got.dtype(), got.sizes(), got.strides()), (want.dtype(), want.sizes(), want.strides()));
        }
        // No rows, and rows of no element.
        for (batch, size) in [(0, 5), (3, 0)] {
            let given = Given::new(Layout::Contiguous, DType::F32, [batch, size, gates], true, &mut seed);
            assert!(called(name, given.arguments()).iter().all(|t| t.numel() == 0));
        }
    }
}

fn on_meta(t: &Tensor<Cpu>) -> AnyTensor {
    Tensor::<Meta>::zeros_contiguous(t.dtype(), t.sizes()).unwrap().into_any()
}

/// Gates, state and biases of other sizes or dtypes, one bias, integers: nothing is computed.
#[test]
fn a_step_refuses_what_does_not_fit() {
    let of = |dtype: DType, sizes: &[i64]| boxed(&Tensor::<Cpu>::zeros_contiguous(dtype, sizes).unwrap());
    let f32 = |sizes: &[i64]| of(DType::F32, sizes);
    for (name, gates, state) in [(LSTM, 4, "cx"), (GRU, 3, "hx")] {
        let n = gates * 5;
        let fits = || vec![f32(&[2, n]), f32(&[2, n]), f32(&[2, 5]), f32(&[n]), f32(&[n])];
        let error = |i: usize, other: IValue| {
            let mut stack = fits();
            stack[i] = other;
            call(name, &mut stack).unwrap_err()
        };
        called(name, fits());
        let sizes = [
            (1, "hidden_gates", f32(&[2, n + 1])),
            (1, "hidden_gates", f32(&[1, n])),
            (2, state, f32(&[2, 4])),
            (2, state, f32(&[5, 2])),
            (3, "input_bias", f32(&[n - 1])),
            (4, "hidden_bias", f32(&[1, n])),
        ];
        for (i, want, other) in sizes {
            let error = error(i, other);
            assert!(matches!(error.kind(), ErrorKind::UnequalSizes { arg, .. } if *arg == want), "{error}");
        }
        let ndim = error(0, f32(&[n]));
        assert!(matches!(ndim.kind(), ErrorKind::DimCount { arg: "input_gates", got: 1, .. }), "{ndim}");
        for (i, other) in [(0, f32(&[2, n + 1])), (3, IValue::None), (4, IValue::None)] {
            let error = error(i, other);
            assert!(matches!(error.kind(), ErrorKind::ArgumentRule { .. }), "{error}");
        }
        for (i, sizes) in [(1, &[2, n][..]), (2, &[2, 5]), (3, &[n]), (4, &[n])] {
            let error = error(i, of(DType::F64, sizes));
            assert!(matches!(error.kind(), ErrorKind::DTypeMismatch { .. }), "{error}");
        }
        let integers = error(0, of(DType::I32, &[2, n]));
        assert!(matches!(integers.kind(), ErrorKind::DTypeNotSupported { .. }), "{integers}");
    }
}
