//! Drives every check of the workspace: `cargo xtask help` lists the commands. Owns the command line and the checks
//! that run other programs, and builds in a second; what needs the library is in the package `monomorph-tools`.
#![forbid(unsafe_code)]

mod checks;
mod elsewhere;
mod memory;

use std::process::{Command, ExitCode};
use xtask::{cargo, workspace_root};

const HELP: &str = "\
cargo xtask COMMAND

  test          all tests, at each instruction set of this machine, loom, tidy, recorded cases
  ci            test, formatting, lints, documentation, hostile calls, selection, CUDA
  conformance   replay recorded cases and compare
      --cases DIR        directory of <base>.json, <base>.safetensors (default: the golden subset)
      --op NAME          only this file (add), operator (add_) or overload (add.out); repeatable
      --tag TAG          only cases with this tag; repeatable, all must be there
      --json FILE        write the report as JSON
      --list-failures    print every difference
      --jobs N           worker processes (default: one per core)
      --limit SECONDS    time that one case may take (default: 60)
      --in-process       no worker processes: an abort ends the run, a debugger can follow it
  programs      run exported programs (.pt2) and compare with what PyTorch computed
      --cases DIR        directory of NAME.pt2, NAME.json, NAME.safetensors (default: the golden ones)
      --name NAME        only this program; repeatable
      --list-failures    print every difference
      --show             instead: print the programs
  bench         this library and another one, timed in turn: cell, ours, theirs, ratio, bar
      --device cuda      on the GPU, against PyTorch there; every cell, and what of a copy's bandwidth is reached
      --vs RIVAL         torch (default; MONOMORPH_PYTHON or python3 must find it), candle or ndarray
      --filter PART      only cells with this in group/op/dtype/layout/size/form; repeatable
      --json FILE        write the run as JSON after each cell
      --resume           go on with the run in that file
      --isa LEVEL        hold both sides to avx2 or avx512
      --threads N        for every cell, in place of its own number
      --pin CORE         bind engines of one thread to this core
      --check            fail where a ratio is more than 10 % below the stored one
      --baseline FILE    stored runs to check against (default: benches/history)
      --record           append the run to the history
      --plot FILE        draw the history as SVG; nothing is timed
      --build            build both engines; nothing is timed
      --programs         instead: exported programs, against PyTorch's runs of them; takes --cases DIR (default: the
                         golden ones), --rival eager|compile|onnxruntime (default: eager; repeatable), --relaxed for
                         our relaxed forms, and --filter, --isa, --threads, --pin
  bloat         bytes and functions of each operator, form and crate
      --json             as JSON
      --timings          a clean release build, and one behind a changed formula (iterate)
      --record           append the totals to the history
  ops           the operator table: rows, forms, schemas, devices
      --json             as JSON
      --coverage FILE    instead: how much of that native_functions.yaml the table has, and what is missing
      --support          instead: the page docs/operators.md
  dispatch NAME which kernel serves which key, and why
      --with KEY,KEY     as if there were kernels for just these; a new name is a device of another crate
  selective     what is in a program that registers three operators: kernels, what runs before main, its size
  new-op NAME   print the lines that a new pointwise operator takes
  schemas       the committed list of schemas against an installed PyTorch (MONOMORPH_PYTHON), and against the parser
  ulp           how far elementary functions are from the exact value, in units in the last place
      --op NAME          only this function; repeatable
      --exhaustive       every float32, and millions of float64 (minutes each)
  fuzz          random iterations, and hostile calls of every operator, in processes of their own
      --operators        the calls only
      --debug, --asan    the calls with checks of arithmetic, or under AddressSanitizer (needs a nightly toolchain)
      --iters N          of each (default: 1000000)
      --seed N           which (default: 1)
  asan          the tests under AddressSanitizer (needs a nightly toolchain)
  valgrind      the tests of core, iteration and CPU under valgrind
  cuda-setup    install NVIDIA's run-time compiler below .cuda (needs Python with pip, but no GPU)
  cuda          the kernels of the formulas as CUDA C++: a sample, and what changed, for at most a minute
      --all              the whole table; goes on where a run ended, and then notes it in devices/cuda/checked.txt
      --formula NAME     only the kernels of this formula (AddFn); repeatable
      --only CHECK       compiles (for sm_90) or computes (on the host, with g++)
      --faults           instead: plant faults into the kernels, each of which has to be found
      --again            also what has passed on this machine
  cuda-bundle   target/cuda/monomorph-gpu: a program with kernels for sm_90 that runs tests and figures on a GPU
  tidy          the house rules
  msrv          check that the stated minimum Rust version builds the workspace
  help          this text
";

/// The commands of `monomorph-tools`.
const TOOLS: [&str; 14] = [
    "conformance",
    "programs",
    "bench",
    "bloat",
    "ops",
    "dispatch",
    "new-op",
    "cuda",
    "cuda-setup",
    "cuda-bundle",
    "schemas",
    "selective",
    "ulp",
    "tidy",
];

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next();
    let rest: Vec<String> = args.collect();
    let outcome = match command.as_deref() {
        Some(command) if TOOLS.contains(&command) => tool(command, &rest),
        Some("fuzz") => memory::fuzz(&rest),
        Some("help" | "--help" | "-h") | None => {
            print!("{HELP}");
            Ok(true)
        }
        Some(command @ ("test" | "ci" | "msrv" | "asan" | "valgrind")) => match rest.first() {
            Some(extra) => Err(format!("{command} takes no arguments, got {extra}")),
            None => match command {
                "test" => Ok(checks::test()),
                "ci" => Ok(checks::ci()),
                "asan" => memory::asan(),
                "valgrind" => memory::valgrind(),
                _ => checks::msrv(),
            },
        },
        Some(other) => Err(format!("unknown command {other}; cargo xtask help lists the commands")),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("xtask: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Runs a command that needs the library, optimised.
fn tool(name: &str, args: &[String]) -> Result<bool, String> {
    let mut command = cargo(&["run", "--quiet", "--package", "monomorph-tools", "--release", "--", name]);
    let status = command.args(args).status().map_err(|error| format!("cargo: {error}"))?;
    match status.code() {
        // It has said what is wrong with its arguments.
        Some(code @ 2..) => std::process::exit(code),
        _ => Ok(status.success()),
    }
}

/// A command of `monomorph-tools`, which lies where this program does once all programs of the workspace are built.
fn built_tools(name: &str) -> Command {
    let here = std::env::current_exe().unwrap_or_default();
    let mut command = Command::new(here.with_file_name(format!("monomorph-tools{}", std::env::consts::EXE_SUFFIX)));
    command.arg(name).current_dir(workspace_root());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_the_help() {
        for name in TOOLS {
            assert!(HELP.contains(&format!("\n  {name} ")), "{name}");
        }
    }
}
