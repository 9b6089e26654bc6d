//! A program from a function: six layers of a transformer, written once over any device, traced on shapes and run by a
//! plan. Prints how long tracing takes, and a run of the function and of the program.
//!
//! `cargo run --release --features program --example traced`

use monomorph::kernels::AllKernels;
use monomorph::prelude::*;
use monomorph::program::{Program, Tracer};
use monomorph::{Result, ops};
use std::time::{Duration, Instant};

const LAYERS: usize = 6;
const WIDTH: i64 = 384;
const HEADS: i64 = 12;
const WORDS: i64 = 32;

/// The weights of a layer: names and sizes.
const WEIGHTS: [(&str, &[i64]); 12] = [
    ("norm1.weight", &[WIDTH]),
    ("norm1.bias", &[WIDTH]),
    ("qkv.weight", &[3 * WIDTH, WIDTH]),
    ("qkv.bias", &[3 * WIDTH]),
    ("proj.weight", &[WIDTH, WIDTH]),
    ("proj.bias", &[WIDTH]),
    ("norm2.weight", &[WIDTH]),
    ("norm2.bias", &[WIDTH]),
    ("up.weight", &[4 * WIDTH, WIDTH]),
    ("up.bias", &[4 * WIDTH]),
    ("down.weight", &[WIDTH, 4 * WIDTH]),
    ("down.bias", &[WIDTH]),
];

/// One layer: attention and two products, each behind a norm and beside a residual.
fn layer<D: AllKernels>(x: &Tensor<D>, weights: &[Tensor<D>]) -> Result<Tensor<D>> {
    let norm = |x: &Tensor<D>, at: usize| {
        let (weight, bias) = (Some(&weights[at]), Some(&weights[at + 1]));
        ops::layer_norm_with(x, WIDTH, LayerNorm { weight, bias, ..Default::default() })
    };
    let linear = |x: &Tensor<D>, at: usize| ops::linear(x, &weights[at], Some(&weights[at + 1]));
    let heads = |x: &Tensor<D>| x.view((1, WORDS, HEADS, WIDTH / HEADS))?.transpose(1, 2);
    let qkv = linear(&norm(x, 0)?, 2)?.chunk_with(3, Chunk { dim: -1, ..Default::default() })?;
    let mixed = ops::scaled_dot_product_attention(&heads(&qkv[0])?, &heads(&qkv[1])?, &heads(&qkv[2])?)?;
    let x = (x + &linear(&mixed.transpose(1, 2)?.reshape((1, WORDS, WIDTH))?, 4)?)?;
    &x + &linear(&linear(&norm(&x, 6)?, 8)?.gelu()?, 10)?
}

fn encoder<D: AllKernels>(x: &Tensor<D>, weights: &[Tensor<D>]) -> Result<Tensor<D>> {
    weights.chunks(WEIGHTS.len()).try_fold(x.clone(), |x, weights| layer(&x, weights))
}

/// A tensor of numbers around 0.
fn numbers(sizes: &[i64], seed: i64) -> Result<Tensor<Cpu>> {
    let number = |i: i64| ((i * 7919 + seed * 104_729) % 1009 - 504) as f32 / 10_000.0;
    Tensor::from_vec((0..sizes.iter().product()).map(number).collect(), sizes)
}

fn trace(weights: &[Tensor<Cpu>]) -> monomorph::program::Result<Program> {
    Program::trace(|tracer: &mut Tracer| {
        let x = tracer.input("x", (1, WORDS, WIDTH), F32)?;
        let mut shapes = Vec::new();
        for (index, weight) in weights.iter().enumerate() {
            let name = format!("layer{}.{}", index / WEIGHTS.len(), WEIGHTS[index % WEIGHTS.len()].0);
            shapes.push(tracer.parameter(&name, weight)?);
        }
        encoder(&x, &shapes)
    })
}

/// The median time of 21 calls, of which the first two are not counted.
fn timed<R>(mut call: impl FnMut() -> R) -> Duration {
    let mut times: Vec<Duration> = (0..23)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(call());
            start.elapsed()
        })
        .skip(2)
        .collect();
    times.sort();
    times[times.len() / 2]
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut weights = Vec::new();
    for index in 0..LAYERS * WEIGHTS.len() {
        let weight = numbers(WEIGHTS[index % WEIGHTS.len()].1, index as i64)?;
        // What is frozen is not copied by the program.
        weight.freeze()?;
        weights.push(weight);
    }
    let program = trace(&weights)?;
    println!("{} nodes, traced in {:?}", program.graph().nodes().len(), timed(|| trace(&weights)));

    let x = numbers(&[1, WORDS, WIDTH], 99)?;
    let mut session = program.session()?;
    let mut outputs = Vec::new();
    for _ in 0..3 {
        outputs = session.run(&[x.clone().into()])?;
    }
    let want = encoder(&x, &weights)?;
    let y = outputs.remove(0).into_tensor().ok_or("the program gives a tensor")?;
    assert_eq!(y.to_vec::<f32>()?, want.to_vec::<f32>()?);
    println!(
        "the function takes {:?}, the program {:?}",
        timed(|| encoder(&x, &weights)),
        timed(|| { session.run(&[x.clone().into()]) })
    );
    Ok(())
}
