//! Pointwise operators on the CPU.
//!
//! ```text
//! formula ── Map<On<C, I>> ──► body      one loop per (formula, dtype, level) over dense runs (`body.rs`, `operands.rs`)
//! domain ──► classes ────────► lookup    which body a dtype and a level have (`classes.rs`)
//! bools ───────────────────► truth       one loop for all formulas of one or two bools (`truth.rs`)
//! plan, operands ────────────► Call      bound to memory: bases, lanes, body (`call.rs`)
//! Call ────────────────────────► flat      small and dense: one call of the body (`flat.rs`)
//! Call ────────────────────────► tiled     small: operands staged whole, one call of the body (`tiled.rs`)
//! Call ────────────────────────► few       one bool operand: the formula is asked for both values (`few.rs`)
//! Call ────────────────────────► driver    everything else (`driver.rs`)
//! driver ── for_each ────────► planes    rows, tiles, staging (`planes.rs`), stores past the caches (`streaming.rs`)
//! ```
//!
//! Only the bodies are generic. A formula's bodies are compiled where its `lookup` is: in the calling crate for
//! [`Here`](monomorph_ops::pointwise::Here), in the crate that says [`prebuilt!`](crate::prebuilt) for
//! [`Prebuilt`].

mod aside;
mod body;
mod call;
mod classes;
mod driver;
mod few;
mod flat;
mod kernels;
mod operands;
mod planes;
mod rows;
mod streaming;
mod taking;
mod tiled;
mod truth;

pub use body::{Body, Going};
pub use call::Ready;
pub(crate) use driver::Base;
pub use kernels::{Kernels, here};
pub use rows::Rows;
// What the expansion of `prebuilt!` names.
#[doc(hidden)]
pub use monomorph_core::DType;
#[doc(hidden)]
pub use monomorph_ops::pointwise::Prebuilt;
