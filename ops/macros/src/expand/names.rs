//! The Rust names of typed functions: of each form one that leaves the options out, and one that takes them.

use super::Named;
use crate::declaration::{Definition, FormKind};
use crate::types::{Arg, Form};
use proc_macro2::Ident;
use quote::format_ident;

impl Named<'_> {
    /// The name of the functional form, or of the only one; `None` for a row that is called by name only.
    pub(super) fn rust_name(&self) -> Option<Ident> {
        if !self.row.is_function {
            return None;
        }
        if let Some(name) = &self.row.name {
            let text = name.to_string();
            return Some(format_ident!("{}", text.strip_suffix("_with").unwrap_or(&text), span = name.span()));
        }
        let name = self.schema.name();
        let plain = if self.schema.is_out() { format!("{name}_out") } else { name.trim_start_matches('_').to_owned() };
        Some(crate::tokens::parameter(&plain, self.span))
    }

    /// Which functions there are of each form. A name that ends in `_with` says that another overload leaves the
    /// options out.
    pub(super) fn variants(&self) -> Vec<Form> {
        let only_with = self.row.name.as_ref().is_some_and(|name| name.to_string().ends_with("_with"));
        let has_options = self.args.iter().any(Arg::is_option);
        [Form::Short, Form::With]
            .into_iter()
            .filter(|form| match form {
                Form::Short => !only_with,
                Form::With => has_options,
            })
            .collect()
    }

    /// The name of one form's function; `None` for a form that is called by name only.
    pub(super) fn function_name(&self, kind: FormKind, overload: &str, form: Form) -> Option<Ident> {
        let name = self.rust_name()?;
        let text = name.to_string();
        let stem = text.trim_end_matches('_');
        let computes = self.row.definition.operator().is_some();
        let short = match kind {
            _ if kind == self.own_form() => text,
            FormKind::Inplace if computes || matches!(self.row.definition, Definition::View(_)) => format!("{text}_"),
            FormKind::Out if computes => format!("{stem}_out"),
            // PyTorch's own name of it, where that is one of Rust, too.
            FormKind::Copy if overload.starts_with('_') => overload.trim_start_matches('_').to_owned(),
            FormKind::Copy => format!("{stem}_copy"),
            _ => return None,
        };
        let all = match (form, short.strip_suffix('_')) {
            (Form::Short, _) => short,
            (Form::With, Some(stem)) => format!("{stem}_with_"),
            (Form::With, None) => format!("{short}_with"),
        };
        Some(format_ident!("{all}", span = name.span()))
    }

    /// All functions: of which form, with options or without, under which name.
    pub(super) fn functions(&self) -> Vec<(FormKind, Form, Ident)> {
        let variants = self.variants();
        let mut all = Vec::new();
        for (kind, _) in self.forms() {
            let overload = self.row.forms.iter().find(|form| form.kind == kind).map_or("", |form| &form.overload.text);
            for &form in &variants {
                all.extend(self.function_name(kind, overload, form).map(|name| (kind, form, name)));
            }
        }
        all
    }

    /// The name of the type of the options.
    pub(super) fn options_name(&self) -> Option<Ident> {
        let name = self.rust_name()?;
        let mut camel = String::new();
        for word in name.to_string().split('_') {
            let mut letters = word.chars();
            camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
            camel.push_str(letters.as_str());
        }
        // Names that std's prelude has, or the root of the facade.
        if matches!(&*camel, "Clone" | "Copy" | "Drop" | "Eq" | "Ord" | "Into" | "From" | "Index" | "Stack") {
            camel.push_str("Options");
        }
        Some(format_ident!("{camel}", span = name.span()))
    }
}
