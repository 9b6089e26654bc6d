//! Writes what declarations stand for: one function for each thing that is generated.

mod docs;
mod family;
mod function_forms;
mod item;
mod names;
mod operator_forms;
mod options;
mod row;
mod trace;
mod typed;
mod view_forms;

use crate::declaration::{Family, FormKind, Row};
use crate::forms;
use crate::types::Arg;
use monomorph_schema::Schema;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};

pub(crate) use family::families;

/// Everything that follows from a family.
pub(crate) fn family(family: &Family) -> TokenStream {
    let typed = typed::modules(family);
    let rows = family.rows.iter().filter_map(|row| Some(row::row(family, &Named::of(family, row)?)));
    let items = family::items(family);
    let local = match family.is_in_tree() {
        true => TokenStream::new(),
        false => quote! {
            /// A declaration by the hash of its name.
            #[derive(Debug)]
            pub struct LocalRow<const NAME: u64>;
        },
    };
    let (names, list) = (family::kernel_names(family), family::kernel_list(family));
    quote! {
        /// What follows from the declarations of this family.
        #[doc(hidden)]
        pub mod native {
            #[allow(unused_imports, reason = "declarations name what the module around them has in scope")]
            use super::*;
            #typed
            #(#rows)*
            #items
            #names
            #local
        }
        #list
    }
}

/// What stands for a family that was refused: nothing but the error, and the names that others look for, so that it
/// is the only error.
pub(crate) fn refused(input: TokenStream, error: &TokenStream) -> TokenStream {
    let root = match input.into_iter().next() {
        Some(TokenTree::Group(group)) => group.stream(),
        _ => return error.clone(),
    };
    let kernels = quote!(Vec<Vec<#root::core::dispatch::KernelFunction>>);
    quote! {
        #error
        #[allow(missing_docs, reason = "what was to be here was refused")]
        pub mod native {
            pub mod functions {}
            pub mod methods {}
            pub mod options {}
            pub mod meta {}
            pub mod prepared {}
            pub fn entries() -> Vec<#root::table::Entry> { Vec::new() }
            pub fn structured_kernels<D>() -> #kernels { Vec::new() }
            pub fn function_kernels<D>() -> #kernels { Vec::new() }
        }
    }
}

/// Tokens of ours at the place of a token of the user's, where the compiler looks at the first of them.
fn placed(tokens: TokenStream, span: Span) -> TokenStream {
    let place = |mut token: TokenTree| {
        token.set_span(at(span));
        token
    };
    tokens.into_iter().map(place).collect()
}

/// The place of a token of the user's, for tokens of ours: they resolve like all others that are written here.
fn at(span: Span) -> Span {
    span.resolved_at(Span::call_site())
}

/// A row that has a name, with its arguments in Rust's terms.
struct Named<'a> {
    row: &'a Row,
    schema: &'a Schema,
    span: Span,
    core: TokenStream,
    table: TokenStream,
    /// True in the crate of the machinery; elsewhere rows are types of the caller's crate.
    /// The device of shapes.
    meta: TokenStream,
    is_in_tree: bool,
    /// The arguments, without outputs.
    args: Vec<Arg<'a>>,
}

impl<'a> Named<'a> {
    fn of(family: &Family, row: &'a Row) -> Option<Named<'a>> {
        let func = row.func.as_ref()?;
        let span = at(func.text.span(0));
        let root = &family.root;
        let inputs = func.schema.args().len() - func.schema.out_args().len();
        let args = func.schema.args().take(inputs).map(|arg| Arg::new(arg, row, span)).collect();
        let (core, table, meta) = (quote!(#root::core), quote!(#root::table), quote!(#root::Meta));
        Some(Named { row, schema: &func.schema, span, core, table, meta, is_in_tree: family.is_in_tree(), args })
    }

    /// The row's place among types.
    fn key(&self) -> TokenStream {
        let (table, hash) = (&self.table, hash(&qualified(self.schema)));
        if self.is_in_tree { quote!(#table::Row<#hash>) } else { quote!(LocalRow<#hash>) }
    }

    /// A name for the function that typed functions call: theirs may be the same.
    fn callee_alias(&self) -> Ident {
        format_ident!("__call_{}", qualified(self.schema).replace(['.', ':'], "_"), span = self.span)
    }

    /// The markers of the arguments as a tuple type.
    fn signature(&self) -> TokenStream {
        let markers = self.args.iter().map(|arg| arg.marker(&self.core));
        quote!((#(#markers,)*))
    }

    /// The values of the arguments as a tuple type.
    fn values(&self, lifetime: &TokenStream) -> TokenStream {
        let values = self.args.iter().map(|arg| arg.value_type(&self.core, lifetime));
        quote!((#(#values,)*))
    }

    /// Kinds and schemas of all forms, its own first.
    fn forms(&self) -> Vec<(FormKind, String)> {
        let others = self.row.forms.iter().map(|form| (form.kind, forms::text(self.schema, form)));
        std::iter::once((self.own_form(), self.schema.to_string())).chain(others).collect()
    }

    /// The name of a form's operator, without its overload: what errors report.
    fn called(&self, kind: FormKind) -> String {
        self.overload(kind).split('.').next().unwrap_or_default().to_owned()
    }

    /// The name of a form's operator, with its overload.
    fn overload(&self, kind: FormKind) -> String {
        let schema = self.forms().into_iter().find(|(other, _)| *other == kind).map(|(_, schema)| schema);
        let name = schema.unwrap_or_else(|| qualified(self.schema));
        name.split('(').next().unwrap_or_default().to_owned()
    }

    /// The form that the schema of the row is of.
    fn own_form(&self) -> FormKind {
        match () {
            () if self.schema.is_out() => FormKind::Out,
            () if self.schema.is_inplace() => FormKind::Inplace,
            () => FormKind::Functional,
        }
    }
}

/// The name by which an operator is looked up.
pub(crate) fn qualified(schema: &Schema) -> String {
    match schema.namespace() {
        Some(namespace) => format!("{namespace}::{}", schema.full_name()),
        None => schema.full_name().to_owned(),
    }
}

/// The hash of a name, as `monomorph_ops::table::name` computes it (64-bit FNV-1a).
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
