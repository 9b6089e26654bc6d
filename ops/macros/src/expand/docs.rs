//! The pages of typed functions: what the row's author wrote, the form, options, errors, the other forms, the schema,
//! and the name of PyTorch's page.

use super::item::Item;
use super::{Named, qualified};
use crate::declaration::{Definition, FormKind};
use crate::types::Form;
use proc_macro2::TokenStream;
use quote::quote;

/// The page of a function. Examples stand on one page of each operator.
pub(super) fn function(item: &Item<'_>) -> TokenStream {
    let named = item.named;
    let is_first = named.functions().first().is_some_and(|(_, _, name)| *name == item.name);
    let written = if is_first { written(named) } else { first_paragraph(named) };
    let mut lines = vec![String::new(), format!("This form {}.", item.does)];
    if item.form == Form::With {
        lines.extend(named.options_name().map(|name| format!("Its options are [`{name}`](super::options::{name}).")));
    }
    lines.extend([String::new(), "# Errors".into(), String::new(), item.errors.into()]);
    if is_first {
        lines.extend([String::new(), "# Forms".into(), String::new(), forms(named)]);
        lines.extend([String::new(), format!("Schema: `{}`", named.schema)]);
        lines.extend(formula(named).map(|text| format!("\n{text}")));
        lines.extend(crate::pytorch::page(named.schema).map(|page| format!("\nPyTorch's page: `{page}`.")));
    }
    quote!(#(#[doc = #written])* #(#[doc = #lines])*)
}

/// The page of a method: the sentence, and where the rest is.
pub(super) fn method(item: &Item<'_>) -> TokenStream {
    let lines = first_paragraph(item.named);
    let name = &item.name;
    let does = format!("This form {}: see [`{name}`](super::functions::{name}).", item.does);
    quote!(#(#[doc = #lines])* #[doc = ""] #[doc = #does])
}

/// The lines of the row's documentation, or its name where there is none.
fn written(named: &Named<'_>) -> Vec<String> {
    let lines: Vec<String> = named
        .row
        .docs
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            syn::Meta::NameValue(pair) => match &pair.value {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
                _ => None,
            },
            _ => None,
        })
        .collect();
    if lines.is_empty() { vec![format!("`{}`.", qualified(named.schema))] } else { lines }
}

fn first_paragraph(named: &Named<'_>) -> Vec<String> {
    written(named).into_iter().take_while(|line| !line.trim().is_empty()).collect()
}

/// Links to all forms.
fn forms(named: &Named<'_>) -> String {
    let names = named.functions().into_iter().map(|(_, _, name)| format!("[`{name}`](super::functions::{name})"));
    let mut all: Vec<String> = names.collect();
    if named.has_prepared() {
        let name = named.rust_name().map(|name| name.to_string()).unwrap_or_default();
        all.push(format!("[`prepared::{name}`](super::prepared::{name})"));
    }
    let by_name = named.forms().into_iter().map(|(kind, schema)| {
        let name = schema.split('(').next().unwrap_or_default().to_owned();
        (kind, format!("`{name}`"))
    });
    let by_name: Vec<String> = by_name.filter(|(kind, _)| *kind != FormKind::OutApart).map(|(_, name)| name).collect();
    format!("{}; by name {}.", all.join(", "), by_name.join(", "))
}

/// Where dtypes, promotion and formula are.
fn formula(named: &Named<'_>) -> Option<String> {
    let Definition::Structured(ty) = &named.row.definition else { return None };
    let text = super::family::argument(ty)?.to_string().replace(' ', "");
    let is_name = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| format!("Dtypes and formula: [`{text}`](super::{text})."))
}
