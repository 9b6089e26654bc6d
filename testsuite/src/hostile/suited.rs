//! What suits the arguments of single operators, where what suits most does not. Owns a table.

use super::fitting::ramp;
use monomorph::crates::core::schema::{Argument, Base};
use monomorph::{Cpu, DType, IValue, Tensor};

/// A value of an argument.
#[derive(Clone, Copy)]
enum Suits {
    /// A tensor of 1, 2, 3, ... of these sizes.
    Of(DType, &'static [i64]),
    /// Two such tensors.
    Two(DType, &'static [i64]),
    /// A tensor of int64 of these sizes and numbers; in a list, it alone.
    At(&'static [i64], &'static [i64]),
    Ints(&'static [i64]),
    Int(i64),
    Float(f64),
    Str(&'static str),
}
use DType::{Bool, F32, I64};
use Suits::{At, Float, Int, Ints, Of, Str, Two};

/// Operators, an argument, and a value. The first whose sort the argument takes is its.
const TABLE: &[(&[&str], &str, Suits)] = &[
    (&["_foreach_add", "_foreach_mul", "_foreach_div"], "other", Of(F32, &[])),
    (&["_is_all_true", "_is_any_true"], "self", Of(Bool, &[3, 2])),
    // Rearrangements.
    (&["cartesian_prod", "meshgrid"], "tensors", Two(F32, &[3])),
    (&["meshgrid"], "indexing", Str("ij")),
    (&["combinations"], "self", Of(F32, &[3])),
    (&["constant_pad_nd"], "pad", Ints(&[1, -1])),
    (&["pad"], "pad", Ints(&[1, 0])),
    (&["pad"], "mode", Str("reflect")),
    (&["pad_sequence"], "padding_side", Str("left")),
    (&["_pad_circular"], "self", Of(F32, &[1, 3, 2])),
    (&["_pad_circular"], "pad", Ints(&[1, 0])),
    (PADS[0], "self", Of(F32, &[3, 2])),
    (PADS[0], "padding", Ints(&[1, 0])),
    (PADS[0], "grad_output", Of(F32, &[3, 3])),
    (PADS[1], "self", Of(F32, &[1, 3, 2])),
    (PADS[1], "padding", Ints(&[1, 0, 0, 1])),
    (PADS[1], "grad_output", Of(F32, &[1, 4, 3])),
    (PADS[2], "self", Of(F32, &[1, 2, 3, 2])),
    (PADS[2], "padding", Ints(&[1, 0, 0, 1, 0, 0])),
    (PADS[2], "grad_output", Of(F32, &[1, 2, 4, 3])),
    (&["repeat"], "repeats", Ints(&[2, 1])),
    (&["roll"], "shifts", Ints(&[1, 2])),
    (VIEWS, "input_sizes", Ints(&[3, 2])),
    (&["select_backward"], "grad_output", Of(F32, &[3])),
    (&["slice_backward"], "end", Int(2)),
    (&["slice_backward"], "grad_output", Of(F32, &[3, 1])),
    (&["diagonal_backward"], "grad_output", Of(F32, &[2])),
    (&["unfold_backward"], "grad_in", Of(F32, &[3, 2, 1])),
    // Folds and what is composed of them.
    (&["count_nonzero", "argmin"], "out", Of(I64, &[3, 2])),
    (&["all"], "out", Of(Bool, &[3, 2])),
    (&["gradient"], "self", Of(F32, &[3, 3])),
    (&["gradient"], "spacing", Two(F32, &[3])),
    (&["gradient", "linalg_matrix_norm"], "dim", Ints(&[0, 1])),
    (&["linalg_matrix_norm"], "ord", Int(1)),
    (&["linalg_matrix_norm", "linalg_norm"], "ord", Str("fro")),
    (&["linalg_cross"], "dim", Int(0)),
    // Sorting and selection.
    (ORDERS, "indices", Of(I64, &[3, 2])),
    (&["argsort", "searchsorted", "bucketize"], "out", Of(I64, &[3, 2])),
    (&["quantile", "nanquantile"], "q", Of(F32, &[1])),
    (&["quantile", "nanquantile"], "q", Float(0.5)),
    (&["quantile", "nanquantile"], "interpolation", Str("linear")),
    (&["bucketize"], "boundaries", Of(F32, &[3])),
    (&["isin"], "out", Of(Bool, &[3, 2])),
    (&["bincount"], "self", Of(I64, &[3])),
    (&["bincount"], "out", Of(I64, &[3])),
    (HISTOGRAMS, "bins", Of(F32, &[3])),
    (HISTOGRAMS, "bins", Two(F32, &[3])),
    (HISTOGRAMS, "bins", Ints(&[2, 2])),
    (DISTINCT, "out1", Of(I64, &[3])),
    (DISTINCT, "out2", Of(I64, &[3])),
    // Indices.
    (MATRIX_INDEX, "index", At(&[1, 2], &[0, 1])),
    (LIST_INDEX, "index", At(&[2], &[0, 1])),
    (&["take_along_dim"], "indices", At(&[1, 2], &[0, 1])),
    (&["put"], "source", Of(F32, &[2])),
    (&["scatter"], "reduce", Str("add")),
    (&["scatter_reduce", "segment_reduce", "_segment_reduce_backward"], "reduce", Str("sum")),
    (&["index_reduce"], "reduce", Str("prod")),
    (LIST_INDEX, "indices", At(&[2], &[0, 1])),
    (&["index_put", "_index_put_impl", "_unsafe_index_put"], "values", Of(F32, &[2])),
    (&["_unsafe_masked_index", "_unsafe_masked_index_put_accumulate"], "mask", Of(Bool, &[2, 1])),
    (&["_unsafe_masked_index_put_accumulate"], "values", Of(F32, &[2, 2])),
    (&["masked_scatter_backward"], "sizes", Ints(&[6])),
    (&["nonzero", "nonzero_static", "repeat_interleave"], "out", Of(I64, &[3, 2])),
    (&["repeat_interleave"], "repeats", At(&[1], &[2])),
    (&["one_hot"], "self", At(&[2], &[0, 2])),
    (&["one_hot"], "num_classes", Int(3)),
    (&["segment_reduce", "_segment_reduce_backward"], "lengths", At(&[1], &[3])),
    (&["_segment_reduce_backward"], "grad", Of(F32, &[1, 2])),
    (&["_segment_reduce_backward"], "output", Of(F32, &[1, 2])),
    // Embeddings: a bag of the first and the last row.
    (EMBEDDINGS, "indices", At(&[2], &[0, 2])),
    (EMBEDDINGS, "offsets", At(&[1], &[0])),
    (EMBEDDINGS, "offset2bag", At(&[2], &[0, 0])),
    (EMBEDDINGS, "bag_size", At(&[1], &[2])),
    (EMBEDDINGS, "maximum_indices", At(&[1], &[0])),
    (EMBEDDINGS, "num_weights", Int(3)),
    (EMBEDDINGS, "grad", Of(F32, &[1, 2])),
    (&["_embedding_bag_per_sample_weights_backward"], "mode", Int(0)),
    (&["embedding_dense_backward"], "grad_output", Of(F32, &[2, 2])),
    (EMBEDDINGS, "out1", Of(I64, &[2])),
    (EMBEDDINGS, "out2", Of(I64, &[1])),
    (EMBEDDINGS, "out3", Of(I64, &[1])),
];

/// Operators that continue one, two and three dimensions beyond their edges.
const PADS: [&[&str]; 3] = [
    &["reflection_pad1d", "replication_pad1d", "reflection_pad1d_backward", "replication_pad1d_backward"],
    &["reflection_pad2d", "replication_pad2d", "reflection_pad2d_backward", "replication_pad2d_backward"],
    &["reflection_pad3d", "replication_pad3d", "reflection_pad3d_backward", "replication_pad3d_backward"],
];
const VIEWS: &[&str] = &["select_backward", "slice_backward", "diagonal_backward", "unfold_backward"];
/// Operators that give elements and where they were.
const ORDERS: &[&str] = &["sort", "topk", "kthvalue", "median", "nanmedian", "mode", "cummax", "cummin"];
const HISTOGRAMS: &[&str] = &[
    "histogram",
    "histogramdd",
    "_histogramdd_bin_edges",
    "_histogramdd_from_bin_cts",
    "_histogramdd_from_bin_tensors",
];
const DISTINCT: &[&str] = &["_unique", "_unique2", "unique_dim", "unique_consecutive", "unique_dim_consecutive"];
/// Operators whose index has the dimensions of the tensor.
const MATRIX_INDEX: &[&str] = &["scatter", "scatter_add", "scatter_reduce", "gather"];
/// Operators whose index is a list.
const LIST_INDEX: &[&str] = &[
    "index",
    "index_put",
    "_index_put_impl",
    "_unsafe_index",
    "_unsafe_index_put",
    "_unsafe_masked_index",
    "_unsafe_masked_index_put_accumulate",
    "index_select",
    "index_add",
    "index_copy",
    "index_fill",
    "index_reduce",
    "take",
    "put",
];
const EMBEDDINGS: &[&str] = &[
    "embedding",
    "embedding_bag",
    "_embedding_bag",
    "_embedding_bag_forward_only",
    "_embedding_bag_backward",
    "_embedding_bag_per_sample_weights_backward",
    "embedding_dense_backward",
    "embedding_renorm",
];

impl Suits {
    fn fits(self, argument: &Argument) -> bool {
        let (base, is_list) = (argument.ty().base(), argument.ty().is_list());
        match self {
            Of(..) => base == Base::Tensor && !is_list,
            Two(..) => base == Base::Tensor && is_list,
            At(..) => base == Base::Tensor,
            Ints(_) => matches!(base, Base::Int | Base::SymInt) && is_list,
            Int(_) => matches!(base, Base::Int | Base::SymInt | Base::Scalar) && !is_list,
            Float(_) => matches!(base, Base::Float | Base::Scalar) && !is_list,
            Str(_) => base == Base::Str,
        }
    }
}

/// What suits an argument of an operator, if the table says.
pub(super) fn suited(operator: &str, argument: &Argument) -> Option<IValue> {
    let name = operator.strip_suffix('_').unwrap_or(operator);
    let is_it = |(names, arg, value): &&(&[&str], &str, Suits)| {
        *arg == argument.name() && names.contains(&name) && value.fits(argument)
    };
    let (.., value) = TABLE.iter().find(is_it)?;
    Some(match *value {
        Of(dtype, sizes) => ramp(dtype, sizes).into(),
        Two(dtype, sizes) => IValue::Tensors(vec![ramp(dtype, sizes), ramp(dtype, sizes)]),
        At(sizes, numbers) => {
            let index = Tensor::<Cpu>::from_slice(numbers, sizes).expect("as many numbers as the sizes say").into_any();
            if argument.ty().is_list() { IValue::Tensors(vec![index]) } else { index.into() }
        }
        Ints(list) => IValue::Ints(list.to_vec()),
        Int(number) => IValue::Int(number),
        Float(number) => IValue::Float(number),
        Str(text) => IValue::Str(text.into()),
    })
}
