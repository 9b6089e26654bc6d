//! CUDA passes the tests that any device has to pass, and those of streams, errors and giving back, on a stand-in for
//! the driver that looks at every call. Where there is no C++ compiler nothing is tested, and that is said.
//!
//! The tests take turns, since they ask the stand-in what is left.

mod calls;
mod faults;
mod processes;
mod reductions;
mod scenario;
mod tests;

use monomorph::{Dispatcher, Library, Result, register, selection};
use monomorph_cuda::{Cuda, live_blocks, release};
use monomorph_testsuite::conformance::workspace_root;
use monomorph_testsuite::cuda::fake::StandIn;
use monomorph_testsuite::device_tree::{Subject, alone, every_check};
use monomorph_testsuite::missing::skip;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

/// Both devices of the stand-in.
struct Gpus;

/// A sample of operators: of every kind of operands, and with every way of the kernels.
const OPERATORS: [&str; 18] = [
    "add.Tensor",
    "mul.Tensor",
    "div.Tensor",
    "floor_divide",
    "neg",
    "abs",
    "exp",
    "lt.Tensor",
    "where.self",
    "sum",
    "sum.dim_IntList",
    "mean.dim",
    "amax",
    "amin",
    "any.dim",
    "argmax",
    "aminmax",
    "upsample_nearest1d",
];

impl Subject for Gpus {
    type Device = Cuda;
    const DEVICES: u8 = 2;
    const OPERATORS: &'static [&'static str] = &OPERATORS;

    fn register(dispatcher: &Dispatcher) -> Result<Vec<Library>> {
        let mut library = dispatcher.library("cuda");
        library.backend::<Cuda>("Cuda")?;
        selection::register_memory::<Cuda>(&mut library)?;
        register!(
            &mut library,
            Cuda => "add.Tensor", "mul.Tensor", "div.Tensor", "floor_divide", "neg", "abs", "exp", "lt.Tensor",
            "where.self", "sum", "sum.dim_IntList", "mean", "mean.dim", "amax", "amin", "any", "any.dim", "any.dims",
            "argmax", "aminmax", "upsample_nearest1d", "upsample_nearest1d.vec"
        )?;
        Ok(vec![library])
    }

    fn live_blocks() -> Option<usize> {
        Some(live_blocks(0).0 + live_blocks(1).0)
    }
}

/// Gives both devices back, so many times, and says how often that failed.
fn release_all(times: usize) -> usize {
    (0..times).flat_map(|_| [0, 1]).filter(|&index| release(index).is_err()).count()
}

/// Gives both devices back and says what was done wrong since, or is left.
fn settled(stand_in: &StandIn) -> std::result::Result<(), String> {
    for index in 0..2 {
        release(index).map_err(|error| error.to_string())?;
    }
    let report = stand_in.tell("report");
    stand_in.tell("reset");
    if report.is_empty() { Ok(()) } else { Err(report) }
}

type Outcome = std::result::Result<(), String>;

/// One test, and whether it passed.
fn run(name: &str, stand_in: &StandIn, test: impl FnOnce() -> Outcome) -> bool {
    let start = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(test)).unwrap_or_else(|_| Err("it panicked".to_owned()));
    let outcome = outcome.and_then(|()| settled(stand_in));
    let word = if outcome.is_ok() { "ok" } else { "FAILED" };
    println!("test {name} ... {word} ({:.1} s)", start.elapsed().as_secs_f64());
    if let Err(why) = &outcome {
        println!("{why}");
    }
    outcome.is_ok()
}

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
    if std::env::args().any(|arg| arg == "--list") {
        return ExitCode::SUCCESS;
    }
    if std::env::var_os("MONOMORPH_ISA").is_some() {
        println!("kernels of CUDA do not depend on the instruction set of the host: they are not tested again");
        return ExitCode::SUCCESS;
    }
    if let Some(code) = processes::started() {
        return code;
    }
    let stand_in = match StandIn::start(&workspace_root().join("target/cuda/stand_in")) {
        Ok(Some(stand_in)) => stand_in,
        Ok(None) if cfg!(target_os = "linux") => {
            skip("g++", "g++ is not found, so there is no stand-in for CUDA's driver");
            return ExitCode::SUCCESS;
        }
        Ok(None) => {
            eprintln!("skipped: the stand-in for CUDA's driver takes Linux");
            return ExitCode::SUCCESS;
        }
        Err(problem) => {
            println!("{problem}");
            return ExitCode::FAILURE;
        }
    };
    let mut passed = run("kernels_compile", &stand_in, tests::kernels_compile);
    for (name, check) in every_check::<Gpus>() {
        if is_wanted(name) {
            passed &= run(name, &stand_in, || alone(check).map_err(|failure| failure.to_string()));
        }
    }
    for (name, test) in tests::ALL {
        if is_wanted(name) {
            passed &= run(name, &stand_in, || test(&stand_in));
        }
    }
    if is_wanted("faults") {
        passed &= run("faults_of_the_caller_are_found", &stand_in, || faults::all_are_found(&stand_in));
    }
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
