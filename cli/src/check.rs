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
    if args.get_flag("relaxed") {
        say!(out, "a relaxed run is off by {:.1e} of the largest element", relaxed(program, &inputs)?);
    }
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

/// How far the outputs of the relaxed program are from exact ones, at most, relative to the largest of each output.
fn relaxed(program: &Program, inputs: &[Value]) -> Result<f64> {
    let outputs = |program: &Program| -> Result<Vec<Value>> {
        Generator::shared().manual_seed(0);
        program.session().map_err(message)?.run(&copies(inputs)?).map_err(message)
    };
    let (exact, relaxed) = (outputs(program)?, outputs(&program.relaxed().map_err(message)?)?);
    let elements = |value: &Value| -> Option<Vec<f64>> {
        let tensor = value.as_tensor()?.downcast_ref::<Cpu>()?;
        tensor.dtype().is_floating().then(|| tensor.to(F64).ok()?.to_vec().ok())?
    };
    let off = |(exact, relaxed): (&Value, &Value)| {
        let (exact, relaxed) = (elements(exact)?, elements(relaxed)?);
        let most = |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(0.0_f64, |most, x| most.max(x.abs()));
        let largest = most(&mut exact.iter().copied());
        let off = most(&mut exact.iter().zip(&relaxed).map(|(exact, relaxed)| exact - relaxed));
        Some(if largest > 0.0 { off / largest } else { off })
    };
    Ok(exact.iter().zip(&relaxed).filter_map(off).fold(0.0, f64::max))
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
