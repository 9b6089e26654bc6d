//! The hyperbolic functions besides tanh, which is with the exponentials, and their inverses.

use crate::algebra::Hyperbolic;
use crate::pointwise::{Common, FloatComplex, Map, Rule, Same, pointwise};
use crate::record::{im_signed, re_signed, record};

pointwise! { SinhFn "sinh": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Hyperbolic> Map<V> for SinhFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.sinh()
    }
}

pointwise! { CoshFn "cosh": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Hyperbolic> Map<V> for CoshFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.cosh()
    }
}

pointwise! { AsinhFn "asinh": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Hyperbolic> Map<V> for AsinhFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.asinh()
    }
}

pointwise! { AcoshFn "acosh": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Hyperbolic> Map<V> for AcoshFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.acosh()
    }
}

pointwise! { AtanhFn "atanh": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true }
impl<V: Hyperbolic> Map<V> for AtanhFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.atanh()
    }
}

record! { SinhFn "sinh: x", Any within 4: float |[a], []| a.sinh(), complex |[a], []| a.sinh() }
record! { CoshFn "cosh: x", Any within 4: float |[a], []| a.cosh(), complex |[a], []| a.cosh() }
record! { AsinhFn "asinh: x", Any within 64: float |[a], []| a.asinh(), complex |[a], []| re_signed(a.asinh(), a.re) }
record! { AcoshFn "acosh: x", Any within 64: float |[a], []| a.acosh(),
complex |[a], []| re_signed(im_signed(a.acosh(), a.im), 1.0) }
record! { AtanhFn "atanh: x", Any within 4: float |[a], []| a.atanh(), complex |[a], []| im_signed(a.atanh(), a.im) }

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __hyperbolic_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [sinh] (Tensor self) -> (Tensor) : formula ($crate::hyperbolic::SinhFn) {
            functional sinh; inplace sinh_ [sinh_]; out sinh_out [sinh.out];
        } }
        { [cosh] (Tensor self) -> (Tensor) : formula ($crate::hyperbolic::CoshFn) {
            functional cosh; inplace cosh_ [cosh_]; out cosh_out [cosh.out];
        } }
        { [asinh] (Tensor self) -> (Tensor) : formula ($crate::hyperbolic::AsinhFn) {
            functional asinh; inplace asinh_ [asinh_]; out asinh_out [asinh.out];
        } }
        { [acosh] (Tensor self) -> (Tensor) : formula ($crate::hyperbolic::AcoshFn) {
            functional acosh; inplace acosh_ [acosh_]; out acosh_out [acosh.out];
        } }
        { [atanh] (Tensor self) -> (Tensor) : formula ($crate::hyperbolic::AtanhFn) {
            functional atanh; inplace atanh_ [atanh_]; out atanh_out [atanh.out];
        } }
        { [arcsinh] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::hyperbolic::AsinhFn>) {
            functional arcsinh; inplace arcsinh_ [arcsinh_]; out arcsinh_out [arcsinh.out];
        } }
        { [arccosh] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::hyperbolic::AcoshFn>) {
            functional arccosh; inplace arccosh_ [arccosh_]; out arccosh_out [arccosh.out];
        } }
        { [arctanh] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::hyperbolic::AtanhFn>) {
            functional arctanh; inplace arctanh_ [arctanh_]; out arctanh_out [arctanh.out];
        } }
    } };
}
