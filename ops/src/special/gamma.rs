//! The gamma function's logarithm, its derivatives and its multivariate form, and Hurwitz's zeta function.

use crate::algebra::{Gamma, Real, Repeat, Zeta};
use crate::kernels;
use crate::pointwise::{Common, Map, Number, Numbers, Reals, Rule, Same, WideReals, pointwise, run};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use monomorph_core::structured::{Operand, Operator, ValueSink};
use monomorph_core::{DType, Error, ErrorKind, Result, Scalar};

pointwise! { LgammaFn "lgamma": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Gamma> Map<V> for LgammaFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.lgamma()
    }
}

pointwise! { DigammaFn "digamma": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Gamma> Map<V> for DigammaFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.digamma()
    }
}

pointwise! { TrigammaFn "polygamma": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Gamma> Map<V> for TrigammaFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.trigamma()
    }
}

// The parameters are n! with the sign of (−1)^(n + 1), and n + 1. Both factors of the product pass through the
// dtype's own precision, as PyTorch's do: where either overflows or vanishes is seen.
pointwise! { PolygammaFn "polygamma": Reals, Same<1>; Numbers<2> => Common; Rule::UNARY_FLOAT }
impl<V: Gamma> Map<V> for PolygammaFn {
    #[inline(always)]
    fn eval([a]: [V; 1], [factorial, exponent]: [V; 2]) -> V {
        factorial.stored() * a.zeta_number(exponent).stored()
    }
}

pointwise! { ZetaFn "special_zeta": WideReals, Same<2>; () => Common; Rule::BINARY_FLOAT }
impl<V: Zeta> Map<V> for ZetaFn {
    #[inline(always)]
    fn eval([s, q]: [V; 2], (): ()) -> V {
        s.zeta(q)
    }
}

// PyTorch sums over a new last dimension, so a result is row-major, and what it sums are elements of the dtype.
pointwise! { MvlgammaFn "mvlgamma": Reals, Same<1>; Number => Common; Rule::UNARY_FLOAT.linear() }
impl MvlgammaFn {
    /// What all elements have in common: p(p − 1)/4 · log π.
    #[inline(always)]
    pub fn share<V: Real>(p: V) -> V {
        (p * (p - V::one()) * V::from_f64(0.5) * V::from_f64(0.5 * LOG_PI)).stored()
    }
}
impl<V: Gamma + Repeat> Map<V> for MvlgammaFn {
    #[inline(always)]
    fn eval([a]: [V; 1], p: V) -> V {
        let step = |k: V, [sum]: [V; 1]| [sum + (a - k * V::from_f64(0.5)).stored().lgamma().stored()];
        let [sum] = V::repeat(p, [V::zero()], |_| V::zero().eq(V::zero()), step);
        sum.stored() + MvlgammaFn::share(p)
    }
}

/// log π.
const LOG_PI: f64 = 1.144_729_885_849_400_2;

/// `polygamma`: derivative number `n` of `digamma`, from the order 2 on within 2 ULP (18 in float64).
pub struct Polygamma;

impl<'t, D: kernels::Gamma> Operator<'t, D, (i64, Operand<'t>)> for Polygamma {
    fn call<S: ValueSink<'t, D>>((n, a): (i64, Operand<'t>), sink: S) -> Result<S::Value> {
        match n {
            ..0 => Err(Error::new(ErrorKind::OutOfRange { arg: "n", got: n, low: 0, high: i64::MAX }).of("polygamma")),
            0 => run::<DigammaFn, D, _, S>((a,), sink),
            1 => run::<TrigammaFn, D, _, S>((a,), sink),
            _ => {
                // Beyond 170 the product is infinite.
                let factorial: f64 = (1..=n.min(171)).map(|k| k as f64).product();
                let signed = if n % 2 == 0 { -factorial } else { factorial };
                run::<PolygammaFn, D, _, S>((a, signed.into(), (n as f64 + 1.0).into()), sink)
            }
        }
    }
}

/// `polygamma_`, whose arguments stand the other way round.
pub struct PolygammaInPlace;

impl<'t, D: kernels::Gamma> Operator<'t, D, (Operand<'t>, i64)> for PolygammaInPlace {
    fn call<S: ValueSink<'t, D>>((a, n): (Operand<'t>, i64), sink: S) -> Result<S::Value> {
        <Polygamma as Operator<'t, D, (i64, Operand<'t>)>>::call((n, a), sink)
    }
}

/// The largest dimension that [`Mvlgamma`] takes: it computes as many logarithms for each element.
pub const MOST_DIMENSIONS: i64 = 1 << 20;

/// `mvlgamma`: the logarithm of the gamma function of `p` dimensions, as a sum of `p` logarithms in the dtype; each
/// addition rounds.
pub struct Mvlgamma;

impl<'t, D: kernels::Gamma> Operator<'t, D, (Operand<'t>, i64)> for Mvlgamma {
    fn call<S: ValueSink<'t, D>>((a, p): (Operand<'t>, i64), sink: S) -> Result<S::Value> {
        let error = if a.dtype() == Some(DType::Bool) {
            let what = "argument self has dtype";
            Some(ErrorKind::DTypeNotSupported { what, got: DType::Bool, accepted: "integers and floats" })
        } else if !(1..=MOST_DIMENSIONS).contains(&p) {
            Some(ErrorKind::OutOfRange { arg: "p", got: p, low: 1, high: MOST_DIMENSIONS })
        } else {
            None
        };
        match error {
            Some(error) => Err(Error::new(error).of("mvlgamma")),
            None => run::<MvlgammaFn, D, _, S>((a, Scalar::Int(p)), sink),
        }
    }
}

record! { LgammaFn "lgamma: x", Tame within 64 or 1e-13: float |[a], []| record::log_gamma(a) }
record! { DigammaFn "digamma: x", Tame within 64 or 1e-13: float |[a], []| record::digamma(a) }
record! { ZetaFn "special_zeta: x x", Tame within 64: float |[s, q], []| record::hurwitz(s, q) }
record! { PolygammaFn "-: x p p", Tame within 64: float |[a], [factor, s]| factor * record::hurwitz(s, a) }
record! { MvlgammaFn "-: x p", Tame within 64 or 1e-12: float |[a], [p]| {
    let sum: f64 = (0..p as i64).map(|k| record::log_gamma(a - 0.5 * k as f64)).sum();
    sum + 0.25 * p * (p - 1.0) * std::f64::consts::PI.ln()
} }
record! { TrigammaFn "-: x", Tame within 64, of dtype: float |[a], []| reference::trigamma(dtype, a) }

/// What the records call.
#[cfg(feature = "record")]
mod reference {
    use crate::record;
    use monomorph_core::DType;
    use std::f64::consts::PI;

    /// Of negative integers the result depends on what rounding leaves of πx.
    pub(super) fn trigamma(dtype: DType, x: f64) -> f64 {
        record::trigamma(x, if dtype == DType::F64 { PI * x } else { f64::from(PI as f32 * x as f32) })
    }
}

native! {
    family: Gamma;

    /// The logarithm of the absolute value of the gamma function, elementwise.
    ///
    /// Integers and bool give float32. Of 0 and the negative integers it is ∞.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0, 0.0];
    /// assert_eq!(x.lgamma()?.to_vec::<f32>()?, [0.0, 0.0, f32::INFINITY]);
    /// ```
    func: lgamma(Tensor self) -> Tensor,
    inplace: lgamma_, out: lgamma.out, variants: function, method, structured: Pointwise<LgammaFn>;

    func: _foreach_lgamma(Tensor[] self) -> Tensor[],
    inplace: _foreach_lgamma_, autogen: _foreach_lgamma.out, each: lgamma;

    /// [`lgamma`](super::functions::lgamma) under another name.
    func: special_gammaln(Tensor self) -> Tensor,
    out: special_gammaln.out, variants: function, method, structured: Pointwise<LgammaFn>;

    /// The derivative of the logarithm of the gamma function, elementwise.
    ///
    /// Integers and bool give float32. Of 0 it is -∞, of the negative integers NaN.
    ///
    /// ```
    /// let x = tensor![0.0f32, -0.0];
    /// assert_eq!(x.digamma()?.to_vec::<f32>()?, [-f32::INFINITY, f32::INFINITY]);
    /// ```
    func: digamma(Tensor self) -> Tensor,
    inplace: digamma_, out: digamma.out, variants: function, method, structured: Pointwise<DigammaFn>;

    /// [`digamma`](super::functions::digamma) under another name.
    func: special_digamma(Tensor self) -> Tensor,
    out: special_digamma.out, variants: function, method, structured: Pointwise<DigammaFn>;

    /// [`digamma`](super::functions::digamma) under another name.
    func: special_psi(Tensor self) -> Tensor,
    out: special_psi.out, variants: function, method, structured: Pointwise<DigammaFn>;

    /// The derivative of the order `n` of [`digamma`](super::functions::digamma), elementwise; of the order 0, that
    /// itself.
    ///
    /// Integers and bool give float32. A negative `n` is an error.
    ///
    /// ```
    /// let x = tensor![0.0f32];
    /// assert_eq!(ops::polygamma(1, &x)?.to_vec::<f32>()?, [f32::INFINITY]);
    /// ```
    func: polygamma(int n, Tensor self) -> Tensor,
    out: polygamma.out, variants: function, operator: Polygamma;

    /// [`polygamma`](super::functions::polygamma) in place.
    func: polygamma_(Tensor(a!) self, int n) -> Tensor(a!),
    variants: function, method, operator: PolygammaInPlace;

    /// [`polygamma`](super::functions::polygamma) under another name.
    func: special_polygamma(int n, Tensor self) -> Tensor,
    out: special_polygamma.out, variants: function, operator: Polygamma;

    /// The logarithm of the multivariate gamma function of dimension `p`, elementwise.
    ///
    /// Integers give float32. Bool is an error, and so is a `p` of less than 1.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0];
    /// assert_eq!(x.mvlgamma(1)?.to_vec::<f32>()?, [0.0, 0.0]);
    /// ```
    func: mvlgamma(Tensor self, int p) -> Tensor,
    inplace: mvlgamma_, out: mvlgamma.out, variants: function, method, operator: Mvlgamma;

    /// [`mvlgamma`](super::functions::mvlgamma) under another name.
    func: special_multigammaln(Tensor self, int p) -> Tensor,
    out: special_multigammaln.out, variants: function, method, operator: Mvlgamma;

    /// The Hurwitz zeta function elementwise: the sum of `1 / (k + other)^self` over all `k` from 0 on.
    ///
    /// The operands broadcast; integers and bool give float32. Where `self` is 1 it is ∞, below that NaN.
    ///
    /// ```
    /// let x = tensor![1.0f32];
    /// assert_eq!(x.special_zeta(2)?.to_vec::<f32>()?, [f32::INFINITY]);
    /// ```
    func: special_zeta(Tensor self, Tensor other) -> Tensor,
    out: special_zeta.out, variants: function, method, structured: Pointwise<ZetaFn>;

    func: special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor,
    out: special_zeta.self_scalar_out, structured: Pointwise<ZetaFn>;

    func: special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor,
    out: special_zeta.other_scalar_out, structured: Pointwise<ZetaFn>;

    structured: Pointwise<TrigammaFn>;

    structured: Pointwise<PolygammaFn>;

    structured: Pointwise<MvlgammaFn>;
}
