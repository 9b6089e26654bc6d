//! Structured operators: an operator declares its outputs once, in `meta`; every form of it is then a different *sink*
//! for that declaration.
//!
//! ```text
//!             inputs ──► Op::meta ──► SinkState     (not generic over form or device: one body per operator)
//!                          │             │ records sizes, strides, dtype of each output; checks them against the form
//!                         plan         commit       (borrows storages, allocates, grows; nothing has changed before)
//!                          │             │
//!                          └──► D::ready(plan, inputs, outputs) ──► D::run ──► proxies copied back, versions counted
//! ```
//!
//! A call is transactional: until `commit` nothing is written, and `commit` does everything that can fail before it
//! changes the first argument.

mod alike;
mod borrows;
mod bound;
mod commit;
mod devices;
pub mod dynamic;
mod each;
mod operand;
mod operator;
mod sink;
mod slot;
mod state;

pub use alike::Alike;
pub use bound::{Bound, Outputs};
pub use dynamic::Dynamic;
#[doc(hidden)]
pub use each::each;
pub use operand::{Number, Operand};
pub use operator::{FromArgs, Operator, ValueSink};
pub use sink::{Functional, InPlace, MetaSink, Out, OutputSink, Prepared, Static, call, in_place, prepare};
pub use state::{Form, SinkState};

use crate::error::Result;
pub use crate::storage::arena::Arrangement;
pub use crate::storage::elementwise::{Elementwise, NumberBytes, Part, PartOperand};
pub use crate::storage::lifetimes::Block;
pub use crate::storage::recorder::elements_are_read;
pub use crate::storage::recording::{KernelFailure, Recording};
use crate::storage::{Device, Meta};

/// An operator in structured form: what it does to shapes and dtypes, once for every form and device.
pub trait StructuredOp: 'static {
    /// The name that errors carry.
    const NAME: &'static str;
    /// The number of outputs.
    const OUTPUTS: usize;
    /// Whether a 0-dim CPU tensor may stand among operands of another device.
    const CPU_SCALARS: bool = false;
    /// The type of the arguments: tensor operands by reference and parameters by value.
    type Inputs<'t>;
    /// The type of what `meta` finds out for the kernel. Varies with the template: an iteration for pointwise operators
    /// and reductions, sizes and scales for others.
    type Plan: Default + Send;
    /// The type with whose module calls of the operator are compiled: `Self`, or the parameter that makes a template
    /// this operator.
    type Home: ?Sized;

    /// The tensor operands, in the order in which the schema has them; absent ones are [`Operand::Absent`].
    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>];

    /// Checks the arguments, declares each output once through `sink`, and writes the plan.
    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()>;
}

/// A device that can run the operator `Op`.
///
/// # Safety
///
/// `run` reads only elements of the inputs and writes only elements of the outputs that `ready` was given, and for
/// functional outputs (which may be uninitialised) it writes every element or returns an error.
///
/// An implementation vouches for the operator too: that `Op::operands` lists every tensor among the inputs that the
/// kernel reads, and that `Op::meta` writes plans which the kernel can follow. And that `Ready` may be run and dropped
/// by another thread than made it: it has addresses in the operands, and values of its own. So implement it for
/// operators that you know, never for all that satisfy some safe trait.
///
/// Where [`elementwise`](Executes::elementwise) gives something, it gives the same each time, and what it says of the
/// operands is true. They are all that the kernel reads and writes: an output of `numel` dense elements, inputs that
/// are such or one element.
#[diagnostic::on_unimplemented(
    message = "device `{Self}` does not execute the operator `{Op}`",
    label = "no kernel of this operator for `{Self}`",
    note = "a device runs an operator by implementing `Executes` for the operator's template; see ARCHITECTURE.md"
)]
pub unsafe trait Executes<Op: StructuredOp>: Device {
    /// The type of what a plan is bound to: kernel chosen, pointers resolved. The plan itself comes back in `run`, so
    /// there is no need to copy from it.
    type Ready;

    /// Binds a plan to memory.
    ///
    /// # Safety
    ///
    /// * E1: `plan` was written by `Op::meta` for these inputs and outputs.
    /// * E2: the storages of all operands stay borrowed (outputs for writing) until the result is dropped.
    /// * E3: `run` is given the same plan.
    unsafe fn ready(plan: &Op::Plan, inputs: &Op::Inputs<'_>, outputs: &Outputs<'_>) -> Result<Self::Ready>;

    /// Runs the bound plan.
    ///
    /// # Safety
    ///
    /// E2 still holds, and `plan` is the one that `ready` was made from (E3).
    unsafe fn run(ready: &mut Self::Ready, plan: &Op::Plan) -> Result<()>;

    /// What there is to know of a bound call that can be run in parts, and cannot fail; none of others.
    fn elementwise(ready: &Self::Ready, plan: &Op::Plan) -> Option<Elementwise> {
        let _ = (ready, plan);
        None
    }
}

// SAFETY: nothing is read or written.
unsafe impl<S: 'static, Op: StructuredOp> Executes<Op> for Meta<S> {
    type Ready = ();

    unsafe fn ready(_: &Op::Plan, _: &Op::Inputs<'_>, _: &Outputs<'_>) -> Result<()> {
        Ok(())
    }

    unsafe fn run((): &mut (), _: &Op::Plan) -> Result<()> {
        Ok(())
    }
}
