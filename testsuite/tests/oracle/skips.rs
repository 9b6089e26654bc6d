//! A skipped test says so where it is seen, and fails where nothing may be skipped.

use monomorph_testsuite::missing::skip;
use std::process::Command;

/// Set in a process that runs the test below to be skipped.
const CHILD: &str = "MONOMORPH_TEST_SKIPS";

#[test]
fn a_skip_is_seen_and_fails_where_ci_is_set() {
    if std::env::var_os(CHILD).is_some() {
        return skip("there is no moon");
    }
    let run = |ci: bool| {
        let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
        command.args(["--exact", "skips::a_skip_is_seen_and_fails_where_ci_is_set"]).env(CHILD, "1").env_remove("CI");
        if ci {
            command.env("CI", "true");
        }
        let output = command.output().expect("this program");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (passed, said) = run(false);
    let line = "skipped: skips::a_skip_is_seen_and_fails_where_ci_is_set: there is no moon\n";
    assert!(passed && said.contains(line), "{said}");
    assert!(!run(true).0);
}
