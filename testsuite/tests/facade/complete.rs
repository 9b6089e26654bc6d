//! Views and factories are complete: of PyTorch's list, every overload that gives a view, copies or scatters one,
//! changes a tensor's sizes or storage, or makes a tensor from options is in the table, or its operator is left out
//! here by name, with the reason.

use monomorph::crates::core::schema::{Alias, Schema};
use monomorph::dispatcher;
use monomorph_testsuite::conformance::workspace_root;
use std::collections::BTreeSet;

/// Operators of other kinds of tensors, and those that need what the library does not have.
const LEFT_OUT: [(&str, &[&str]); 7] = [
    (
        "sparse tensors",
        &[
            "_indices",
            "_indices_copy",
            "_sparse_broadcast_to",
            "_sparse_broadcast_to_copy",
            "_sparse_bsc_tensor_unsafe",
            "_sparse_bsr_tensor_unsafe",
            "_sparse_compressed_tensor_unsafe",
            "_sparse_compressed_tensor_with_dims",
            "_sparse_coo_tensor_unsafe",
            "_sparse_coo_tensor_with_dims",
            "_sparse_coo_tensor_with_dims_and_tensors",
            "_sparse_csc_tensor_unsafe",
            "_sparse_csr_tensor_unsafe",
            "_values",
            "_values_copy",
            "ccol_indices",
            "ccol_indices_copy",
            "coalesce",
            "col_indices",
            "col_indices_copy",
            "crow_indices",
            "crow_indices_copy",
            "indices",
            "indices_copy",
            "row_indices",
            "row_indices_copy",
            "sparse_bsc_tensor",
            "sparse_bsr_tensor",
            "sparse_compressed_tensor",
            "sparse_coo_tensor",
            "sparse_csc_tensor",
            "sparse_csr_tensor",
            "values",
            "values_copy",
        ],
    ),
    (
        "nested tensors",
        &[
            "_nested_get_values",
            "_nested_get_values_copy",
            "_nested_tensor_from_tensor_list",
            "_nested_view_from_buffer",
            "_nested_view_from_buffer_copy",
            "_nested_view_from_jagged",
            "_nested_view_from_jagged_copy",
        ],
    ),
    ("quantized tensors", &["_empty_affine_quantized", "_empty_per_channel_affine_quantized", "empty_quantized"]),
    (
        "derivatives: forward-mode duals, tensors known to be zero, and a test of dispatch to autograd",
        &[
            "_efficientzerotensor",
            "_fw_primal",
            "_fw_primal_copy",
            "_make_dual",
            "_make_dual_copy",
            "_test_autograd_multiple_dispatch_view",
            "_test_autograd_multiple_dispatch_view_copy",
            "_unpack_dual",
        ],
    ),
    (
        "modes of a call: autocast, and tokens of traced effects",
        &["_autocast_to_full_precision", "_autocast_to_reduced_precision", "_make_dep_token"],
    ),
    ("memory of a CUDA device and its libraries", &["_cudnn_init_dropout_state", "pin_memory"]),
    ("files", &["from_file"]),
];

/// Operators that change or scatter sizes and storages; no annotation of theirs says so.
const NAMED: [&str; 14] = [
    "as_strided_scatter",
    "diagonal_scatter",
    "resize",
    "resize_",
    "resize_as",
    "resize_as_",
    "select_scatter",
    "set",
    "set_",
    "slice_scatter",
    "_unsafe_view",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
];

/// True if a result shares storage with an argument that is not written.
fn is_view(schema: &Schema) -> bool {
    schema.returns().iter().any(|ret| ret.ty().alias().is_some_and(|alias: &Alias| !alias.is_write()))
}

/// True if the options of a new tensor are among the arguments.
fn makes_a_tensor(schema: &Schema) -> bool {
    ["dtype", "layout", "device", "pin_memory"].iter().all(|name| schema.arg(name).is_some())
}

#[test]
fn views_and_factories_are_in_the_table_or_left_out_by_name() {
    let text = std::fs::read_to_string(workspace_root().join("testsuite/golden/schemas.txt")).expect("the list");
    let all: Vec<Schema> = text.lines().map(|line| Schema::parse(line).expect("the list parses")).collect();
    let names = |of: fn(&Schema) -> bool| -> BTreeSet<&str> {
        all.iter().filter(|schema| of(schema)).map(Schema::name).collect()
    };
    let (views, factories) = (names(is_view), names(makes_a_tensor));
    let belongs = |schema: &&Schema| {
        let name = schema.name();
        let copied = name.strip_suffix("_copy").or_else(|| name.strip_suffix('_')).is_some_and(|n| views.contains(n));
        copied || views.contains(name) || factories.contains(name) || NAMED.contains(&name)
    };
    let left_out: BTreeSet<&str> = LEFT_OUT.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let (mut present, mut problems) = (0, Vec::new());
    let mut unused = left_out.clone();
    for schema in all.iter().filter(belongs) {
        let known = dispatcher().find(schema.full_name()).is_ok();
        present += usize::from(known);
        unused.remove(schema.name());
        match (known, left_out.contains(schema.name())) {
            (true, false) | (false, true) => {}
            (true, true) => problems.push(format!("{} is in the table and left out", schema.full_name())),
            (false, false) => problems.push(format!("{schema} is missing")),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(unused.is_empty(), "no such view or factory: {unused:?}");
    assert!(present > 250, "{present}");
}
