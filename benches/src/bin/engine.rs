//! This library as an engine of `cargo xtask bench`: answers requests for timings on its standard input.
#![forbid(unsafe_code)]

use monomorph_benches::{calls, serve};
use std::process::ExitCode;

fn main() -> ExitCode {
    let served = calls::describe().and_then(|name| {
        let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
        serve::serve(&name, |words| calls::prepare(&serve::Work::parse(words)?), input, output)
            .map_err(|error| error.to_string())
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("engine: {problem}");
            ExitCode::FAILURE
        }
    }
}
