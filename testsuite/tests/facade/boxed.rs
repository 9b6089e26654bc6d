//! Calls by name for the tests of this folder: argument lists from records, and the other forms of an overload.

use monomorph::crates::core::dispatch::OperatorHandle;
use monomorph::{IValue, Result, Scalar, Stack, dispatcher};
use monomorph_testsuite::formulas::Formula;
use monomorph_testsuite::naive::Arg;
use std::sync::LazyLock;

/// An operand as a boxed value.
pub(crate) fn boxed(arg: &Arg) -> IValue {
    match arg {
        Arg::Tensor(t) => t.clone().into(),
        Arg::Number(n) => (*n).into(),
    }
}

/// The arguments of a formula's overload.
pub(crate) fn stack(formula: &Formula, operands: &[Arg], params: &[Scalar]) -> Stack {
    let (_, words) = formula.overload();
    let (mut operands, mut params) = (operands.iter(), params.iter());
    words
        .into_iter()
        .map(|word| match word {
            "x" => boxed(operands.next().expect("as many x as operands")),
            "p" => IValue::from(*params.next().expect("as many p as parameters")),
            "None" => IValue::None,
            "False" => IValue::Bool(false),
            text => IValue::Str(text.into()),
        })
        .collect()
}

/// The handle of the functional overload that a formula's record names.
pub(crate) fn functional(formula: &Formula) -> OperatorHandle {
    dispatcher().find(formula.overload().0).expect("the overload of a record is in the table")
}

/// The form of an overload with the same arguments whose schema satisfies `form`.
pub(crate) fn sibling(
    entry: &OperatorHandle,
    form: impl Fn(&OperatorHandle) -> bool,
) -> Option<&'static OperatorHandle> {
    static OPERATORS: LazyLock<Vec<OperatorHandle>> = LazyLock::new(|| dispatcher().operators());
    let names = |entry: &OperatorHandle| {
        let schema = entry.schema().unwrap();
        let inputs = schema.args().len() - schema.out_args().len();
        schema.args().take(inputs).map(|arg| (arg.name().to_owned(), arg.ty().base())).collect::<Vec<_>>()
    };
    let bare = |entry: &OperatorHandle| entry.schema().unwrap().name().trim_end_matches('_').to_owned();
    OPERATORS.iter().find(|other| form(other) && bare(other) == bare(entry) && names(other) == names(entry))
}

/// Calls an operator for its only result.
pub(crate) fn call(entry: &OperatorHandle, mut stack: Stack) -> Result<monomorph::AnyTensor> {
    entry.call(&mut stack)?;
    match stack.pop() {
        Some(IValue::Tensor(t)) => Ok(t.into_tensor()),
        other => panic!("{}: {other:?} is no tensor", entry.schema().unwrap()),
    }
}
