//! The symbolic instantiation of the value algebra: run on [`Sym`], a formula writes itself down.
//!
//! ```
//! use monomorph_ops::algebra::{Num, sym};
//!
//! fn scaled_sum<V: Num>(a: V, b: V, alpha: V) -> V {
//!     a + alpha * b
//! }
//!
//! let function = sym::trace(|t| {
//!     let (a, b, alpha) = (t.input::<f32>(), t.input::<f32>(), t.param::<f32>());
//!     t.output(scaled_sum(a, b, alpha));
//! })?;
//! assert_eq!(
//!     function.c_source("add"),
//!     "K_FN k_f32 add(k_f32 x0, k_f32 x1, k_f32 p0) {
//!     const k_f32 v3 = k_mul_f32(p0, x1);
//!     const k_f32 v4 = k_add_f32(x0, v3);
//!     return v4;
//! }
//! "
//! );
//! # Ok::<(), sym::TraceError>(())
//! ```
//!
//! The text calls the functions of [`PRELUDE`], which holds every rule about arithmetic, and is plain C99 that is C++
//! and CUDA C++, too. Refuses to compile or to run anything: devices do.

mod discrete;
mod element;
mod elementary;
mod gamma;
mod graph;
mod repeat;
mod source;
mod text;
mod value;

pub use element::Compute;
pub use graph::{Function, TraceError, Tracer, trace};
pub use source::{PRELUDE, c_suffix, c_type};

use std::marker::PhantomData;

/// A node of the graph that [`trace`] records: the value of one subexpression, of element type `C`.
///
/// It is a handle and means something only inside the `trace` that made it. Used elsewhere it does no harm: that trace
/// ends in [`TraceError::ForeignNode`].
#[derive(Debug)]
pub struct Sym<C> {
    node: graph::Handle,
    element: PhantomData<C>,
}

impl<C> Clone for Sym<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Sym<C> {}
