//! The facade against naive twins: every form of every operator of the table.

mod boxed;
mod c_text;
mod factories;
mod fuzz;
mod meta;
mod pointwise;
mod registry;
mod values;
mod views;
