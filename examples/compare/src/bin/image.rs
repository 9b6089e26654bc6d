//! A frame of 1920 x 1080: from bytes, channel last, to float32, channel first; each channel less its mean over its
//! standard deviation; the middle of it; what is below 0 at three tenths; back to bytes.
#![allow(clippy::reversed_empty_ranges, reason = "negative ends count from the end")]

use candle_core::{DType as CandleType, Device::Cpu as CANDLE_CPU, Tensor as Candle};
use compare::{Contender, Outcome, compare, uniform};
use monomorph::{Cpu, Result, Tensor, prelude::*};
use ndarray::{Array3, Axis, s};
use std::convert::Infallible;

const HEIGHT: usize = 1080;
const WIDTH: usize = 1920;
const EDGE: usize = 28;

fn with_monomorph(image: &Tensor<Cpu>) -> Result<Tensor<Cpu>> {
    let image = image.permute([2, 0, 1])?.contiguous()?.to(F32)?;
    let centred = (&image - image.mean((1, 2))?.i((.., None, None))?)?;
    let deviation = centred.square()?.mean((1, 2))?.sqrt()?;
    let crop = (centred.i((.., 28..-28, 28..-28))? / deviation.i((.., None, None))?)?;
    let soft = crop.relu()?.lerp(&crop, 0.3)?;
    (soft * 64.0)?.add_(64.0)?.round_()?.clamp_(0, 255)?.to(U8)
}

fn with_candle(image: &Candle) -> candle_core::Result<Candle> {
    let image = image.permute((2, 0, 1))?.to_dtype(CandleType::F32)?;
    let centred = image.broadcast_sub(&image.mean_keepdim((1, 2))?)?;
    let deviation = centred.sqr()?.mean_keepdim((1, 2))?.sqrt()?;
    let crop = centred.narrow(1, EDGE, HEIGHT - 2 * EDGE)?.narrow(2, EDGE, WIDTH - 2 * EDGE)?;
    let crop = crop.broadcast_div(&deviation)?;
    let soft = ((crop.relu()? * 0.7)? + (crop * 0.3)?)?;
    ((soft * 64.0)? + 64.0)?.round()?.clamp(0f32, 255f32)?.to_dtype(CandleType::U8)
}

fn with_ndarray(image: &Array3<u8>) -> Array3<u8> {
    let image = image.view().permuted_axes([2, 0, 1]).as_standard_layout().mapv(f32::from);
    let crop = s![.., EDGE..HEIGHT - EDGE, EDGE..WIDTH - EDGE];
    let mut out = image.slice(crop).to_owned();
    for (channel, mut out) in image.axis_iter(Axis(0)).zip(out.axis_iter_mut(Axis(0))) {
        let (mean, deviation) = (channel.sum() / channel.len() as f32, channel.std(0.0));
        out.mapv_inplace(|x| (x - mean) / deviation);
    }
    out.mapv(|x| ((0.7 * x.max(0.0) + 0.3 * x) * 64.0 + 64.0).round().clamp(0.0, 255.0) as u8)
}

fn main() -> Outcome {
    let mut next = uniform(11);
    let bytes: Vec<u8> = (0..HEIGHT * WIDTH * 3).map(|i| ((i % 200) as f32 + 56.0 * next()) as u8).collect();
    let ours = Tensor::from_slice(&bytes, (HEIGHT, WIDTH, 3))?;
    let candle = Candle::from_slice(&bytes, (HEIGHT, WIDTH, 3), &CANDLE_CPU)?;
    let array = Array3::from_shape_vec((HEIGHT, WIDTH, 3), bytes)?;
    let contenders = vec![
        Contender::new("monomorph", "with_monomorph", || with_monomorph(&ours), |t| t.to(F32)?.to_vec::<f32>()),
        Contender::new(
            "candle",
            "with_candle",
            || with_candle(&candle),
            |t| t.to_dtype(CandleType::F32)?.flatten_all()?.to_vec1(),
        ),
        Contender::new(
            "ndarray",
            "with_ndarray",
            || Ok::<_, Infallible>(with_ndarray(&array)),
            |a| Ok::<_, Infallible>(a.iter().map(|&x| f32::from(x)).collect::<Vec<f32>>()),
        ),
    ];
    // A number that lies between two bytes may be rounded either way.
    compare("image, 1080 x 1920 x 3 bytes", include_str!("image.rs"), 1.0, contenders)
}
