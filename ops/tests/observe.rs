//! Typed calls are spans, with the feature `tracing`, also of functions that are written by hand and of composed ones.
//! A thread without a subscriber calls no operator here: core/tests/observe.rs says why.
#![cfg(feature = "tracing")]

#[path = "../../core/tests/observe/notes.rs"]
mod notes;

use monomorph_core::{DType, DeviceHandle, Result, Tensor};
use monomorph_ops::Meta;
use monomorph_ops::functions::*;
use monomorph_ops::methods::{MatrixFactoriesConstructors as _, WindowsConstructors as _};
use notes::Notes;

/// The operators of the spans of a call, outside ones first.
fn spans(call: impl FnOnce() -> Result<()>) -> Vec<String> {
    let notes = Notes::of(|| call().expect("the arguments fit"));
    let op = |note: &String| note.strip_prefix("operator op=\"")?.split('"').next().map(str::to_owned);
    let operators: Vec<String> = notes.iter().filter_map(op).collect();
    assert_eq!(notes.len(), 2 * operators.len(), "every span ends");
    operators
}

#[test]
fn every_sort_of_typed_function_is_a_span() {
    let x = Tensor::<Meta>::zeros_contiguous(DType::F32, &[2, 3]).unwrap();
    let mut y = x.clone();
    // Structured, a view, a factory, copies, one in place, one with out=.
    assert_eq!(spans(|| exp(&x).map(drop)), ["exp"]);
    assert_eq!(spans(|| transpose(&x, 0, 1).map(drop)), ["transpose"]);
    let shapes = DeviceHandle::<Meta>::new(0);
    assert_eq!(spans(|| shapes.eye(3, None).map(drop))[0], "eye");
    assert_eq!(spans(|| shapes.hann_window(3).map(drop))[0], "hann_window");
    assert_eq!(spans(|| deep_clone(&x).map(drop)), ["clone", "empty_like", "copy_"]);
    assert_eq!(spans(|| copy_(&mut y, &x).map(drop)), ["copy_"]);
    assert_eq!(spans(|| zeros_out(2, &mut y).map(drop))[0], "zeros");
    // Composed, and its parts.
    assert_eq!(spans(|| outer(&select(&x, 0, 0)?, &select(&x, 0, 1)?).map(drop))[2..], ["outer", "reshape", "mul"]);
    assert_eq!(spans(|| cat(&[&x, &x]).map(drop)), ["cat", "empty"]);
}

#[test]
fn a_span_has_the_sizes_of_all_tensors() {
    let x = Tensor::<Meta>::zeros_contiguous(DType::I64, &[2, 3]).unwrap();
    let notes = Notes::of(|| drop(stack(&[&x, &x]).unwrap()));
    // What a call is made of lies inside of its span.
    assert!(notes[1].starts_with("operator op=\"empty\"") && notes[2..] == ["end", "end"], "{notes:?}");
    assert_eq!(notes[0], "operator op=\"stack\" sizes=[[2, 3], [2, 3]] dtypes=[\"int64\", \"int64\"]");
    // Of a structured operator; what is absent has none.
    let notes = Notes::of(|| drop(clamp(&x, None, &x).unwrap()));
    assert_eq!(notes, ["operator op=\"clamp\" sizes=[[2, 3], [2, 3]] dtypes=[\"int64\", \"int64\"]", "end"]);
    let mask = Tensor::<Meta>::zeros_contiguous(DType::Bool, &[2, 3]).unwrap();
    let notes = Notes::of(|| drop(masked_fill(&x, &mask, 1).unwrap()));
    assert!(notes[0].starts_with("operator op=\"masked_fill\" sizes=[[2, 3], [2, 3]]"), "{}", notes[0]);
}
