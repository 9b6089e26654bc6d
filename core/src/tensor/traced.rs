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
pub fn is_watching() -> bool {
    TRACING.get() == Tracing::Function
}

/// The state before, which comes back when this is dropped.
#[derive(Debug)]
#[must_use = "the state comes back when this is dropped"]
pub(crate) struct Before(Tracing);

impl Drop for Before {
    fn drop(&mut self) {
        TRACING.set(self.0);
    }
}

/// From now on the thread is there.
pub(crate) fn enter(tracing: Tracing) -> Before {
    Before(TRACING.replace(tracing))
}
