//! What a check of a composed kernel sees while the kernel runs: every call, by a kernel at the key `Tracer`, and every access between
//! calls, by locks. Owns the notes; judges nothing that needs the end of the run.

use super::Breach;
use crate::borrow::WriteProof;
use crate::device::DeviceId;
use crate::dispatch::kernel::Frame;
use crate::dispatch::stack::Stack;
use crate::error::Result;
use crate::ivalue::IValue;
use crate::schema::Schema;
use crate::tensor::AnyTensor;
use std::cell::RefCell;

thread_local! {
    /// The check that this thread is in; taken out during a call, so that what the called operator calls is its own affair.
    pub(super) static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// The kernel of every operator at the key `Tracer`.
pub(super) fn observe(frame: &Frame<'_>, stack: &mut Stack) -> Result<()> {
    let Some(mut watch) = WATCH.take() else { return frame.redispatch(stack) };
    watch.unlock();
    watch.begin(frame, stack);
    let result = frame.redispatch(stack);
    match &result {
        Ok(()) => stack.iter().flat_map(IValue::tensors).for_each(|t| watch.know(t)),
        Err(_) => watch.failed = true,
    }
    watch.lock();
    WATCH.with_borrow_mut(|place| *place = Some(watch));
    result
}

/// What a check knows of the kernel that runs.
#[derive(Default)]
pub(super) struct Watch {
    /// The tensors that the kernel may have: arguments and results of calls. Held, so that no storage is taken for another.
    known: Vec<AnyTensor>,
    locks: Vec<Lock>,
    pub(super) trace: Vec<String>,
    pub(super) breaches: Vec<Breach>,
    /// True if the operator that runs is an out= form.
    is_out: bool,
    /// The device of the arguments.
    device: Option<DeviceId>,
    /// A call was an error, which the kernel may pass on.
    pub(super) failed: bool,
}

impl Watch {
    pub(super) fn new(schema: &Schema, arguments: &[IValue]) -> Watch {
        let mut watch = Watch { is_out: schema.is_out(), ..Watch::default() };
        arguments.iter().flat_map(IValue::tensors).for_each(|t| watch.know(t));
        watch.device = watch.known.first().map(AnyTensor::device);
        watch.lock();
        watch
    }

    fn know(&mut self, t: &AnyTensor) {
        if !self.knows(t) {
            self.known.push(t.clone());
        }
    }

    fn knows(&self, t: &AnyTensor) -> bool {
        let same = |k: &AnyTensor| k.storage_id() == t.storage_id() && k.geometry().same_elements(t.geometry());
        self.known.iter().any(same)
    }

    pub(super) fn must_be_known(&mut self, t: &AnyTensor, what: impl Fn() -> String) {
        if !self.knows(t) {
            self.breaches.push(Breach::ComesFromNowhere { what: what() });
        }
    }

    /// Writes a call down.
    fn begin(&mut self, frame: &Frame<'_>, stack: &Stack) {
        let (name, schema) = (frame.operator().name().to_owned(), frame.schema());
        for (value, arg) in stack.iter().zip(schema.args()) {
            for t in value.tensors() {
                self.must_be_known(t, || format!("argument {} of {name}", arg.name()));
            }
        }
        let values: Vec<String> = stack.iter().map(|value| self.text(value)).collect();
        self.trace.push(format!("{name}({})", values.join(", ")));
        let call = || name.clone();
        if !self.is_out {
            if schema.is_out() {
                self.breaches.push(Breach::CallsOut { call: call() });
            }
            if matches!(schema.name(), "resize_" | "resize_as_" | "set_") {
                self.breaches.push(Breach::Resizes { call: call() });
            }
        }
        if schema.returns().iter().any(|r| !r.ty().is_tensor()) {
            self.breaches.push(Breach::ReadsValues { call: call() });
        }
    }

    /// An argument without what differs between runs: a storage is the number of the tensor that brought it.
    fn text(&self, value: &IValue) -> String {
        let tensor = |t: &AnyTensor| {
            let number = self.known.iter().position(|k| k.storage_id() == t.storage_id());
            let number = number.map_or("?".to_owned(), |n| n.to_string());
            let g = t.geometry();
            format!("#{number} {} {:?} {:?}+{}", g.dtype(), g.sizes(), g.strides(), g.offset())
        };
        match value {
            IValue::Device(device) if Some(*device) == self.device => "the device".to_owned(),
            value if value.tensors().next().is_some() => value.tensors().map(tensor).collect::<Vec<_>>().join(" "),
            value => format!("{value:?}"),
        }
    }

    fn lock(&mut self) {
        for t in &self.known {
            if !self.locks.iter().any(|lock| lock.tensor.storage_id() == t.storage_id()) {
                self.locks.extend(Lock::new(t));
            }
        }
    }

    pub(super) fn unlock(&mut self) {
        self.locks.clear();
    }
}

/// A storage borrowed as one that is being written.
struct Lock {
    tensor: AnyTensor,
    proof: Option<WriteProof>,
}

impl Lock {
    /// None for a storage without data, or one that cannot be written.
    fn new(t: &AnyTensor) -> Option<Lock> {
        let proof = t.0.header()?.borrow().begin_write(false).ok()?;
        Some(Lock { tensor: t.clone(), proof: Some(proof) })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let (Some(header), Some(proof)) = (self.tensor.0.header(), self.proof.take()) {
            header.borrow().end_write(proof);
        }
    }
}
