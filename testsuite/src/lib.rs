//! Naive references, property tests and the conformance oracle of monomorph. Owns every judgement of the library's
//! answers; holds no operator and no kernel.
#![forbid(unsafe_code)]

pub mod c_text;
pub mod conformance;
pub mod cuda;
pub mod device_tree;
pub mod formulas;
pub mod hostile;
pub mod layout;
pub mod missing;
pub mod naive;
pub mod programs;
pub mod rustc;
pub mod tidy;
pub mod ulp;
