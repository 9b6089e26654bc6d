//! Special functions of mathematics, elementwise.

pub mod airy;
pub mod bessel;
pub mod gamma;
pub mod incomplete_gamma;
pub mod modified_bessel;
pub mod normal;
pub mod orthogonal;
