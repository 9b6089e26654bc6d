//! One archive on every set of recorded inputs, and on those that are to be refused.

use super::compare::difference;
use super::record::{Entry, Record};
use monomorph::prelude::*;
use monomorph::program::{InputKind, MissingOperator, Program, ProgramError, Session, Value};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// What came of an archive.
#[derive(Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// Everything is as recorded.
    Passed,
    /// What is not, a line each.
    Failed(Vec<String>),
    /// Operators are missing.
    Unsupported(Vec<MissingOperator>),
}

/// An archive that was checked.
#[derive(Debug)]
#[non_exhaustive]
pub struct Checked {
    /// The program's name.
    pub name: String,
    /// Which form: `exported` or `core`.
    pub form: &'static str,
    /// What came of it.
    pub verdict: Verdict,
    /// Values of nodes that were held against the sizes, strides and dtypes that the archive records.
    pub values: usize,
    /// Of these the ones whose strides alone differ, a line each. They are no failures: what kernel PyTorch chooses may
    /// depend on whether gradients are wanted, as they are while a program is exported.
    pub strides: Vec<String>,
    /// How long loading and running took.
    pub time: Duration,
}

/// Checks every archive of a program.
pub fn check(record: &Record) -> Vec<Checked> {
    let one = |(form, path): (&'static str, std::path::PathBuf)| {
        let start = Instant::now();
        let (mut values, mut strides) = (0, Vec::new());
        let caught = catch_unwind(AssertUnwindSafe(|| archive(record, &path, &mut values, &mut strides)));
        let verdict = caught.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Verdict::Failed(vec![format!("panicked: {}", text.unwrap_or_default())])
        });
        Checked { name: record.name.clone(), form, verdict, values, strides, time: start.elapsed() }
    };
    record.archives().into_iter().map(one).collect()
}

fn archive(record: &Record, path: &std::path::Path, values: &mut usize, strides: &mut Vec<String>) -> Verdict {
    let program = match Program::load(path) {
        Ok(program) => program,
        Err(ProgramError::MissingOperators(missing)) => return Verdict::Unsupported(missing),
        Err(error) => return Verdict::Failed(vec![format!("does not load: {error}")]),
    };
    let mut failures = Vec::new();
    let mut session = None;
    for set in 1..=record.sets {
        let number = if set == 1 { String::new() } else { set.to_string() };
        if !record.successive {
            session = None;
        }
        if session.is_none() {
            match program.session() {
                Ok(mut fresh) => {
                    fresh.compare_values();
                    session = Some(fresh);
                }
                Err(error) => failures.push(format!("no session: {error}")),
            }
        }
        let Some(session) = &mut session else { continue };
        let known = session.differences().0.len();
        let compared = session.differences().1;
        if let Err(failure) = run_set(record, &program, session, &number, &mut failures) {
            failures.push(format!("set {set}: {failure}"));
        }
        let (differences, total) = session.differences();
        *values += total - compared;
        for one in &differences[known..] {
            let list = if one.strides { &mut *strides } else { &mut failures };
            list.push(format!("set {set}: value {} of {}: {}", one.value, one.node, one.what));
        }
    }
    for (prefix, why) in &record.refused {
        let refused = inputs(record, &program, prefix)
            .and_then(|inputs| Ok(program.session().map_err(|error| error.to_string())?.run(&inputs).is_err()));
        match refused {
            Ok(true) => {}
            Ok(false) => failures.push(format!("{prefix} is accepted: {why}")),
            Err(failure) => failures.push(format!("{prefix}: {failure}")),
        }
    }
    failures.extend(super::planned::compare(record, &program).err());
    if failures.is_empty() { Verdict::Passed } else { Verdict::Failed(failures) }
}

/// The recorded inputs whose names begin with `prefix`, in the order of [`Session::run`]: `in` are the first.
///
/// # Errors
/// One that is not recorded.
pub fn inputs(record: &Record, program: &Program, prefix: &str) -> Result<Vec<Value>, String> {
    let one = |index: usize| {
        let name = format!("{prefix}.{index}");
        Ok(match record.entry(&name)? {
            Some(Entry::Tensor(tensor)) => Value::from(as_in_example(program, index, tensor)?),
            Some(Entry::Number(number)) => match (number.as_bool(), number.as_i64(), number.as_f64()) {
                (Some(truth), ..) => Value::Bool(truth),
                (_, Some(int), _) => Value::Int(int),
                (.., Some(float)) => Value::Float(float),
                _ => Value::Str(number.as_str().ok_or_else(|| format!("{name} is {number}"))?.into()),
            },
            // Only what the program was exported for is not recorded.
            None => literal(program, index).ok_or_else(|| format!("{name} is not recorded"))?,
        })
    };
    (0..program.input_count()).map(one).collect()
}

/// The tensor with the strides of the example input, for which the archive records those of all values.
fn as_in_example(program: &Program, index: usize, tensor: Tensor<Cpu>) -> Result<Tensor<Cpu>, String> {
    let Some(strides) = program.example_strides(index, tensor.sizes()) else { return Ok(tensor) };
    if strides == tensor.strides() || strides.len() != tensor.ndim() {
        return Ok(tensor);
    }
    let mut strided = Tensor::<Cpu>::zeroed(tensor.dtype(), tensor.sizes(), &strides, 0).map_err(|e| e.to_string())?;
    // An example that overlaps itself, such as an expanded one, cannot be written.
    if strided.copy_(&tensor).is_err() { Ok(tensor) } else { Ok(strided) }
}

fn literal(program: &Program, index: usize) -> Option<Value> {
    program.inputs().iter().find_map(|kind| match kind {
        InputKind::Literal(own, literal) if *own == index => Some(literal.into()),
        _ => None,
    })
}

fn run_set(
    record: &Record,
    program: &Program,
    session: &mut Session,
    set: &str,
    failures: &mut Vec<String>,
) -> Result<(), String> {
    let inputs = inputs(record, program, &format!("in{set}"))?;
    let outputs = session.run(&inputs).map_err(|error| error.to_string())?;
    let mut hold = |prefix: &str, find: &dyn Fn(&str) -> Option<Value>| {
        let begin = format!("{prefix}{set}.");
        for (name, rest) in record.entries(&begin) {
            let difference = match (find(rest), record.entry(name)) {
                (Some(got), Ok(Some(want))) => difference(&got, &want, record.tolerance(&format!("{prefix}.{rest}"))),
                (None, _) => Some("there is no such value".to_owned()),
                (_, Err(error)) => Some(error),
                (_, Ok(None)) => None,
            };
            failures.extend(difference.map(|difference| format!("{name}: {difference}")));
        }
    };
    let at = |values: &[Value], index: &str| values.get(index.parse::<usize>().ok()?).cloned();
    hold("out", &|index| at(&outputs, index));
    hold("mut", &|index| at(&inputs, index));
    hold("state", &|name| session.weight(name).map(|tensor| Value::from(tensor.clone())));
    Ok(())
}
