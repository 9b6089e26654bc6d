//! `cargo xtask ops --support`: which operator takes which dtypes, in which forms, on which devices, as the page
//! docs/operators.md. Owns the page; what it says is asked of the operators themselves, by calling them on small
//! tensors.

use monomorph::crates::core::dispatch::{OperatorHandle, Source};
use monomorph::crates::core::schema::{Argument, Base, Schema};
use monomorph::prelude::CopiesMethods;
use monomorph::{AnyTensor, Cpu, DType, IValue, Stack, Tensor};
use monomorph_testsuite::hostile::fitting_stack;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// What is known of the overloads that share a base name.
#[derive(Default)]
struct Group {
    overloads: usize,
    forms: BTreeSet<Form>,
    dtypes: BTreeSet<usize>,
    devices: BTreeSet<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Functional,
    InPlace,
    Out,
}

/// Sizes of the operands to try.
const SIZES: [&[i64]; 7] = [&[2, 3], &[3], &[2], &[], &[1, 2, 4], &[2, 2], &[1, 3]];
/// Lists of integers to try.
const LISTS: [&[i64]; 6] = [&[], &[0], &[1, 0], &[2, 3], &[3], &[0, 2, 1]];
/// Strings to try where there is no default, or where the default does not do.
const WORDS: [&str; 2] = ["none", "floor"];

/// One way to make up arguments.
#[derive(Clone, Copy)]
struct Attempt {
    sizes: &'static [i64],
    /// The sizes of an operand that has its own.
    source: &'static [i64],
    list: &'static [i64],
    word: &'static str,
    /// Whether an operand that is a mask comes as bool.
    masked: bool,
    /// Whether what may be absent or has a default is given all the same.
    full: bool,
}

/// All of them that make a difference to a schema, the likeliest first.
fn attempts(schema: &Schema) -> Vec<Attempt> {
    let has = |holds: &dyn Fn(&Argument) -> bool| schema.args().any(holds);
    let is_ints =
        |argument: &Argument| argument.ty().is_list() && matches!(argument.ty().base(), Base::Int | Base::SymInt);
    let choices = [
        (has(&|argument| argument.ty().is_tensor()), SIZES.len()),
        (has(&has_own_sizes), SIZES.len()),
        (has(&is_mask), 2),
        (has(&|argument| argument.ty().base() == Base::Str), WORDS.len()),
        (has(&is_ints), LISTS.len()),
        (true, 2),
    ]
    .map(|(applies, all)| if applies { all } else { 1 });
    let attempt = |mut number: usize| {
        let [sizes, source, masked, word, list, full] = choices.map(|all| {
            let choice = number % all;
            number /= all;
            choice
        });
        Attempt {
            sizes: SIZES[sizes],
            source: SIZES[source],
            list: LISTS[list],
            word: WORDS[word],
            masked: masked == 0,
            full: full == 1,
        }
    };
    (0..choices.iter().product()).map(attempt).collect()
}

fn is_mask(argument: &Argument) -> bool {
    matches!(argument.name(), "mask" | "condition")
}

/// Whether there are operators whose other operands have other sizes.
fn has_own_sizes(argument: &Argument) -> bool {
    matches!(argument.name(), "src" | "grad_output")
}

/// A tensor of ones.
fn ones(sizes: &[i64], dtype: DType) -> Option<AnyTensor> {
    let tensor: Tensor<Cpu> = monomorph::ops::ones(sizes, Some(dtype)).ok()?;
    Some(tensor.into_any())
}

/// The value of one argument; `None` where there is none to offer.
fn value(argument: &Argument, dtype: DType, attempt: Attempt) -> Option<IValue> {
    let ty = argument.ty();
    let condition = is_mask(argument) && attempt.masked;
    let one = |dtype| ones(if has_own_sizes(argument) { attempt.source } else { attempt.sizes }, dtype);
    let base = ty.base();
    if base == Base::ScalarType && ty.is_optional() {
        return Some(IValue::DType(dtype));
    }
    if ty.is_optional() && !attempt.full {
        return Some(IValue::None);
    }
    let ints = || IValue::Ints(attempt.list.to_vec());
    Some(match (base, ty.is_list()) {
        (Base::Tensor, true) => IValue::Tensors(vec![one(dtype)?]),
        (Base::Tensor, false) => one(if condition { DType::Bool } else { dtype })?.into(),
        (Base::ScalarType, false) => IValue::DType(dtype),
        (Base::Int | Base::SymInt, true) => ints(),
        (Base::Int | Base::SymInt, false) => IValue::Int(if argument.name().starts_with("dim") { 0 } else { 1 }),
        (Base::Scalar, true) => IValue::Scalars(vec![1i64.into()]),
        (Base::Scalar, false) => IValue::Int(1),
        (Base::Float, false) => IValue::Float(0.5),
        (Base::Bool, false) => IValue::Bool(false),
        (Base::Bool, true) => IValue::Bools(vec![true]),
        (Base::Str, false) => IValue::Str(attempt.word.into()),
        _ => return None,
    })
}

/// The dtypes that an operator takes, of the first attempt that it takes any of; where it takes none, those in the
/// place of float32 among arguments that are known to suit it.
fn dtypes(handle: &OperatorHandle) -> Vec<usize> {
    let Ok(schema) = handle.schema() else { return Vec::new() };
    let taken = |make: &dyn Fn(DType) -> Option<Stack>| {
        let takes = |&dtype: &DType| make(dtype).is_some_and(|mut stack| handle.call(&mut stack).is_ok());
        DType::ALL.into_iter().filter(takes).map(|dtype| dtype as usize).collect::<Vec<_>>()
    };
    attempts(&schema)
        .into_iter()
        .map(|attempt| taken(&|dtype| arguments(&schema, dtype, attempt)))
        .find(|taken| !taken.is_empty())
        .unwrap_or_else(|| taken(&|dtype| suitable(&schema, dtype)))
}

/// Arguments that suit the operator, with this dtype in the place of float32; `None` where one can't be converted.
fn suitable(schema: &Schema, dtype: DType) -> Option<Stack> {
    let converted = |tensor: &AnyTensor| match tensor.dtype() {
        DType::F32 => cast(tensor, dtype),
        _ => Some(tensor.clone()),
    };
    let value = |value: &IValue| {
        Some(match value {
            IValue::Tensor(tensor) => converted(tensor)?.into(),
            IValue::Tensors(tensors) => IValue::Tensors(tensors.iter().map(converted).collect::<Option<_>>()?),
            IValue::DType(DType::F32) => IValue::DType(dtype),
            other => other.clone(),
        })
    };
    fitting_stack(schema).as_slice().iter().map(value).collect()
}

/// The tensor in another dtype.
fn cast(tensor: &AnyTensor, dtype: DType) -> Option<AnyTensor> {
    Some(tensor.downcast_ref::<Cpu>()?.to(dtype).ok()?.into_any())
}

/// Arguments, as far as they are not left to their defaults; `None` where there is no value to offer.
fn arguments(schema: &Schema, dtype: DType, attempt: Attempt) -> Option<Stack> {
    let inputs = schema.args().len() - schema.out_args().len();
    let mut stack = Stack::new();
    for argument in schema.args().take(inputs) {
        let asked = argument.default().is_none() || argument.ty().base() == Base::ScalarType || attempt.full;
        match if asked { value(argument, dtype, attempt) } else { None } {
            Some(given) => stack.push(given),
            // Once one argument is left to its default, so are those behind it.
            None if argument.default().is_some() => return Some(stack),
            None => return None,
        }
    }
    Some(stack)
}

/// The base name of an overload: `add` of `add_.Tensor` and `add.out`.
fn base(name: &str) -> &str {
    let name = name.split('.').next().unwrap_or_default();
    if name.ends_with("__") { name } else { name.strip_suffix('_').unwrap_or(name) }
}

/// A set of dtypes in few words.
fn words(dtypes: &BTreeSet<usize>) -> String {
    if dtypes.len() == DType::COUNT {
        return "all".to_owned();
    }
    let classes: [(&str, &[DType]); 5] = [
        ("bool", &[DType::Bool]),
        ("integers", &[DType::U8, DType::I8, DType::I16, DType::I32, DType::I64]),
        ("floats", &[DType::F16, DType::BF16, DType::F32, DType::F64]),
        ("complex", &[DType::C64, DType::C128]),
        ("", &[]),
    ];
    let mut parts = Vec::new();
    for (name, class) in classes {
        let held: Vec<&DType> = class.iter().filter(|&&dtype| dtypes.contains(&(dtype as usize))).collect();
        match held.len() {
            0 => {}
            n if n == class.len() => parts.push(name.to_owned()),
            _ => parts.extend(held.iter().map(|dtype| dtype.to_string())),
        }
    }
    if parts.is_empty() { "–".to_owned() } else { parts.join(", ") }
}

/// The page.
pub(crate) fn page() -> String {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for handle in monomorph::dispatcher().operators() {
        let Ok(schema) = handle.schema() else { continue };
        let form = match () {
            () if schema.is_out() => Form::Out,
            () if schema.is_inplace() => Form::InPlace,
            () => Form::Functional,
        };
        let group = groups.entry(base(handle.name()).to_owned()).or_default();
        group.overloads += 1;
        group.forms.insert(form);
        for (key, resolution, _) in handle.explain() {
            if key.is_dense() && matches!(resolution.source, Source::Kernel(_) | Source::Completed) {
                group.devices.extend(key.backend().map(|backend| backend.kind().name()));
            }
        }
        if form != Form::Out {
            group.dtypes.extend(dtypes(&handle));
        }
    }
    let mut text = String::from(HEAD);
    for (name, group) in &groups {
        let form = |form: Form| if group.forms.contains(&form) { "yes" } else { "" };
        let devices: Vec<&str> = group.devices.iter().copied().collect();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} |",
            group.overloads,
            words(&group.dtypes),
            form(Form::Functional),
            form(Form::InPlace),
            form(Form::Out),
            devices.join(", ")
        );
    }
    text
}

const HEAD: &str = "\
# Operators

Every operator, the dtypes of its operands (or results, where it has no operands) in at least one overload, its forms,
and the devices that run it; `meta` is the form without data. Every overload can be called by name, and every structured
operator can be prepared. Made by `cargo xtask ops --support`; a test holds it to the table.

| operator | overloads | dtypes | functional | in-place | out= | devices |
| --- | --- | --- | --- | --- | --- | --- |
";

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_says_what_the_operators_do() {
        let path = xtask::workspace_root().join("docs/operators.md");
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        let page = super::page();
        let changed = page.lines().zip(written.lines()).find(|(now, then)| now != then);
        assert!(page == written, "cargo xtask ops --support > docs/operators.md; first difference {changed:?}");
        let unknown: Vec<&str> = page.lines().filter(|line| line.contains("| – |")).collect();
        assert!(unknown.is_empty(), "no arguments were found for {unknown:#?}");
    }
}
