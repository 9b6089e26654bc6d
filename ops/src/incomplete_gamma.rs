//! The regularised incomplete gamma functions.

use crate::algebra::IncompleteGamma;
use crate::pointwise::{Common, Map, Reals, Rule, Same, pointwise};
use crate::record::{lower_gamma, record};

pointwise! {
    IgammaFn "igamma": Reals, Same<2>; () => Common; Rule::BINARY, halves_as_f32 = true, partial = true, rare = true
}
impl<V: IncompleteGamma> Map<V> for IgammaFn {
    #[inline(always)]
    fn eval([a, x]: [V; 2], (): ()) -> V {
        a.igamma(x)
    }
    #[inline(always)]
    fn eval_partial([a, x]: [V; 2], (): ()) -> (V, V::Mask) {
        a.igamma_partial(x)
    }
    #[inline(always)]
    fn may_hold([a, x]: [V; 2]) -> V::Mask {
        a.is_within(x)
    }
}

pointwise! {
    IgammacFn "igammac": Reals, Same<2>; () => Common; Rule::BINARY, halves_as_f32 = true, partial = true, rare = true
}
impl<V: IncompleteGamma> Map<V> for IgammacFn {
    #[inline(always)]
    fn eval([a, x]: [V; 2], (): ()) -> V {
        a.igammac(x)
    }
    #[inline(always)]
    fn eval_partial([a, x]: [V; 2], (): ()) -> (V, V::Mask) {
        a.igammac_partial(x)
    }
    #[inline(always)]
    fn may_hold([a, x]: [V; 2]) -> V::Mask {
        a.is_within(x)
    }
}

record! { IgammaFn "igamma: x x", Tame within 64 or 1e-12: float |[a, x], []| lower_gamma(a, x) }
record! { IgammacFn "igammac: x x", Tame within 64 or 1e-12: float |[a, x], []| 1.0 - lower_gamma(a, x) }

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __incomplete_gamma_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [igamma] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::incomplete_gamma::IgammaFn) {
            functional igamma; inplace igamma_ [igamma_]; out igamma_out [igamma.out];
        } }
        { [special_gammainc] (Tensor self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::incomplete_gamma::IgammaFn>) {
            functional special_gammainc; out special_gammainc_out [special_gammainc.out];
        } }
        { [igammac] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::incomplete_gamma::IgammacFn) {
            functional igammac; inplace igammac_ [igammac_]; out igammac_out [igammac.out];
        } }
        { [special_gammaincc] (Tensor self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::incomplete_gamma::IgammacFn>) {
            functional special_gammaincc; out special_gammaincc_out [special_gammaincc.out];
        } }
    } };
}
