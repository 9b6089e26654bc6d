//! What is composed of folds, and scans of two results: running extremes, integrals, gradients, norms of matrices.
//! Values against loops or by hand, and what is refused.

use crate::reductions::{alike, forms, groups, numbers, run};
use monomorph::{AnyTensor, Cpu, DType, IValue, Scalar, Tensor};
use monomorph_testsuite::layout::{Layout, Random, plain, tensor, values};
use monomorph_testsuite::naive::each_index;

fn ints(list: &[i64]) -> IValue {
    IValue::Ints(list.to_vec())
}

/// Squares from 0 to 121 in three rows.
fn squares() -> IValue {
    let data: Vec<f32> = (0..12u8).map(|i| f32::from(i) * f32::from(i)).collect();
    Tensor::<Cpu>::from_slice(&data, [3, 4]).unwrap().into()
}

fn vector(data: &[f64]) -> IValue {
    Tensor::<Cpu>::from_slice(data, [data.len() as i64]).unwrap().into()
}

fn one(name: &str, stack: Vec<IValue>) -> AnyTensor {
    run(name, stack).unwrap_or_else(|error| panic!("{name}: {error}")).remove(0)
}

fn floats(t: &AnyTensor) -> Vec<f64> {
    numbers(t).into_iter().map(|v| v.to_f64()).collect()
}

#[track_caller]
fn near(got: &AnyTensor, sizes: &[i64], want: &[f64]) {
    assert_eq!(got.sizes(), sizes);
    let got = floats(got);
    let fits = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-6 * b.abs();
    assert!(got.len() == want.len() && got.iter().zip(want).all(fits), "{got:?} instead of {want:?}");
}

#[test]
fn running_extremes_equal_loops() {
    let mut random = Random::new(17);
    for (dtype, layout) in DType::ALL.into_iter().flat_map(|dtype| Layout::ALL.map(|layout| (dtype, layout))) {
        for sizes in [&[7][..], &[2, 3], &[3, 70], &[70, 3], &[2, 0, 3], &[1, 1200], &[2, 3, 2]] {
            let t = tensor(layout.geometry(dtype, sizes), &plain(dtype, 31, &mut random));
            for dim in 0..sizes.len() {
                for (name, out, largest) in [("cummax", "cummax.out", true), ("cummin", "cummin.out", false)] {
                    let what = format!("{name} along {dim} of {:?}", t.geometry());
                    let got = forms(name, out, &t, &[(dim as i64).into()]);
                    assert_eq!(got.is_some(), !dtype.is_complex() || t.numel() == 0, "{what}");
                    let Some(got) = got else { continue };
                    let (all, strides) = (values(&t), monomorph::crates::core::strides::contiguous_strides(sizes));
                    let (mut extremes, mut places, mut k) = (Vec::new(), Vec::new(), 0);
                    each_index(sizes, |index| {
                        let mut best = (all[k], index[dim]);
                        if index[dim] > 0 {
                            let before = k - strides[dim] as usize;
                            let (so_far, x): (Scalar, f64) = (extremes[before], all[k].to_f64());
                            let beats = if largest { x >= so_far.to_f64() } else { x <= so_far.to_f64() };
                            if !beats {
                                best = (so_far, places[before]);
                            }
                        }
                        extremes.push(best.0);
                        places.push(best.1);
                        k += 1;
                    });
                    assert!(alike(&numbers(&got[0]), &extremes), "{what}");
                    let places: Vec<Scalar> = places.into_iter().map(Scalar::Int).collect();
                    assert_eq!((numbers(&got[1]), got[1].dtype()), (places, DType::I64), "{what}");
                }
            }
        }
    }
}

#[test]
fn running_extremes_keep_nan_and_the_last_of_equals() {
    let x = || vector(&[1.0, 3.0, 2.0, 3.0, f64::NAN, 5.0, f64::NAN]);
    let got = run("cummax", vec![x(), 0i64.into()]).unwrap();
    near(&got[0], &[7], &[1.0, 3.0, 3.0, 3.0, f64::NAN, f64::NAN, f64::NAN]);
    assert_eq!(floats(&got[1]), [0.0, 1.0, 1.0, 3.0, 4.0, 4.0, 6.0]);
    let got = run("cummin", vec![x(), 0i64.into()]).unwrap();
    assert_eq!(floats(&got[1]), [0.0, 0.0, 0.0, 0.0, 4.0, 4.0, 6.0]);
}

#[test]
fn running_extremes_in_place_of_the_input() {
    let values: IValue = Tensor::<Cpu>::from_slice(&[1.0f64, 3.0, 2.0], [3]).unwrap().into();
    let indices: IValue = Tensor::<Cpu>::zeros_contiguous(DType::I64, &[3]).unwrap().into();
    let flipped = one("as_strided", vec![values.clone(), ints(&[2]), ints(&[1]), 1i64.into()]);
    run("cummax.out", vec![values.clone(), 0i64.into(), values.clone(), indices.clone()]).unwrap();
    assert_eq!(floats(values.as_tensor().unwrap()), [1.0, 3.0, 3.0]);
    // Parts of the input, and the same memory twice.
    let two = one("as_strided", vec![values.clone(), ints(&[2]), ints(&[1]), 0i64.into()]);
    run("cummax.out", vec![two.into(), 0i64.into(), flipped.into(), indices.clone()]).expect_err("an overlap");
    let n: IValue = Tensor::<Cpu>::from_slice(&[1i64, 2, 3], [3]).unwrap().into();
    run("cummax.out", vec![n, 0i64.into(), indices.clone(), indices]).expect_err("one output twice");
}

#[test]
fn logarithms_of_running_sums() {
    let mut random = Random::new(19);
    for layout in Layout::ALL {
        for sizes in [&[7][..], &[3, 70], &[70, 3], &[1, 5000]] {
            let t = tensor(layout.geometry(DType::F64, sizes), &plain(DType::F64, 31, &mut random));
            for dim in 0..sizes.len() {
                let got = forms("logcumsumexp", "logcumsumexp.out", &t, &[(dim as i64).into()]).expect("floats");
                let exp: IValue = one("exp", vec![t.clone().into()]).into();
                let sums: IValue = one("cumsum", vec![exp, (dim as i64).into(), IValue::None]).into();
                let (got, want) = (floats(&got[0]), floats(&one("log", vec![sums])));
                let fits = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-13 * b.abs().max(1.0);
                assert!(got.iter().zip(&want).all(fits), "{got:?} instead of {want:?}");
            }
        }
    }
    let (low, high, nan) = (f64::NEG_INFINITY, f64::INFINITY, f64::NAN);
    let got = one("logcumsumexp", vec![vector(&[low, low, 1.0, 1e4, high, low, nan, 1.0]), 0i64.into()]);
    near(&got, &[8], &[low, low, 1.0, 1e4, high, high, nan, nan]);
    let n: IValue = Tensor::<Cpu>::from_slice(&[1i32], [1]).unwrap().into();
    run("logcumsumexp", vec![n, 0i64.into()]).expect_err("integers");
}

#[test]
fn logarithms_of_sums_equal_loops() {
    let mut random = Random::new(23);
    for layout in Layout::ALL {
        let t = tensor(layout.geometry(DType::F64, &[3, 5, 2]), &plain(DType::F64, 31, &mut random));
        for dims in [&[0usize][..], &[1], &[0, 2], &[0, 1, 2]] {
            let list = ints(&dims.iter().map(|&d| d as i64).collect::<Vec<_>>());
            let got = forms("logsumexp", "logsumexp.out", &t, &[list, true.into()]).expect("floats");
            let want = groups(&t, dims).into_iter();
            let want: Vec<f64> = want.map(|group| group.iter().map(|v| v.to_f64().exp()).sum::<f64>().ln()).collect();
            near(&got[0], got[0].sizes(), &want);
        }
    }
    let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
    for (data, want) in [([1e4, 1e4], 1e4 + 2f64.ln()), ([low, low], low), ([high, 1.0], high)] {
        near(&one("logsumexp", vec![vector(&data), ints(&[0]), false.into()]), &[], &[want]);
    }
}

#[test]
fn differences_and_integrals() {
    let dim = || IValue::Int(-1);
    let diff = |n: i64| one("diff", vec![squares(), n.into(), dim(), IValue::None, IValue::None]);
    near(&diff(1), &[3, 3], &[1.0, 3.0, 5.0, 9.0, 11.0, 13.0, 17.0, 19.0, 21.0]);
    near(&diff(2), &[3, 2], &[2.0; 6]);
    near(&diff(9), &[3, 0], &[]);
    let row: IValue = Tensor::<Cpu>::from_slice(&[7.0f32, 7.0, 7.0], [3, 1]).unwrap().into();
    let got = one("diff", vec![squares(), 1i64.into(), dim(), row.clone(), row]);
    assert_eq!((got.sizes(), floats(&got)[0]), (&[3, 5][..], -7.0));
    near(&one("trapezoid.dx", vec![squares(), 1i64.into(), dim()]), &[3], &[9.5, 93.5, 273.5]);
    let x = || vector(&[0.0, 1.0, 2.0, 4.0]);
    near(&one("trapezoid.x", vec![squares(), x(), dim()]), &[3], &[16.0, 136.0, 384.0]);
    near(&one("trapz.dx", vec![squares(), 2.0.into(), dim()]), &[3], &[19.0, 187.0, 547.0]);
    let got = one("cumulative_trapezoid.x", vec![squares(), x(), dim()]);
    near(&got, &[3, 3], &[0.5, 3.0, 16.0, 20.5, 51.0, 136.0, 72.5, 163.0, 384.0]);
    let got = one("cumulative_trapezoid.dx", vec![squares(), 1i64.into(), 0i64.into()]);
    near(&got, &[2, 4], &[8.0, 13.0, 20.0, 29.0, 48.0, 66.0, 88.0, 114.0]);
    let nothing: IValue = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[2, 0]).unwrap().into();
    near(&one("trapezoid.dx", vec![nothing, 1i64.into(), dim()]), &[2], &[0.0, 0.0]);
    for stack in [
        vec![squares(), (-1i64).into(), dim(), IValue::None, IValue::None],
        vec![squares(), 1i64.into(), 2i64.into(), IValue::None, IValue::None],
        vec![squares(), 1i64.into(), dim(), vector(&[1.0]), IValue::None],
    ] {
        run("diff", stack).expect_err("diff");
    }
    run("trapezoid.x", vec![squares(), vector(&[1.0]), dim()]).expect_err("trapezoid");
    run("trapezoid.dx", vec![squares(), true.into(), dim()]).expect_err("trapezoid");
}

#[test]
fn gradients_along_all_dimensions_or_some() {
    let all = run("gradient.scalarint", vec![squares(), IValue::None, IValue::None, 1i64.into()]).unwrap();
    assert_eq!(floats(&all[0])[..4], [16.0, 24.0, 32.0, 40.0]);
    assert_eq!(floats(&all[1])[..6], [1.0, 2.0, 4.0, 5.0, 9.0, 10.0]);
    let second = run("gradient.scalarint", vec![squares(), IValue::None, 0i64.into(), 2i64.into()]).unwrap();
    near(&second[0], &[3, 4], &(0..12).map(|i| f64::from(8 * i)).collect::<Vec<_>>());
    let spacing = IValue::Tensors(vec![vector(&[0.0, 1.0, 3.0]).into_tensor().unwrap()]);
    let uneven = |order: i64| run("gradient.tensorarray", vec![squares(), spacing.clone(), ints(&[0]), order.into()]);
    let want = [16.0, 24.0, 32.0, 40.0, 56.0 / 3.0, 76.0 / 3.0];
    near(
        &one("narrow", vec![uneven(1).unwrap()[0].clone().into(), 0i64.into(), 0i64.into(), 2i64.into()]),
        &[2, 4],
        &{
            let mut rows = want.to_vec();
            rows.extend([32.0, 116.0 / 3.0]);
            rows
        },
    );
    let want = [40.0 / 3.0, 68.0 / 3.0, 32.0, 124.0 / 3.0];
    assert!(floats(&uneven(2).unwrap()[0]).iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-4));
    let steps = |list: &[i64]| IValue::Scalars(list.iter().map(|&i| Scalar::Int(i)).collect());
    for (name, stack) in [
        ("gradient.scalarint", vec![squares(), IValue::None, IValue::None, 3i64.into()]),
        ("gradient.scalararray", vec![squares(), 1i64.into(), ints(&[0, 0]), 1i64.into()]),
        ("gradient.scalararray", vec![squares(), 1i64.into(), ints(&[2]), 1i64.into()]),
        ("gradient.scalarrayint", vec![squares(), steps(&[1]), IValue::None, 1i64.into()]),
        ("gradient.scalarrayarray", vec![squares(), steps(&[1, 2]), ints(&[0]), 1i64.into()]),
        ("gradient.scalarint", vec![vector(&[1.0]), IValue::None, IValue::None, 1i64.into()]),
    ] {
        run(name, stack).expect_err(name);
    }
}

#[test]
fn norms_of_matrices() {
    let args = |order: IValue, dims: &[i64]| vec![squares(), order, ints(dims), false.into(), IValue::None];
    let infinite = f64::INFINITY;
    for (order, want) in [(1.0, 179.0), (-1.0, 80.0), (infinite, 366.0), (-infinite, 14.0)] {
        near(&one("linalg_matrix_norm", args(order.into(), &[-2, -1])), &[], &[want]);
        near(&one("linalg_norm", args(order.into(), &[0, 1])), &[], &[want]);
    }
    let frobenius = 39974f64.sqrt();
    near(&one("linalg_matrix_norm.str_ord", args("fro".into(), &[1, 0])), &[], &[frobenius]);
    near(
        &one("linalg_norm", vec![squares(), IValue::None, IValue::None, true.into(), IValue::None]),
        &[1, 1],
        &[frobenius],
    );
    run("linalg_matrix_norm", args(3.0.into(), &[0, 1])).expect_err("an order");
    run("linalg_matrix_norm", args(1i64.into(), &[0])).expect_err("one dim");
    run("linalg_matrix_norm", args(1i64.into(), &[0, -2])).expect_err("a dim twice");
    near(&one("dist", vec![squares(), 1.0.into(), infinite.into()]), &[], &[120.0]);
    let list = IValue::Tensors(vec![squares().into_tensor().unwrap(), vector(&[3.0, 4.0]).into_tensor().unwrap()]);
    let got = run("_foreach_norm.Scalar", vec![list.clone(), 2i64.into(), IValue::None]).unwrap();
    near(&got[0], &[], &[frobenius]);
    near(&got[1], &[], &[5.0]);
    let out = |dtype| IValue::Tensors(vec![Tensor::<Cpu>::zeros_contiguous(dtype, &[2]).unwrap().into_any(); 2]);
    run("_foreach_norm.Scalar_out", vec![list, 2i64.into(), IValue::None, out(DType::F32)]).expect_err("dtypes");
}

#[test]
fn slices_are_scaled_to_a_norm() {
    let got = one("renorm", vec![squares(), 1i64.into(), 0i64.into(), 5i64.into()]);
    near(
        &got,
        &[3, 4],
        &[0., 1., 4., 9., 16., 25., 36., 49., 64., 81., 100., 121.].map(|x: f64| {
            x * 5.0
                / if x < 10.0 {
                    14.0
                } else if x < 50.0 {
                    126.0
                } else {
                    366.0
                }
        }),
    );
    let small = one("renorm", vec![squares(), 2i64.into(), 1i64.into(), 1e6.into()]);
    assert_eq!(floats(&small), floats(squares().as_tensor().unwrap()));
    for (p, dim, most) in [(0.0, 0, 1.0), (-1.0, 0, 1.0), (f64::NAN, 0, 1.0), (2.0, 2, 1.0), (2.0, 0, -1.0)] {
        let dim: i64 = dim;
        run("renorm", vec![squares(), p.into(), dim.into(), most.into()]).expect_err("renorm");
    }
    run("renorm", vec![vector(&[1.0]), 2i64.into(), 0i64.into(), 1i64.into()]).expect_err("a vector");
}

#[test]
fn vector_products() {
    let (x, y) = (vector(&[1.0, 2.0, 3.0]), vector(&[4.0, 5.0, 7.0]));
    near(&one("cross", vec![x.clone(), y.clone(), IValue::None]), &[3], &[-1.0, 5.0, -3.0]);
    near(&one("linalg_cross", vec![x.clone(), y, (-1i64).into()]), &[3], &[-1.0, 5.0, -3.0]);
    let n: IValue = Tensor::<Cpu>::from_slice(&[1i32, 2, 3], [3]).unwrap().into();
    for other in [vector(&[1.0]), squares(), n, Scalar::Int(1).into()] {
        run("linalg_cross", vec![x.clone(), other, 0i64.into()]).expect_err("cross");
    }
}

#[test]
fn sums_to_sizes_and_counts() {
    let to = |sizes: &[i64]| run("sum_to_size", vec![squares(), ints(sizes)]);
    near(&to(&[4]).unwrap()[0], &[4], &[80.0, 107.0, 140.0, 179.0]);
    near(&to(&[3, 1]).unwrap()[0], &[3, 1], &[14.0, 126.0, 366.0]);
    near(&to(&[]).unwrap()[0], &[], &[506.0]);
    for sizes in [&[3][..], &[1, 3, 4], &[-1], &[0]] {
        to(sizes).expect_err("sizes");
    }
    near(&one("count_nonzero", vec![squares(), IValue::None]), &[], &[11.0]);
    near(&one("count_nonzero", vec![squares(), 1i64.into()]), &[3], &[3.0, 4.0, 4.0]);
    run("count_nonzero.dim_IntList", vec![squares(), ints(&[0, -2])]).expect_err("a dim twice");
    let x = vector(&[1.0, f64::NAN, 3.0]);
    near(&one("nanmean", vec![x, IValue::None, false.into(), IValue::None]), &[], &[2.0]);
}
