//! Comparisons and selection: eq, lt, where, and the bounds of clamp.

use crate::algebra::{Equal, Ordered as HasOrder, Value};
use crate::pointwise::{
    AllDTypes, Check, Common, Map, MaskAndTwo, Ordered, Pointwise, PointwiseInputs, Prebuilt, Real, Rule, Same, Truth,
    pointwise,
};
use monomorph_core::structured::{Executes, Operand, Operator, ValueSink, call};
use monomorph_core::{DType, Device, Error, ErrorKind, Result, Scalar};

pointwise! { EqFn "eq": AllDTypes, Same<2>; () => Truth; Rule::COMPARISON }
impl<V: Equal> Map<V> for EqFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.eq(b)
    }
}

pointwise! { LtFn "lt": Ordered, Same<2>; () => Truth; Rule::COMPARISON }
impl<V: HasOrder> Map<V> for LtFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.lt(b)
    }
}

pointwise! { WhereFn "where": AllDTypes, MaskAndTwo; () => Common; Rule::PROMOTE_EXACT, check = check_condition }
impl<V: Value> Map<V> for WhereFn {
    #[inline(always)]
    fn eval((condition, [a, b]): (V::Mask, [V; 2]), (): ()) -> V {
        V::select(condition, a, b)
    }
}

pointwise! { ClampFn "clamp": Real, Same<3>; () => Common; Rule::TERNARY, check = check_clamp }
impl<V: HasOrder> Map<V> for ClampFn {
    #[inline(always)]
    fn eval([x, low, high]: [V; 3], (): ()) -> V {
        x.maximum(low).minimum(high)
    }
}

pointwise! { ClampMinFn "clamp": Ordered, Same<2>; () => Common; Rule::TERNARY, check = check_clamp }
impl<V: HasOrder> Map<V> for ClampMinFn {
    #[inline(always)]
    fn eval([x, low]: [V; 2], (): ()) -> V {
        x.maximum(low)
    }
}

pointwise! { ClampMaxFn "clamp": Ordered, Same<2>; () => Common; Rule::TERNARY, check = check_clamp }
impl<V: HasOrder> Map<V> for ClampMaxFn {
    #[inline(always)]
    fn eval([x, high]: [V; 2], (): ()) -> V {
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

/// Bounds that are numbers promote, but an output must have the promoted dtype; bool is refused.
static NUMBER_BOUNDS: Rule = Rule::PROMOTE_EXACT.over::<Real>().with_check(check_number_bounds);

/// A number as a bound must be one that the common dtype holds.
fn check_number_bounds(call: &Check<'_, '_>) -> Result<()> {
    check_clamp(call)?;
    for operand in call.operands {
        if let Operand::Number(bound) = operand {
            let exact = match bound.scalar() {
                // Unlike other numbers, a negative bound does not wrap.
                Scalar::Int(i) if i < 0 && call.common == DType::U8 => false,
                number => number.check_fits(call.common, "min or max").is_ok(),
            };
            if !exact {
                let got = bound.scalar().to_string();
                return Err(ErrorKind::NumberRange { arg: "min or max", got, dtype: call.common }.into());
            }
        }
    }
    Ok(())
}

/// `clamp` between two bounds, of which one may be absent: numbers or tensors.
pub struct Clamp;

impl<'t, D> Operator<'t, D, (Operand<'t>, Option<Scalar>, Option<Scalar>)> for Clamp
where
    D: Device + Executes<Pointwise<ClampFn, Prebuilt>>,
    D: Executes<Pointwise<ClampMinFn, Prebuilt>> + Executes<Pointwise<ClampMaxFn, Prebuilt>>,
{
    fn call<S: ValueSink<'t, D>>(
        (x, low, high): (Operand<'t>, Option<Scalar>, Option<Scalar>),
        sink: S,
    ) -> Result<S::Value> {
        let bound = |b: Option<Scalar>| b.map_or(Operand::Absent, Operand::from);
        clamp(x, bound(low), bound(high), Some(&NUMBER_BOUNDS), sink)
    }
}

impl<'t, D> Operator<'t, D, (Operand<'t>, Operand<'t>, Operand<'t>)> for Clamp
where
    D: Device + Executes<Pointwise<ClampFn, Prebuilt>>,
    D: Executes<Pointwise<ClampMinFn, Prebuilt>> + Executes<Pointwise<ClampMaxFn, Prebuilt>>,
{
    fn call<S: ValueSink<'t, D>>((x, low, high): (Operand<'t>, Operand<'t>, Operand<'t>), sink: S) -> Result<S::Value> {
        clamp(x, low, high, None, sink)
    }
}

/// Chooses the formula by which bounds there are.
fn clamp<'t, D, S>(
    x: Operand<'t>,
    low: Operand<'t>,
    high: Operand<'t>,
    rule: Option<&'static Rule>,
    sink: S,
) -> Result<S::Value>
where
    D: Device + Executes<Pointwise<ClampFn, Prebuilt>>,
    D: Executes<Pointwise<ClampMinFn, Prebuilt>> + Executes<Pointwise<ClampMaxFn, Prebuilt>>,
    S: ValueSink<'t, D>,
{
    type Op<F> = Pointwise<F, Prebuilt>;
    macro_rules! run {
        ($f:ty, $args:expr) => {{
            let inputs = PointwiseInputs::<'t, $f>::new($args)?;
            let inputs = rule.map_or_else(|| PointwiseInputs::new($args), |rule| Ok(inputs.with_rule(rule)))?;
            call::<Op<$f>, D, S>(&inputs, sink).map(S::value::<Op<$f>>)
        }};
    }
    match (low.is_absent(), high.is_absent()) {
        (false, false) => run!(ClampFn, (x, low, high)),
        (false, true) => run!(ClampMinFn, (x, low)),
        (true, false) => run!(ClampMaxFn, (x, high)),
        (true, true) => {
            let rule = "at least one of min and max must be given";
            Err(Error::new(ErrorKind::ArgumentRule { rule }).of("clamp"))
        }
    }
}

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
        { [lt.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::comparison::LtFn) {
            functional lt; inplace lt_ [lt_.Tensor]; out lt_out [lt.Tensor_out];
        } }
        { [lt.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::comparison::LtFn>) {
            functional -; inplace - [lt_.Scalar]; out - [lt.Scalar_out];
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
        { [] () -> () : formula ($crate::comparison::ClampFn) {} }
        { [] () -> () : formula ($crate::comparison::ClampMinFn) {} }
        { [] () -> () : formula ($crate::comparison::ClampMaxFn) {} }
    } };
}
