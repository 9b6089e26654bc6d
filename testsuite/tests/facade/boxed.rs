//! Calls by name for the tests of this folder: argument lists from records, and the other forms of an overload.

use monomorph::core::Entry;
use monomorph::{IValue, Result, Scalar, Stack, registry};
use monomorph_testsuite::formulas::Formula;
use monomorph_testsuite::naive::Arg;

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
            text => IValue::Str(text.into()),
        })
        .collect()
}

/// The entry of the functional overload that a formula's record names.
pub(crate) fn functional(formula: &Formula) -> &'static Entry {
    registry().get(formula.overload().0).expect("the overload of a record is in the table")
}

/// The form of an overload with the same arguments whose schema satisfies `form`.
pub(crate) fn sibling(entry: &Entry, form: impl Fn(&Entry) -> bool) -> Option<&'static Entry> {
    let names = |entry: &Entry| {
        let schema = entry.schema();
        let inputs = schema.args().len() - schema.out_args().len();
        schema.args().take(inputs).map(|arg| (arg.name().to_owned(), arg.ty().base())).collect::<Vec<_>>()
    };
    let bare = |entry: &Entry| entry.schema().name().trim_end_matches('_').to_owned();
    registry().iter().find(|other| form(other) && bare(other) == bare(entry) && names(other) == names(entry))
}

/// Calls an entry for its only result.
pub(crate) fn call(entry: &Entry, mut stack: Stack) -> Result<monomorph::AnyTensor> {
    entry.call(&mut stack)?;
    match stack.pop() {
        Some(IValue::Tensor(t)) => Ok(t.into_tensor()),
        other => panic!("{}: {other:?} is no tensor", entry.schema()),
    }
}
