//! Reductions, a fold a file.

pub mod amax;
pub mod amin;
pub mod aminmax;
pub mod any;
pub mod argmax;
pub mod mean;
pub mod sum;
