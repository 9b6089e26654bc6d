//! Operators on meta tensors: shapes, dtypes and errors without a device that computes.

use monomorph_core::{DType, Tensor};
use monomorph_ops::Meta;
use monomorph_ops::functions::*;
use monomorph_ops::methods::*;

fn tensor(dtype: DType, sizes: &[i64]) -> Tensor<Meta> {
    Tensor::zeros_contiguous(dtype, sizes).unwrap()
}

#[test]
fn forms_of_add_agree_on_shape_and_dtype() {
    let (a, b) = (tensor(DType::I32, &[2, 3]), tensor(DType::F32, &[3]));
    let sum = add(&a, &b).unwrap();
    assert_eq!((sum.sizes(), sum.strides(), sum.dtype()), (&[2i64, 3][..], &[3i64, 1][..], DType::F32));
    assert_eq!(a.add(2.5).unwrap().dtype(), DType::F32);
    let mut out = tensor(DType::F64, &[0]);
    add_out(&a, &b, &mut out).unwrap();
    assert_eq!((out.sizes(), out.dtype()), (&[2i64, 3][..], DType::F64));
    let error = tensor(DType::I32, &[3]).add_(&b).unwrap_err();
    assert_eq!(error.op(), "add_");
    println!("{error}");
    let error = add(&a, &tensor(DType::F32, &[4])).unwrap_err();
    println!("{error}");
    let mut c = tensor(DType::F32, &[2, 1, 3]);
    c.squeeze_(1).unwrap().transpose_(0, 1).unwrap();
    assert_eq!(c.sizes(), [3, 2]);
    assert_eq!(c.view(6).unwrap_err().op(), "view");
    assert_eq!(where_(&tensor(DType::Bool, &[2, 1]), &a, 1.5).unwrap().dtype(), DType::F32);
    assert_eq!(a.clamp(1, None).unwrap().dtype(), DType::I32);
    assert_eq!(monomorph_ops::meta::eq(&a, 1).unwrap().dtype(), DType::Bool);
}
