//! Images at the points of a grid, against a twin that computes one point after the other in float64.

use monomorph::prelude::*;
use monomorph::{Cpu, IValue, Result, Tensor, ops, tensor};
use monomorph_testsuite::layout::Random;

/// How elements are chosen and what is outside, as the operator's numbers.
#[derive(Clone, Copy, Debug)]
struct Modes {
    interpolation: i64,
    padding: i64,
    align_corners: bool,
}

/// Every choice.
fn all_modes() -> impl Iterator<Item = Modes> {
    (0..18).map(|i| Modes { interpolation: i / 6, padding: i / 2 % 3, align_corners: i % 2 == 1 })
}

impl Modes {
    /// An element as it is inside of a dimension of `size`; `None` where there is none.
    fn inside(self, mut at: f64, size: f64) -> f64 {
        let (low, high) = if self.align_corners { (0.0, size - 1.0) } else { (-0.5, size - 0.5) };
        if self.padding == 2 {
            while high > low && !(low..=high).contains(&at) {
                at = if at < low { 2.0 * low - at } else { 2.0 * high - at };
            }
        }
        if self.padding == 0 { at } else { at.clamp(0.0, size - 1.0) }
    }

    /// Elements and weights along a dimension.
    fn taps(self, coordinate: f64, size: usize) -> Vec<(f64, f64)> {
        let size = size as f64;
        let at = match self.align_corners {
            true => (coordinate + 1.0) / 2.0 * (size - 1.0),
            false => ((coordinate + 1.0) * size - 1.0) / 2.0,
        };
        match self.interpolation {
            0 => {
                let at = self.inside(at, size);
                [at.floor(), at.floor() + 1.0].map(|tap| (tap, 1.0 - (at - tap).abs())).to_vec()
            }
            1 => vec![(self.inside(at, size).round_ties_even(), 1.0)],
            _ => (-1..3)
                .map(|step| {
                    let tap = at.floor() + f64::from(step);
                    (self.inside(tap, size), keys((at - tap).abs()))
                })
                .collect(),
        }
    }
}

/// The cubic of Keys, "Cubic convolution interpolation", 1981, with a = -0.75.
fn keys(x: f64) -> f64 {
    const A: f64 = -0.75;
    match x {
        x if x <= 1.0 => ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0,
        x if x < 2.0 => ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A,
        _ => 0.0,
    }
}

/// The image, one channel of a volume, at a point: coordinates along columns, lines and planes.
fn twin(volume: &[f64], sizes: [usize; 3], point: &[f64], modes: Modes) -> f64 {
    let mut all = vec![(vec![], 1.0)];
    for (d, coordinate) in point.iter().rev().enumerate() {
        let taps = modes.taps(*coordinate, sizes[3 - point.len() + d]);
        let longer = |(place, weight): &(Vec<f64>, f64)| -> Vec<_> {
            taps.iter().map(|(tap, own)| ([&place[..], &[*tap]].concat(), weight * own)).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    let element = |place: &[f64]| {
        let sizes = &sizes[3 - place.len()..];
        let is_inside = place.iter().zip(sizes).all(|(at, size)| (0.0..*size as f64).contains(at));
        let index = place.iter().zip(sizes).fold(0, |index, (at, size)| index * size + *at as usize);
        if is_inside { volume[index] } else { 0.0 }
    };
    all.iter().map(|(place, weight)| element(place) * weight).sum()
}

fn numbers(random: &mut Random, sizes: &[i64], scale: f64) -> Tensor<Cpu> {
    let n = sizes.iter().product::<i64>();
    let elements = (0..n).map(|_| (random.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0) * scale);
    Tensor::from_vec(elements.collect::<Vec<f64>>(), sizes).expect("numbers")
}

fn sampled(image: &Tensor<Cpu>, grid: &Tensor<Cpu>, modes: Modes) -> Result<Tensor<Cpu>> {
    ops::grid_sampler(image, grid, modes.interpolation, modes.padding, modes.align_corners)
}

#[test]
fn every_point_is_that_of_the_twin() -> Result<()> {
    let mut random = Random::new(7);
    // More points than a block has, and dimensions of one element.
    for (image, grid) in [
        (vec![2, 3, 4, 5], vec![2, 9, 11, 2]),
        (vec![1, 1, 1, 6], vec![1, 3, 5, 2]),
        (vec![1, 2, 3, 2], vec![1, 8, 9, 2]),
        (vec![1, 2, 4, 1], vec![1, 8, 9, 2]),
        (vec![2, 2, 3, 4, 5], vec![2, 3, 5, 7, 3]),
    ] {
        let (x, points) = (numbers(&mut random, &image, 1.0), numbers(&mut random, &grid, 1.8));
        let sizes = [if image.len() == 5 { image[2] } else { 1 }, image[image.len() - 2], image[image.len() - 1]];
        let (sizes, dims) = (sizes.map(|size| size as usize), image.len() - 2);
        let (volume, channels) = (sizes.iter().product::<usize>(), image[1] as usize);
        let (elements, coordinates) = (x.to_vec::<f64>()?, points.to_vec::<f64>()?);
        let of_image = coordinates.len() / image[0] as usize;
        for modes in all_modes() {
            let found = sampled(&x, &points, modes)?.to_vec::<f64>()?;
            let mut expected = Vec::new();
            for (i, volume) in elements.chunks(volume).enumerate() {
                let points = coordinates[i / channels * of_image..][..of_image].chunks(dims);
                expected.extend(points.map(|point| twin(volume, sizes, point, modes)));
            }
            assert_eq!(found.len(), expected.len());
            for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
                assert!((a - b).abs() < 1e-12, "{modes:?}, {image:?}, element {i}: {a}, not {b}");
            }
            let short = sampled(&x.to(F32)?, &points.to(F32)?, modes)?.to_vec::<f32>()?;
            let near = |a: &f32, b: &f64| (f64::from(*a) - b).abs() < 2e-5;
            // A nearest element may be another where the point is rounded.
            let same = short.iter().zip(&expected).filter(|(a, b)| near(a, b)).count();
            assert!(modes.interpolation == 1 && same * 20 > short.len() * 19 || same == short.len(), "{modes:?}");
        }
    }
    Ok(())
}

#[test]
fn operands_lie_in_any_way() -> Result<()> {
    let mut random = Random::new(8);
    let (x, points) = (numbers(&mut random, &[2, 3, 4, 5], 1.0), numbers(&mut random, &[2, 9, 11, 2], 1.2));
    let turned = x.permute((0, 2, 3, 1))?.contiguous()?.permute((0, 3, 1, 2))?;
    let (wide, narrow) = (points.repeat((1, 1, 2, 1))?, points.transpose(1, 2)?.contiguous()?.transpose(1, 2)?);
    for modes in all_modes() {
        let expected = sampled(&x, &points, modes)?.to_vec::<f64>()?;
        assert_eq!(sampled(&turned, &narrow, modes)?.to_vec::<f64>()?, expected);
        let part = wide.narrow(2, 11, 11)?;
        assert_eq!(sampled(&x, &part, modes)?.to_vec::<f64>()?, expected);
    }
    Ok(())
}

#[test]
fn what_is_no_number_is_where_pytorch_has_it() -> Result<()> {
    let at = |image: &Tensor<Cpu>, point: &[f32], modes: (i64, i64)| -> Result<f32> {
        let sizes = [vec![1; image.ndim() - 1], vec![point.len() as i64]].concat();
        let grid = Tensor::from_vec(point.to_vec(), sizes)?;
        Ok(ops::grid_sampler(image, &grid, modes.0, modes.1, false)?.to_vec::<f32>()?[0])
    };
    // Recorded from PyTorch 2.15.
    let flat = Tensor::from_vec((1..7).map(|x| x as f32).collect::<Vec<_>>(), (1, 1, 2, 3))?;
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    assert!(at(&flat, &[nan, 0.0], (0, 0))?.is_nan() && at(&flat, &[inf, 0.0], (0, 0))?.is_nan());
    assert_eq!(at(&flat, &[nan, 0.0], (0, 1))?, 2.5);
    assert_eq!(at(&flat, &[inf, 0.0], (0, 1))?, 4.5);
    assert_eq!(at(&flat, &[inf, 0.0], (0, 2))?, 2.5);
    assert_eq!(at(&flat, &[nan, 0.0], (1, 0))?, 0.0);
    let solid = Tensor::from_vec((1..13).map(|x| x as f32).collect::<Vec<_>>(), (1, 1, 2, 2, 3))?;
    assert_eq!(at(&solid, &[nan, 0.0, 0.1], (0, 0))?, 0.0);
    assert_eq!(at(&solid, &[nan, 0.0, 0.1], (1, 1))?, 9.0);
    assert_eq!(at(&solid, &[f32::NEG_INFINITY, 0.3, 0.1], (1, 1))?, 10.0);
    assert_eq!(at(&solid, &[f32::NEG_INFINITY, 0.3, 0.1], (1, 2))?, 12.0);
    Ok(())
}

#[test]
fn arguments_that_do_not_fit_are_named() -> Result<()> {
    let image = tensor![[[[1.0f32, 2.0]]]];
    let grid = tensor![[[[0.0f32, 0.0]]]];
    let error = |image: &Tensor<Cpu>, grid: &Tensor<Cpu>, modes: (i64, i64)| {
        ops::grid_sampler(image, grid, modes.0, modes.1, false).expect_err("an error").to_string()
    };
    assert!(error(&image, &grid, (3, 0)).contains("interpolation_mode"));
    assert!(error(&image, &grid, (0, -1)).contains("padding_mode"));
    assert!(error(&image, &grid.to(F64)?, (0, 0)).contains("grid"));
    assert!(error(&image.to(I64)?, &grid.to(I64)?, (0, 0)).contains("floating"));
    assert!(error(&image, &tensor![[[[0.0f32]]]], (0, 0)).contains("grid"));
    assert!(error(&image.reshape((1, 2))?, &grid, (0, 0)).contains("input"));
    Ok(())
}

/// PyTorch's kernels take no notice of the second flag.
#[test]
fn the_gradient_of_the_grid_is_always_there() -> Result<()> {
    let image = tensor![[[[1.0f32, 2.0]]]];
    let grid = tensor![[[[0.0f32, 0.0]]]];
    for of_image in [false, true] {
        for of_grid in [false, true] {
            let tensors = [&tensor![[[[1.0f32]]]], &image, &grid].map(|t| t.clone().into());
            let mut stack: Vec<IValue> = tensors.into();
            stack.extend([0.into(), 0.into(), false.into(), IValue::Bools(vec![of_image, of_grid])]);
            monomorph::call("grid_sampler_2d_backward", &mut stack)?;
            let there: Vec<bool> = stack.iter().map(|value| value.as_tensor().is_some()).collect();
            assert_eq!(there, [of_image, true]);
        }
    }
    Ok(())
}

/// Both gradients of the points of a grid.
fn gradients(grad: &Tensor<Cpu>, image: &Tensor<Cpu>, grid: &Tensor<Cpu>, modes: Modes) -> Result<[Tensor<Cpu>; 2]> {
    let mut stack: Vec<IValue> = [grad, image, grid].map(|t| t.clone().into()).into();
    stack.extend([modes.interpolation.into(), modes.padding.into(), modes.align_corners.into()]);
    stack.push(IValue::Bools(vec![true, true]));
    monomorph::call(
        if image.ndim() == 4 { "grid_sampler_2d_backward" } else { "grid_sampler_3d_backward" },
        &mut stack,
    )?;
    let [of_image, of_grid] = [0, 1].map(|i| stack[i].as_tensor().expect("a gradient").clone().downcast::<Cpu>());
    Ok([of_image.expect("on the CPU"), of_grid.expect("on the CPU")])
}

/// The sum of products of two tensors.
fn inner(a: &Tensor<Cpu>, b: &Tensor<Cpu>) -> Result<f64> {
    Ok(a.to_vec::<f64>()?.iter().zip(b.to_vec::<f64>()?).map(|(a, b)| a * b).sum())
}

/// Points are linear in the image, so its gradient is what makes the products of any other image and of its points
/// equal. The gradient of the grid is compared with differences, but for points that are near an element, where slopes
/// jump.
#[test]
fn gradients_are_those_of_the_points() -> Result<()> {
    const STEP: f64 = 1e-7;
    let mut random = Random::new(9);
    for (image, grid) in [
        (vec![2, 3, 4, 5], vec![2, 9, 11, 2]),
        (vec![1, 1, 1, 6], vec![1, 3, 5, 2]),
        (vec![1, 2, 4, 1], vec![1, 8, 9, 2]),
        (vec![2, 2, 3, 4, 5], vec![2, 3, 5, 7, 3]),
    ] {
        let (x, points) = (numbers(&mut random, &image, 1.0), numbers(&mut random, &grid, 1.8));
        let coordinates = points.to_vec::<f64>()?;
        let (dims, of_image) = (image.len() - 2, coordinates.len() / image[0] as usize);
        for modes in all_modes() {
            let found = sampled(&x, &points, modes)?;
            let grad = numbers(&mut random, found.sizes(), 1.0);
            let [by_image, by_grid] = gradients(&grad, &x, &points, modes)?;
            assert_eq!((by_image.sizes(), by_grid.sizes()), (x.sizes(), points.sizes()));
            for _ in 0..3 {
                let other = numbers(&mut random, &image, 1.0);
                let (a, b) = (inner(&by_image, &other)?, inner(&grad, &sampled(&other, &points, modes)?)?);
                assert!((a - b).abs() < 1e-10, "{modes:?}, {image:?}: {a}, not {b}");
            }
            let (by_grid, mut same) = (by_grid.to_vec::<f64>()?, 0);
            for (i, slope) in by_grid.iter().enumerate() {
                let moved = |by: f64| -> Result<Tensor<Cpu>> {
                    let mut moved = coordinates.clone();
                    moved[i] += by;
                    sampled(&x, &Tensor::from_vec(moved, points.sizes())?, modes)
                };
                let (high, low) = (moved(STEP)?.to_vec::<f64>()?, moved(-STEP)?.to_vec::<f64>()?);
                let (plane, at) = (of_image / dims, i % of_image / dims);
                let difference: f64 = (0..image[1] as usize)
                    .map(|channel| (i / of_image * image[1] as usize + channel) * plane + at)
                    .map(|j| (high[j] - low[j]) * grad.to_vec::<f64>().expect("elements")[j] / (2.0 * STEP))
                    .sum();
                same += usize::from((slope - difference).abs() < 1e-5);
            }
            assert!(same * 50 > by_grid.len() * 49, "{modes:?}, {image:?}: {same} of {}", by_grid.len());
        }
    }
    Ok(())
}
