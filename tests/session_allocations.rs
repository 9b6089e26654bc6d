//! How often runs of a session allocate: those of sizes that ran before never, if they are given the outputs of the run
//! before; the outputs alone otherwise.

mod counting;

use counting::allocations;
use monomorph::kernels::AllKernels;
use monomorph::prelude::*;
use monomorph::program::{Program, Value};
use monomorph::{Result, ops};

fn numbers(sizes: &[i64]) -> Tensor<Cpu> {
    let number = |i: i64| ((i * 37) % 53) as f32 / 32.0 - 0.8;
    Tensor::from_vec((0..sizes.iter().product()).map(number).collect(), sizes).expect("a tensor")
}

/// Convolutions of all sorts, a norm, a product, copies that are cast or reversed, and state.
fn model<D: AllKernels>(x: &Tensor<D>, weights: &[Tensor<D>], state: &mut Tensor<D>) -> Result<[Tensor<D>; 2]> {
    let [wide, point, depthwise, linear] = weights else { unreachable!("four weights") };
    let padding = || Conv2d { padding: &[1, 1], ..Default::default() };
    let y = ops::conv2d_with(x, wide, padding())?.relu()?;
    let y = ops::conv2d(&y, point)?.flip([2, 3])?;
    let y = ops::conv2d_with(&y, depthwise, Conv2d { groups: 8, ..padding() })?;
    let y = ops::layer_norm(&y.flatten()?.view((8, 64))?, 64)?;
    let y = ops::linear(&y, linear, None)?.to(F64)?.tanh()?.to(F32)?;
    state.add_(&y)?;
    Ok([y.softmax(-1)?, state.mul(2)?])
}

#[test]
fn later_runs_allocate_nothing() {
    let weights = [&[8, 4, 3, 3][..], &[8, 8, 1, 1], &[8, 1, 3, 3], &[10, 64]].map(numbers);
    let state = ops::zeros((8, 10), F32).expect("a tensor");
    let program = Program::trace(|t| {
        let x = t.input("x", (1, 4, 8, 8), F32)?;
        let mut shapes = Vec::new();
        for (i, weight) in weights.iter().enumerate() {
            shapes.push(t.parameter(&format!("w{i}"), weight)?);
        }
        model(&x, &shapes, &mut t.buffer("state", &state)?)
    });
    let program = program.expect("a program");
    let mut session = program.session().expect("a session");
    let inputs: [Value; 1] = [numbers(&[1, 4, 8, 8]).into()];
    let (mut outputs, mut own) = (Vec::new(), state.deep_clone().expect("a copy"));
    for run in 0..6 {
        let (count, done) = allocations(|| session.run_into(&inputs, &mut outputs));
        done.expect("a run");
        let x = inputs[0].as_tensor().and_then(|x| x.downcast_ref::<Cpu>()).expect("a tensor");
        let want = model(x, &weights, &mut own).expect("results");
        for (output, want) in outputs.iter().zip(&want) {
            let output = output.as_tensor().expect("a tensor");
            assert_eq!(output.to_vec::<f32>(), want.to_vec::<f32>(), "run {run}");
        }
        assert!(run < 3 || count == 0, "run {run}: {count} allocations");
    }
    // What the caller still has is not written again.
    let kept: Vec<Value> = outputs.clone();
    let before = kept[1].as_tensor().expect("a tensor").to_vec::<f32>().expect("its elements");
    session.run_into(&inputs, &mut outputs).expect("a run");
    assert_eq!(kept[1].as_tensor().expect("a tensor").to_vec::<f32>().expect("its elements"), before);
    assert_ne!(outputs[1].as_tensor().expect("a tensor").to_vec::<f32>().expect("its elements"), before);
    // The list, and a header, a block and a boxed value for each output.
    let (count, outputs) = allocations(|| session.run(&inputs));
    assert!(outputs.expect("a run").len() == 2 && count <= 1 + 2 * 4, "{count}");
}
