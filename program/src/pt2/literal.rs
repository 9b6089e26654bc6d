//! Arguments of the JSON as arguments of nodes: the names of values resolved, constants in the type that the schema
//! declares.

use super::model::{self, Float, OptionalTensor, SymArgument};
use super::numbers;
use crate::error::{Result, cut, malformed, unsupported};
use crate::graph::{Argument, Item, ListKind, ValueId};
use monomorph_core::schema::{Base, Type, Wrap};
use monomorph_core::{Complex64, IValue, Scalar};
use std::collections::HashMap;

/// The values that are defined so far, by name.
#[derive(Default)]
pub(super) struct Scope(pub(super) HashMap<Box<str>, ValueId>);

impl Scope {
    pub(super) fn find(&self, place: &str, name: &str) -> Result<ValueId> {
        let known = self.0.get(name).copied();
        known.ok_or_else(|| malformed(place, format!("value {} is not defined before it is used", cut(name))))
    }
}

/// An argument of a node; `declared` is its type in the schema, if the node calls an operator.
pub(super) fn argument(
    scope: &Scope,
    place: &str,
    argument: model::Argument,
    declared: Option<&Type>,
) -> Result<Argument> {
    use model::Argument as A;
    let find = |name: &str| scope.find(place, name);
    let base = declared.map(Type::base);
    Ok(match argument {
        A::AsTensor(named) => Argument::Value(find(&named.name)?),
        A::AsTensors(list) => {
            let optional = declared.is_some_and(has_optional_items);
            let kind = match declared {
                None => ListKind::Operands,
                Some(_) if optional => ListKind::OptionalTensors,
                Some(_) => ListKind::Tensors,
            };
            let items = list.iter().map(|named| find(&named.name).map(Item::Value));
            Argument::List(kind, items.collect::<Result<_>>()?)
        }
        A::AsOptionalTensor(OptionalTensor::AsTensor(named)) => Argument::Value(find(&named.name)?),
        A::AsOptionalTensor(OptionalTensor::AsNone(_)) => Argument::Constant(IValue::None),
        A::AsOptionalTensors(list) => {
            let item = |tensor: &OptionalTensor| match tensor {
                OptionalTensor::AsTensor(named) => find(&named.name).map(Item::Value),
                OptionalTensor::AsNone(_) => Ok(Item::Constant(IValue::None)),
            };
            Argument::List(ListKind::OptionalTensors, list.iter().map(item).collect::<Result<_>>()?)
        }
        A::AsSymInt(one) => symbolic(scope, place, one, |i| constant(IValue::Int(i), declared))?,
        A::AsSymFloat(one) => symbolic(scope, place, one, |f| constant(IValue::Float(f.0), declared))?,
        A::AsSymBool(one) => symbolic(scope, place, one, |b| constant(IValue::Bool(b), declared))?,
        A::AsSymInts(list) => symbolics(scope, place, list, list_kind(base, ListKind::Ints), IValue::Int)?,
        A::AsSymFloats(list) => {
            symbolics(scope, place, list, list_kind(base, ListKind::Floats), |f: Float| IValue::Float(f.0))?
        }
        A::AsSymBools(list) => symbolics(scope, place, list, list_kind(base, ListKind::Bools), IValue::Bool)?,
        A::AsCustomObj(named) => {
            return Err(unsupported(format!("{place}: object {} of a custom class is not read", cut(&named.name))));
        }
        A::AsGraph(graph) => {
            return Err(malformed(place, format!("graph {} where a value is needed", cut(&graph.name))));
        }
        A::AsNestedTensors(_) | A::AsIntLists(_) | A::AsFloatLists(_) | A::AsStringToArgument(_) => {
            return Err(unsupported(format!(
                "{place}: lists of lists and dictionaries are no arguments of operators here"
            )));
        }
        plain => Argument::Constant(constant(literal(plain)?, declared)),
    })
}

/// A constant of the JSON, in its own type.
fn literal(argument: model::Argument) -> Result<IValue> {
    use model::Argument as A;
    Ok(match argument {
        A::AsInt(i) => IValue::Int(i),
        A::AsFloat(f) => IValue::Float(f.0),
        A::AsBool(b) => IValue::Bool(b),
        A::AsString(text) | A::AsOperator(text) => IValue::Str(text.into()),
        A::AsStrings(list) => IValue::Strs(list.into_iter().map(Into::into).collect()),
        A::AsInts(list) => IValue::Ints(list),
        A::AsFloats(list) => IValue::Floats(list.into_iter().map(|f| f.0).collect()),
        A::AsBools(list) => IValue::Bools(list),
        A::AsComplex(c) => IValue::Complex(Complex64::new(c.real.0, c.imag.0)),
        A::AsScalarType(number) => IValue::DType(numbers::dtype(number)?),
        A::AsLayout(number) => IValue::Layout(numbers::layout(number)?),
        A::AsMemoryFormat(number) => IValue::MemoryFormat(numbers::memory_format(number)?),
        A::AsDevice(device) => IValue::Device(numbers::device(&device.kind)?),
        _ => IValue::None,
    })
}

/// The constant as the declared type has it: an integer for a `float`, one number for a list of a fixed length.
fn constant(value: IValue, declared: Option<&Type>) -> IValue {
    let Some(ty) = declared else { return value };
    let copies = ty.wraps().iter().find_map(|wrap| match wrap {
        Wrap::List(size) => Some(size.map_or(1, usize::from)),
        Wrap::Optional => None,
    });
    match (value, ty.base(), copies) {
        (IValue::Int(i), Base::Float, None) => IValue::Float(i as f64),
        (IValue::Int(i), Base::Complex, None) => IValue::Complex(Complex64::new(i as f64, 0.0)),
        (IValue::Float(f), Base::Complex, None) => IValue::Complex(Complex64::new(f, 0.0)),
        (IValue::Int(i), Base::Int | Base::SymInt, Some(n)) => IValue::Ints(vec![i; n]),
        (IValue::Float(f), Base::Float, Some(n)) => IValue::Floats(vec![f; n]),
        (IValue::Int(i), Base::Float, Some(n)) => IValue::Floats(vec![i as f64; n]),
        (IValue::Bool(b), Base::Bool, Some(n)) => IValue::Bools(vec![b; n]),
        (IValue::Ints(list), Base::Float, Some(_)) => IValue::Floats(list.into_iter().map(|i| i as f64).collect()),
        (IValue::Ints(list), Base::Scalar, Some(_)) => IValue::Scalars(list.into_iter().map(Scalar::Int).collect()),
        (IValue::Floats(list), Base::Scalar, Some(_)) => IValue::Scalars(list.into_iter().map(Scalar::Float).collect()),
        (IValue::Bools(list), Base::Scalar, Some(_)) => IValue::Scalars(list.into_iter().map(Scalar::Bool).collect()),
        // The empty list of any type is written as one of integers.
        (IValue::Ints(list), Base::Tensor, Some(_)) if list.is_empty() => match has_optional_items(ty) {
            true => IValue::OptionalTensors(Vec::new()),
            false => IValue::Tensors(Vec::new()),
        },
        (IValue::Ints(list), Base::Bool | Base::SymBool, Some(_)) if list.is_empty() => IValue::Bools(Vec::new()),
        (value, ..) => value,
    }
}

/// True for `Tensor?[]`.
fn has_optional_items(ty: &Type) -> bool {
    matches!(ty.wraps(), [Wrap::Optional, Wrap::List(_), ..])
}

fn list_kind(base: Option<Base>, own: ListKind) -> ListKind {
    match base {
        None => ListKind::Operands,
        Some(Base::Scalar) => ListKind::Scalars,
        Some(Base::Float) => ListKind::Floats,
        Some(_) => own,
    }
}

fn symbolic<T>(scope: &Scope, place: &str, one: SymArgument<T>, number: impl FnOnce(T) -> IValue) -> Result<Argument> {
    Ok(match one {
        SymArgument::Name(name) => Argument::Value(scope.find(place, &name)?),
        SymArgument::Number(value) => Argument::Constant(number(value)),
    })
}

fn symbolics<T>(
    scope: &Scope,
    place: &str,
    list: Vec<SymArgument<T>>,
    kind: ListKind,
    number: impl Fn(T) -> IValue,
) -> Result<Argument> {
    let item = |one| match one {
        SymArgument::Name(name) => scope.find(place, &name).map(Item::Value),
        SymArgument::Number(value) => Ok(Item::Constant(number(value))),
    };
    Ok(Argument::List(kind, list.into_iter().map(item).collect::<Result<_>>()?))
}
