//! What a program asserts while it runs.

use super::control::holds;
use crate::graph::Check;
use monomorph_core::IValue;

/// An error that says what is not so.
pub(super) fn check(check: Check, args: &[IValue]) -> Result<(), String> {
    match check {
        Check::True => {
            let condition = args.first().ok_or("nothing is asserted")?;
            if holds(condition)? {
                return Ok(());
            }
            Err(match args.get(1) {
                Some(IValue::Str(message)) => format!("asserted is what does not hold: {message}"),
                _ => "asserted is what does not hold".to_owned(),
            })
        }
        Check::Metadata => metadata(args),
        Check::Range => range(args),
    }
}

fn metadata(args: &[IValue]) -> Result<(), String> {
    let [IValue::Tensor(tensor), sizes, strides, dtype] = args else {
        return Err("the assertion is about no tensor".to_owned());
    };
    let differs = |what: &str, got: &[i64], want: &IValue| match want {
        IValue::Ints(want) if want != got => Err(format!("the tensor has {what} {got:?}; asserted are {want:?}")),
        _ => Ok(()),
    };
    differs("sizes", tensor.sizes(), sizes)?;
    differs("strides", tensor.strides(), strides)?;
    match dtype {
        IValue::DType(want) if *want != tensor.dtype() => {
            Err(format!("the tensor has dtype {}; asserted is {want}", tensor.dtype()))
        }
        _ => Ok(()),
    }
}

fn range(args: &[IValue]) -> Result<(), String> {
    let [value, min, max] = args else { return Err("nothing is asserted".to_owned()) };
    let IValue::Int(value) = value else { return Ok(()) };
    match (min, max) {
        (IValue::Int(min), _) if value < min => Err(format!("{value}; asserted is at least {min}")),
        (_, IValue::Int(max)) if value > max => Err(format!("{value}; asserted is at most {max}")),
        _ => Ok(()),
    }
}
