//! Calls at the edge of the rules, answered as PyTorch answers them: what one operator allocates, converts or refuses
//! unlike its family.

use monomorph::crates::core::ErrorKind;
use monomorph::ops::options::*;
use monomorph::{Cpu, DType, Geometry, Scalar, Tensor, bf16, crates::ops, f16};
use ops::functions as f;

/// A tensor with these strides, its elements 1, 2, 3 … in the order of memory.
pub(crate) fn strided(dtype: DType, sizes: &[i64], strides: &[i64]) -> Tensor<Cpu> {
    let numbers: Vec<f32> = (1..=64u8).map(f32::from).collect();
    let all = Tensor::<Cpu>::from_slice(&numbers, [64]).expect("64 numbers");
    let all = f::to(&all, dtype).expect("any dtype is cast to any");
    all.with_geometry(Geometry::new(dtype, sizes, strides, 0).expect("small strides")).expect("within 64 elements")
}

pub(crate) fn empty(dtype: DType) -> Tensor<Cpu> {
    Tensor::zeros_contiguous(dtype, &[0]).expect("nothing")
}

#[test]
fn results_that_pytorch_makes_like_the_input_keep_strides_that_mean_nothing() {
    for (sizes, strides) in [(&[3, 1, 3], &[3, 9, 1]), (&[0, 3, 1], &[1, 1, 7])] {
        let of = |dtype| strided(dtype, sizes, strides);
        let (real, complex) = (of(DType::F32), of(DType::C64));
        let weight = Tensor::<Cpu>::from_slice(&[0.5f32], [1]).expect("one number");
        let made = [
            f::conj_physical(&complex),
            f::nan_to_num(&real),
            f::isinf(&of(DType::I64)),
            f::isfinite(&of(DType::Bool)),
            f::prelu(&real, &weight),
            f::frexp(&real).map(|(mantissa, _)| mantissa),
            f::frexp(&real).map(|(_, exponent)| exponent),
            f::log_sigmoid_backward(&real, &strided(DType::F32, sizes, &[3, 1, 1]), &real),
        ];
        for (k, t) in made.into_iter().enumerate() {
            assert_eq!(t.expect("accepted dtypes").strides(), strides, "call {k}");
        }
        // The walk decides on those of others.
        assert_ne!(f::exp(&real).expect("a float").strides(), strides);
        assert_ne!(f::isinf(&real).expect("a float").strides(), strides);
    }
}

#[test]
fn outputs_that_are_resized_are_laid_out_as_pytorch_does() {
    let turned = |dtype| strided(dtype, &[3, 4], &[1, 3]);
    let mut out = empty(DType::C64);
    f::complex_out(&turned(DType::F32), &turned(DType::F32), &mut out).expect("float32");
    assert_eq!(out.strides(), [1, 3]);
    // By way of a complex result that is copied.
    let mut out = empty(DType::F32);
    f::abs_out(&turned(DType::C64), &mut out).expect("a magnitude is real");
    assert_eq!(out.strides(), [4, 1]);
    let mut out = empty(DType::F32);
    let row_major = strided(DType::F32, &[3, 4], &[4, 1]);
    f::log_sigmoid_backward_out(&row_major, &turned(DType::F32), &row_major, &mut out).expect("one dtype");
    assert_eq!(out.strides(), [1, 3]);
}

#[test]
fn halves_are_rounded_to_decimals_in_float32() {
    let x = Tensor::<Cpu>::from_slice(&[0.450_195_3, 7.0, 36_992.0].map(f16::from_f32), [3]).expect("three numbers");
    let rounded = |decimals| {
        f::round_with(&x, Round { decimals, ..Default::default() }).and_then(|t| t.to_vec::<f16>()).expect("a float")
    };
    assert_eq!(rounded(1), [0.5, 7.0, 36_992.0].map(f16::from_f32));
    assert_eq!(rounded(5)[1], f16::from_f32(7.0));
}

#[test]
fn mvlgamma_sums_elements_of_the_dtype() {
    // x - 1 is a bfloat16 only as -1, of which log gamma is infinite.
    let x = Tensor::<Cpu>::from_slice(&[bf16::from_f32(-1.15e-6)], [1]).expect("one number");
    assert_eq!(f::mvlgamma(&x, 3).and_then(|t| t.to_vec::<bf16>()).expect("a float"), [bf16::INFINITY]);
}

#[test]
fn slopes_of_gelu_are_a_half_at_subnormal_numbers() {
    let x = Tensor::<Cpu>::from_slice(&[-1e-40f32, 0.0, 1e-42], [3]).expect("three numbers");
    let grad = Tensor::<Cpu>::from_slice(&[1.0f32; 3], [3]).expect("three numbers");
    assert_eq!(f::gelu_backward(&grad, &x).and_then(|t| t.to_vec::<f32>()).expect("floats"), [0.5; 3]);
}

#[test]
fn zero_is_on_the_straight_side_of_celu() {
    let x = Tensor::<Cpu>::from_slice(&[0.0f32, -0.0], [2]).expect("two numbers");
    assert_eq!(
        f::celu_with(&x, Celu { alpha: f64::INFINITY.into(), ..Default::default() })
            .and_then(|t| t.to_vec::<f32>())
            .expect("a float"),
        [0.0, 0.0]
    );
}

#[test]
fn gradients_of_mish_have_the_dtype_of_the_input() {
    let of = |dtype| strided(dtype, &[3], &[1]);
    for to in [DType::F16, DType::F32, DType::F64] {
        assert_eq!(f::mish_backward(&of(DType::F64), &of(to)).expect("floats").dtype(), to);
    }
    let error = f::mish_backward(&of(DType::F32), &of(DType::I16)).expect_err("a float is no integer");
    assert!(matches!(error.kind(), ErrorKind::Cast { from: DType::F32, to: DType::I16 }), "{error}");
}

#[test]
fn backwards_accept_what_pytorch_accepts() {
    let of = |dtype, n| strided(dtype, &[n], &[1]);
    let gelu = |grad, a, n| f::gelu_backward(&of(grad, n), &of(a, n)).map(|t| t.dtype());
    assert_eq!(gelu(DType::F64, DType::F32, 1).ok(), Some(DType::F64));
    assert_eq!(gelu(DType::F64, DType::F16, 3).ok(), Some(DType::F64));
    assert_eq!(gelu(DType::U8, DType::F32, 3).ok(), Some(DType::F32));
    assert!(gelu(DType::F64, DType::F32, 3).is_err() && gelu(DType::F16, DType::BF16, 3).is_err());
    let stepped = strided(DType::F32, &[3], &[2]);
    assert_eq!(f::gelu_backward(&of(DType::F64, 3), &stepped).expect("not contiguous").dtype(), DType::F64);

    assert!(f::glu_backward(&of(DType::F32, 2), &of(DType::F32, 4), 0).is_ok());
    assert!(f::glu_backward(&of(DType::F64, 2), &of(DType::F32, 4), 0).is_err());
    assert!(f::glu_backward(&of(DType::F32, 2), &of(DType::F32, 2), 0).is_err());
    let error = f::glu_backward_out(&of(DType::F32, 2), &of(DType::F32, 4), 0, &mut empty(DType::F64)).map(drop);
    assert!(matches!(error.expect_err("no cast").kind(), ErrorKind::OutputDType { .. }));

    let inside = f::softshrink_backward(&of(DType::F32, 2), &of(DType::F32, 2), -1.0).expect("any number");
    assert_eq!(inside.to_vec::<f32>().expect("float32"), [1.0, 2.0]);
}

#[test]
fn numbers_that_a_dtype_does_not_hold_are_refused() {
    let of = |dtype| strided(dtype, &[2], &[1]);
    let imaginary = Scalar::from(monomorph::Complex64::new(0.0, 1.0));
    for (dtype, bound) in [(DType::F32, imaginary), (DType::I32, imaginary), (DType::I32, f64::INFINITY.into())] {
        let error = f::hardtanh_with(&of(dtype), Hardtanh { min_val: bound, ..Default::default() })
            .expect_err("no bound of this kind");
        assert!(matches!(error.kind(), ErrorKind::NumberRange { arg: "min_val", .. }), "{error}");
    }
    let mask = Tensor::<Cpu>::from_slice(&[true, false], [2]).expect("two truths");
    let large = Tensor::<Cpu>::from_slice(&[1000i32], ()).expect("a number");
    let error = f::masked_fill(&of(DType::I8), &mask, &large).expect_err("more than an int8");
    assert!(matches!(error.kind(), ErrorKind::NumberRange { arg: "value", .. }), "{error}");
    assert!(f::masked_fill(&of(DType::I16), &mask, &large).is_ok());
    for half in [DType::F16, DType::BF16] {
        let error = f::mul(&of(half), imaginary).expect_err("complex32");
        assert!(matches!(error.kind(), ErrorKind::ArgumentRule { .. }), "{error}");
        assert_eq!(f::eq(&of(half), imaginary).expect("a truth").dtype(), DType::Bool);
    }
}

#[test]
fn a_result_that_is_cast_is_not_copied_into_an_output_that_overlaps_itself() {
    let x = strided(DType::I64, &[3, 3], &[3, 1]);
    let expanded = |dtype| strided(dtype, &[3, 3], &[0, 1]);
    assert!(f::threshold_out(&x, 4, 0, &mut expanded(DType::I64)).is_ok());
    let error = f::threshold_out(&x, 4, 0, &mut expanded(DType::F32)).expect_err("a copy");
    assert!(matches!(error.kind(), ErrorKind::InternalOverlap { .. }), "{error}");
}

#[test]
fn the_exponential_less_one_of_an_infinite_imaginary_part_is_no_number() -> monomorph::Result<()> {
    for dtype in [DType::F32, DType::F64] {
        let parts = |numbers: &[f64]| f::to(&Tensor::<Cpu>::from_slice(numbers, [numbers.len() as i64])?, dtype);
        let infinite = f64::INFINITY;
        let z = f::complex(&parts(&[-infinite, -infinite, 0.0])?, &parts(&[infinite, 1.0, 0.0])?)?;
        let less_one = f::expm1(&z)?;
        let numbers = |part: &Tensor<Cpu>| f::contiguous(&f::to(part, DType::F64)?)?.to_vec::<f64>();
        let (real, imaginary) = (numbers(&f::real(&less_one)?)?, numbers(&f::imag(&less_one)?)?);
        assert!(real[0].is_nan() && imaginary[0].is_nan(), "{real:?} {imaginary:?}");
        assert_eq!((&real[1..], &imaginary[1..]), (&[-1.0, 0.0][..], &[0.0, 0.0][..]));
    }
    Ok(())
}

/// As in C, int8 and int16 are multiplied as int32, so that the magnitude of the product wraps; of int32 the product
/// does.
#[test]
fn least_common_multiples_wrap_as_in_pytorch() -> monomorph::Result<()> {
    let of = |dtype, a: &[i64], b: &[i64]| {
        let [a, b] = [a, b].map(|x| f::to(&Tensor::<Cpu>::from_slice(x, [x.len() as i64])?, dtype));
        f::to(&f::lcm(&a?, &b?)?, DType::I64)?.to_vec::<i64>()
    };
    let bytes: [&[i64]; 2] = [&[100, 127, -128, -128, 64], &[99, 126, 127, -128, 48]];
    assert_eq!(of(DType::I8, bytes[0], bytes[1])?, [-84, -126, -128, -128, -64]);
    assert_eq!(of(DType::U8, &[100, 127, 128, 128, 64], &[99, 126, 127, 128, 48])?, [172, 130, 128, 128, 192]);
    assert_eq!(of(DType::I16, &[32_767, -32_768, 30_000], &[32_766, 3, 29_999])?, [-32_766, -32_768, 29_648]);
    let (a, b) = ([(1 << 31) - 1, (1 << 30) + 1], [(1 << 31) - 2, 3]);
    assert_eq!(of(DType::I32, &a, &b)?, [2_147_483_646, 1_073_741_821]);
    Ok(())
}
