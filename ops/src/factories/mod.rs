//! Operators that make tensors, and those that fill them.

pub mod arange;
pub mod factory;
pub mod fill;
pub mod frequencies;
pub(crate) mod generate;
pub mod matrix_factories;
pub mod new_factories;
pub mod spaced;
pub mod windows;
