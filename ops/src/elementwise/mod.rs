//! Elementwise operators, a family a file: the formulas, and under them their declarations.

pub mod activation;
pub mod arithmetic;
pub mod bitwise;
pub mod blend;
pub mod clamp;
pub mod classification;
pub mod comparison;
pub mod cross;
pub mod difference_losses;
pub mod exponential;
pub mod extrema;
pub mod float_power;
pub mod glu;
pub mod hyperbolic;
pub mod logarithmic;
pub mod logic;
pub mod logistic;
pub mod neighbours;
pub mod piecewise;
pub mod polar;
pub mod power;
pub mod remainder;
pub mod rounding;
pub mod selection;
pub mod sign;
pub mod trigonometric;
