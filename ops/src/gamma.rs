//! The gamma function's logarithm, its derivatives and its multivariate form, and Hurwitz's zeta function.

use crate::algebra::{Gamma, Real, Repeat, Zeta};
use crate::kernels;
use crate::pointwise::{Common, Map, Number, Numbers, Reals, Rule, Same, WideReals, pointwise, run};
use crate::record::{Inputs, Record, Recorded, Within, digamma, hurwitz, log_gamma, record, trigamma};
use monomorph_core::structured::{Operand, Operator, ValueSink};
use monomorph_core::{DType, Error, ErrorKind, Result, Scalar};
use std::f64::consts::PI;

pointwise! {
    LgammaFn "lgamma": Reals, Same<1>; () => Common;
    Rule::UNARY_FLOAT, halves_as_f32 = true, usual = true, partial = true
}
impl<V: Gamma> Map<V> for LgammaFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.lgamma()
    }
    #[inline(always)]
    fn is_usual([a]: [V; 1]) -> V::Mask {
        a.is_plain()
    }
    #[inline(always)]
    fn eval_usual([a]: [V; 1], (): ()) -> V {
        a.lgamma_plain()
    }
    #[inline(always)]
    fn eval_partial([a]: [V; 1], (): ()) -> (V, V::Mask) {
        a.lgamma_partial()
    }
}

pointwise! {
    DigammaFn "digamma": Reals, Same<1>; () => Common;
    Rule::UNARY_FLOAT, halves_as_f32 = true, usual = true, partial = true
}
impl<V: Gamma> Map<V> for DigammaFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.digamma()
    }
    #[inline(always)]
    fn is_usual([a]: [V; 1]) -> V::Mask {
        a.is_plain()
    }
    #[inline(always)]
    fn eval_usual([a]: [V; 1], (): ()) -> V {
        a.digamma_plain()
    }
    #[inline(always)]
    fn eval_partial([a]: [V; 1], (): ()) -> (V, V::Mask) {
        a.digamma_partial()
    }
}

pointwise! {
    TrigammaFn "polygamma": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT, halves_as_f32 = true, partial = true
}
impl<V: Gamma> Map<V> for TrigammaFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.trigamma()
    }
    #[inline(always)]
    fn eval_partial([a]: [V; 1], (): ()) -> (V, V::Mask) {
        a.trigamma_partial()
    }
}

// The parameters are n! with the sign of (−1)^(n + 1), and n + 1. Both factors of the product pass through the dtype's
// own precision, as PyTorch's do: where either overflows or vanishes is seen.
pointwise! {
    PolygammaFn "polygamma": Reals, Same<1>; Numbers<2> => Common; Rule::UNARY_FLOAT, partial = true, rare = true
}
impl<V: Gamma> Map<V> for PolygammaFn {
    #[inline(always)]
    fn eval([a]: [V; 1], [factorial, exponent]: [V; 2]) -> V {
        factorial.stored() * a.zeta_number(exponent).stored()
    }
}

pointwise! { ZetaFn "special_zeta": WideReals, Same<2>; () => Common; Rule::BINARY_FLOAT, partial = true, rare = true }
impl<V: Zeta> Map<V> for ZetaFn {
    #[inline(always)]
    fn eval([s, q]: [V; 2], (): ()) -> V {
        s.zeta(q)
    }
}

// PyTorch sums over a new last dimension, so a result is row-major, and what it sums are elements of the dtype.
pointwise! { MvlgammaFn "mvlgamma": Reals, Same<1>; Number => Common; Rule::UNARY_FLOAT.linear(), steps = 1 }
impl<V: Gamma + Repeat> Map<V> for MvlgammaFn {
    #[inline(always)]
    fn eval([a]: [V; 1], p: V) -> V {
        let step = |k: V, [sum]: [V; 1]| [sum + (a - k * V::from_f64(0.5)).stored().lgamma().stored()];
        let [sum] = V::repeat(p, [V::zero()], |_| V::zero().eq(V::zero()), step);
        sum.stored() + share(p)
    }
    #[inline(always)]
    fn start(_: [V; 1], _: V) -> [V; 3] {
        [V::zero(); 3]
    }
    #[inline(always)]
    fn step(k: V, [sum, ..]: [V; 3], [a]: [V; 1], p: V) -> ([V; 3], V::Mask) {
        // Of a number that is no integer the steps are those of the integer below, and of one out of bounds none.
        let takes = |steps: V| steps.le(p) & p.le(V::from_i64(MOST_DIMENSIONS));
        let goes_on = takes(k + V::one());
        let (next, holds) = (a - k * V::from_f64(0.5)).stored().lgamma_partial();
        let next = sum + V::select(holds, next.stored(), V::from_f64(f64::NAN));
        ([V::select(goes_on, next, sum), V::zero(), V::zero()], takes(k + V::from_f64(2.0)))
    }
    #[inline(always)]
    fn finish([sum, ..]: [V; 3], _: [V; 1], p: V) -> (V, V::Mask) {
        (sum.stored() + share(p), !sum.is_nan() & p.le(V::from_i64(MOST_DIMENSIONS)))
    }
}

/// What all elements of `mvlgamma` have in common.
#[inline(always)]
fn share<V: Real>(p: V) -> V {
    (p * (p - V::one()) * V::from_f64(0.5) * V::from_f64(0.5 * LOG_PI)).stored()
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

record! { LgammaFn "lgamma: x", Tame within 64 or 1e-13: float |[a], []| log_gamma(a) }
record! { DigammaFn "digamma: x", Tame within 64 or 1e-13: float |[a], []| digamma(a) }
record! { ZetaFn "special_zeta: x x", Tame within 64: float |[s, q], []| hurwitz(s, q) }
record! { PolygammaFn "-: x p p", Tame within 64: float |[a], [factor, s]| factor * hurwitz(s, a) }
record! { MvlgammaFn "-: x p", Tame within 64 or 1e-12: float |[a], [p]| {
    let sum: f64 = (0..p as i64).map(|k| log_gamma(a - 0.5 * k as f64)).sum();
    sum + 0.25 * p * (p - 1.0) * PI.ln()
} }
impl Recorded for TrigammaFn {
    const RECORD: Record = Record {
        call: "-: x",
        inputs: Inputs::Tame,
        within: Within::units(64),
        // Of negative integers the result depends on what rounding leaves of πx.
        reference: |dtype, operands, _| {
            let x = operands.first()?.to_f64();
            let product = if dtype == DType::F64 { PI * x } else { f64::from(PI as f32 * x as f32) };
            Some(Scalar::Float(trigamma(x, product)))
        },
    };
}

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __gamma_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [lgamma] (Tensor self) -> (Tensor) : formula ($crate::gamma::LgammaFn) {
            functional lgamma; inplace lgamma_ [lgamma_]; out lgamma_out [lgamma.out];
        } }
        { [special_gammaln] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::gamma::LgammaFn>) {
            functional special_gammaln; out special_gammaln_out [special_gammaln.out];
        } }
        { [digamma] (Tensor self) -> (Tensor) : formula ($crate::gamma::DigammaFn) {
            functional digamma; inplace digamma_ [digamma_]; out digamma_out [digamma.out];
        } }
        { [special_digamma] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::gamma::DigammaFn>) {
            functional special_digamma; out special_digamma_out [special_digamma.out];
        } }
        { [special_psi] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::gamma::DigammaFn>) {
            functional special_psi; out special_psi_out [special_psi.out];
        } }
        { [polygamma] (int n, Tensor self) -> (Tensor) : op ($crate::gamma::Polygamma) {
            functional polygamma; out polygamma_out [polygamma.out];
        } }
        { [polygamma_] (Tensor self, int n) -> (Tensor) : op ($crate::gamma::PolygammaInPlace) {
            inplace polygamma_ [polygamma_];
        } }
        { [special_polygamma] (int n, Tensor self) -> (Tensor) : op ($crate::gamma::Polygamma) {
            functional special_polygamma; out special_polygamma_out [special_polygamma.out];
        } }
        { [mvlgamma] (Tensor self, int p) -> (Tensor) : op ($crate::gamma::Mvlgamma) {
            functional mvlgamma; inplace mvlgamma_ [mvlgamma_]; out mvlgamma_out [mvlgamma.out];
        } }
        { [special_multigammaln] (Tensor self, int p) -> (Tensor) : op ($crate::gamma::Mvlgamma) {
            functional special_multigammaln; out special_multigammaln_out [special_multigammaln.out];
        } }
        { [special_zeta] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::gamma::ZetaFn) {
            functional special_zeta; out special_zeta_out [special_zeta.out];
        } }
        { [special_zeta.self_scalar] (Scalar self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::gamma::ZetaFn>) {
            functional -; out - [special_zeta.self_scalar_out];
        } }
        { [special_zeta.other_scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::gamma::ZetaFn>) {
            functional -; out - [special_zeta.other_scalar_out];
        } }
        { [] () -> () : formula ($crate::gamma::TrigammaFn) {} }
        { [] () -> () : formula ($crate::gamma::PolygammaFn) {} }
        { [] () -> () : formula ($crate::gamma::MvlgammaFn) {} }
    } };
}
