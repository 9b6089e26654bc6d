//! The facade against naive twins: every form of every operator of the table.

mod aliasing;
mod boxed;
mod c_text;
mod factories;
mod fused;
mod fuzz;
mod handles;
mod meta;
mod pointwise;
mod reductions;
mod registry;
mod values;
mod views;
