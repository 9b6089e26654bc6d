//! `nonzero` and its relatives, `masked_select`, `masked_scatter`, `repeat_interleave`, `one_hot`.

use super::*;
use monomorph::ErrorKind;
use monomorph::ops::options::{NonzeroStatic, OneHot, RepeatInterleave, RepeatInterleaveTimes};
use monomorph::ops::{self, masked_scatter, masked_scatter_, masked_select, masked_select_out, nonzero, nonzero_out};
use monomorph::ops::{one_hot, one_hot_with, repeat_interleave_times_with, repeat_interleave_with};

fn rows(t: &Tensor<Cpu>) -> Vec<i64> {
    let mut all = Vec::new();
    let elements = Elements::of(t);
    each_index(t.sizes(), |at| {
        if elements.get(&at.iter().map(|&i| i as usize).collect::<Vec<_>>()).to_bool() {
            all.extend_from_slice(at);
        }
    });
    all
}

/// A tensor of zeros and ones.
fn sparse(dtype: DType, layout: Layout, sizes: &[i64], random: &mut Random) -> Tensor<Cpu> {
    let n = sizes.iter().product::<i64>().max(1) as usize;
    let all: Vec<Scalar> = (0..2 * n).map(|_| Scalar::Int(i64::from(random.below(3) == 0))).collect();
    tensor(layout.geometry(dtype, sizes), &all)
}

#[test]
fn coordinates_of_every_dtype_and_layout() {
    let mut random = Random::new(51);
    for dtype in DType::ALL {
        for layout in Layout::ALL {
            for sizes in [&[][..], &[0], &[7], &[1, 1100], &[3, 5], &[2, 0, 3], &[2, 3, 2, 5]] {
                let x = sparse(dtype, layout, sizes, &mut random);
                let want = rows(&x);
                let got = nonzero(&x).unwrap();
                let ndim = sizes.len() as i64;
                let n = got.sizes()[0];
                assert_eq!((got.sizes()[1], got.to_vec::<i64>().unwrap()), (ndim, want.clone()), "{dtype} {sizes:?}");
                if ndim > 0 {
                    assert_eq!(got.strides(), [1, n]);
                    let columns = ops::nonzero_numpy(&x).unwrap();
                    for (d, column) in columns.iter().enumerate() {
                        let column = column.to_vec::<i64>().unwrap();
                        assert!(column.iter().enumerate().all(|(i, &c)| c == want[i * sizes.len() + d]));
                    }
                }
                let mut out = ints(&[], &[0]);
                nonzero_out(&x, &mut out).unwrap();
                assert_eq!(out.to_vec::<i64>().unwrap(), want);
                for size in [0, 2, n, n + 3] {
                    let with = NonzeroStatic { fill_value: -7, ..Default::default() };
                    let fixed = ops::nonzero_static_with(&x, size, with).unwrap();
                    let mut padded = want.clone();
                    padded.resize((size * ndim) as usize, -7);
                    assert_eq!(fixed.sizes(), [size, ndim]);
                    assert!(is_row_major(&fixed));
                    assert_eq!(fixed.to_vec::<i64>().unwrap(), padded);
                }
            }
        }
    }
    let x = ints(&[1, 0], &[2]);
    let mut narrow = Tensor::<Cpu>::from_slice(&[0i32], [1]).unwrap();
    assert!(matches!(error(nonzero_out(&x, &mut narrow)).kind(), ErrorKind::OutputDType { .. }));
    assert!(ops::nonzero_static(&x, -1).is_err());
}

#[test]
fn masks_select_and_scatter_in_row_major_order() {
    let mut random = Random::new(52);
    for dtype in DType::ALL {
        for layout in Layout::WRITABLE {
            for (of, masked) in
                [(&[3, 5][..], &[3, 5][..]), (&[3, 5], &[5]), (&[5], &[3, 5]), (&[4, 1], &[1, 6]), (&[], &[2])]
            {
                let x = random_tensor(dtype, layout, of, &mut random);
                let mask = sparse(DType::Bool, layout, masked, &mut random);
                let sizes = monomorph::crates::core::strides::broadcast_sizes(of, masked).unwrap();
                let (wide, wide_mask) = (ops::expand(&x, &sizes[..]).unwrap(), ops::expand(&mask, &sizes[..]).unwrap());
                let truth: Vec<bool> = values(&wide_mask).iter().map(|t| t.to_bool()).collect();
                let chosen = |all: Vec<Scalar>| -> Vec<Scalar> {
                    all.into_iter().zip(&truth).filter(|(_, t)| **t).map(|(x, _)| x).collect()
                };
                let want = chosen(values(&wide));
                let got = masked_select(&x, &mask).unwrap();
                assert_eq!((got.ndim(), values(&got)), (1, want.clone()), "{dtype} {layout:?} {of:?} {masked:?}");
                let mut out = Tensor::<Cpu>::zeros_contiguous(dtype, &[0]).unwrap();
                masked_select_out(&x, &mask, &mut out).unwrap();
                assert_eq!(values(&out), want);
                let source = random_tensor(dtype, layout, &[6, 6], &mut random);
                let mut next = values(&source).into_iter();
                let twin: Vec<Scalar> = values(&wide)
                    .into_iter()
                    .zip(&truth)
                    .map(|(old, &t)| if t { next.next().unwrap() } else { old })
                    .collect();
                let got = masked_scatter(&x, &mask, &source).unwrap();
                assert_eq!((got.sizes(), values(&got)), (&sizes[..], twin.clone()));
                assert!(is_row_major(&got));
                if of == &sizes[..] {
                    let mut y = random_tensor(dtype, layout, of, &mut random);
                    y.copy_from(&x).unwrap();
                    masked_scatter_(&mut y, &mask, &source).unwrap();
                    assert_eq!(values(&y), twin);
                }
            }
        }
    }
    let mut x = ints(&[1, 2], &[2]);
    let all = Tensor::<Cpu>::from_slice(&[true, true], [2]).unwrap();
    assert!(matches!(error(masked_scatter_(&mut x, &all, &ints(&[7], &[1]))).kind(), ErrorKind::ListLength { .. }));
    assert!(masked_select(&x, &x).is_err());
    assert_eq!(x.to_vec::<i64>().unwrap(), [1, 2]);
}

fn ints(data: &[i64], sizes: &[i64]) -> Tensor<Cpu> {
    Tensor::<Cpu>::from_slice(data, sizes.to_vec()).unwrap()
}

#[test]
fn slices_repeat_as_often_as_numbers_say() {
    let x = ints(&[0, 1, 2, 3, 4, 5], &[2, 3]);
    let along = |dim| RepeatInterleave { dim, ..Default::default() };
    let got = repeat_interleave_with(&x, &ints(&[2, 0], &[2]), along(Some(0))).unwrap();
    assert_eq!((got.sizes(), got.to_vec::<i64>().unwrap()), (&[2, 3][..], vec![0, 1, 2, 0, 1, 2]));
    let got = repeat_interleave_with(&x, &ints(&[2], &[1]), along(None)).unwrap();
    assert_eq!(got.to_vec::<i64>().unwrap(), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    assert!(repeat_interleave_with(&x, &ints(&[2, 1], &[2]), along(Some(1))).is_err());
    assert!(repeat_interleave_with(&x, &ints(&[2, -1], &[2]), along(Some(0))).is_err());
    assert!(repeat_interleave_with(&x, &ints(&[1 << 62, 1 << 62], &[2]), along(Some(0))).is_err());
    let wrong = RepeatInterleave { dim: Some(0), output_size: Some(9), ..Default::default() };
    assert!(repeat_interleave_with(&x, &ints(&[2, 1], &[2]), wrong).is_err());
    let times = |dim| RepeatInterleaveTimes { dim, ..Default::default() };
    let got = repeat_interleave_times_with(&x, 2, times(Some(-1))).unwrap();
    assert_eq!((got.sizes(), got.to_vec::<i64>().unwrap()), (&[2, 6][..], vec![0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]));
    assert!(repeat_interleave_times_with(&x, -1, times(None)).is_err());
    assert!(repeat_interleave_times_with(&x, i64::MAX, times(None)).is_err());
    assert_eq!(one_hot(&ints(&[2, 0], &[2])).unwrap().to_vec::<i64>().unwrap(), [0, 0, 1, 1, 0, 0]);
    let classes = |num_classes| OneHot { num_classes, ..Default::default() };
    assert_eq!(one_hot_with(&ints(&[1], &[]), classes(3)).unwrap().to_vec::<i64>().unwrap(), [0, 1, 0]);
    for (list, n) in [(vec![-1], -1), (vec![3], 3), (vec![], -1), (vec![i64::MAX], -1)] {
        assert!(one_hot_with(&ints(&list, &[list.len() as i64]), classes(n)).is_err());
    }
}
