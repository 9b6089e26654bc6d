//! What each operator of monomorph *is*: schema, meta function and formula. Never names a device.
#![forbid(unsafe_code)]

pub mod algebra;
pub mod pointwise;
pub mod reduce;
pub mod upsample;
//mod table;
