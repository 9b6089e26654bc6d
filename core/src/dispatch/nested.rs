//! How deep calls of operators are nested on a thread. Owns the limit, which makes an endless recursion of kernels an
//! error and not an overflow of the stack: rings of operators that no registration shows, because values decide what a
//! kernel calls.

use crate::error::{DispatchError, Error, Result};
use std::cell::Cell;
use std::marker::PhantomData;

/// Calls inside of calls that a thread may have.
///
/// A call of a composed kernel takes 3.6 kB of stack in a debug build (`nested_calls_fit_into_the_stack_of_a_thread`),
/// so these take less than a quarter of the 2 MiB that a spawned thread has, and leave 12 kB for the frames of each
/// kernel.
pub(super) const DEEPEST: u32 = 128;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// A call of an operator, until it is dropped: how many others it is in.
pub(super) struct Nested {
    outer: u32,
    /// The depth belongs to the thread.
    not_send: PhantomData<*const ()>,
}

impl Nested {
    /// Begins a call.
    ///
    /// # Errors
    ///
    /// [`DispatchError::TooDeep`].
    #[inline]
    pub(super) fn enter() -> Result<Nested> {
        let depth = DEPTH.get();
        if depth >= DEEPEST {
            return Err(too_deep());
        }
        DEPTH.set(depth + 1);
        Ok(Nested { outer: depth, not_send: PhantomData })
    }
}

impl Drop for Nested {
    #[inline]
    fn drop(&mut self) {
        // Guards are dropped in the reverse order: none leaves the function that made it.
        DEPTH.set(self.outer);
    }
}

#[cold]
fn too_deep() -> Error {
    DispatchError::TooDeep { limit: DEEPEST }.into()
}
