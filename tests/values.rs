//! Data into tensors and out again: vectors without a copy, nested arrays, bytes, elements, rows.

use monomorph::prelude::{ResizeMethods as _, ViewMethods as _};
use monomorph::{Cpu, DType, ErrorKind, Tensor, bf16, tensor};

type T = Tensor<Cpu>;

/// What the pages promise to those who share tensors among threads, whatever they are tensors of.
const _: fn() = || {
    fn shared<X: Send + Sync>() {}
    shared::<T>();
    shared::<Tensor<monomorph::Meta>>();
    shared::<monomorph::AnyTensor>();
};

#[test]
fn a_vector_comes_and_goes_without_a_copy() {
    let data: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let address = data.as_ptr();
    let t = Tensor::from_vec(data, (10, 100)).unwrap();
    assert_eq!(t.data::<f32>().unwrap().as_ptr(), address);
    let back = t.into_vec::<f32>().unwrap();
    assert_eq!((back.as_ptr(), back[999]), (address, 999.0));
}

#[test]
fn spare_capacity_other_layouts_and_shared_storages_are_copied_right() {
    let mut data = Vec::with_capacity(100);
    data.extend([1i64, 2, 3, 4]);
    let t = Tensor::from_vec(data, [2, 2]).unwrap();
    let shared = t.clone();
    assert_eq!(t.into_vec::<i64>().unwrap(), [1, 2, 3, 4]);
    assert_eq!(shared.permute([1, 0]).unwrap().into_vec::<i64>().unwrap(), [1, 3, 2, 4]);
    assert_eq!(shared.into_vec::<i64>().unwrap(), [1, 2, 3, 4]);
    let bools = Tensor::from_vec(vec![true, false], 2).unwrap();
    assert_eq!(bools.into_vec::<bool>().unwrap(), [true, false]);
    assert_eq!(Tensor::from_vec(Vec::<f64>::new(), [0, 3]).unwrap().into_vec::<f64>().unwrap(), [0.0f64; 0]);
}

/// A buffer of another alignment must not be freed as one of elements that lie otherwise.
#[test]
fn elements_of_another_type_are_an_error_and_bytes_keep_their_buffer() {
    let t = Tensor::from_vec(vec![1u8; 64], 64).unwrap();
    assert!(matches!(t.clone().into_vec::<i8>().unwrap_err().kind(), ErrorKind::ElementType { .. }));
    let halves = t.with_geometry(monomorph::Geometry::contiguous(DType::F32, &[16]).unwrap()).unwrap();
    drop(t);
    assert_eq!(halves.into_vec::<f32>().unwrap()[0].to_bits(), 0x0101_0101);
}

#[test]
fn a_tensor_of_a_vector_grows_and_is_written() {
    let mut t = Tensor::from_vec(vec![1.0f32, 2.0], 2).unwrap();
    t.resize_(300).unwrap();
    assert_eq!(t.to_vec::<f32>().unwrap()[..3], [1.0, 2.0, 0.0]);
    assert_eq!(t.into_vec::<f32>().unwrap().len(), 300);
}

#[test]
fn lengths_must_agree() {
    assert!(matches!(Tensor::from_vec(vec![1u8; 5], [2, 3]).unwrap_err().kind(), ErrorKind::ShapeNumel { .. }));
    assert!(matches!(Tensor::from_vec(vec![1u8; 5], -5).unwrap_err().kind(), ErrorKind::NegativeSize { .. }));
    assert!(Tensor::from_bytes(&[0; 5], DType::BF16, 2).is_err());
    assert!(Tensor::from_bytes(&[0; 4], DType::BF16, (i64::MAX, 3)).is_err());
}

#[test]
fn nested_arrays_and_iterators() {
    let t = tensor![[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]];
    assert_eq!((t.sizes(), t.dtype()), (&[3i64, 2][..], DType::F32));
    assert_eq!(T::from(7i64).ndim(), 0);
    assert_eq!(T::from([[[0u8; 0]; 2]; 3]).sizes(), [3, 2, 0]);
    let t: T = (0..4i64).collect();
    assert_eq!(t.to_vec::<i64>().unwrap(), [0, 1, 2, 3]);
    assert_eq!(T::try_from(vec![1.5f64]).unwrap().sizes(), [1]);
}

#[test]
fn bytes_as_they_lie() {
    let t = Tensor::from_bytes(&[0x80, 0x3f, 0, 0xc0], DType::BF16, 2).unwrap();
    assert_eq!(t.to_vec::<bf16>().unwrap(), [bf16::from_f32(1.0), bf16::from_f32(-2.0)]);
    assert_eq!(t.as_bytes().unwrap()[..], [0x80, 0x3f, 0, 0xc0]);
}

#[test]
fn elements_by_index() {
    let t = tensor![[1.0f32, 2.0], [3.0, 4.0]];
    assert_eq!(t.at::<f32>([1, 0]), Ok(3.0));
    assert_eq!(t.at::<f32>((-1, -1)), Ok(4.0));
    assert_eq!(t.permute([1, 0]).unwrap().at::<f32>((1, 0)), Ok(2.0));
    assert!(matches!(t.at::<f32>([2, 0]).unwrap_err().kind(), ErrorKind::OutOfRange { low: -2, high: 1, .. }));
    assert!(matches!(t.at::<f32>(1).unwrap_err().kind(), ErrorKind::ListLength { got: 1, want: 2, .. }));
    assert!(matches!(t.at::<f64>([0, 0]).unwrap_err().kind(), ErrorKind::ElementType { .. }));
}

#[test]
fn rows_are_views() {
    let t = tensor![[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]];
    let firsts: Vec<f32> = (&t).into_iter().map(|row| row.at(0).unwrap()).collect();
    assert_eq!(firsts, [1.0, 3.0, 5.0]);
    let mut rows = (&t).into_iter();
    assert_eq!(rows.len(), 3);
    let last = rows.next_back().unwrap();
    assert_eq!((last.to_vec::<f32>().unwrap(), last.storage_id()), (vec![5.0, 6.0], t.storage_id()));
    assert_eq!((&T::from(1.0f64)).into_iter().count(), 0);
}
