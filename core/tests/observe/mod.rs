//! What a subscriber sees of operator calls, with the feature `tracing`.

use crate::host::Host;
use crate::probe::{Ask, Call, Probe};
use monomorph_core::dispatch::{Definition, DispatchKey, Dispatcher, KernelFunction};
use monomorph_core::structured::{Functional, Operand, call};
use monomorph_core::{AnyTensor, DType, DeviceId, Options, Stack, Tensor};
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Writes down each span, entered and left.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {field}={value:?}").expect("a string takes everything");
    }
}

impl Subscriber for Notes {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "monomorph"
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut text = span.metadata().name().to_owned();
        span.record(&mut Fields(&mut text));
        let mut notes = self.0.lock().expect("no panic");
        notes.push(text);
        Id::from_u64(notes.len() as u64)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {
        self.0.lock().expect("no panic").push("end".to_owned());
    }
}

#[test]
fn a_call_is_a_span_with_sizes_and_dtypes() {
    let notes = Notes::default();
    let x = Tensor::<Host>::zeros_contiguous(DType::F32, &[2, 3]).expect("memory");
    let mut library = Dispatcher::new().library("t");
    let kernel = KernelFunction::function(|x: &AnyTensor| x.clone());
    library
        .define(Definition::parse("f(Tensor(a) x) -> Tensor(a)").unwrap().dispatch([DispatchKey::CPU], kernel))
        .unwrap();
    tracing::subscriber::with_default(notes.clone(), || {
        let mut stack: Stack = vec![x.clone().into()];
        library.dispatcher().call("t::f", &mut stack).unwrap();
        let inputs = [Operand::from(&x), Operand::Absent];
        let ask = Ask::calls(&[Call::raw(&[2], Options::new(DType::F64, DeviceId::CPU))]).of(&inputs);
        call::<Probe<1>, Host, _>(&ask, Functional::<Host, 1>::default()).expect("the probe runs");
    });
    let notes = notes.0.lock().unwrap();
    assert_eq!(notes[0], "operator op=\"t::f\" sizes=[[2, 3]] dtypes=[\"float32\"]");
    assert_eq!(notes[1], "end");
    assert!(notes[2].contains("sizes=[[2, 3]]"), "{}", notes[2]);
    assert_eq!(notes.len(), 4);
}
