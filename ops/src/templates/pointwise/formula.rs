//! What a formula is made of: its operands, parameters and output, as types over a value of the algebra.

use super::fused::Joined;
use super::rule::Rule;
use crate::algebra::Value;
use monomorph_core::structured::{FromArgs, Operand};
use monomorph_core::{ErrorKind, Result, Scalar};

/// The error of a formula whose operands have no result.
pub type Fault = fn() -> ErrorKind;

/// A pointwise operator: everything about it but the formula itself. Implemented by [`pointwise!`](crate::pointwise!).
pub trait PointwiseFn: Sized + Send + Sync + 'static {
    /// The name that errors carry.
    const NAME: &'static str;
    /// How operands are promoted, cast and checked.
    const RULE: Rule;
    /// The error of operands that have no result, if there are such: [`Map::fault`] says which.
    const FAULT: Option<Fault> = None;
    /// The type of the set of dtypes that the formula computes in. Varies per operator.
    type Domain: super::DomainSet;
    /// The type of the tensor operands.
    type Operands: Operands;
    /// The type of the parameters.
    type Params: Params;
    /// The type of the output.
    type Out: Outputs;
}

/// What a formula takes of value `V`.
pub type In<F, V> = <<F as PointwiseFn>::Operands as Operands>::Of<V>;
/// The parameters of a formula of value `V`.
pub type ParamsOf<F, V> = <<F as PointwiseFn>::Params as Params>::Of<V>;
/// What a formula gives of value `V`.
pub type OutOf<F, V> = <<F as PointwiseFn>::Out as Outputs>::Of<V>;

/// The formula, for every value of the algebra that has the functions it needs.
#[diagnostic::on_unimplemented(
    message = "the formula `{Self}` does not compute on `{V}`",
    label = "the domain of the operator is wider than its formula",
    note = "narrow the domain in `pointwise!`, or bound the formula's `impl<V: ..> Map<V>` by a trait that these \
        dtypes have"
)]
pub trait Map<V: Value>: PointwiseFn {
    /// One element of the output from one element of each operand.
    fn eval(x: In<Self, V>, p: ParamsOf<Self, V>) -> OutOf<Self, V>;

    /// Whether the operands have no result (an integer divided by zero), so that the call is the error
    /// [`PointwiseFn::FAULT`]. Asked only where there is one.
    #[inline(always)]
    fn fault(_x: In<Self, V>) -> V::Mask {
        <V::Mask as Value>::from_bool(false)
    }
}

pub(super) mod sealed {
    pub trait Sealed {}
}

/// The tensor operands of a formula. Sealed: devices load them by position.
pub trait Operands: sealed::Sealed + 'static {
    /// How many there are.
    const COUNT: usize;
    /// How many of them, from the first, are masks: bool, whatever the others promote to.
    const MASKS: usize = 0;
    /// They are an array: each is like the others.
    const ALIKE: bool = false;
    /// The type of one element of each.
    type Of<V: Value>;
    /// The type of the operands in a call.
    type Array<'t>: AsRef<[Operand<'t>]> + for<'a> TryFrom<&'a [Operand<'t>]>;
}

/// `N` operands of one dtype.
pub struct Same<const N: usize>;
impl<const N: usize> sealed::Sealed for Same<N> {}
impl<const N: usize> Operands for Same<N> {
    const COUNT: usize = N;
    const ALIKE: bool = true;
    type Of<V: Value> = [V; N];
    type Array<'t> = [Operand<'t>; N];
}

/// A mask and two operands of one dtype.
pub struct MaskAndTwo;
impl sealed::Sealed for MaskAndTwo {}
impl Operands for MaskAndTwo {
    const COUNT: usize = 3;
    const MASKS: usize = 1;
    type Of<V: Value> = (V::Mask, [V; 2]);
    type Array<'t> = [Operand<'t>; 3];
}

/// What an output holds, for code that is not generic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputKind {
    /// The common dtype.
    Common,
    /// bool.
    Truth,
    /// The real dtype of the common one.
    Magnitude,
}

/// The output of a formula. Sealed: devices store it.
pub trait Outputs: sealed::Sealed + 'static {
    /// The same as a value.
    const KIND: OutputKind;
    /// The type of one element.
    type Of<V: Value>;
}

/// An output of the common dtype.
pub struct Common;
impl sealed::Sealed for Common {}
impl Outputs for Common {
    const KIND: OutputKind = OutputKind::Common;
    type Of<V: Value> = V;
}

/// An output of bool.
pub struct Truth;
impl sealed::Sealed for Truth {}
impl Outputs for Truth {
    const KIND: OutputKind = OutputKind::Truth;
    type Of<V: Value> = V::Mask;
}

/// An output of the real dtype: float32 for complex64.
pub struct Magnitude;
impl sealed::Sealed for Magnitude {}
impl Outputs for Magnitude {
    const KIND: OutputKind = OutputKind::Magnitude;
    type Of<V: Value> = V::Re;
}

/// The parameters of a formula. Sealed: devices pass them to kernels.
pub trait Params: sealed::Sealed + Clone + Default + Send + Sync + 'static {
    /// How many there are.
    const COUNT: usize;
    /// The type of the parameters as values of the algebra.
    type Of<V: Value>: Copy;
    /// The parameters converted to the dtype that the formula computes in.
    fn bind<V: Value>(&self) -> Self::Of<V>;
    /// The parameters as the host holds them, in order.
    fn scalars(&self) -> &[Scalar];
    /// Parameters from as many numbers as there are; `None` for another number of them.
    fn from_scalars(scalars: &[Scalar]) -> Option<Self>;
    /// The parameters as values that `next` supplies one after another.
    fn symbolic<V: Value>(next: &mut dyn FnMut() -> V) -> Self::Of<V>;
}

impl sealed::Sealed for () {}
impl Params for () {
    const COUNT: usize = 0;
    type Of<V: Value> = ();
    fn bind<V: Value>(&self) {}
    fn scalars(&self) -> &[Scalar] {
        &[]
    }
    fn from_scalars(scalars: &[Scalar]) -> Option<()> {
        scalars.is_empty().then_some(())
    }
    fn symbolic<V: Value>(_: &mut dyn FnMut() -> V) {}
}

/// One number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub Scalar);

impl Default for Number {
    #[inline]
    fn default() -> Number {
        Number(Scalar::Int(1))
    }
}

impl sealed::Sealed for Number {}
impl Params for Number {
    const COUNT: usize = 1;
    type Of<V: Value> = V;
    #[inline(always)]
    fn bind<V: Value>(&self) -> V {
        match self.0 {
            Scalar::Bool(b) => V::from_bool(b),
            Scalar::Int(i) => V::from_i64(i),
            Scalar::Float(f) => V::from_f64(f),
            Scalar::Complex(c) => V::from_complex(c.re, c.im),
        }
    }
    #[inline]
    fn scalars(&self) -> &[Scalar] {
        std::slice::from_ref(&self.0)
    }
    fn from_scalars(scalars: &[Scalar]) -> Option<Number> {
        <[Scalar; 1]>::try_from(scalars).ok().map(|[x]| Number(x))
    }
    fn symbolic<V: Value>(next: &mut dyn FnMut() -> V) -> V {
        next()
    }
}

/// So many numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers<const N: usize>(pub [Scalar; N]);

impl<const N: usize> Default for Numbers<N> {
    fn default() -> Self {
        Numbers([Scalar::Int(0); N])
    }
}

impl<const N: usize> sealed::Sealed for Numbers<N> {}
impl<const N: usize> Params for Numbers<N> {
    const COUNT: usize = N;
    type Of<V: Value> = [V; N];
    #[inline(always)]
    fn bind<V: Value>(&self) -> [V; N] {
        self.0.map(
            #[inline(always)]
            |x| Number(x).bind(),
        )
    }
    fn scalars(&self) -> &[Scalar] {
        &self.0
    }
    fn from_scalars(scalars: &[Scalar]) -> Option<Self> {
        scalars.try_into().ok().map(Numbers)
    }
    fn symbolic<V: Value>(next: &mut dyn FnMut() -> V) -> [V; N] {
        std::array::from_fn(|_| next())
    }
}

/// Operands and parameters from the arguments of a schema: first the operands, then the parameters.
macro_rules! from_args {
    ($($operands:ty, $params:ty: ($($operand:ident)*; $($param:ident)*) => $make:expr;)*) => {$(
        impl<'t, $($operand: Into<Operand<'t>>),*> FromArgs<($($operand,)* $(from_args!(@type $param),)*)>
            for super::op::Arguments<'t, $operands, $params>
        {
            #[allow(non_snake_case, reason = "the type parameters double as names of the tuple's fields")]
            fn from_args(
                ($($operand,)* $($param,)*): ($($operand,)* $(from_args!(@type $param),)*),
            ) -> Result<Self> {
                Ok(super::op::Arguments { operands: [$($operand.into()),*].into(), params: $make })
            }
        }
    )*};
    (@type $param:ident) => { Scalar };
}
from_args! {
    Same<0>, Number: (; p) => Number(p);
    Same<1>, (): (A;) => ();
    Same<1>, Number: (A; p) => Number(p);
    Same<1>, Numbers<2>: (A; p q) => Numbers([p, q]);
    Same<1>, Numbers<3>: (A; p q r) => Numbers([p, q, r]);
    Same<2>, (): (A B;) => ();
    Same<2>, Number: (A B; p) => Number(p);
    Same<2>, Numbers<2>: (A B; p q) => Numbers([p, q]);
    Same<2>, Numbers<3>: (A B; p q r) => Numbers([p, q, r]);
    Same<3>, (): (A B C;) => ();
    Same<3>, Number: (A B C; p) => Number(p);
    Same<3>, Numbers<2>: (A B C; p q) => Numbers([p, q]);
    MaskAndTwo, (): (A B C;) => ();
    // A gradient behind the operands of its formula.
    Joined<Same<1>, Same<2>>, (): (A B;) => ();
    Joined<Same<1>, Same<2>>, Number: (A B; p) => Number(p);
    Joined<Same<1>, Same<2>>, Numbers<2>: (A B; p q) => Numbers([p, q]);
    Joined<Same<2>, Same<2>>, (): (A B C;) => ();
    Joined<Same<2>, Same<2>>, Number: (A B C; p) => Number(p);
    Joined<Same<3>, Same<2>>, (): (A B C E;) => ();
}
