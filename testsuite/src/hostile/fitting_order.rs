//! What suits operators on rows in order, searches and bins: the fewer dimensions, dtypes and ranges that they take.

use super::fitting::ramp;
use monomorph::crates::core::schema::{Argument, Base, Schema};
use monomorph::{Cpu, DType, IValue, Tensor};

/// Operators that write indices or counts beside values.
const INDEXED: [&str; 6] = ["sort", "topk", "kthvalue", "median", "nanmedian", "mode"];

/// A value that suits the argument, if the operator is one of these.
pub(super) fn fitting(schema: &Schema, arg: &Argument) -> Option<IValue> {
    let name = schema.name();
    let (is_quantile, is_unique) = (name.ends_with("quantile"), name.contains("unique"));
    Some(match (arg.name(), arg.ty().base()) {
        ("indices", Base::Tensor) if INDEXED.contains(&name) => ramp(DType::I64, &[3, 2]).into(),
        ("out1" | "out2", Base::Tensor) if is_unique => ramp(DType::I64, &[3]).into(),
        ("out", Base::Tensor) if matches!(name, "argsort" | "searchsorted" | "bucketize" | "bincount") => {
            ramp(DType::I64, &[3, 2]).into()
        }
        ("out", Base::Tensor) if name == "isin" => ramp(DType::Bool, &[3, 2]).into(),
        ("self", Base::Tensor) if name == "bincount" => ramp(DType::I64, &[3]).into(),
        ("self", Base::Tensor) if name == "combinations" => ramp(DType::F32, &[3]).into(),
        // A number belongs in one sequence.
        ("sorted_sequence", Base::Tensor) if schema.overload().starts_with("Scalar") => ramp(DType::F32, &[3]).into(),
        ("boundaries", Base::Tensor) => ramp(DType::F32, &[3]).into(),
        ("bins", Base::Tensor) if arg.ty().is_list() => {
            IValue::Tensors(vec![ramp(DType::F32, &[3]), ramp(DType::F32, &[2])])
        }
        ("bins", Base::Tensor) => ramp(DType::F32, &[3]).into(),
        ("bins", Base::Int) if arg.ty().is_list() => IValue::Ints(vec![1, 2]),
        ("q", Base::Tensor) => Tensor::<Cpu>::from_slice(&[0.5f32], 1).ok()?.into_any().into(),
        ("q", Base::Float) => IValue::Float(0.5),
        ("interpolation", Base::Str) if is_quantile => IValue::Str("linear".into()),
        _ => return None,
    })
}
