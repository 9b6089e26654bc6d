//! Extremes and where they are, of runs that are long enough for the loops that pass over whole groups of elements: the
//! first of equal ones, and NaN before all, wherever they stand.

use crate::reductions::{numbers, run};
use monomorph::{Cpu, DType, Error, ErrorKind, IValue, Scalar, Tensor};
use monomorph_testsuite::layout::{Random, convert};

/// Where the extreme is, element by element.
fn place(row: &[f64], sign: f64) -> usize {
    let mut best = 0;
    for (i, &x) in row.iter().enumerate() {
        let beats = x * sign > row[best] * sign || x.is_nan();
        if beats && !row[best].is_nan() {
            best = i;
        }
    }
    best
}

/// Rows that begin, end and go on in every way that a search could miss.
fn rows(n: usize, random: &mut Random) -> Vec<Vec<f64>> {
    let noise: Vec<f64> = (0..n).map(|_| f64::from(random.below(61) as u32) - 30.0).collect();
    let with = |places: &[usize], value: f64| {
        let mut row = noise.clone();
        places.iter().for_each(|&i| row[i % n] = value);
        row
    };
    let any = [n / 2 + 1, n / 3, n - 1, random.below(n)];
    let mut rows = vec![
        (0..n).map(|i| (i % 120) as f64).collect(),
        (0..n).rev().map(|i| (i % 120) as f64).collect(),
        vec![3.0; n],
        (0..n).map(|i| if i % 7 == 3 { -0.0 } else { 0.0 }).collect(),
        with(&[0], f64::NAN),
        with(&any[..1], f64::NAN),
        with(&any, f64::NAN),
    ];
    rows.extend([f64::INFINITY, f64::NEG_INFINITY, 100.0, -100.0].map(|value| with(&any, value)));
    rows.push(noise.clone());
    rows
}

#[test]
fn extremes_of_long_runs_are_those_of_loops() {
    let mut random = Random::new(3);
    for n in [1, 15, 128, 129, 1000, 4096, 20_000] {
        let rows = rows(n, &mut random);
        let shape = [rows.len() as i64, n as i64];
        for dtype in [DType::F32, DType::F64, DType::BF16, DType::I64, DType::I8, DType::Bool] {
            let t = Tensor::<Cpu>::from_slice(&rows.concat(), shape).unwrap();
            let t = run("to.dtype", vec![t.into(), dtype.into(), false.into(), false.into(), IValue::None]).unwrap();
            let elements: Vec<Scalar> = numbers(&t[0]);
            for (sign, with_value, alone) in [(1.0, "max.dim", "argmax"), (-1.0, "min.dim", "argmin")] {
                let want: Vec<usize> = elements
                    .chunks(n)
                    .map(|row| place(&row.iter().map(|x| x.to_f64()).collect::<Vec<_>>(), sign))
                    .collect();
                let places: Vec<Scalar> = want.iter().map(|&i| Scalar::Int(i as i64)).collect();
                let args = |t: &monomorph::AnyTensor| vec![t.clone().into(), IValue::Int(1), false.into()];
                let got = run(with_value, args(&t[0])).unwrap();
                assert_eq!(numbers(&got[1]), places, "{with_value} of {n} of {dtype}");
                let values = elements.chunks(n).zip(&want).map(|(row, &i)| row[i].to_f64().to_bits());
                let got: Vec<u64> = numbers(&got[0]).iter().map(|x| x.to_f64().to_bits()).collect();
                assert_eq!(got, values.collect::<Vec<_>>(), "{with_value} of {n} of {dtype}");
                if dtype != DType::Bool {
                    assert_eq!(numbers(&run(alone, args(&t[0])).unwrap()[0]), places, "{alone} of {n} of {dtype}");
                }
                // Along the other dimension, where each lane has a run of its own.
                let turned = run("t", vec![t[0].clone().into()]).unwrap();
                let turned = run("clone", vec![turned[0].clone().into(), IValue::None]).unwrap();
                let got = run(with_value, vec![turned[0].clone().into(), IValue::Int(0), true.into()]).unwrap();
                assert_eq!((got[0].sizes(), numbers(&got[1])), (&[1, shape[0]][..], places), "{with_value} of columns");
            }
        }
    }
}

#[test]
fn what_has_no_extreme_is_an_error() {
    let call = |name: &str, t: Tensor<Cpu>, dim: i64| {
        run(name, vec![t.into(), IValue::Int(dim), false.into()]).map_err(|error| error.kind().clone())
    };
    let empty = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[2, 0]).unwrap();
    assert!(matches!(call("max.dim", empty.clone(), 1), Err(ErrorKind::EmptyReduction { dim: 1 })));
    assert_eq!(call("max.dim", empty.clone(), -2).unwrap()[1].sizes(), [0]);
    assert!(matches!(call("min.dim", empty.clone(), 2), Err(ErrorKind::DimOutOfRange { .. })));
    assert!(run("max", vec![empty.into()]).is_err());
    let complex = Tensor::<Cpu>::zeros_contiguous(DType::C64, &[2]).unwrap();
    assert!(matches!(call("min.dim", complex, 0), Err(ErrorKind::DTypeNotSupported { .. })));
    let three = Tensor::<Cpu>::from_slice(&[3.0f32], ()).unwrap();
    assert_eq!(numbers(&call("max.dim", three.clone(), -1).unwrap()[1]), [Scalar::Int(0)]);
    assert_eq!(numbers(&run("min", vec![three.into()]).unwrap()[0]), [convert(Scalar::Float(3.0), DType::F32)]);
}

/// Unlike that of `amax`, an output of `max` may have any dtype that the elements can be cast to.
#[test]
fn the_extreme_of_all_elements_is_cast_to_its_output() {
    let x = Tensor::<Cpu>::from_slice(&[1i64, 5, 3], 3).unwrap();
    let to = |name, dtype| {
        let out = Tensor::<Cpu>::zeros_contiguous(dtype, &[]).unwrap();
        Ok::<_, Error>(numbers(&run(name, vec![x.clone().into(), out.into()])?[0]))
    };
    assert_eq!(to("max.unary_out", DType::F32).unwrap(), [convert(Scalar::Int(5), DType::F32)]);
    assert_eq!(to("min.unary_out", DType::I32).unwrap(), [Scalar::Int(1)]);
    assert!(to("max.unary_out", DType::Bool).is_err());
}
