//! The operators of PyTorch's namespace `quantized_decomposed`, which programs that were quantized before their export
//! are made of: floats to integers that stand for them, and back.
//!
//! A float `x` is stored as `round(x / scale) + zero_point`, clamped from `quant_min` to `quant_max`; an integer `q` is
//! read as `(q - zero_point) * scale`. They are no rows of the operator table, whose names are those of the namespace
//! `aten`: a dispatcher has them by a library of their own.

use super::fake_quantize::only_element;
use super::steps::Steps;
use super::tensor;
use crate::composite::rule;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result, Scalar};

/// The integers of a dtype that quantized elements have.
fn bounds(dtype: DType) -> Result<[i64; 2]> {
    match dtype {
        DType::U8 => Ok([0, i64::from(u8::MAX)]),
        DType::I8 => Ok([i64::from(i8::MIN), i64::from(i8::MAX)]),
        DType::I16 => Ok([i64::from(i16::MIN), i64::from(i16::MAX)]),
        DType::I32 => Ok([i64::from(i32::MIN), i64::from(i32::MAX)]),
        got => {
            let (what, accepted) = ("argument dtype is", "uint8, int8, int16 and int32");
            Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
        }
    }
}

pub(super) fn check_bounds(quant_min: i64, quant_max: i64, dtype: DType) -> Result<()> {
    let [low, high] = bounds(dtype)?;
    let outside = [("quant_min", quant_min), ("quant_max", quant_max)];
    match outside.into_iter().find(|(_, bound)| !(low..=high).contains(bound)) {
        Some((arg, got)) => Err(ErrorKind::OutOfRange { arg, got, low, high }.into()),
        None => Ok(()),
    }
}

/// Floats as they are quantized: in float32.
fn floats(calls: &Calls<'_>, input: &IValue) -> Result<AnyTensor> {
    let input = tensor(input, "input")?;
    match input.dtype() {
        DType::F32 | DType::F16 | DType::BF16 => calls.cast(input.clone(), DType::F32),
        got => {
            let (what, accepted) = ("argument input has dtype", "float32, float16 and bfloat16");
            Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
        }
    }
}

/// Integers of the dtype that is said beside them.
fn integers(input: &IValue, dtype: DType) -> Result<&AnyTensor> {
    let input = tensor(input, "input")?;
    match input.dtype() == dtype {
        true => Ok(input),
        false => Err(ErrorKind::DTypeMismatch { arg: "input", got: input.dtype(), want: dtype }.into()),
    }
}

/// `clamp(round(x * reciprocal) + zero_point)`, as floats.
fn steps(
    calls: &Calls<'_>,
    x: AnyTensor,
    [reciprocal, zero_point]: [IValue; 2],
    clamp: &str,
    [quant_min, quant_max]: [IValue; 2],
) -> Result<AnyTensor> {
    let step = calls.add(calls.unary("round", calls.mul(x, reciprocal)?)?, zero_point)?;
    calls.tensor(clamp, [step.into(), quant_min, quant_max])
}

/// Two numbers as arguments.
pub(super) fn numbers(quant_min: i64, quant_max: i64) -> [IValue; 2] {
    [quant_min, quant_max].map(|bound| Scalar::Int(bound).into())
}

/// `quantize_per_tensor`.
pub fn quantize_per_tensor(
    calls: &Calls<'_>,
    input: &IValue,
    scale: f64,
    zero_point: i64,
    quant_min: i64,
    quant_max: i64,
    dtype: DType,
) -> Result<AnyTensor> {
    check_bounds(quant_min, quant_max, dtype)?;
    if scale == 0.0 {
        return Err(rule("argument scale is 0; accepted are other numbers"));
    }
    let by = [scale.recip().into(), zero_point.into()];
    let step = steps(calls, floats(calls, input)?, by, "clamp", numbers(quant_min, quant_max))?;
    calls.cast(step, dtype)
}

/// What stands for a scale and a zero point that are elements of tensors. The reciprocal is rounded to float32 once.
fn elements(calls: &Calls<'_>, scale: &IValue, zero_point: &IValue) -> Result<[IValue; 2]> {
    let reciprocal = calls.unary("reciprocal", only_element(calls, scale, "scale", DType::F64)?)?;
    let zero_point = only_element(calls, zero_point, "zero_point", DType::F32)?;
    Ok([calls.cast(reciprocal, DType::F32)?.into(), zero_point.into()])
}

/// `quantize_per_tensor.tensor`.
pub fn quantize_per_tensor_of(
    calls: &Calls<'_>,
    input: &IValue,
    scale: &IValue,
    zero_point: &IValue,
    quant_min: i64,
    quant_max: i64,
    dtype: DType,
) -> Result<AnyTensor> {
    check_bounds(quant_min, quant_max, dtype)?;
    let by = elements(calls, scale, zero_point)?;
    let step = steps(calls, floats(calls, input)?, by, "clamp", numbers(quant_min, quant_max))?;
    calls.cast(step, dtype)
}

/// `quantize_per_tensor.tensor2`. Bounds that are elements of tensors are not held against the dtype.
pub fn quantize_per_tensor_between(
    calls: &Calls<'_>,
    input: &IValue,
    scale: &IValue,
    zero_point: &IValue,
    quant_min: &IValue,
    quant_max: &IValue,
    dtype: DType,
) -> Result<AnyTensor> {
    bounds(dtype)?;
    let by = elements(calls, scale, zero_point)?;
    let low = only_element(calls, quant_min, "quant_min", DType::F32)?;
    let high = only_element(calls, quant_max, "quant_max", DType::F32)?;
    let step = steps(calls, floats(calls, input)?, by, "clamp.Tensor", [low.into(), high.into()])?;
    calls.cast(step, dtype)
}

/// `dequantize_per_tensor`.
#[expect(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn dequantize_per_tensor(
    calls: &Calls<'_>,
    input: &IValue,
    scale: f64,
    zero_point: i64,
    _quant_min: i64,
    _quant_max: i64,
    dtype: DType,
    out_dtype: Option<DType>,
) -> Result<AnyTensor> {
    bounds(dtype)?;
    let wide = calls.cast(integers(input, dtype)?.clone(), out_dtype.unwrap_or(DType::F32))?;
    calls.mul(calls.sub(wide, zero_point)?, scale)
}

/// `dequantize_per_tensor.tensor`.
#[expect(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn dequantize_per_tensor_of(
    calls: &Calls<'_>,
    input: &IValue,
    scale: &IValue,
    zero_point: &IValue,
    _quant_min: i64,
    _quant_max: i64,
    dtype: DType,
    out_dtype: Option<DType>,
) -> Result<AnyTensor> {
    bounds(dtype)?;
    let out_dtype = out_dtype.unwrap_or(DType::F32);
    // Numbers keep the precision that they are computed in; each step of halves is rounded.
    let computed = if matches!(out_dtype, DType::F16 | DType::BF16) { DType::F32 } else { out_dtype };
    let rounded = |t: AnyTensor| calls.cast(calls.cast(t, out_dtype)?, computed);
    let scale = only_element(calls, scale, "scale", computed)?;
    let zero_point = only_element(calls, zero_point, "zero_point", computed)?;
    let distance = calls.sub(rounded(integers(input, dtype)?.clone())?, zero_point)?;
    calls.cast(calls.mul(rounded(distance)?, scale)?, out_dtype)
}

/// `dequantize_per_tensor.tensor2`.
#[expect(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn dequantize_per_tensor_between(
    calls: &Calls<'_>,
    input: &IValue,
    scale: &IValue,
    zero_point: &IValue,
    _quant_min: &IValue,
    _quant_max: &IValue,
    dtype: DType,
    out_dtype: Option<DType>,
) -> Result<AnyTensor> {
    dequantize_per_tensor_of(calls, input, scale, zero_point, 0, 0, dtype, out_dtype)
}

/// How channels of an axis lie: the input with the axis first, and one number for each of its channels along it.
struct Channels {
    axis: i64,
    shape: Vec<i64>,
}

impl Channels {
    fn of(input: &AnyTensor, axis: i64, scales: &AnyTensor) -> Result<Channels> {
        let ndim = input.ndim() as i64;
        if !(-ndim..ndim).contains(&axis) {
            return Err(ErrorKind::OutOfRange { arg: "axis", got: axis, low: -ndim, high: ndim - 1 }.into());
        }
        let &[count] = scales.sizes() else {
            return Err(ErrorKind::DimCount { arg: "scales", got: scales.ndim(), accepted: "1" }.into());
        };
        let mut shape = vec![1; input.ndim()];
        shape[0] = count;
        Ok(Channels { axis, shape })
    }

    /// The axis first, or back in its place.
    fn swapped(&self, calls: &Calls<'_>, t: AnyTensor) -> Result<AnyTensor> {
        calls.tensor("transpose.int", [t.into(), 0i64.into(), self.axis.into()])
    }

    fn along(&self, calls: &Calls<'_>, values: &AnyTensor) -> Result<AnyTensor> {
        calls.tensor("view", [values.clone().into(), IValue::Ints(self.shape.clone())])
    }
}

/// `quantize_per_channel`.
#[expect(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn quantize_per_channel(
    calls: &Calls<'_>,
    input: &IValue,
    scales: &IValue,
    zero_points: &IValue,
    axis: i64,
    quant_min: i64,
    quant_max: i64,
    dtype: DType,
) -> Result<AnyTensor> {
    check_bounds(quant_min, quant_max, dtype)?;
    let x = floats(calls, input)?;
    let scales = tensor(scales, "scales")?;
    let channels = Channels::of(&x, axis, scales)?;
    let reciprocals = calls.unary("reciprocal", channels.along(calls, scales)?)?;
    let zero_points = channels.along(calls, tensor(zero_points, "zero_points")?)?;
    let by = [reciprocals.into(), zero_points.into()];
    let step = steps(calls, channels.swapped(calls, x)?, by, "clamp", numbers(quant_min, quant_max))?;
    calls.cast(channels.swapped(calls, step)?, dtype)
}

/// `dequantize_per_channel`.
#[expect(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn dequantize_per_channel(
    calls: &Calls<'_>,
    input: &IValue,
    scales: &IValue,
    zero_points: &IValue,
    axis: i64,
    quant_min: i64,
    quant_max: i64,
    dtype: DType,
    out_dtype: Option<DType>,
) -> Result<AnyTensor> {
    check_bounds(quant_min, quant_max, dtype)?;
    let input = integers(input, dtype)?;
    let scales = tensor(scales, "scales")?;
    let channels = Channels::of(input, axis, scales)?;
    let mut values = channels.swapped(calls, input.clone())?;
    if let Some(zero_points) = zero_points.as_tensor() {
        values = calls.sub(values, channels.along(calls, zero_points)?)?;
    }
    let values = calls.mul(values, channels.along(calls, scales)?)?;
    channels.swapped(calls, calls.cast(values, out_dtype.unwrap_or(DType::F32))?)
}

/// The least and the largest element of floats, of which 0 is one.
fn range(calls: &Calls<'_>, input: &IValue, quant_min: i64, quant_max: i64, dtype: DType) -> Result<[AnyTensor; 2]> {
    floats(calls, input)?;
    bounds(dtype)?;
    if quant_min >= quant_max {
        return Err(rule("argument quant_min is not less than quant_max; accepted is less"));
    }
    let zero = Scalar::Int(0);
    let low = calls.tensor("clamp", [calls.unary("min", input.clone())?.into(), IValue::None, zero.into()])?;
    let high = calls.tensor("clamp", [calls.unary("max", input.clone())?.into(), zero.into(), IValue::None])?;
    Ok([low, high])
}

/// A scale of at least `eps`, as a tensor of one element.
fn at_least(calls: &Calls<'_>, scale: AnyTensor, eps: f64) -> Result<AnyTensor> {
    // As PyTorch has it, a float32 number.
    let wide = calls.cast(scale, DType::F32)?;
    let scale = calls.tensor("clamp", [wide.into(), f64::from(eps as f32).into(), IValue::None])?;
    calls.tensor("reshape", [scale.into(), IValue::Ints(vec![1])])
}

/// `choose_qparams.tensor`: scale (float64) and zero point (int64), each of one element, by which the elements of
/// `input` and 0 fill the steps from `quant_min` to `quant_max`.
pub fn choose_qparams(
    calls: &Calls<'_>,
    input: &IValue,
    quant_min: i64,
    quant_max: i64,
    eps: f64,
    dtype: DType,
) -> Result<(AnyTensor, AnyTensor)> {
    let [low, high] = range(calls, input, quant_min, quant_max, dtype)?;
    let count = quant_max as f64 - quant_min as f64;
    let scale = at_least(calls, calls.div(calls.sub(high, low.clone())?, count)?, eps)?;
    let below = calls.cast(calls.unary("round", calls.div(low, scale.clone())?)?, DType::I32)?;
    let zero_point = calls.tensor("rsub.Scalar", [below.into(), Scalar::Int(quant_min).into(), 1i64.into()])?;
    let [low, high] = numbers(quant_min, quant_max);
    let zero_point = calls.tensor("clamp", [zero_point.into(), low, high])?;
    Ok((calls.cast(scale, DType::F64)?, calls.cast(zero_point, DType::I64)?))
}

/// `choose_qparams_symmetric.tensor`: the same for steps that reach as far on either side of the zero point, which is
/// 0, or 128 for uint8.
pub fn choose_qparams_symmetric(
    calls: &Calls<'_>,
    input: &IValue,
    quant_min: i64,
    quant_max: i64,
    eps: f64,
    dtype: DType,
) -> Result<(AnyTensor, AnyTensor)> {
    let [low, high] = range(calls, input, quant_min, quant_max, dtype)?;
    let reach = calls.binary("maximum", calls.unary("neg", low)?, high)?;
    let count = (quant_max as f64 - quant_min as f64) / 2.0;
    let scale = calls.cast(at_least(calls, calls.div(reach, count)?, eps)?, DType::F64)?;
    let middle = if dtype == DType::U8 { 128 } else { 0 };
    let options = [DType::I64.into(), IValue::None, IValue::None, IValue::None];
    let [dtype, layout, device, pin_memory] = options;
    let arguments = [scale.clone().into(), Scalar::Int(middle).into(), dtype, layout, device, pin_memory, IValue::None];
    Ok((scale, calls.tensor("full_like", arguments)?))
}

monomorph_macros::native! {
    [crate]
    family: QuantizedDecomposed, functions: crate::fill::Fills;

    func: quantized_decomposed::quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min,
        int quant_max, ScalarType dtype) -> Tensor,
    composite: explicit quantize_per_tensor;

    func: quantized_decomposed::quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min,
        int quant_max, ScalarType dtype) -> Tensor,
    composite: explicit quantize_per_tensor_of;

    func: quantized_decomposed::quantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point,
        Tensor quant_min, Tensor quant_max, ScalarType dtype) -> Tensor,
    composite: explicit quantize_per_tensor_between;

    func: quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min,
        int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor,
    composite: explicit dequantize_per_tensor;

    func: quantized_decomposed::dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point,
        int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor,
    composite: explicit dequantize_per_tensor_of;

    func: quantized_decomposed::dequantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point,
        Tensor quant_min, Tensor quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor,
    composite: explicit dequantize_per_tensor_between;

    func: quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis,
        int quant_min, int quant_max, ScalarType dtype) -> Tensor,
    composite: explicit quantize_per_channel;

    func: quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis,
        int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor,
    composite: explicit dequantize_per_channel;

    func: quantized_decomposed::choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps,
        ScalarType dtype) -> (Tensor, Tensor),
    composite: explicit choose_qparams;

    func: quantized_decomposed::choose_qparams_symmetric.tensor(Tensor input, int quant_min, int quant_max, float eps,
        ScalarType dtype) -> (Tensor, Tensor),
    composite: explicit choose_qparams_symmetric;
}
