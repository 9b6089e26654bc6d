//! What suits products of matrices and what is composed of them: sizes that fit each other.

use super::fitting::ramp;
use monomorph::crates::core::schema::{Argument, Base, Schema};
use monomorph::{DType, IValue};

/// The sizes of the tensors of an operator, by the names of its arguments.
fn sizes(name: &str, arg: &str) -> Option<&'static [i64]> {
    let name = name.trim_end_matches('_');
    Some(match (name, arg) {
        ("mm" | "matmul" | "linalg_matmul", "self") => &[3, 2],
        ("mm" | "matmul" | "linalg_matmul", "mat2" | "other") => &[2, 3],
        ("mm" | "matmul" | "linalg_matmul", "out") => &[3, 3],
        ("addmm" | "_addmm_activation" | "addbmm", "self" | "out") => &[3, 3],
        ("addmm" | "_addmm_activation", "mat1") => &[3, 2],
        ("addmm" | "_addmm_activation", "mat2") => &[2, 3],
        ("bmm" | "_grouped_mm", "self") | ("baddbmm" | "addbmm", "batch1") => &[2, 3, 2],
        ("bmm" | "_grouped_mm", "mat2") | ("baddbmm" | "addbmm", "batch2") => &[2, 2, 3],
        ("bmm" | "baddbmm", _) => &[2, 3, 3],
        ("grouped_mm_fallback", "input") => &[3, 2],
        ("grouped_mm_fallback", "weight") => &[2, 2, 3],
        ("mv", "self") | ("addmv", "mat") => &[3, 2],
        ("mv" | "addmv", "vec") => &[2],
        ("mv" | "addmv", _) | ("dot" | "vdot", "self" | "other" | "tensor") => &[3],
        ("dot" | "vdot", "out") => &[],
        ("addr", "vec1") => &[3],
        ("addr", "vec2") => &[2],
        ("inner", "out") => &[3, 3],
        ("kron", "out") => &[9, 4],
        ("linalg_vecdot", "out") => &[3],
        ("linear", "input") => &[3, 2],
        ("linear", "weight") => &[3, 2],
        ("linear", "bias") => &[3],
        ("linear", "out") => &[3, 3],
        ("bilinear", "weight") => &[3, 2, 2],
        ("bilinear", "bias") => &[3],
        ("_trilinear", "i1" | "i3") => &[3, 2],
        ("_trilinear", "i2") => &[3, 2, 2],
        ("_trilinear", "out") => &[3, 3],
        ("tensordot", "out") | ("_euclidean_dist" | "_cdist_forward", "out") => &[3, 3],
        ("_cdist_backward", "grad_output" | "cdist") => &[3, 3],
        ("lstm" | "gru" | "rnn_tanh" | "rnn_relu", "input") => &[2, 3, 2],
        ("gru" | "rnn_tanh" | "rnn_relu", "hx") => &[1, 3, 2],
        ("gru_cell", "w_ih" | "w_hh") => &[6, 2],
        ("_thnn_fused_lstm_cell", "input_gates" | "hidden_gates" | "out2") => &[3, 8],
        ("_thnn_fused_gru_cell", "input_gates" | "hidden_gates") => &[3, 6],
        ("_thnn_fused_lstm_cell" | "_thnn_fused_gru_cell", "cx" | "hx" | "out0") => &[3, 2],
        ("_thnn_fused_lstm_cell", "out1") => &[3, 2],
        ("_thnn_fused_gru_cell", "out1") => &[3, 10],
        ("_thnn_fused_lstm_cell", "input_bias" | "hidden_bias") => &[8],
        ("_thnn_fused_gru_cell", "input_bias" | "hidden_bias") => &[6],
        ("lstm_cell", "w_ih" | "w_hh") => &[8, 2],
        ("rnn_tanh_cell" | "rnn_relu_cell", "w_ih" | "w_hh") => &[2, 2],
        _ => return None,
    })
}

/// A value that suits the argument, if the operator is one of these.
pub(super) fn fitting(schema: &Schema, arg: &Argument) -> Option<IValue> {
    let name = schema.name();
    if arg.ty().base() == Base::Tensor
        && !arg.ty().is_list()
        && let Some(sizes) = sizes(name, arg.name())
    {
        return Some(ramp(DType::F32, sizes).into());
    }
    let list = |sizes: &[&[i64]]| IValue::Tensors(sizes.iter().map(|sizes| ramp(DType::F32, sizes)).collect());
    let indices = |sizes: &[i64]| IValue::from(ramp(DType::I64, sizes));
    Some(match (name, arg.name()) {
        ("linalg_multi_dot", "tensors") | ("chain_matmul", "matrices") => list(&[&[3, 2], &[2, 3], &[3, 1]]),
        ("linalg_multi_dot" | "chain_matmul", "out") => ramp(DType::F32, &[3, 1]).into(),
        ("grouped_mm_fallback", "offs") => indices(&[2]),
        ("_foreach_mm", "mat2") => list(&[&[1, 2], &[1, 2]]),
        ("einsum", "equation") => IValue::Str("ij,kj->ik".into()),
        ("einsum", "tensors") => list(&[&[3, 2], &[3, 2]]),
        ("einsum", "path") => IValue::Ints(vec![0, 1]),
        ("tensordot", "dims_self" | "dims_other") => IValue::Ints(vec![1]),
        ("_trilinear", "expand1") => IValue::Ints(vec![1, 3]),
        ("_trilinear", "expand2") => IValue::Ints(vec![0]),
        ("_trilinear", "expand3") => IValue::Ints(vec![1, 2]),
        ("_trilinear", "sumdim") => IValue::Ints(vec![2, 3]),
        ("lstm_cell", "hx") => list(&[&[3, 2], &[3, 2]]),
        ("lstm", "hx") => list(&[&[1, 3, 2], &[1, 3, 2]]),
        ("lstm", "params") => list(&[&[8, 2], &[8, 2]]),
        ("gru", "params") => list(&[&[6, 2], &[6, 2]]),
        ("rnn_tanh" | "rnn_relu", "params") => list(&[&[2, 2], &[2, 2]]),
        ("_convert_indices_from_coo_to_csr", "self") => indices(&[3]),
        ("_convert_indices_from_coo_to_csr", "size") => IValue::Int(4),
        ("_convert_indices_from_coo_to_csr", "out") => indices(&[5]),
        ("_convert_indices_from_csr_to_coo", "crow_indices") => indices(&[4]),
        ("_convert_indices_from_csr_to_coo", "col_indices") => indices(&[3]),
        ("_convert_indices_from_csr_to_coo", "out") => indices(&[2, 3]),
        _ => return None,
    })
}
