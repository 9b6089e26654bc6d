//! The inputs of a run, from the command line: given by name or in order, or drawn.

use crate::files::{self, Read};
use crate::{Result, message};
use clap::ArgMatches;
use monomorph::program::{Program, UserInput, UserInputKind, Value};
use monomorph::{AnyTensor, DType, Generator, IValue, Stack, call};
use std::path::Path;

/// The inputs that `--input` and `--seed` mean.
pub(crate) fn inputs(program: &Program, args: &ArgMatches) -> Result<Vec<Value>> {
    let wanted = program.user_inputs();
    let mut given: Vec<Option<Value>> = vec![None; wanted.len()];
    for text in args.get_many::<String>("input").into_iter().flatten() {
        place(text, &wanted, &mut given)?;
    }
    let seed = args.get_one::<u64>("seed");
    if let Some(seed) = seed {
        Generator::shared().manual_seed(*seed);
    }
    let complete = |(input, value): (&UserInput, Option<Value>)| match (value, &input.kind) {
        (Some(value), _) => Ok(value),
        (None, UserInputKind::Literal(literal)) => Ok(literal.into()),
        (None, _) if seed.is_some() => drawn(input),
        (None, _) => Err(format!(
            "input {} is missing; give each with --input, or --seed to draw it. Inputs:\n{}",
            input.name,
            indented(&program.inputs_text())
        )),
    };
    wanted.iter().zip(given).map(complete).collect()
}

/// Lines, a little to the right.
pub(crate) fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect::<String>().trim_end().to_owned()
}

/// Puts what one `--input` says in its place, or its places.
fn place(text: &str, wanted: &[UserInput], given: &mut [Option<Value>]) -> Result<()> {
    let named = text.split_once('=').and_then(|(name, rest)| {
        let input = wanted.iter().find(|input| input.name == name)?;
        Some((input.index, rest))
    });
    let (index, text) = named.map_or((None, text), |(index, rest)| (Some(index), rest));
    let next = index.or_else(|| given.iter().position(Option::is_none));
    let mut put = |index: Option<usize>, value: Value| {
        let place = index.and_then(|index| given.get_mut(index));
        *place.ok_or_else(|| format!("{text}: the program has {} inputs", wanted.len()))? = Some(value);
        Ok(())
    };
    if let Some(value) = number(text) {
        let kind = next.and_then(|index| wanted.get(index)).map(|input| &input.kind);
        return put(next, as_wanted(value, kind)?);
    }
    match files::read(Path::new(text))? {
        Read::One(tensor) => put(next, tensor.into()),
        Read::Named(tensors) => {
            let mut found = 0;
            for (name, tensor) in tensors {
                let is_it = |input: &&UserInput| {
                    index.is_none_or(|index| index == input.index)
                        && (input.name == name || format!("in.{}", input.index) == name)
                };
                if let Some(input) = wanted.iter().find(is_it) {
                    put(Some(input.index), tensor.into())?;
                    found += 1;
                }
            }
            let names = || wanted.iter().map(|input| &*input.name).collect::<Vec<_>>().join(", ");
            if found == 0 { Err(format!("{text} has no input of the program: {}", names())) } else { Ok(()) }
        }
        Read::Other => Err(format!(
            "{text} is no input: accepted are .npy, .npz and .safetensors files, numbers, true, false, none, each with \
             NAME= before it where it is not the next input; the names are {}",
            wanted.iter().map(|input| &*input.name).collect::<Vec<_>>().join(", ")
        )),
    }
}

fn number(text: &str) -> Option<Value> {
    match text {
        "none" => return Some(Value::None),
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        _ => {}
    }
    text.parse().map(Value::Int).or_else(|_| text.parse().map(Value::Float)).ok()
}

/// A number as a tensor, where one without dimensions is wanted.
fn as_wanted(value: Value, kind: Option<&UserInputKind>) -> Result<Value> {
    match kind {
        Some(UserInputKind::Tensor { dtype, sizes }) if sizes.is_empty() && !matches!(value, Value::None) => {
            let none = || IValue::None;
            let mut stack: Stack = vec![value, (*dtype).into(), none(), none(), none()];
            call("scalar_tensor", &mut stack).map_err(message)?;
            stack.pop().ok_or_else(|| "no tensor".to_owned())
        }
        _ => Ok(value),
    }
}

/// A value as in the example: floats are normal, integers 0 and 1, which are in every table.
fn drawn(input: &UserInput) -> Result<Value> {
    let unknown = || format!("input {} cannot be drawn: the program does not record its sizes; give it", input.name);
    match &input.kind {
        UserInputKind::Tensor { dtype, sizes } => {
            let sizes: Vec<i64> = sizes.iter().copied().collect::<Option<_>>().ok_or_else(unknown)?;
            tensor(*dtype, sizes).map(Value::from).map_err(message)
        }
        UserInputKind::Int(value) => value.map(Value::Int).ok_or_else(unknown),
        _ => Err(unknown()),
    }
}

fn tensor(dtype: DType, sizes: Vec<i64>) -> monomorph::Result<AnyTensor> {
    let none = || IValue::None;
    let (name, mut stack): (_, Stack) = if dtype.is_floating() || dtype.is_complex() {
        ("randn", vec![IValue::Ints(sizes), dtype.into(), none(), none(), none()])
    } else {
        ("randint", vec![2_i64.into(), IValue::Ints(sizes), dtype.into(), none(), none(), none()])
    };
    call(name, &mut stack)?;
    Ok(stack.pop().and_then(IValue::into_tensor).unwrap_or_else(|| unreachable!("{name} gives a tensor")))
}
