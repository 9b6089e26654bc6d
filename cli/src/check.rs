//! A run whose every value is held against what the program records of it.

use crate::{Result, message, run};
use clap::ArgMatches;
use monomorph::program::Program;

pub(crate) fn check(program: &Program, args: &ArgMatches, out: &mut String) -> Result<bool> {
    let (mut session, inputs) = run::prepare(program, args)?;
    session.compare_values();
    session.run(&inputs).map_err(message)?;
    let (differences, compared) = session.differences();
    for difference in differences {
        say!(out, "{} of {}: {}", difference.value, difference.node, difference.what);
    }
    say!(out, "{compared} values compared with what the program records, {} differ", differences.len());
    // PyTorch chooses strides by what else is wanted while it exports, so these alone are no failure.
    Ok(differences.iter().all(|difference| difference.strides))
}
