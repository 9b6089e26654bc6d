//! The programs that a newcomer writes first.
#![allow(clippy::reversed_empty_ranges, reason = "negative ends count from the end")]

use monomorph::prelude::*;
use monomorph::{Error, ErrorKind, Result, meta, ops};

fn standardise<D: Kernels>(x: &Tensor<D>) -> Result<Tensor<D>> {
    let mean = x.mean_with((1, 2), Mean { keepdim: true, ..Default::default() })?;
    (x - &mean)? / x.square()?.mean((1, 2))?.sqrt()?.i((.., None, None))?
}

#[test]
fn an_image_is_standardised_cropped_and_written_back() -> Result<()> {
    let (h, w) = (320usize, 120usize);
    let bytes: Vec<u8> = (0..h * w * 3).map(|i| (i % 251) as u8).collect();
    let img = Tensor::from_vec(bytes.clone(), [h, w, 3])?;
    let x = (img.permute([2, 0, 1])?.to(F32)? / 255.0)?;
    let n = standardise(&x)?;
    let crop = n.i((.., 100..300, 50..-50))?;
    assert_eq!(crop.sizes(), [3, 200, 20]);
    let soft = crop.where_(&crop.gt(0.0)?, 0.0)?.lerp(&crop, 0.3)?;
    let out: Vec<u8> = (soft * 255.0)?.round()?.clamp(0.0, 255.0)?.to(U8)?.to_vec()?;

    // The same, element by element, in f64.
    let at = |c: usize, i: usize, j: usize| f64::from(bytes[(i * w + j) * 3 + c]) / 255.0;
    let mut off = 0;
    for c in 0..3 {
        let all = || (0..h).flat_map(|i| (0..w).map(move |j| at(c, i, j)));
        let count = (h * w) as f64;
        let (mean, square) = (all().sum::<f64>() / count, all().map(|v| v * v).sum::<f64>() / count);
        for (k, (i, j)) in (100..300).flat_map(|i| (50..70).map(move |j| (i, j))).enumerate() {
            let v = (at(c, i, j) - mean) / square.sqrt();
            let soft = if v > 0.0 { v } else { 0.3 * v };
            let want = (soft * 255.0).round_ties_even().clamp(0.0, 255.0);
            off += usize::from((want - f64::from(out[c * 4000 + k])).abs() > 0.0);
        }
    }
    assert!(off <= 12, "{off} of 12,000 are rounded the other way");
    Ok(())
}

#[test]
fn numbers_and_results_stand_on_either_side() -> Result<()> {
    let t = tensor![[1.0f32, 2.0], [3.0, 4.0]];
    let y = ((1.0 - &t)? * t.exp()?)?;
    assert_eq!(y.sizes(), [2, 2]);
    assert_eq!(y.at::<f32>([0, 0])?, 0.0);
    assert_eq!(t.at::<f32>([1, 0])?, 3.0);
    Ok(())
}

#[test]
fn a_function_runs_on_shapes_alone() -> Result<()> {
    let dry = meta::run(standardise, &([3, 480, 640], F32))?;
    assert_eq!((dry.sizes(), dry.dtype()), (&[3, 480, 640][..], F32));
    let like = tensor![[[1.0f64]]];
    assert_eq!(meta::run(standardise, &like)?.dtype(), F64);
    assert!(meta::run(standardise, &([3, -1, 2], F32)).is_err());
    Ok(())
}

/// Defaults are left out; the same defaults said aloud give the same.
#[test]
fn what_has_a_default_is_an_option() -> Result<()> {
    let x = tensor![[1.5f32, -2.0, 0.25], [4.0, 0.5, -1.0]];
    let same = |a: Tensor<Cpu>, b: Tensor<Cpu>| {
        assert_eq!((a.sizes(), a.dtype()), (b.sizes(), b.dtype()));
        assert!(
            a.to_vec::<f32>().unwrap().iter().zip(b.to_vec::<f32>().unwrap()).all(|(a, b)| a.to_bits() == b.to_bits())
        );
    };
    same(x.sum(..)?, x.sum_with(.., Sum::default())?);
    same(x.sum(..)?, x.sum((0, 1))?);
    same(x.sum(-1)?, x.sum([1])?);
    same(x.add(&x)?, x.add_with(&x, Add { alpha: 1.into(), ..Default::default() })?);
    assert_eq!(x.add_with(&x, Add { alpha: 2.into(), ..Default::default() })?.at::<f32>([0, 0])?, 4.5);
    same(x.amax(..)?, x.amax((0, 1))?);
    assert_eq!(x.argmax(1)?.to_vec::<i64>()?, [0, 0]);
    assert_eq!(x.argmax(..)?.item()?, 3.into());
    same(x.div(&x)?, x.div_with(&x, Div::default())?);
    assert_eq!(x.div_with(2, Div { rounding_mode: Some("floor"), ..Default::default() })?.at::<f32>([0, 1])?, -1.0);
    assert_eq!(x.round_with(Round { decimals: 1, ..Default::default() })?.at::<f32>([0, 2])?, 0.2);
    assert_eq!(ops::cat(&[&x, &x])?.sizes(), [4, 3]);
    assert_eq!(ops::cat_with(&[x.clone(), x.clone()], Cat { dim: 1, ..Default::default() })?.sizes(), [2, 6]);
    let mut y = x.deep_clone()?;
    y.add_with_(&x, Add { alpha: 3.into(), ..Default::default() })?;
    assert_eq!((y.at::<f32>([1, 0])?, x.at::<f32>([1, 0])?), (16.0, 4.0));
    Ok(())
}

#[test]
fn a_number_may_stand_for_a_tensor() -> Result<()> {
    let x = tensor![1.0f32, 4.0, 9.0];
    assert_eq!(x.pow(0.5)?.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
    assert_eq!(ops::pow(2, &tensor![3, 4])?.to_vec::<i32>()?, [8, 16]);
    assert_eq!(x.clamp(2, &tensor![3.0f32, 5.0, 3.0])?.to_vec::<f32>()?, [2.0, 4.0, 3.0]);
    assert_eq!(x.clamp(None, 4)?.to_vec::<f32>()?, [1.0, 4.0, 4.0]);
    assert!(tensor![1, 2].clamp(1.5, None).is_ok_and(|t| t.dtype() == F32));
    assert_eq!(x.lerp(&x.mul(0)?, 0.5)?.to_vec::<f32>()?, [0.5, 2.0, 4.5]);
    assert_eq!(x.float_power(2)?.dtype(), F64);
    assert_eq!(x.masked_fill(&x.gt(2)?, 0)?.to_vec::<f32>()?, [1.0, 0.0, 0.0]);
    assert_eq!(x.masked_fill(&x.gt(2)?, &tensor![7.0f32].squeeze(..)?)?.to_vec::<f32>()?, [1.0, 7.0, 7.0]);
    assert_eq!(x.fill(3)?.to_vec::<f32>()?, [3.0; 3]);
    Ok(())
}

#[test]
fn factories_say_no_more_than_they_need() -> Result<()> {
    assert_eq!(ops::zeros([2, 3], F32)?.to_vec::<f32>()?, [0.0; 6]);
    assert_eq!(ops::zeros((2, 3), None)?.dtype(), F32);
    assert_eq!(ops::full(2, 2.5)?.to_vec::<f32>()?, [2.5; 2]);
    assert_eq!(ops::full_with(2, 2.5, Full { dtype: Some(F64), ..Default::default() })?.dtype(), F64);
    assert_eq!(ops::arange(3)?.to_vec::<i64>()?, [0, 1, 2]);
    let by_halves = Arange { start: 1.into(), step: 0.5.into(), ..Default::default() };
    assert_eq!(ops::arange_with(2, by_halves)?.to_vec::<f32>()?, [1.0, 1.5]);
    assert_eq!(ops::linspace(0, 1, 3)?.to_vec::<f32>()?, [0.0, 0.5, 1.0]);
    assert_eq!(ops::hann_window(4)?.to_vec::<f32>()?, [0.0, 0.5, 1.0, 0.5]);
    let symmetric = HannWindow { periodic: false, dtype: Some(F64), ..Default::default() };
    assert_eq!(ops::hann_window_with(3, symmetric)?.to_vec::<f64>()?, [0.0, 1.0, 0.0]);
    let cpu = monomorph::DeviceHandle::<Cpu>::new(0);
    assert_eq!(cpu.ones([2], I64)?.to_vec::<i64>()?, [1, 1]);
    assert_eq!(ops::zeros_like(&cpu.eye(2, F32)?)?.sizes(), [2, 2]);
    assert!(ops::zeros([-1], F32).is_err());
    Ok(())
}

fn rule(error: Error) -> String {
    assert!(matches!(
        error.kind(),
        ErrorKind::ArgumentRule { .. } | ErrorKind::OutOfRange { .. } | ErrorKind::DimCount { .. }
    ));
    error.to_string()
}

#[test]
fn indices_are_views_or_errors() -> Result<()> {
    let x = ops::arange(24)?.reshape((2, 3, 4))?;
    let values = |t: Result<Tensor<Cpu>>| t.and_then(|t| Ok((t.sizes().to_vec(), t.to_vec::<i64>()?)));
    assert_eq!(values(x.i((1, -1)))?, (vec![4], vec![20, 21, 22, 23]));
    assert_eq!(values(x.i((0, .., (..).by(3))))?, (vec![3, 2], vec![0, 3, 4, 7, 8, 11]));
    assert_eq!(values(x.i((Ellipsis, 1..=2, 0)))?, (vec![2, 2], vec![4, 8, 16, 20]));
    assert_eq!(values(x.i((.., None, 2, 1..-1)))?, (vec![2, 1, 2], vec![9, 10, 21, 22]));
    assert_eq!(values(x.i((0, ..=-2, ..1usize)))?, (vec![2, 1], vec![0, 4]));
    x.i((0, 0, 0))?.fill_(7)?;
    assert_eq!(x.at::<i64>([0, 0, 0])?, 7, "a view");
    for error in [
        x.i(2),
        x.i(-3),
        x.i((0, 0, 0, 0)),
        x.i((0, 4..)),
        x.i(1..1),
        x.i(2..1),
        x.i((.., ..9)),
        x.i((..).by(0)),
        x.i((.., (0..2).by(-1))),
        x.i((Ellipsis, Ellipsis)),
        x.i(0..=i64::MAX),
        x.i(i64::MIN..),
        x.i(u64::MAX),
    ] {
        let text = rule(error.map(|_| ()).unwrap_err());
        assert!(text.starts_with("index: "), "{text}");
    }
    let none = ops::zeros([0, 2], F32)?;
    assert_eq!(none.i(..)?.sizes(), [0, 2], "all of nothing is no mistake");
    Ok(())
}
