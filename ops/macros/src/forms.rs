//! The schemas of the forms that follow from a functional one, as PyTorch's generator derives them.

use crate::declaration::{FormKind, NamedForm};
use monomorph_schema::{Alias, Argument, Return, Schema};

/// The text of a form's schema.
pub(crate) fn text(func: &Schema, form: &NamedForm) -> String {
    named(func, form.kind, &form.overload.text, &form.outputs)
}

/// The same; `name` is its overload, and `outputs` are names of its outputs, as many as there are.
fn named(func: &Schema, kind: FormKind, name: &str, outputs: &[String]) -> String {
    match kind {
        FormKind::Functional => func.to_string(),
        FormKind::Inplace => {
            let (written, result) = match returns_list(func) {
                true => ("Tensor(a!)[] self", "()"),
                false => ("Tensor(a!) self", "Tensor(a!)"),
            };
            let first = |arg: &Argument| if arg.name() == "self" { written.to_owned() } else { arg.to_string() };
            format!("{name}({}) -> {result}", arguments(func, first))
        }
        FormKind::Copy => {
            let result = if returns_list(func) { "Tensor[]" } else { "Tensor" };
            format!("{name}({}) -> {result}", arguments(func, unaliased))
        }
        FormKind::CopyOut | FormKind::CopyInto if returns_list(func) => {
            format!("{name}({}) -> ()", with_outs(func, &["Tensor(a!)[] out".to_owned()]))
        }
        FormKind::CopyOut | FormKind::CopyInto => {
            format!("{name}({}) -> Tensor(a!)", with_outs(func, &["Tensor(a!) out".to_owned()]))
        }
        FormKind::Out
        | FormKind::Autogen
        | FormKind::OutApart
        | FormKind::OutRestrided
        | FormKind::OutIterated
        | FormKind::OutSized
        | FormKind::OutCopied
        | FormKind::OutCast
        | FormKind::OutMatrix => out(func, kind, name, outputs),
    }
}

fn out(func: &Schema, kind: FormKind, name: &str, outputs: &[String]) -> String {
    if returns_list(func) {
        return format!("{name}({}) -> ()", with_outs(func, &["Tensor(a!)[] out".to_owned()]));
    }
    let returns = func.returns();
    let several = returns.len() > 1;
    // The only output that PyTorch names after its overload.
    let single = if name.ends_with(".grad_input") { "grad_input" } else { "out" };
    // It names what is written by these overloads, and not what they return; forms of its own making, whose outputs it
    // numbers, return nothing that has a name.
    let is_silent = name.ends_with(".output") || kind == FormKind::Autogen && !outputs.is_empty();
    let mut outs = Vec::new();
    let mut results = Vec::new();
    for (i, (letter, result)) in ('a'..='z').zip(returns).enumerate() {
        let numbered = format!("{single}{i}");
        let unnamed = if several { &numbered } else { single };
        let named = outputs.get(i).map(String::as_str).or(result.name()).unwrap_or(unnamed);
        outs.push(format!("Tensor({letter}!) {named}"));
        results.push(match result.name().filter(|_| !is_silent) {
            Some(name) => format!("Tensor({letter}!) {name}"),
            None => format!("Tensor({letter}!)"),
        });
    }
    let results = if several { format!("({})", results.join(", ")) } else { results.concat() };
    format!("{name}({}) -> {results}", with_outs(func, &outs))
}

fn returns_list(func: &Schema) -> bool {
    func.returns().first().is_some_and(|result: &Return| result.ty().is_list())
}

/// The arguments, each as `print` has it.
fn arguments(func: &Schema, print: impl Fn(&Argument) -> String) -> String {
    let mut parts: Vec<String> = func.positional().iter().map(&print).collect();
    if !func.keyword_only().is_empty() {
        parts.push("*".to_owned());
        parts.extend(func.keyword_only().iter().map(&print));
    }
    parts.join(", ")
}

/// The arguments without alias sets, and outputs behind them.
fn with_outs(func: &Schema, outs: &[String]) -> String {
    let mut parts: Vec<String> = func.positional().iter().map(unaliased).collect();
    parts.push("*".to_owned());
    parts.extend(func.keyword_only().iter().map(unaliased));
    parts.extend(outs.iter().cloned());
    parts.join(", ")
}

fn unaliased(arg: &Argument) -> String {
    let text = arg.to_string();
    match arg.ty().alias() {
        Some(alias) if !Alias::is_write(alias) => text.replacen(&alias.to_string(), "", 1),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derived(func: &str, kind: FormKind, name: &str) -> String {
        named(&Schema::parse(func).unwrap(), kind, name, &[])
    }

    #[test]
    fn forms_are_those_of_pytorchs_generator() {
        let add = "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
        assert_eq!(
            derived(add, FormKind::Inplace, "add_.Tensor"),
            "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"
        );
        assert_eq!(
            derived(add, FormKind::Out, "add.out"),
            "add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
        );
        let frexp = "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)";
        assert_eq!(
            derived(frexp, FormKind::Out, "frexp.Tensor_out"),
            "frexp.Tensor_out(Tensor self, *, Tensor(a!) mantissa, Tensor(b!) exponent) -> \
             (Tensor(a!) mantissa, Tensor(b!) exponent)"
        );
        let each = "_foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]";
        assert_eq!(
            derived(each, FormKind::Inplace, "_foreach_add_.List"),
            "_foreach_add_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()"
        );
        assert_eq!(
            derived(each, FormKind::Autogen, "_foreach_add.List_out"),
            "_foreach_add.List_out(Tensor[] self, Tensor[] other, *, Scalar alpha=1, Tensor(a!)[] out) -> ()"
        );
        let two = "topk_like(Tensor self) -> (Tensor, Tensor)";
        assert_eq!(
            derived(two, FormKind::Autogen, "topk_like.out"),
            "topk_like.out(Tensor self, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))"
        );
    }

    #[test]
    fn copies_of_views_alias_nothing() {
        let select = "select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)";
        assert_eq!(
            derived(select, FormKind::Copy, "select_copy.int"),
            "select_copy.int(Tensor self, int dim, SymInt index) -> Tensor"
        );
        let split = "split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]";
        assert_eq!(
            derived(split, FormKind::CopyOut, "split_copy.Tensor_out"),
            "split_copy.Tensor_out(Tensor self, SymInt split_size, int dim=0, *, Tensor(a!)[] out) -> ()"
        );
    }
}
