//! Arguments that suit folds, scans and what is composed of them, where the usual ones do not.

use super::fitting::ramp;
use monomorph::crates::core::schema::{Argument, Schema};
use monomorph::{DType, IValue, Scalar};

/// The value, if the operator wants another than most.
pub(super) fn fitting(schema: &Schema, arg: &Argument) -> Option<IValue> {
    Some(match (schema.name(), arg.name()) {
        ("linalg_cross", "dim") => 0i64.into(),
        ("linalg_matrix_norm" | "linalg_norm", "ord") if !arg.ty().is_optional() => {
            if schema.full_name().contains("str") { "fro".into() } else { 1i64.into() }
        }
        ("linalg_matrix_norm" | "nuclear_norm", "dim") => IValue::Ints(vec![0, 1]),
        ("hash_tensor", "mode") => 0i64.into(),
        ("count_nonzero" | "argmin" | "hash_tensor", "out") | ("cummax" | "cummin", "indices") => {
            ramp(DType::I64, &[3, 2]).into()
        }
        ("max", "max_values") | ("min", "min_indices") => ramp(DType::I64, &[3, 2]).into(),
        ("all", "out") => ramp(DType::Bool, &[3, 2]).into(),
        ("gradient", "spacing") if arg.ty().is_list() => match schema.full_name() {
            "gradient.tensorarray" => IValue::Tensors(vec![ramp(DType::F32, &[2])]),
            "gradient.scalarrayint" => IValue::Scalars(vec![Scalar::Int(2); 2]),
            _ => IValue::Scalars(vec![Scalar::Int(2)]),
        },
        _ => return None,
    })
}
