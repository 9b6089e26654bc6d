//! Reductions, a fold a file.

pub mod all;
pub mod amax;
pub mod amin;
pub mod aminmax;
pub mod any;
pub mod argmax;
pub mod argmin;
pub mod log_sum_exp;
pub mod max;
pub mod mean;
pub mod min;
pub mod nansum;
pub mod norm;
pub mod prod;
pub mod sum;
pub mod trace;
pub mod variance;
pub mod vector_norm;
