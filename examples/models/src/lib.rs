//! What the examples share: a model in a file, and its calls in Rust's types.
#![forbid(unsafe_code)]

pub mod picture;
pub mod search;
pub mod speech;

/// Any error, to be printed.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
