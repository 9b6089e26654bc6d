//! Powers of a number: the base 1 is a constant, whatever the exponent holds and the output is.

use monomorph::{
    Complex64, Cpu, DType, ErrorKind, Scalar, Tensor,
    crates::ops::power::{pow_scalar, pow_scalar_out},
    ops::expand,
};
use monomorph_testsuite::layout::{convert, values};

fn exponent() -> Tensor<Cpu> {
    Tensor::from_slice(&[1.5f32, f32::NAN, -3.0], [3]).unwrap()
}

#[test]
fn one_is_one_to_any_power() {
    for one in [Scalar::Int(1), Scalar::Float(1.0), Scalar::Complex(Complex64::new(1.0, 0.0))] {
        let powers = pow_scalar(one, &exponent()).unwrap();
        let expected = if matches!(one, Scalar::Complex(_)) { DType::C64 } else { DType::F32 };
        assert_eq!(powers.dtype(), expected);
        assert_eq!(values(&powers), vec![convert(Scalar::Int(1), expected); 3]);
        // Any dtype is cast to, also an integer, which other bases refuse.
        for dtype in DType::ALL {
            let mut out = Tensor::<Cpu>::zeros_contiguous(dtype, &[0]).unwrap();
            pow_scalar_out(one, &exponent(), &mut out).unwrap();
            assert_eq!((out.sizes(), values(&out)), (&[3][..], vec![convert(Scalar::Int(1), dtype); 3]));
        }
        let mut expanded = expand(&Tensor::<Cpu>::zeros_contiguous(DType::F32, &[1]).unwrap(), [3]).unwrap();
        pow_scalar_out(one, &exponent(), &mut expanded).unwrap();
        assert_eq!((values(&expanded), expanded.strides()), (vec![Scalar::Float(1.0); 3], &[0][..]));
    }
}

#[test]
fn other_bases_are_computed_with() {
    for base in [Scalar::Bool(true), Scalar::Float(2.0)] {
        let mut integers = Tensor::<Cpu>::zeros_contiguous(DType::I32, &[3]).unwrap();
        let error = pow_scalar_out(base, &exponent(), &mut integers).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Cast { from: DType::F32, to: DType::I32 }), "{error}");
        let mut expanded = expand(&Tensor::<Cpu>::zeros_contiguous(DType::F32, &[1]).unwrap(), [3]).unwrap();
        pow_scalar_out(base, &exponent(), &mut expanded).unwrap_err();
    }
    let powers = pow_scalar(2, &Tensor::<Cpu>::from_slice(&[3i64, 0], [2]).unwrap()).unwrap();
    assert_eq!(values(&powers), [Scalar::Int(8), Scalar::Int(1)]);
}
