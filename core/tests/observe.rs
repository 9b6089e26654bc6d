//! What a subscriber sees of operator calls, with the feature `tracing`. In a program of its own: where only one
//! subscriber is alive, `tracing` asks that of the thread that comes first to a span whether anybody wants it, so that
//! a thread without one, of another test, would switch it off for all.
#![cfg(feature = "tracing")]

mod host;
#[path = "observe/notes.rs"]
mod notes;

use host::Host;
use monomorph_core::dispatch::{Definition, DispatchKey, Dispatcher, KernelFunction, Library};
use monomorph_core::{AnyTensor, DType, Stack, Tensor};
use notes::Notes;

const SPAN: &str = "operator op=\"t::f\" sizes=[[2, 3]] dtypes=[\"float32\"]";

fn library() -> Library {
    let mut library = Dispatcher::new().library("t");
    let kernel = KernelFunction::function(|x: &AnyTensor| x.clone());
    library
        .define(Definition::parse("f(Tensor(a) x) -> Tensor(a)").unwrap().dispatch([DispatchKey::CPU], kernel))
        .unwrap();
    library
}

#[test]
fn a_call_is_a_span_with_sizes_and_dtypes() {
    let x = Tensor::<Host>::zeros_contiguous(DType::F32, &[2, 3]).expect("memory");
    let library = library();
    let notes = Notes::of(|| {
        let mut stack: Stack = vec![x.clone().into()];
        library.dispatcher().call("t::f", &mut stack).unwrap();
    });
    assert_eq!(notes, [SPAN, "end"]);
}

/// Also one that goes past the stack, to a kernel that is no structured operator; and one that fails.
#[test]
fn an_unboxed_call_is_a_span() {
    let x = Tensor::<Host>::zeros_contiguous(DType::F32, &[2, 3]).expect("memory").into_any();
    let library = library();
    let f = library.dispatcher().find("t::f").unwrap().typed::<(&AnyTensor,), AnyTensor>().unwrap();
    assert_eq!(Notes::of(|| drop(f.call((&x,)).unwrap())), [SPAN, "end"]);
    let meta = x.to_meta();
    assert_eq!(Notes::of(|| drop(f.call((&meta,)).unwrap_err())), [SPAN, "end"]);
}
