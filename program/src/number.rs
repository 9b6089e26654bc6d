//! Python's operators on numbers, by which programs compute sizes: `_operator.add`, `math.floor`, `torch.sym_max`.
//! Numbers are ints, floats and bools, as in Python a bool counts as an int; what Python computes with more than 64
//! bits is an error.

use monomorph_core::IValue;

/// What can be computed with numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberOp {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`, a float.
    TrueDiv,
    /// `a // b`.
    FloorDiv,
    /// `a % b`, with the sign of `b`.
    Mod,
    /// `a ** b`.
    Pow,
    /// `-a`.
    Neg,
    /// `+a`.
    Pos,
    /// `abs(a)`.
    Abs,
    /// `a == b`.
    Eq,
    /// `a != b`.
    Ne,
    /// `a < b`.
    Lt,
    /// `a <= b`.
    Le,
    /// `a > b`.
    Gt,
    /// `a >= b`.
    Ge,
    /// `a & b`.
    And,
    /// `a | b`.
    Or,
    /// `a ^ b`.
    Xor,
    /// `a << b`.
    Shl,
    /// `a >> b`.
    Shr,
    /// `not a`.
    Not,
    /// The largest of all.
    Max,
    /// The smallest of all.
    Min,
    /// The sum of all.
    Sum,
    /// `float(a)`.
    ToFloat,
    /// `int(a)`, which rounds towards 0.
    ToInt,
    /// `math.floor(a)`.
    Floor,
    /// `math.ceil(a)`.
    Ceil,
    /// `round(a)`, halves to even.
    Round,
    /// `math.sqrt(a)`.
    Sqrt,
    /// `b if a else c`.
    IfElse,
}

impl NumberOp {
    /// The operation of a target, if it is one on numbers.
    pub(crate) fn from_target(target: &str) -> Option<NumberOp> {
        let (module, name) = target.rsplit_once('.')?;
        if !matches!(
            module,
            "_operator" | "operator" | "math" | "torch" | "builtins" | "torch.fx.experimental.sym_node"
        ) {
            return None;
        }
        Some(match name {
            "add" | "iadd" => NumberOp::Add,
            "sub" | "isub" => NumberOp::Sub,
            "mul" | "imul" => NumberOp::Mul,
            "truediv" => NumberOp::TrueDiv,
            "floordiv" => NumberOp::FloorDiv,
            "mod" => NumberOp::Mod,
            "pow" => NumberOp::Pow,
            "neg" => NumberOp::Neg,
            "pos" => NumberOp::Pos,
            "abs" => NumberOp::Abs,
            "eq" => NumberOp::Eq,
            "ne" => NumberOp::Ne,
            "lt" => NumberOp::Lt,
            "le" => NumberOp::Le,
            "gt" => NumberOp::Gt,
            "ge" => NumberOp::Ge,
            "and_" => NumberOp::And,
            "or_" => NumberOp::Or,
            "xor" => NumberOp::Xor,
            "lshift" => NumberOp::Shl,
            "rshift" => NumberOp::Shr,
            "not_" | "sym_not" => NumberOp::Not,
            "max" | "sym_max" => NumberOp::Max,
            "min" | "sym_min" => NumberOp::Min,
            "sum" | "sym_sum" => NumberOp::Sum,
            "float" | "sym_float" => NumberOp::ToFloat,
            "int" | "sym_int" | "trunc" => NumberOp::ToInt,
            "floor" => NumberOp::Floor,
            "ceil" => NumberOp::Ceil,
            "round" => NumberOp::Round,
            "sqrt" | "sym_sqrt" | "_sym_sqrt" => NumberOp::Sqrt,
            "sym_ite" => NumberOp::IfElse,
            _ => return None,
        })
    }

    /// How many numbers it takes; `None` for one or more.
    fn arity(self) -> Option<usize> {
        match self {
            NumberOp::Max | NumberOp::Min | NumberOp::Sum => None,
            NumberOp::IfElse => Some(3),
            NumberOp::Neg | NumberOp::Pos | NumberOp::Abs | NumberOp::Not | NumberOp::ToFloat | NumberOp::ToInt => {
                Some(1)
            }
            NumberOp::Floor | NumberOp::Ceil | NumberOp::Round | NumberOp::Sqrt => Some(1),
            _ => Some(2),
        }
    }

    /// The result. An error says what Python would raise, or that 64 bits do not hold it.
    pub(crate) fn apply(self, args: &[IValue]) -> Result<IValue, String> {
        let is_list = |arg: &IValue| matches!(arg, IValue::Ints(_) | IValue::Floats(_) | IValue::List(_));
        if self.arity().is_none() && args.iter().any(is_list) {
            let items = args.iter().flat_map(|arg| match arg {
                IValue::Ints(items) => items.iter().map(|i| IValue::Int(*i)).collect(),
                IValue::Floats(items) => items.iter().map(|f| IValue::Float(*f)).collect(),
                IValue::List(items) => items.to_vec(),
                other => vec![other.clone()],
            });
            let items: Vec<IValue> = items.collect();
            if items.iter().any(is_list) {
                return Err("a list of lists where numbers are needed".to_owned());
            }
            return self.apply(&items);
        }
        let fits = self.arity().map_or(!args.is_empty(), |arity| args.len() == arity);
        if !fits {
            return Err(format!("{self:?} of {} numbers", args.len()));
        }
        if self == NumberOp::IfElse {
            return Ok(if truth(&args[0])? { args[1].clone() } else { args[2].clone() });
        }
        let numbers: Vec<Number> = args.iter().map(number).collect::<Result<_, _>>()?;
        let bools = args.iter().all(|arg| matches!(arg, IValue::Bool(_)));
        match numbers[..] {
            [a] => unary(self, a),
            [a, b] if self.arity() == Some(2) => binary(self, a, b, bools),
            _ => numbers[1..].iter().try_fold(numbers[0], |a, b| fold(self, a, *b)).map(Number::into_value),
        }
    }
}

/// Whether a number counts as true.
pub(crate) fn truth(value: &IValue) -> Result<bool, String> {
    Ok(match number(value)? {
        Number::Int(i) => i != 0,
        Number::Float(f) => f != 0.0,
    })
}

#[derive(Clone, Copy)]
enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    fn to_f64(self) -> f64 {
        match self {
            Number::Int(i) => i as f64,
            Number::Float(f) => f,
        }
    }

    fn into_value(self) -> IValue {
        match self {
            Number::Int(i) => IValue::Int(i),
            Number::Float(f) => IValue::Float(f),
        }
    }
}

fn number(value: &IValue) -> Result<Number, String> {
    match value {
        IValue::Int(i) => Ok(Number::Int(*i)),
        IValue::Float(f) => Ok(Number::Float(*f)),
        IValue::Bool(b) => Ok(Number::Int((*b).into())),
        other => Err(format!("{} where a number is needed", other.kind_name())),
    }
}

fn overflow() -> String {
    "the result needs more than 64 bits".to_owned()
}

/// A float as an integer, if 64 bits hold it.
fn whole(x: f64) -> Result<Number, String> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&x) { Ok(Number::Int(x as i64)) } else { Err(format!("{x} is no integer of 64 bits")) }
}

fn unary(op: NumberOp, a: Number) -> Result<IValue, String> {
    let rounded = |round: fn(f64) -> f64| match a {
        Number::Int(i) => Ok(Number::Int(i)),
        Number::Float(f) => whole(round(f)),
    };
    let result = match (op, a) {
        (NumberOp::Neg, Number::Int(i)) => Number::Int(i.checked_neg().ok_or_else(overflow)?),
        (NumberOp::Neg, Number::Float(f)) => Number::Float(-f),
        (NumberOp::Abs, Number::Int(i)) => Number::Int(i.checked_abs().ok_or_else(overflow)?),
        (NumberOp::Abs, Number::Float(f)) => Number::Float(f.abs()),
        (NumberOp::Not, a) => return Ok(IValue::Bool(a.to_f64() == 0.0)),
        (NumberOp::ToFloat, a) => Number::Float(a.to_f64()),
        (NumberOp::ToInt, _) => rounded(f64::trunc)?,
        (NumberOp::Floor, _) => rounded(f64::floor)?,
        (NumberOp::Ceil, _) => rounded(f64::ceil)?,
        (NumberOp::Round, _) => rounded(f64::round_ties_even)?,
        (NumberOp::Sqrt, a) if a.to_f64() < 0.0 => return Err(format!("the square root of {}", a.to_f64())),
        (NumberOp::Sqrt, a) => Number::Float(a.to_f64().sqrt()),
        (_, a) => a,
    };
    Ok(result.into_value())
}

fn fold(op: NumberOp, a: Number, b: Number) -> Result<Number, String> {
    let less = compare(a, b).is_some_and(std::cmp::Ordering::is_lt);
    let more = compare(a, b).is_some_and(std::cmp::Ordering::is_gt);
    Ok(match op {
        NumberOp::Max => {
            if less {
                b
            } else {
                a
            }
        }
        NumberOp::Min => {
            if more {
                b
            } else {
                a
            }
        }
        _ => match (a, b) {
            (Number::Int(a), Number::Int(b)) => Number::Int(a.checked_add(b).ok_or_else(overflow)?),
            _ => Number::Float(a.to_f64() + b.to_f64()),
        },
    })
}

fn compare(a: Number, b: Number) -> Option<std::cmp::Ordering> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
        _ => a.to_f64().partial_cmp(&b.to_f64()),
    }
}

fn binary(op: NumberOp, a: Number, b: Number, bools: bool) -> Result<IValue, String> {
    let order = compare(a, b);
    let truth = match op {
        NumberOp::Eq => order == Some(std::cmp::Ordering::Equal),
        NumberOp::Ne => order != Some(std::cmp::Ordering::Equal),
        NumberOp::Lt => order.is_some_and(std::cmp::Ordering::is_lt),
        NumberOp::Le => order.is_some_and(std::cmp::Ordering::is_le),
        NumberOp::Gt => order.is_some_and(std::cmp::Ordering::is_gt),
        NumberOp::Ge => order.is_some_and(std::cmp::Ordering::is_ge),
        NumberOp::TrueDiv if b.to_f64() == 0.0 => return Err("division by zero".to_owned()),
        NumberOp::TrueDiv => return Ok(IValue::Float(a.to_f64() / b.to_f64())),
        _ => {
            return match (a, b) {
                (Number::Int(a), Number::Int(b)) => ints(op, a, b, bools),
                (a, b) => floats(op, a.to_f64(), b.to_f64()).map(IValue::Float),
            };
        }
    };
    Ok(IValue::Bool(truth))
}

fn ints(op: NumberOp, a: i64, b: i64, bools: bool) -> Result<IValue, String> {
    if matches!(op, NumberOp::FloorDiv | NumberOp::Mod) && b == 0 {
        return Err("division by zero".to_owned());
    }
    let shift = || u32::try_from(b).map_err(|_| format!("a shift by {b}"));
    let result = match op {
        NumberOp::Add => a.checked_add(b),
        NumberOp::Sub => a.checked_sub(b),
        NumberOp::Mul => a.checked_mul(b),
        // Rust rounds towards 0, Python down: one less where the signs differ and something is left.
        NumberOp::FloorDiv => a.checked_div(b).map(|q| q - i64::from(a % b != 0 && (a < 0) != (b < 0))),
        NumberOp::Mod => Some(a.wrapping_rem(b)).map(|r| if r != 0 && (r < 0) != (b < 0) { r + b } else { r }),
        NumberOp::Pow if b < 0 => return floats(op, a as f64, b as f64).map(IValue::Float),
        NumberOp::Pow => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        NumberOp::Shl => {
            let shift = shift()?;
            a.checked_shl(shift).filter(|shifted| shifted >> shift == a)
        }
        NumberOp::Shr => Some(a >> shift()?.min(63)),
        NumberOp::And => Some(a & b),
        NumberOp::Or => Some(a | b),
        NumberOp::Xor => Some(a ^ b),
        _ => return Err(format!("{op:?} of two numbers")),
    };
    let result = result.ok_or_else(overflow)?;
    let stays_bool = bools && matches!(op, NumberOp::And | NumberOp::Or | NumberOp::Xor);
    Ok(if stays_bool { IValue::Bool(result != 0) } else { IValue::Int(result) })
}

fn floats(op: NumberOp, a: f64, b: f64) -> Result<f64, String> {
    if matches!(op, NumberOp::FloorDiv | NumberOp::Mod) && b == 0.0 {
        return Err("division by zero".to_owned());
    }
    Ok(match op {
        NumberOp::Add => a + b,
        NumberOp::Sub => a - b,
        NumberOp::Mul => a * b,
        NumberOp::FloorDiv => (a / b).floor(),
        NumberOp::Mod => a - b * (a / b).floor(),
        NumberOp::Pow => a.powf(b),
        _ => return Err(format!("{op:?} of floats")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints_of(op: NumberOp, a: i64, b: i64) -> Result<String, String> {
        op.apply(&[IValue::Int(a), IValue::Int(b)]).map(|value| format!("{value:?}"))
    }

    #[test]
    fn integers_as_in_python() {
        for (op, a, b, want) in [
            (NumberOp::FloorDiv, -7, 2, "Int(-4)"),
            (NumberOp::FloorDiv, 7, -2, "Int(-4)"),
            (NumberOp::Mod, -7, 2, "Int(1)"),
            (NumberOp::Mod, 7, -2, "Int(-1)"),
            (NumberOp::Mod, i64::MIN, -1, "Int(0)"),
            (NumberOp::Pow, 2, -1, "Float(0.5)"),
            (NumberOp::TrueDiv, 1, 2, "Float(0.5)"),
            (NumberOp::Ge, 2, 2, "Bool(true)"),
            (NumberOp::Shr, -1, 100, "Int(-1)"),
            (NumberOp::Max, 2, 3, "Int(3)"),
        ] {
            assert_eq!(ints_of(op, a, b).as_deref(), Ok(want), "{op:?} {a} {b}");
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        for (op, a, b) in [
            (NumberOp::Add, i64::MAX, 1),
            (NumberOp::FloorDiv, i64::MIN, -1),
            (NumberOp::FloorDiv, 1, 0),
            (NumberOp::Mod, 1, 0),
            (NumberOp::TrueDiv, 1, 0),
            (NumberOp::Pow, 10, 100),
            (NumberOp::Shl, 1, 63),
            (NumberOp::Shl, 1, -1),
        ] {
            assert!(ints_of(op, a, b).is_err(), "{op:?} {a} {b}");
        }
        assert!(NumberOp::ToInt.apply(&[IValue::Float(1e300)]).is_err());
        assert!(NumberOp::Neg.apply(&[IValue::None]).is_err());
        assert!(NumberOp::Add.apply(&[IValue::Int(1)]).is_err());
    }
}
