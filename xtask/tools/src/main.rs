//! The commands of `cargo xtask` that need the library; its help lists them. The commands are in the modules, and what
//! they check is in the crates.
#![forbid(unsafe_code)]

mod bench;
mod bloat;
mod checks;
mod conformance;
mod coverage;
mod cuda;
mod dispatch;
mod ops;
mod programs;
mod schemas;
mod selective;
mod support;
mod ulp;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    match run(&command, rest) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("xtask: {problem}");
            ExitCode::from(2)
        }
    }
}

fn run(command: &str, rest: Vec<String>) -> Result<bool, String> {
    match command {
        "conformance" => conformance::run(rest),
        conformance::WORKER => conformance::work(rest),
        "programs" => programs::run(rest),
        "bench" => bench::run(&rest),
        bench::PROGRAM_ENGINE => bench::serve_programs(),
        "bloat" => bloat::run(&rest),
        "ops" => ops::print(&rest),
        "dispatch" => dispatch::print(&rest),
        "new-op" => ops::new_op(&rest),
        "cuda" => cuda::run(&rest),
        "schemas" => schemas::run(&rest),
        "ulp" => ulp::run(&rest),
        "test-steps" | "ci-steps" | "tidy" | "selective" | "cuda-setup" | "cuda-bundle" => match rest.first() {
            Some(extra) => Err(format!("{command} takes no arguments, got {extra}")),
            None => match command {
                "test-steps" => Ok(checks::test()),
                "ci-steps" => Ok(checks::ci()),
                "tidy" => Ok(checks::tidy()),
                "selective" => Ok(selective::run()),
                "cuda-setup" => cuda::install(),
                _ => cuda::bundle(),
            },
        },
        other => Err(format!("unknown command {other}; cargo xtask help lists the commands")),
    }
}
