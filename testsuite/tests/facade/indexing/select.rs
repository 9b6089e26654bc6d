//! `index_select`, `gather`, `take`, `take_along_dim`, `embedding`.

use super::*;
use monomorph::ErrorKind;
use monomorph::ops::options::TakeAlongDim;
use monomorph::ops::{self, embedding, gather, gather_out, index_select, index_select_out, take, take_along_dim_with};

/// A call of a dtype on a layout, and its twin.
fn check(got: Tensor<Cpu>, like: &Tensor<Cpu>, sizes: &[i64], want: Vec<Scalar>, what: &str) {
    let what = format!("{what} of {:?}", like.geometry());
    assert_eq!((got.sizes(), got.dtype()), (sizes, like.dtype()), "{what}");
    assert!(is_row_major(&got), "{what}: {:?}", got.strides());
    assert_eq!(values(&got), want, "{what}");
}

fn along(dim: i64) -> TakeAlongDim {
    TakeAlongDim { dim: Some(dim), ..Default::default() }
}

#[test]
fn every_dtype_layout_and_dimension() {
    let mut random = Random::new(11);
    for dtype in DType::ALL {
        for layout in Layout::ALL {
            for sizes in [&[7][..], &[3, 5], &[4, 1, 6], &[2, 3, 2, 5]] {
                let x = random_tensor(dtype, layout, sizes, &mut random);
                let (elements, numel) = (Elements::of(&x), sizes.iter().product::<i64>());
                for (dim, &size) in sizes.iter().enumerate() {
                    for indices in INDEX_DTYPES {
                        for n in [0, 1, 9] {
                            let index = random_indices(indices, layout, &[n], (0, size), &mut random);
                            let (at, mut want) = (Elements::of(&index), sizes.to_vec());
                            want[dim] = n;
                            let twin = each(&want, |p| {
                                let mut q = p.to_vec();
                                q[dim] = at.index(&[p[dim]], size);
                                elements.get(&q)
                            });
                            check(index_select(&x, dim as i64, &index).unwrap(), &x, &want, twin, "index_select");
                        }
                        let mut of = sizes.to_vec();
                        of.iter_mut().for_each(|n| *n = (*n - 1).max(1));
                        of[dim] = 8;
                        let index = random_indices(indices, layout, &of, (0, size), &mut random);
                        let at = Elements::of(&index);
                        let twin = each(&of, |p| {
                            let mut q = p.to_vec();
                            q[dim] = at.index(p, size);
                            elements.get(&q)
                        });
                        check(gather(&x, dim as i64, &index).unwrap(), &x, &of, twin, "gather");
                    }
                    // Broadcast in the first dimension, but for the indexed one; indices modulo the size.
                    let mut of = sizes.to_vec();
                    of[0] = 1;
                    of[dim] = 3;
                    let index = random_indices(DType::I64, layout, &of, (-20, 20), &mut random);
                    let (at, mut want) = (Elements::of(&index), sizes.to_vec());
                    want[dim] = 3;
                    let twin = each(&want, |p| {
                        let (mut q, mut i) = (p.to_vec(), p.to_vec());
                        i[0] = if dim == 0 { p[0] } else { 0 };
                        q[dim] = at.get(&i).to_i64().rem_euclid(size) as usize;
                        elements.get(&q)
                    });
                    let got = take_along_dim_with(&x, &index, along(dim as i64)).unwrap();
                    check(got, &x, &want, twin, "take_along_dim");
                }
                // Of few elements the tensor is not moved as a whole.
                for of in [[3, 4], [1, 1]] {
                    let index = random_indices(DType::I64, layout, &of, (-numel, numel), &mut random);
                    let at = Elements::of(&index);
                    let twin = each(&of, |p| elements.values[at.index(p, numel)]);
                    check(take(&x, &index).unwrap(), &x, &of, twin, "take");
                }
                if let &[rows, columns] = sizes {
                    let index = random_indices(DType::I32, layout, &[4, 2], (0, rows), &mut random);
                    let at = Elements::of(&index);
                    let twin = each(&[4, 2, columns], |p| elements.get(&[at.index(&p[..2], rows), p[2]]));
                    check(embedding(&x, &index).unwrap(), &x, &[4, 2, columns], twin, "embedding");
                }
            }
        }
    }
}

/// Outputs of every layout, resized ones, and lazy bits of inputs.
#[test]
fn outputs_of_the_caller() {
    let mut random = Random::new(12);
    for dtype in [DType::Bool, DType::F16, DType::I32, DType::C64, DType::C128] {
        for layout in Layout::WRITABLE {
            let x = random_tensor(dtype, layout, &[3, 40, 2], &mut random);
            let x = if dtype == DType::C64 { ops::conj(&x).unwrap() } else { x };
            let elements = Elements::of(&x);
            let index = random_indices(DType::I64, layout, &[5], (0, 40), &mut random);
            let at = Elements::of(&index);
            let want = each(&[3, 5, 2], |p| elements.get(&[p[0], at.index(&[p[1]], 40), p[2]]));
            let mut out = random_tensor(dtype, layout, &[3, 5, 2], &mut random);
            let strides = out.strides().to_vec();
            index_select_out(&x, 1, &index, &mut out).unwrap();
            assert_eq!((values(&out), out.strides()), (want.clone(), &strides[..]), "{:?}", out.geometry());
            let mut small = Tensor::<Cpu>::zeros_contiguous(dtype, &[0]).unwrap();
            index_select_out(&x, -2, &index, &mut small).unwrap();
            assert!(is_row_major(&small) && values(&small) == want);
        }
    }
}

/// Sizes at which rows and lanes are cut into blocks, and calls into parts for threads.
#[test]
fn long_lanes_and_rows() {
    let mut random = Random::new(13);
    for n in [511, 512, 513, 70_001] {
        let x = random_tensor(DType::F32, Layout::Contiguous, &[300, 3], &mut random);
        let elements = Elements::of(&x);
        let index = random_indices(DType::I64, Layout::Contiguous, &[n], (0, 300), &mut random);
        let at = Elements::of(&index);
        let want = each(&[n, 3], |p| elements.get(&[at.index(&p[..1], 300), p[1]]));
        assert!(values(&index_select(&x, 0, &index).unwrap()) == want, "{n} rows");
        let index = random_indices(DType::I32, Layout::Contiguous, &[n, 2], (0, 300), &mut random);
        let x = random_tensor(DType::F32, Layout::Contiguous, &[300, 2], &mut random);
        let (elements, at) = (Elements::of(&x), Elements::of(&index));
        let want = each(&[n, 2], |p| elements.get(&[at.index(p, 300), p[1]]));
        assert!(values(&gather(&x, 0, &index).unwrap()) == want, "{n} columns");
    }
}

fn ints(data: &[i64], sizes: &[i64]) -> Tensor<Cpu> {
    Tensor::<Cpu>::from_slice(data, sizes.to_vec()).unwrap()
}

/// Every index that the dimension does not have, at every place of the index, is an error that names it; the output
/// stays as it was.
#[test]
fn an_index_out_of_range_changes_nothing() {
    let x = ints(&(0..12).collect::<Vec<_>>(), &[3, 4]);
    for bad in [3, -1, i64::MAX, i64::MIN, 1 << 32, -(1 << 32)] {
        for place in [0, 1, 511, 512, 699] {
            let mut data = vec![1; 700];
            data[place] = bad;
            let index = ints(&data, &[700]);
            let mut out = ints(&[7; 2800], &[700, 4]);
            let problem = error(index_select_out(&x, 0, &index, &mut out));
            let want = ErrorKind::IndexOutOfRange { arg: "index", got: bad, dim: Some(0), size: 3, low: 0 };
            assert_eq!(problem.kind(), &want);
            assert!(problem.to_string().starts_with("index_select"), "{problem}");
            assert!(values(&out).iter().all(|v| *v == Scalar::Int(7)));
            assert_eq!(error(index_select(&x, 0, &index)).kind(), &want);
            assert_eq!(error(gather(&x, 0, &ints(&data, &[700, 1]))).kind(), &want);
            assert!(error(embedding(&x, &index)).to_string().contains("argument indices"));
        }
    }
    // A resized output keeps its old sizes.
    let mut small = ints(&[5], &[1]);
    assert!(gather_out(&x, 1, &ints(&[4], &[1, 1]), &mut small).is_err());
    assert_eq!((small.sizes(), small.to_vec::<i64>().unwrap()), (&[1][..], vec![5]));
    for (bad, size) in [(12, 12), (-13, 12)] {
        let want = ErrorKind::IndexOutOfRange { arg: "index", got: bad, dim: None, size, low: -12 };
        assert_eq!(error(take(&x, &ints(&[0, bad], &[2]))).kind(), &want);
    }
}

/// Without elements, and without dimensions.
#[test]
fn edges_are_pytorchs() {
    let x = ints(&(0..12).collect::<Vec<_>>(), &[3, 4]);
    let (one, empty) = (ints(&[5], &[]), ints(&[], &[0]));
    assert_eq!(index_select(&one, 0, &ints(&[0], &[1])).unwrap().sizes(), &[] as &[i64]);
    assert_eq!(gather(&one, -1, &ints(&[0, 0], &[2])).unwrap().to_vec::<i64>().unwrap(), [5, 5]);
    assert_eq!(gather(&ints(&[5, 6], &[2]), 0, &ints(&[1], &[])).unwrap().to_vec::<i64>().unwrap(), [6]);
    assert!(index_select(&one, 0, &ints(&[0, 0], &[2])).is_err());
    assert!(index_select(&x, 0, &ints(&[0], &[1, 1])).is_err());
    assert_eq!(index_select(&x, 0, &ints(&[2], &[])).unwrap().sizes(), &[1, 4]);
    // Indices are looked at where the result has no element.
    for hollow in [&[3, 0][..], &[0, 0]] {
        let hollow = ints(&[], hollow);
        assert!(index_select(&hollow, 0, &ints(&[5], &[1])).is_err());
        assert!(embedding(&hollow, &ints(&[5], &[1])).is_err());
    }
    // Nothing is asked of an index of gather without elements, not even an integer dtype.
    let none = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[0]).unwrap();
    assert_eq!(gather(&x, 0, &none).unwrap().sizes(), &[0]);
    assert!(matches!(error(gather(&x, 0, &one)).kind(), ErrorKind::DimCount { .. }));
    assert!(matches!(error(take(&empty, &one)).kind(), ErrorKind::IndexOutOfRange { size: 0, .. }));
    assert_eq!(take(&empty, &empty).unwrap().sizes(), &[0]);
    let flat = ops::take_along_dim(&x, &ints(&[4, 5], &[2, 1])).unwrap();
    assert_eq!((flat.sizes(), flat.to_vec::<i64>().unwrap()), (&[2][..], vec![4, 5]));
    assert!(ops::take_along_dim(&ops::transpose(&x, 0, 1).unwrap(), &empty).is_err(), "no view as one dimension");
    assert!(take_along_dim_with(&one, &one, along(0)).is_err());
    assert!(matches!(
        error(take_along_dim_with(&ints(&[], &[3, 0]), &ints(&[1], &[1, 1]), along(1))).kind(),
        ErrorKind::IndexOutOfRange { size: 0, .. }
    ));
    let small = Tensor::<Cpu>::from_slice(&[0u8], [1]).unwrap();
    for problem in [error(index_select(&x, 0, &small)), error(gather(&x, 0, &small)), error(take(&x, &small))] {
        assert!(matches!(
            problem.kind(),
            ErrorKind::DTypeNotSupported { got: DType::U8, .. } | ErrorKind::DimCount { .. }
        ));
    }
}

/// Memory that output and inputs share, and outputs that reach an element twice.
#[test]
fn overlaps_are_refused() {
    let x = ints(&(0..16).collect::<Vec<_>>(), &[4, 4]);
    let before = values(&x);
    let index = ints(&[0, 1], &[2]);
    let mut part = ops::narrow(&x, 0, 1, 2).unwrap();
    assert!(matches!(error(index_select_out(&x, 0, &index, &mut part)).kind(), ErrorKind::Overlap { .. }));
    let mut one_row = ops::expand(&ints(&[0; 4], &[1, 4]), [2, 4]).unwrap();
    assert!(matches!(error(index_select_out(&x, 0, &index, &mut one_row)).kind(), ErrorKind::InternalOverlap { .. }));
    let at = ops::narrow(&x, 0, 0, 1).unwrap();
    let mut same = ops::narrow(&x, 0, 0, 1).unwrap();
    assert!(matches!(error(gather_out(&x, 0, &at, &mut same)).kind(), ErrorKind::Overlap { .. }));
    assert_eq!(values(&x), before);
    // An output that is the index, element for element.
    let base = ints(&[10, 11, 12, 13], &[4]);
    let mut places = ints(&[3, 1, 0, 2], &[4]);
    let at = places.clone();
    gather_out(&base, 0, &at, &mut places).unwrap();
    assert_eq!(places.to_vec::<i64>().unwrap(), [13, 11, 10, 12]);
}
