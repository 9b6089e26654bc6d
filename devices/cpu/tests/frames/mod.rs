//! The machine code of the frames that a test binary has, as objdump lists it.

// The suite's own file: a dependency on the suite would be one on the library, which depends on this crate.
#[path = "../../../../testsuite/src/missing.rs"]
#[allow(unreachable_pub, reason = "public in the suite")]
mod missing;

use std::process::Command;

/// The frames of each x86-64 level, and the registers that they compute in.
pub(crate) const LEVELS: [(&str, &str); 2] = [("frame_avx2", "%ymm"), ("frame_avx512", "%zmm")];

/// The functions of the running test's binary. `None` where there is no objdump, which is said, or fails the test.
pub(crate) fn functions() -> Option<Vec<String>> {
    let binary = std::env::current_exe().unwrap();
    let Ok(output) = Command::new("objdump").args(["-d", "-C", "--no-show-raw-insn"]).arg(&binary).output() else {
        missing::skip("objdump", "this machine has no objdump");
        return None;
    };
    // The disassembler ends a function with an empty line.
    Some(String::from_utf8_lossy(&output.stdout).split("\n\n").map(str::to_owned).collect())
}

/// The functions that are frames of this name.
pub(crate) fn frames<'f>(functions: &'f [String], frame: &str) -> Vec<&'f str> {
    let is_frame = |body: &&str| body.lines().next().is_some_and(|label| label.contains(&format!("::{frame}")));
    functions.iter().map(String::as_str).filter(is_frame).collect()
}
