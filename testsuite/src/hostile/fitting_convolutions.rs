//! What suits convolutions and attention: sizes that fit each other, and parameters for each dimension.

use super::fitting::ramp;
use monomorph::crates::core::schema::{Argument, Base, Schema};
use monomorph::{DType, IValue};

/// A value that suits the argument, if the operator is one of these.
pub(super) fn fitting(schema: &Schema, arg: &Argument) -> Option<IValue> {
    let name = schema.name();
    if name.starts_with("_scaled_dot_product") || name.starts_with("scaled_dot_product") {
        return Some(match (arg.name(), arg.ty().base()) {
            ("logsumexp", _) => ramp(DType::F32, &[1, 2, 3]).into(),
            (_, Base::Tensor) if !arg.ty().is_optional() => ramp(DType::F32, &[1, 2, 3, 2]).into(),
            ("dropout_p", _) => IValue::Float(0.0),
            _ => return None,
        });
    }
    let is_convolution =
        ["conv", "_conv", "thnn_conv"].iter().any(|start| name.starts_with(start)) || name.contains("slow_conv");
    if !is_convolution || name.starts_with("conv_tbc_") {
        return None;
    }
    if name == "conv_tbc" {
        return Some(match arg.name() {
            "self" => ramp(DType::F32, &[4, 1, 2]).into(),
            "weight" => ramp(DType::F32, &[2, 2, 3]).into(),
            "bias" => ramp(DType::F32, &[3]).into(),
            _ => return None,
        });
    }
    let ndim = [1, 3].into_iter().find(|n| name.contains(&format!("{n}d"))).unwrap_or(2);
    let sized = |channels: [i64; 2], size: i64| {
        let sizes: Vec<i64> = channels.into_iter().chain((0..ndim).map(|_| size)).collect();
        ramp(DType::F32, &sizes).into()
    };
    Some(match (arg.name(), arg.ty().base()) {
        ("self" | "input", Base::Tensor) => sized([1, 2], 4),
        ("weight", Base::Tensor) => sized([2, 2], 2),
        ("grad_output", Base::Tensor) => sized([1, 2], 3),
        ("kernel_size", _) => IValue::Ints(vec![2; ndim]),
        ("stride" | "dilation", _) => IValue::Ints(vec![1; ndim]),
        ("padding", Base::Str) => "same".into(),
        ("padding" | "output_padding", _) => IValue::Ints(vec![0; ndim]),
        ("output_mask", _) => IValue::Bools(vec![true; 3]),
        _ => return None,
    })
}
