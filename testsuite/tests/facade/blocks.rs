//! Kernels that do a block of elements, rows or places at a time, against plain loops: at sizes of several blocks and a
//! part of one, which recorded cases are too small for.

use super::again::by_name;
use monomorph::{AnyTensor, Cpu, DType, IValue, Result, Tensor};
use monomorph_testsuite::layout::values;

fn tensor(data: &[f64], sizes: &[i64]) -> Result<IValue> {
    Ok(Tensor::<Cpu>::from_slice(data, sizes)?.into())
}

fn call(name: &str, args: &[IValue]) -> Result<Vec<f64>> {
    let result: AnyTensor = by_name(name, args)?.into_tensor().expect("a tensor");
    Ok(values(&result.downcast::<Cpu>().expect("a tensor of the CPU")).iter().map(|x| x.to_f64()).collect())
}

/// Small integers in no order, many of them equal to their neighbours.
fn number(i: usize) -> f64 {
    f64::from(u8::try_from((i / 3).wrapping_mul(2_654_435_761) >> 7 & 7).unwrap_or(0))
}

#[test]
fn firsts_of_equal_neighbours() -> Result<()> {
    for n in [1, 63, 64, 65, 200] {
        for runs in [1, 3, 300] {
            let data: Vec<f64> = (0..n).map(|i| number(i * 3 / runs)).collect();
            let mut firsts = data.clone();
            firsts.dedup();
            for dtype in [DType::I64, DType::F32] {
                let x = by_name("_to_copy", &cast_to(tensor(&data, &[n as i64])?, dtype))?;
                let args = [x, false.into(), false.into(), IValue::None];
                assert_eq!(call("unique_consecutive", &args)?, firsts, "{n} elements of {dtype}, {runs}");
            }
        }
    }
    Ok(())
}

/// The arguments of `_to_copy` for a dtype.
fn cast_to(x: IValue, dtype: DType) -> Vec<IValue> {
    vec![x, dtype.into(), IValue::None, IValue::None, IValue::None, false.into(), IValue::None]
}

#[test]
fn traces_are_sums_of_diagonals() -> Result<()> {
    for [rows, columns] in [[0, 4], [1, 1], [5, 3], [40, 70]] {
        let data: Vec<f64> = (0..rows * columns).map(number).collect();
        let want: f64 = (0..rows.min(columns)).map(|i| data[i * columns + i]).sum();
        let matrix = tensor(&data, &[rows as i64, columns as i64])?;
        assert_eq!(call("trace", std::slice::from_ref(&matrix))?, [want], "{rows} × {columns}");
        let turned = by_name("t", &[matrix])?;
        assert_eq!(call("trace", &[turned])?, [want], "{rows} × {columns}, transposed");
    }
    Ok(())
}

#[test]
fn distances_of_all_pairs_of_rows() -> Result<()> {
    for [rows, columns] in [[2, 1], [16, 3], [17, 3], [37, 5], [300, 3]] {
        let data: Vec<f64> = (0..rows * columns).map(number).collect();
        let apart = |a: usize, b: usize, k: usize| (data[a * columns + k] - data[b * columns + k]).abs();
        for p in [0.0, 1.0, f64::INFINITY] {
            let distance = |(a, b): (usize, usize)| {
                let apart = (0..columns).map(|k| apart(a, b, k));
                match p {
                    0.0 => apart.filter(|&d| d != 0.0).count() as f64,
                    1.0 => apart.sum(),
                    _ => apart.fold(0.0, f64::max),
                }
            };
            let pairs = (0..rows).flat_map(|a| (a + 1..rows).map(move |b| (a, b)));
            let want: Vec<f64> = pairs.map(distance).collect();
            let args = [tensor(&data, &[rows as i64, columns as i64])?, p.into()];
            assert_eq!(call("_pdist_forward", &args)?, want, "{rows} rows of {columns}, of order {p}");
        }
    }
    Ok(())
}

#[test]
fn columns_add_up_to_the_images_whose_patches_they_are() -> Result<()> {
    // The adjoint map: products of an image with sums of columns are those of its patches with the columns.
    for ([height, width], kernel, stride, padding) in [([9, 7], 3, 1, 1), ([20, 33], 2, 2, 0), ([8, 40], 3, 2, 2)] {
        let lists = [[kernel; 2], [1; 2], [padding; 2], [stride; 2]].map(|list: [i64; 2]| IValue::Ints(list.to_vec()));
        let image: Vec<f64> = (0..2 * 3 * height * width).map(|i| number(i as usize)).collect();
        let x = tensor(&image, &[2, 3, height, width])?;
        let patches = call("im2col", &[&[x][..], &lists].concat())?;
        let columns: Vec<f64> = (0..patches.len()).map(|i| number(i * 7 + 5)).collect();
        let size = [2, 3 * kernel * kernel, patches.len() as i64 / (6 * kernel * kernel)];
        let given = [tensor(&columns, &size)?, IValue::Ints(vec![height, width])];
        let sums = call("col2im", &[&given[..], &lists].concat())?;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        assert_eq!(dot(&image, &sums), dot(&patches, &columns), "{height} × {width}, kernel {kernel}, stride {stride}");
    }
    Ok(())
}
