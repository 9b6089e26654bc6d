//! The defaults of schemas as boxed values: what stands for an argument that a boxed call leaves out. Owns the names
//! that defaults have in PyTorch's list; parses nothing.

use super::IValue;
use crate::dtype::{DType, Scalar};
use crate::options::{Layout, MemoryFormat};
use crate::schema::{Argument, Base, Literal};
use num_complex::Complex64;

/// The value that stands for `arg` where a call leaves it out; `None` if it has no default, or one of a type that has
/// no values here.
pub fn default_value(arg: &Argument) -> Option<IValue> {
    value(arg.ty().base(), arg.ty().is_list(), arg.default()?.value())
}

fn value(base: Base, list: bool, literal: &Literal) -> Option<IValue> {
    Some(match (literal, base) {
        (Literal::None, _) => IValue::None,
        (Literal::List(items), Base::Tensor) if list && items.is_empty() => IValue::Tensors(Vec::new()),
        // `Tensor x=[]`: the tensor is undefined.
        (Literal::List(_), Base::Tensor) => IValue::None,
        (Literal::List(items), _) => items_of(base, items)?,
        (Literal::Bool(b), _) => IValue::Bool(*b),
        (Literal::Int(i), Base::Float) => IValue::Float(*i as f64),
        (Literal::Int(i), Base::Complex) => IValue::Complex(Complex64::new(*i as f64, 0.0)),
        (Literal::Int(i), _) => IValue::Int(*i),
        (Literal::Float(f), Base::Complex) => IValue::Complex(Complex64::new(*f, 0.0)),
        (Literal::Float(f), _) => IValue::Float(*f),
        (Literal::Str(s), Base::Str) => IValue::Str(s.clone()),
        (Literal::Name(name), Base::MemoryFormat) => IValue::MemoryFormat(MemoryFormat::from_name(name)?),
        (Literal::Name(name), Base::ScalarType) => IValue::DType(dtype(name)?),
        (Literal::Name(name), Base::Layout) if &**name == "strided" => IValue::Layout(Layout::Strided),
        (Literal::Name(name), Base::Int) => IValue::Int(reduction(name)?),
        _ => return None,
    })
}

fn items_of(base: Base, items: &[Literal]) -> Option<IValue> {
    let values = items.iter().map(|item| value(base, false, item));
    Some(match base {
        Base::Int | Base::SymInt => {
            let int = |v| if let Some(IValue::Int(i)) = v { Some(i) } else { None };
            IValue::Ints(values.map(int).collect::<Option<_>>()?)
        }
        Base::Float => {
            let float = |v| if let Some(IValue::Float(f)) = v { Some(f) } else { None };
            IValue::Floats(values.map(float).collect::<Option<_>>()?)
        }
        Base::Bool | Base::SymBool => {
            let truth = |v| if let Some(IValue::Bool(b)) = v { Some(b) } else { None };
            IValue::Bools(values.map(truth).collect::<Option<_>>()?)
        }
        Base::Str => {
            let text = |v| if let Some(IValue::Str(s)) = v { Some(s) } else { None };
            IValue::Strs(values.map(text).collect::<Option<_>>()?)
        }
        Base::Scalar => {
            let number = |v: Option<IValue>| -> Option<Scalar> { v?.to_scalar() };
            IValue::Scalars(values.map(number).collect::<Option<_>>()?)
        }
        _ => IValue::List(values.collect::<Option<Vec<_>>>()?.try_into().ok()?),
    })
}

/// Dtypes have the names of C++ in schemas.
fn dtype(name: &str) -> Option<DType> {
    Some(match name {
        "bool" => DType::Bool,
        "byte" => DType::U8,
        "char" => DType::I8,
        "short" => DType::I16,
        "int" => DType::I32,
        "long" => DType::I64,
        "half" => DType::F16,
        "bfloat16" => DType::BF16,
        "float" => DType::F32,
        "double" => DType::F64,
        "cfloat" => DType::C64,
        "cdouble" => DType::C128,
        other => return DType::from_name(other),
    })
}

/// How losses reduce, numbered as `at::Reduction` is.
fn reduction(name: &str) -> Option<i64> {
    match name {
        "None" => Some(0),
        "Mean" => Some(1),
        "Sum" => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;

    #[test]
    fn every_default_of_pytorch_is_a_value_of_its_type() {
        let list = include_str!("../../../testsuite/golden/schemas.txt");
        let mut defaults = 0;
        for schema in list.lines().map(|line| Schema::parse(line).expect("the list parses")) {
            for arg in schema.args().filter(|arg| arg.default().is_some()) {
                let value = default_value(arg);
                assert!(value.is_some(), "{schema}: {}", arg.name());
                defaults += 1;
            }
        }
        assert_eq!(defaults, 2570);
    }

    #[test]
    fn defaults_by_type() {
        let text = |ty: &str, default: &str| {
            let schema = Schema::parse(&format!("f({ty} x={default}) -> ()")).expect("a schema");
            format!("{:?}", default_value(schema.arg("x").expect("the argument")))
        };
        for (ty, default, want) in [
            ("Tensor", "[]", "Some(None)"),
            ("Tensor?", "None", "Some(None)"),
            ("Tensor[]", "[]", "Some(Tensors([]))"),
            ("int[2]", "1", "Some(Ints([1, 1]))"),
            ("SymInt[]", "[]", "Some(Ints([]))"),
            ("float[]", "[1, 0.5]", "Some(Floats([1.0, 0.5]))"),
            ("float", "1", "Some(Float(1.0))"),
            ("Scalar", "1", "Some(Int(1))"),
            ("Scalar[]", "[1, 0.5]", "Some(Scalars([Int(1), Float(0.5)]))"),
            ("bool[3]", "True", "Some(Bools([true, true, true]))"),
            ("str[]", "['a']", "Some(Strs([\"a\"]))"),
            ("int", "Mean", "Some(Int(1))"),
            ("ScalarType", "long", "Some(DType(I64))"),
            ("ScalarType", "float32", "Some(DType(F32))"),
            ("ScalarType", "quint8", "None"),
            ("MemoryFormat", "channels_last", "Some(MemoryFormat(ChannelsLast))"),
            ("Layout", "strided", "Some(Layout(Strided))"),
            ("Layout", "sparse_coo", "None"),
        ] {
            let got = text(ty, default);
            assert_eq!(got.replace("DType(int64)", "DType(I64)"), want, "{ty} x={default}");
        }
    }
}
