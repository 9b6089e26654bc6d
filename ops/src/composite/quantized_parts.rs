//! The operators of PyTorch's namespace `quantized_decomposed` of tensors whose parts have scales and zero points of
//! their own: each row of the last dimension (a token), or each group of elements in a row of a matrix. Owns how such
//! parts are chosen and checked; what a quantized element is, stands in `quantized.rs`.

use super::callees::{Callees, Fillers};
use super::quantized::{check_bounds, numbers};
use super::steps::Steps;
use super::tensor;
use crate::composite::rule;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result, Scalar};

/// The integers that tokens are quantized to.
const LOW: f64 = -128.0;
const HIGH: f64 = 127.0;
/// How many steps there are between them.
const STEPS: f64 = 255.0;

/// `clamp(round(x · (1 / scale) + zero_point))` in another dtype.
fn quantized(
    calls: &Calls<'_>,
    x: AnyTensor,
    [scales, zero_points]: [IValue; 2],
    bounds: [i64; 2],
    dtype: DType,
) -> Result<AnyTensor> {
    let step = calls.add(calls.mul(x, calls.unary("reciprocal", scales)?)?, zero_points)?;
    let [low, high] = numbers(bounds[0], bounds[1]);
    let whole = calls.tensor("clamp", [calls.unary("round", step)?.into(), low, high])?;
    calls.cast(whole, dtype)
}

/// `(q - zero_point) · scale` in another dtype.
fn read(calls: &Calls<'_>, q: AnyTensor, scales: IValue, zero_points: IValue, dtype: DType) -> Result<AnyTensor> {
    calls.cast(calls.mul(calls.sub(q, zero_points)?, scales)?, dtype)
}

/// An error unless there is one of them for each row of the input.
fn check_tokens(input: &AnyTensor, scales: &IValue, zero_points: &IValue) -> Result<()> {
    let Some((_, outer)) = input.sizes().split_last() else {
        return Err(ErrorKind::DimCount { arg: "input", got: 0, accepted: "1 or more" }.into());
    };
    let want = monomorph_core::strides::numel(outer)?;
    for (arg, value) in [("scales", scales), ("zero_points", zero_points)] {
        let got = tensor(value, arg)?.numel();
        if got != want {
            return Err(ErrorKind::ListLength { arg, got, want }.into());
        }
    }
    Ok(())
}

/// `quantize_per_token`.
pub fn quantize_per_token(
    calls: &Calls<'_>,
    input: &IValue,
    scales: &IValue,
    zero_points: &IValue,
    quant_min: i64,
    quant_max: i64,
    dtype: DType,
) -> Result<AnyTensor> {
    check_bounds(quant_min, quant_max, dtype)?;
    let input = tensor(input, "input")?;
    check_tokens(input, scales, zero_points)?;
    quantized(calls, input.clone(), [scales.clone(), zero_points.clone()], [quant_min, quant_max], dtype)
}

/// `dequantize_per_token`.
#[expect(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn dequantize_per_token(
    calls: &Calls<'_>,
    input: &IValue,
    scales: &IValue,
    zero_points: &IValue,
    _quant_min: i64,
    _quant_max: i64,
    _dtype: DType,
    output_dtype: DType,
) -> Result<AnyTensor> {
    let input = tensor(input, "input")?.clone();
    read(calls, input, scales.clone(), zero_points.clone(), output_dtype)
}

/// `choose_qparams_per_token`: for each row a scale by which its largest element is 127; zero points are 0.
pub fn choose_per_token(calls: &Calls<'_>, input: &IValue, dtype: DType) -> Result<(AnyTensor, AnyTensor)> {
    if dtype != DType::I8 {
        let (what, accepted) = ("argument dtype is", "int8");
        return Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into());
    }
    let largest = calls.reduced("amax", calls.unary("abs", input.clone())?, &[-1], true)?;
    let largest = if largest.dtype() == DType::F16 { calls.cast(largest, DType::F32)? } else { largest };
    let largest = calls.tensor("clamp_min", [largest.into(), 1e-5.into()])?;
    let scales = calls.div(largest, HIGH)?;
    let zeros = calls.full_like(&scales, scales.sizes(), Scalar::Int(0))?;
    Ok((scales, zeros))
}

/// `choose_qparams_per_token_asymmetric`: for each row a scale (float64) and a zero point (int64) by which its elements
/// and 0 fill the steps of int8. Of the two zero points that the ends of the row ask for, the nearer one is taken.
pub fn choose_per_token_asymmetric(calls: &Calls<'_>, input: &IValue, _dtype: DType) -> Result<(AnyTensor, AnyTensor)> {
    let end = |reduction: &str, beyond: &str| -> Result<AnyTensor> {
        let end = calls.reduced(reduction, input.clone(), &[-1], true)?;
        let zero = calls.full_like(&end, end.sizes(), Scalar::Int(0))?;
        calls.binary(beyond, end, zero)
    };
    let (low, high) = (end("amin", "minimum")?, end("amax", "maximum")?);
    let scale = calls.div(calls.sub(high.clone(), low.clone())?, STEPS)?;
    let scale = calls.tensor("clamp_min", [scale.into(), f64::from(f32::EPSILON).into()])?;
    let (low, high) = (calls.div(low, scale.clone())?, calls.div(high, scale.clone())?);
    let errors = calls.add(calls.add(low.clone(), LOW)?, calls.add(high.clone(), HIGH)?)?;
    let from = |end: f64, by: AnyTensor| calls.tensor("rsub.Scalar", [by.into(), end.into(), 1i64.into()]);
    let is_positive = calls.binary("gt.Scalar", errors, 0i64)?;
    let point = calls.tensor("where.self", [is_positive.into(), from(LOW, low)?.into(), from(HIGH, high)?.into()])?;
    let point = calls.tensor("clamp", [point.into(), LOW.into(), HIGH.into()])?;
    Ok((calls.cast(scale, DType::F64)?, calls.cast(calls.unary("round", point)?, DType::I64)?))
}

/// A matrix as rows of groups; scales of more groups than elements in a row are those of whole rows.
fn groups(calls: &Calls<'_>, input: &AnyTensor, scales: &AnyTensor, group_size: i64) -> Result<AnyTensor> {
    let &[_, width] = input.sizes() else {
        return Err(ErrorKind::DimCount { arg: "input", got: input.ndim(), accepted: "2" }.into());
    };
    if group_size <= 1 {
        return Err(ErrorKind::OutOfRange { arg: "group_size", got: group_size, low: 2, high: i64::MAX }.into());
    }
    let group = if group_size > width && scales.sizes().last() == Some(&1) { width } else { group_size };
    if width.checked_rem(group) != Some(0) {
        return Err(rule("argument group_size must divide the last size of the matrix"));
    }
    calls.reshape(input, &[-1, group])
}

/// Numbers for each group, as a column.
fn column(calls: &Calls<'_>, value: &IValue, arg: &'static str) -> Result<IValue> {
    Ok(calls.reshape(tensor(value, arg)?, &[-1, 1])?.into())
}

/// `quantize_per_channel_group`.
#[expect(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn quantize_per_channel_group(
    calls: &Calls<'_>,
    input: &IValue,
    scales: &IValue,
    zero_points: &IValue,
    quant_min: i64,
    quant_max: i64,
    dtype: DType,
    group_size: i64,
) -> Result<AnyTensor> {
    let input = tensor(input, "input")?;
    let rows = groups(calls, input, tensor(scales, "scales")?, group_size)?;
    let by = [column(calls, scales, "scales")?, column(calls, zero_points, "zero_points")?];
    calls.reshape(&quantized(calls, rows, by, [quant_min, quant_max], dtype)?, input.sizes())
}

/// `dequantize_per_channel_group`.
#[expect(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn dequantize_per_channel_group(
    calls: &Calls<'_>,
    input: &IValue,
    scales: &IValue,
    zero_points: &IValue,
    _quant_min: i64,
    _quant_max: i64,
    _dtype: DType,
    group_size: i64,
    output_dtype: DType,
) -> Result<AnyTensor> {
    let input = tensor(input, "input")?;
    let rows = groups(calls, input, tensor(scales, "scales")?, group_size)?;
    let zeros = match zero_points {
        IValue::None => Scalar::Int(0).into(),
        _ => column(calls, zero_points, "zero_points")?,
    };
    let numbers = read(calls, rows, column(calls, scales, "scales")?, zeros, output_dtype)?;
    calls.reshape(&numbers, input.sizes())
}

monomorph_macros::native! {
    [crate]
    family: QuantizedParts, functions: crate::fill::Fills;

    func: quantized_decomposed::quantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int quant_min,
        int quant_max, ScalarType dtype) -> Tensor,
    composite: explicit quantize_per_token;

    func: quantized_decomposed::dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int quant_min,
        int quant_max, ScalarType dtype, ScalarType output_dtype) -> Tensor,
    composite: explicit dequantize_per_token;

    func: quantized_decomposed::choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, Tensor),
    composite: explicit choose_per_token;

    func: quantized_decomposed::_choose_qparams_per_token_asymmetric_impl(Tensor input, ScalarType dtype)
        -> (Tensor, Tensor),
    composite: implicit choose_per_token_asymmetric;

    func: quantized_decomposed::choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype)
        -> (Tensor, Tensor),
    composite: explicit choose_per_token_asymmetric;

    func: quantized_decomposed::quantize_per_channel_group(Tensor input, Tensor scales, Tensor zero_points,
        int quant_min, int quant_max, ScalarType dtype, int group_size) -> Tensor,
    composite: explicit quantize_per_channel_group;

    func: quantized_decomposed::dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? zero_points,
        int quant_min, int quant_max, ScalarType dtype, int group_size, ScalarType output_dtype) -> Tensor,
    composite: explicit dequantize_per_channel_group;
}
