//! Formulas as text: the symbolic instantiation of every formula of a domain, dtype by dtype.

use super::domain::{BoolClass, ComplexClass, DomainSet, Exact, IntClass, Membership, No, RealClass, Wide, Yes};
use super::formula::{Common, Magnitude, Map, MaskAndTwo, Operands, Outputs, Params, PointwiseFn, Same, Truth};
use crate::algebra::Value;
use crate::algebra::sym::{Compute, Function, Sym, Tracer, trace};
use monomorph_core::{Complex32, Complex64, DType, bf16, f16};

/// Operands as inputs of a recording.
pub trait SymOperands<C: Compute>: Operands {
    /// Declares the inputs.
    fn inputs(t: &mut Tracer) -> Self::Of<Sym<C>>;
}

impl<C: Compute, const N: usize> SymOperands<C> for Same<N>
where
    Sym<C>: Value,
{
    fn inputs(t: &mut Tracer) -> [Sym<C>; N] {
        std::array::from_fn(|_| t.input::<C>())
    }
}

impl<C: Compute> SymOperands<C> for MaskAndTwo
where
    Sym<C>: Value<Mask = Sym<bool>>,
{
    fn inputs(t: &mut Tracer) -> (Sym<bool>, [Sym<C>; 2]) {
        (t.input::<bool>(), std::array::from_fn(|_| t.input::<C>()))
    }
}

/// Outputs of a recording.
pub trait SymOutputs<C: Compute>: Outputs {
    /// Declares the output.
    fn output(t: &mut Tracer, value: Self::Of<Sym<C>>);
}

impl<C: Compute> SymOutputs<C> for Common
where
    Sym<C>: Value,
{
    fn output(t: &mut Tracer, value: Sym<C>) {
        t.output(value);
    }
}

impl<C: Compute> SymOutputs<C> for Truth
where
    Sym<C>: Value<Mask = Sym<bool>>,
{
    fn output(t: &mut Tracer, value: Sym<bool>) {
        t.output(value);
    }
}

impl<C: Compute> SymOutputs<C> for Magnitude
where
    Sym<C>: Value<Re = Sym<C::Re>>,
{
    fn output(t: &mut Tracer, value: Sym<C::Re>) {
        t.output(value);
    }
}

fn record<F, C>() -> Option<Function>
where
    C: Compute,
    Sym<C>: Value,
    F: Map<Sym<C>>,
    F::Operands: SymOperands<C>,
    F::Out: SymOutputs<C>,
{
    trace(|t| {
        let x = F::Operands::inputs(t);
        let p = F::Params::symbolic(&mut || t.param::<C>());
        let out = F::eval(x, p);
        F::Out::output(t, out);
    })
    .ok()
}

/// Whether operands have no result, as a function of the operands alone; `None` where all have one.
fn record_fault<F, C>() -> Option<Function>
where
    C: Compute,
    Sym<C>: Value<Mask = Sym<bool>>,
    F: Map<Sym<C>>,
    F::Operands: SymOperands<C>,
{
    // Decided by a constant, so that the check that always says no is not compiled for every formula and dtype.
    if const { F::FAULT.is_none() } {
        return None;
    }
    trace(|t| {
        let fault = F::fault(F::Operands::inputs(t));
        t.output(fault);
    })
    .ok()
}

/// The recordings of a formula on one dtype: of the result, and of whether there is none, where operands can be such.
type Recordings = (Function, Option<Function>);

/// A class of dtypes on which formula `F` can be recorded, or that does not belong to the domain.
pub trait SymClass<F: PointwiseFn, Class> {
    /// The recordings for one dtype of the class.
    fn record(dtype: DType) -> Option<Recordings>;
}

impl<F: PointwiseFn, Class> SymClass<F, Class> for No {
    fn record(_: DType) -> Option<Recordings> {
        None
    }
}

macro_rules! classes {
    ($($member:ident $class:ty: $($dtype:ident $element:ty),*;)*) => {$(
        impl<F> SymClass<F, $class> for $member
        where
            F: $(Map<Sym<$element>> +)* PointwiseFn,
            F::Operands: $(SymOperands<$element> +)*,
            F::Out: $(SymOutputs<$element> +)*,
        {
            fn record(dtype: DType) -> Option<Recordings> {
                match dtype {
                    $(DType::$dtype => Some((record::<F, $element>()?, record_fault::<F, $element>())),)*
                    _ => None,
                }
            }
        }
    )*};
}
classes! {
    Yes BoolClass: Bool bool;
    Yes IntClass: U8 u8, I8 i8, I16 i16, I32 i32, I64 i64;
    Yes RealClass: F16 f16, BF16 bf16, F32 f32, F64 f64;
    Wide RealClass: F32 f32, F64 f64;
    Yes ComplexClass: C64 Complex32, C128 Complex64;
}

mod sealed {
    /// What nobody else can name, so nobody else can implement a trait whose method takes it.
    pub struct Token;
}

/// A domain on which formula `F` can be recorded. Sealed: devices compile what is recorded, and rely on its operands
/// being those of `F`.
pub trait SymDomain<F: PointwiseFn>: DomainSet {
    /// The recordings for one dtype; `None` outside of the domain.
    fn record(dtype: DType, _: sealed::Token) -> Option<Recordings>;
}

impl<F, B, I, R, C> SymDomain<F> for Exact<B, I, R, C>
where
    F: PointwiseFn,
    B: SymClass<F, BoolClass> + Membership,
    I: SymClass<F, IntClass> + Membership,
    R: SymClass<F, RealClass> + Membership,
    C: SymClass<F, ComplexClass> + Membership,
{
    fn record(dtype: DType, _: sealed::Token) -> Option<Recordings> {
        B::record(dtype).or_else(|| I::record(dtype)).or_else(|| R::record(dtype)).or_else(|| C::record(dtype))
    }
}

/// The formula of `F` as a recorded function on `dtype`; `None` outside of its domain.
pub fn symbolic<F: PointwiseFn>(dtype: DType) -> Option<Function>
where
    F::Domain: SymDomain<F>,
{
    <F::Domain as SymDomain<F>>::record(dtype, sealed::Token).map(|(result, _)| result)
}

/// Whether operands of `F` on `dtype` have no result ([`Map::fault`]), as a recorded function of the operands; `None`
/// outside of its domain, and where all have one.
pub fn symbolic_fault<F: PointwiseFn>(dtype: DType) -> Option<Function>
where
    F::Domain: SymDomain<F>,
{
    <F::Domain as SymDomain<F>>::record(dtype, sealed::Token).and_then(|(_, fault)| fault)
}
