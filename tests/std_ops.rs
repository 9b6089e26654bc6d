//! Rust's operators between tensors, numbers and results, on the CPU and on shapes.

use monomorph::{Cpu, DType, ErrorKind, Meta, Result, Scalar, Tensor, tensor};

type T = Tensor<Cpu>;

fn values(t: Result<T>) -> Vec<f32> {
    t.unwrap().to_vec::<f32>().unwrap()
}

#[test]
fn tensors_and_numbers_on_either_side() {
    let (a, b) = (tensor![1.0f32, 2.0, 4.0], tensor![2.0f32, 3.0, 5.0]);
    assert_eq!(values(&a + &b), [3.0, 5.0, 9.0]);
    assert_eq!(values(&a - b.clone()), [-1.0; 3]);
    assert_eq!(values(a.clone() * &b), [2.0, 6.0, 20.0]);
    assert_eq!(values(&a / 2), [0.5, 1.0, 2.0]);
    assert_eq!(values(1.0 - &a), [0.0, -1.0, -3.0]);
    assert_eq!(values(8 / &a), [8.0, 4.0, 2.0]);
    assert_eq!(values(Scalar::Int(7) % a.clone()), [0.0, 1.0, 3.0]);
    assert_eq!(values(-&a), [-1.0, -2.0, -4.0]);
    assert_eq!((&a + 1.5f64).unwrap().dtype(), DType::F32, "a number does not widen");
}

#[test]
fn results_stand_on_both_sides() {
    let (a, b) = (tensor![1.0f32, 2.0], tensor![3.0f32, 5.0]);
    assert_eq!(values((1.0 - &a) * &b), [0.0, -5.0]);
    assert_eq!(values(&a + &b * 2.0), [7.0, 12.0]);
    let wrong = &a + tensor![1.0f32, 2.0, 3.0];
    assert!(matches!((wrong.clone() * &b).unwrap_err().kind(), ErrorKind::Broadcast { .. }));
    assert!((&a * wrong).is_err());
}

#[test]
fn the_remainder_has_the_sign_of_the_divisor() {
    assert_eq!(values(tensor![-7.0f32, 7.0] % 3.0), [2.0, 1.0]);
    assert_eq!((tensor![-7i64, 7] % -3).unwrap().to_vec::<i64>().unwrap(), [-1, -2]);
}

#[test]
fn bits_and_masks() {
    let (a, b) = (tensor![6i32, 5], tensor![3i32, 1]);
    for (result, want) in [
        (&a & &b, [2, 1]),
        (&a | &b, [7, 5]),
        (&a ^ 1, [7, 4]),
        (&a << &b, [48, 10]),
        (&a >> 1, [3, 2]),
        (!&a, [-7, -6]),
    ] {
        assert_eq!(result.unwrap().to_vec::<i32>().unwrap(), want);
    }
    assert_eq!((!tensor![true, false]).unwrap().to_vec::<bool>().unwrap(), [false, true]);
}

#[test]
fn assignment_is_in_place() {
    let mut a = tensor![1.0f32, 2.0];
    let shared = a.clone();
    a += &tensor![1i64, 1];
    a *= 3;
    assert_eq!(shared.to_vec::<f32>().unwrap(), [6.0, 9.0]);
    assert_eq!(a.storage_id(), shared.storage_id());
}

#[test]
#[should_panic(expected = "do not broadcast")]
fn assignment_panics_with_the_text_of_the_error() {
    let mut a = tensor![1.0f32, 2.0];
    a -= &tensor![1.0f32, 2.0, 3.0];
}

#[test]
fn shapes_alone() {
    let a = Tensor::<Meta>::zeros_contiguous(DType::F32, &[2, 1]).unwrap();
    let b = Tensor::<Meta>::zeros_contiguous(DType::F64, &[3]).unwrap();
    let sum = (&a + &b * 2).unwrap();
    assert_eq!((sum.sizes(), sum.dtype()), (&[2i64, 3][..], DType::F64));
}
