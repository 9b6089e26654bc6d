//! The feature `ndarray`: buffers go over, whatever the order of the dimensions.

use monomorph::prelude::*;
use monomorph::{ErrorKind, Result};
use ndarray::{Array2, Array3, array, s};

#[test]
fn an_array_becomes_a_tensor_without_a_copy_and_back() -> Result<()> {
    let array = Array2::from_shape_fn((3, 4), |(i, j)| (10 * i + j) as f32);
    let at = array.as_ptr();
    let t = Tensor::try_from(array.clone().reversed_axes())?;
    assert_eq!((t.sizes(), t.strides()), (&[4, 3][..], &[1, 4][..]));
    assert_eq!(t.at::<f32>([3, 2])?, 23.0);
    let t = Tensor::try_from(array)?;
    assert!(std::ptr::eq(t.to_ndarray::<f32>()?.view().as_ptr(), at), "the very buffer");
    let sum = (&t * 2)?;
    assert_eq!(sum.to_ndarray::<f32>()?.view().sum(), 2.0 * t.sum(..)?.at::<f32>(())?);
    Ok(())
}

#[test]
fn views_and_reversed_arrays_are_copied_right() -> Result<()> {
    let array = array![[1i64, 2, 3], [4, 5, 6]];
    assert_eq!(Tensor::try_from(array.slice(s![.., ..;2]))?.to_vec::<i64>()?, [1, 3, 4, 6]);
    let reversed = array.slice_move(s![..;-1, ..]);
    assert_eq!(Tensor::try_from(reversed)?.to_vec::<i64>()?, [4, 5, 6, 1, 2, 3]);
    let part = Array3::<f64>::ones((2, 3, 4)).slice_move(s![1.., 1, ..]);
    assert_eq!(Tensor::try_from(part)?.sizes(), [1, 4]);
    assert_eq!(Tensor::try_from(ndarray::Array1::<u8>::zeros(0))?.sizes(), [0]);
    Ok(())
}

#[test]
fn a_view_needs_contiguous_elements_of_its_type() -> Result<()> {
    let t = tensor![[1.0f32, 2.0], [3.0, 4.0]];
    let error = t.t()?.to_ndarray::<f32>().map(|_| ()).expect_err("transposed");
    assert!(error.to_string().starts_with("to_ndarray: "), "{error}");
    assert!(matches!(t.to_ndarray::<f64>().map(|_| ()).expect_err("float32").kind(), ErrorKind::ElementType { .. }));
    let view = t.to_ndarray::<f32>()?;
    assert!(t.clone().add_(1).is_err(), "what is being read is not written");
    assert_eq!(view.view()[[1, 0]], 3.0);
    Ok(())
}
