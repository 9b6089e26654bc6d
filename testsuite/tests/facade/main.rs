//! The facade against naive twins: every form of every operator of the table.

mod aliasing;
mod boxed;
mod c_text;
mod complete;
mod derivatives;
mod factories;
mod fused;
mod fuzz;
mod handles;
mod meta;
mod pointwise;
mod powers;
mod reductions;
mod registry;
mod storages;
mod values;
mod views;
