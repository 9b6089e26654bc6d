//! Comparisons and selection: eq, ne, lt, maximum, minimum, where, and the bounds of clamp.

use crate::algebra::{Equal, Ordered as HasOrder, Value};
use crate::kernels::Comparison;
use crate::pointwise::{
    AllDTypes, Bounds, Check, Common, Map, MaskAndTwo, Number, Ordered, Real, Rule, Same, Truth, common_dtype,
    pointwise, run,
};
use crate::record::{larger, record, smaller};
use monomorph_core::structured::{Operand, Operator, ValueSink};
use monomorph_core::{DType, Error, ErrorKind, Result, Scalar};

pointwise! { EqFn "eq": AllDTypes, Same<2>; () => Truth; Rule::COMPARISON, light = true }
impl<V: Equal> Map<V> for EqFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.eq(b)
    }
}

pointwise! { NeFn "ne": AllDTypes, Same<2>; () => Truth; Rule::COMPARISON, light = true }
impl<V: Equal> Map<V> for NeFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.ne(b)
    }
}

pointwise! { LtFn "lt": Ordered, Same<2>; () => Truth; Rule::COMPARISON, light = true }
impl<V: HasOrder> Map<V> for LtFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.lt(b)
    }
}

pointwise! { MaximumFn "maximum": Ordered, Same<2>; () => Common; Rule::BINARY, light = true }
impl<V: HasOrder> Map<V> for MaximumFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.maximum(b)
    }
}

pointwise! { MinimumFn "minimum": Ordered, Same<2>; () => Common; Rule::BINARY, light = true }
impl<V: HasOrder> Map<V> for MinimumFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.minimum(b)
    }
}

pointwise! { WhereFn "where": AllDTypes, MaskAndTwo; () => Common; Rule::PROMOTE_EXACT, check = check_condition, light = true }
impl<V: Value> Map<V> for WhereFn {
    #[inline(always)]
    fn eval((condition, [a, b]): (V::Mask, [V; 2]), (): ()) -> V {
        V::select(condition, a, b)
    }
}

pointwise! { ClampFn "clamp": Real, Same<3>; () => Common; Rule::TERNARY, check = check_clamp, light = true, halves_as_f32 = true }
impl<V: HasOrder> Map<V> for ClampFn {
    #[inline(always)]
    fn eval([x, low, high]: [V; 3], (): ()) -> V {
        x.maximum(low).minimum(high)
    }
}

pointwise! { ClampMinFn "clamp": Ordered, Same<2>; () => Common; Rule::TERNARY, check = check_clamp, light = true, halves_as_f32 = true }
impl<V: HasOrder> Map<V> for ClampMinFn {
    #[inline(always)]
    fn eval([x, low]: [V; 2], (): ()) -> V {
        x.maximum(low)
    }
}

pointwise! { ClampMaxFn "clamp": Ordered, Same<2>; () => Common; Rule::TERNARY, check = check_clamp, light = true, halves_as_f32 = true }
impl<V: HasOrder> Map<V> for ClampMaxFn {
    #[inline(always)]
    fn eval([x, high]: [V; 2], (): ()) -> V {
        x.minimum(high)
    }
}

pointwise! { ClampNumbersFn "clamp": Real, Same<1>; Bounds => Common; Rule::NUMBERS_PROMOTE, check = check_numbers, light = true, halves_as_f32 = true }
impl<V: HasOrder> Map<V> for ClampNumbersFn {
    #[inline(always)]
    fn eval([x]: [V; 1], [low, high]: [V; 2]) -> V {
        x.maximum(low).minimum(high)
    }
}

pointwise! { ClampMinNumberFn "clamp": Real, Same<1>; Number => Common; Rule::NUMBERS_PROMOTE, check = check_numbers, light = true, halves_as_f32 = true }
impl<V: HasOrder> Map<V> for ClampMinNumberFn {
    #[inline(always)]
    fn eval([x]: [V; 1], low: V) -> V {
        x.maximum(low)
    }
}

pointwise! { ClampMaxNumberFn "clamp": Real, Same<1>; Number => Common; Rule::NUMBERS_PROMOTE, check = check_numbers, light = true, halves_as_f32 = true }
impl<V: HasOrder> Map<V> for ClampMaxNumberFn {
    #[inline(always)]
    fn eval([x]: [V; 1], high: V) -> V {
        x.minimum(high)
    }
}

/// The condition of `where` is bool; uint8 is accepted as PyTorch still does.
fn check_condition(call: &Check<'_, '_>) -> Result<()> {
    match call.operands.first().and_then(Operand::dtype) {
        Some(got) if !matches!(got, DType::Bool | DType::U8) => {
            Err(ErrorKind::DTypeNotSupported { what: "argument condition has dtype", got, accepted: "bool" }.into())
        }
        _ => Ok(()),
    }
}

fn check_clamp(call: &Check<'_, '_>) -> Result<()> {
    // Complex operands are refused even where the bounds would not take part in promotion.
    match call.operands.iter().filter_map(Operand::dtype).find(|d| d.is_complex()) {
        Some(got) => {
            Err(ErrorKind::DTypeNotSupported { what: "an operand has dtype", got, accepted: "integers and floats" }
                .into())
        }
        None => Ok(()),
    }
}

/// A number as a bound must be one that the common dtype holds; integers were saturated before.
fn check_numbers(call: &Check<'_, '_>) -> Result<()> {
    check_clamp(call)?;
    call.params.iter().try_for_each(|bound| bound.check_fits(call.common, "min or max"))
}

/// A bound as the formula takes it. In an integral result a bound beyond the range of the dtype is moved to its end where it
/// then has no effect (`low` below it, a high one above), and is an error on the other side, where no value could satisfy it.
fn saturated(bound: Scalar, low: bool, common: Option<DType>) -> Result<Scalar> {
    let (Some(common), Scalar::Int(value)) = (common, bound) else { return Ok(bound) };
    let (lowest, highest) = match common {
        DType::U8 => (0, u8::MAX.into()),
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        _ => return Ok(bound),
    };
    if (low && value > highest) || (!low && value < lowest) {
        let arg = if low { "min" } else { "max" };
        return Err(ErrorKind::NumberRange { arg, got: value.to_string(), dtype: common }.into());
    }
    Ok(Scalar::Int(value.clamp(lowest, highest)))
}

#[cold]
fn no_bound() -> Error {
    Error::new(ErrorKind::ArgumentRule { rule: "at least one of min and max must be given" }).of("clamp")
}

/// `clamp` between two bounds, of which one may be absent: numbers or tensors.
pub struct Clamp;

impl<'t, D: Comparison> Operator<'t, D, (Operand<'t>, Option<Scalar>, Option<Scalar>)> for Clamp {
    fn call<S: ValueSink<'t, D>>(
        (x, low, high): (Operand<'t>, Option<Scalar>, Option<Scalar>),
        sink: S,
    ) -> Result<S::Value> {
        let bounds = [low, high].map(|b| b.map(Operand::from));
        let common = common_dtype(std::iter::once(&x).chain(bounds.iter().flatten()));
        let bound =
            |b: Option<Scalar>, low| b.map(|b| saturated(b, low, common)).transpose().map_err(|e| e.of("clamp"));
        match (bound(low, true)?, bound(high, false)?) {
            (Some(low), Some(high)) => run::<ClampNumbersFn, D, _, S>((x, low, high), sink),
            (Some(low), None) => run::<ClampMinNumberFn, D, _, S>((x, low), sink),
            (None, Some(high)) => run::<ClampMaxNumberFn, D, _, S>((x, high), sink),
            (None, None) => Err(no_bound()),
        }
    }
}

impl<'t, D: Comparison> Operator<'t, D, (Operand<'t>, Operand<'t>, Operand<'t>)> for Clamp {
    fn call<S: ValueSink<'t, D>>((x, low, high): (Operand<'t>, Operand<'t>, Operand<'t>), sink: S) -> Result<S::Value> {
        match (low.is_absent(), high.is_absent()) {
            (false, false) => run::<ClampFn, D, _, S>((x, low, high), sink),
            (false, true) => run::<ClampMinFn, D, _, S>((x, low), sink),
            (true, false) => run::<ClampMaxFn, D, _, S>((x, high), sink),
            (true, true) => Err(no_bound()),
        }
    }
}

record! { EqFn "eq.Tensor: x x", Any within 0:
bool |[a, b], []| a == b, int |[a, b], []| a == b, float |[a, b], []| a == b, complex |[a, b], []| a == b }
record! { NeFn "ne.Tensor: x x", Any within 0: bool |[a, b], []| a != b, int |[a, b], []| a != b,
float |[a, b], []| a != b, complex |[a, b], []| a != b }
record! { LtFn "lt.Tensor: x x", Any within 0:
bool |[a, b], []| !a & b, int |[a, b], []| a < b, float |[a, b], []| a < b }
record! { MaximumFn "maximum: x x", Any within 0:
bool |[a, b], []| larger(a, b), int |[a, b], []| larger(a, b), float |[a, b], []| larger(a, b) }
record! { MinimumFn "minimum: x x", Any within 0:
bool |[a, b], []| smaller(a, b), int |[a, b], []| smaller(a, b), float |[a, b], []| smaller(a, b) }
record! { WhereFn "where.self: x x x", Any within 0:
bool |[c, a, b], []| if c { a } else { b }, int |[c, a, b], []| if c != 0 { a } else { b },
float |[c, a, b], []| if c != 0.0 { a } else { b }, complex |[c, a, b], []| if c.re != 0.0 { a } else { b } }
record! { ClampFn "clamp.Tensor: x x x", Any within 0:
int |[x, l, h], []| smaller(larger(x, l), h), float |[x, l, h], []| smaller(larger(x, l), h) }
record! { ClampMinFn "clamp.Tensor: x x None", Any within 0:
bool |[x, l], []| larger(x, l), int |[x, l], []| larger(x, l), float |[x, l], []| larger(x, l) }
record! { ClampMaxFn "clamp.Tensor: x None x", Any within 0:
bool |[x, h], []| smaller(x, h), int |[x, h], []| smaller(x, h), float |[x, h], []| smaller(x, h) }
record! { ClampNumbersFn "clamp: x p p", Any within 0:
int |[x], [l, h]| smaller(larger(x, l), h), float |[x], [l, h]| smaller(larger(x, l), h) }
record! { ClampMinNumberFn "clamp: x p None", Any within 0:
int |[x], [l]| larger(x, l), float |[x], [l]| larger(x, l) }
record! { ClampMaxNumberFn "clamp: x None p", Any within 0:
int |[x], [h]| smaller(x, h), float |[x], [h]| smaller(x, h) }

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __comparison_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [eq.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::comparison::EqFn) {
            functional eq; inplace eq_ [eq_.Tensor]; out eq_out [eq.Tensor_out];
        } }
        { [eq.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::comparison::EqFn>) {
            functional -; inplace - [eq_.Scalar]; out - [eq.Scalar_out];
        } }
        { [ne.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::comparison::NeFn) {
            functional ne; inplace ne_ [ne_.Tensor]; out ne_out [ne.Tensor_out];
        } }
        { [ne.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::comparison::NeFn>) {
            functional -; inplace - [ne_.Scalar]; out - [ne.Scalar_out];
        } }
        { [lt.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::comparison::LtFn) {
            functional lt; inplace lt_ [lt_.Tensor]; out lt_out [lt.Tensor_out];
        } }
        { [lt.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::comparison::LtFn>) {
            functional -; inplace - [lt_.Scalar]; out - [lt.Scalar_out];
        } }
        { [maximum] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::comparison::MaximumFn) {
            functional maximum; out maximum_out [maximum.out];
        } }
        { [minimum] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::comparison::MinimumFn) {
            functional minimum; out minimum_out [minimum.out];
        } }
        { [clamp] (Tensor self, Scalar? min=None, Scalar? max=None) -> (Tensor) : op ($crate::comparison::Clamp) {
            functional clamp; inplace clamp_ [clamp_]; out clamp_out [clamp.out];
        } }
        { [clamp.Tensor] (Tensor self, Tensor? min=None, Tensor? max=None) -> (Tensor)
            : op ($crate::comparison::Clamp) {
            functional clamp_tensor; inplace clamp_tensor_ [clamp_.Tensor];
            out clamp_tensor_out [clamp.Tensor_out];
        } }
        { [where.self] (Tensor condition, Tensor self, Tensor other) -> (Tensor)
            : formula ($crate::comparison::WhereFn) {
            functional where_; out where_out [where.self_out];
        } }
        { [where.ScalarSelf] (Tensor condition, Scalar self, Tensor other) -> (Tensor)
            : op ($crate::Op<$crate::comparison::WhereFn>) {
            functional -;
        } }
        { [where.ScalarOther] (Tensor condition, Tensor self, Scalar other) -> (Tensor)
            : op ($crate::Op<$crate::comparison::WhereFn>) {
            functional -;
        } }
        { [where.Scalar] (Tensor condition, Scalar self, Scalar other) -> (Tensor)
            : op ($crate::Op<$crate::comparison::WhereFn>) {
            functional -;
        } }
        { [] () -> () : formula ($crate::comparison::ClampNumbersFn) {} }
        { [] () -> () : formula ($crate::comparison::ClampMinNumberFn) {} }
        { [] () -> () : formula ($crate::comparison::ClampMaxNumberFn) {} }
        { [] () -> () : formula ($crate::comparison::ClampFn) {} }
        { [] () -> () : formula ($crate::comparison::ClampMinFn) {} }
        { [] () -> () : formula ($crate::comparison::ClampMaxFn) {} }
    } };
}
