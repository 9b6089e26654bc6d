//! The cases. Owns their shape and the few functions that most of them use; what is attacked is in the files, by group of causes.

use monomorph::{AnyTensor, Cpu, DType, Error, Geometry, Tensor};

/// An attack.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// What it attacks, in a line.
    pub(crate) attacks: &'static str,
    /// Ends well if the library held.
    pub(crate) run: fn() -> Result<(), String>,
}

/// All cases.
pub(crate) const CASES: &[&[Case]] = &[];
