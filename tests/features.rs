//! What a feature leaves out is absent, and the error by name says which feature has it. Run with the default features
//! and with none.

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

/// What is left compiles and runs without the others.
#[test]
fn the_rest_is_whole() -> monomorph::Result<()> {
    let x = tensor![0.5f32, 1.0];
    assert_eq!(x.erf()?.gelu()?.sum(..)?.sizes(), [0i64; 0]);
    assert!(dispatcher().operators().len() > 900);
    Ok(())
}
