//! What a subscriber sees of operator calls, with the feature `tracing`. In a program of its own: where only one
//! subscriber is alive, `tracing` asks that of the thread that comes first to a span whether anybody wants it, so that
//! a thread without one, of another test, would switch it off for all.
#![cfg(feature = "tracing")]

mod host;
#[path = "observe/notes.rs"]
mod notes;
mod probe;

use host::Host;
use monomorph_core::dispatch::{Definition, DispatchKey, Dispatcher, KernelFunction, Library};
use monomorph_core::structured::{Functional, Operand, call};
use monomorph_core::{AnyTensor, DType, DeviceId, Options, Stack, Tensor};
use notes::Notes;
use probe::{Ask, Call, Probe};

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
        let inputs = [Operand::from(&x), Operand::Absent];
        let ask = Ask::calls(&[Call::raw(&[2], Options::new(DType::F64, DeviceId::CPU))]).of(&inputs);
        call::<Probe<1>, Host, _>(&ask, Functional::<Host, 1>::default()).expect("the probe runs");
    });
    assert_eq!(notes[..2], [SPAN, "end"]);
    assert!(notes[2].contains("sizes=[[2, 3]]"), "{}", notes[2]);
    assert_eq!(notes.len(), 4);
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
