//! A moving mean and a moving range, largest less smallest, over windows of 64 of 2²⁰ samples. A window of 64 is made
//! of smaller ones: where a library has views of windows, of eight by eight; where it has none, of two by two, six
//! times.

use candle_core::{Device::Cpu as CANDLE_CPU, Tensor as Candle};
use compare::{Contender, Failure, Outcome, compare, uniform};
use monomorph::{Cpu, Result, Tensor, prelude::*};
use ndarray::{Array1, Zip, s};
use std::convert::Infallible;

const SAMPLES: usize = 1 << 20;

fn with_monomorph(x: &Tensor<Cpu>) -> Result<(Tensor<Cpu>, Tensor<Cpu>)> {
    let (mut sum, mut low, mut high) = (x.clone(), x.clone(), x.clone());
    for n in [1, 8] {
        let eight = |x: &Tensor<Cpu>| x.unfold(0, 7 * n + 1, 1)?.i((.., (..).by(n)));
        sum = eight(&sum)?.sum(1)?;
        low = eight(&low)?.amin(1)?;
        high = eight(&high)?.amax(1)?;
    }
    Ok(((sum / 64.0)?, (high - low)?))
}

fn with_candle(x: &Candle) -> candle_core::Result<(Candle, Candle)> {
    let (mut sum, mut low, mut high) = (x.clone(), x.clone(), x.clone());
    for n in [1, 2, 4, 8, 16, 32] {
        let len = sum.dim(0)? - n;
        sum = (sum.narrow(0, 0, len)? + sum.narrow(0, n, len)?)?;
        low = low.narrow(0, 0, len)?.minimum(&low.narrow(0, n, len)?)?;
        high = high.narrow(0, 0, len)?.maximum(&high.narrow(0, n, len)?)?;
    }
    Ok(((sum / 64.0)?, (high - low)?))
}

fn with_ndarray(x: &Array1<f32>) -> (Array1<f32>, Array1<f32>) {
    let (mut sum, mut low, mut high) = (x.clone(), x.clone(), x.clone());
    for n in [1, 2, 4, 8, 16, 32] {
        sum = &sum.slice(s![..-n]) + &sum.slice(s![n..]);
        low = Zip::from(low.slice(s![..-n])).and(low.slice(s![n..])).map_collect(|&a, &b| a.min(b));
        high = Zip::from(high.slice(s![..-n])).and(high.slice(s![n..])).map_collect(|&a, &b| a.max(b));
    }
    (sum / 64.0, high - low)
}

fn main() -> Outcome {
    let mut next = uniform(13);
    let numbers: Vec<f32> = (0..SAMPLES).map(|i| (i as f32 * 1e-3).sin() + next()).collect();
    let ours = Tensor::from_slice(&numbers, SAMPLES)?;
    let candle = Candle::from_slice(&numbers, SAMPLES, &CANDLE_CPU)?;
    let array = Array1::from_vec(numbers);
    let contenders = vec![
        Contender::new(
            "monomorph",
            "with_monomorph",
            || with_monomorph(&ours),
            |(mean, range)| Ok::<_, Failure>([mean.to_vec::<f32>()?, range.to_vec::<f32>()?].concat()),
        ),
        Contender::new(
            "candle",
            "with_candle",
            || with_candle(&candle),
            |(mean, range)| Ok::<_, Failure>([mean.to_vec1::<f32>()?, range.to_vec1::<f32>()?].concat()),
        ),
        Contender::new(
            "ndarray",
            "with_ndarray",
            || Ok::<_, Infallible>(with_ndarray(&array)),
            |(mean, range)| Ok::<_, Infallible>([mean.to_vec(), range.to_vec()].concat()),
        ),
    ];
    compare("rolling mean and range, windows of 64, 1,048,576 samples", include_str!("rolling.rs"), 1e-4, contenders)
}
