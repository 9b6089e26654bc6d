//! Templates: what turns a formula, a fold or a scan into an operator in every form. Each is a `StructuredOp` with
//! one meta function.

pub mod pointwise;
pub mod reduce;
pub mod running;
pub mod scan;
pub mod upsample;
