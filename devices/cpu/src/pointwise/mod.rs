//! Pointwise operators on the CPU.
//!
//! ```text
//! which kernel: of a formula, its tuning, a dtype and a level
//!   formula ── Map<Lane<C, I>> ─► FormulaKernel     one function for each (`kernel_fn.rs`), and its loops over
//!                                                 dense runs (`dense_loop.rs`, `element_loop.rs`, `masked_block.rs`),
//!                                                 rows with a broadcast operand (`broadcast_operand.rs`),
//!                                                 outputs too large for caches (`non_temporal.rs`)
//!   bools ───────────────────► bool_kernel        one loop for all formulas of one or two bools (`bool_kernel.rs`)
//!   dtype ── classes ────────► Kernels::lookup    (`classes.rs`, `kernels.rs`)
//!
//! how it is called
//!   plan, operands ──────────► call               binds a kernel to memory (`call.rs`), described by a `KernelSpec`
//!   call ────────────────────► DenseCall          small and dense: one call of the kernel (`dense_call.rs`)
//!   call ────────────────────► SmallDomainTable   one or two bool tensors: results are looked up (`small_domain.rs`)
//!   call ────────────────────► RowsCall           rows that the kernel takes: one call (`rows_call.rs`)
//!   call ────────────────────► StagedCall         small: operands staged whole, one call (`staged_call.rs`)
//!   call ────────────────────► Driver             everything else (`driver.rs`)
//!   Driver ── for_each_slab ─► PlaneLoop          small planes together (`slabs.rs`); rows, tiles, staging
//!                                                 (`planes.rs`), transposes (`plane_squares.rs`)
//!   some elements of a call ─► elementwise        calls that are run block by block (`part.rs`)
//!                              Producer           elements that a reduction asks for (`producer.rs`)
//! ```
//!
//! Only the kernels are generic, over a formula and how it is tuned ([`Tuning`](crate::tuning::Tuning)). They are
//! compiled where the formula's `lookup` is: in the calling crate for [`Here`](monomorph_ops::pointwise::Here) and
//! [`Tuned`](crate::tuning::Tuned), in the crate that says [`prebuilt!`](crate::prebuilt) for [`Prebuilt`].

mod bool_kernel;
mod broadcast_operand;
mod call;
mod classes;
mod dense_call;
mod dense_loop;
mod driver;
mod element_loop;
mod kernel_fn;
mod kernel_spec;
mod kernels;
mod load_store;
mod lookup_kernel;
mod masked_block;
mod non_temporal;
mod operand_base;
mod operands;
mod part;
mod plane_squares;
mod planes;
mod producer;
mod row_layout;
mod rows_call;
mod slabs;
mod small_domain;
mod staged_call;

pub use call::Ready;
pub use classes::DomainKernels;
pub use kernel_fn::{KernelFn, Traversal};
pub use kernels::Kernels;
pub(crate) use operand_base::{MAX_OPERANDS, OperandBase};
pub(crate) use operands::{InputPointers, LoadOperands};
pub(crate) use producer::Producer;
pub use row_layout::RowLayout;
// What the expansion of `prebuilt!` names.
#[doc(hidden)]
pub use monomorph_core::DType;
#[doc(hidden)]
pub use monomorph_ops::pointwise::Prebuilt;
