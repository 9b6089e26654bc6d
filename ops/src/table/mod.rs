//! Declarations of operators, `native!`, and what becomes of them: data ([`Declaration`]), kernels
//! for calls by name and through typed handles ([`Kernel`] and its neighbours), definitions in a library
//! ([`define`], [`add`]).
//!
//! ```text
//! native! {
//!     family: Arithmetic;
//!
//!     /// Adds `other`, scaled by `alpha`.
//!     ///
//!     /// ```
//!     /// assert_eq!(tensor![1, 2].add(10)?.to_vec::<i32>()?, [11, 12]);
//!     /// ```
//!     func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor,
//!     inplace: add_.Tensor, out: add.out, variants: function, method, structured: Pointwise<AddFn>;
//!
//!     func: select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a),
//!     copy: select_copy.int, copy_out: select_copy.int_out, variants: function, method, view: select;
//! }
//! ```
//!
//! What stands in front of a row is its page: a sentence, what else a caller has to know, and an example, which
//! stands in the facade crate's `prelude` and in a function that returns its `Result`. It runs as a doctest.
//!
//! | option | says |
//! | --- | --- |
//! | `func` | the schema, as in native_functions.yaml; in the tree it must be PyTorch's |
//! | `inplace`, `out` | names of the forms whose schemas follow from it; `as [grad_input]` names outputs |
//! | `autogen` | an out= form that is made of the functional one: compute, resize, copy |
//! | `out_apart` | the same for a composite whose output must lie apart from its inputs |
//! | `out_restrided` | the same for one whose output must have the dtype of the result and gets its layout |
//! | `out_iterated` | an `autogen` that PyTorch iterates over: its output may not overlap an input in part |
//! | `out_sized` | the same for one whose output must have the sizes of the result, too |
//! | `out_copied` | an `autogen` that converts to the output's dtype; of a composite both are complex, or floating |
//! | `out_cast` | an `autogen` whose output may have any dtype that the result can be cast to |
//! | `out_matrix` | the same, where an output without elements and of the result's dtype gets its layout, too |
//! | `copy`, `copy_out` | the forms of a view that copy it |
//! | `copy_into` | a `copy_out` that keeps the sizes and dtypes of its outputs |
//! | `variants` | PyTorch's variants, `function`, `method`: it has typed forms. Without it, it is called by name only |
//! | `typed` | what typed functions call in its place: an [`Operator`], or a function, `for` a bound |
//! | `positional` | `[dim]`: arguments that are parameters of typed functions although they have defaults |
//! | `options` | `[decimals = 0]`: arguments that are options of typed functions although they have none |
//! | `numbers` | `[value]`: tensors of a function for which numbers may stand in typed calls |
//! | `structured` | a [`StructuredOp`], whose kernels devices have; without `func`, one that others use |
//! | `operator` | an [`Operator`] that chooses between structured ones |
//! | `view`, `views` | a function from a geometry to a geometry, or to several |
//! | `kernel` | a function over any device; `else self`: where it returns `None`, the first argument is the result |
//! | `composite` | `implicit`, `explicit` or `nonfunctional`, and a function of [other operators](crate::composite) |
//! | `composed` | the same over [`Callees`](crate::composite::callees): also the typed function, `for` a bound |
//! | `each` | an operator that is called for each item of the `Tensor[]` and `Scalar[]` among the arguments |
//! | `redirect` | another operator's name; typed calls go to `operator` beside it |
//! | `otherwise` | a composition for the devices that have no kernel |
//! | `silent_write` | arguments that, given and not false, have others written of which no schema says so |
//! | `silent_view` | `true` where a result may share storage with an argument and PyTorch's schema does not say so |
//! | `direct` | beside `composed`: devices run it on their typed functions, as one kernel, not through the dispatcher |
//! | `across` | `copying` or `moving`: called by name also for tensors of [several devices](across) |
//!
//! Of each form there are a function and, where an argument is `self`, a method: `add`, which leaves out what has a
//! default, and `add_with`, which takes it as a structure, `Add`. Layouts and page-locked memory are no arguments; a
//! function that makes tensors of nothing makes them on the CPU, and is a method of a `DeviceHandle`.
//!
//! A family is a trait: the devices that execute all its structured operators. Functions that are written over any
//! device need that trait, or what stands behind `functions:`.
//!
//! [`StructuredOp`]: monomorph_core::structured::StructuredOp
//! [`Operator`]: monomorph_core::structured::Operator

#[doc(hidden)]
pub mod across;
mod declaration;
mod functions;
mod outputs;
mod register;
mod signature;
mod stack;
mod structured;

pub use declaration::{Composed, Composition, Declaration, Declared, Form, FormKind, Parameter, Row, RunsOn, name};
pub use functions::{
    Functional, Inplace, IntoResults, Out, Returned, View, Views, composed, copied, copied_parts, functional,
    functional_kernels, inplace, inplace_kernels, out_kernels, shared, shared_parts, view_kernels, views_kernels,
};
pub(crate) use outputs::{OutLayout, check_overlap, resized, write_out_as_made, write_pair, write_restrided};
pub use outputs::{copy_into, resize, write_out, write_outs};
pub use register::{DeviceKernels, Entry, Forms, add, define};
pub use signature::{Signature, UnboxedSignature};
pub use stack::{Reader, finish};
pub use structured::Kernel;

pub use crate::composite::callees::Typed;
pub use crate::composite::{MaybeWhole as MaybeWholeArg, PlainTensor as PlainTensorArg, Whole as WholeArg};

/// Checks the number of results of a declaration, at compile time.
pub const fn agrees(returns: usize, outputs: usize) {
    assert!(returns == outputs, "the schema returns another number of tensors than its operator has outputs");
}

/// Every declaration of the tree.
pub fn declarations() -> impl Iterator<Item = &'static Declaration> {
    crate::entries().into_iter().map(|entry| entry.declaration)
}

/// A template: a structured operator that is made of something smaller, which varies.
pub trait Template {
    /// What it is made of: a formula, a fold.
    type Body;
}

/// Declares the operators of a family; see the [module](crate::table).
macro_rules! native {
    ($($tokens:tt)*) => { monomorph_macros::native! { [crate] $($tokens)* } };
}
pub(crate) use native;

/// Declares operators in another crate; see the [module](crate::table). In front stands the path of this crate.
#[doc(hidden)]
pub use monomorph_macros::native as native_at;
