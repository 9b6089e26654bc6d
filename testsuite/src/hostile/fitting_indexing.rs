//! What suits operators that index: indices that are there, lists of them, and the sizes that go with both.

use super::fitting::ramp;
use monomorph::crates::core::schema::{Argument, Base, Schema};
use monomorph::{Cpu, DType, IValue, Tensor};

/// A vector of one number.
fn one(number: i64) -> IValue {
    Tensor::<Cpu>::from_slice(&[number], [1]).unwrap().into_any().into()
}

/// A value for an argument of an operator that indexes; `None` where what suits all others suits it.
pub(super) fn fitting(schema: &Schema, arg: &Argument) -> Option<IValue> {
    let (name, arg_name) = (schema.name().trim_start_matches('_').trim_end_matches('_'), arg.name());
    let tensor = |dtype, sizes: &[i64]| Some(ramp(dtype, sizes).into());
    let is_bag = name.starts_with("embedding_bag");
    match (name, arg_name) {
        ("index_select" | "index_add" | "index_copy" | "index_fill" | "index_reduce", "index") => Some(one(1)),
        ("index_add" | "index_copy" | "index_reduce", "source") => tensor(DType::F32, &[3, 1]),
        ("gather" | "scatter" | "scatter_add" | "scatter_reduce" | "take_along_dim", "index" | "indices") => {
            tensor(DType::I64, &[1, 1])
        }
        ("take" | "put", "index") => Some(one(1)),
        ("put", "source") => tensor(DType::F32, &[1]),
        ("index_reduce" | "scatter_reduce", "reduce") => Some(IValue::Str("prod".into())),
        ("scatter", "reduce") => Some(IValue::Str("add".into())),
        ("segment_reduce" | "segment_reduce_backward", "reduce") => Some(IValue::Str("sum".into())),
        _ if arg.ty().base() == Base::Tensor && arg.ty().to_string().starts_with("Tensor?[") => {
            Some(IValue::OptionalTensors(vec![Some(ramp(DType::I64, &[2]))]))
        }
        ("index_put" | "index_put_impl" | "unsafe_index_put" | "unsafe_masked_index_put_accumulate", "values") => {
            tensor(DType::F32, &[2, 2])
        }
        ("unsafe_masked_index" | "unsafe_masked_index_put_accumulate", "mask") => tensor(DType::Bool, &[2, 2]),
        ("masked_scatter_backward", "sizes") => Some(IValue::Ints(vec![3, 2])),
        ("nonzero" | "nonzero_static", "out") => tensor(DType::I64, &[3, 2]),
        ("repeat_interleave", "repeats") if arg.ty().base() == Base::Tensor => Some(one(1)),
        ("repeat_interleave", "output_size") => Some(IValue::None),
        ("repeat_interleave", "out") => tensor(DType::I64, &[1]),
        ("one_hot", "self") => tensor(DType::I64, &[3, 2]),
        ("one_hot", "num_classes") => Some(IValue::Int(7)),
        ("unfold_backward", "grad_in") => tensor(DType::F32, &[3, 2, 1]),
        ("unfold_backward", "input_sizes") => Some(IValue::Ints(vec![3, 2])),
        ("embedding" | "embedding_renorm" | "embedding_dense_backward", "indices") => tensor(DType::I64, &[2]),
        ("embedding_dense_backward", "grad_output") => tensor(DType::F32, &[2, 2]),
        (_, "num_weights") => Some(IValue::Int(3)),
        (_, "indices") if is_bag => tensor(DType::I64, &[2]),
        (_, "offsets") if is_bag => Some(one(0)),
        (_, "offset2bag") => Tensor::<Cpu>::from_slice(&[0i64, 0], [2]).ok().map(|t| t.into_any().into()),
        (_, "bag_size" | "maximum_indices") => tensor(DType::I64, &[3]),
        ("embedding_bag_per_sample_weights_backward", "mode") => Some(IValue::Int(0)),
        ("embedding_bag" | "embedding_bag_forward_only", "out1" | "out2" | "out3") => tensor(DType::I64, &[1]),
        ("segment_reduce" | "segment_reduce_backward", "lengths") => Some(one(3)),
        ("segment_reduce" | "segment_reduce_backward", "axis") => Some(IValue::Int(0)),
        ("segment_reduce_backward", "grad" | "output") => tensor(DType::F32, &[1, 2]),
        _ => None,
    }
}
