//! What suits operators of quantized elements: scales, zero points and bounds that fit the dtype.

use super::fitting::ramp;
use monomorph::crates::core::schema::{Argument, Base, Schema};
use monomorph::{DType, IValue};

/// A value that suits the argument, if the operator is one of these.
pub(super) fn fitting(schema: &Schema, arg: &Argument) -> Option<IValue> {
    let name = schema.name();
    let of = |dtype: DType, sizes: &[i64]| Some(IValue::from(ramp(dtype, sizes)));
    if name == "_int_mm" {
        return match arg.name() {
            "self" => of(DType::I8, &[3, 2]),
            "mat2" => of(DType::I8, &[2, 3]),
            _ => of(DType::I32, &[3, 3]),
        };
    }
    let fake = name.trim_start_matches('_').starts_with("fake_quantize");
    if !fake && !name.contains("quantize_per") && !name.starts_with("choose_qparams") {
        return None;
    }
    let channels: &[i64] = match name {
        _ if name.contains("group") || name.contains("token") => &[3, 1],
        _ if name.contains("per_channel") => &[2],
        _ => &[],
    };
    let stored = if name.starts_with("dequantize") { DType::U8 } else { DType::F32 };
    match (arg.name(), arg.ty().base()) {
        ("scale" | "scales", Base::Tensor) => of(DType::F32, channels),
        ("zero_point" | "zero_points" | "fake_quant_enabled", Base::Tensor) => of(DType::I32, channels),
        ("mask" | "out1", Base::Tensor) => of(DType::Bool, &[3, 2]),
        ("quant_min" | "quant_max", Base::Tensor) => of(DType::I32, &[]),
        ("input", Base::Tensor) => of(stored, &[3, 2]),
        ("zero_point" | "axis", Base::Int) => Some(IValue::Int(1)),
        ("quant_min", Base::Int) => Some(IValue::Int(0)),
        ("quant_max", Base::Int) => Some(IValue::Int(127)),
        ("group_size", _) => Some(IValue::Int(2)),
        ("output_dtype", _) => Some(IValue::DType(DType::F32)),
        ("dtype", _) if name == "choose_qparams_per_token" => Some(IValue::DType(DType::I8)),
        ("dtype", _) => Some(IValue::DType(DType::U8)),
        _ => None,
    }
}
