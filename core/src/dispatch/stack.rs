//! The boxed calling convention: arguments on a stack, defaults for those that are missing.

use crate::error::{ErrorKind, Result};
use crate::ivalue::IValue;
use crate::schema::{Literal, Schema};
use crate::{Layout, MemoryFormat};

/// The arguments of a boxed call, in schema order; afterwards its results.
pub type Stack = Vec<IValue>;

/// A kernel in boxed form: takes its arguments, in schema order and none missing, off the end of the stack and leaves its
/// results there. What lies below is not its business. On an error the stack is as it was.
pub type BoxedFn = fn(&mut Stack) -> Result<()>;

/// Appends the defaults of the arguments that are missing; an error, and the stack as it was, if one has none.
pub(super) fn fill_defaults(schema: &Schema, stack: &mut Stack) -> Result<()> {
    let (given, want) = (stack.len(), schema.args().len());
    if given == want {
        return Ok(());
    }
    for arg in schema.args().skip(given) {
        if let Some(value) = arg.default().and_then(|d| literal(d.value())) {
            stack.push(value);
        }
    }
    if stack.len() == want {
        return Ok(());
    }
    stack.truncate(given);
    Err(ErrorKind::ArgumentCount { got: given, want, schema: schema.to_string() }.into())
}

/// A default of a schema as a value. Names are those of enumerations.
fn literal(value: &Literal) -> Option<IValue> {
    Some(match value {
        Literal::None => IValue::None,
        Literal::Bool(b) => IValue::Bool(*b),
        Literal::Int(i) => IValue::Int(*i),
        Literal::Float(f) => IValue::Float(*f),
        Literal::Str(s) => IValue::Str(s.clone()),
        Literal::Name(name) => match MemoryFormat::from_name(name) {
            Some(format) => IValue::MemoryFormat(format),
            None if &**name == "strided" => IValue::Layout(Layout::Strided),
            None => return None,
        },
        Literal::List(list) => {
            let ints: Option<Vec<i64>> =
                list.iter().map(|l| if let Literal::Int(i) = l { Some(*i) } else { None }).collect();
            IValue::Ints(ints?)
        }
    })
}
