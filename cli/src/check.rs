//! A run whose every value is held against what the program records of it, and runs by a plan against operators in
//! turn.

use crate::{Result, message, run};
use clap::ArgMatches;
use monomorph::prelude::*;
use monomorph::program::{Program, Value};
use monomorph::{AnyTensor, Cpu, Generator};

/// Runs by which a plan is made, and used.
const RUNS: usize = 3;

pub(crate) fn check(program: &Program, args: &ArgMatches, out: &mut String) -> Result<bool> {
    let (mut session, inputs) = run::prepare(program, args)?;
    session.compare_values();
    session.run(&copies(&inputs)?).map_err(message)?;
    let (differences, compared) = session.differences();
    for difference in differences {
        say!(out, "{} of {}: {}", difference.value, difference.node, difference.what);
    }
    say!(out, "{compared} values compared with what the program records, {} differ", differences.len());
    let is_same = by_plan(program, &inputs)?;
    say!(
        out,
        "{RUNS} runs by a plan give {} operators in turn give",
        if is_same { "the bits that" } else { "others than" }
    );
    // PyTorch chooses strides by what else is wanted while it exports, so these alone are no failure.
    Ok(is_same && differences.iter().all(|difference| difference.strides))
}

/// Whether runs by a plan give the same outputs, bit for bit, as operators in turn.
fn by_plan(program: &Program, inputs: &[Value]) -> Result<bool> {
    let (mut planned, mut in_turn) = (program.session().map_err(message)?, program.session().map_err(message)?);
    in_turn.run_in_turn();
    let mut is_same = true;
    for _ in 0..RUNS {
        let mut outputs = Vec::new();
        for session in [&mut planned, &mut in_turn] {
            Generator::shared().manual_seed(0);
            outputs.push(session.run(&copies(inputs)?).map_err(message)?);
        }
        is_same &= outputs[0].iter().zip(&outputs[1]).all(|(one, other)| same(one, other));
    }
    Ok(is_same)
}

fn same(one: &Value, other: &Value) -> bool {
    let (Some(one), Some(other)) = (one.as_tensor(), other.as_tensor()) else {
        return format!("{one:?}") == format!("{other:?}");
    };
    let bytes = |tensor: &AnyTensor| {
        let tensor = tensor.downcast_ref::<Cpu>()?.resolve_conj().ok()?.resolve_neg().ok()?.deep_clone().ok()?;
        Some(tensor.contiguous().ok()?.as_bytes().ok()?.to_vec())
    };
    one.dtype() == other.dtype()
        && one.sizes() == other.sizes()
        && one.strides() == other.strides()
        && bytes(one) == bytes(other)
}

/// Inputs of a run's own, which it may write.
fn copies(inputs: &[Value]) -> Result<Vec<Value>> {
    let copy = |value: &Value| match value.as_tensor().and_then(|tensor| tensor.downcast_ref::<Cpu>()) {
        Some(tensor) => tensor.deep_clone().map(Value::from).map_err(message),
        None => Ok(value.clone()),
    };
    inputs.iter().map(copy).collect()
}
