//! The derivative of a pointwise formula as a pointwise formula. Owns the lifting of operands and parameters to dual
//! numbers; refuses to know how any function is differentiated, which the algebra's dual numbers do.

use super::domain::Reals;
use super::formula::{
    Common, In, Magnitude, Map, MaskAndTwo, Number, Numbers, Operands, OutOf, Outputs, Params, ParamsOf,
};
use super::formula::{PointwiseFn, Same};
use super::fused::Joined;
use super::rule::Rule;
use crate::algebra::{Dual, Real, Value};
use std::marker::PhantomData;

/// The gradient of formula `F` by operand `K` (counted without masks), times the gradient of the result: the operands
/// of `F`, then that gradient. Real floating dtypes.
///
/// ```
/// use monomorph_ops::exponential::ExpFn;
/// use monomorph_ops::pointwise::{Gradient, Pointwise};
///
/// /// grad · e^x, of the arguments (x, grad).
/// type ExpBackward = Pointwise<Gradient<ExpFn, 0>>;
/// ```
pub struct Gradient<F, const K: usize>(PhantomData<fn() -> F>);

impl<F, const K: usize> PointwiseFn for Gradient<F, K>
where
    F: PointwiseFn<Operands: LiftOperands, Params: LiftParams, Out: LoweredOutput>,
{
    const NAME: &'static str = F::NAME;
    const RULE: Rule = Rule::TERNARY;
    type Domain = Reals;
    type Operands = Joined<F::Operands, Same<2>>;
    type Params = F::Params;
    type Out = Common;
}

impl<V, F, const K: usize> Map<V> for Gradient<F, K>
where
    V: Real,
    F: Map<Dual<V>> + PointwiseFn<Operands: LiftOperands, Params: LiftParams, Out: LoweredOutput>,
{
    #[inline(always)]
    fn eval((x, [grad]): In<Self, V>, p: ParamsOf<Self, V>) -> V {
        const { assert!(K < F::Operands::COUNT - F::Operands::MASKS, "the formula has no such operand") };
        let result: OutOf<F, Dual<V>> = F::eval(F::Operands::lift(x, K), F::Params::lift(p));
        grad * F::Out::lower(result).slope
    }
}

/// Operands that can be dual numbers.
pub trait LiftOperands: Operands {
    /// The operands, of which `variable` (counted without masks) is differentiated by.
    fn lift<V: Real>(x: Self::Of<V>, variable: usize) -> Self::Of<Dual<V>>;
}

#[inline(always)]
fn lift<V: Real, const N: usize>(x: [V; N], variable: usize) -> [Dual<V>; N] {
    let mut place = 0..;
    x.map(|x| if place.next() == Some(variable) { Dual::variable(x) } else { Dual::constant(x) })
}

impl<const N: usize> LiftOperands for Same<N> {
    #[inline(always)]
    fn lift<V: Real>(x: [V; N], variable: usize) -> [Dual<V>; N] {
        lift(x, variable)
    }
}

impl LiftOperands for MaskAndTwo {
    #[inline(always)]
    fn lift<V: Real>((mask, x): (V::Mask, [V; 2]), variable: usize) -> (V::Mask, [Dual<V>; 2]) {
        (mask, lift(x, variable))
    }
}

/// Parameters that can be dual numbers, all of them constants.
pub trait LiftParams: Params {
    /// The parameters.
    fn lift<V: Real>(p: Self::Of<V>) -> Self::Of<Dual<V>>;
}

impl LiftParams for () {
    #[inline(always)]
    fn lift<V: Real>((): ()) {}
}

impl LiftParams for Number {
    #[inline(always)]
    fn lift<V: Real>(p: V) -> Dual<V> {
        Dual::constant(p)
    }
}

impl<const N: usize> LiftParams for Numbers<N> {
    #[inline(always)]
    fn lift<V: Real>(p: [V; N]) -> [Dual<V>; N] {
        p.map(Dual::constant)
    }
}

/// Outputs that have a slope.
pub trait LoweredOutput: Outputs {
    /// The output as the dual number that it is.
    fn lower<V: Real>(out: Self::Of<Dual<V>>) -> Dual<V>;
}

impl LoweredOutput for Common {
    #[inline(always)]
    fn lower<V: Real>(out: Dual<V>) -> Dual<V> {
        out
    }
}

impl LoweredOutput for Magnitude {
    #[inline(always)]
    fn lower<V: Real>(out: <Dual<V> as Value>::Re) -> Dual<V> {
        out
    }
}
