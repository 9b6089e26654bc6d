//! The CPU passes the tests that any device has to pass.

use monomorph::{Cpu, Dispatcher, Library, Result};
use monomorph_testsuite::device_tree::Subject;

/// The CPU, which is in the operator table.
struct InTree;

impl Subject for InTree {
    type Device = Cpu;
    const OPERATORS: &'static [&'static str] =
        &["add.Tensor", "add_.Tensor", "add.out", "sum.dim_IntList", "neg", "clone"];

    fn register(_: &Dispatcher) -> Result<Vec<Library>> {
        Ok(Vec::new())
    }
}

monomorph_testsuite::device_tests! { InTree }
