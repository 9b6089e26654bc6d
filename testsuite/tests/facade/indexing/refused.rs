//! Scatters that are errors, which leave all as it was.

use super::*;
use monomorph::ErrorKind;
use monomorph::ops::options::IndexReduce;
use monomorph::ops::{self, index_add, index_add_, index_copy, index_copy_, index_fill, index_fill_};
use monomorph::ops::{index_reduce_with, put_, scatter, scatter_, scatter_out};

fn ints(data: &[i64], sizes: &[i64]) -> Tensor<Cpu> {
    Tensor::<Cpu>::from_slice(data, sizes.to_vec()).unwrap()
}

/// Any wrong index, wherever it stands, is an error that names it, and nothing is written.
#[test]
fn a_wrong_index_changes_nothing() {
    let data: Vec<i64> = (0..12).collect();
    for bad in [3, -1, i64::MAX, i64::MIN, 1 << 32] {
        for place in [0, 511, 512, 699] {
            let mut index = vec![1; 700];
            index[place] = bad;
            let (index, ones) = (ints(&index, &[700]), ints(&[9; 2800], &[700, 4]));
            let mut x = ints(&data, &[3, 4]);
            let want = ErrorKind::IndexOutOfRange { arg: "index", got: bad, dim: Some(0), size: 3, low: 0 };
            assert_eq!(error(index_add_(&mut x, 0, &index, &ones)).kind(), &want);
            assert_eq!(error(index_copy_(&mut x, 0, &index, &ones)).kind(), &want);
            let column = ops::unsqueeze(&index, 1).unwrap();
            assert_eq!(error(scatter_(&mut x, 0, &column, 5)).kind(), &want);
            assert_eq!(error(ops::scatter_add_(&mut x, 0, &column, &ones)).kind(), &want);
            assert_eq!(error(ops::scatter_reduce_(&mut x, 0, &column, &ones, "mean")).kind(), &want);
            assert_eq!(error(ops::index_reduce_(&mut x, 0, &index, &ones, "prod")).kind(), &want);
            if bad != -1 {
                assert!(error(index_fill_(&mut x, 0, &index, 5)).to_string().contains(&bad.to_string()));
            }
            assert_eq!(x.to_vec::<i64>().unwrap(), data);
            let mut small = ints(&[5], &[1]);
            assert!(scatter_out(&x, 0, &column, &ones, &mut small).is_err());
            assert_eq!((small.sizes(), small.to_vec::<i64>().unwrap()), (&[1][..], vec![5]));
            assert!(scatter(&x, 0, &column, &ones).is_err());
        }
    }
    let mut x = ints(&data, &[3, 4]);
    assert!(put_(&mut x, &ints(&[0, 12], &[2]), &ints(&[7, 7], &[2])).is_err());
    assert!(put_(&mut x, &ints(&[0, -13], &[2]), &ints(&[7, 7], &[2])).is_err());
    assert_eq!(x.to_vec::<i64>().unwrap(), data);
}

#[test]
fn sizes_dtypes_and_overlaps_are_checked() {
    let x = ints(&(0..12).collect::<Vec<_>>(), &[3, 4]);
    let (index, row) = (ints(&[1], &[1]), ints(&[1; 4], &[1, 4]));
    let bytes = Tensor::<Cpu>::from_slice(&[1u8], [1]).unwrap();
    assert!(matches!(error(index_add(&x, 0, &bytes, &row)).kind(), ErrorKind::DTypeNotSupported { .. }));
    assert!(matches!(error(index_copy(&x, 0, &index, &x)).kind(), ErrorKind::ListLength { .. }));
    assert!(matches!(error(index_add(&x, 0, &index, &index)).kind(), ErrorKind::UnequalSizes { .. }));
    assert!(matches!(error(index_fill(&x, 0, &index, &row)).kind(), ErrorKind::DimCount { arg: "value", .. }));
    let narrow = Tensor::<Cpu>::from_slice(&[1.0f32; 4], [1, 4]).unwrap();
    assert!(matches!(error(scatter(&x, 0, &row, &narrow)).kind(), ErrorKind::DTypeMismatch { arg: "src", .. }));
    assert!(matches!(error(scatter(&x, 0, &ints(&[0; 5], &[1, 5]), 1)).kind(), ErrorKind::OutOfRange { .. }));
    assert!(matches!(error(scatter(&x, 0, &ints(&[0; 8], &[2, 4]), &row)).kind(), ErrorKind::OutOfRange { .. }));
    assert!(matches!(error(ops::put(&x, &index, &row)).kind(), ErrorKind::ListLength { .. }));
    let with = IndexReduce { include_self: false, ..Default::default() };
    assert!(index_reduce_with(&x, 0, &index, &row, "sum", with).is_err());
    let mut expanded = ops::expand(&ints(&[0], &[1]), 3).unwrap();
    assert!(matches!(error(index_add_(&mut expanded, 0, &index, &index)).kind(), ErrorKind::InternalOverlap { .. }));
    index_fill_(&mut expanded, 0, &index, 5).unwrap();
    assert_eq!(expanded.to_vec::<i64>().unwrap(), [5, 5, 5]);
    let mut x = x;
    let part = ops::narrow(&x, 0, 0, 1).unwrap();
    assert!(matches!(error(ops::scatter_add_(&mut x, 0, &row, &part)).kind(), ErrorKind::Overlap { .. }));
}
