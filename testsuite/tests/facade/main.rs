//! The facade against naive twins: every form of every operator of the table.

mod boxed;
mod pointwise;
