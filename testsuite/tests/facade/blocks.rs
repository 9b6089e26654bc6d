//! Kernels that do a block of elements, rows or places at a time, against plain loops: at sizes of several blocks and a
//! part of one, which recorded cases are too small for.

use super::again::by_name;
use monomorph::{AnyTensor, Cpu, DType, IValue, MemoryFormat, Result, Stack, Tensor};
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

/// A row with NaN and infinities among numbers that come again.
fn row(n: usize) -> Vec<f64> {
    let special = [f64::NAN, f64::NEG_INFINITY, f64::INFINITY];
    (0..n).map(|i| if i % 41 < 3 && i > 40 { special[i % 41] } else { number(i) }).collect()
}

/// The first of the largest elements of a window, or the last NaN.
fn largest(row: &[f64], window: impl Iterator<Item = usize>) -> (f64, f64) {
    let mut best = None;
    for at in window {
        if best.is_none_or(|best: usize| row[at] > row[best] || row[at].is_nan()) {
            best = Some(at);
        }
    }
    best.map_or((f64::NEG_INFINITY, 0.0), |at| (row[at], at as f64))
}

/// Both results of a call of a pooling of maxima.
fn maxima(name: &str, args: &[IValue]) -> Result<[Vec<f64>; 2]> {
    let mut stack: Stack = args.to_vec();
    monomorph::call(name, &mut stack)?;
    let read = |value: IValue| -> Vec<f64> {
        let result = value.into_tensor().expect("a tensor").downcast::<Cpu>().expect("a tensor of the CPU");
        values(&result).iter().map(|x| x.to_f64()).collect()
    };
    let mut results = stack.into_iter().map(read);
    Ok([0, 1].map(|_| results.next().unwrap_or_default()))
}

#[test]
fn maxima_of_rows_of_windows() -> Result<()> {
    let same =
        |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || a.is_nan() && b.is_nan());
    for n in [5_usize, 8, 15, 32, 50, 133] {
        for (kernel, stride, padding, dilation) in
            [(2, 2, 0, 1), (3, 2, 1, 1), (3, 1, 1, 1), (5, 3, 2, 1), (2, 2, 1, 3), (5, 1, 2, 1), (4, 2, 2, 1)]
        {
            let places = |o: usize| (0..kernel).map(move |k| o * stride + k * dilation);
            let windows =
                (n + 2 * padding).checked_sub(dilation * (kernel - 1) + 1).map_or(0, |rest| rest / stride + 1);
            if windows == 0 {
                continue;
            }
            let rows = [row(n), row(n + 60)[60..].to_vec()];
            let of = |row: &[f64], o: usize| {
                largest(row, places(o).filter_map(|at| at.checked_sub(padding)).filter(|&at| at < n))
            };
            let (want, want_places): (Vec<f64>, Vec<f64>) =
                rows.iter().flat_map(|row| (0..windows).map(|o| of(row, o))).unzip();
            let lists = [kernel, stride, padding, dilation].map(|n| IValue::Ints(vec![n as i64]));
            for dtype in [DType::F64, DType::F32, DType::BF16] {
                let x = tensor(&rows.concat(), &[2, n as i64])?;
                let x = by_name("_to_copy", &cast_to(x, dtype))?;
                let args = [&[x][..], &lists, &[false.into()]].concat();
                let context = format!("{n} of {dtype}, {kernel} {stride} {padding} {dilation}");
                let [values, _] = maxima("max_pool1d", &args)?;
                assert!(same(&values, &want), "{values:?} for {want:?}: {context}");
                let [values, places] = maxima("max_pool1d_with_indices", &args)?;
                assert!(same(&values, &want), "{values:?} for {want:?}: {context}");
                assert_eq!(places, want_places, "{context}");
            }
        }
        for windows in [1, 3, 7] {
            let x = row(n);
            let window = |o: usize| o * n / windows..((o + 1) * n).div_ceil(windows);
            let (want, want_places): (Vec<f64>, Vec<f64>) = (0..windows).map(|o| largest(&x, window(o))).unzip();
            let args = [tensor(&x, &[1, n as i64])?, IValue::Ints(vec![windows as i64])];
            let [values, places] = maxima("adaptive_max_pool1d", &args)?;
            assert!(same(&values, &want), "{values:?} for {want:?}: {n} to {windows}");
            assert_eq!(places, want_places, "{n} to {windows}");
        }
    }
    Ok(())
}

#[test]
fn long_lines_of_integers() -> Result<()> {
    for n in [2047, 2048, 4100, 70_001] {
        let data: Vec<f64> = (0..2 * n).map(number).collect();
        let own = |step: usize| data.iter().copied().step_by(step).take(n);
        let x = by_name("_to_copy", &cast_to(tensor(&data, &[2 * n as i64])?, DType::I64))?;
        for step in [1, 2] {
            let line = by_name(
                "slice.Tensor",
                &[x.clone(), 0i64.into(), 0i64.into(), ((n * step) as i64).into(), (step as i64).into()],
            )?;
            let want: Vec<f64> = own(step)
                .scan(0.0, |sum, x| {
                    *sum += x;
                    Some(*sum)
                })
                .collect();
            let sums = call("cumsum", &[line.clone(), 0i64.into(), IValue::None])?;
            assert!(sums == want, "{n} elements, {step} apart");
            assert_eq!(call("sum", &[line, IValue::None])?, want[n - 1..], "{n} elements, {step} apart");
        }
    }
    Ok(())
}

#[test]
fn rows_backwards() -> Result<()> {
    for n in [1, 15, 64, 100, 133] {
        let data: Vec<f64> = (0..3 * n).map(number).collect();
        let want: Vec<f64> = data.chunks(n).flat_map(|row| row.iter().rev().copied()).collect();
        for dtype in [DType::U8, DType::I16, DType::F32, DType::I64, DType::C128] {
            let x = by_name("_to_copy", &cast_to(tensor(&data, &[3, n as i64])?, dtype))?;
            assert_eq!(call("flip", &[x, IValue::Ints(vec![1])])?, want, "{n} elements of {dtype}");
        }
    }
    Ok(())
}

/// Rows that lie across memory give what dense ones do.
#[test]
fn sorted_rows_that_are_transposed() -> Result<()> {
    for [rows, columns] in [[63, 70], [64, 64], [70, 100], [100, 70]] {
        let data: Vec<f64> = (0..rows * columns).map(number).collect();
        let turned = by_name("t", &[tensor(&data, &[rows as i64, columns as i64])?])?;
        let dense = by_name("clone", &[turned.clone(), MemoryFormat::Contiguous.into()])?;
        let [none, k]: [IValue; 2] = [false.into(), 65i64.into()];
        let calls = [
            ("sort.stable", vec![true.into(), 1i64.into(), none.clone()], true),
            ("kthvalue", vec![30i64.into(), 1i64.into(), none], true),
            ("topk", vec![k, 1i64.into(), true.into(), true.into()], rows >= 65),
        ];
        for (name, args, _) in calls.into_iter().filter(|(.., fits)| *fits) {
            let of = |x: &IValue| maxima(name, &[&[x.clone()][..], &args].concat());
            assert_eq!(of(&turned)?, of(&dense)?, "{name} of {columns} × {rows}");
        }
    }
    Ok(())
}

#[test]
fn products_of_vectors_are_added() -> Result<()> {
    let [rows, columns] = [35, 70];
    let (base, column, row): (Vec<f64>, Vec<f64>, Vec<f64>) = (
        (0..rows * columns).map(number).collect(),
        (0..rows).map(number).collect(),
        (9..9 + columns).map(number).collect(),
    );
    let at = |i: usize, j: usize| 3.0 * base[i * columns + j] + 2.0 * column[i] * row[j];
    let want: Vec<f64> = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| at(i, j)).collect();
    let turned: Vec<f64> =
        (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))).map(|(i, j)| base[i * columns + j]).collect();
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::I32, DType::C64] {
        let cast = |x: IValue| by_name("_to_copy", &cast_to(x, dtype));
        let vectors = [cast(tensor(&column, &[rows as i64])?)?, cast(tensor(&row, &[columns as i64])?)?];
        let dense = cast(tensor(&base, &[rows as i64, columns as i64])?)?;
        let transposed = by_name("t", &[cast(tensor(&turned, &[columns as i64, rows as i64])?)?])?;
        for base in [dense, transposed] {
            let args = [&[base][..], &vectors, &[3i64.into(), 2i64.into()]].concat();
            assert_eq!(call("addr", &args)?, want, "{dtype}");
        }
    }
    Ok(())
}

/// Indices of the last dimension are the same for all rows.
#[test]
fn chosen_columns() -> Result<()> {
    for [rows, columns, chosen] in [[1, 7, 3], [5, 70, 40], [4, 600, 513], [3, 9, 1030]] {
        let data: Vec<f64> = (0..rows * columns).map(number).collect();
        let index: Vec<usize> = (0..chosen).map(|i| i * 31 % columns).collect();
        let want: Vec<f64> =
            (0..rows).flat_map(|i| index.iter().map(move |j| (i, *j))).map(|(i, j)| data[i * columns + j]).collect();
        let index: Vec<f64> = index.iter().map(|&i| i as f64).collect();
        let index = by_name("_to_copy", &cast_to(tensor(&index, &[chosen as i64])?, DType::I64))?;
        let args = [tensor(&data, &[rows as i64, columns as i64])?, 1i64.into(), index];
        assert_eq!(call("index_select", &args)?, want, "{chosen} of {columns}, {rows} rows");
    }
    Ok(())
}
