//! Rows in order against the standard library's sorts: sort and its relatives, selection, quantiles, groups, searches
//! and bins, over dtypes × layouts × dimensions and on inputs that are hard for sorts. Which of equal elements
//! selection returns was recorded from PyTorch 2.15.

use monomorph::ops::options::*;
use monomorph::prelude::*;
use monomorph::{Cpu, DType, ErrorKind, IValue, Scalar, Stack, Tensor, call, ops};
use monomorph_testsuite::layout::{Layout, Random, plain, tensor, values};
use monomorph_testsuite::naive::each_index;
use std::cmp::Ordering;

const REAL: [DType; 10] = [
    DType::Bool,
    DType::U8,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

/// The order of elements: NaN above everything, zeros equal.
fn order(a: &Scalar, b: &Scalar) -> Ordering {
    match (a, b) {
        (Scalar::Int(a), Scalar::Int(b)) => a.cmp(b),
        (a, b) => {
            let (a, b) = (a.to_f64(), b.to_f64());
            a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
    }
}

/// The rows of a tensor along a dimension, in row-major order of the other indices.
fn rows(t: &Tensor<Cpu>, dim: usize) -> Vec<Vec<Scalar>> {
    let all = values(t);
    let strides = monomorph::crates::core::strides::contiguous_strides(t.sizes());
    let mut rows = Vec::new();
    let mut k = 0;
    each_index(t.sizes(), |index| {
        if index[dim] == 0 {
            rows.push((0..t.sizes()[dim]).map(|i| all[k + (i * strides[dim]) as usize]).collect());
        }
        k += 1;
    });
    rows
}

/// The indices of a row in order, equal elements as they come.
fn naive(row: &[Scalar], descending: bool) -> Vec<i64> {
    let mut indices: Vec<i64> = (0..row.len() as i64).collect();
    let by = |a: &i64, b: &i64| order(&row[*a as usize], &row[*b as usize]);
    if descending {
        indices.sort_by(|a, b| by(b, a))
    } else {
        indices.sort_by(by)
    }
    indices
}

fn same(a: &Scalar, b: &Scalar) -> bool {
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
        (a, b) => a == b,
    }
}

fn ints(t: &Tensor<Cpu>, dim: usize) -> Vec<Vec<i64>> {
    rows(t, dim).iter().map(|row| row.iter().map(|i| i.to_i64()).collect()).collect()
}

#[test]
fn sort_is_the_stable_sort_of_the_standard_library() {
    let mut random = Random::new(5);
    for dtype in REAL {
        for layout in Layout::ALL {
            for sizes in [&[9][..], &[3, 5], &[4, 1, 6], &[2, 300], &[3, 0, 2]] {
                let numel: i64 = sizes.iter().product();
                let x = tensor(layout.geometry(dtype, sizes), &plain(dtype, numel.max(1) as usize, &mut random));
                for dim in 0..sizes.len() {
                    for descending in [false, true] {
                        let what = format!("along {dim}, descending {descending}, of {:?}", x.geometry());
                        let (got, indices) =
                            x.sort_with(dim as i64, Sort { descending, ..Default::default() }).unwrap();
                        assert_eq!((got.sizes(), indices.sizes()), (x.sizes(), x.sizes()), "{what}");
                        let all = rows(&x, dim);
                        let want: Vec<Vec<i64>> = all.iter().map(|row| naive(row, descending)).collect();
                        assert_eq!(ints(&indices, dim), want, "{what}");
                        for ((got, row), order) in rows(&got, dim).iter().zip(&all).zip(&want) {
                            assert!(got.iter().zip(order).all(|(a, &i)| same(a, &row[i as usize])), "{what}");
                        }
                    }
                }
            }
        }
    }
}

/// Inputs on which sorts go wrong: all equal, ascending, descending, up and down, few values, zeros with signs and NaN.
fn hard(n: usize) -> Vec<Vec<f32>> {
    let hard = |f: &dyn Fn(usize) -> f32| (0..n).map(f).collect::<Vec<_>>();
    vec![
        hard(&|_| 1.5),
        hard(&|i| i as f32),
        hard(&|i| -(i as f32)),
        hard(&|i| i.min(n - i) as f32),
        hard(&|i| (i * i % 7) as f32),
        hard(&|i| [0.0, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE][i * 31 % 7]),
        hard(&|i| f32::from_bits((i as u32).wrapping_mul(0x9e37_79b9))),
        hard(&|i| f32::from_bits(i as u32 * 5 % 1013) * if i % 3 == 0 { -1.0 } else { 1.0 }),
    ]
}

#[test]
fn hard_rows_are_sorted_at_every_length() {
    for n in [1, 2, 15, 16, 17, 255, 256, 257, 1000, 5000, 40_001] {
        for row in hard(n) {
            let x = Tensor::<Cpu>::from_vec(row.clone(), n).unwrap();
            for wide in [false, true] {
                let x = if wide { x.cast::<f64>().unwrap() } else { x.clone() };
                let scalars = values(&x);
                let (got, indices) = x.sort(0).unwrap();
                let want = naive(&scalars, false);
                assert_eq!(indices.to_vec::<i64>().unwrap(), want, "{n} {row:?}");
                assert!(values(&got).iter().zip(&want).all(|(a, &i)| same(a, &scalars[i as usize])));
                // What selection gives are the elements of the order, whichever of equal ones.
                let k = (n / 3).max(1) as i64;
                let (top, at) = x.topk_with(k, Topk { largest: false, ..Default::default() }).unwrap();
                for (i, (a, at)) in values(&top).iter().zip(at.to_vec::<i64>().unwrap()).enumerate() {
                    assert!(order(a, &scalars[want[i] as usize]).is_eq() && same(a, &scalars[at as usize]));
                }
                let (kth, at) = x.kthvalue(k).unwrap();
                assert!(order(&kth.item().unwrap(), &scalars[want[k as usize - 1] as usize]).is_eq());
                assert!(same(&kth.item().unwrap(), &scalars[at.at::<i64>(()).unwrap() as usize]));
                let (median, at) = x.nanmedian_dim(0).unwrap();
                let numbers = scalars.iter().filter(|x| !x.to_f64().is_nan()).count();
                let middle = want[numbers.saturating_sub(1) / 2];
                assert_eq!(at.at::<i64>(()).unwrap(), middle);
                assert!(same(&median.item().unwrap(), &scalars[middle as usize]));
            }
        }
    }
}

fn squares(n: i64, modulus: i64) -> Tensor<Cpu> {
    Tensor::from_vec((0..n).map(|i| ((i * i * 7 + i * 3) % modulus) as i32).collect(), n as usize).unwrap()
}

#[test]
fn of_equal_elements_those_are_taken_that_pytorch_takes() {
    let top = |n, m, k, largest, sorted| {
        let options = Topk { largest, sorted, ..Default::default() };
        squares(n, m).topk_with(k, options).unwrap().1.to_vec::<i64>().unwrap()
    };
    assert_eq!(top(40, 7, 12, true, true), [30, 16, 23, 9, 2, 37, 39, 4, 18, 11, 25, 32]);
    assert_eq!(top(40, 7, 12, false, true), [7, 14, 28, 35, 0, 21, 5, 26, 12, 33, 19, 31]);
    assert_eq!(top(40, 7, 12, true, false), [30, 16, 23, 9, 39, 4, 18, 2, 11, 37, 25, 32]);
    assert_eq!((top(40, 7, 1, true, true), top(40, 7, 1, false, true)), (vec![23], vec![28]));
    assert_eq!((top(200, 9, 3, true, true), top(200, 9, 3, false, true)), (vec![11, 4, 2], vec![6, 3, 0]));
    assert_eq!(top(640, 11, 10, true, true), [8, 1, 23, 19, 12, 41, 45, 52, 34, 30]);
    assert_eq!(top(640, 11, 10, false, true), [0, 9, 20, 22, 11, 42, 44, 53, 33, 31]);
    assert_eq!(top(100, 5, 30, true, true)[..12], [47, 94, 14, 17, 27, 29, 87, 32, 34, 37, 39, 84]);
    assert_eq!(top(100, 5, 30, true, false)[..12], [99, 72, 69, 67, 74, 64, 62, 59, 57, 77, 54, 52]);
    let kth = |n: i64, m| -> Vec<i64> {
        (0..n).step_by(5).map(|k| squares(n, m).kthvalue(k + 1).unwrap().1.at::<i64>(()).unwrap()).collect()
    };
    assert_eq!(kth(40, 7), [28, 35, 5, 38, 8, 20, 39, 9]);
    assert_eq!(kth(17, 4), [12, 0, 14, 10]);
    assert_eq!(kth(100, 5)[..10], [81, 80, 85, 61, 51, 71, 16, 25, 23, 73]);
    for (n, m, place) in [(40, 7, 14), (100, 5, 11), (17, 4, 3)] {
        let (value, index) = squares(n, m).mode(0).unwrap();
        assert_eq!((value.at::<i32>(()).unwrap(), index.at::<i64>(()).unwrap()), (0, place));
    }
}

#[test]
fn selection_has_the_sizes_and_errors_of_pytorch() {
    let x = tensor![[3.0f32, 1.0, 2.0], [f32::NAN, 5.0, 4.0]];
    let (values, indices) = x.median_dim_with(1, MedianDim { keepdim: true, ..Default::default() }).unwrap();
    assert_eq!((values.sizes(), indices.to_vec::<i64>().unwrap()), (&[2, 1][..], vec![2, 0]));
    assert_eq!(x.topk_with(1, Topk { dim: 0, ..Default::default() }).unwrap().0.sizes(), [1, 3]);
    assert_eq!(tensor![[1, 2, 3]].kthvalue(2).unwrap().0.sizes(), [1]);
    assert_eq!(point().sort(0).unwrap().1.sizes(), [0i64; 0]);
    assert_eq!(point().kthvalue(1).unwrap().0.item().unwrap(), 0.0.into());
    assert_eq!(point().topk(0).unwrap().1.sizes(), [0i64; 0]);
    assert!(matches!(x.topk(4).unwrap_err().kind(), ErrorKind::OutOfRange { arg: "k", got: 4, low: 0, high: 3 }));
    assert!(matches!(x.kthvalue(0).unwrap_err().kind(), ErrorKind::OutOfRange { arg: "k", .. }));
    assert!(matches!(x.topk(-1).unwrap_err().kind(), ErrorKind::OutOfRange { .. }));
    let empty = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[2, 0]).unwrap();
    assert!(matches!(empty.mode(1).unwrap_err().kind(), ErrorKind::EmptyReduction { dim: 1 }));
    assert!(matches!(empty.kthvalue(1).unwrap_err().kind(), ErrorKind::EmptyReduction { dim: 1 }));
    assert_eq!(empty.sort(1).unwrap().0.sizes(), [2, 0]);
    let complex = Tensor::<Cpu>::zeros_contiguous(DType::C64, &[2]).unwrap();
    assert!(matches!(complex.sort(0).unwrap_err().kind(), ErrorKind::DTypeNotSupported { .. }));
    assert!(matches!(tensor![true].topk(1).unwrap_err().kind(), ErrorKind::DTypeNotSupported { .. }));
    assert!(matches!(x.sort(2).unwrap_err().kind(), ErrorKind::DimOutOfRange { .. }));
    assert!(empty.median().unwrap().item().unwrap().to_f64().is_nan());
    assert!(x.median().unwrap().item().unwrap().to_f64().is_nan());
    assert_eq!(x.nanmedian().unwrap().item().unwrap(), 3.0.into());
}

#[test]
fn outputs_may_be_the_input_but_not_each_other() {
    let (mut x, mut places) = (tensor![3i64, 1, 2], tensor![0i64, 0, 0]);
    let mut stack = vec![x.clone().into(), 0.into(), false.into(), x.clone().into(), places.clone().into()];
    call("sort.values", &mut stack).unwrap();
    drop(stack);
    assert_eq!((x.to_vec::<i64>().unwrap(), places.to_vec::<i64>().unwrap()), (vec![1, 2, 3], vec![1, 2, 0]));
    let mut stack = vec![x.clone().into(), 0.into(), false.into(), places.clone().into(), places.clone().into()];
    assert!(matches!(call("sort.values", &mut stack).unwrap_err().kind(), ErrorKind::Overlap { .. }));
    drop(stack);
    ops::sort_out(&tensor![9i64, 8, 7], 0, (&mut x, &mut places)).unwrap();
    assert_eq!((x.to_vec::<i64>().unwrap(), places.to_vec::<i64>().unwrap()), (vec![7, 8, 9], vec![2, 1, 0]));
}

#[test]
fn quantiles_interpolate_as_asked() {
    let x = tensor![[8.0f64, 1.0, 4.0, 2.0], [f64::NAN, 3.0, 1.0, 2.0]];
    for (interpolation, want) in [("linear", 1.9), ("lower", 1.0), ("higher", 2.0), ("midpoint", 1.5), ("nearest", 2.0)]
    {
        let options = Quantile { dim: Some(1), interpolation, ..Default::default() };
        let got = x.quantile_with(0.3, options).unwrap().to_vec::<f64>().unwrap();
        assert!((got[0] - want).abs() < 1e-12 && got[1].is_nan(), "{interpolation} {got:?}");
        let options = Nanquantile { dim: Some(1), interpolation, ..Default::default() };
        let got = x.nanquantile_with(0.5, options).unwrap().to_vec::<f64>().unwrap();
        assert_eq!(got[1], 2.0, "{interpolation}");
    }
    let q = tensor![0.0f64, 0.5, 1.0];
    let got = x.nanquantiles_with(&q, Nanquantiles { dim: Some(1), ..Default::default() }).unwrap();
    assert_eq!((got.sizes(), got.strides()), (&[3, 2][..], &[1, 3][..]));
    assert_eq!(got.to_vec::<f64>().unwrap(), [1.0, 1.0, 3.0, 2.0, 8.0, 3.0]);
    for bad in [-0.1, 1.5, f64::NAN] {
        assert!(matches!(x.quantile(bad).unwrap_err().kind(), ErrorKind::ArgumentRule { .. }));
        assert!(matches!(x.quantiles(&tensor!(bad)).unwrap_err().kind(), ErrorKind::ArgumentRule { .. }));
    }
    let options = Quantile { interpolation: "cubic", ..Default::default() };
    assert!(matches!(x.quantile_with(0.5, options).unwrap_err().kind(), ErrorKind::UnknownOption { .. }));
    assert!(matches!(tensor![1].quantile(0.5).unwrap_err().kind(), ErrorKind::DTypeNotSupported { .. }));
}

#[test]
fn groups_are_those_of_a_set() {
    let mut random = Random::new(8);
    let all = || Unique { return_inverse: true, return_counts: true, ..Default::default() };
    for dtype in REAL {
        for layout in Layout::ALL {
            let x = tensor(layout.geometry(dtype, &[5, 60]), &plain(dtype, 300, &mut random));
            let (got, inverse, counts) = x.unique_with(all()).unwrap();
            let scalars = values(&x);
            let (set, counts) = (values(&got), counts.to_vec::<i64>().unwrap());
            assert!(set.windows(2).all(|pair| order(&pair[0], &pair[1]).is_lt() || pair[1].to_f64().is_nan()));
            assert_eq!(inverse.sizes(), x.sizes());
            let mut seen = vec![0; set.len()];
            for (x, place) in scalars.iter().zip(inverse.to_vec::<i64>().unwrap()) {
                assert!(order(x, &set[place as usize]).is_eq());
                seen[place as usize] += 1;
            }
            assert_eq!(seen, counts, "{:?}", x.geometry());
        }
    }
    let (rows, inverse, counts) = tensor![[2, 1], [1, 9], [2, 1], [1, 3]].unique_dim(0).unwrap();
    assert_eq!(rows.to_vec::<i32>().unwrap(), [1, 3, 1, 9, 2, 1]);
    assert_eq!((inverse.to_vec::<i64>().unwrap(), counts.to_vec::<i64>().unwrap()), (vec![2, 1, 2, 0], vec![1, 1, 2]));
    let (columns, _, _) = tensor![[2, 1, 2], [1, 9, 1]].unique_dim(1).unwrap();
    assert_eq!((columns.strides(), columns.to_vec::<i32>().unwrap()), (&[1, 2][..], vec![1, 2, 9, 1]));
    let nan = tensor![f32::NAN, f32::NAN, 0.0, -0.0];
    let (got, places, _) =
        nan.unique_consecutive_with(UniqueConsecutive { return_inverse: true, ..Default::default() }).unwrap();
    assert_eq!((got.numel(), places.to_vec::<i64>().unwrap()), (3, vec![0, 1, 2, 2]));
    let both = UniqueConsecutive { return_inverse: true, return_counts: true, ..Default::default() };
    let (got, places, counts) = tensor![1, 1, 2, 2, 2, 1].unique_consecutive_with(both).unwrap();
    assert_eq!((got.to_vec::<i32>().unwrap(), counts.to_vec::<i64>().unwrap()), (vec![1, 2, 1], vec![2, 3, 1]));
    assert_eq!(places.to_vec::<i64>().unwrap(), [0, 0, 1, 1, 1, 2]);
    let empty = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[0, 3]).unwrap();
    assert_eq!(empty.unique_with(all()).unwrap().1.sizes(), [0, 3]);
    assert!(empty.unique_dim(1).is_err() && point().unique_dim(0).is_err());
    assert!(x_meta().unique().is_err());
}

/// A tensor without dimensions.
fn point() -> Tensor<Cpu> {
    Tensor::zeros_contiguous(DType::F32, &[]).unwrap()
}

fn x_meta() -> Tensor<monomorph::Meta> {
    Tensor::zeros_contiguous(DType::F32, &[3]).unwrap()
}

#[test]
fn searches_count_what_comes_before() {
    let mut random = Random::new(9);
    for dtype in REAL.into_iter().filter(|&dtype| dtype != DType::Bool) {
        for layout in Layout::ALL {
            let sequences =
                tensor(layout.geometry(dtype, &[3, 40]), &plain(dtype, 120, &mut random)).sort(1).unwrap().0;
            let x = tensor(layout.geometry(dtype, &[3, 17]), &plain(dtype, 51, &mut random));
            if values(&sequences).iter().any(|x| x.to_f64().is_nan()) {
                continue;
            }
            for right in [false, true] {
                let options = Searchsorted { right, ..Default::default() };
                let got = ops::searchsorted_with(&sequences, &x, options).unwrap();
                for ((sequence, x), got) in rows(&sequences, 1).iter().zip(rows(&x, 1)).zip(ints(&got, 1)) {
                    for (x, got) in x.iter().zip(got) {
                        let before = |s: &&Scalar| order(s, x).is_lt() || right && order(s, x).is_eq();
                        let want = sequence.iter().filter(before).count() as i64;
                        assert_eq!(got, want, "{x:?} in {sequence:?} of {:?}, right {right}", sequences.geometry());
                    }
                }
            }
            let found = ops::isin(&x, &sequences).unwrap().to_vec::<bool>().unwrap();
            let all = values(&sequences);
            for (x, found) in values(&x).iter().zip(found) {
                assert_eq!(found, !x.to_f64().is_nan() && all.iter().any(|s| order(s, x).is_eq()));
            }
        }
    }
    let (x, sorter) = (tensor![5.0f32, 1.0, 3.0], tensor![1i64, 2, 0]);
    fn by(sorter: &Tensor<Cpu>) -> Searchsorted<'_, Cpu> {
        Searchsorted { sorter: Some(sorter), ..Default::default() }
    }
    assert_eq!(
        ops::searchsorted_with(&x, &tensor![2.0f32, 4.0], by(&sorter)).unwrap().to_vec::<i64>().unwrap(),
        [1, 2]
    );
    for bad in [tensor![1i64, 2, 3], tensor![1i64, 2, -1]] {
        let error = ops::searchsorted_with(&x, &tensor![2.0f32], by(&bad)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::ArgumentRule { .. }));
    }
    let nan = tensor![1.0f32, 2.0, f32::NAN];
    assert_eq!(ops::searchsorted(&nan, &tensor![1.5f32, 5.0]).unwrap().to_vec::<i64>().unwrap(), [1, 3]);
    assert_eq!(tensor![1, 5].bucketize(&tensor![1.5f32]).unwrap().to_vec::<i64>().unwrap(), [0, 1]);
    assert!(tensor![1].bucketize(&tensor![[1]]).is_err());
    // Numbers, which take on the dtype of the sequence unless that is of integers.
    let place = |name: &str, mut stack: Stack| {
        call(name, &mut stack)?;
        monomorph::Result::Ok(stack.remove(0).into_tensor().expect("a tensor"))
    };
    let (sequence, no): (IValue, IValue) = (tensor![1i64, 3, 5].into(), false.into());
    let places = [(3.into(), false, 1), (3.into(), true, 2), (3.5.into(), false, 2), (f64::NAN.into(), false, 3)];
    for (number, right, want) in places {
        let number: IValue = number;
        let args = vec![number.clone(), sequence.clone(), no.clone(), right.into()];
        let got = place("bucketize.Scalar", args).unwrap();
        assert_eq!((got.sizes(), got.to_vec::<i64>().unwrap()), (&[][..], vec![want]));
        let args = vec![sequence.clone(), number, true.into(), right.into()];
        let got = place("searchsorted.Scalar", args).unwrap();
        assert_eq!((got.sizes(), got.to_vec::<i32>().unwrap()), (&[][..], vec![want as i32]));
    }
    let error = place("searchsorted.Scalar", vec![tensor![[1i64, 3]].into(), 3.into()]).unwrap_err();
    assert!(error.to_string().starts_with("searchsorted: argument self has tensors of sizes"), "{error}");
}

/// Points that lie on edges, of which each is PyTorch's to the bit.
#[test]
fn points_on_edges_are_in_the_bins_of_pytorch() {
    let points: Vec<f32> = (0..256u16).map(|i| f32::from(i) / 32.0 - 4.0).collect();
    let (counts, _) = Tensor::<Cpu>::from_slice(&points, [256])
        .and_then(|points| points.histogram_with(Histogram { bins: 50, ..Default::default() }))
        .unwrap();
    let six: Vec<_> = (0..50).filter(|&bin| counts.at::<f32>([bin]).unwrap() == 6.0).collect();
    assert_eq!(six, [0, 10, 20, 29, 40, 49]);
    assert_eq!(counts.sum(..).unwrap().at::<f32>(()).unwrap(), 256.0);
}

#[test]
fn bins_are_counted() {
    let x = tensor![0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 1.0, f32::NAN];
    let four = Histc { bins: 4, min: 0.into(), max: 4.into(), ..Default::default() };
    assert_eq!(x.histc_with(four).unwrap().to_vec::<f32>().unwrap(), [1.0, 2.0, 1.0, 2.0]);
    assert!(x.histc().is_err(), "the largest element is no number");
    let (counts, edges) = tensor![0.0f64, 1.0, 5.0].histogram_between(&tensor![0.0f64, 1.0, 3.0]).unwrap();
    assert_eq!((counts.to_vec::<f64>().unwrap(), edges.numel()), (vec![1.0, 1.0], 3));
    let weight = tensor![1.0f64, 2.0];
    let (counts, _) = tensor![0.0f64, 1.0]
        .histogram_with(Histogram { bins: 2, weight: Some(&weight), density: true, ..Default::default() })
        .unwrap();
    assert_eq!(counts.to_vec::<f64>().unwrap(), [1.0 / 3.0 / 0.5, 2.0 / 3.0 / 0.5]);
    let halves = Tensor::<Cpu>::zeros_contiguous(DType::F16, &[5000]).unwrap();
    let one = halves.histc_with(Histc { bins: 1, ..Default::default() }).unwrap();
    assert_eq!(one.item().unwrap(), 2048.0.into(), "the sum of ones that float16 has");
    let points = tensor![[0.1f32, 0.2], [0.7, 0.2], [0.9, 0.9]];
    let mut stack: Vec<IValue> = vec![
        points.into(),
        IValue::Ints(vec![2, 2]),
        IValue::Floats(vec![0.0, 1.0, 0.0, 1.0]),
        IValue::None,
        false.into(),
    ];
    call("histogramdd", &mut stack).unwrap();
    let counts = stack[0].as_tensor().unwrap();
    assert_eq!((counts.sizes(), counts.to_vec::<f32>().unwrap()), (&[2, 2][..], vec![1.0, 0.0, 1.0, 1.0]));
    let numbers = tensor![1i64, 3, 1, 0];
    assert_eq!(numbers.bincount().unwrap().to_vec::<i64>().unwrap(), [1, 2, 0, 1]);
    let weights = tensor![0.5f32, 1.0, 2.0, 4.0];
    let options = Bincount { weights: Some(&weights), minlength: 5, ..Default::default() };
    assert_eq!(numbers.bincount_with(options).unwrap().to_vec::<f32>().unwrap(), [4.0, 2.5, 0.0, 1.0, 0.0]);
    let many = Tensor::<Cpu>::from_vec((0..1001).map(|i| i % 3).collect::<Vec<i64>>(), 1001).unwrap();
    assert_eq!(many.bincount().unwrap().to_vec::<i64>().unwrap(), [334, 334, 333]);
    assert!(tensor![1i64, -1].bincount().is_err() && tensor![i64::MAX].bincount().is_err());
    assert!(matches!(tensor![i64::MAX - 1].bincount().unwrap_err().kind(), ErrorKind::SizeOverflow { .. }));
}

#[test]
fn a_row_that_is_too_long_is_refused_before_outputs_are_written() {
    let long = tensor![1u8].expand(1i64 << 32).unwrap();
    let (values, indices) = (tensor![7u8], tensor![7i64]);
    let outputs = [values.clone().into(), indices.clone().into()];
    let mut stack: Stack = [long.into(), 0i64.into(), false.into()].into_iter().chain(outputs).collect();
    let error = call("mode.values", &mut stack).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::TooManyElements { .. }), "{error}");
    assert_eq!((values.version(), indices.version(), values.sizes()), (0, 0, &[1i64][..]));
}

#[test]
fn combinations_come_in_the_order_of_places() {
    let x = tensor![1, 2, 3, 4];
    let three = x.combinations_with(Combinations { r: 3, ..Default::default() }).unwrap();
    assert_eq!(three.to_vec::<i32>().unwrap(), [1, 2, 3, 1, 2, 4, 1, 3, 4, 2, 3, 4]);
    let twice = tensor![1, 2].combinations_with(Combinations { with_replacement: true, ..Default::default() }).unwrap();
    assert_eq!(twice.to_vec::<i32>().unwrap(), [1, 1, 1, 2, 2, 2]);
    assert_eq!(x.combinations_with(Combinations { r: 5, ..Default::default() }).unwrap().sizes(), [0, 5]);
    assert_eq!(x.combinations_with(Combinations { r: 0, ..Default::default() }).unwrap().sizes(), [0]);
    assert!(x.combinations_with(Combinations { r: -1, ..Default::default() }).is_err());
    let many = Combinations { r: i64::MAX, with_replacement: true, ..Default::default() };
    assert!(matches!(x.combinations_with(many).unwrap_err().kind(), ErrorKind::TooManyElements { .. }));
    let none = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[0, 3, 4]).unwrap();
    assert_eq!(none.sort(0).unwrap().0.sizes(), none.sizes());
    assert_eq!(none.transpose(0, 2).unwrap().sort(2).unwrap().0.numel(), 0);
    assert_eq!(none.unique_dim(0).unwrap().0.sizes(), none.sizes());
    let long = Tensor::<Cpu>::zeros_contiguous(DType::U8, &[1 << 20]).unwrap();
    let error = long.combinations_with(Combinations { r: 1 << 19, ..Default::default() }).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Allocation { .. }));
}
