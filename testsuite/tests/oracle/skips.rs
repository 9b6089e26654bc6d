//! A skipped test says so where it is seen, and fails where what it lacks is expected.

use monomorph_testsuite::missing::{EXPECTED, skip};
use std::process::Command;

/// Set in a process that runs the test below to be skipped.
const CHILD: &str = "MONOMORPH_TEST_SKIPS";

#[test]
fn a_skip_is_seen_and_fails_where_the_tool_is_expected() {
    if std::env::var_os(CHILD).is_some() {
        return skip("moon", "there is no moon");
    }
    let run = |expected: &str| {
        let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
        command.args(["--exact", "skips::a_skip_is_seen_and_fails_where_the_tool_is_expected"]);
        command.env(CHILD, "1").env(EXPECTED, expected);
        let output = command.output().expect("this program");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (passed, said) = run("sun,cc");
    let line = "skipped: skips::a_skip_is_seen_and_fails_where_the_tool_is_expected: there is no moon\n";
    assert!(passed && said.contains(line), "{said}");
    assert!(!run("sun,moon").0);
}
