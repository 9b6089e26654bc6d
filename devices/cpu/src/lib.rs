//! How the operators of monomorph run on the CPU.

pub mod half_bits;
pub mod isa;
pub mod on;
