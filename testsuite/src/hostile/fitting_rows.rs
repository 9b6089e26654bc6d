//! What suits softmax, normalisation, losses and distances of rows: sizes that agree with those of the input, targets
//! that are classes, probabilities.

use super::fitting::ramp;
use monomorph::crates::core::schema::{Argument, Base, Schema};
use monomorph::{Cpu, DType, IValue, Tensor};

/// A value that suits the argument, if the operator is one of these.
pub(super) fn fitting(schema: &Schema, arg: &Argument) -> Option<IValue> {
    let (name, base) = (schema.name(), arg.ty().base());
    let of = |dtype: DType, sizes: &[i64]| Some(IValue::from(ramp(dtype, sizes)));
    let f32 = |sizes: &[i64]| of(DType::F32, sizes);
    let classes =
        |list: &[i64], sizes: &[i64]| Tensor::<Cpu>::from_slice(list, sizes).ok().map(|t| IValue::from(t.into_any()));
    let is_batch = name.contains("batch_norm") || name == "instance_norm";
    let is_group = name.starts_with("native_group_norm");
    match (arg.name(), base) {
        // Without it nothing is written.
        ("training", _) if is_batch => return Some(IValue::Bool(true)),
        ("output_mask", _) => return Some(IValue::Bools(vec![true; 3])),
        ("normalized_shape", _) => return Some(IValue::Ints(vec![2])),
        ("running_mean" | "running_var", _) if is_batch => return f32(&[2]),
        ("weight", _) if name == "batch_norm_backward" => return f32(&[2]),
        ("reserve", _) if is_batch => return of(DType::U8, &[1]),
        ("mean" | "rstd", Base::Tensor) => return f32(&[3, 1]),
        ("N", _) if is_group => return Some(IValue::Int(3)),
        ("C", _) if is_group => return Some(IValue::Int(2)),
        ("weight" | "bias", Base::Tensor) if name == "native_layer_norm_backward" => return f32(&[2]),
        ("g", Base::Tensor) if name.starts_with("_weight_norm") => return f32(&[1, 2]),
        _ => {}
    }
    match name {
        "binary_cross_entropy" if base == Base::Tensor && matches!(arg.name(), "self" | "target") => {
            Tensor::<Cpu>::from_slice(&[0.5f32; 6], [3, 2]).ok().map(|t| IValue::from(t.into_any()))
        }
        "multilabel_margin_loss_backward" if arg.name() == "is_target" => {
            Tensor::<Cpu>::from_slice(&[1.0f32, 0.0, 1.0, 0.0, 0.0, 1.0], [3, 2])
                .ok()
                .map(|t| IValue::from(t.into_any()))
        }
        "_transformer_encoder_layer_fwd" => match arg.name() {
            "src" => f32(&[1, 3, 2]),
            "embed_dim" => Some(IValue::Int(2)),
            "num_heads" => Some(IValue::Int(1)),
            "qkv_weight" => f32(&[6, 2]),
            "qkv_bias" => f32(&[6]),
            "proj_weight" => f32(&[2, 2]),
            "ffn_weight_1" => f32(&[3, 2]),
            "ffn_bias_1" => f32(&[3]),
            "ffn_weight_2" => f32(&[2, 3]),
            _ if base == Base::Tensor && arg.name() != "mask" => f32(&[2]),
            _ => None,
        },
        "cosine_embedding_loss" if arg.name() == "target" => f32(&[3]),
        "_pdist_backward" if matches!(arg.name(), "grad_output" | "pdist") => f32(&[3]),
        "cross_entropy_loss" if arg.name() == "label_smoothing" => Some(IValue::Float(0.5)),
        "cross_entropy_loss" | "multi_margin_loss" if arg.name() == "target" => classes(&[0, 1, 1], &[3]),
        "multi_margin_loss_backward"
        | "multilabel_margin_loss_backward"
        | "nll_loss_backward"
        | "nll_loss2d_backward"
            if matches!(arg.name(), "grad_output" | "total_weight") =>
        {
            f32(&[])
        }
        "multi_margin_loss_backward" if arg.name() == "target" => classes(&[0, 1, 1], &[3]),
        _ if name.starts_with("nll_loss2d") => match arg.name() {
            "self" => f32(&[3, 2, 1, 1]),
            "target" => classes(&[0, 1, 1], &[3, 1, 1]),
            _ => None,
        },
        _ if name.starts_with("nll_loss") && arg.name() == "target" => classes(&[0, 1, 1], &[3]),
        _ if name.starts_with("multilabel") && arg.name() == "target" => classes(&[0, 1, 1, -1, -1, 0], &[3, 2]),
        "ctc_loss" | "_ctc_loss" => match (arg.name(), base) {
            ("log_probs", _) => f32(&[3, 1, 2]),
            ("targets", _) => classes(&[0], &[1, 1]),
            (_, Base::Tensor) if arg.name().ends_with("lengths") => classes(&[1], &[1]),
            _ => None,
        },
        _ => None,
    }
}
