//! k-means by broadcasting: 100,000 points of 16 numbers, 16 centres, 5 rounds. The first 16 points are the first
//! centres.

use candle_core::{DType::F32 as CANDLE_F32, Device::Cpu as CANDLE_CPU, Tensor as Candle};
use compare::{Contender, Outcome, compare, uniform};
use monomorph::{Cpu, Result, Tensor, ops, prelude::*};
use ndarray::{Array1, Array2, Axis, Zip, s};
use std::convert::Infallible;

const POINTS: usize = 100_000;
const DIMS: usize = 16;
const K: usize = 16;
const ROUNDS: usize = 5;

fn with_monomorph(points: &Tensor<Cpu>) -> Result<Tensor<Cpu>> {
    let points = points.t()?.contiguous()?;
    let mut centres = points.i((.., ..K))?;
    for _ in 0..ROUNDS {
        let distance = (points.unsqueeze(1)? - centres.unsqueeze(2)?)?.square_()?.sum(0)?;
        let nearest = distance.neg()?.argmax(0)?;
        let own = nearest.eq(&ops::arange(K as i64)?.unsqueeze(1)?)?;
        centres = ((points.unsqueeze(1)? * &own)?.sum(2)? / own.sum(1)?)?;
    }
    centres.t()
}

fn with_candle(points: &Candle) -> candle_core::Result<Candle> {
    let ones = Candle::ones(POINTS, CANDLE_F32, &CANDLE_CPU)?;
    let mut centres = points.narrow(0, 0, K)?;
    for _ in 0..ROUNDS {
        let distance = points.unsqueeze(1)?.broadcast_sub(&centres.unsqueeze(0)?)?.sqr()?.sum(2)?;
        let nearest = distance.argmin(1)?;
        let sums = centres.zeros_like()?.index_add(&nearest, points, 0)?;
        let counts = Candle::zeros(K, CANDLE_F32, &CANDLE_CPU)?.index_add(&nearest, &ones, 0)?;
        centres = sums.broadcast_div(&counts.unsqueeze(1)?)?;
    }
    Ok(centres)
}

fn with_ndarray(points: &Array2<f32>) -> Array2<f32> {
    let mut centres = points.slice(s![..K, ..]).to_owned();
    for _ in 0..ROUNDS {
        let distance = (&points.view().insert_axis(Axis(1)) - &centres).mapv_into(|x| x * x).sum_axis(Axis(2));
        let (mut sums, mut counts) = (Array2::<f32>::zeros((K, DIMS)), Array1::<f32>::zeros(K));
        Zip::from(points.rows()).and(distance.rows()).for_each(|point, distance| {
            let nearest = (0..K).min_by(|&a, &b| distance[a].total_cmp(&distance[b])).unwrap_or(0);
            sums.row_mut(nearest).scaled_add(1.0, &point);
            counts[nearest] += 1.0;
        });
        centres = sums / counts.insert_axis(Axis(1));
    }
    centres
}

fn main() -> Outcome {
    let mut next = uniform(7);
    let numbers: Vec<f32> = (0..POINTS * DIMS).map(|_| next()).collect();
    let ours = Tensor::from_slice(&numbers, (POINTS, DIMS))?;
    let candle = Candle::from_slice(&numbers, (POINTS, DIMS), &CANDLE_CPU)?;
    let array = Array2::from_shape_vec((POINTS, DIMS), numbers)?;
    let contenders = vec![
        Contender::new("monomorph", "with_monomorph", || with_monomorph(&ours), |t| t.to_vec::<f32>()),
        Contender::new("candle", "with_candle", || with_candle(&candle), |t: Candle| t.flatten_all()?.to_vec1()),
        Contender::new(
            "ndarray",
            "with_ndarray",
            || Ok::<_, Infallible>(with_ndarray(&array)),
            |a| Ok::<_, Infallible>(a.into_raw_vec_and_offset().0),
        ),
    ];
    compare("k-means, 100,000 x 16 points, 16 centres, 5 rounds", include_str!("kmeans.rs"), 2e-3, contenders)
}
