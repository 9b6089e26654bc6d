//! A kernel as it is called: through its unboxed door if it has one of the caller's signature, else through its boxed
//! one. Owns the way from one door to the other.

use super::kernel::Frame;
use super::lock::retire;
use super::results;
use super::returns::Returned;
use super::signature::{CanonicalList, KernelFn};
use crate::error::Result;
use crate::value::annotations::checked_call;
use crate::value::{IValue, Stack};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Something that can be called without boxing.
trait Typed<A: CanonicalList, O>: Send + Sync {
    fn call(&self, frame: &Frame<'_>, values: A::Values<'_>) -> Result<O>;
}

/// A function with the marker that tells which of its possible signatures is meant.
struct Plain<F, M>(F, PhantomData<fn() -> M>);

impl<M: 'static, F: KernelFn<M>> Typed<F::Args, F::Output> for Plain<F, M> {
    #[inline]
    fn call(&self, frame: &Frame<'_>, values: <F::Args as CanonicalList>::Values<'_>) -> Result<F::Output> {
        self.0.invoke(frame, values)
    }
}

#[inline]
fn typed<M: 'static, F: KernelFn<M>>(f: F) -> Arc<dyn Typed<F::Args, F::Output>> {
    Arc::new(Plain(f, PhantomData::<fn() -> M>))
}

/// The unboxed door: what `Any` is asked for, so that a call with another signature finds nothing.
struct Door<A: CanonicalList, O>(Arc<dyn Typed<A, O>>);

/// The type of the boxed door. Boxed kernels of every kind are called through it, whatever they have captured.
type BoxedDoor = Box<dyn Fn(&Frame<'_>, &mut Stack) -> Result<()> + Send + Sync>;

/// A kernel as it is called. What a user owns in it is dropped by [`retire`].
pub(super) struct Object {
    unboxed: Option<Box<dyn Any + Send + Sync>>,
    boxed: BoxedDoor,
}

impl Drop for Object {
    fn drop(&mut self) {
        // A closure without captures takes no memory.
        let boxed = std::mem::replace(&mut self.boxed, Box::new(|_, _| Ok(())));
        retire((self.unboxed.take(), boxed));
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("unboxed", &self.unboxed.is_some()).finish_non_exhaustive()
    }
}

impl Object {
    /// A boxed function.
    pub(super) fn boxed(boxed: impl Fn(&Frame<'_>, &mut Stack) -> Result<()> + Send + Sync + 'static) -> Object {
        Object { unboxed: None, boxed: Box::new(boxed) }
    }

    /// A function over Rust values, which is boxed by taking them off the stack.
    pub(super) fn unboxed<M: 'static, F: KernelFn<M>>(f: F) -> Object {
        let kernel = typed::<M, F>(f);
        let door = Door(kernel.clone());
        Object { unboxed: Some(Box::new(door)), boxed: Box::new(move |frame, stack| opened(&*kernel, frame, stack)) }
    }

    /// The same with a boxed function of its own: no code is made for the way from the stack. Inlined, as all that is
    /// generic over the function must be, so that it is compiled where the function is.
    #[inline]
    pub(super) fn with_stack<M: 'static, F: KernelFn<M>>(
        f: F,
        boxed: impl Fn(&mut Stack) -> Result<()> + Send + Sync + 'static,
    ) -> Object {
        Object { unboxed: Some(Box::new(Door(typed::<M, F>(f)))), boxed: of_stack(boxed) }
    }

    /// Calls through the boxed door, with no check.
    pub(super) fn call_unchecked(&self, frame: &Frame<'_>, stack: &mut Stack) -> Result<()> {
        (self.boxed)(frame, stack)
    }

    /// Calls through the boxed door. Results that are not those of the schema are an error, and dropped: the stack is
    /// empty then, since the arguments are gone.
    pub(super) fn call_boxed(&self, frame: &Frame<'_>, stack: &mut Stack) -> Result<()> {
        checked_call(frame.schema, frame.silent, stack, |stack| {
            (self.boxed)(frame, stack)?;
            results::check(frame.schema, stack).inspect_err(|_| stack.clear())
        })
    }

    /// Calls through the unboxed door, or through the boxed one: of a kernel that has no other, or whose results are
    /// other Rust values for the same schema (`()` and `AnyTensor` both stand for a written argument that is returned).
    #[inline]
    pub(super) fn call<A: CanonicalList, O: Returned>(&self, frame: &Frame<'_>, values: A::Values<'_>) -> Result<O> {
        match self.unboxed.as_ref().and_then(|any| any.downcast_ref::<Door<A, O>>()) {
            Some(door) => door.0.call(frame, values),
            None => self.enboxed::<A, O>(frame, values),
        }
    }

    /// An unboxed call of a boxed kernel.
    fn enboxed<A: CanonicalList, O: Returned>(&self, frame: &Frame<'_>, mut values: A::Values<'_>) -> Result<O> {
        let mut stack = A::enbox(&values);
        self.call_boxed(frame, &mut stack)?;
        for (result, position) in stack.iter().zip(frame.schema.written_positions()) {
            if let Some(position) = position {
                A::restore(&mut values, position, result);
            }
        }
        O::take(&mut stack).ok_or_else(|| results::wrong(frame.schema, &stack))
    }
}

/// A function over the stack as a door. A function of its own, because a closure is compiled anew for every type that
/// is named around it.
fn of_stack(boxed: impl Fn(&mut Stack) -> Result<()> + Send + Sync + 'static) -> BoxedDoor {
    Box::new(move |_, stack| boxed(stack))
}

/// A boxed call of an unboxed kernel.
fn opened<A: CanonicalList, O: Returned>(kernel: &dyn Typed<A, O>, frame: &Frame<'_>, stack: &mut Stack) -> Result<()> {
    let given = stack.len();
    let values = A::unbox(stack, frame.schema)?;
    let output = kernel.call(frame, values)?;
    if O::KINDS.is_empty() {
        let written: Vec<IValue> =
            frame.schema.written_positions().flatten().filter_map(|position| stack.get(position).cloned()).collect();
        stack.extend(written);
    } else {
        output.push(stack);
    }
    stack.drain(..given);
    Ok(())
}
