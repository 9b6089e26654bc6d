//! Elements rounded to the steps of a quantized dtype and kept as floats, as in training that is aware of quantization;
//! and the product of int8 matrices that quantized layers are made of.
//!
//! An element `x` is at step `q = round(x / scale) + zero_point`; steps reach from `quant_min` to `quant_max`, and it
//! becomes `(q - zero_point) * scale`. The mask says which elements were within them. Elements are computed in float32,
//! those of float64 tensors in float64; the scale and its reciprocal are float32 numbers, as in PyTorch.

use super::steps::Steps;
use super::tensor;
use crate::composite::rule;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::wrap_dim;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result, Scalar};

/// The dtype that elements are computed in.
fn computed_in(dtype: DType) -> Result<DType> {
    match dtype {
        DType::F64 => Ok(DType::F64),
        got if got.is_floating() => Ok(DType::F32),
        got => {
            let (what, accepted) = ("argument self has dtype", "floating dtypes");
            Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
        }
    }
}

fn check_range(quant_min: i64, quant_max: i64) -> Result<()> {
    match quant_min <= quant_max {
        true => Ok(()),
        false => Err(rule("argument quant_min is larger than quant_max; accepted is at most quant_max")),
    }
}

/// The steps within the bounds, and which of them were there before.
fn clamped(calls: &Calls<'_>, step: &AnyTensor, bounds: [i64; 2]) -> Result<(AnyTensor, AnyTensor)> {
    let [low, high] = bounds.map(|bound| IValue::from(Scalar::Int(bound)));
    let [above, below] = [("ge.Scalar", &low), ("le.Scalar", &high)]
        .map(|(compare, bound)| calls.tensor(compare, [step.clone().into(), bound.clone()]));
    let mask = calls.binary("logical_and", above?, below?)?;
    Ok((calls.tensor("clamp", [step.clone().into(), low, high])?, mask))
}

/// `(clamped - zero_point) * scale`, in the dtype and layout of what was given.
fn dequantized(
    calls: &Calls<'_>,
    clamped: AnyTensor,
    zero_point: IValue,
    scale: IValue,
    dtype: DType,
) -> Result<AnyTensor> {
    let value = calls.mul(calls.sub(clamped, zero_point)?, scale)?;
    calls.cast(value, dtype)
}

/// The steps of all elements for one scale, given its reciprocal, and the mask. Steps without a number are the least.
fn of_tensor(
    calls: &Calls<'_>,
    this: &AnyTensor,
    [scale, reciprocal, zero_point]: [IValue; 3],
    [quant_min, quant_max]: [i64; 2],
) -> Result<(AnyTensor, AnyTensor)> {
    let wide = calls.cast(this.clone(), computed_in(this.dtype())?)?;
    let step = calls.add(calls.unary("round", calls.mul(wide, reciprocal)?)?, zero_point.clone())?;
    let (clamped, mask) = clamped(calls, &step, [quant_min, quant_max])?;
    let is_number = calls.binary("eq.Tensor", step.clone(), step)?;
    let least = Scalar::Int(quant_min).into();
    let clamped = calls.tensor("where.ScalarOther", [is_number.into(), clamped.into(), least])?;
    Ok((dequantized(calls, clamped, zero_point, scale, this.dtype())?, mask))
}

/// `fake_quantize_per_tensor_affine_cachemask`.
pub fn per_tensor(
    calls: &Calls<'_>,
    this: &IValue,
    scale: f64,
    zero_point: i64,
    quant_min: i64,
    quant_max: i64,
) -> Result<(AnyTensor, AnyTensor)> {
    check_range(quant_min, quant_max)?;
    if !(quant_min..=quant_max).contains(&zero_point) {
        let (arg, got) = ("zero_point", zero_point);
        return Err(ErrorKind::OutOfRange { arg, got, low: quant_min, high: quant_max }.into());
    }
    let scale = scale as f32;
    let numbers = [f64::from(scale).into(), f64::from(scale.recip()).into(), zero_point.into()];
    of_tensor(calls, tensor(this, "self")?, numbers, [quant_min, quant_max])
}

/// `fake_quantize_per_tensor_affine`.
pub fn rounded_per_tensor(
    calls: &Calls<'_>,
    this: &IValue,
    scale: f64,
    zero_point: i64,
    quant_min: i64,
    quant_max: i64,
) -> Result<AnyTensor> {
    Ok(per_tensor(calls, this, scale, zero_point, quant_min, quant_max)?.0)
}

/// A tensor of one element as one without dimensions.
pub(super) fn only_element(calls: &Calls<'_>, value: &IValue, arg: &'static str, dtype: DType) -> Result<AnyTensor> {
    let value = tensor(value, arg)?;
    if value.numel() != 1 {
        return Err(ErrorKind::ListLength { arg, got: value.numel(), want: 1 }.into());
    }
    let element = calls.tensor("reshape", [value.clone().into(), IValue::Ints(Vec::new())])?;
    calls.cast(element, dtype)
}

/// [`of_tensor`] where scale and zero point are elements of tensors.
fn of_elements(
    calls: &Calls<'_>,
    this: &AnyTensor,
    [scale, zero_point]: [&IValue; 2],
    [quant_min, quant_max]: [i64; 2],
) -> Result<(AnyTensor, AnyTensor)> {
    check_range(quant_min, quant_max)?;
    let scale = only_element(calls, scale, "scale", DType::F32)?;
    // A zero point is a whole number.
    let zero_point = only_element(calls, zero_point, "zero_point", DType::I64)?;
    let reciprocal = calls.unary("reciprocal", scale.clone())?;
    let numbers = [scale.into(), reciprocal.into(), zero_point.into()];
    of_tensor(calls, this, numbers, [quant_min, quant_max])
}

/// `_fake_quantize_per_tensor_affine_cachemask_tensor_qparams`: where `fake_quant_enabled` is 0 every element stays as
/// it is.
pub fn per_tensor_of(
    calls: &Calls<'_>,
    this: &IValue,
    scale: &IValue,
    zero_point: &IValue,
    fake_quant_enabled: &IValue,
    quant_min: i64,
    quant_max: i64,
) -> Result<(AnyTensor, AnyTensor)> {
    let this = tensor(this, "self")?;
    let (values, mask) = of_elements(calls, this, [scale, zero_point], [quant_min, quant_max])?;
    let enabled = only_element(calls, fake_quant_enabled, "fake_quant_enabled", DType::Bool)?;
    let values = calls.tensor("where.self", [enabled.clone().into(), values.into(), this.clone().into()])?;
    let disabled = calls.unary("logical_not", enabled)?;
    Ok((values, calls.binary("logical_or", mask, disabled)?))
}

/// `fake_quantize_per_tensor_affine.tensor_qparams`.
pub fn rounded_per_tensor_of(
    calls: &Calls<'_>,
    this: &IValue,
    scale: &IValue,
    zero_point: &IValue,
    quant_min: i64,
    quant_max: i64,
) -> Result<AnyTensor> {
    Ok(of_elements(calls, tensor(this, "self")?, [scale, zero_point], [quant_min, quant_max])?.0)
}

/// `fake_quantize_per_channel_affine_cachemask`. Zero points that are floats are added before the sum is rounded, and
/// steps that no int64 holds are the least.
pub fn per_channel(
    calls: &Calls<'_>,
    this: &IValue,
    scale: &IValue,
    zero_point: &IValue,
    axis: i64,
    quant_min: i64,
    quant_max: i64,
) -> Result<(AnyTensor, AnyTensor)> {
    check_range(quant_min, quant_max)?;
    let (this, scale) = (tensor(this, "self")?, tensor(scale, "scale")?);
    let zero_point = tensor(zero_point, "zero_point")?;
    let supported = |what, got, accepted| Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    if !matches!(scale.dtype(), DType::F32 | DType::BF16) {
        return supported("argument scale has dtype", scale.dtype(), "float32 and bfloat16");
    }
    if !matches!(zero_point.dtype(), DType::I32 | DType::F32 | DType::F16) {
        return supported("argument zero_point has dtype", zero_point.dtype(), "int32, float32 and float16");
    }
    let dim = wrap_dim(axis, this.ndim(), "axis")?;
    let want = this.sizes().get(dim).copied().unwrap_or(1);
    let mut shape = vec![1; this.ndim()];
    if let Some(size) = shape.get_mut(dim) {
        *size = want;
    }
    let along = |value: &AnyTensor, arg, dtype| -> Result<AnyTensor> {
        if value.sizes() != [want] {
            return Err(ErrorKind::UnequalSizes { arg, got: value.sizes().to_vec(), want: vec![want] }.into());
        }
        let value = calls.tensor("view", [value.clone().into(), IValue::Ints(shape.clone())])?;
        calls.cast(value, dtype)
    };
    let dtype = computed_in(this.dtype())?;
    let scale = along(scale, "scale", dtype)?;
    let is_whole = zero_point.dtype() == DType::I32;
    let zero_point = along(zero_point, "zero_point", dtype)?;
    // The reciprocal is a float32 number also where elements are float64.
    let reciprocal = calls.unary("reciprocal", calls.cast(scale.clone(), DType::F32)?)?;
    let scaled = calls.mul(calls.cast(this.clone(), dtype)?, calls.cast(reciprocal, dtype)?)?;
    let step = match is_whole {
        true => calls.add(calls.unary("round", scaled)?, zero_point.clone())?,
        false => calls.unary("round", calls.add(scaled, zero_point.clone())?)?,
    };
    let (clamped, mask) = clamped(calls, &calls.cast(step, DType::I64)?, [quant_min, quant_max])?;
    Ok((dequantized(calls, calls.cast(clamped, dtype)?, zero_point.into(), scale.into(), this.dtype())?, mask))
}

/// `fake_quantize_per_channel_affine`.
pub fn rounded_per_channel(
    calls: &Calls<'_>,
    this: &IValue,
    scale: &IValue,
    zero_point: &IValue,
    axis: i64,
    quant_min: i64,
    quant_max: i64,
) -> Result<AnyTensor> {
    Ok(per_channel(calls, this, scale, zero_point, axis, quant_min, quant_max)?.0)
}

/// The gradient of both: that of the result where the mask is true.
pub fn masked(calls: &Calls<'_>, grad: &IValue, mask: &IValue) -> Result<AnyTensor> {
    let (grad, mask) = (tensor(grad, "grad")?, tensor(mask, "mask")?);
    if mask.dtype() != DType::Bool {
        return Err(ErrorKind::DTypeMismatch { arg: "mask", got: mask.dtype(), want: DType::Bool }.into());
    }
    if mask.numel() != grad.numel() {
        let (got, want) = (mask.sizes().to_vec(), grad.sizes().to_vec());
        return Err(ErrorKind::UnequalSizes { arg: "mask", got, want }.into());
    }
    calls.mul(grad.clone(), mask.clone())
}

/// `_int_mm`: the product of matrices of bytes, summed in int32.
pub fn int_mm(calls: &Calls<'_>, this: &IValue, mat2: &IValue) -> Result<AnyTensor> {
    let (this, mat2) = (tensor(this, "self")?, tensor(mat2, "mat2")?);
    if !matches!(this.dtype(), DType::I8 | DType::U8) {
        let (what, got, accepted) = ("argument self has dtype", this.dtype(), "int8 and uint8");
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    }
    if mat2.dtype() != DType::I8 {
        return Err(ErrorKind::DTypeMismatch { arg: "mat2", got: mat2.dtype(), want: DType::I8 }.into());
    }
    let wide = |t: &AnyTensor| calls.cast(t.clone(), DType::I32);
    calls.binary("mm", wide(this)?, wide(mat2)?)
}

native! {
    family: FakeQuantized, functions: crate::fill::Fills;

    func: fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int quant_max)
        -> Tensor,
    composite: implicit rounded_per_tensor;

    func: fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, int quant_min,
        int quant_max) -> Tensor,
    composite: implicit rounded_per_tensor_of;

    func: fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int quant_min,
        int quant_max) -> (Tensor output, Tensor mask),
    autogen: fake_quantize_per_tensor_affine_cachemask.out as [out0, out1], composite: explicit per_tensor;

    func: _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, Tensor zero_point,
        Tensor fake_quant_enabled, int quant_min, int quant_max) -> (Tensor output, Tensor mask),
    autogen: _fake_quantize_per_tensor_affine_cachemask_tensor_qparams.out as [out0, out1],
    composite: explicit per_tensor_of;

    func: fake_quantize_per_tensor_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor,
    composite: implicit masked;

    func: fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min,
        int quant_max) -> Tensor,
    composite: implicit rounded_per_channel;

    func: fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int axis,
        int quant_min, int quant_max) -> (Tensor output, Tensor mask),
    autogen: fake_quantize_per_channel_affine_cachemask.out as [out0, out1], composite: explicit per_channel;

    func: fake_quantize_per_channel_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor,
    composite: implicit masked;

    func: _int_mm(Tensor self, Tensor mat2) -> Tensor, out_sized: _int_mm.out, composite: explicit int_mm;
}
