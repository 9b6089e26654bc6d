//! Complex tensors from two real ones: every order and step of either, broadcast or negated, into any layout, by one
//! pass or by two.

use monomorph_core::{Complex32, Complex64, DType, ErrorKind, Geometry, Tensor};
use monomorph_cpu::Cpu;

type T = Tensor<Cpu>;

fn view(of: &T, sizes: &[i64], strides: &[i64], offset: i64) -> T {
    of.with_geometry(Geometry::new(of.dtype(), sizes, strides, offset).unwrap()).unwrap()
}

fn parts(dtype: DType, n: i64) -> T {
    let values: Vec<f64> = (0..n).map(|i| i as f64 * 0.5 - 3.0).collect();
    match dtype {
        DType::F32 => T::from_slice(&values.iter().map(|&x| x as f32).collect::<Vec<_>>(), [n]).unwrap(),
        _ => T::from_slice(&values, [n]).unwrap(),
    }
}

fn doubles(t: &T) -> Vec<f64> {
    match t.dtype() {
        DType::F32 => t.to_vec::<f32>().unwrap().into_iter().map(f64::from).collect(),
        _ => t.to_vec().unwrap(),
    }
}

fn complexes(t: &T) -> Vec<Complex64> {
    match t.dtype() {
        DType::C64 => {
            let wide = |z: Complex32| Complex64::new(z.re.into(), z.im.into());
            t.to_vec::<Complex32>().unwrap().into_iter().map(wide).collect()
        }
        _ => t.to_vec().unwrap(),
    }
}

#[test]
fn parts_of_every_layout_are_joined() {
    for dtype in [DType::F32, DType::F64] {
        let storage = parts(dtype, 20_000);
        for [rows, cols] in [[1i64, 1], [3, 5], [2, 17], [33, 16], [7, 100], [70, 65], [0, 4]] {
            let layouts = [[cols, 1], [cols + 3, 1], [1, rows.max(1)], [0, 1], [1, 0], [2 * cols, 2]];
            for (k, re) in layouts.iter().enumerate() {
                for im in &layouts {
                    for out in [[cols, 1], [cols + 2, 1], [1, rows.max(1)], [3 * cols, 3]] {
                        let sizes = [rows, cols];
                        let (re, im) = (view(&storage, &sizes, re, 0), view(&storage, &sizes, im, 5));
                        let re = re.with_geometry(re.geometry().clone().with_neg(k == 1)).unwrap();
                        let mut to = T::zeroed(dtype.to_complex(), &sizes, &out, 0).unwrap();
                        to.join_from([&re, &im]).unwrap();
                        let want: Vec<Complex64> =
                            doubles(&re).into_iter().zip(doubles(&im)).map(|(re, im)| Complex64::new(re, im)).collect();
                        assert_eq!(
                            complexes(&to),
                            want,
                            "{sizes:?} {:?} {:?} into {out:?}",
                            re.strides(),
                            im.strides()
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn parts_that_are_those_of_the_output_are_read_first() {
    let mut z = T::from_slice(&(0..40).map(|i| Complex32::new(i as f32, -1.0)).collect::<Vec<_>>(), [40]).unwrap();
    let floats = |z: &T, part| z.with_geometry(Geometry::new(DType::F32, &[40], &[2], part).unwrap()).unwrap();
    let (re, im) = (floats(&z, 0), floats(&z, 1));
    z.join_from([&im, &re]).unwrap();
    let want: Vec<Complex32> = (0..40).map(|i| Complex32::new(-1.0, i as f32)).collect();
    assert_eq!(z.to_vec::<Complex32>().unwrap(), want);
}

#[test]
fn what_is_no_complex_tensor_of_such_parts_is_refused() {
    let (single, double) = (parts(DType::F32, 4), parts(DType::F64, 4));
    let error = single.clone().join_from([&single, &single]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ArgumentRule { .. }), "{error}");
    let mut z = T::zeroed(DType::C64, &[4], &[1], 0).unwrap();
    let error = z.join_from([&single, &double]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::DTypeNotSupported { got: DType::F64, .. }), "{error}");
    assert!(z.join_from([&single, &parts(DType::F32, 3)]).is_err());
    // A part that has to be read first does not keep the other from being checked.
    let own = z.with_geometry(Geometry::new(DType::F32, &[4], &[2], 0).unwrap()).unwrap();
    let bytes = T::from_slice(&[1u8; 4], [4]).unwrap();
    for other in [[&own, &bytes], [&bytes, &own], [&own, &double]] {
        let error = z.join_from(other).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::DTypeNotSupported { .. }), "{error}");
    }
    assert!(z.join_from([&own, &parts(DType::F32, 3)]).is_err());
    let mut lazy = z.with_geometry(z.geometry().clone().with_conj(true)).unwrap();
    assert!(lazy.join_from([&single, &single]).is_err());
    assert_eq!(z.to_vec::<Complex32>().unwrap(), vec![Complex32::default(); 4]);
}

/// Nothing of a new tensor is what its memory held before: that of a tensor with the same bytes, just dropped.
#[test]
fn joined_tensors_are_written_whole() {
    for (dtype, n) in [(DType::F32, 40_000), (DType::F64, 40_000), (DType::F64, 1_000)] {
        let (re, one) = (parts(dtype, n), parts(dtype, 1));
        for strides in [[1], [3]] {
            let size = 8 * dtype.size() as i64 * n;
            drop(T::from_slice(&vec![0xa5u8; size as usize], [size]).unwrap());
            for im in [&re, &one] {
                let joined = T::joined(&[n], &strides, [&re, im]).unwrap();
                let want = |k: usize| Complex64::new(doubles(&re)[k], doubles(im)[k % im.numel()]);
                let got = complexes(&joined);
                assert_eq!(joined.strides(), strides);
                assert!(
                    [0, 1, n as usize / 2, n as usize - 1].iter().all(|&k| got[k] == want(k)),
                    "{dtype} {n} {strides:?}"
                );
                assert_eq!(got.iter().map(|z| z.re).collect::<Vec<_>>(), doubles(&re));
            }
        }
        assert!(T::joined(&[n + 1], &[1], [&re, &re]).is_err());
    }
}
