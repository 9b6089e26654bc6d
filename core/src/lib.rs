//! What every room of monomorph shares: dtypes, scalars, geometry, storage, tensors, structured operators, schemas.
//! Knows no operator and runs no kernel.

mod dtype;
pub mod schema;

pub use dtype::{DType, Kind};
