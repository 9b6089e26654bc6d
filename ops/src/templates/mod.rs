//! Templates: what turns a formula, a fold or a scan into an operator in every form. Each is a `StructuredOp` with
//! one meta function.

pub mod attention;
pub mod bins;
pub mod columns;
pub mod contract;
pub mod conv;
#[cfg(feature = "fft")]
pub mod fourier;
pub mod grid;
pub mod grid_gradient;
pub mod group;
pub mod index;
#[cfg(feature = "linalg")]
pub mod linalg;
pub mod order;
pub mod pad_gradient;
pub mod pointwise;
pub mod pooling;
pub mod quantile;
#[cfg(feature = "random")]
pub mod random;
pub mod reduce;
pub mod resample;
pub mod rows;
pub mod running;
pub mod scan;
pub mod search;
pub mod upsample;
