//! Whether what a boxed kernel left on the stack are the results that its schema declares: their number, and the kind
//! of each. Asked in every build, since whoever called by name relies on it; costs one comparison for a result that is
//! a tensor.

use crate::error::{DispatchError, Error, ErrorKind, Result};
use crate::schema::{Base, Schema, Type, Wrap};
use crate::value::IValue;

/// Results and types that a message shows.
const SHOWN: usize = 8;

/// # Errors
///
/// [`ErrorKind::ResultCount`], [`ErrorKind::Undefined`], [`DispatchError::WrongResults`].
#[inline]
pub(super) fn check(schema: &Schema, results: &[IValue]) -> Result<()> {
    match (results, schema.returns()) {
        // What nearly all operators return, without a loop.
        ([IValue::Tensor(_)], [declared]) if declared.ty().is_plain_tensor() => Ok(()),
        _ => check_each(schema, results),
    }
}

#[inline(never)]
fn check_each(schema: &Schema, results: &[IValue]) -> Result<()> {
    let returns = schema.returns();
    if results.len() != returns.len() {
        return Err(ErrorKind::ResultCount { got: results.len(), want: returns.len() }.into());
    }
    for (index, (value, declared)) in results.iter().zip(returns).enumerate() {
        if !(declared.ty().is_plain_tensor() && matches!(value, IValue::Tensor(_))) {
            other_than_tensor(schema, results, index)?;
        }
    }
    Ok(())
}

/// A result that is no tensor, or is declared to be something else.
fn other_than_tensor(schema: &Schema, results: &[IValue], index: usize) -> Result<()> {
    let (value, ty) = (&results[index], schema.returns()[index].ty());
    match (value, ty.wraps()) {
        // A backward operator leaves out the results that its caller does not want; which these are is a question of
        // debug builds.
        (IValue::None, []) if ty.is_tensor() => match schema.arg("output_mask") {
            Some(_) => Ok(()),
            None => Err(ErrorKind::Undefined { result: index, mask: None }.into()),
        },
        (value, [wraps @ .., Wrap::Optional]) if matches!(value, IValue::None) || fits(value, ty, wraps) => Ok(()),
        (value, wraps) if fits(value, ty, wraps) => Ok(()),
        _ => Err(wrong(schema, results)),
    }
}

/// True if a value is of the type: this base in these wraps.
fn fits(value: &IValue, ty: &Type, wraps: &[Wrap]) -> bool {
    let base = match ty.base() {
        Base::SymInt | Base::DeviceIndex => Base::Int,
        Base::SymBool => Base::Bool,
        base => base,
    };
    match wraps {
        [] => match value {
            IValue::Tensor(_) => base == Base::Tensor,
            IValue::Bool(_) => matches!(base, Base::Bool | Base::Scalar),
            IValue::Int(_) => matches!(base, Base::Int | Base::Scalar),
            IValue::Float(_) => matches!(base, Base::Float | Base::Scalar),
            IValue::Complex(_) => matches!(base, Base::Complex | Base::Scalar),
            IValue::Str(_) => matches!(base, Base::Str | Base::Dimname),
            IValue::DType(_) => base == Base::ScalarType,
            IValue::Layout(_) => base == Base::Layout,
            IValue::Device(_) => base == Base::Device,
            IValue::MemoryFormat(_) => base == Base::MemoryFormat,
            IValue::Storage(_) => base == Base::Storage,
            IValue::Generator(_) => base == Base::Generator,
            _ => false,
        },
        [Wrap::List(_)] => match value {
            IValue::Ints(_) => base == Base::Int,
            IValue::Floats(_) => base == Base::Float,
            IValue::Bools(_) => base == Base::Bool,
            IValue::Strs(_) => matches!(base, Base::Str | Base::Dimname),
            IValue::Scalars(_) => base == Base::Scalar,
            IValue::Tensors(_) => base == Base::Tensor,
            IValue::List(list) => list.iter().all(|item| fits(item, ty, &[])),
            _ => false,
        },
        [Wrap::Optional, Wrap::List(_)] => match value {
            IValue::OptionalTensors(_) => base == Base::Tensor,
            IValue::List(list) => list.iter().all(|item| matches!(item, IValue::None) || fits(item, ty, &[])),
            _ => false,
        },
        // Lists of lists: there is no kind of value for what is in them.
        _ => matches!(value, IValue::List(_)),
    }
}

/// Results of other kinds than the schema declares.
#[cold]
pub(super) fn wrong(schema: &Schema, results: &[IValue]) -> Error {
    let got = listed(results.iter().map(|value| value.kind_name().to_owned()));
    DispatchError::WrongResults { got, want: listed(schema.returns().iter().map(|r| r.ty().to_string())) }.into()
}

fn listed(all: impl ExactSizeIterator<Item = String>) -> String {
    let more = if all.len() > SHOWN { ", …" } else { "" };
    all.take(SHOWN).collect::<Vec<_>>().join(", ") + more
}
