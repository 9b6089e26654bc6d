//! One run on inputs of the command line.

use crate::{Result, compare, files, inputs, message};
use clap::ArgMatches;
use monomorph::Cpu;
use monomorph::program::{Program, Session, Value};
use std::path::PathBuf;

pub(crate) fn run(program: &Program, args: &ArgMatches, out: &mut String) -> Result<bool> {
    let (mut session, inputs) = prepare(program, args)?;
    let outputs = session.run(&inputs).map_err(message)?;
    let expected = args.get_one::<PathBuf>("compare");
    match args.get_one::<PathBuf>("output") {
        Some(path) => files::write(path, &outputs, out)?,
        None if expected.is_none() => print(&outputs, out),
        None => {}
    }
    let tolerance = |name| args.get_one::<f64>(name).copied().unwrap_or_default();
    match expected {
        Some(path) => compare::compare(path, &outputs, tolerance("rtol"), tolerance("atol"), out),
        None => Ok(true),
    }
}

/// A session with the threads and the inputs that the command line says.
pub(crate) fn prepare(program: &Program, args: &ArgMatches) -> Result<(Session, Vec<Value>)> {
    if let Some(threads) = args.get_one::<u64>("threads") {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(*threads as usize);
        pool.build_global().map_err(message)?;
    }
    let inputs = inputs::inputs(program, args)?;
    Ok((program.session().map_err(message)?, inputs))
}

fn print(outputs: &[Value], out: &mut String) {
    for (index, value) in outputs.iter().enumerate() {
        match value {
            Value::Tensor(tensor) => {
                say!(out, "out.{index}: {}{:?}", tensor.dtype(), tensor.sizes());
                tensor.downcast_ref::<Cpu>().iter().for_each(|tensor| say!(out, "{tensor}"));
            }
            other => say!(out, "out.{index}: {other:?}"),
        }
    }
}
