//! The schemas of a row's forms, from the text of the row. Owns what each form adds to that text; the grammar is the
//! parser's.

use monomorph_core::schema::Schema;

/// What a row says of a form, with the blanks between its tokens.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// The form's own name.
    pub name: &'a str,
    /// The row's arguments.
    pub args: &'a str,
    /// The row's results.
    pub rets: &'a str,
}

/// The schema of a functional row.
pub fn functional_schema(Text { name, args, rets }: Text<'_>) -> Schema {
    let returns = if rets.contains(',') { format!("({rets})") } else { rets.to_owned() };
    parse(&format!("{}({args}) -> {returns}", squeeze(name)))
}

/// The schema of the in-place form: `self` is written and returned.
pub fn inplace_schema(Text { name, args, .. }: Text<'_>) -> Schema {
    let args = match args.strip_prefix("Tensor(a)").or_else(|| args.strip_prefix("Tensor")) {
        Some(rest) => format!("Tensor(a!){rest}"),
        None => args.to_owned(),
    };
    parse(&format!("{}({args}) -> Tensor(a!)", squeeze(name)))
}

/// The schema of the copying form of a view: nothing is aliased.
pub fn copy_schema(Text { name, args, rets }: Text<'_>) -> Schema {
    let returns = if squeeze(rets).ends_with("[]") { "Tensor[]" } else { "Tensor" };
    parse(&format!("{}({}) -> {returns}", squeeze(name), unaliased(args)))
}

/// The schema of its out= form.
pub fn copy_out_schema(Text { name, args, .. }: Text<'_>) -> Schema {
    out_schema(Text { name, args: &unaliased(args), rets: "Tensor" })
}

/// The schema of its out= form where it gives several: a list is written and not returned.
pub fn copy_outs_schema(Text { name, args, .. }: Text<'_>) -> Schema {
    parse(&format!("{}({}, *, Tensor(a!)[] out) -> ()", squeeze(name), unaliased(args)))
}

/// Arguments without the alias set of the first.
fn unaliased(args: &str) -> String {
    match args.split_once(')') {
        Some((first, rest)) if first.starts_with("Tensor") => format!("Tensor{rest}"),
        _ => args.to_owned(),
    }
}

/// The schema of the out= form: keyword-only outputs, written and returned.
pub fn out_schema(Text { name, args, rets }: Text<'_>) -> Schema {
    let names: Vec<&str> = rets.split(',').map(|r| r.trim().strip_prefix("Tensor").map_or("", str::trim)).collect();
    // The only output that PyTorch names after its overload.
    let unnamed = if squeeze(name).ends_with(".grad_input") { "grad_input" } else { "out" };
    // It names what is written by these overloads, and not what they return.
    let silent = squeeze(name).ends_with(".output");
    let mut outs = Vec::new();
    let mut returns = Vec::new();
    for (letter, name) in ('a'..).zip(&names) {
        let named = !name.is_empty();
        outs.push(format!("Tensor({letter}!) {}", if named { name } else { unnamed }));
        returns.push(if named && !silent { format!("Tensor({letter}!) {name}") } else { format!("Tensor({letter}!)") });
    }
    let star = if args.contains('*') { "" } else { "*, " };
    let comma = if args.is_empty() { "" } else { ", " };
    let returns = if returns.len() == 1 { returns.remove(0) } else { format!("({})", returns.join(", ")) };
    parse(&format!("{}({args}{comma}{star}{}) -> {returns}", squeeze(name), outs.join(", ")))
}

pub(super) fn squeeze(name: &str) -> String {
    name.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Rows are written by hand and every schema of the table is compared with PyTorch's list in a test, so a row that does
/// not parse never leaves the workshop.
fn parse(text: &str) -> Schema {
    // The tokens of a row are printed with a space behind the sign of a number, and PyTorch quotes with what Rust has
    // for characters only.
    match Schema::parse(&text.replace("= - ", "= -").replace('"', "'")) {
        Ok(schema) => schema,
        Err(error) => unreachable!("a row of the operator table does not parse: {error}"),
    }
}
