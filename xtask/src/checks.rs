//! The commands that check the workspace as a whole: test, ci, msrv.

use crate::{built_tools, elsewhere, memory};
use std::process::Command;
use xtask::steps::{Outcome, Steps};
use xtask::{cargo, tested, workspace_root};

/// Folder of the CPU's tests; their answers depend on the instruction set.
const CPU_TESTS: &str = "devices/cpu/tests";
/// Those of the test suite whose answers do: they compare numbers.
const NUMERIC_TESTS: [&str; 3] = ["draws", "facade", "oracle"];

/// Packages with models that loom checks, borrow states and shared work, as their tests `loom`: folder and name.
const LOOM: [(&str, &str); 2] = [("core", "monomorph-core"), ("iter", "monomorph-iter")];

/// All tests.
pub(crate) fn test() -> bool {
    let mut steps = Steps::default();
    test_steps(&mut steps);
    steps.finish()
}

/// Everything that must hold before a change is taken.
pub(crate) fn ci() -> bool {
    let mut steps = Steps::default();
    steps.command("formatting", cargo(&["fmt", "--all", "--check"]));
    steps.command("lints", cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]));
    // What default features add is absent without them, and nothing else is. Nor are there the records of formulas,
    // which the workspace has because the test suite asks for them.
    let bare = ["-p", "monomorph", "--no-default-features"];
    steps.command(
        "lints without features",
        cargo(&[&["clippy"], &bare[..], &["--all-targets", "--", "-D", "warnings"]].concat()),
    );
    steps.command(
        "tests without features",
        cargo(&[&["test"], &bare[..], &["--test", "features", "--test", "programs", "--test", "errors"]].concat()),
    );
    // Each without the others; those of a pair do not ask for each other in any place.
    for features in ["complex,random", "fft,halves,linalg,special"] {
        let check = ["check", "-p", "monomorph", "--lib", "--no-default-features", "--features", features];
        steps.command(&format!("features {features} alone"), cargo(&check));
    }
    let mut doc = cargo(&["doc", "--workspace", "--no-deps"]);
    doc.env("RUSTDOCFLAGS", "-Dwarnings");
    steps.command("documentation", doc);
    test_steps(&mut steps);
    memory::hostile_steps(&mut steps);
    elsewhere::steps(&mut steps);
    steps.command("selection and CUDA", built_tools("ci-steps"));
    steps.finish()
}

fn test_steps(steps: &mut Steps) {
    // With every feature of the facade: the test suite asks for them.
    steps.command("tests", tested("test", &["--no-fail-fast"]));
    test_at_each_isa(steps);
    if LOOM.iter().all(|(folder, _)| workspace_root().join(folder).join("tests/loom.rs").is_file()) {
        let packages = LOOM.map(|(_, package)| ["-p", package]).concat();
        let mut loom = cargo(&["test", "--release", "--test", "loom*", "--target-dir", "target/loom"]);
        let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
        loom.args(packages).env("RUSTFLAGS", format!("{flags} --cfg loom"));
        steps.command("models (loom)", loom);
    } else {
        steps.step("models (loom)", || missing("no tests/loom.rs"));
    }
    steps.command("monomorph-tools", tested("build", &["--quiet", "--tests", "--bin", "monomorph-tools"]));
    steps.command("recorded cases", built_tools("test-steps"));
}

/// A step that lacks what belongs to the workspace is skipped, or fails where the environment variable `CI` is set.
fn missing(what: &'static str) -> Outcome {
    if std::env::var_os("CI").is_none() {
        return Outcome::Skipped(what);
    }
    eprintln!("{what}; where CI is set, no step is skipped for that");
    Outcome::Failed
}

/// Repeats the tests that depend on it at every instruction set below the one that the first run used, the best. Left
/// out is SSE2, whose code is that of the portable level.
fn test_at_each_isa(steps: &mut Steps) {
    let files = std::fs::read_dir(workspace_root().join(CPU_TESTS)).expect("the CPU has tests").flatten();
    // What tests share is in folders.
    let paths = files.map(|file| file.path()).filter(|path| path.is_file());
    let cpu_tests: Vec<String> = paths.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    let levels = isa_levels();
    for level in levels[..levels.len() - 1].iter().filter(|level| **level != "sse2") {
        let mut command = tested("test", &["--no-fail-fast", "--lib"]);
        for name in cpu_tests.iter().map(String::as_str).chain(NUMERIC_TESTS) {
            command.args(["--test", name]);
        }
        command.env("MONOMORPH_ISA", level);
        steps.command(&format!("tests of numbers at {level}"), command);
    }
}

/// The levels that this machine has, in ascending order; never empty.
fn isa_levels() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        let avx2 =
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
        let avx512 = avx2
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        let all = [("portable", true), ("sse2", true), ("avx2", avx2), ("avx512", avx512)];
        all.into_iter().filter_map(|(level, there)| there.then_some(level)).collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        vec!["portable"]
    }
}

/// Checks the workspace with the Rust version that its manifest states.
pub(crate) fn msrv() -> Result<bool, String> {
    let manifest = std::fs::read_to_string(workspace_root().join("Cargo.toml")).map_err(|error| error.to_string())?;
    let stated = stated_version(&manifest).ok_or("Cargo.toml states no rust-version")?;
    let running = Command::new("rustc").arg("--version").output().map_err(|error| format!("rustc: {error}"))?;
    let running = String::from_utf8_lossy(&running.stdout).into_owned();
    let check = ["check", "--workspace", "--exclude", "monomorph-benches", "--all-targets"];
    let mut command = if is_version(&running, stated) {
        cargo(&check)
    } else {
        // Through rustup, because only its cargo understands another toolchain's name.
        let mut command = Command::new("rustup");
        command.args(["run", stated, "cargo"]).args(check).args(["--target-dir", "target/msrv"]);
        command.current_dir(workspace_root());
        command
    };
    let mut steps = Steps::default();
    command.env_remove("RUSTUP_TOOLCHAIN");
    steps.command(&format!("check with Rust {stated}"), command);
    Ok(steps.finish())
}

/// The version after `rust-version =`.
fn stated_version(manifest: &str) -> Option<&str> {
    let line = manifest.lines().find_map(|line| line.trim().strip_prefix("rust-version"))?;
    Some(line.trim_start().strip_prefix('=')?.trim().trim_matches('"')).filter(|version| !version.is_empty())
}

/// Whether `rustc --version` printed this version or a patch release of it.
fn is_version(printed: &str, stated: &str) -> bool {
    let version = printed.split_whitespace().nth(1).unwrap_or_default();
    version.strip_prefix(stated).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_start_with_portable() {
        assert_eq!(isa_levels().first(), Some(&"portable"));
    }

    #[test]
    fn the_version_is_read_and_compared() {
        assert_eq!(stated_version("[a]\nrust-version = \"1.95\"\n"), Some("1.95"));
        assert_eq!(stated_version("[a]\n"), None);
        assert!(is_version("rustc 1.95.0 (0 2026-01-01)", "1.95") && is_version("rustc 1.95.0", "1.95.0"));
        assert!(!is_version("rustc 1.950.0", "1.95") && !is_version("", "1.95") && !is_version("rustc 1.96.0", "1.95"));
    }
}
