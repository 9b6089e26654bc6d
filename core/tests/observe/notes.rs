//! A subscriber of `tracing` that writes down what operator calls tell it.

use std::fmt::Write;
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Writes down each span: when it begins, its name and fields; when it ends, `end`.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    /// What was written down while `calls` ran.
    pub(crate) fn of(calls: impl FnOnce()) -> Vec<String> {
        let notes = Notes::default();
        tracing::subscriber::with_default(notes.clone(), calls);
        let mut list = notes.0.lock().expect("no panic");
        std::mem::take(&mut *list)
    }
}

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
