//! The tests of TensorIter, in one binary.

mod fast;
mod foreign;
mod fuzz;
mod no_allocation;
mod readme;
mod recorded;
mod reduced;
mod stages;
mod support;
