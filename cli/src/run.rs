//! Running a program on inputs of the command line.

use super::array;
use monomorph::program::{Program, Value};
use std::path::Path;

/// The inputs that the texts mean.
fn inputs<'a>(program: &Program, texts: impl Iterator<Item = &'a str>) -> Result<Vec<Value>, String> {
    let inputs: Vec<Value> = texts.map(input).collect::<Result<_, _>>()?;
    if inputs.len() != program.input_count() {
        return Err(format!("the program has {} inputs, {} were given", program.input_count(), inputs.len()));
    }
    Ok(inputs)
}

fn input(text: &str) -> Result<Value, String> {
    match text {
        "none" => return Ok(Value::None),
        "true" => return Ok(Value::Bool(true)),
        "false" => return Ok(Value::Bool(false)),
        _ => {}
    }
    if let Ok(int) = text.parse::<i64>() {
        return Ok(Value::Int(int));
    }
    if let Ok(float) = text.parse::<f64>() {
        return Ok(Value::Float(float));
    }
    array::read(Path::new(text)).map(Value::from)
}

/// Runs a program; writes its outputs to a directory, or prints them.
pub(crate) fn run<'a>(
    program: &Program,
    texts: impl Iterator<Item = &'a str>,
    output: Option<&Path>,
) -> Result<bool, String> {
    let inputs = inputs(program, texts)?;
    let mut session = program.session().map_err(|error| error.to_string())?;
    let outputs = session.run(&inputs).map_err(|error| error.to_string())?;
    if let Some(dir) = output {
        std::fs::create_dir_all(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    }
    for (index, value) in outputs.iter().enumerate() {
        match (value, output) {
            (Value::Tensor(tensor), Some(dir)) => array::write(&dir.join(format!("{index}.npy")), tensor)?,
            (Value::Tensor(tensor), None) => {
                println!("{index}: {} {:?}\n{tensor:?}", tensor.dtype(), tensor.sizes());
            }
            (other, _) => println!("{index}: {other:?}"),
        }
    }
    Ok(true)
}

/// Checks what can be checked without recorded outputs.
pub(crate) fn check<'a>(program: &Program, texts: impl Iterator<Item = &'a str>) -> Result<bool, String> {
    let mut texts = texts.peekable();
    if texts.peek().is_none() {
        println!("the program loads, and every operator is there");
        return Ok(true);
    }
    let inputs = inputs(program, texts)?;
    let mut session = program.session().map_err(|error| error.to_string())?;
    session.compare_values();
    session.run(&inputs).map_err(|error| error.to_string())?;
    let (differences, compared) = session.differences();
    for difference in differences {
        println!("value {} of {}: {}", difference.value, difference.node, difference.what);
    }
    println!("{compared} values compared with what the program records, {} differ", differences.len());
    Ok(differences.is_empty())
}
