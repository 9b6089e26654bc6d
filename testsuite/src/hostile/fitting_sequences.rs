//! What suits packed sequences and recurrent layers over them: batch sizes that do not grow, as many rows as they have.

use super::fitting::ramp;
use monomorph::crates::core::schema::{Argument, Schema};
use monomorph::{Cpu, DType, IValue, Tensor};

/// A value that suits the argument, if the operator is one of these.
pub(super) fn fitting(schema: &Schema, arg: &Argument) -> Option<IValue> {
    let of = |sizes: &[i64]| Some(ramp(DType::F32, sizes).into());
    let numbers =
        |list: &[i64]| Tensor::<Cpu>::from_slice(list, [list.len() as i64]).ok().map(|t| IValue::from(t.into_any()));
    match (schema.name(), arg.name()) {
        ("_pack_padded_sequence", "input") => of(&[2, 3, 2]),
        ("_pack_padded_sequence", "lengths") => numbers(&[2, 1, 1]),
        ("_pack_padded_sequence", "out0") => of(&[4, 2]),
        ("_pack_padded_sequence", "out1") => numbers(&[0, 0]),
        ("_pack_padded_sequence_backward", "input_size") => Some(IValue::Ints(vec![2, 3, 2])),
        ("_pack_padded_sequence_backward", "grad") | ("_pad_packed_sequence", "data") => of(&[4, 2]),
        ("_pad_packed_sequence", "total_length") => Some(IValue::Int(3)),
        ("lstm" | "gru" | "rnn_tanh" | "rnn_relu", "data") => of(&[4, 2]),
        (_, "batch_sizes") => numbers(&[3, 1]),
        _ => None,
    }
}
