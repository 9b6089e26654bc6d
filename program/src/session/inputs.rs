//! Whether inputs are those that a program was exported for: their number, dtypes and sizes, one value for each symbol,
//! and its range. As PyTorch does, a range that begins at 2 or less accepts 0 and 1.

use crate::error::{ProgramError, Result, cut, dtype_name};
use crate::graph::{InputKind, Literal, Recorded, RecordedTensor};
use crate::program::Inner;
use crate::symbol::{Bindings, Expr, Symbols, Unified};
use monomorph_core::{AnyTensor, IValue};

/// PyTorch's ranges begin at 2 where a size is not known to be 0 or 1, and its checks accept those all the same.
const LOWEST_ENFORCED: i64 = 2;

/// An error for the first input that is not accepted; the symbols in the sizes get their values.
pub(super) fn check(program: &Inner, inputs: &[IValue], bindings: &mut Bindings) -> Result<()> {
    let user = |kind: &&InputKind| matches!(kind, InputKind::User(_) | InputKind::Literal(..));
    let want = program.inputs.iter().filter(user).count();
    if inputs.len() != want {
        return Err(ProgramError::InputCount { got: inputs.len(), want });
    }
    // Twice: a size that is an expression may come before the input that says what its symbols are.
    for last in [false, true] {
        for (kind, id) in program.inputs.iter().zip(&program.graph.inputs) {
            let (InputKind::User(index) | InputKind::Literal(index, _)) = kind else { continue };
            let info = program.graph.value(*id);
            let checked = match (kind, &info.recorded, &inputs[*index]) {
                (InputKind::Literal(_, literal), _, value) => is_literal(literal, value),
                (_, Recorded::Tensor(recorded), IValue::Tensor(tensor)) => {
                    sizes(&program.symbols, recorded, tensor, bindings)
                }
                (_, Recorded::Tensor(_), other) => Err(format!("{}; a tensor is accepted", other.kind_name())),
                (_, Recorded::Int(expr), IValue::Int(value)) => size(&program.symbols, expr, *value, bindings),
                (_, Recorded::Int(_), other) => Err(format!("{}; an int is accepted", other.kind_name())),
                (_, Recorded::Nothing, _) => Ok(()),
            };
            let checked = checked.and_then(|()| if last { ranges(program, bindings) } else { Ok(()) });
            checked.map_err(|what| ProgramError::Input { index: *index, name: cut(&info.name), what })?;
        }
    }
    Ok(())
}

fn sizes(
    symbols: &Symbols,
    recorded: &RecordedTensor,
    tensor: &AnyTensor,
    bindings: &mut Bindings,
) -> Result<(), String> {
    if tensor.dtype() != recorded.dtype {
        let (got, want) = (dtype_name(tensor.dtype()), dtype_name(recorded.dtype));
        return Err(format!("dtype {got}; {want} is accepted"));
    }
    if tensor.device() != monomorph_core::DeviceId::CPU {
        return Err(format!("a tensor on {}; programs run on the CPU", tensor.device()));
    }
    if tensor.ndim() != recorded.sizes.len() {
        let (got, want) = (tensor.ndim(), recorded.sizes.len());
        return Err(format!("sizes {:?}, {got} dimensions; {want} are accepted", tensor.sizes()));
    }
    for (dim, (expr, got)) in recorded.sizes.iter().zip(tensor.sizes()).enumerate() {
        size(symbols, expr, *got, bindings)
            .map_err(|what| format!("sizes {:?}, dimension {dim} is {what}", tensor.sizes()))?;
    }
    Ok(())
}

fn size(symbols: &Symbols, expr: &Expr, got: i64, bindings: &mut Bindings) -> Result<(), String> {
    match bindings.unify(expr, got) {
        Unified::Agrees | Unified::Open => Ok(()),
        Unified::Differs(want) if matches!(expr, Expr::Int(_)) => Err(format!("{got}; {want} is accepted")),
        Unified::Differs(want) => {
            Err(format!("{got}; {want} is accepted, the value of {} by the inputs before it", symbols.show(expr)))
        }
        Unified::NoSolution => Err(format!("{got}; accepted is what has the form {}", symbols.show(expr))),
    }
}

/// The ranges of what is known by now.
fn ranges(program: &Inner, bindings: &Bindings) -> Result<(), String> {
    for range in &program.ranges {
        let Some(value) = bindings.evaluate(&range.expr) else { continue };
        let below = range.min > LOWEST_ENFORCED && value < range.min;
        if below || value > range.max {
            let name = program.symbols.show(&range.expr);
            return Err(format!("{name} is {value}; {}..={} is accepted", range.min, range.max));
        }
    }
    Ok(())
}

fn is_literal(literal: &Literal, value: &IValue) -> Result<(), String> {
    let same = match (literal, value) {
        (Literal::None, IValue::None) => true,
        (Literal::Int(want), IValue::Int(got)) => want == got,
        (Literal::Float(want), IValue::Float(got)) => want == got || (want.is_nan() && got.is_nan()),
        (Literal::Bool(want), IValue::Bool(got)) => want == got,
        (Literal::Str(want), IValue::Str(got)) => want == got,
        _ => false,
    };
    if same { Ok(()) } else { Err(format!("{value:?}; the program was exported for {literal:?} alone")) }
}
