//! A naive twin: sizes around the edges of lanes, rows and chunks, in every layout that reads elements another way.

use monomorph_core::structured::{Functional, Operator};
use monomorph_core::{DType, Geometry, Tensor};
use monomorph_cpu::Cpu;
use monomorph_ops::reduce::{Amax, Amin, Aminmax, Any, Argmax, Mean, Sum};

/// Small integers, so that sums are exact, with every value many times.
fn value(i: usize) -> i64 {
    (i.wrapping_mul(2654435761) >> 7) as i64 % 1000 - 500
}

/// A view of `sizes` and `strides` over distinct values: as float32, as int32 for a layout that is cast, as float64,
/// whose accumulators are no wider.
fn tensors(sizes: &[i64], strides: &[i64]) -> [Tensor<Cpu>; 3] {
    let need: i64 = 1 + sizes.iter().zip(strides).map(|(n, s)| (n - 1) * s).sum::<i64>();
    let values: Vec<i64> = (0..need as usize).map(value).collect();
    let floats: Vec<u8> = values.iter().flat_map(|&v| (v as f32).to_ne_bytes()).collect();
    let ints: Vec<u8> = values.iter().flat_map(|&v| (v as i32).to_ne_bytes()).collect();
    let doubles: Vec<u8> = values.iter().flat_map(|&v| (v as f64).to_ne_bytes()).collect();
    [(floats, DType::F32), (ints, DType::I32), (doubles, DType::F64)]
        .map(|(bytes, dtype)| Tensor::from_storage(&bytes, Geometry::new(dtype, sizes, strides, 0).unwrap()).unwrap())
}

/// For each output of reducing `dims`, the elements in row-major order.
fn groups(sizes: &[i64], strides: &[i64], dims: &[usize]) -> Vec<Vec<i64>> {
    let numel: i64 = sizes.iter().product();
    let outputs: i64 = (0..sizes.len()).filter(|d| !dims.contains(d)).map(|d| sizes[d]).product();
    let mut groups = vec![Vec::new(); outputs as usize];
    for i in 0..numel {
        let (mut rest, mut offset, mut out, mut scale) = (i, 0, 0, 1);
        for d in (0..sizes.len()).rev() {
            let at = rest % sizes[d];
            rest /= sizes[d];
            offset += at * strides[d];
            if !dims.contains(&d) {
                out += at * scale;
                scale *= sizes[d];
            }
        }
        groups[out as usize].push(value(offset as usize));
    }
    groups
}

fn check(sizes: &[i64], strides: &[i64], dims: &[usize]) {
    let groups = groups(sizes, strides, dims);
    let list: Vec<i64> = dims.iter().map(|&d| d as i64).collect();
    let what = format!("sizes {sizes:?} strides {strides:?} dims {dims:?}");
    let sums: Vec<i64> = groups.iter().map(|g| g.iter().sum()).collect();
    for t in &tensors(sizes, strides) {
        let [sum] = Sum::call((t, Some(&list[..]), false, None), Functional::<Cpu, 1>::default()).unwrap();
        let got: Vec<i64> = match t.dtype() {
            DType::F32 => sum.to_vec::<f32>().unwrap().into_iter().map(|x| x as i64).collect(),
            DType::F64 => sum.to_vec::<f64>().unwrap().into_iter().map(|x| x as i64).collect(),
            _ => sum.to_vec::<i64>().unwrap(),
        };
        assert_eq!(got, sums, "sum: {what}");
        if t.dtype() == DType::F32 {
            let [mean] = Mean::call((t, Some(&list[..]), false, None), Functional::<Cpu, 1>::default()).unwrap();
            let want: Vec<f32> =
                groups.iter().map(|g| (g.iter().sum::<i64>() as f64 / g.len() as f64) as f32).collect();
            assert_eq!(mean.to_vec::<f32>().unwrap(), want, "mean: {what}");
        }
        let ends = |t: &Tensor<Cpu>| -> Vec<i64> {
            match t.dtype() {
                DType::F32 => t.to_vec::<f32>().unwrap().into_iter().map(|x| x as i64).collect(),
                DType::F64 => t.to_vec::<f64>().unwrap().into_iter().map(|x| x as i64).collect(),
                _ => t.to_vec::<i32>().unwrap().into_iter().map(i64::from).collect(),
            }
        };
        let mins: Vec<i64> = groups.iter().map(|g| *g.iter().min().unwrap()).collect();
        let maxs: Vec<i64> = groups.iter().map(|g| *g.iter().max().unwrap()).collect();
        let [min] = Amin::call((t, &list[..], false), Functional::<Cpu, 1>::default()).unwrap();
        let [max] = Amax::call((t, &list[..], false), Functional::<Cpu, 1>::default()).unwrap();
        assert_eq!((ends(&min), ends(&max)), (mins.clone(), maxs.clone()), "amin, amax: {what}");
        let [any] = Any::call((t, Some(&list[..]), false), Functional::<Cpu, 1>::default()).unwrap();
        let want: Vec<bool> = groups.iter().map(|g| g.iter().any(|&x| x != 0)).collect();
        assert_eq!(any.to_vec::<bool>().unwrap(), want, "any: {what}");
        let dim = match dims {
            [dim] => Some(*dim as i64),
            _ if dims.len() == sizes.len() => None,
            _ => continue,
        };
        let [index] = Argmax::call((t, dim, false), Functional::<Cpu, 1>::default()).unwrap();
        let first_largest = |g: &Vec<i64>| {
            let largest = g.iter().max().unwrap();
            g.iter().position(|x| x == largest).unwrap() as i64
        };
        let want: Vec<i64> = groups.iter().map(first_largest).collect();
        assert_eq!(index.to_vec::<i64>().unwrap(), want, "argmax: {what}");
        let [min, max] = Aminmax::call((t, dim, false), Functional::<Cpu, 2>::default()).unwrap();
        assert_eq!((ends(&min), ends(&max)), (mins, maxs), "aminmax: {what}");
    }
}

#[test]
fn one_output_of_any_length() {
    let edges =
        [1, 2, 3, 7, 8, 9, 127, 128, 129, 255, 257, 1023, 1024, 1025, 1153, 16383, 16384, 16385, 32768, 33000, 70001];
    for n in edges {
        check(&[n], &[1], &[0]);
        check(&[n], &[3], &[0]);
        check(&[n], &[0], &[0]);
    }
}

#[test]
fn outputs_along_and_across() {
    let small = [(3, 5), (5, 3), (20, 17), (130, 200), (200, 130), (1, 40), (40, 1), (2000, 3), (3, 2000), (300, 1500)];
    // Several chunks of outputs beside each other, as long as those are, and longer.
    for (a, b) in
        small.into_iter().chain([(5, 1025), (5, 2049), (5, 5000), (37, 16383), (3, 16384), (900, 4), (900, 9)])
    {
        for dim in [0, 1] {
            check(&[a, b], &[b, 1], &[dim]);
            check(&[a, b], &[1, a], &[dim]);
            check(&[a, b], &[2 * b, 2], &[dim]);
            check(&[a, b], &[0, 1], &[dim]);
        }
        check(&[a, b], &[1, a], &[0, 1]);
        check(&[a, b], &[b + 3, 1], &[0, 1]);
    }
}

#[test]
fn three_dimensions_reduced_in_every_way() {
    for sizes in
        [[4, 5, 6], [3, 70, 33], [33, 3, 70], [2, 200, 130], [130, 2, 64], [9, 9, 1], [3, 40, 256], [2, 5, 1100]]
    {
        let [a, b, c] = sizes;
        for strides in [[b * c, c, 1], [1, a, a * b], [c, a * c, 1], [b * c + 7, c, 1], [0, c, 1], [b, 1, 0]] {
            for dims in [&[0][..], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]] {
                check(&sizes, &strides, dims);
            }
        }
    }
}
