//! What a test does on a machine that lacks a tool or data that it needs: it says that it is skipped, so that nobody
//! takes it for passed, and it fails where everything has to be there.

use std::io::Write as _;

/// Says on standard error that the running test is skipped, and why. The test harness hides what a passing test prints,
/// but not what is written to the stream itself.
///
/// # Panics
/// If the environment variable `CI` is set: a machine that judges changes has all that tests need.
pub fn skip(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "{why}; where CI is set, no test is skipped for that");
    let thread = std::thread::current();
    // A stream that takes no line is no reason to fail.
    let _ = writeln!(std::io::stderr(), "skipped: {}: {why}", thread.name().unwrap_or("a test"));
}
