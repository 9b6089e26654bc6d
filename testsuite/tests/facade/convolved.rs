//! Convolutions against loops over indices in float64: maps, transposed ones and gradients over dimensions, groups,
//! parameters, dtypes and layouts; what is refused; and the operators that are made of them.

use monomorph::ops::options::*;
use monomorph::prelude::*;
use monomorph::{Cpu, DType, ErrorKind, IValue, Result, Tensor, call, ops, tensor};
use monomorph_testsuite::layout::Random;
use monomorph_testsuite::naive::each_index;

type T = Tensor<Cpu>;

/// A call of `convolution` with small whole numbers, of which all sums are exact in every dtype but halves.
struct Case {
    x: Vec<i64>,
    w: Vec<i64>,
    stride: Vec<i64>,
    padding: Vec<i64>,
    dilation: Vec<i64>,
    output_padding: Vec<i64>,
    transposed: bool,
    groups: i64,
}

impl Case {
    fn random(random: &mut Random) -> Case {
        let mut pick = |list: &[i64]| list[random.below(list.len())];
        let ndim = pick(&[1, 2, 2, 3]) as usize;
        let (groups, c, m) = (pick(&[1, 1, 2, 3]), pick(&[1, 2, 5]), pick(&[1, 2, 3]));
        let transposed = pick(&[0, 0, 1]) == 1;
        let mut all = |list: &[i64]| (0..ndim).map(|_| pick(list)).collect::<Vec<_>>();
        let (taps, stride, padding, dilation) = (all(&[1, 2, 3]), all(&[1, 1, 2, 3]), all(&[0, 1, 2]), all(&[1, 1, 2]));
        let (mut places, more) = (all(&[2, 3, 7]), all(&[0, 0, 1]));
        let steps = stride.iter().zip(&dilation).map(|(s, d)| *s.max(d));
        let mut output_padding: Vec<i64> = more.iter().zip(steps).map(|(more, step)| *more.min(&(step - 1))).collect();
        let span = |i: usize| dilation[i] * (taps[i] - 1) + 1;
        if !transposed {
            output_padding.fill(0);
            // As many elements as give so many places, and perhaps one that is left over.
            for i in 0..ndim {
                places[i] = ((places[i] - 1) * stride[i] + span(i) - 2 * padding[i] + more[i]).max(1);
                places[i] = places[i].max(span(i) - 2 * padding[i]);
            }
        } else {
            for i in 0..ndim {
                let size = |places: i64| (places - 1) * stride[i] - 2 * padding[i] + span(i) + output_padding[i];
                while size(places[i]) < 1 {
                    places[i] += 1;
                }
            }
        }
        let (seen, made) = (groups * c, groups * m);
        let mut x = vec![pick(&[1, 3]), seen];
        x.extend(&places);
        let mut w = if transposed { vec![seen, m] } else { vec![made, c] };
        w.extend(&taps);
        Case { x, w, stride, padding, dilation, output_padding, transposed, groups }
    }

    fn result(&self) -> Vec<i64> {
        let m = if self.transposed { self.w[1] * self.groups } else { self.w[0] };
        let mut sizes = vec![self.x[0], m];
        for i in 0..self.stride.len() {
            let (size, span) = (self.x[i + 2], self.dilation[i] * (self.w[i + 2] - 1) + 1);
            sizes.push(match self.transposed {
                true => (size - 1) * self.stride[i] - 2 * self.padding[i] + span + self.output_padding[i],
                false => (size + 2 * self.padding[i] - span) / self.stride[i] + 1,
            });
        }
        sizes
    }

    /// Calls `f` with each term of the sum: an element of the input, one of the weight, and one of the result.
    fn each_term(&self, mut f: impl FnMut(&[i64], &[i64], &[i64])) {
        let (result, ndim) = (self.result(), self.stride.len());
        let (image, map) = if self.transposed { (&result, &self.x) } else { (&self.x, &result) };
        let (c, m) = (image[1] / self.groups, map[1] / self.groups);
        each_index(map, |at| {
            let group = at[1] / m;
            let mut window = vec![c];
            window.extend(&self.w[2..]);
            each_index(&window, |tap| {
                let mut place = vec![at[0], group * c + tap[0]];
                for i in 0..ndim {
                    let at = at[i + 2] * self.stride[i] - self.padding[i] + tap[i + 1] * self.dilation[i];
                    if !(0..image[i + 2]).contains(&at) {
                        return;
                    }
                    place.push(at);
                }
                let mut weight = vec![at[1]];
                weight.extend(tap);
                match self.transposed {
                    true => f(at, &weight, &place),
                    false => f(&place, &weight, at),
                }
            });
        });
    }

    fn parameters(&self) -> [IValue; 6] {
        let ints = |list: &[i64]| IValue::Ints(list.to_vec());
        [
            ints(&self.stride),
            ints(&self.padding),
            ints(&self.dilation),
            self.transposed.into(),
            ints(&self.output_padding),
            self.groups.into(),
        ]
    }
}

fn at(sizes: &[i64], index: &[i64]) -> usize {
    index.iter().zip(sizes).fold(0, |at, (&i, &size)| at * size + i) as usize
}

/// Whole numbers, row-major or with channels last, in a dtype; and the numbers.
fn numbers(random: &mut Random, sizes: &[i64], dtype: DType, channels_last: bool) -> (T, Vec<f64>) {
    let n = sizes.iter().product::<i64>() as usize;
    let all: Vec<f64> = (0..n).map(|_| random.below(7) as f64 - 3.0).collect();
    let t = T::from_slice(&all, sizes).unwrap().to(dtype).unwrap();
    if !channels_last {
        return (t, all);
    }
    let order: Vec<i64> = std::iter::once(0).chain(2..sizes.len() as i64).chain([1]).collect();
    let mut back: Vec<i64> = vec![0, sizes.len() as i64 - 1];
    back.extend(1..sizes.len() as i64 - 1);
    (t.permute(&order[..]).unwrap().contiguous().unwrap().permute(&back[..]).unwrap(), all)
}

fn doubles(t: &T) -> Vec<f64> {
    t.contiguous().unwrap().to(DType::F64).unwrap().to_vec::<f64>().unwrap()
}

fn boxed(name: &str, mut stack: Vec<IValue>) -> Result<Vec<IValue>> {
    call(name, &mut stack)?;
    Ok(stack)
}

fn of(value: &IValue) -> &T {
    value.as_tensor().unwrap().downcast_ref::<Cpu>().unwrap()
}

#[test]
fn results_are_the_sums_of_all_terms() {
    let mut random = Random::new(11);
    for round in 0..120 {
        let case = Case::random(&mut random);
        let dtype = [DType::F32, DType::F64, DType::I64, DType::F32, DType::BF16][round % 5];
        let (x, xs) = numbers(&mut random, &case.x, dtype, round % 3 == 1);
        let (w, ws) = numbers(&mut random, &case.w, dtype, round % 4 == 1);
        let sizes = case.result();
        let (bias, biases) = numbers(&mut random, &sizes[1..2], dtype, false);
        let mut want: Vec<f64> = vec![0.0; sizes.iter().product::<i64>() as usize];
        case.each_term(|i, j, k| want[at(&sizes, k)] += xs[at(&case.x, i)] * ws[at(&case.w, j)]);
        let pixels = want.len() / (sizes[0] * sizes[1]) as usize;
        want.iter_mut().enumerate().for_each(|(i, sum)| *sum += biases[i / pixels % biases.len()]);
        let mut stack = vec![x.into(), w.into(), bias.into()];
        stack.extend(case.parameters());
        let result = boxed("convolution", stack).unwrap();
        let got = of(&result[0]);
        assert_eq!((got.sizes(), got.dtype()), (&sizes[..], dtype));
        for (i, (got, want)) in doubles(got).into_iter().zip(want).enumerate() {
            let far = if dtype == DType::BF16 { 0.02 * want.abs() + 2.0 } else { 0.0 };
            assert!((got - want).abs() <= far, "round {round}, element {i}: got {got}, want {want}");
        }
    }
}

/// A result is linear in input and weight, so gradients are sums of the same terms.
#[test]
fn gradients_are_the_sums_of_all_terms() {
    let mut random = Random::new(12);
    for round in 0..80 {
        let case = Case::random(&mut random);
        let dtype = [DType::F32, DType::F64][round % 2];
        let sizes = case.result();
        let (x, xs) = numbers(&mut random, &case.x, dtype, round % 3 == 1);
        let (w, ws) = numbers(&mut random, &case.w, dtype, round % 4 == 1);
        let (grad, gs) = numbers(&mut random, &sizes, dtype, round % 5 == 1);
        let (mut of_x, mut of_w) = (vec![0.0; xs.len()], vec![0.0; ws.len()]);
        case.each_term(|i, j, k| {
            let (i, j, k) = (at(&case.x, i), at(&case.w, j), at(&sizes, k));
            of_x[i] += gs[k] * ws[j];
            of_w[j] += gs[k] * xs[i];
        });
        let mut of_bias = vec![0.0; sizes[1] as usize];
        let pixels = gs.len() / (sizes[0] * sizes[1]) as usize;
        gs.iter().enumerate().for_each(|(i, g)| of_bias[i / pixels % sizes[1] as usize] += g);
        let mask = [round % 7 != 0, round % 7 != 1, round % 7 != 2];
        let mut stack = vec![grad.into(), x.into(), w.into(), IValue::Ints(vec![sizes[1]])];
        stack.extend(case.parameters());
        stack.push(IValue::Bools(mask.to_vec()));
        let results = boxed("convolution_backward", stack).unwrap();
        for (result, (want, wanted)) in results.iter().zip([of_x, of_w, of_bias].iter().zip(mask)) {
            match wanted {
                true => assert_eq!(&doubles(of(result)), want, "round {round}"),
                false => assert!(matches!(result, IValue::None)),
            }
        }
    }
}

/// More pixels, channels and taps than a tile has, and lines longer than registers.
#[test]
fn large_ones_are_tiled() {
    let cases = [
        ([1, 130, 12, 41], [3, 130, 3, 3], 1),
        ([1, 6, 50, 90], [6, 1, 3, 5], 6),
        ([1, 40, 9, 9], [70, 40, 1, 1], 1),
        // Channels enough for the lanes of registers, and pixels that are no multiple of any.
        ([1, 9, 9, 7], [62, 9, 3, 3], 1),
        ([2, 7, 15, 13], [47, 7, 3, 3], 1),
        // Fewer pixels than a block: one to four of a map.
        ([1, 20, 1, 3], [70, 20, 3, 3], 1),
        ([2, 33, 2, 3], [40, 33, 3, 3], 1),
        ([1, 20, 1, 7], [35, 20, 3, 3], 1),
        ([2, 9, 2, 5], [64, 9, 3, 3], 1),
        // Many more weights than elements of the image, for several threads; the last panel is not full.
        ([1, 64, 8, 9], [130, 64, 3, 3], 1),
    ];
    each_is_the_sum_of_all_terms(&cases, [1, 2], [1, 0]);
}

/// One channel a group and a stride of two: channels are spread apart by the remainder, with edges and without.
#[test]
fn channels_are_spread_apart_by_the_stride() {
    let cases = [
        ([2, 5, 30, 61], [5, 1, 3, 3], 5),
        ([1, 3, 9, 112], [3, 1, 5, 5], 3),
        ([1, 4, 5, 48], [4, 1, 3, 3], 4),
        ([1, 4, 14, 15], [4, 1, 3, 3], 4),
        // The last taps see nothing of the last pixels.
        ([1, 2, 6, 63], [2, 1, 3, 7], 2),
    ];
    for padding in [[1, 1], [0, 0], [2, 3]] {
        each_is_the_sum_of_all_terms(&cases, [2, 2], padding);
    }
}

/// Windows of one element: pixels are no multiple of a block, or fewer than one; parts for one thread and for several.
#[test]
fn what_is_seen_as_it_lies_is_not_copied() {
    let cases = [
        ([2, 10, 7, 9], [14, 5, 1, 1], 2),
        ([1, 5, 3, 7], [6, 5, 1, 1], 1),
        ([3, 4, 8, 12], [1, 4, 1, 1], 1),
        ([1, 30, 40, 41], [24, 30, 1, 1], 1),
        // More weights than the first cache holds.
        ([1, 130, 6, 11], [70, 130, 1, 1], 1),
    ];
    each_is_the_sum_of_all_terms(&cases, [1, 1], [0, 0]);
}

/// Channels of a pixel that would lie a large power of two apart; groups; windows that never go beyond an edge; single
/// channels by pixels together, and what is left of lines and channels.
#[test]
fn channels_that_are_last_are_seen_in_runs() {
    let cases = [
        ([1, 128, 6, 7], [40, 128, 3, 3], 1),
        ([2, 32, 8, 9], [80, 16, 3, 3], 2),
        ([1, 3, 13, 18], [35, 3, 3, 2], 1),
        ([1, 12, 9, 10], [8, 3, 3, 3], 4),
        ([1, 77, 9, 13], [77, 1, 3, 3], 77),
        ([2, 130, 5, 6], [130, 1, 5, 5], 130),
    ];
    for (stride, padding) in [([1, 1], [1, 1]), ([1, 1], [0, 0]), ([2, 3], [0, 0]), ([3, 2], [2, 1])] {
        each_is_the_sum_of_all_terms(&cases, stride, padding);
    }
}

/// Windows whose outer taps are beyond an edge for all pixels, or all of whose taps are: what is left is the bias.
#[test]
fn taps_that_nothing_sees_add_nothing() -> Result<()> {
    let bias = tensor![0.5f32, -0.0, 2.0];
    for groups in [1, 3] {
        let numbers: Vec<f32> = (0..81).map(|i| i as f32 - 30.0).collect();
        let w = T::from_slice(&numbers[..81 / groups as usize], [3, 3 / groups, 3, 3])?;
        let x = T::from_slice(&numbers[40..58], [1, 3, 2, 3])?;
        let (padding, dilation) = (&[5, 5][..], &[5, 5][..]);
        let by = Conv2d { bias: Some(&bias), padding, dilation, groups, ..Default::default() };
        let centre = w.narrow(2, 1, 1)?.narrow(3, 1, 1)?;
        let want = ops::conv2d_with(&x, &centre, Conv2d { bias: Some(&bias), groups, ..Default::default() })?;
        assert_eq!(ops::conv2d_with(&x, &w, by)?.to_vec::<f32>()?, want.to_vec::<f32>()?);
        let (x, w) = (x.narrow(2, 0, 1)?.narrow(3, 0, 1)?, w.narrow(2, 0, 2)?.narrow(3, 0, 2)?);
        let by = Conv2d { bias: Some(&bias), padding: &[2, 2], dilation: &[4, 4], groups, ..Default::default() };
        assert_eq!(ops::conv2d_with(&x, &w, by)?.to_vec::<f32>()?, bias.to_vec::<f32>()?);
    }
    Ok(())
}

/// One element that is all of an image has no copy with edges.
#[test]
fn images_may_be_larger_than_memory() -> Result<()> {
    let far = 1_i64 << 30;
    for (x, made) in [(tensor![[[[2.0f32]], [[3.0]]]], 40), (tensor![[[[2.0f32]]]], 5)] {
        let seen = x.sizes()[1];
        let w = ops::ones([made, seen, 1, 1], DType::F32)?;
        let by = Conv2d { stride: &[far, far], padding: &[1, 1], ..Default::default() };
        let got = ops::conv2d_with(&x.expand([1, seen, far, far])?, &w, by)?;
        let sum = x.sum(..)?.to_vec::<f32>()?[0];
        assert_eq!(got.to_vec::<f32>()?, [0.0, 0.0, 0.0, sum].repeat(made as usize));
    }
    Ok(())
}

/// Convolutions of an image and a weight in so many groups, transposed ones too, with channels last or not.
fn each_is_the_sum_of_all_terms(cases: &[([i64; 4], [i64; 4], i64)], stride: [i64; 2], padding: [i64; 2]) {
    let mut random = Random::new(13);
    for &(x, w, groups) in cases {
        for (channels_last, transposed) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut w = w.to_vec();
            if transposed {
                (w[0], w[1]) = (x[1], w[0] / groups);
            }
            let case = Case {
                x: x.to_vec(),
                w,
                stride: stride.to_vec(),
                padding: padding.to_vec(),
                dilation: vec![1, 1],
                output_padding: vec![0, 0],
                transposed,
                groups,
            };
            let sizes = case.result();
            let (x, xs) = numbers(&mut random, &case.x, DType::F32, channels_last);
            let (w, ws) = numbers(&mut random, &case.w, DType::F32, channels_last);
            let (bias, biases) = numbers(&mut random, &sizes[1..2], DType::F32, false);
            let mut want: Vec<f64> = vec![0.0; sizes.iter().product::<i64>() as usize];
            case.each_term(|i, j, k| want[at(&sizes, k)] += xs[at(&case.x, i)] * ws[at(&case.w, j)]);
            let pixels = want.len() / (sizes[0] * sizes[1]) as usize;
            want.iter_mut().enumerate().for_each(|(i, sum)| *sum += biases[i / pixels % biases.len()]);
            let mut stack = vec![x.into(), w.into(), bias.into()];
            stack.extend(case.parameters());
            let result = boxed("convolution", stack).unwrap();
            assert_eq!(doubles(of(&result[0])), want);
        }
    }
}

#[test]
fn results_are_channels_last_where_an_operand_is() -> Result<()> {
    let mut random = Random::new(14);
    let (x, _) = numbers(&mut random, &[2, 3, 5, 5], DType::F32, true);
    let (w, _) = numbers(&mut random, &[4, 3, 2, 2], DType::F32, false);
    assert_eq!(ops::conv2d(&x, &w)?.strides(), [64, 1, 16, 4]);
    assert_eq!(ops::conv2d(&x.contiguous()?, &w)?.strides(), [64, 16, 4, 1]);
    let (w, _) = numbers(&mut random, &[4, 3, 2, 2], DType::F32, true);
    assert_eq!(ops::conv2d(&x.contiguous()?, &w)?.strides(), [64, 1, 16, 4]);
    Ok(())
}

#[test]
fn one_image_needs_no_dimension_and_names_are_paddings() -> Result<()> {
    let x = tensor![[1.0f32, 2.0, 4.0]];
    let w = tensor![[[1.0f32, -1.0]]];
    assert_eq!(ops::conv1d(&x, &w)?.sizes(), [1, 2]);
    let named = |padding| ops::conv1d_named_with(&x, &w, Conv1dNamed { padding, ..Default::default() });
    assert_eq!(named("same")?.to_vec::<f32>()?, [-1.0, -2.0, 4.0]);
    assert_eq!(named("valid")?.to_vec::<f32>()?, [-1.0, -2.0]);
    assert!(matches!(named("other").unwrap_err().kind(), ErrorKind::UnknownOption { .. }));
    // The last number of zeros that is missing is behind, in each dimension.
    let (x, w) = (tensor![[[[1.0f32, 2.0], [3.0, 4.0]]]], tensor![[[[1.0f32, 1.0, 1.0, 1.0]]]]);
    let same = ops::conv2d_named_with(&x, &w, Conv2dNamed { padding: "same", ..Default::default() })?;
    assert_eq!(same.to_vec::<f32>()?, [3.0, 3.0, 7.0, 7.0]);
    Ok(())
}

#[test]
fn complex_ones_are_three_real_ones() -> Result<()> {
    let parts = |re: &T, im: &T| ops::complex(re, im);
    let (a, b) = (tensor![[[1.0f64, 2.0, 3.0]]], tensor![[[0.5f64, -1.0, 4.0]]]);
    let (c, d) = (tensor![[[2.0f64, 1.0]]], tensor![[[-3.0f64, 1.0]]]);
    let got = ops::conv1d(&parts(&a, &b)?, &parts(&c, &d)?)?;
    let re = (ops::conv1d(&a, &c)? - ops::conv1d(&b, &d)?)?;
    let im = (ops::conv1d(&a, &d)? + ops::conv1d(&b, &c)?)?;
    assert_eq!(doubles(&ops::real(&got)?), doubles(&re));
    assert_eq!(doubles(&ops::imag(&got)?), doubles(&im));
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused() {
    let x = T::from_slice(&[1.0f32; 32], [1, 2, 4, 4]).unwrap();
    let w = T::from_slice(&[1.0f32; 24], [3, 2, 2, 2]).unwrap();
    let list = |n: i64| IValue::Ints(vec![n]);
    let conv = |stride: i64, padding: i64, dilation: i64, by: i64, groups: i64| {
        let given = [list(stride), list(padding), list(dilation), false.into(), list(by), groups.into()];
        let mut stack = vec![x.clone().into(), w.clone().into(), IValue::None];
        stack.extend(given);
        boxed("convolution", stack).map(drop)
    };
    assert!(conv(1, 0, 1, 0, 1).is_ok());
    for (stride, padding, dilation, by, groups) in
        [(0, 0, 1, 0, 1), (1, -1, 1, 0, 1), (1, 0, 0, 0, 1), (1, 0, 1, -1, 1), (1, 0, 1, 0, 0), (1, 0, 4, 0, 1)]
    {
        let error = conv(stride, padding, dilation, by, groups).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OutOfRange { .. }), "{error}");
    }
    assert!(matches!(conv(1, 0, 1, 0, 2).unwrap_err().kind(), ErrorKind::ArgumentRule { .. }));
    // Sizes that overflow are errors, too.
    for far in [i64::MAX, i64::MAX / 2, 1 << 61] {
        assert!(conv(1, far, 1, 0, 1).is_err() && conv(1, 0, far, 0, 1).is_err());
        assert!(conv(far, 0, 1, 0, 1).is_ok());
    }
    let error = ops::conv2d(&x, &w.to(DType::F64).unwrap()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::DTypeMismatch { arg: "weight", .. }), "{error}");
    let truth = x.to(DType::Bool).unwrap();
    let error = ops::conv2d(&truth, &w.to(DType::Bool).unwrap()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::DTypeNotSupported { .. }), "{error}");
}

#[test]
fn time_may_be_in_front() -> Result<()> {
    let x = T::from_slice(&(0..30).map(f64::from).collect::<Vec<_>>(), [5, 2, 3])?;
    let w = T::from_slice(&(0..24).map(|i| f64::from(i) - 9.0).collect::<Vec<_>>(), [2, 3, 4])?;
    let bias = tensor![1.0f64, 2.0, 3.0, 4.0];
    let got = ops::conv_tbc_with(&x, &w, &bias, ConvTbc { pad: 1, ..Default::default() })?;
    let options = Conv1d { bias: Some(&bias), padding: &[1], ..Default::default() };
    let want = ops::conv1d_with(&x.permute([1, 2, 0])?, &w.permute([2, 1, 0])?, options)?.permute([2, 0, 1])?;
    assert_eq!((got.sizes(), got.strides()), (&[6, 2, 4][..], &[8, 4, 1][..]));
    assert_eq!(doubles(&got), doubles(&want));
    Ok(())
}
