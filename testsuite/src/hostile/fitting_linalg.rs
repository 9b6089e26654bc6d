//! What suits linear algebra: matrices of one element, which have every factor and an inverse.

use super::fitting::ramp;
use monomorph::crates::core::schema::{Argument, Base, Schema};
use monomorph::crates::ops::feature_of;
use monomorph::{Cpu, DType, IValue, Tensor};

/// A value that suits the argument, if the operator is one of these.
pub(super) fn fitting(schema: &Schema, arg: &Argument) -> Option<IValue> {
    if feature_of(schema.name()) != Some("linalg") && schema.name() != "linalg_cond" {
        return None;
    }
    let of = |dtype: DType, sizes: &[i64]| Some(IValue::from(ramp(dtype, sizes)));
    let (name, base) = (schema.name(), arg.ty().base());
    match (name, arg.name()) {
        (_, "UPLO") => Some(IValue::Str("L".into())),
        (_, "mode") => Some(IValue::Str("reduced".into())),
        (_, "n" | "ind") => Some(IValue::Int(1)),
        (_, "pivots" | "LU_pivots") => of(DType::I32, &[1]),
        // None failed.
        (_, "info") => Some(IValue::from(Tensor::<Cpu>::from_slice(&[0i32], 1).unwrap().into_any())),
        (_, "pivot") => Some(IValue::Bool(true)),
        (_, "N") => Some(IValue::Int(2)),
        ("linalg_cond", "p") if base == Base::Str => Some(IValue::Str("fro".into())),
        ("linalg_lstsq", "driver") => Some(IValue::Str("gelsd".into())),
        ("linalg_lstsq", "rank") => of(DType::I64, &[]),
        ("linalg_tensorsolve", "other" | "out") => of(DType::F32, &[1]),
        (_, "tau") | ("orgqr" | "ormqr", "input2") | ("linalg_slogdet" | "slogdet", "sign" | "logabsdet") => {
            of(DType::F32, &[1])
        }
        ("linalg_eig", "eigenvalues") | ("linalg_eigvals", "out") => of(DType::C64, &[1]),
        ("linalg_eig", "eigenvectors") => of(DType::C64, &[1, 1]),
        _ if base == Base::Tensor && !arg.ty().is_optional() => of(DType::F32, &[1, 1]),
        _ => None,
    }
}
