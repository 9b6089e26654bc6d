//! Rows: equal ones, of which one is computed and copied; dense ones and broadcast columns, which a kernel takes in one
//! call.

use super::formulas::{Abs, Before, Minus, T, Times, apply, apply_tuned, axpy_out, tensor};
use monomorph_core::structured::{Out, call};
use monomorph_core::{DType, Geometry, Scalar, Tensor};
use monomorph_cpu::Cpu;
use monomorph_cpu::tuning::Tuned;
use monomorph_ops::pointwise::{Pointwise, PointwiseInputs};

fn expanded(row: &T, sizes: &[i64]) -> T {
    let strides: Vec<i64> = (0..sizes.len()).map(|d| i64::from(d + 1 == sizes.len())).collect();
    row.with_geometry(Geometry::new(row.dtype(), sizes, &strides, 0).unwrap()).unwrap()
}

/// Few and many columns, planes and stacks of them, outputs of every order and with gaps, casts on both sides.
#[test]
fn every_row_is_the_first() {
    for sizes in [&[300i64, 7] as &[i64], &[5, 64], &[3, 5000], &[2, 40, 129], &[700, 1], &[129, 65]] {
        let cols = sizes[sizes.len() - 1];
        let rows: i64 = sizes[..sizes.len() - 1].iter().product();
        let data: Vec<i32> = (0..cols as i32).map(|i| 3 - i).collect();
        let of = expanded(&tensor(&data, &[cols]), sizes);
        let want: Vec<i32> = (0..rows).flat_map(|_| data.iter().map(|x| x.abs())).collect();
        assert_eq!(apply::<Abs, _>((&of,)).unwrap().to_vec::<i32>().unwrap(), want, "{sizes:?}");
        let want: Vec<i32> = (0..rows).flat_map(|_| data.iter().map(|x| 2 * x)).collect();
        for dtype in [DType::I32, DType::F64] {
            // Dense, with gaps between rows, with gaps between elements, transposed.
            for (inner, gap) in [(1, 0), (1, 3), (2, 0), (rows, 0)] {
                let mut strides = vec![inner; sizes.len()];
                for d in (0..sizes.len() - 1).rev() {
                    strides[d] = if inner == rows && rows > 1 { 1 } else { inner * cols + gap };
                    for &size in &sizes[d + 1..sizes.len() - 1] {
                        strides[d] *= size;
                    }
                }
                let mut out = Tensor::<Cpu>::zeroed(dtype, sizes, &strides, 0).unwrap();
                let inputs = PointwiseInputs::<Times>::new((&of, Scalar::Int(2))).unwrap();
                call::<Pointwise<Times, Tuned>, Cpu, _>(&inputs, Out([&mut out])).unwrap();
                let got: Vec<i32> = match dtype {
                    DType::I32 => out.to_vec().unwrap(),
                    _ => out.to_vec::<f64>().unwrap().iter().map(|&x| x as i32).collect(),
                };
                assert_eq!(got, want, "{sizes:?} {dtype} {strides:?}");
            }
        }
    }
}

/// An operand that is the output itself is not the same in every row, whatever the other is.
#[test]
fn rows_that_are_read_are_not_repeated() {
    let row = tensor(&[1.0f32; 70], &[70]);
    let mut this = tensor(&(0..700).map(|i| i as f32).collect::<Vec<_>>(), &[10, 70]);
    let alias = this.clone();
    axpy_out(&expanded(&row, &[10, 70]), &alias, 2, &mut this).unwrap();
    assert_eq!(this.to_vec::<f32>().unwrap(), (0..700).map(|i| 1.0 + 2.0 * i as f32).collect::<Vec<_>>());
}

/// Columns that are broadcast, on either side, in rows of every length around those that are worth a call, in place,
/// over gaps and casts.
#[test]
fn broadcast_columns() {
    for [rows, cols] in [[3i64, 63], [5, 64], [300, 65], [2, 5000], [1, 200], [70, 300]] {
        let matrix: Vec<i32> = (0..(rows * cols) as i32).map(|i| i * 37 % 1000).collect();
        let column: Vec<i32> = (0..rows as i32).map(|i| 500 - 3 * i).collect();
        let row_of = |i: usize| column[i / cols as usize];
        let minus = |first: bool| -> Vec<i32> {
            let pairs = matrix.iter().enumerate().map(|(i, x)| (*x, row_of(i)));
            pairs.map(|(x, y)| if first { y - x } else { x - y }).collect()
        };
        let before: Vec<bool> = matrix.iter().enumerate().map(|(i, x)| *x < row_of(i)).collect();
        let (a, b) = (tensor(&matrix, &[rows, cols]), tensor(&column, &[rows, 1]));
        let name = format!("{rows} × {cols}");
        assert_eq!(apply_tuned::<Minus, _>((&a, &b)).unwrap().to_vec::<i32>().unwrap(), minus(false), "{name}");
        assert_eq!(apply_tuned::<Minus, _>((&b, &a)).unwrap().to_vec::<i32>().unwrap(), minus(true), "{name}");
        assert_eq!(apply_tuned::<Before, _>((&a, &b)).unwrap().to_vec::<bool>().unwrap(), before, "{name}");
        // Every second element of a row is not broadcast.
        let twice: Vec<i32> = (0..2 * (rows * cols) as i32).collect();
        let stepped = Geometry::new(DType::I32, &[rows, cols], &[2 * cols, 2], 0).unwrap();
        let stepped = tensor(&twice, &[rows, 2 * cols]).with_geometry(stepped).unwrap();
        let want: Vec<i32> = matrix.iter().enumerate().map(|(i, x)| x - 2 * i as i32).collect();
        assert_eq!(apply_tuned::<Minus, _>((&a, &stepped)).unwrap().to_vec::<i32>().unwrap(), want, "{name} stepped");
        // There is no other operand that would be a dense run.
        let want: Vec<i32> = (0..(rows * cols) as i32).map(|i| 2 * i).collect();
        assert_eq!(apply::<Abs, _>((&stepped,)).unwrap().to_vec::<i32>().unwrap(), want, "{name} alone");
        let [wide, doubles]: [Vec<f64>; 2] = [&matrix, &column].map(|x| x.iter().map(|x| f64::from(*x)).collect());
        let (a, b) = (tensor(&wide, &[rows, cols]), tensor(&doubles, &[rows, 1]));
        let want: Vec<f64> = minus(false).into_iter().map(f64::from).collect();
        assert_eq!(apply_tuned::<Minus, _>((&a, &b)).unwrap().to_vec::<f64>().unwrap(), want, "{name}");
        // The output is the matrix; it has gaps between rows; it is of another dtype.
        for dtype in [DType::F64, DType::F32] {
            let mut out = Tensor::<Cpu>::zeroed(dtype, &[rows, cols], &[cols + 3, 1], 0).unwrap();
            let inputs = PointwiseInputs::<Minus>::new((&a, &b)).unwrap();
            call::<Pointwise<Minus, Tuned>, Cpu, _>(&inputs, Out([&mut out])).unwrap();
            let got: Vec<f64> = match dtype {
                DType::F64 => out.to_vec().unwrap(),
                _ => out.to_vec::<f32>().unwrap().into_iter().map(f64::from).collect(),
            };
            assert_eq!(got, want, "{name} {dtype}");
        }
        let (alias, mut this) = (a.clone(), a);
        let inputs = PointwiseInputs::<Minus>::new((&alias, &b)).unwrap();
        call::<Pointwise<Minus, Tuned>, Cpu, _>(&inputs, Out([&mut this])).unwrap();
        assert_eq!(this.to_vec::<f64>().unwrap(), want, "{name} in place");
    }
}

/// Rows that are dense runs: parts of wider ones, and one that is broadcast on either side, of lengths around those
/// that are joined, more elements than a thread takes alone among them, and of bools.
#[test]
fn dense_rows() {
    for [rows, cols] in [[3i64, 20], [7, 255], [5, 256], [40, 300], [200, 257], [2, 30000]] {
        let n = (rows * cols) as usize;
        let all: Vec<i32> = (0..(rows * (cols + 5)) as i32).map(|i| i * 37 % 1000).collect();
        let wide = tensor(&all, &[rows, cols + 5]);
        let part = |step: i64, offset: i64| {
            let geometry = Geometry::new(DType::I32, &[rows, cols], &[step, 1], offset).unwrap();
            wide.with_geometry(geometry).unwrap()
        };
        let at = |i: usize| all[i / cols as usize * (cols as usize + 5) + i % cols as usize];
        let row: Vec<i32> = (0..cols as i32).map(|i| 5 - 2 * i).collect();
        let one = expanded(&tensor(&row, &[cols]), &[rows, cols]);
        let (a, name) = (part(cols + 5, 0), format!("{rows} × {cols}"));
        let want = |f: &dyn Fn(usize) -> i32| (0..n).map(f).collect::<Vec<i32>>();
        let minus = |a: &T, b: &T| apply_tuned::<Minus, _>((a, b)).unwrap().to_vec::<i32>().unwrap();
        assert_eq!(apply::<Abs, _>((&a,)).unwrap().to_vec::<i32>().unwrap(), want(&|i| at(i).abs()), "{name}");
        assert_eq!(minus(&a, &one), want(&|i| at(i) - row[i % cols as usize]), "{name} from the left");
        assert_eq!(minus(&one, &a), want(&|i| row[i % cols as usize] - at(i)), "{name} from the right");
        assert_eq!(
            minus(&a, &part(cols + 5, 3)),
            want(&|i| at(i) - all[i / cols as usize * (cols as usize + 5) + i % cols as usize + 3]),
            "{name}, two"
        );
        // Rows that overlap are only read.
        assert_eq!(
            minus(&a, &part(5, 0)),
            want(&|i| at(i) - all[i / cols as usize * 5 + i % cols as usize]),
            "{name}, overlapping"
        );
        let truths: Vec<bool> = all.iter().map(|x| x % 3 == 0).collect();
        let bools = tensor(&truths, &[rows, cols + 5]);
        let geometry = Geometry::new(DType::Bool, &[rows, cols], &[cols + 5, 1], 2).unwrap();
        let bools = bools.with_geometry(geometry).unwrap();
        let flags = expanded(&tensor(&truths[..cols as usize], &[cols]), &[rows, cols]);
        let less: Vec<bool> = (0..n)
            .map(|i| {
                !truths[i / cols as usize * (cols as usize + 5) + i % cols as usize + 2] & truths[i % cols as usize]
            })
            .collect();
        assert_eq!(
            apply_tuned::<Before, _>((&bools, &flags)).unwrap().to_vec::<bool>().unwrap(),
            less,
            "{name} of bools"
        );
        // The output has gaps, and is an operand.
        let mut this = tensor(&all, &[rows, cols + 5]).with_geometry(part(cols + 5, 0).geometry().clone()).unwrap();
        let alias = this.clone();
        let inputs = PointwiseInputs::<Minus>::new((&alias, &one)).unwrap();
        call::<Pointwise<Minus, Tuned>, Cpu, _>(&inputs, Out([&mut this])).unwrap();
        assert_eq!(this.to_vec::<i32>().unwrap(), want(&|i| at(i) - row[i % cols as usize]), "{name} in place");
    }
}
