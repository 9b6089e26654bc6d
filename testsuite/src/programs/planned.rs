//! Runs by plans against runs operator by operator: the same elements in the same strides.

use super::record::Record;
use super::run::inputs;
use monomorph::crates::core::with_element;
use monomorph::program::{Program, Session, Value};
use monomorph::{AnyTensor, Generator};

/// The outputs of a run, or why there are none.
type Outcome = Result<Vec<Value>, String>;

/// Runs a program on every set of recorded inputs both ways, so often that plans are made and used: an error for the
/// first thing that differs.
pub(super) fn compare(record: &Record, program: &Program) -> Result<(), String> {
    let session = || program.session().map_err(|error| error.to_string());
    let (mut planned, mut in_turn) = (session()?, session()?);
    in_turn.run_in_turn();
    // Calls of one instance go on from where the last one was; others may be repeated.
    // The first makes a plan, the second records its kernels, the others run them, each on other elements.
    let rounds = if record.successive { 1 } else { 4 };
    for set in 1..=record.sets {
        let prefix = if set == 1 { "in".to_owned() } else { format!("in{set}") };
        for round in 1..=rounds {
            let place = format!("set {set}, round {round}");
            let run = |session: &mut Session| -> Result<(Vec<Value>, Outcome), String> {
                Generator::shared().manual_seed(set as u64);
                let inputs = inputs(record, program, &prefix)?;
                if round % 2 == 0 {
                    inputs.iter().flat_map(Value::tensors).for_each(reverse);
                }
                let outputs = session.run(&inputs).map_err(|error| error.to_string());
                Ok((inputs, outputs))
            };
            let ((inputs, outputs), (other_inputs, other_outputs)) = (run(&mut planned)?, run(&mut in_turn)?);
            match (outputs, other_outputs) {
                (Ok(outputs), Ok(others)) => {
                    same(&outputs, &others).map_err(|what| format!("{place}: planned output {what}"))?;
                    same(&inputs, &other_inputs).map_err(|what| format!("{place}: input behind a plan {what}"))?;
                }
                (Err(error), Err(other)) if error == other => {}
                (one, other) => {
                    let (one, other) = (one.err(), other.err());
                    return Err(format!("{place}: planned ends with {one:?}, in turn with {other:?}"));
                }
            }
        }
    }
    Ok(())
}

/// Reverses the order of the elements, where a tensor has each element once.
fn reverse(tensor: &AnyTensor) {
    let dims = Value::Ints((0..tensor.ndim() as i64).collect());
    let mut stack = vec![tensor.clone().into(), dims];
    // What cannot be written, in every session alike, stays as it is.
    if monomorph::call("flip", &mut stack).is_ok() {
        stack.insert(0, tensor.clone().into());
        monomorph::call("copy_", &mut stack).ok();
    }
}

fn same(values: &[Value], others: &[Value]) -> Result<(), String> {
    if values.len() != others.len() {
        return Err(format!("count is {}, not {}", values.len(), others.len()));
    }
    for (index, pair) in values.iter().zip(others).enumerate() {
        let is_same = match pair {
            (Value::Tensor(one), Value::Tensor(other)) => words(one)? == words(other)?,
            (one, other) => format!("{one:?}") == format!("{other:?}"),
        };
        if !is_same {
            return Err(format!("{index} is another"));
        }
    }
    Ok(())
}

/// Dtype, sizes and strides, and the elements in words: every NaN alike, every other number another.
fn words(tensor: &AnyTensor) -> Result<(String, Vec<u8>), String> {
    let elements = with_element!(tensor.dtype(), T => {
        let elements = tensor.to_vec::<T>().map_err(|error| error.to_string())?;
        elements.iter().flat_map(|x| format!("{x:?},").into_bytes()).collect()
    });
    Ok((format!("{} {:?} {:?}", tensor.dtype(), tensor.sizes(), tensor.strides()), elements))
}
