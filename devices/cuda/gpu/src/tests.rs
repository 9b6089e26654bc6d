//! The tests of every device, on the GPU. Owns the device as their subject; what is asked is the test suite's.

use monomorph::{Dispatcher, Library, Result, cuda};
use monomorph_cuda::{Cuda, live_blocks};
use monomorph_testsuite::device_tree::{Subject, alone, every_check};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// The first GPU, with every operator.
pub(crate) struct Gpu;

/// Operators of every kind, each of which has to agree with a recorded call.
const OPERATORS: [&str; 10] = [
    "add.Tensor",
    "mul.Tensor",
    "div.Tensor",
    "exp",
    "lt.Tensor",
    "where.self",
    "sum.dim_IntList",
    "amax",
    "argmax",
    "upsample_nearest1d",
];

impl Subject for Gpu {
    type Device = Cuda;
    const OPERATORS: &'static [&'static str] = &OPERATORS;

    fn register(dispatcher: &Dispatcher) -> Result<Vec<Library>> {
        Ok(vec![cuda::register(dispatcher)?])
    }

    fn live_blocks() -> Option<usize> {
        Some(live_blocks(0).0)
    }
}

/// Runs the tests whose names have one of these parts, or all, and says of each how it went, and in the end how many
/// failed.
pub(crate) fn run(wanted: &[String]) -> usize {
    let mut failed = 0;
    for (name, check) in every_check::<Gpu>() {
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| alone(check).map_err(|failure| failure.to_string())));
        let outcome = outcome.unwrap_or_else(|_| Err("it panicked".to_owned()));
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!("test {name} ... {word} ({:.1} s)", start.elapsed().as_secs_f64());
        if let Err(why) = outcome {
            println!("  {why}");
            failed += 1;
        }
    }
    failed
}
