//! TensorIter: how the elements of several strided operands are brought together. Owns broadcasting, type computation,
//! output strides, reordering, coalescing and the walk. Knows no operator, converts no element and holds no pointer.
//!
//! [`build`] plans an iteration for a structured operator and declares its outputs; [`build_over`] plans one over
//! operands that all exist. The result, a [`TensorIter`], is not generic over operator or dtype; only the loops given
//! to its walks are. `iter/README.md` follows one expression through every stage.

mod config;
mod counter;
mod fast;
mod finish;
pub mod foreign;
mod operand;
mod order;
mod ordered;
mod plan;
mod reduced;
mod share;
mod tensor_iter;
mod types;
mod walk;

pub use config::{Config, Flags, View};
pub use counter::DimCounter;
pub use fast::Uniform;
pub use plan::{MAX_ELEMENTS, build, build_in_stages, build_into, build_over, build_over_into};
pub use reduced::build_reduction;
#[cfg(loom)]
pub use share::share_among;
pub use share::{is_parallel, pieces, share};
pub use tensor_iter::{Narrowed, Offsets, TensorIter};
pub use walk::GRAIN;

/// Sizes or strides of one operand, inline up to 6 dimensions.
pub(crate) type DimVec = monomorph_core::strides::DimVec;
