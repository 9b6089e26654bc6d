//! Exponentials and their kin: exp, log, tanh, sigmoid, erf.

use crate::algebra::{Exponential, Gaussian, Hyperbolic, Logarithm};
use crate::pointwise::{Common, FloatComplex, Map, Reals, Rule, Same, pointwise};
use crate::record::{error_function, record};
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

record! { ExpFn "exp: x", Any within 2: float |[a], []| a.exp(), complex |[a], []| a.exp() }
record! { LogFn "log: x", Any within 2: float |[a], []| a.ln(), complex |[a], []| a.ln() }
record! { TanhFn "tanh: x", Any within 4: float |[a], []| a.tanh(), complex |[a], []| a.tanh() }
record! { SigmoidFn "sigmoid: x", Any within 4:
float |[a], []| logistic(a), complex |[a], []| Complex64::new(1.0, 0.0) / ((-a).exp() + 1.0) }
record! { ErfFn "erf: x", Any within 64: float |[a], []| error_function(a) }

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
    } };
}
