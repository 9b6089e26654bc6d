//! What a check of a composed kernel sees while the kernel runs: every call, by a kernel at the key `Tracer`, and every
//! access between calls, by locks. Owns the notes; judges nothing that needs the end of the run.

use super::Breach;
use crate::dispatch::kernel::Frame;
use crate::error::Result;
use crate::options::DeviceId;
use crate::schema::Schema;
use crate::storage::borrow::WriteProof;
use crate::tensor::AnyTensor;
use crate::value::{IValue, Stack};
use std::cell::RefCell;

thread_local! {
    /// The check that this thread is in; taken out during a call, so that what the called operator calls is its own
    /// affair.
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// Takes the watch of this thread. A thread that is about to end has none.
fn take() -> Option<Watch> {
    WATCH.try_with(RefCell::take).ok().flatten()
}

/// Runs something under a watch. Where it panics the watch ends, and its locks with it.
pub(super) fn watched<R>(watch: Watch, run: impl FnOnce() -> R) -> (Watch, R) {
    struct Ends;
    impl Drop for Ends {
        fn drop(&mut self) {
            drop(take());
        }
    }
    WATCH.set(Some(watch));
    let ends = Ends;
    let result = run();
    let watch = take().unwrap_or_default();
    drop(ends);
    (watch, result)
}

/// The kernel of every operator at the key `Tracer`.
pub(super) fn observe(frame: &Frame<'_>, stack: &mut Stack) -> Result<()> {
    let Some(mut watch) = take() else { return frame.redispatch(stack) };
    watch.unlock();
    watch.begin(frame, stack);
    let passed = watch.passed(frame.schema(), stack);
    let result = frame.redispatch(stack);
    match &result {
        Ok(()) => {
            stack.iter().flat_map(IValue::tensors).for_each(|t| watch.know(t));
            watch.follow(&passed, stack);
        }
        Err(_) => watch.failed = true,
    }
    watch.lock();
    WATCH.set(Some(watch));
    result
}

/// What a check knows of the kernel that runs.
#[derive(Default)]
pub(super) struct Watch {
    /// The tensors that the kernel may have: arguments and results of calls. Held, so that no storage is taken for
    /// another.
    known: Vec<AnyTensor>,
    locks: Vec<Lock>,
    pub(super) trace: Vec<String>,
    pub(super) breaches: Vec<Breach>,
    /// The results that the schema says are written arguments, each with the argument as the calls so far have left it.
    written: Vec<Written>,
    /// True if the operator that runs is an out= form.
    is_out: bool,
    /// The device of the arguments.
    device: Option<DeviceId>,
    /// A call was an error, which the kernel may pass on.
    pub(super) failed: bool,
}

/// A written argument that is returned.
struct Written {
    result: usize,
    arg: String,
    now: AnyTensor,
}

fn same(a: &AnyTensor, b: &AnyTensor) -> bool {
    a.storage_id() == b.storage_id() && a.geometry().same_elements(b.geometry())
}

impl Watch {
    pub(super) fn new(schema: &Schema, arguments: &[IValue]) -> Watch {
        let mut watch = Watch { is_out: schema.is_out(), ..Watch::default() };
        for (result, position) in schema.written_positions().enumerate() {
            let tensor = position.and_then(|position| arguments.get(position)).and_then(IValue::as_tensor);
            let arg = position.and_then(|position| schema.args().nth(position));
            if let (Some(now), Some(arg)) = (tensor, arg) {
                watch.written.push(Written { result, arg: arg.name().to_owned(), now: now.clone() });
            }
        }
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
        self.known.iter().any(|known| same(known, t))
    }

    /// For each result of a call: the written argument of the kernel that it is. A view of one is another tensor.
    fn passed(&self, called: &Schema, stack: &[IValue]) -> Vec<Option<usize>> {
        let argument = |position: Option<usize>| {
            let tensor = stack.get(position?)?.as_tensor()?;
            self.written.iter().position(|written| same(&written.now, tensor))
        };
        called.written_positions().map(argument).collect()
    }

    /// Takes down how a call has left the arguments that it has written: it may have resized an output.
    fn follow(&mut self, passed: &[Option<usize>], results: &[IValue]) {
        for (passed, result) in passed.iter().zip(results) {
            if let (Some(passed), Some(tensor)) = (passed, result.as_tensor()) {
                self.written[*passed].now = tensor.clone();
            }
        }
    }

    /// Holds the results of the kernel against the arguments that they are declared to be.
    pub(super) fn must_be_written(&mut self, results: &[IValue]) {
        for Written { result, arg, now } in &self.written {
            let Some(got) = results.get(*result).and_then(IValue::as_tensor) else { continue };
            let what = match () {
                () if got.storage_id() != now.storage_id() => "a tensor of another storage",
                () if !got.geometry().same_elements(now.geometry()) => "a view of it with other sizes or strides",
                () => continue,
            };
            self.breaches.push(Breach::NotTheArgument { result: *result, arg: arg.clone(), what });
        }
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
