//! The command `monomorph`: looks at programs that `torch.export` wrote, runs them on arrays in files, times and checks
//! them. Owns the command line and what it prints; what is read, run and judged is the library's.
#![forbid(unsafe_code)]

/// Adds a line to what is printed in the end.
macro_rules! say {
    ($out:expr, $($text:tt)*) => {{
        $out.push_str(&format!($($text)*));
        $out.push('\n');
    }};
}

mod bench;
mod check;
mod command;
mod compare;
mod files;
mod inputs;
mod inspect;
mod plan;
mod profile;
mod run;

use clap::ArgMatches;
use monomorph::program::Program;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// What came of a command: an error is the message for whoever called it.
type Result<T> = std::result::Result<T, String>;

/// An error as its message.
fn message(error: impl ToString) -> String {
    error.to_string()
}

/// 0 if all is well, 1 if something differs from what is expected, 2 if there is nothing to run or compare.
fn main() -> ExitCode {
    let matches = command::command().get_matches();
    let mut out = String::new();
    let outcome = dispatch(&matches, &mut out);
    // Whoever reads it may have enough before the end.
    let _ = std::io::stdout().write_all(out.as_bytes());
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("monomorph: {problem}");
            ExitCode::from(2)
        }
    }
}

fn dispatch(matches: &ArgMatches, out: &mut String) -> Result<bool> {
    let Some((name, args)) = matches.subcommand() else { return Err("no command".to_owned()) };
    let path = args.get_one::<PathBuf>("program").ok_or("no program")?;
    let program = Program::load(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let program = match name {
        "run" | "bench" | "inspect" if args.get_flag("relaxed") => program.relaxed().map_err(message)?,
        _ => program,
    };
    match name {
        "inspect" => inspect::inspect(&program, args, out),
        "run" => run::run(&program, args, out),
        "bench" => bench::bench(&program, args, out),
        _ => check::check(&program, args, out),
    }
}
