//! Operators on rows against loops in float64: softmax over dtypes × layouts × dimensions, normalisation and its
//! statistics, gradients against differences of losses, losses of classes; what they refuse before anything is written.

use monomorph::prelude::*;
use monomorph::{Cpu, DType, ErrorKind, IValue, Scalar, Tensor, call};
use monomorph_testsuite::layout::{Layout, Random, plain, tensor, values};
use monomorph_testsuite::naive::each_index;

const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

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

fn called(name: &str, arguments: Vec<IValue>) -> Vec<Tensor<Cpu>> {
    let mut stack = arguments;
    call(name, &mut stack).unwrap_or_else(|e| panic!("{name}: {e}"));
    stack.iter().map(|v| v.as_tensor().unwrap().downcast_ref::<Cpu>().unwrap().clone()).collect()
}

fn close(what: &str, got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        let fits = (got - want).abs() <= tolerance * (1.0 + want.abs()) || got.is_nan() && want.is_nan();
        assert!(fits, "{what}: element {i} is {got}, should be {want}");
    }
}

/// The places of each row along a dimension, in row-major order.
fn rows(sizes: &[i64], dim: usize) -> Vec<Vec<usize>> {
    let strides = monomorph::crates::core::strides::contiguous_strides(sizes);
    let (mut rows, mut k) = (Vec::new(), 0);
    each_index(sizes, |index| {
        if index[dim] == 0 {
            rows.push((0..sizes[dim]).map(|i| k + (i * strides[dim]) as usize).collect());
        }
        k += 1;
    });
    rows
}

fn softmax(x: &[f64], sizes: &[i64], dim: usize, log: bool) -> Vec<f64> {
    let mut all = vec![0.0; x.len()];
    for row in rows(sizes, dim) {
        let most = row.iter().map(|&i| x[i]).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = row.iter().map(|&i| (x[i] - most).exp()).sum();
        for i in row {
            all[i] = if log { x[i] - most - sum.ln() } else { (x[i] - most).exp() / sum };
        }
    }
    all
}

#[test]
fn softmax_of_every_dtype_layout_and_dimension() {
    let mut random = Random::new(5);
    for dtype in FLOATS {
        for layout in Layout::ALL {
            for sizes in [&[7][..], &[3, 5], &[4, 1, 6], &[2, 70, 3], &[3, 0, 2], &[2, 3, 90, 2], &[1, 3000]] {
                let numel: i64 = sizes.iter().product();
                let x = tensor(layout.geometry(dtype, sizes), &plain(dtype, numel.max(1) as usize, &mut random));
                for dim in 0..sizes.len() {
                    for (log, y) in [(false, x.softmax(dim as i64)), (true, x.log_softmax(dim as i64))] {
                        let (y, what) = (y.unwrap(), format!("{dtype} {layout:?} {sizes:?} {dim} {log}"));
                        assert!(y.dtype() == dtype && y.is_contiguous(), "{what}");
                        close(&what, &numbers(&y), &softmax(&numbers(&x), sizes, dim, log), tolerance(dtype));
                    }
                }
            }
        }
    }
}

#[test]
fn softmax_of_infinities_and_nothing() {
    let x = tensor![[f64::INFINITY, 0.0], [f64::NEG_INFINITY, f64::NEG_INFINITY], [f64::NAN, 0.0]];
    assert!(numbers(&x.softmax(1).unwrap()).iter().all(|x| x.is_nan()));
    let safe = called("_safe_softmax", vec![x.into_any().into(), IValue::Int(1), IValue::None]);
    assert_eq!(numbers(&safe[0])[2..4], [0.0, 0.0]);
    assert_eq!(numbers(&tensor![3.0f32].softmax(0).unwrap()), [1.0]);
    let error = tensor![1, 2].softmax(0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::DTypeNotSupported { .. }), "{error}");
    assert!(matches!(tensor![1.0f32].softmax(1).unwrap_err().kind(), ErrorKind::DimOutOfRange { .. }));
}

/// Mean and reciprocal deviation.
fn moments(x: &[f64], eps: f64) -> (f64, f64) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64;
    (mean, 1.0 / (variance + eps).sqrt())
}

#[test]
fn layer_norm_of_every_dtype_and_layout() {
    let mut random = Random::new(6);
    for dtype in FLOATS {
        for layout in Layout::ALL {
            for sizes in [&[4, 6][..], &[2, 3, 70], &[5, 1], &[1, 3000]] {
                let (numel, n) = (sizes.iter().product::<i64>() as usize, sizes[sizes.len() - 1] as usize);
                let x = tensor(layout.geometry(dtype, sizes), &plain(dtype, numel, &mut random));
                let [w, b] = [0; 2]
                    .map(|_| tensor(Layout::Contiguous.geometry(dtype, &[n as i64]), &plain(dtype, n, &mut random)));
                let arguments = vec![
                    x.clone().into_any().into(),
                    IValue::Ints(vec![n as i64]),
                    w.clone().into_any().into(),
                    b.clone().into_any().into(),
                    IValue::Float(1e-5),
                ];
                let results = called("native_layer_norm", arguments);
                let (w, b) = (numbers(&w), numbers(&b));
                let (mut y, mut means) = (Vec::new(), Vec::new());
                for row in numbers(&x).chunks(n) {
                    let (mean, rstd) = moments(row, 1e-5);
                    means.push(mean);
                    y.extend(row.iter().zip(w.iter().zip(&b)).map(|(x, (w, b))| (x - mean) * rstd * w + b));
                }
                let what = format!("{dtype} {layout:?} {sizes:?}");
                close(&what, &numbers(&results[0]), &y, 20.0 * tolerance(dtype));
                close(&what, &numbers(&results[1]), &means, 2.0 * tolerance(dtype));
            }
        }
    }
}

#[test]
fn batch_norm_moves_running_statistics_or_nothing() {
    let x = tensor![[1.0f64, 10.0], [3.0, 30.0]];
    let (mean, variance) = (tensor![0.0f64, 0.0], tensor![1.0f64, 1.0]);
    let arguments = |momentum: f64, weight: IValue| {
        vec![
            x.clone().into_any().into(),
            weight,
            IValue::None,
            mean.clone().into_any().into(),
            variance.clone().into_any().into(),
            true.into(),
            momentum.into(),
            0.0.into(),
        ]
    };
    let results = called("native_batch_norm", arguments(0.5, IValue::None));
    assert_eq!(numbers(&results[0]), [-1.0, -1.0, 1.0, 1.0]);
    assert_eq!(numbers(&mean), [1.0, 10.0]);
    assert_eq!(numbers(&variance), [1.5, 100.5]);
    // An error comes before anything is written.
    let mut wrong = arguments(0.5, tensor![1.0f64, 2.0, 3.0].into_any().into());
    call("native_batch_norm", &mut wrong).unwrap_err();
    assert_eq!(numbers(&mean), [1.0, 10.0]);
    // So it does where the second of the statistics cannot be written.
    let one_place = tensor![1.0f64].expand(2).unwrap();
    let mut wrong = arguments(0.5, IValue::None);
    wrong[4] = one_place.into_any().into();
    call("native_batch_norm", &mut wrong).unwrap_err();
    assert_eq!(numbers(&mean), [1.0, 10.0]);
}

/// The gradient of a loss of one number by each element, from differences.
fn slopes(x: &Tensor<Cpu>, loss: &dyn Fn(&Tensor<Cpu>) -> f64) -> Vec<f64> {
    let all = numbers(x);
    let at = |i: usize, step: f64| {
        let mut moved = all.clone();
        moved[i] += step;
        loss(&Tensor::from_slice(&moved, x.sizes()).unwrap())
    };
    (0..all.len()).map(|i| (at(i, 1e-5) - at(i, -1e-5)) / 2e-5).collect()
}

#[test]
fn gradients_are_the_slopes_of_their_operators() {
    let mut random = Random::new(7);
    let mut made = |sizes: &[i64]| {
        let n = sizes.iter().product::<i64>() as usize;
        let list: Vec<f64> = (0..n).map(|_| random.below(2000) as f64 / 500.0 - 2.0).collect();
        Tensor::<Cpu>::from_slice(&list, sizes).unwrap()
    };
    let (x, grad, w) = (made(&[2, 4, 3]), made(&[2, 4, 3]), made(&[4]));
    let value = |t: &Tensor<Cpu>| IValue::from(t.clone().into_any());
    let dotted = |y: &Tensor<Cpu>| numbers(y).iter().zip(numbers(&grad)).map(|(a, b)| a * b).sum::<f64>();
    // Groups of two channels, of three elements each.
    let group = |x: &Tensor<Cpu>| {
        let sizes = [2i64, 4, 3, 2].map(IValue::Int);
        let tensors = [value(x), value(&w), IValue::None];
        called("native_group_norm", tensors.into_iter().chain(sizes).chain([IValue::Float(1e-3)]).collect())
    };
    let [_, mean, rstd]: [Tensor<Cpu>; 3] = group(&x).try_into().unwrap();
    let sizes = [2i64, 4, 3, 2].map(IValue::Int);
    let tensors = [value(&grad), value(&x), value(&mean), value(&rstd), value(&w)];
    let mask = IValue::Bools(vec![true; 3]);
    let got = called("native_group_norm_backward", tensors.into_iter().chain(sizes).chain([mask.clone()]).collect());
    close("group_norm", &numbers(&got[0]), &slopes(&x, &|x| dotted(&group(x)[0])), 1e-6);
    let batch = |x: &Tensor<Cpu>| {
        let tensors = [value(x), value(&w), IValue::None, IValue::None, IValue::None];
        let rest = [true.into(), 0.1.into(), 1e-3.into()];
        called("native_batch_norm", tensors.into_iter().chain(rest).collect())
    };
    let [_, mean, rstd]: [Tensor<Cpu>; 3] = batch(&x).try_into().unwrap();
    let tensors = [value(&grad), value(&x), value(&w), IValue::None, IValue::None, value(&mean), value(&rstd)];
    let rest = [true.into(), 1e-3.into(), mask.clone()];
    let got = called("native_batch_norm_backward", tensors.into_iter().chain(rest).collect());
    close("batch_norm", &numbers(&got[0]), &slopes(&x, &|x| dotted(&batch(x)[0])), 1e-6);
    let layer = |x: &Tensor<Cpu>| {
        let arguments = vec![value(x), IValue::Ints(vec![4, 3]), IValue::None, IValue::None, 1e-3.into()];
        called("native_layer_norm", arguments)
    };
    let [_, mean, rstd]: [Tensor<Cpu>; 3] = layer(&x).try_into().unwrap();
    let (weight, bias) = (made(&[4, 3]), made(&[4, 3]));
    let ones = Tensor::<Cpu>::from_slice(&[1.0f64; 12], [4, 3]).unwrap();
    let tensors = [value(&mean), value(&rstd), value(&ones), value(&bias), mask];
    let first = [value(&grad), value(&x), IValue::Ints(vec![4, 3])];
    let got = called("native_layer_norm_backward", first.into_iter().chain(tensors).collect());
    close("layer_norm", &numbers(&got[0]), &slopes(&x, &|x| dotted(&layer(x)[0])), 1e-6);
    assert_eq!(weight.sizes(), got[1].sizes());
    let softmaxed = |x: &Tensor<Cpu>| x.softmax(1).unwrap();
    let arguments = vec![value(&grad), value(&softmaxed(&x)), IValue::Int(1), DType::F64.into()];
    let got = called("_softmax_backward_data", arguments);
    close("softmax", &numbers(&got[0]), &slopes(&x, &|x| dotted(&softmaxed(x))), 1e-6);
}

#[test]
fn targets_are_checked_before_anything_is_written() {
    let x = tensor![[0.0f64, -1.0], [-2.0, -3.0]];
    let arguments = |target: Tensor<Cpu>, reduction: i64| {
        let tensors = [x.clone().into_any().into(), target.into_any().into(), IValue::None];
        tensors.into_iter().chain([reduction.into(), (-100i64).into()]).collect::<Vec<IValue>>()
    };
    let results = called("nll_loss_forward", arguments(tensor![1i64, 0], 1));
    assert_eq!((numbers(&results[0]), numbers(&results[1])), (vec![1.5], vec![2.0]));
    assert_eq!(numbers(&called("nll_loss_forward", arguments(tensor![1i64, -100], 0))[0]), [1.0, 0.0]);
    let out = tensor![7.0f64, 7.0];
    for wrong in [2i64, -1, i64::MIN, i64::MAX] {
        let mut stack = arguments(tensor![1i64, wrong], 0);
        stack.extend([out.clone().into_any().into(), tensor![0.0f64].into_any().into()]);
        let error = call("nll_loss_forward.output", &mut stack).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::IndexOutOfRange { got, .. } if *got == wrong), "{error}");
        assert_eq!(numbers(&out), [7.0, 7.0]);
    }
}
