//! The regularised incomplete gamma functions.

use crate::algebra::IncompleteGamma;
use crate::pointwise::{Common, Map, Reals, Rule, Same, pointwise};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;

pointwise! { IgammaFn "igamma": Reals, Same<2>; () => Common; Rule::BINARY }
impl<V: IncompleteGamma> Map<V> for IgammaFn {
    #[inline(always)]
    fn eval([a, x]: [V; 2], (): ()) -> V {
        a.igamma(x)
    }
}

pointwise! { IgammacFn "igammac": Reals, Same<2>; () => Common; Rule::BINARY }
impl<V: IncompleteGamma> Map<V> for IgammacFn {
    #[inline(always)]
    fn eval([a, x]: [V; 2], (): ()) -> V {
        a.igammac(x)
    }
}

record! { IgammaFn "igamma: x x", Tame within 64 or 1e-12: float |[a, x], []| record::lower_gamma(a, x) }
record! { IgammacFn "igammac: x x", Tame within 64 or 1e-12: float |[a, x], []| 1.0 - record::lower_gamma(a, x) }

native! {
    family: IncompleteGamma;

    func: igamma(Tensor self, Tensor other) -> Tensor,
    inplace: igamma_, out: igamma.out, variants: function, method, structured: Pointwise<IgammaFn>;

    func: special_gammainc(Tensor self, Tensor other) -> Tensor,
    out: special_gammainc.out, variants: function, method, structured: Pointwise<IgammaFn>;

    func: igammac(Tensor self, Tensor other) -> Tensor,
    inplace: igammac_, out: igammac.out, variants: function, method, structured: Pointwise<IgammacFn>;

    func: special_gammaincc(Tensor self, Tensor other) -> Tensor,
    out: special_gammaincc.out, variants: function, method, structured: Pointwise<IgammacFn>;
}
