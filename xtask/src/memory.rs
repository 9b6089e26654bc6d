//! The commands that look for memory errors and crashes: fuzz, asan, valgrind. They take long, so `test` and `ci` leave them
//! out, but for the few iterations that the fuzz tests make by themselves.

use crate::checks::cargo;
use crate::steps::Steps;
use monomorph_testsuite::conformance::workspace_root;
use std::process::Command;

/// Packages whose tests run code that is unsafe.
const PACKAGES: [&str; 5] = ["monomorph-core", "monomorph-iter", "monomorph-cpu", "monomorph", "monomorph-testsuite"];

/// A fuzz run is cut into as many rounds, each with a seed of its own, so that it shows how far it is.
const ROUNDS: u64 = 20;

/// `cargo xtask fuzz [--iters N] [--seed N]`.
pub(crate) fn fuzz(args: &[String]) -> Result<bool, String> {
    let (iterations, seed) = fuzz_options(args)?;
    let each = iterations.div_ceil(ROUNDS);
    let mut steps = Steps::default();
    for round in 0..ROUNDS {
        for (what, package, test, name) in [
            ("iterations", "monomorph-iter", "it", "fuzz::walks_visit_what_an_index_loop_visits"),
            ("boxed calls", "monomorph-testsuite", "facade", "fuzz::random_boxed_calls_do_not_panic"),
        ] {
            let mut command =
                cargo(&["test", "--quiet", "--release", "-p", package, "--test", test, "--", "--exact", name]);
            command.env("MONOMORPH_FUZZ_ITERS", each.to_string());
            command.env("MONOMORPH_FUZZ_SEED", seed.wrapping_add(round).to_string());
            steps.command(&format!("{} of {} {what}", each * (round + 1), each * ROUNDS), command);
        }
    }
    Ok(steps.finish())
}

fn fuzz_options(args: &[String]) -> Result<(u64, u64), String> {
    let (mut iterations, mut seed) = (1_000_000, 1);
    let mut args = args.iter();
    while let Some(name) = args.next() {
        let to = match name.as_str() {
            "--iters" => &mut iterations,
            "--seed" => &mut seed,
            other => return Err(format!("fuzz takes --iters N and --seed N, got {other}")),
        };
        let value = args.next().ok_or_else(|| format!("{name} needs a value"))?;
        *to = value.parse().map_err(|_| format!("{name} is {value}; accepted is a number"))?;
    }
    if iterations == 0 {
        Err("--iters is 0; accepted is a number of at least 1".to_owned())
    } else {
        Ok((iterations, seed))
    }
}

/// The target that the compiler builds for by itself: a sanitizer wants it named.
fn host() -> Result<String, String> {
    let output = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| "rustc -vV names no host".to_owned())
}

/// `cargo xtask asan`: through rustup, because only its cargo understands another toolchain's name.
pub(crate) fn asan() -> Result<bool, String> {
    let target = host()?;
    let mut command = Command::new("rustup");
    command.args([
        "run",
        "nightly",
        "cargo",
        "test",
        "--no-fail-fast",
        "--lib",
        "--tests",
        "--target",
        &target,
        "--target-dir",
        "target/asan",
    ]);
    command.args(PACKAGES.iter().flat_map(|package| ["-p", package]));
    // The first two build programs beside the uninstrumented library; instrumented loops are not vectorised, which is what the
    // third looks for.
    command.args(["--", "--skip", "every_case_is_told", "--skip", "a_program_holds_no_kernel"]);
    command.args(["--skip", "frames_hold_vector_code"]);
    command.current_dir(workspace_root()).env_remove("RUSTUP_TOOLCHAIN");
    // Tests ask for blocks that cannot be had, and for the error that this must be.
    command.env("RUSTFLAGS", "-Zsanitizer=address").env("ASAN_OPTIONS", "allocator_may_return_null=1");
    let mut steps = Steps::default();
    steps.command("tests under AddressSanitizer", command);
    Ok(steps.finish())
}

/// `cargo xtask valgrind`: with AVX2, the most that valgrind knows.
pub(crate) fn valgrind() -> Result<bool, String> {
    let runner = format!("CARGO_TARGET_{}_RUNNER", host()?.to_uppercase().replace('-', "_"));
    let mut steps = Steps::default();
    for package in PACKAGES {
        let mut command = cargo(&["test", "--no-fail-fast", "--lib", "--tests", "-p", package]);
        // The first two run compilers and what these built, not this library. Valgrind emulates the fused f64 multiplication
        // and addition, and gives -0 * 1 + -0 the wrong sign: the C text calls the machine's own. It reports a program that
        // cannot be started as one that ended. The last only parses the whole recording, for an hour.
        command.args(["--", "--skip", "every_case_is_told", "--skip", "a_program_holds_no_kernel"]);
        command.args(["--skip", "c_text_of_every_formula_equals_its_operator"]);
        command.args(["--skip", "a_worker_that_cannot_be_started", "--skip", "recorded::every_overload_is_found"]);
        command.args(["--skip", "recorded::the_full_recording_is_read"]);
        command.env(&runner, "valgrind --quiet --error-exitcode=99 --num-callers=30");
        command.env("MONOMORPH_ISA", "avx2").env("MONOMORPH_FUZZ_ITERS", "300").env("PROPTEST_CASES", "8");
        steps.command(&format!("{package} under valgrind"), command);
    }
    Ok(steps.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fuzz_arguments() {
        let parse = |args: &[&str]| fuzz_options(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>());
        assert_eq!(parse(&[]), Ok((1_000_000, 1)));
        assert_eq!(parse(&["--seed", "7", "--iters", "50"]), Ok((50, 7)));
        for args in [&["--iters"][..], &["--iters", "0"], &["--iters", "x"], &["7"]] {
            assert!(parse(args).is_err(), "{args:?}");
        }
    }
}
