//! Whether this thread traces a function of tensors: runs it on shapes, and notes the operators that it calls. Owns the
//! state; what is noted is in `value/trace.rs`.

use std::cell::Cell;

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tracing {
    /// Nothing is traced.
    Off,
    /// In the function: its calls are noted.
    Function,
    /// In an operator that was noted: what it calls is not.
    Operator,
}

thread_local! {
    static TRACING: Cell<Tracing> = const { Cell::new(Tracing::Off) };
}

/// True in a function that is traced, and in no operator that it calls.
pub fn is_tracing() -> bool {
    TRACING.get() == Tracing::Function
}

/// Brings the state from before back when it is dropped.
#[derive(Debug)]
#[must_use = "the state from before comes back when this is dropped"]
pub(crate) struct TracingGuard(Tracing);

impl Drop for TracingGuard {
    fn drop(&mut self) {
        TRACING.set(self.0);
    }
}

/// From now on the thread is there.
pub(crate) fn enter(tracing: Tracing) -> TracingGuard {
    TracingGuard(TRACING.replace(tracing))
}
