//! The pages of typed functions: what the row's author wrote, the form, options, errors, the other forms, the schema,
//! and the name of PyTorch's page.
//!
//! A row of the tree writes no more of an example than the lines that a reader is to see:
//!
//! ```text
//! /// Adds `other`, scaled by `alpha`.
//! ///
//! /// ```
//! /// assert_eq!(tensor![1, 2].add(10)?.to_vec::<i32>()?, [11, 12]);
//! /// ```
//! ```
//!
//! What the facade crate needs around them stands in front and behind: the imports, which are shown, and a `main` that
//! returns errors, which is hidden.

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
    let written = match is_first {
        true if named.is_in_tree => programs(written(named)),
        true => written(named),
        false => first_paragraph(named),
    };
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
    elsewhere(item)
}

/// The page of a meta function, which is that of a method and its errors.
pub(super) fn meta(item: &Item<'_>) -> TokenStream {
    let (page, errors) = (elsewhere(item), item.errors);
    quote!(#page #[doc = ""] #[doc = "# Errors"] #[doc = ""] #[doc = #errors])
}

/// The sentence, and where the rest is.
fn elsewhere(item: &Item<'_>) -> TokenStream {
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
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => {
                    let text = text.value();
                    Some(text.strip_prefix(' ').map(str::to_owned).unwrap_or(text))
                }
                _ => None,
            },
            _ => None,
        })
        .collect();
    if lines.is_empty() { vec![format!("`{}`.", qualified(named.schema))] } else { lines }
}

/// The examples among `lines` as programs.
fn programs(lines: Vec<String>) -> Vec<String> {
    let has_functions = lines.iter().any(|line| line.contains("ops::"));
    let imports = if has_functions { "use monomorph::{ops, prelude::*};" } else { "use monomorph::prelude::*;" };
    let (mut all, mut is_open, mut is_example) = (Vec::with_capacity(lines.len()), false, false);
    for line in lines {
        let is_fence = line.starts_with("```");
        if is_fence && is_example {
            all.extend(["# Ok(())".to_owned(), "# }".to_owned()]);
        }
        let opens_example = is_fence && !is_open && line == "```";
        all.push(line);
        if opens_example {
            all.extend([imports.to_owned(), "# fn main() -> monomorph::Result<()> {".to_owned()]);
        }
        is_open ^= is_fence;
        is_example = if is_fence { opens_example } else { is_example };
    }
    all
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
