//! What a feature leaves out is absent, and the error by name says which feature has it. Run with the default features
//! and with none.

use monomorph::ops::{stack, zeros};
use monomorph::prelude::*;
use monomorph::{Stack, call, dispatcher};

#[test]
fn special_functions_are_there_or_told_of() {
    let mut stack: Stack = vec![tensor![0.0f32].into()];
    let called = call("special_bessel_j0", &mut stack);
    if cfg!(feature = "special") {
        assert!(called.is_ok());
    } else {
        let error = called.expect_err("left out");
        let text = "special_bessel_j0: this build has no such operator: the feature `special` has it";
        assert_eq!(error.to_string(), text);
        assert!(dispatcher().find("special_hermite_polynomial_h.n_scalar").is_err());
    }
    let error = dispatcher().find("special_bessel_j9").map(|_| ()).expect_err("nobody has it");
    assert!(error.to_string().contains("there is no operator"), "{error}");
}

#[test]
fn random_numbers_are_there_or_told_of() {
    let mut stack: Stack = vec![tensor![0.0f32].into(), 0.0.into(), 1.0.into(), monomorph::IValue::None];
    let called = call("uniform_", &mut stack);
    if cfg!(feature = "random") {
        assert!(called.is_ok());
    } else {
        let text = "uniform_: this build has no such operator: the feature `random` has it";
        assert_eq!(called.expect_err("left out").to_string(), text);
    }
}

#[test]
fn linear_algebra_is_there_or_told_of() {
    let mut stack: Stack = vec![tensor![[2.0f32]].into()];
    match call("linalg_inv", &mut stack) {
        called if cfg!(feature = "linalg") => assert!(called.is_ok()),
        called => {
            let text = "linalg_inv: this build has no such operator: the feature `linalg` has it";
            assert_eq!(called.expect_err("left out").to_string(), text);
        }
    }
}

#[test]
fn fourier_transforms_are_there_or_told_of() {
    let mut stack: Stack =
        vec![tensor![1.0f32, 2.0].into(), monomorph::IValue::None, (-1).into(), monomorph::IValue::None];
    match call("fft_rfft", &mut stack) {
        // Of real numbers they are complex.
        called if cfg!(all(feature = "fft", feature = "complex")) => assert!(called.is_ok()),
        called if cfg!(feature = "fft") => {
            let text = "this build has no kernels on complex64: the feature `complex` has them";
            assert!(called.is_err_and(|error| error.to_string().ends_with(text)));
        }
        called => {
            let text = "fft_rfft: this build has no such operator: the feature `fft` has it";
            assert_eq!(called.expect_err("left out").to_string(), text);
        }
    }
}

/// Tensors of these dtypes exist in every build; kernels on them do where the feature is on.
#[test]
fn dtypes_are_computed_with_or_told_of() -> monomorph::Result<()> {
    for (dtype, feature, is_on) in [
        (DType::F16, "halves", cfg!(feature = "halves")),
        (DType::BF16, "halves", cfg!(feature = "halves")),
        (DType::C64, "complex", cfg!(feature = "complex")),
        (DType::C128, "complex", cfg!(feature = "complex")),
    ] {
        let x = tensor![0.5f32, 2.0].to(dtype)?;
        assert_eq!(zeros(2, dtype)?.dtype(), dtype);
        assert_eq!(x.to(F32)?.to_vec::<f32>()?, [0.5, 2.0], "made and converted back");
        assert_eq!(stack(&[&x, &x])?.sizes(), [2, 2], "moved");
        // A formula of several instructions, a light one, a reduction, a scan, a selection.
        let calls = [x.exp(), &x + &x, x.sum(..), x.cumsum(0), x.where_(&x.ne(0.0).unwrap_or(tensor![true]), &x)];
        for (k, called) in calls.into_iter().enumerate() {
            match (is_on, called) {
                (true, called) => assert!(called.is_ok(), "{dtype} {k}: {called:?}"),
                (false, Ok(_)) => panic!("{dtype} {k}: there is no kernel"),
                (false, Err(error)) => {
                    let text = format!("this build has no kernels on {dtype}: the feature `{feature}` has them");
                    assert!(error.to_string().ends_with(&text), "{error}");
                }
            }
        }
    }
    Ok(())
}

/// What is left compiles and runs without the others.
#[test]
fn the_rest_is_whole() -> monomorph::Result<()> {
    let x = tensor![0.5f32, 1.0];
    assert_eq!(x.erf()?.gelu()?.sum(..)?.sizes(), [0i64; 0]);
    assert!(dispatcher().operators().len() > 900);
    Ok(())
}
