//! Bounds: clamp in all its forms, and the activations that are one.

use crate::algebra::Ordered as HasOrder;
use crate::kernels::Clamp as Kernels;
use crate::pointwise::{Check, Common, Map, Number, Numbers, Ordered, Real, Rule, Same, common_dtype, pointwise, run};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use monomorph_core::structured::{Operand, Operator, ValueSink};
use monomorph_core::{DType, Error, ErrorKind, Kind, Result, Scalar};

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

pointwise! { ClampNumbersFn "clamp": Real, Same<1>; Numbers<2> => Common; Rule::NUMBERS_PROMOTE, check = check_numbers }
impl<V: HasOrder> Map<V> for ClampNumbersFn {
    #[inline(always)]
    fn eval([x]: [V; 1], [low, high]: [V; 2]) -> V {
        x.at_least(low).at_most(high)
    }
}

pointwise! { ClampMinNumberFn "clamp": Real, Same<1>; Number => Common; Rule::NUMBERS_PROMOTE, check = check_numbers }
impl<V: HasOrder> Map<V> for ClampMinNumberFn {
    #[inline(always)]
    fn eval([x]: [V; 1], low: V) -> V {
        x.at_least(low)
    }
}

pointwise! { ClampMaxNumberFn "clamp": Real, Same<1>; Number => Common; Rule::NUMBERS_PROMOTE, check = check_numbers }
impl<V: HasOrder> Map<V> for ClampMaxNumberFn {
    #[inline(always)]
    fn eval([x]: [V; 1], high: V) -> V {
        x.at_most(high)
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

/// A bound as the formula takes it. In an integral result a bound beyond the range of the dtype is moved to its end
/// where it then has no effect (`low` below it, a high one above), and is an error on the other side, where no value
/// could satisfy it.
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

impl<'t, D: Kernels> Operator<'t, D, (Operand<'t>, Option<Scalar>, Option<Scalar>)> for Clamp {
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

impl<'t, D: Kernels> Operator<'t, D, (Operand<'t>, Operand<'t>, Operand<'t>)> for Clamp {
    fn call<S: ValueSink<'t, D>>((x, low, high): (Operand<'t>, Operand<'t>, Operand<'t>), sink: S) -> Result<S::Value> {
        match (low.is_absent(), high.is_absent()) {
            (false, false) => run::<ClampFn, D, _, S>((x, low, high), sink),
            (false, true) => run::<ClampMinFn, D, _, S>((x, low), sink),
            (true, false) => run::<ClampMaxFn, D, _, S>((x, high), sink),
            (true, true) => Err(no_bound()),
        }
    }
}

/// `clamp` by bounds of either kind: by the overload for numbers, unless one of them is a tensor.
pub struct ClampEither;
/// `clamp_min` by a bound of either kind.
pub struct ClampMinEither;
/// `clamp_max` by a bound of either kind.
pub struct ClampMaxEither;

impl<'t, D: Kernels> Operator<'t, D, (Operand<'t>, Operand<'t>, Operand<'t>)> for ClampEither {
    fn call<S: ValueSink<'t, D>>((x, low, high): (Operand<'t>, Operand<'t>, Operand<'t>), sink: S) -> Result<S::Value> {
        match (low, high) {
            (Operand::Tensor(_), _) | (_, Operand::Tensor(_)) => {
                <Clamp as Operator<'t, D, _>>::call((x, low, high), sink)
            }
            _ => <Clamp as Operator<'t, D, _>>::call((x, low.number(), high.number()), sink),
        }
    }
}

impl<'t, D: Kernels> Operator<'t, D, (Operand<'t>, Operand<'t>)> for ClampMinEither {
    fn call<S: ValueSink<'t, D>>((x, low): (Operand<'t>, Operand<'t>), sink: S) -> Result<S::Value> {
        <ClampEither as Operator<'t, D, _>>::call((x, low, Operand::Absent), sink)
    }
}

impl<'t, D: Kernels> Operator<'t, D, (Operand<'t>, Operand<'t>)> for ClampMaxEither {
    fn call<S: ValueSink<'t, D>>((x, high): (Operand<'t>, Operand<'t>), sink: S) -> Result<S::Value> {
        <ClampEither as Operator<'t, D, _>>::call((x, Operand::Absent, high), sink)
    }
}

/// `clamp_min`.
pub struct ClampMin;
/// `clamp_max`.
pub struct ClampMax;

impl<'t, D: Kernels> Operator<'t, D, (Operand<'t>, Scalar)> for ClampMin {
    fn call<S: ValueSink<'t, D>>((x, low): (Operand<'t>, Scalar), sink: S) -> Result<S::Value> {
        <Clamp as Operator<'t, D, _>>::call((x, Some(low), None::<Scalar>), sink)
    }
}

impl<'t, D: Kernels> Operator<'t, D, (Operand<'t>, Operand<'t>)> for ClampMin {
    fn call<S: ValueSink<'t, D>>((x, low): (Operand<'t>, Operand<'t>), sink: S) -> Result<S::Value> {
        run::<ClampMinFn, D, _, S>((x, low), sink)
    }
}

impl<'t, D: Kernels> Operator<'t, D, (Operand<'t>, Scalar)> for ClampMax {
    fn call<S: ValueSink<'t, D>>((x, high): (Operand<'t>, Scalar), sink: S) -> Result<S::Value> {
        <Clamp as Operator<'t, D, _>>::call((x, None::<Scalar>, Some(high)), sink)
    }
}

impl<'t, D: Kernels> Operator<'t, D, (Operand<'t>, Operand<'t>)> for ClampMax {
    fn call<S: ValueSink<'t, D>>((x, high): (Operand<'t>, Operand<'t>), sink: S) -> Result<S::Value> {
        run::<ClampMaxFn, D, _, S>((x, high), sink)
    }
}

/// `hardtanh`: `clamp` between numbers that take the kind of the tensor, so that they promote nothing.
pub struct Hardtanh;

impl<'t, D: Kernels> Operator<'t, D, (Operand<'t>, Scalar, Scalar)> for Hardtanh {
    fn call<S: ValueSink<'t, D>>((x, low, high): (Operand<'t>, Scalar, Scalar), sink: S) -> Result<S::Value> {
        let dtype = x.dtype().unwrap_or(DType::F32);
        let [low, high] = match dtype.kind() {
            Kind::Bool => {
                let (what, accepted) = ("argument self has dtype", "integers and floats");
                return Err(Error::new(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }).of("hardtanh"));
            }
            Kind::Int => [whole(low, "min_val")?, whole(high, "max_val")?].map(Scalar::Int),
            _ => [real(low, "min_val")?, real(high, "max_val")?].map(Scalar::Float),
        };
        <Clamp as Operator<'t, D, _>>::call((x, Some(low), Some(high)), sink)
    }
}

fn whole(bound: Scalar, arg: &'static str) -> Result<i64> {
    bound.check_fits(DType::I64, arg).map_err(|e| e.of("hardtanh"))?;
    Ok(bound.to_i64())
}

fn real(bound: Scalar, arg: &'static str) -> Result<f64> {
    bound.check_fits(DType::F64, arg).map_err(|e| e.of("hardtanh"))?;
    Ok(bound.to_f64())
}

/// `relu6`: `hardtanh` from 0 to 6.
pub struct Relu6;

impl<'t, D: Kernels> Operator<'t, D, (Operand<'t>,)> for Relu6 {
    fn call<S: ValueSink<'t, D>>((x,): (Operand<'t>,), sink: S) -> Result<S::Value> {
        <Hardtanh as Operator<'t, D, _>>::call((x, Scalar::Int(0), Scalar::Int(6)), sink)
    }
}

record! { ClampFn "clamp.Tensor: x x x", Any within 0:
int |[x, l, h], []| record::smaller(record::larger(x, l), h),
float |[x, l, h], []| record::smaller(record::larger(x, l), h) }
record! { ClampMinFn "clamp.Tensor: x x None", Any within 0:
bool |[x, l], []| record::larger(x, l), int |[x, l], []| record::larger(x, l), float |[x, l], []| record::larger(x, l) }
record! { ClampMaxFn "clamp.Tensor: x None x", Any within 0:
bool |[x, h], []| record::smaller(x, h), int |[x, h], []| record::smaller(x, h),
float |[x, h], []| record::smaller(x, h) }
record! { ClampNumbersFn "clamp: x p p", Any within 0:
int |[x], [l, h]| record::smaller(record::larger(x, l), h),
float |[x], [l, h]| record::smaller(record::larger(x, l), h) }
record! { ClampMinNumberFn "clamp: x p None", Any within 0:
int |[x], [l]| record::larger(x, l), float |[x], [l]| record::larger(x, l) }
record! { ClampMaxNumberFn "clamp: x None p", Any within 0:
int |[x], [h]| record::smaller(x, h), float |[x], [h]| record::smaller(x, h) }

native! {
    family: Clamp;

    func: clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor,
    inplace: clamp_, out: clamp.out, operator: Clamp;

    /// Limits elementwise: what is less than `min` becomes `min`, and what is then more than `max` becomes `max`.
    ///
    /// Either bound is a number, a tensor that broadcasts, or `None`; without any it is an error. Where `min` is more
    /// than `max`, the result is `max`. NaN stays, and a bound that is NaN makes NaN. The result has the dtype that all
    /// promote to. Complex numbers are an error.
    ///
    /// ```
    /// let x = tensor![-1.0f32, 0.5, 3.0];
    /// assert_eq!(x.clamp(0, 1)?.to_vec::<f32>()?, [0.0, 0.5, 1.0]);
    /// assert_eq!(x.clamp(None, &tensor![0, 0, 9])?.to_vec::<f32>()?, [-1.0, 0.0, 3.0]);
    /// ```
    func: clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor,
    inplace: clamp_.Tensor, out: clamp.Tensor_out, variants: function, method, name: clamp, positional: [min, max],
    typed: ClampEither, operator: Clamp;

    func: clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor,
    inplace: clip_, out: clip.out, redirect: clamp, operator: Clamp;

    /// [`clamp`](super::functions::clamp) under another name.
    func: clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor,
    inplace: clip_.Tensor, out: clip.Tensor_out, variants: function, method, name: clip, positional: [min, max],
    typed: ClampEither, redirect: clamp, operator: Clamp;

    func: clamp_min(Tensor self, Scalar min) -> Tensor,
    inplace: clamp_min_, out: clamp_min.out, operator: ClampMin;

    /// Limits elementwise from below: what is less than `min`, a number or a tensor, becomes `min`.
    ///
    /// NaN stays. The result has the dtype that both promote to. Complex numbers are an error.
    ///
    /// ```
    /// assert_eq!(tensor![-1, 2].clamp_min(0)?.to_vec::<i32>()?, [0, 2]);
    /// ```
    func: clamp_min.Tensor(Tensor self, Tensor min) -> Tensor,
    inplace: clamp_min_.Tensor, out: clamp_min.Tensor_out, variants: function, method, typed: ClampMinEither,
    operator: ClampMin;

    func: clamp_max(Tensor self, Scalar max) -> Tensor,
    inplace: clamp_max_, out: clamp_max.out, operator: ClampMax;

    /// Limits elementwise from above: what is more than `max`, a number or a tensor, becomes `max`.
    ///
    /// NaN stays. The result has the dtype that both promote to. Complex numbers are an error.
    ///
    /// ```
    /// assert_eq!(tensor![-1, 2].clamp_max(0)?.to_vec::<i32>()?, [-1, 0]);
    /// ```
    func: clamp_max.Tensor(Tensor self, Tensor max) -> Tensor,
    inplace: clamp_max_.Tensor, out: clamp_max.Tensor_out, variants: function, method, typed: ClampMaxEither,
    operator: ClampMax;

    /// Limits to `min_val` and `max_val`, -1 and 1 by default, elementwise.
    ///
    /// It is [`clamp`](super::functions::clamp) in the dtype of the tensor: numbers do not promote. Bool and complex
    /// numbers are an error.
    ///
    /// ```
    /// let x = tensor![-3.0f32, 0.5, 3.0];
    /// assert_eq!(x.hardtanh()?.to_vec::<f32>()?, [-1.0, 0.5, 1.0]);
    /// ```
    func: hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor,
    inplace: hardtanh_, out: hardtanh.out, variants: function, method, operator: Hardtanh;

    /// Limits to 0 and 6 elementwise.
    ///
    /// The dtype stays. Bool and complex numbers are an error.
    ///
    /// ```
    /// let x = tensor![-3.0f32, 0.5, 9.0];
    /// assert_eq!(x.relu6()?.to_vec::<f32>()?, [0.0, 0.5, 6.0]);
    /// ```
    func: relu6(Tensor self) -> Tensor,
    inplace: relu6_, variants: function, method, operator: Relu6;

    structured: Pointwise<ClampNumbersFn>;

    structured: Pointwise<ClampMinNumberFn>;

    structured: Pointwise<ClampMaxNumberFn>;

    structured: Pointwise<ClampFn>;

    structured: Pointwise<ClampMinFn>;

    structured: Pointwise<ClampMaxFn>;
}
