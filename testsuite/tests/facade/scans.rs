//! Scans against loops over indices: values, sizes, strides and dtypes over dtypes × layouts × dimensions, in every
//! form; long lines, which are cut into segments; the errors and edges of PyTorch.

use monomorph::crates::core::Kind;
use monomorph::ops::options::*;
use monomorph::{
    Cpu, DType, ErrorKind, IValue, Result, Scalar, Tensor, call,
    ops::{cumprod_with, cumsum, cumsum_, cumsum_out, cumsum_with},
};
use monomorph_testsuite::layout::{Layout, Random, convert, plain, tensor, values};
use monomorph_testsuite::naive::each_index;

/// The partial results of `step` along `dim`, in row-major order of the elements.
fn naive(t: &Tensor<Cpu>, dim: usize, dtype: DType, step: fn(Scalar, Scalar) -> Scalar) -> Vec<Scalar> {
    let all: Vec<Scalar> = values(t).into_iter().map(|v| convert(v, dtype)).collect();
    let strides = monomorph::crates::core::strides::contiguous_strides(t.sizes());
    // Halves accumulate in float32, float32 in float64, and all others in themselves.
    let wide = match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        DType::F32 => DType::F64,
        DType::C64 => DType::C128,
        dtype => dtype,
    };
    let (mut sums, mut k) = (Vec::with_capacity(all.len()), 0);
    each_index(t.sizes(), |index| {
        let before: Option<Scalar> = (index[dim] > 0).then(|| sums[k - strides[dim] as usize]);
        sums.push(before.map_or(convert(all[k], wide), |before| convert(step(before, all[k]), wide)));
        k += 1;
    });
    sums.into_iter().map(|sum| convert(sum, dtype)).collect()
}

fn add(a: Scalar, b: Scalar) -> Scalar {
    match a {
        Scalar::Int(a) => Scalar::Int(a.wrapping_add(b.to_i64())),
        Scalar::Float(a) => Scalar::Float(a + b.to_f64()),
        _ => Scalar::Complex(a.to_complex() + b.to_complex()),
    }
}

fn mul(a: Scalar, b: Scalar) -> Scalar {
    match a {
        Scalar::Int(a) => Scalar::Int(a.wrapping_mul(b.to_i64())),
        Scalar::Float(a) => Scalar::Float(a * b.to_f64()),
        _ => Scalar::Complex(a.to_complex() * b.to_complex()),
    }
}

type Typed = for<'t> fn(&'t Tensor<Cpu>, i64, Option<DType>) -> Result<Tensor<Cpu>>;
type Step = fn(Scalar, Scalar) -> Scalar;
const SCANS: [(&str, Typed, Step); 2] = [
    ("cumsum", |x, dim, dtype| cumsum_with(x, dim, Cumsum { dtype, ..Default::default() }), add),
    ("cumprod", |x, dim, dtype| cumprod_with(x, dim, Cumprod { dtype, ..Default::default() }), mul),
];

fn row_major(t: &Tensor<Cpu>) -> bool {
    t.strides() == &monomorph::crates::core::strides::contiguous_strides(t.sizes())[..]
}

#[test]
fn every_dtype_layout_and_dimension() {
    let mut random = Random::new(3);
    for dtype in DType::ALL {
        for layout in Layout::ALL {
            for sizes in [&[7][..], &[3, 5], &[4, 1, 6], &[2, 70, 3], &[3, 0, 2], &[2, 3, 2, 5]] {
                let numel: i64 = sizes.iter().product();
                let x = tensor(layout.geometry(dtype, sizes), &plain(dtype, numel.max(1) as usize, &mut random));
                for dim in 0..sizes.len() {
                    for asked in [None, Some(DType::F64), Some(DType::I32), Some(DType::C64)] {
                        for (name, scan, step) in SCANS {
                            let own = if dtype.kind() < Kind::Float { DType::I64 } else { dtype };
                            let want = asked.unwrap_or(own);
                            let got = scan(&x, dim as i64, asked).unwrap();
                            let what = format!("{name} along {dim} as {asked:?} of {:?}", x.geometry());
                            assert_eq!((got.sizes(), got.dtype()), (x.sizes(), want), "{what}");
                            assert!(row_major(&got), "{what}: {:?}", got.strides());
                            assert_eq!(values(&got), naive(&x, dim, want, step), "{what}");
                        }
                    }
                }
            }
        }
    }
}

/// Outputs of every layout, that of the input among them, and the input itself.
#[test]
fn outputs_of_the_caller() {
    let mut random = Random::new(4);
    let sizes = [3, 40, 2];
    for dtype in [DType::I16, DType::F16, DType::F32, DType::C128] {
        for layout in Layout::WRITABLE {
            for dim in 0..3 {
                let x = tensor(layout.geometry(dtype, &sizes), &plain(dtype, 240, &mut random));
                let want = naive(&x, dim, dtype, add);
                let mut out = tensor(layout.geometry(dtype, &sizes), &vec![Scalar::Int(0); 240]);
                let strides = out.strides().to_vec();
                cumsum_out(&x, dim as i64, &mut out).unwrap();
                assert_eq!((values(&out), out.strides()), (want.clone(), &strides[..]), "{:?}", out.geometry());
                let mut small = Tensor::<Cpu>::zeros_contiguous(dtype, &[0]).unwrap();
                cumsum_out(&x, dim as i64, &mut small).unwrap();
                assert!(row_major(&small) && values(&small) == want);
                let mut x = x;
                cumsum_(&mut x, dim as i64).unwrap();
                assert_eq!(values(&x), want, "in place, {:?}", x.geometry());
            }
        }
    }
}

/// Long lines alone and a few side by side: every length around the borders of segments, blocks and chunks.
#[test]
fn long_lines() {
    let mut random = Random::new(5);
    for n in [1025, 2047, 2048, 2049, 4095, 4096, 4097, 5119, 5120, 65_535, 65_536, 65_537, 200_003] {
        for lines in [1, 3] {
            for dtype in [DType::U8, DType::F32, DType::C64] {
                let x = tensor(
                    Layout::Contiguous.geometry(dtype, &[lines, n]),
                    &plain(dtype, (lines * n) as usize, &mut random),
                );
                for x in [x.clone(), monomorph::ops::transpose(&x, 0, 1).unwrap()] {
                    let dim = usize::from(x.sizes()[1] == n);
                    let got = cumsum(&x, dim as i64).unwrap();
                    assert!(values(&got) == naive(&x, dim, got.dtype(), add), "{lines} lines of {n} {dtype}");
                }
            }
        }
    }
}

#[test]
fn edges_are_pytorchs() {
    let one = |dtype| tensor(Layout::Contiguous.geometry(dtype, &[]), &[Scalar::Int(1)]);
    let got = cumsum(&one(DType::Bool), 0).unwrap();
    assert_eq!((got.dtype(), values(&got)), (DType::I64, vec![Scalar::Int(1)]));
    let got = cumsum_with(&one(DType::F32), -1, Cumsum { dtype: Some(DType::Bool), ..Default::default() }).unwrap();
    assert_eq!((got.dtype(), values(&got)), (DType::Bool, vec![Scalar::Bool(true)]));
    let empty = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[0]).unwrap();
    assert_eq!(
        cumsum_with(&empty, 0, Cumsum { dtype: Some(DType::Bool), ..Default::default() }).unwrap().dtype(),
        DType::Bool
    );

    let three = Tensor::<Cpu>::from_slice(&[1.5f32, 2.0, 3.0], [3]).unwrap();
    let kind = |result: Result<Tensor<Cpu>>| result.map(drop).unwrap_err().kind().clone();
    assert!(matches!(kind(cumsum(&three, 1)), ErrorKind::DimOutOfRange { got: 1, ndim: 1, .. }));
    assert!(matches!(
        kind(cumsum_with(&three, 0, Cumsum { dtype: Some(DType::Bool), ..Default::default() })),
        ErrorKind::DTypeNotSupported { got: DType::Bool, .. }
    ));
    // The caller's output says the dtype, unless the caller does.
    let mut int = Tensor::<Cpu>::zeros_contiguous(DType::I32, &[0]).unwrap();
    cumsum_out(&three, 0, &mut int).unwrap();
    assert_eq!(int.to_vec::<i32>().unwrap(), [1, 3, 6]);
    let mut stack = vec![three.clone().into(), IValue::Int(0), DType::F64.into(), int.into()];
    assert!(matches!(call("cumsum.out", &mut stack).unwrap_err().kind(), ErrorKind::OutputDType { .. }));

    let numbers = Tensor::<Cpu>::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [4]).unwrap();
    let part = |start, len| monomorph::ops::narrow(&numbers, 0, start, len).unwrap();
    let overlapping = cumsum_out(&part(0, 3), 0, &mut part(1, 3)).map(drop);
    assert!(matches!(overlapping.unwrap_err().kind(), ErrorKind::PartialOverlap { .. }));
    assert_eq!(numbers.to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    let mut one_place = monomorph::ops::expand(&part(0, 1), [3]).unwrap();
    let repeated = cumsum_out(&three, 0, &mut one_place).map(drop);
    assert!(matches!(repeated.unwrap_err().kind(), ErrorKind::InternalOverlap { .. }));
}

/// An output in the storage of an input of another dtype: the input is read before it is overwritten.
#[test]
fn an_input_of_another_dtype_is_read_first() {
    let numbers: Vec<i32> = (1..=64).collect();
    let x = Tensor::<Cpu>::from_slice(&numbers, [64]).unwrap();
    let mut out = monomorph::ops::narrow(&monomorph::ops::view_as_type(&x, DType::F32).unwrap(), 0, 1, 63).unwrap();
    let input = monomorph::ops::narrow(&x, 0, 0, 63).unwrap();
    cumsum_out(&input, 0, &mut out).unwrap();
    let want: Vec<f32> = (1..=63).map(|n| (n * (n + 1) / 2) as f32).collect();
    assert_eq!(out.to_vec::<f32>().unwrap(), want);
}
