//! Logarithms besides log, which is with the exponentials, and what is made of them: log2, log10, log1p, logaddexp,
//! xlogy.

use crate::algebra::{Exponential, Logarithm, Real, log_of_sum};
use crate::pointwise::{Common, FloatComplex, Map, Reals, Rule, Same, pointwise};
use crate::record::record;
use monomorph_core::Complex64;
use std::f64::consts::{LN_2, LOG2_E};

pointwise! { Log2Fn "log2": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Logarithm> Map<V> for Log2Fn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.log2()
    }
}

pointwise! { Log10Fn "log10": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Logarithm> Map<V> for Log10Fn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.log10()
    }
}

pointwise! { Log1pFn "log1p": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Logarithm> Map<V> for Log1pFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.log1p()
    }
}

pointwise! { LogaddexpFn "logaddexp": FloatComplex, Same<2>; () => Common; Rule::BINARY, halves_as_f32 = true }
impl<V: Logarithm> Map<V> for LogaddexpFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.log_sum_exp(b)
    }
}

pointwise! { Logaddexp2Fn "logaddexp2": Reals, Same<2>; () => Common; Rule::BINARY, halves_as_f32 = true }
impl<V: Real + Exponential + Logarithm> Map<V> for Logaddexp2Fn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        log_of_sum(a, b, |x| x.exp2().log1p() * V::from_f64(LOG2_E))
    }
}

/// x times a logarithm of y: 0 where x is, but NaN where y is.
#[inline(always)]
fn times_log<V: Real>(x: V, y: V, log: V) -> V {
    V::select(y.is_nan(), y, V::select(x.eq(V::zero()), V::zero(), x * log))
}

pointwise! { XlogyFn "xlogy": Reals, Same<2>; () => Common; Rule::BINARY_FLOAT, halves_as_f32 = true }
impl<V: Real + Logarithm> Map<V> for XlogyFn {
    #[inline(always)]
    fn eval([x, y]: [V; 2], (): ()) -> V {
        times_log(x, y, y.log())
    }
}

pointwise! { Xlog1pyFn "special_xlog1py": Reals, Same<2>; () => Common; Rule::BINARY_FLOAT, halves_as_f32 = true }
impl<V: Real + Logarithm> Map<V> for Xlog1pyFn {
    #[inline(always)]
    fn eval([x, y]: [V; 2], (): ()) -> V {
        times_log(x, y, y.log1p())
    }
}

/// One operand; a new output is row-major, whatever the strides of the operand.
pub(crate) const ROW_MAJOR: Rule = Rule::UNARY.linear();

pointwise! { LogSigmoidFn "log_sigmoid": Reals, Same<1>; () => Common; ROW_MAJOR, halves_as_f32 = true }
impl<V: Real + Exponential + Logarithm> Map<V> for LogSigmoidFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.minimum(V::zero()) - (-a.abs()).exp().log1p()
    }
}

pointwise! { EntrFn "special_entr": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Real + Logarithm> Map<V> for EntrFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        let below = V::select(a.eq(V::zero()), V::zero(), V::from_f64(f64::NEG_INFINITY));
        let result = V::select(a.gt(V::zero()), -a * a.log(), below);
        V::select(a.is_nan(), a, result)
    }
}

record! { Log2Fn "log2: x", Any within 4: float |[a], []| a.log2(), complex |[a], []| a.ln() * LOG2_E }
record! {
    Log10Fn "log10: x", Any within 4: float |[a], []| a.log10(), complex |[a], []| a.ln() * std::f64::consts::LOG10_E
}
record! { Log1pFn "log1p: x", Any within 4: float |[a], []| a.ln_1p(), complex |[a], []| (a + 1.0).ln() }
record! { LogaddexpFn "logaddexp: x x", Any within 4:
float |[a, b], []| if a == b { a + LN_2 } else { a.max(b) + (-(a - b).abs()).exp().ln_1p() },
complex |[a, b], []| { let (small, large) = if a.re < b.re { (a, b) } else { (b, a) };
    large + log1p((small - large).exp()) } }
record! { Logaddexp2Fn "logaddexp2: x x", Any within 4:
float |[a, b], []| if a == b { a + 1.0 } else { a.max(b) + (-(a - b).abs()).exp2().ln_1p() * LOG2_E } }
record! { XlogyFn "xlogy.Tensor: x x", Any within 4:
float |[x, y], []| if y.is_nan() { y } else if x == 0.0 { 0.0 } else { x * y.ln() } }
record! { Xlog1pyFn "special_xlog1py: x x", Any within 4:
float |[x, y], []| if y.is_nan() { y } else if x == 0.0 { 0.0 } else { x * y.ln_1p() } }
record! { LogSigmoidFn "log_sigmoid: x", Any within 4: float |[a], []| {
    if a.is_nan() { a } else { a.min(0.0) - (-a.abs()).exp().ln_1p() }
} }
record! { EntrFn "special_entr: x", Any within 4: float |[a], []| match a {
    _ if a.is_nan() => a,
    _ if a > 0.0 => -a * a.ln(),
    _ if a == 0.0 => 0.0,
    _ => f64::NEG_INFINITY,
} }

/// log(1 + z), which keeps the digits of a small z.
fn log1p(z: Complex64) -> Complex64 {
    Complex64::new(0.5 * (z.re * (z.re + 2.0) + z.im * z.im).ln_1p(), z.im.atan2(1.0 + z.re))
}

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __logarithmic_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [log2] (Tensor self) -> (Tensor) : formula ($crate::logarithmic::Log2Fn) {
            functional log2; inplace log2_ [log2_]; out log2_out [log2.out];
        } }
        { [log10] (Tensor self) -> (Tensor) : formula ($crate::logarithmic::Log10Fn) {
            functional log10; inplace log10_ [log10_]; out log10_out [log10.out];
        } }
        { [log1p] (Tensor self) -> (Tensor) : formula ($crate::logarithmic::Log1pFn) {
            functional log1p; inplace log1p_ [log1p_]; out log1p_out [log1p.out];
        } }
        { [special_log1p] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::logarithmic::Log1pFn>) {
            functional special_log1p; out special_log1p_out [special_log1p.out];
        } }
        { [logaddexp] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::logarithmic::LogaddexpFn) {
            functional logaddexp; out logaddexp_out [logaddexp.out];
        } }
        { [logaddexp2] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::logarithmic::Logaddexp2Fn) {
            functional logaddexp2; out logaddexp2_out [logaddexp2.out];
        } }
        { [xlogy.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::logarithmic::XlogyFn) {
            functional xlogy; inplace xlogy_ [xlogy_.Tensor]; out xlogy_out [xlogy.OutTensor];
        } }
        { [xlogy.Scalar_Self] (Scalar self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::logarithmic::XlogyFn>) {
            functional -; out - [xlogy.OutScalar_Self];
        } }
        { [xlogy.Scalar_Other] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::logarithmic::XlogyFn>) {
            functional -; inplace - [xlogy_.Scalar_Other]; out - [xlogy.OutScalar_Other];
        } }
        { [special_xlogy] (Tensor self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::logarithmic::XlogyFn>) {
            functional special_xlogy; out special_xlogy_out [special_xlogy.out];
        } }
        { [special_xlogy.self_scalar] (Scalar self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::logarithmic::XlogyFn>) {
            functional -; out - [special_xlogy.self_scalar_out];
        } }
        { [special_xlogy.other_scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::logarithmic::XlogyFn>) {
            functional -; out - [special_xlogy.other_scalar_out];
        } }
        { [special_xlog1py] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::logarithmic::Xlog1pyFn) {
            functional special_xlog1py; out special_xlog1py_out [special_xlog1py.out];
        } }
        { [special_xlog1py.self_scalar] (Scalar self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::logarithmic::Xlog1pyFn>) {
            functional -; out - [special_xlog1py.self_scalar_out];
        } }
        { [special_xlog1py.other_scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::logarithmic::Xlog1pyFn>) {
            functional -; out - [special_xlog1py.other_scalar_out];
        } }
        { [log_sigmoid] (Tensor self) -> (Tensor) : formula ($crate::logarithmic::LogSigmoidFn) {
            functional log_sigmoid; out log_sigmoid_out [log_sigmoid.out];
        } }
        { [special_entr] (Tensor self) -> (Tensor) : formula ($crate::logarithmic::EntrFn) {
            functional special_entr; out special_entr_out [special_entr.out];
        } }
    } };
}
