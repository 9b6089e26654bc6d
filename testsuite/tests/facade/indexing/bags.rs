//! Bags of embeddings, their gradients, and runs of a dimension, against loops over bags.

use super::*;
use monomorph::ErrorKind;
use monomorph::ops::options::{EmbeddingBag, EmbeddingBagPadded, SegmentReduce};
use monomorph::ops::{self, embedding_bag_padded_with, embedding_bag_with, embedding_renorm_, segment_reduce_with};

fn ints(list: &[i64]) -> Tensor<Cpu> {
    Tensor::<Cpu>::from_slice(list, [list.len() as i64]).unwrap()
}

fn floats(list: &[f64], sizes: &[i64], dtype: DType) -> Tensor<Cpu> {
    let t = Tensor::<Cpu>::from_slice(list, sizes.to_vec()).unwrap();
    let mut cast = Tensor::<Cpu>::zeros_contiguous(dtype, sizes).unwrap();
    cast.copy_from(&t).unwrap();
    cast
}

fn as_floats(t: &Tensor<Cpu>) -> Vec<f64> {
    values(t).iter().map(|x| x.to_f64()).collect()
}

fn near(got: &Tensor<Cpu>, want: &[f64], what: &str) {
    let got = as_floats(got);
    assert_eq!(got.len(), want.len(), "{what}");
    let close = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 0.01 * b.abs().max(1.0);
    assert!(got.iter().zip(want).all(close), "{what}: {got:?}, {want:?}");
}

#[test]
fn bags_are_folded_one_by_one() {
    let mut random = Random::new(61);
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for layout in Layout::WRITABLE {
            for offsets in [&[0, 2, 5][..], &[0, 0, 7], &[0, 3, 3, 8], &[0]] {
                let table: Vec<f64> = (0..15).map(|i| f64::from(i % 7) - 3.0).collect();
                let mut weight = random_tensor(dtype, layout, &[5, 3], &mut random);
                weight.copy_from(&floats(&table, &[5, 3], dtype)).unwrap();
                let indices: Vec<i64> = (0..8).map(|_| random.below(5) as i64).collect();
                for padding in [None, Some(2), Some(-1)] {
                    let pad = padding.map(|p: i64| p.rem_euclid(5));
                    for mode in 0..3 {
                        let what = format!("{dtype} {layout:?} {offsets:?} {padding:?} {mode}");
                        let (at, of) = (ints(&indices), ints(offsets));
                        let with = EmbeddingBagPadded { mode, ..Default::default() };
                        let (bags, _, sizes, maxima) =
                            embedding_bag_padded_with(&weight, &at, &of, None, padding, with).unwrap();
                        let (mut want, mut counts) = (Vec::new(), Vec::new());
                        for (b, &start) in offsets.iter().enumerate() {
                            let end = offsets.get(b + 1).copied().unwrap_or(8);
                            let bag: Vec<i64> = indices[start as usize..end as usize].to_vec();
                            let bag: Vec<usize> =
                                bag.into_iter().filter(|&i| Some(i) != pad).map(|i| i as usize).collect();
                            counts.push(bag.len() as f64);
                            for j in 0..3 {
                                let column: Vec<f64> = bag.iter().map(|&i| table[3 * i + j]).collect();
                                let sum: f64 = column.iter().sum();
                                want.push(match mode {
                                    0 => sum,
                                    1 => sum / column.len().max(1) as f64,
                                    _ if column.is_empty() => 0.0,
                                    _ => column.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                                });
                            }
                        }
                        near(&bags, &want, &what);
                        if mode > 0 {
                            near(&sizes, &counts, &what);
                        }
                        if mode == 2 {
                            assert_eq!(maxima.sizes(), [offsets.len() as i64, 3]);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn weights_of_samples_and_last_offsets() {
    let weight = floats(&[1.0, 2.0, 3.0, 4.0], &[2, 2], DType::F32);
    let (at, samples) = (ints(&[0, 1, 1]), floats(&[1.0, 10.0, 100.0], &[3], DType::F32));
    let with = EmbeddingBag { per_sample_weights: Some(&samples), include_last_offset: true, ..Default::default() };
    let (bags, ..) = embedding_bag_with(&weight, &at, &ints(&[0, 2, 3]), with).unwrap();
    near(&bags, &[31.0, 42.0, 300.0, 400.0], "weighted");
    let mean = EmbeddingBag { per_sample_weights: Some(&samples), mode: 1, ..Default::default() };
    assert!(embedding_bag_with(&weight, &at, &ints(&[0]), mean).is_err());
    for offsets in [&[1][..], &[0, 4], &[0, 2, 1], &[0, -1], &[0, i64::MAX]] {
        assert!(ops::embedding_bag(&weight, &at, &ints(offsets)).is_err(), "{offsets:?}");
    }
    for index in [2, -1, i64::MAX, i64::MIN] {
        let problem = error(ops::embedding_bag(&weight, &ints(&[0, index]), &ints(&[0])));
        assert!(matches!(problem.kind(), ErrorKind::IndexOutOfRange { got, .. } if *got == index), "{problem}");
    }
}

#[test]
fn rows_are_scaled_down_once() {
    for dtype in [DType::F32, DType::F64] {
        let mut weight = floats(&[3.0, 4.0, 0.3, 0.4, 6.0, 8.0], &[3, 2], dtype);
        embedding_renorm_(&mut weight, &ints(&[0, 0, -3, 1]), 1.0, 2.0).unwrap();
        near(&weight, &[0.6, 0.8, 0.3, 0.4, 6.0, 8.0], "scaled");
        let before = as_floats(&weight);
        assert!(embedding_renorm_(&mut weight, &ints(&[2, 3]), 1.0, 2.0).is_err());
        assert_eq!(as_floats(&weight), before);
    }
}

#[test]
fn runs_are_folded_one_by_one() {
    let x = floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[6], DType::F32);
    let (lengths, offsets) = (ints(&[2, 0, 4]), ints(&[0, 2, 2, 6]));
    let want = [
        ("sum", [3.0, 0.0, 18.0]),
        ("mean", [1.5, f64::NAN, 4.5]),
        ("max", [2.0, f64::NEG_INFINITY, 6.0]),
        ("min", [1.0, f64::INFINITY, 3.0]),
        ("prod", [2.0, 1.0, 360.0]),
    ];
    for (reduce, want) in want {
        let by_length = SegmentReduce { lengths: Some(&lengths), ..Default::default() };
        near(&segment_reduce_with(&x, reduce, by_length).unwrap(), &want, reduce);
        let by_offset = SegmentReduce { offsets: Some(&offsets), ..Default::default() };
        near(&segment_reduce_with(&x, reduce, by_offset).unwrap(), &want, reduce);
    }
    for bad in [&[2, 3][..], &[-1, 7], &[7], &[i64::MAX, i64::MAX]] {
        let bad = ints(bad);
        let by_length = SegmentReduce { lengths: Some(&bad), ..Default::default() };
        assert!(segment_reduce_with(&x, "sum", by_length).is_err());
    }
    for bad in [&[0, 9][..], &[3, 1], &[-1, 2], &[]] {
        let bad = ints(bad);
        let by_offset = SegmentReduce { offsets: Some(&bad), ..Default::default() };
        assert!(segment_reduce_with(&x, "sum", by_offset).is_err());
    }
    assert!(segment_reduce_with(&x, "sum", SegmentReduce::default()).is_err());
}
