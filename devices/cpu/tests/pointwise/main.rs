//! Pointwise operators on the CPU, through formulas that only exist here: every form, layout and dtype, against a naive
//! twin. Owns no operator of the library.

mod forms;
mod formulas;
mod kernels;
mod random;
mod repeat;
mod rows;
