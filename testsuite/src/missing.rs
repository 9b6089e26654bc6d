//! What a test does on a machine that lacks a tool or data that it needs: it says that it is skipped, so that nobody
//! takes it for passed, and it fails where the tool is expected.

use std::io::Write as _;

/// The environment variable that names what has to be there, by commas: `cc`, `g++`, `objdump`, `recording`. `.ci/run`
/// sets it to what it finds on the machine.
pub const EXPECTED: &str = "MONOMORPH_EXPECTED";

/// Says on standard error that the running test is skipped for want of `tool`, and why. The test harness hides what a
/// passing test prints, but not what is written to the stream itself.
///
/// # Panics
/// If the environment variable [`EXPECTED`] names the tool.
pub fn skip(tool: &str, why: &str) {
    let expected = std::env::var(EXPECTED).unwrap_or_default();
    assert!(!expected.split(',').any(|name| name == tool), "{why}; {EXPECTED} says that there is {tool}");
    let thread = std::thread::current();
    // A stream that takes no line is no reason to fail.
    let _ = writeln!(std::io::stderr(), "skipped: {}: {why}", thread.name().unwrap_or("a test"));
}
