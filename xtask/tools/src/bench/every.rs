//! The group `every`: each pointwise operator of the table by name, on both sides, over dtypes and layouts. Owns which
//! overloads, and what stands for each of their arguments; an engine takes the arguments as they are written here.
//!
//! ```text
//! t p u a b        an operand of the cell's dtype around zero, above zero, between 0 and 1, above 1; of dtype bool
//! out=DTYPE        the tensor that is written
//! 2 1.5 true none s=floor
//! ```

use super::cells::{Cell, Group};
use monomorph::crates::core::IValue;
use monomorph::crates::core::dispatch::OperatorHandle;
use monomorph::crates::core::schema::{Argument, Base, Literal, Schema};
use monomorph::crates::ops::table::{FormKind, declarations};
use monomorph::{Cpu, DType, Stack, dispatcher, ops::ones};

const DTYPES: [DType; 5] = [DType::F32, DType::F64, DType::BF16, DType::I32, DType::Bool];
const LAYOUTS: [(&str, i64); 4] =
    [("contiguous", 32), ("contiguous", 256), ("row-broadcast", 256), ("transposed", 256)];

/// Every operator is to be as fast as PyTorch's.
const BAR: f64 = 1.0;

/// A cell for each overload, dtype and layout that there is.
pub(crate) fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for handle in overloads() {
        for dtype in DTYPES {
            let Some(form) = form(&handle, dtype) else { continue };
            cells.extend(LAYOUTS.map(|(layout, side)| Cell {
                group: Group::Every,
                op: handle.name().to_owned(),
                dtype: dtype.name(),
                layout,
                sizes: vec![side, side],
                form: form.clone(),
                threads: 1,
                bar: Some(BAR),
                bar_avx2: Some(BAR),
            }));
        }
    }
    cells
}

/// Families whose hand-written rows make, copy or place tensors.
const ELSEWHERE: [&str; 8] = ["factory", "new_factories", "resize", "scatter", "copies", "parts", "fill", "nonzero"];

/// The out= form of each pointwise row; the functional one where it is no out= form that computes in place.
fn overloads() -> Vec<OperatorHandle> {
    let mut names: Vec<&str> = Vec::new();
    for row in declarations().filter(|row| matches!(row.kind, "structured" | "operator" | "kernel")) {
        if row.kind == "kernel" && ELSEWHERE.iter().any(|family| row.module.contains(&format!("::{family}::"))) {
            continue;
        }
        let of = |kind| row.forms.iter().find(|form| form.kind == kind).and_then(|form| form.overload());
        names.extend(of(FormKind::Out).or_else(|| of(FormKind::Functional)));
    }
    let handles = names.iter().filter_map(|name| dispatcher().find(name).ok());
    handles.filter(|handle| handle.schema().is_ok_and(|schema| is_pointwise(&schema))).collect()
}

/// One result, and no argument that a pointwise operator does not have.
fn is_pointwise(schema: &Schema) -> bool {
    let tensors = schema.args().filter(|arg| arg.ty().is_tensor() && !arg.is_mutable()).count();
    let plain = |arg: &Argument| arg.default().is_some() || !arg.ty().is_list();
    tensors > 0 && !schema.is_inplace() && schema.returns().len() == 1 && schema.args().all(plain)
}

/// The arguments of a call with operands of this dtype; `None` if there is no such call, or it is not of one element
/// each.
fn form(handle: &OperatorHandle, dtype: DType) -> Option<String> {
    let schema = handle.schema().ok()?;
    let given = schema.args().filter(|arg| !arg.is_mutable());
    let words: Vec<Word> = given.map(|arg| word(arg, &schema, dtype)).collect::<Option<_>>()?;
    let mut texts: Vec<String> = words.iter().map(Word::text).collect();
    if schema.is_out() {
        // The first that takes the result is its dtype: what it converts to without loss of its kind comes after it.
        let complex = if dtype == DType::F64 { DType::C128 } else { DType::C64 };
        let outputs = [DType::Bool, dtype, DType::I64, DType::F32, complex];
        let out = outputs.into_iter().find(|&out| runs(handle, &words, dtype, Some(out)))?;
        texts.push(format!("out={}", out.name()));
    } else if !runs(handle, &words, dtype, None) {
        return None;
    }
    Some(format!("named:{}", texts.join(",")))
}

/// What stands for an argument.
enum Word {
    /// The letter of an operand.
    Operand(&'static str),
    Value(IValue),
}

impl Word {
    fn text(&self) -> String {
        match self {
            Word::Operand(letter) => (*letter).to_owned(),
            Word::Value(IValue::Bool(value)) => value.to_string(),
            Word::Value(IValue::Int(value)) => value.to_string(),
            Word::Value(IValue::Float(value)) => format!("{value:?}"),
            Word::Value(IValue::Str(value)) => format!("s={value}"),
            Word::Value(_) => "none".to_owned(),
        }
    }
}

fn word(arg: &Argument, schema: &Schema, dtype: DType) -> Option<Word> {
    let base = arg.ty().base();
    let value = match (base, arg.name()) {
        (Base::Tensor, _) if arg.ty().is_list() => return None,
        (Base::Tensor, "condition" | "mask") => return Some(Word::Operand("b")),
        (Base::Tensor, _) if arg.ty().is_optional() => IValue::None,
        (Base::Tensor, _) => return Some(Word::Operand(domain(schema.name(), dtype))),
        (Base::Scalar, "min" | "min_val") => IValue::Int(-1),
        (Base::Scalar, "max" | "max_val") => IValue::Int(1),
        (Base::Str, "rounding_mode") => IValue::Str("floor".into()),
        _ => match (arg.default().map(|default| default.value()), base) {
            (Some(Literal::None), _) => IValue::None,
            (Some(Literal::Bool(value)), _) => IValue::Bool(*value),
            (Some(Literal::Int(value)), Base::Float) => IValue::Float(*value as f64),
            (Some(Literal::Int(value)), _) => IValue::Int(*value),
            (Some(Literal::Float(value)), _) => IValue::Float(*value),
            (Some(Literal::Str(value)), _) => IValue::Str(value.clone()),
            (None, Base::Scalar) if !dtype.is_integral(true) => IValue::Float(1.5),
            (None, Base::Scalar | Base::Int) => IValue::Int(2),
            (None, Base::Float) => IValue::Float(0.5),
            (None, Base::Bool) => IValue::Bool(false),
            _ => return None,
        },
    };
    Some(Word::Value(value))
}

/// Operands for which the operator is defined. Integers are above zero, since some operators divide by them.
fn domain(name: &str, dtype: DType) -> &'static str {
    const POSITIVE: [&str; 9] =
        ["log", "sqrt", "pow", "gamma", "polynomial", "bessel_y", "bessel_k", "reciprocal", "entr"];
    match name.trim_start_matches("special_").replace("arc", "a").as_str() {
        "acosh" | "zeta" | "mvlgamma" => "a",
        "acos" | "asin" | "atanh" | "erfinv" | "ndtri" | "logit" | "logit_backward" => "u",
        name if dtype.is_integral(false) || POSITIVE.iter().any(|part| name.contains(part)) => "p",
        _ => "t",
    }
}

/// Whether the call is one, with a result of its operands' sizes.
fn runs(handle: &OperatorHandle, words: &[Word], dtype: DType, out: Option<DType>) -> bool {
    let sizes = [3, 2];
    // One is in every domain, and can be divided by.
    let tensor = |dtype| ones::<Cpu>(&sizes, Some(dtype)).ok().map(IValue::from);
    let value = |word: &Word| match word {
        Word::Operand("b") => tensor(DType::Bool),
        Word::Operand(_) => tensor(dtype),
        Word::Value(value) => Some(value.clone()),
    };
    let arguments = words.iter().map(value).chain(out.map(tensor));
    let Some(mut stack) = arguments.collect::<Option<Stack>>() else { return false };
    handle.call(&mut stack).is_ok() && stack.iter().flat_map(IValue::tensors).all(|t| t.sizes() == sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_has_its_cells_with_arguments_that_it_takes() {
        let cells = cells();
        let form = |op: &str, dtype: &str| {
            let mut of_op = cells.iter().filter(|cell| cell.op == op && cell.dtype == dtype);
            of_op.next().map(|cell| cell.form.to_string())
        };
        let is = |op, dtype, want: &str| assert_eq!(form(op, dtype).as_deref(), Some(want), "{op} of {dtype}");
        is("add.out", "float32", "named:t,t,1,out=float32");
        is("eq.Scalar_out", "bfloat16", "named:t,1.5,out=bool");
        is("add.Scalar", "float32", "named:t,1.5,1");
        is("exp.out", "int32", "named:p,out=float32");
        is("clamp.out", "int32", "named:p,-1,1,out=int32");
        is("div.out_mode", "float64", "named:t,t,s=floor,out=float64");
        is("where.self_out", "bool", "named:b,t,t,out=bool");
        is("acosh.out", "float64", "named:a,out=float64");
        assert_eq!(form("sub.out", "bool"), None, "there is no such call");
        for op in ["cat.out", "sum.IntList_out", "zeros.out", "narrow", "add.Tensor", "add_.Tensor"] {
            assert!(cells.iter().all(|cell| cell.op != op), "{op}");
        }
        let overloads: std::collections::BTreeSet<&str> = cells.iter().map(|cell| &*cell.op).collect();
        assert!(overloads.len() > 280, "{}", overloads.len());
    }
}
