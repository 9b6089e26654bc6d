//! The boxed calling convention: arguments on a stack, defaults for those that are missing.

use super::{IValue, default_value};
use crate::error::{Error, ErrorKind, Result, cut};
use crate::schema::Schema;

/// The arguments of a boxed call, in schema order; afterwards its results.
pub type Stack = Vec<IValue>;

/// A kernel in boxed form: takes its arguments, in schema order and none missing, off the end of the stack and leaves
/// its results there. What lies below is not its business. On an error the stack is as it was.
pub type BoxedFn = fn(&mut Stack) -> Result<()>;

/// Appends the defaults of the arguments that are missing; an error, and the stack as it was, if one has none.
pub(crate) fn fill_defaults(schema: &Schema, stack: &mut Stack) -> Result<()> {
    let (given, want) = (stack.len(), schema.args().len());
    if given == want {
        return Ok(());
    }
    for arg in schema.args().skip(given) {
        if let Some(value) = default_value(arg) {
            stack.push(value);
        }
    }
    if stack.len() == want {
        return Ok(());
    }
    stack.truncate(given);
    Err(argument_count(given, want, schema))
}

#[cold]
pub(crate) fn argument_count(got: usize, want: usize, schema: &Schema) -> Error {
    ErrorKind::ArgumentCount { got, want, schema: cut(&schema.to_string()).into_owned() }.into()
}
