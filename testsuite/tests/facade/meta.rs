//! Meta equals real for every recorded call: replayed with meta tensors of the same geometry it has the same sizes,
//! strides, offsets and dtypes, or is an error as well.

use monomorph::crates::core::ErrorKind;
use monomorph::{DType, IValue, Stack, dispatcher};
use monomorph_testsuite::conformance::library::{arguments, meta_arguments, overloads};
use monomorph_testsuite::conformance::{Call, CaseFile, Selection, bases, golden_cases, recorded_cases};
use monomorph_testsuite::missing::skip;
use std::path::Path;

/// Operators that refuse contents which meta tensors do not have: negative weights of observations.
const REFUSES_CONTENTS: &[&str] = &["cov", "istft"];

/// Operators whose result depends on the data, so that a meta call of them is an error.
const DATA_DEPENDENT: &[&str] = &[
    "where",
    "index.Tensor",
    "index_put",
    "index_put.out",
    "index_put_",
    "index.Tensor_out",
    "embedding_renorm",
    "embedding_renorm_",
    "narrow.Tensor",
    "tensor_split.tensor_indices_or_sections",
    "_local_scalar_dense",
    "item",
    "equal",
    "allclose",
    "nonzero",
    "nonzero.out",
    "nonzero_numpy",
    "argwhere",
    "masked_select",
    "masked_select.out",
    "masked_scatter",
    "masked_scatter.out",
    "masked_scatter_",
    "masked_scatter_backward",
    "repeat_interleave.Tensor",
    "repeat_interleave.self_Tensor",
    "one_hot",
];

/// Operators of which every form is so: the number of results is that of different elements, or the largest one.
const COUNTED: [&str; 6] =
    ["_unique", "_unique2", "unique_dim", "unique_consecutive", "unique_dim_consecutive", "bincount"];

/// Operators that are so in the overloads that take bounds or lengths from tensors.
const BOUNDED: [&str; 4] = ["linspace", "logspace", "ctc_loss", "_ctc_loss"];

/// Operators that take the lengths of sequences, or how many there are at each step, from tensors, beside those over
/// packed sequences, whose overload is `data`.
const PACKED: [&str; 3] = ["_pack_padded_sequence", "_pack_padded_sequence_backward", "_pad_packed_sequence"];

fn depends_on_data(op: &str) -> bool {
    let bounded = op.split_once('.').is_some_and(|(name, form)| BOUNDED.contains(&name) && form.contains("Tensor"));
    let counted = |name| COUNTED.contains(&name) || PACKED.contains(&name);
    bounded || DATA_DEPENDENT.contains(&op) || op.ends_with(".data") || op.split('.').next().is_some_and(counted)
}

type Shape = (Vec<i64>, Vec<i64>, i64, DType);

fn shapes(values: &[IValue]) -> Vec<Shape> {
    let tensors = values.iter().flat_map(IValue::tensors);
    tensors.map(|t| (t.sizes().to_vec(), t.strides().to_vec(), t.offset(), t.dtype())).collect()
}

/// The shapes of results, then of arguments where the call writes one; the results are the written arguments then.
fn outcome(name: &str, mut stack: Stack) -> Result<Vec<Shape>, monomorph::Error> {
    dispatcher().call(name, &mut stack)?;
    Ok(shapes(&stack))
}

/// Replays every case of the table's overloads; returns how many.
fn replay(dir: &Path) -> usize {
    let mut replayed = 0;
    let mut wrong = Vec::new();
    let selection = Selection { ops: overloads(), tags: Vec::new() };
    for base in bases(dir, &selection).expect("a directory of cases") {
        let file = CaseFile::load(dir, &base).expect("a readable file");
        for case in file.cases.iter().filter(|case| dispatcher().find(&case.op).is_ok()) {
            let call = Call::new(case, &file.storages);
            let (Ok(real), Ok(meta)) = (arguments(&call), meta_arguments(&call)) else { continue };
            replayed += 1;
            let before = shapes(&meta);
            let mut stack = meta.clone();
            let dry = dispatcher().call(&case.op, &mut stack).map(|()| shapes(&stack));
            match (outcome(&case.op, real), dry) {
                (Ok(real), Ok(dry)) if real == dry => {}
                (Err(real), Err(dry)) if real == dry && shapes(&stack) == before => {}
                // What only contents tell.
                (Err(real), Ok(_))
                    if matches!(
                        real.kind(),
                        ErrorKind::DivisionByZero | ErrorKind::IndexOutOfRange { .. } | ErrorKind::Matrix { .. }
                    ) => {}
                (Err(_), Ok(_)) if REFUSES_CONTENTS.contains(&&*case.op) => {}
                (_, Err(_)) if depends_on_data(&case.op) => {}
                (real, dry) => wrong.push(format!("{}:\n  real {real:?}\n  meta {dry:?}", case.id)),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {replayed} cases:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    replayed
}

#[test]
fn meta_equals_real_on_the_golden_cases() {
    assert_eq!(replay(&golden_cases()), 2603);
}

#[test]
fn meta_equals_real_on_the_full_recording() {
    match recorded_cases() {
        Some(dir) => assert!(replay(&dir) > 13_000),
        None => skip("recording", "the full recording is not beside the workspace"),
    }
}
