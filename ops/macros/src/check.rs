//! The rules of declarations that no single option shows. Whether an operator takes the arguments of its schema is
//! left to the compiler, which says so at the operator's own tokens.

use crate::declaration::{Definition, Family, FormKind, Func, NamedForm, Row};
use crate::expand::qualified;
use crate::forms;
use crate::pytorch;
use crate::types::{Arg, plain_result};
use monomorph_schema::{Base, Schema, Type};
use proc_macro2::{Ident, TokenStream};
use syn::Error;

/// The first violation, at the token that is wrong.
pub(crate) fn family(family: &Family) -> syn::Result<()> {
    let mut names: Vec<String> = Vec::new();
    for row in &family.rows {
        let Some(func) = &row.func else {
            nameless(row)?;
            continue;
        };
        let name = qualified(&func.schema);
        if names.contains(&name) {
            return Err(Error::new(func.text.span(0), format!("`{name}` is declared twice; accepted is once")));
        }
        names.push(name);
        declaration(row, func)?;
    }
    Ok(())
}

fn nameless(row: &Row) -> syn::Result<()> {
    let is_kernel = matches!(row.definition, Definition::Structured(_));
    if is_kernel && row.forms.is_empty() {
        return Ok(());
    }
    Err(Error::new(
        row.span,
        "an operator without `func` has no forms; accepted is `structured` alone, whose kernels others use",
    ))
}

fn declaration(row: &Row, func: &Func) -> syn::Result<()> {
    let at = |place: usize| func.text.span(place);
    if let Some(objection) = pytorch::objection(&func.schema) {
        return Err(Error::new(at(0), objection));
    }
    for arg in func.schema.args() {
        let span = at(place(&func.text.text, arg.name()));
        if Arg::new(arg, row, span).marker(&TokenStream::new()).is_none() {
            let message =
                format!("argument `{}` has type `{}`, for which there is no Rust type yet", arg.name(), arg.ty());
            return Err(Error::new(span, message));
        }
    }
    aliases(row, func)?;
    each(row, func)?;
    direct(row, func)?;
    for form in &row.forms {
        form_of(row, func, form)?;
    }
    arguments(row, func)?;
    let method_of = func.schema.args().next().filter(|arg| arg.name() == "self" && arg.ty().is_tensor());
    if row.is_method && method_of.is_none() {
        let message =
            "found variant `method`; accepted is `function` alone, since the first argument is not `Tensor self`";
        return Err(Error::new(at(0), message));
    }
    Ok(())
}

/// An operator for each item of lists: there are lists, and so are the results.
fn each(row: &Row, func: &Func) -> syn::Result<()> {
    let Definition::Each(operator) = &row.definition else { return Ok(()) };
    let is_list = |ty: &Type| ty.is_tensor() && ty.is_list();
    let lists = func.schema.args().any(|arg| is_list(arg.ty()));
    if lists && func.schema.returns().iter().all(|result| is_list(result.ty())) {
        return Ok(());
    }
    let message = "found `each`; accepted is it where an argument is `Tensor[]` and the result is `Tensor[]`, or none";
    Err(Error::new(operator.span(0), message))
}

/// What options say of arguments: there are such arguments, and it can be said of them.
fn arguments(row: &Row, func: &Func) -> syn::Result<()> {
    let schema = &func.schema;
    let named = |name: &Ident| schema.args().find(|arg| *name == arg.name());
    let positional = row.positional.iter().map(|name| ("positional", name));
    let options = row.options.iter().map(|(name, _)| ("options", name));
    let numbers = row.numbers.iter().map(|name| ("numbers", name));
    let silent_write = row.silent_write.iter().map(|name| ("silent_write", name));
    for (option, name) in positional.chain(options).chain(numbers).chain(silent_write) {
        let (is_accepted, accepted) = match (option, named(name)) {
            (_, None) => (false, "the name of an argument"),
            ("positional", Some(arg)) => (arg.default().is_some(), "an argument with a default"),
            ("options", Some(arg)) => (arg.default().is_none(), "an argument without a default"),
            ("silent_write", Some(arg)) => (may_be_off(arg.ty()), "a `bool`, or an argument that may be left out"),
            (_, Some(arg)) => (arg.ty().is_plain_tensor(), "a tensor"),
        };
        if !is_accepted {
            let message = format!("found `{name}` in `{option}`; accepted is {accepted}");
            return Err(Error::new(name.span(), message));
        }
    }
    Ok(())
}

fn may_be_off(ty: &Type) -> bool {
    ty.is_optional() || ty.base() == Base::Bool && !ty.is_list()
}

/// Where the name of an argument stands in the text of a schema.
fn place(text: &str, name: &str) -> usize {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let whole = |at: &usize| !text[..*at].ends_with(is_word) && !text[*at + name.len()..].starts_with(is_word);
    text.match_indices(name).map(|(at, _)| at).find(whole).unwrap_or(0)
}

/// Only what is written over the callees of a composition runs on typed functions, too.
fn direct(row: &Row, func: &Func) -> syn::Result<()> {
    let Some(span) = row.direct else { return Ok(()) };
    let is_plain = |ty: &Type| !ty.is_tensor() || ty.is_plain_tensor();
    let is_one = matches!(func.schema.returns(), [one] if one.ty().is_plain_tensor());
    if matches!(row.definition, Definition::Composed(..)) && func.schema.args().all(|arg| is_plain(arg.ty())) && is_one
    {
        return Ok(());
    }
    let message = "found `direct`; accepted is it beside `composed`, where no argument is a list of tensors or may be \
        absent, and the result is one tensor";
    Err(Error::new(span, message))
}

/// A view says whose storage it shares; what computes shares none; what is written is named by the forms.
fn aliases(row: &Row, func: &Func) -> syn::Result<()> {
    let schema = &func.schema;
    let is_view = matches!(row.definition, Definition::View(_) | Definition::Views(_));
    let computes = matches!(row.definition, Definition::Structured(_) | Definition::Operator(_));
    for result in schema.returns() {
        let is_function = matches!(
            row.definition,
            Definition::Kernel(..) | Definition::Composite(..) | Definition::Composed(..) | Definition::Redirect(..)
        );
        let is_plain = is_function && plain_result(&TokenStream::new(), result.ty()).is_some();
        if !result.ty().is_tensor() && !is_plain {
            let message = format!(
                "found a result of type `{}`; accepted are `Tensor` and `Tensor[]`, and of functions `bool`, `int`, \
                 `float`, `Scalar` and `ScalarType`",
                result.ty()
            );
            return Err(Error::new(func.text.span(last_place(&func.text.text, &result.ty().to_string())), message));
        }
        let Some(alias) = result.ty().alias().filter(|alias| !alias.is_write()) else { continue };
        let span = func.text.span(last_place(&func.text.text, &alias.to_string()));
        if computes {
            let message =
                "found an alias annotation; a structured operator returns tensors of its own, so accepted is `Tensor`";
            return Err(Error::new(span, message));
        }
        let of_argument = |set: &str| {
            schema.args().filter_map(|arg| arg.ty().alias()).any(|other| other.before().any(|known| known == set))
        };
        if let Some(unknown) = alias.before().find(|set| !of_argument(set)) {
            return Err(Error::new(
                span,
                format!("found the alias set `{unknown}`, which no argument has; accepted is one that an argument has"),
            ));
        }
    }
    for arg in schema.args() {
        let Some(alias) = arg.ty().alias() else { continue };
        let span = func.text.span(place(&func.text.text, arg.name()));
        let writes = matches!(row.definition, Definition::Kernel(..));
        if alias.is_write() && !writes && !schema.is_inplace() && !schema.is_out() {
            let message = format!(
                "argument `{}` is marked as written; accepted is `Tensor`: `inplace` and `out` mark what their forms \
                 write",
                arg.name()
            );
            return Err(Error::new(span, message));
        }
        if !alias.is_write() && computes {
            let message = format!(
                "argument `{}` is in an alias set; a structured operator shares no storage, so accepted is `Tensor`",
                arg.name()
            );
            return Err(Error::new(span, message));
        }
    }
    let shares = schema.returns().iter().any(|result| result.ty().alias().is_some());
    if is_view && !shares && !row.is_silent_view && !schema.is_out() {
        let message = "a view says whose storage it shares; accepted are `Tensor(a) self` with `Tensor(a)`, \
            `Tensor(a -> *) self` with `Tensor(a)[]`, and the option `silent_view: true` for schemas that keep quiet";
        return Err(Error::new(func.text.span(0), message));
    }
    if row.is_silent_view && shares {
        return Err(Error::new(
            func.text.span(0),
            "found `silent_view`, but the schema says whose storage is shared; accepted is one of both",
        ));
    }
    Ok(())
}

/// The last place of a part of a text.
fn last_place(text: &str, part: &str) -> usize {
    text.rfind(&part.replace(' ', "")).or_else(|| text.rfind(part)).unwrap_or(0)
}

fn form_of(row: &Row, func: &Func, form: &NamedForm) -> syn::Result<()> {
    let span = form.overload.span(0);
    let is_view = matches!(row.definition, Definition::View(_) | Definition::Views(_));
    let copies = matches!(form.kind, FormKind::Copy | FormKind::CopyOut | FormKind::CopyInto);
    if copies != is_view && form.kind != FormKind::Inplace {
        let message = if copies {
            "only views have copies"
        } else {
            "a view has the forms inplace, copy, copy_out and copy_into"
        };
        return Err(Error::new(span, message));
    }
    if func.schema.is_out() || func.schema.is_inplace() {
        let message = "other forms follow from the functional one; accepted is a schema that writes no argument";
        return Err(Error::new(func.text.span(0), message));
    }
    let of_lists = matches!(row.definition, Definition::Each(_));
    let is_written = |ty: &Type| if of_lists { ty.is_tensor() && ty.is_list() } else { ty.is_plain_tensor() };
    let first = func.schema.args().next().is_some_and(|arg| arg.name() == "self" && is_written(arg.ty()));
    if form.kind == FormKind::Inplace && !first {
        let message = "an in-place form writes the first argument; accepted is it where that is `Tensor self`, or \
            `Tensor[] self` beside `each`";
        return Err(Error::new(span, message));
    }
    let text = forms::text(&func.schema, form);
    let schema = Schema::parse(&text).map_err(|error| {
        Error::new(span, format!("the schema of this form would be `{text}`: {}", error.accepted()))
    })?;
    match pytorch::objection(&schema) {
        Some(objection) => Err(Error::new(span, objection)),
        None => Ok(()),
    }
}
