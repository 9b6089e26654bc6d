//! The commands that look for memory errors and crashes: fuzz, asan, valgrind. They take long, so `test` and `ci` leave
//! them out, but for the few iterations that the fuzz tests make by themselves.

use std::process::Command;
use xtask::steps::{Outcome, Steps};
use xtask::{cargo, tested, workspace_root};

/// Packages whose tests run code that is unsafe.
const PACKAGES: [&str; 5] = ["monomorph-core", "monomorph-iter", "monomorph-cpu", "monomorph", "monomorph-testsuite"];

/// Calls of each step of `ci`.
const CI_CALLS: u64 = 100_000;

/// A fuzz run of iterations is cut into as many rounds, each with a seed of its own, so that it shows how far it is.
const ROUNDS: u64 = 20;

/// How the calls of operators are built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Build {
    Release,
    /// With checks of arithmetic, and more time for each call.
    Debug,
    /// Debug, under AddressSanitizer.
    Sanitized,
}

/// What `cargo xtask fuzz` is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Fuzz {
    iterations: u64,
    seed: u64,
    operators_only: bool,
    build: Build,
}

/// `cargo xtask fuzz [--operators] [--iters N] [--seed N] [--debug] [--asan]`.
pub(crate) fn fuzz(args: &[String]) -> Result<bool, String> {
    let options = fuzz_options(args)?;
    let each = options.iterations.div_ceil(ROUNDS);
    let mut steps = Steps::default();
    for round in (0..ROUNDS).filter(|_| !options.operators_only) {
        let name = "fuzz::walks_visit_what_an_index_loop_visits";
        let mut command =
            cargo(&["test", "--quiet", "--release", "-p", "monomorph-iter", "--test", "it", "--", "--exact", name]);
        command.env("MONOMORPH_FUZZ_ITERS", each.to_string());
        command.env("MONOMORPH_FUZZ_SEED", options.seed.wrapping_add(round).to_string());
        steps.command(&format!("{} of {} iterations", each * (round + 1), each * ROUNDS), command);
    }
    let command = calls(options.build, options.iterations, options.seed)?;
    steps.command("calls of every operator", command);
    Ok(steps.finish())
}

/// The program that makes hostile calls of every operator, built like this.
fn calls(build: Build, calls: u64, seed: u64) -> Result<Command, String> {
    let test = ["--quiet", "--test", "hostile"];
    let alone = ["test", "-p", "monomorph-testsuite"];
    let mut command = match build {
        Build::Release => cargo(&[&alone[..], &test, &["--release"]].concat()),
        Build::Debug => tested("test", &test),
        Build::Sanitized => sanitized(&[&alone[..], &test].concat())?,
    };
    command.args(["--", "fuzz", "--calls", &calls.to_string(), "--seed", &seed.to_string()]);
    Ok(command)
}

/// The steps of `ci`: hostile calls with checks of arithmetic, and under AddressSanitizer.
pub(crate) fn hostile_steps(steps: &mut Steps) {
    for (name, build) in [("hostile calls", Build::Debug), ("hostile calls under AddressSanitizer", Build::Sanitized)] {
        // A machine that checks every change has to have it; elsewhere it is one step less.
        if build == Build::Sanitized && !has_nightly() && std::env::var_os("CI").is_none() {
            steps.step(name, || Outcome::Skipped("no nightly toolchain: rustup toolchain install nightly"));
            continue;
        }
        match calls(build, CI_CALLS, 1) {
            Ok(command) => steps.command(name, command),
            Err(problem) => steps.step(name, || {
                eprintln!("{problem}");
                Outcome::Failed
            }),
        }
    }
}

fn has_nightly() -> bool {
    Command::new("rustup").args(["run", "nightly", "rustc", "-V"]).output().is_ok_and(|output| output.status.success())
}

fn fuzz_options(args: &[String]) -> Result<Fuzz, String> {
    let mut options = Fuzz { iterations: 1_000_000, seed: 1, operators_only: false, build: Build::Release };
    let mut args = args.iter();
    while let Some(name) = args.next() {
        let mut number = || {
            let value = args.next().ok_or_else(|| format!("{name} needs a value"))?;
            value.parse::<u64>().map_err(|_| format!("{name} is {value}; accepted is a number"))
        };
        match name.as_str() {
            "--iters" => options.iterations = number()?,
            "--seed" => options.seed = number()?,
            "--operators" => options.operators_only = true,
            "--debug" => options.build = Build::Debug,
            "--asan" => options.build = Build::Sanitized,
            other => {
                return Err(format!("fuzz takes --operators, --iters N, --seed N, --debug and --asan, got {other}"));
            }
        }
    }
    if options.iterations == 0 {
        Err("--iters is 0; accepted is a number of at least 1".to_owned())
    } else {
        Ok(options)
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

/// Cargo with these arguments and AddressSanitizer: through rustup, because only its cargo understands another
/// toolchain's name.
fn sanitized(args: &[&str]) -> Result<Command, String> {
    let target = host()?;
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).args(args).args(["--target", &target, "--target-dir", "target/asan"]);
    command.current_dir(workspace_root()).env_remove("RUSTUP_TOOLCHAIN");
    command.env("RUSTFLAGS", "-Zsanitizer=address");
    // Tests ask for blocks that cannot be had, and for the error that this must be. Addresses cannot be limited: it
    // reserves terabytes.
    command.env("ASAN_OPTIONS", "allocator_may_return_null=1:max_allocation_size_mb=2048");
    command.env("MONOMORPH_HOSTILE_MEMORY", "0");
    let forgotten = workspace_root().join("testsuite/hostile/forgotten.supp");
    command.env("LSAN_OPTIONS", format!("print_suppressions=0:suppressions={}", forgotten.display()));
    Ok(command)
}

/// `cargo xtask asan`.
pub(crate) fn asan() -> Result<bool, String> {
    let mut command = sanitized(&["test", "--no-fail-fast", "--lib", "--tests"])?;
    command.args(PACKAGES.iter().flat_map(|package| ["-p", package]));
    // The first two build programs beside the uninstrumented library; instrumented loops are not vectorised, which is
    // what the third looks for.
    command.args(["--", "--skip", "every_case_is_told", "--skip", "a_program_holds_no_kernel"]);
    command.args(["--skip", "frames_hold_vector_code"]);
    // Instrumented frames are several times as large.
    command.args(["--skip", "nested_calls_fit_into_the_stack"]);
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
        // The first two run compilers and what these built, not this library. Valgrind emulates the fused f64
        // multiplication and addition, and gives -0 * 1 + -0 the wrong sign: the C text calls the machine's own. It
        // reports a program that cannot be started as one that ended. The last only parses the whole recording, for an
        // hour.
        command.args(["--", "--skip", "every_case_is_told", "--skip", "a_program_holds_no_kernel"]);
        command.args(["--skip", "c_text_of_every_formula_equals_its_operator"]);
        command.args(["--skip", "a_worker_that_cannot_be_started", "--skip", "recorded::every_overload_is_found"]);
        command.args(["--skip", "recorded::the_full_recording_is_read"]);
        // Parses megabytes within ten seconds.
        command.args(["--skip", "hostile::schemas_of_any_length"]);
        command.env(&runner, "valgrind --quiet --error-exitcode=99 --num-callers=30");
        command.env("MONOMORPH_ISA", "avx2").env("MONOMORPH_FUZZ_ITERS", "300").env("PROPTEST_CASES", "8");
        // It follows no process.
        command.env("MONOMORPH_FUZZ_IN_PROCESS", "1");
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
        let usual = Fuzz { iterations: 1_000_000, seed: 1, operators_only: false, build: Build::Release };
        assert_eq!(parse(&[]), Ok(usual));
        assert_eq!(parse(&["--seed", "7", "--iters", "50"]), Ok(Fuzz { iterations: 50, seed: 7, ..usual }));
        let sanitized = Fuzz { operators_only: true, build: Build::Sanitized, ..usual };
        assert_eq!(parse(&["--operators", "--asan"]), Ok(sanitized));
        assert_eq!(parse(&["--debug"]), Ok(Fuzz { build: Build::Debug, ..usual }));
        for args in [&["--iters"][..], &["--iters", "0"], &["--iters", "x"], &["7"], &["--seed", "--asan"]] {
            assert!(parse(args).is_err(), "{args:?}");
        }
    }
}
