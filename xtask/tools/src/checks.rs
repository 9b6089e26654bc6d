//! Checks of the workspace that need the library: recorded calls, the house rules, and what `ci` asks of programs that
//! it builds.

use crate::{conformance, cuda, selective};
use monomorph_testsuite::conformance::{golden_cases, recorded_cases};
use monomorph_testsuite::tidy;
use std::path::Path;
use xtask::steps::{Outcome, Steps};
use xtask::workspace_root;

/// The steps of `cargo xtask test`.
pub(crate) fn test() -> bool {
    let mut steps = Steps::default();
    // A part of the workspace, which is never away.
    steps.step("golden cases", || replay(&golden_cases(), true));
    steps.step("recorded cases", || match recorded_cases() {
        Some(dir) => replay(&dir, false),
        None => Outcome::Skipped("none beside the workspace"),
    });
    steps.finish()
}

/// The steps of `cargo xtask ci`.
pub(crate) fn ci() -> bool {
    let mut steps = Steps::default();
    selective::steps(&mut steps);
    cuda::steps(&mut steps);
    steps.finish()
}

/// Replays the cases of a directory: few of them in this process, many in workers, where an abort ends one case only.
fn replay(dir: &Path, in_process: bool) -> Outcome {
    match conformance::replay(dir, in_process) {
        Ok(true) => Outcome::Passed,
        Ok(false) => Outcome::Failed,
        Err(problem) => {
            eprintln!("{problem}");
            Outcome::Failed
        }
    }
}

/// The house rules; prints every violation.
pub(crate) fn tidy() -> bool {
    match tidy::check(&workspace_root()) {
        Ok(violations) => {
            violations.iter().for_each(|violation| println!("{violation}"));
            println!("{} violations", violations.len());
            violations.is_empty()
        }
        Err(error) => {
            eprintln!("the workspace cannot be read: {error}");
            false
        }
    }
}
