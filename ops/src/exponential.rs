//! Exponentials and their kin: exp, exp2, expm1, log, tanh, sigmoid, erf, its complement and its inverse.

use crate::algebra::{Exponential, Gaussian, Hyperbolic, Logarithm};
use crate::pointwise::{Common, FloatComplex, Map, Reals, Rule, Same, pointwise};
use crate::record::{error_function, error_function_complement, inverse_error_function, record};
use monomorph_core::Complex64;

pointwise! { ExpFn "exp": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Exponential> Map<V> for ExpFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.exp()
    }
}

pointwise! { LogFn "log": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Logarithm> Map<V> for LogFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.log()
    }
}

pointwise! { TanhFn "tanh": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Hyperbolic> Map<V> for TanhFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.tanh()
    }
}

pointwise! { SigmoidFn "sigmoid": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Hyperbolic> Map<V> for SigmoidFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.sigmoid()
    }
}

pointwise! { ErfFn "erf": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Gaussian> Map<V> for ErfFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.erf()
    }
}

pointwise! { Exp2Fn "exp2": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Exponential> Map<V> for Exp2Fn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.exp2()
    }
}

pointwise! { Expm1Fn "expm1": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Exponential> Map<V> for Expm1Fn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.expm1()
    }
}

pointwise! { ErfcFn "erfc": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Gaussian> Map<V> for ErfcFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.erfc()
    }
}

pointwise! { ErfinvFn "erfinv": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Gaussian> Map<V> for ErfinvFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.erfinv()
    }
}

record! { ExpFn "exp: x", Any within 2: float |[a], []| a.exp(), complex |[a], []| a.exp() }
record! { LogFn "log: x", Any within 2: float |[a], []| a.ln(), complex |[a], []| a.ln() }
record! { TanhFn "tanh: x", Any within 4: float |[a], []| a.tanh(), complex |[a], []| a.tanh() }
record! { SigmoidFn "sigmoid: x", Any within 4:
float |[a], []| logistic(a), complex |[a], []| Complex64::new(1.0, 0.0) / ((-a).exp() + 1.0) }
record! { ErfFn "erf: x", Any within 64: float |[a], []| error_function(a) }

record! {
    Exp2Fn "exp2: x", Any within 4: float |[a], []| a.exp2(), complex |[a], []| (a * std::f64::consts::LN_2).exp()
}
record! { Expm1Fn "expm1: x", Any within 4: float |[a], []| a.exp_m1(), complex |[a], []| a.exp() - 1.0 }
record! { ErfcFn "erfc: x", Any within 16: float |[a], []| error_function_complement(a) }
record! { ErfinvFn "erfinv: x", Any within 4: float |[a], []| inverse_error_function(a) }

/// 1 / (1 + e^-x), without overflow.
fn logistic(x: f64) -> f64 {
    let small = (-x.abs()).exp();
    if x < 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) }
}

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __exponential_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [exp] (Tensor self) -> (Tensor) : formula ($crate::exponential::ExpFn) {
            functional exp; inplace exp_ [exp_]; out exp_out [exp.out];
        } }
        { [log] (Tensor self) -> (Tensor) : formula ($crate::exponential::LogFn) {
            functional log; inplace log_ [log_]; out log_out [log.out];
        } }
        { [tanh] (Tensor self) -> (Tensor) : formula ($crate::exponential::TanhFn) {
            functional tanh; inplace tanh_ [tanh_]; out tanh_out [tanh.out];
        } }
        { [sigmoid] (Tensor self) -> (Tensor) : formula ($crate::exponential::SigmoidFn) {
            functional sigmoid; inplace sigmoid_ [sigmoid_]; out sigmoid_out [sigmoid.out];
        } }
        { [erf] (Tensor self) -> (Tensor) : formula ($crate::exponential::ErfFn) {
            functional erf; inplace erf_ [erf_]; out erf_out [erf.out];
        } }
        { [exp2] (Tensor self) -> (Tensor) : formula ($crate::exponential::Exp2Fn) {
            functional exp2; inplace exp2_ [exp2_]; out exp2_out [exp2.out];
        } }
        { [expm1] (Tensor self) -> (Tensor) : formula ($crate::exponential::Expm1Fn) {
            functional expm1; inplace expm1_ [expm1_]; out expm1_out [expm1.out];
        } }
        { [erfc] (Tensor self) -> (Tensor) : formula ($crate::exponential::ErfcFn) {
            functional erfc; inplace erfc_ [erfc_]; out erfc_out [erfc.out];
        } }
        { [erfinv] (Tensor self) -> (Tensor) : formula ($crate::exponential::ErfinvFn) {
            functional erfinv; inplace erfinv_ [erfinv_]; out erfinv_out [erfinv.out];
        } }
        { [special_exp2] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::exponential::Exp2Fn>) {
            functional special_exp2; out special_exp2_out [special_exp2.out];
        } }
        { [special_expm1] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::exponential::Expm1Fn>) {
            functional special_expm1; out special_expm1_out [special_expm1.out];
        } }
        { [special_erf] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::exponential::ErfFn>) {
            functional special_erf; out special_erf_out [special_erf.out];
        } }
        { [special_erfc] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::exponential::ErfcFn>) {
            functional special_erfc; out special_erfc_out [special_erfc.out];
        } }
        { [special_erfinv] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::exponential::ErfinvFn>) {
            functional special_erfinv; out special_erfinv_out [special_erfinv.out];
        } }
        { [special_expit] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::exponential::SigmoidFn>) {
            functional special_expit; out special_expit_out [special_expit.out];
        } }
    } };
}
