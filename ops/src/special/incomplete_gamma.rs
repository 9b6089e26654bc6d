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

    /// The regularised lower incomplete gamma function elementwise: `∫ t^(self - 1) e^-t dt / Γ(self)` from 0 to
    /// `other`.
    ///
    /// The operands broadcast and promote to a float dtype; integers are an error. Negative operands give NaN.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0];
    /// assert_eq!(x.igamma(&tensor![0.0f32, f32::INFINITY])?.to_vec::<f32>()?, [0.0, 1.0]);
    /// ```
    func: igamma(Tensor self, Tensor other) -> Tensor,
    inplace: igamma_, out: igamma.out, variants: function, method, structured: Pointwise<IgammaFn>;

    /// [`igamma`](super::functions::igamma) under another name.
    func: special_gammainc(Tensor self, Tensor other) -> Tensor,
    out: special_gammainc.out, variants: function, method, structured: Pointwise<IgammaFn>;

    /// The regularised upper incomplete gamma function elementwise: `1 - igamma(self, other)`, exact where that is near
    /// 0.
    ///
    /// The operands broadcast and promote to a float dtype; integers are an error. Negative operands give NaN.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0];
    /// assert_eq!(x.igammac(&tensor![0.0f32, f32::INFINITY])?.to_vec::<f32>()?, [1.0, 0.0]);
    /// ```
    func: igammac(Tensor self, Tensor other) -> Tensor,
    inplace: igammac_, out: igammac.out, variants: function, method, structured: Pointwise<IgammacFn>;

    /// [`igammac`](super::functions::igammac) under another name.
    func: special_gammaincc(Tensor self, Tensor other) -> Tensor,
    out: special_gammaincc.out, variants: function, method, structured: Pointwise<IgammacFn>;
}
