//! The facade against naive twins: every form of every operator of the table.

mod aliasing;
mod boxed;
mod c_text;
mod factories;
mod fused;
mod fuzz;
mod meta;
mod pointwise;
mod powers;
mod reductions;
mod registry;
mod values;
mod views;
