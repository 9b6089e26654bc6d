//! The typed forms: functions, methods through a trait of the same name, meta functions, prepared calls.

use super::Named;
use crate::declaration::{Definition, Family, FormKind};
use crate::types::Arg;
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

/// The modules of typed forms.
pub(super) fn module(family: &Family) -> TokenStream {
    let (mut functions, mut meta, mut prepared) = (TokenStream::new(), TokenStream::new(), TokenStream::new());
    for named in family.rows.iter().filter_map(|row| Named::of(family, row)) {
        let Some(name) = named.rust_name() else { continue };
        for (rust, is_short) in [(Some(name), true), (named.row.full.clone(), false)] {
            let Some(rust) = rust else { continue };
            functions.extend(forms(&named, &rust, is_short));
            if named.row.definition.operator().is_some() && !named.schema.is_out() && !named.schema.is_inplace() {
                meta.extend(meta_function(&named, &rust, is_short));
            }
        }
        prepared.extend(prepared_function(&named));
    }
    quote! {
        /// Functions and methods.
        pub mod functions {
            #[allow(unused_imports, reason = "declarations name what the module around them has in scope")]
            use super::*;
            #functions
        }
        /// The functional forms on meta tensors.
        pub mod meta {
            #[allow(unused_imports, reason = "declarations name what the module around them has in scope")]
            use super::*;
            #meta
        }
        /// Calls that are checked once and run again and again.
        pub mod prepared {
            #[allow(unused_imports, reason = "declarations name what the module around them has in scope")]
            use super::*;
            #prepared
        }
    }
}

fn forms(named: &Named<'_>, rust: &Ident, is_short: bool) -> TokenStream {
    let mut all = TokenStream::new();
    let is_operator = named.row.definition.operator().is_some();
    for (kind, _, _) in named.forms() {
        let name = match kind {
            FormKind::Functional => Some(rust.clone()),
            FormKind::Inplace if named.schema.is_inplace() => Some(rust.clone()),
            FormKind::Out if named.schema.is_out() => Some(rust.clone()),
            _ => None,
        };
        let overload = named.row.forms.iter().find(|form| form.kind == kind).map_or("", |form| &form.overload.text);
        let Some(name) = name.or_else(|| super::form_name(rust, kind, overload)) else { continue };
        all.extend(match (&named.row.definition, kind) {
            (Definition::View(_), FormKind::Functional) => view(named, &name, &quote!(shared)),
            (Definition::View(_), FormKind::Copy) => view(named, &name, &quote!(copied)),
            (Definition::View(_), FormKind::Inplace) => inplace_view(named, &name),
            (Definition::Views(_), FormKind::Functional) => view(named, &name, &quote!(shared_parts)),
            (Definition::Views(_), FormKind::Copy) => view(named, &name, &quote!(copied_parts)),
            (_, FormKind::Functional) if is_operator => functional(named, &name, is_short),
            (_, FormKind::Inplace) if is_operator => inplace(named, &name, is_short),
            (_, FormKind::Out) if is_operator => out(named, &name, is_short),
            _ => TokenStream::new(),
        });
    }
    all
}

impl Named<'_> {
    fn parameters(&self, is_short: bool) -> impl Iterator<Item = &Arg<'_>> {
        self.args.iter().filter(move |arg| !(is_short && arg.is_fixed()))
    }

    /// `name: type` of each parameter behind the first `skip`.
    fn parameter_list(&self, is_short: bool, skip: usize) -> TokenStream {
        let each = self.parameters(is_short).skip(skip).map(|arg| {
            let (name, ty) = (&arg.rust, arg.parameter_type(&self.core));
            quote!(#name: #ty)
        });
        quote!(#(#each),*)
    }

    fn arguments(&self, is_short: bool, skip: usize) -> TokenStream {
        let each = self.args.iter().skip(skip).map(|arg| arg.value(&self.core, is_short));
        quote!(#(#each,)*)
    }

    fn names(&self, is_short: bool, skip: usize) -> TokenStream {
        let each = self.parameters(is_short).skip(skip).map(|arg| &arg.rust);
        quote!(#(#each),*)
    }

    /// One `item`, or as many as there are results in parentheses.
    fn each_result(&self, item: &TokenStream) -> TokenStream {
        match self.schema.returns().len() {
            1 => item.clone(),
            count => {
                let items = (0..count).map(|_| item);
                quote!((#(#items),*))
            }
        }
    }

    /// Turns an array of results into one result or a tuple.
    fn tuple(&self, array: &TokenStream) -> TokenStream {
        let names: Vec<Ident> = (0..self.schema.returns().len()).map(|i| quote::format_ident!("r{i}")).collect();
        match &names[..] {
            [one] => quote!({ let [#one] = #array; #one }),
            several => quote!({ let [#(#several),*] = #array; (#(#several),*) }),
        }
    }

    /// Turns the parameter `out` into an array.
    fn array(&self) -> TokenStream {
        let names: Vec<Ident> = (0..self.schema.returns().len()).map(|i| quote::format_ident!("r{i}")).collect();
        match &names[..] {
            [_] => quote!([out]),
            several => quote!({ let (#(#several),*) = out; [#(#several),*] }),
        }
    }

    /// What is written about the operator, and then about the form.
    fn docs(&self, form: &str) -> TokenStream {
        let docs = &self.row.docs;
        let form = format!("`{}`{form}", super::qualified(self.schema));
        if docs.is_empty() { quote!(#[doc = #form]) } else { quote!(#(#docs)* #[doc = ""] #[doc = #form]) }
    }

    fn operator(&self) -> TokenStream {
        self.row.definition.operator().map_or(TokenStream::new(), |ty| quote!(#ty))
    }

    fn is_method(&self) -> bool {
        self.row.is_method && self.args.first().is_some_and(Arg::is_tensor)
    }
}

fn functional(named: &Named<'_>, name: &Ident, is_short: bool) -> TokenStream {
    let (core, op, count) = (&named.core, named.operator(), named.schema.returns().len());
    let (params, args, values) =
        (named.parameter_list(is_short, 0), named.arguments(is_short, 0), named.values(&quote!('t)));
    let output = named.each_result(&quote!(#core::Tensor<D>));
    let result = named.tuple(&quote!(outputs));
    let docs = named.docs(": the functional form. Errors are those of its meta function.");
    let bound = quote!(#op: #core::structured::Operator<'t, D, #values>);
    let method = method(named, name, is_short, &quote!(&'t self), &output, &bound, &quote!(D: 't,));
    quote_spanned! {named.span=>
        #docs
        pub fn #name<'t, D: #core::Device>(#params) -> #core::Result<#output>
        where
            #bound,
        {
            let args = (#args);
            let sink = #core::structured::Functional::<D, #count>::default();
            let outputs = <#op as #core::structured::Operator<'t, D, _>>::call(args, sink)?;
            Ok(#result)
        }
        #method
    }
}

fn out(named: &Named<'_>, name: &Ident, is_short: bool) -> TokenStream {
    let (core, op) = (&named.core, named.operator());
    let (params, args, values) =
        (named.parameter_list(is_short, 0), named.arguments(is_short, 0), named.values(&quote!('t)));
    let output = named.each_result(&quote!(&'t mut #core::Tensor<D>));
    let (array, result) = (named.array(), named.tuple(&quote!(outputs)));
    let docs = named.docs(
        " into tensors of the caller, which are resized where needed. Errors are those of its meta function, and leave \
         every argument as it was.",
    );
    let comma = if params.is_empty() { quote!() } else { quote!(,) };
    quote_spanned! {named.span=>
        #docs
        pub fn #name<'t, D: #core::Device>(#params #comma out: #output) -> #core::Result<#output>
        where
            #op: #core::structured::Operator<'t, D, #values>,
        {
            let args = (#args);
            let sink = #core::structured::Out(#array);
            let outputs = <#op as #core::structured::Operator<'t, D, _>>::call(args, sink)?;
            Ok(#result)
        }
    }
}

fn inplace(named: &Named<'_>, name: &Ident, is_short: bool) -> TokenStream {
    let (core, op) = (&named.core, named.operator());
    let (params, args, values) =
        (named.parameter_list(is_short, 1), named.arguments(is_short, 1), named.values(&quote!('s)));
    let output = quote!(&'t mut #core::Tensor<D>);
    let docs = named.docs(" written to its first argument. Errors are those of its meta function.");
    let bound = quote!(#op: for<'s> #core::structured::Operator<'s, D, #values>);
    let method = method(named, name, is_short, &quote!(&'t mut self), &output, &bound, &quote!(D: 't,));
    quote_spanned! {named.span=>
        #docs
        pub fn #name<'t, D: #core::Device>(this: &'t mut #core::Tensor<D>, #params) -> #core::Result<#output>
        where
            #bound,
        {
            #core::structured::in_place(this, move |input, sink, _| {
                let args = (#core::structured::Operand::from(input), #args);
                <#op as #core::structured::Operator<'_, D, _>>::call(args, sink)
            })
        }
        #method
    }
}

fn meta_function(named: &Named<'_>, name: &Ident, is_short: bool) -> TokenStream {
    let (core, op, count) = (&named.core, named.operator(), named.schema.returns().len());
    let meta = &named.meta;
    let (params, args, values) =
        (named.parameter_list(is_short, 0), named.arguments(is_short, 0), named.values(&quote!('t)));
    let output = named.each_result(&quote!(#core::Tensor<#meta>));
    let result = named.tuple(&quote!(outputs));
    let docs = named.docs(" without data: sizes, strides and dtype of the result, or the error.");
    quote_spanned! {named.span=>
        #docs
        pub fn #name<'t, D: #core::Device>(#params) -> #core::Result<#output>
        where
            #op: #core::structured::Operator<'t, #meta, #values>,
        {
            let args = (#args);
            let sink = #core::structured::Functional::<#meta, #count>::default();
            let outputs = <#op as #core::structured::Operator<'t, #meta, _>>::call(args, sink)?;
            Ok(#result)
        }
    }
}

/// Of structured operators that have an out= form, with all arguments.
fn prepared_function(named: &Named<'_>) -> TokenStream {
    let has_forms = named.row.forms.iter().any(|form| form.kind != FormKind::Functional);
    let (Definition::Structured(op), Some(name), true) = (&named.row.definition, named.rust_name(), has_forms) else {
        return TokenStream::new();
    };
    let (core, count) = (&named.core, named.schema.returns().len());
    let (params, args, values) = (named.parameter_list(false, 0), named.arguments(false, 0), named.values(&quote!('t)));
    let (outs, array) = (named.each_result(&quote!(&'t mut #core::Tensor<D>)), named.array());
    let docs = named.docs(
        " checked once and kept: `run` then writes the output anew from the present contents of the operands, with no \
         check and no allocation.",
    );
    quote_spanned! {named.span=>
        #docs
        pub fn #name<'t, D>(#params, out: #outs)
            -> #core::Result<#core::structured::Prepared<'t, #op, D, #count>>
        where
            D: #core::structured::Executes<#op>,
            <#op as #core::structured::StructuredOp>::Inputs<'t>: #core::structured::FromArgs<#values>,
        {
            let args = (#args);
            let inputs = #core::structured::FromArgs::from_args(args)?;
            #core::structured::prepare::<#op, D, #count>(&inputs, #array)
        }
    }
}

/// A view: the function maps a geometry to geometries over the same storage, or copied.
fn view(named: &Named<'_>, name: &Ident, made: &TokenStream) -> TokenStream {
    let path = named.view_alias();
    let (core, table) = (&named.core, &named.table);
    let (params, args) = (named.parameter_list(true, 1), named.arguments(true, 1));
    let made_text = made.to_string();
    let output = if made_text.ends_with("parts") { quote!(Vec<#core::Tensor<D>>) } else { quote!(#core::Tensor<D>) };
    let docs = named.docs(match &*made_text {
        "shared" => ": a view that shares the storage. Errors if there is no such view.",
        "copied" => ": a contiguous copy of this view. Errors if there is no such view.",
        "shared_parts" => ": views that share the storage. Errors if there are none such.",
        _ => ": contiguous copies of these views. Errors if there are none such.",
    });
    let text = name.to_string();
    let method = method(named, name, true, &quote!(&'t self), &output, &quote!(), &quote!());
    quote_spanned! {named.span=>
        #docs
        #[allow(clippy::needless_lifetimes, reason = "declarations with a list argument need the name")]
        pub fn #name<'t, D: #core::Device>(this: &'t #core::Tensor<D>, #params) -> #core::Result<#output> {
            let _span = #core::observe::operator(#text, [this.geometry()]);
            #path(this.geometry(), #args)
                .and_then(|geometry| #table::#made(this, geometry))
                .map_err(|e| e.of(#text))
        }
        #method
    }
}

/// The same on the tensor's own geometry.
fn inplace_view(named: &Named<'_>, name: &Ident) -> TokenStream {
    let path = named.view_alias();
    let core = &named.core;
    let (params, args) = (named.parameter_list(true, 1), named.arguments(true, 1));
    let output = quote!(&'t mut #core::Tensor<D>);
    let docs = named.docs(" on the tensor itself: changes its sizes and strides, not its data.");
    let (text, operator) = (name.to_string(), super::qualified(named.schema));
    let method = method(named, name, true, &quote!(&'t mut self), &output, &quote!(), &quote!());
    quote_spanned! {named.span=>
        #docs
        #[allow(clippy::needless_lifetimes, reason = "declarations with a list argument need the name")]
        pub fn #name<'t, D: #core::Device>(this: &'t mut #core::Tensor<D>, #params) -> #core::Result<#output> {
            let _span = #core::observe::operator(#text, [this.geometry()]);
            let geometry = #path(this.geometry(), #args);
            geometry.and_then(|geometry| this.set_view(geometry)).map_err(|e| e.of(#operator))?;
            Ok(this)
        }
        #method
    }
}

/// The method of a function whose first argument is `self`.
fn method(
    named: &Named<'_>,
    name: &Ident,
    is_short: bool,
    receiver: &TokenStream,
    output: &TokenStream,
    bound: &TokenStream,
    lives: &TokenStream,
) -> TokenStream {
    if !named.is_method() {
        return TokenStream::new();
    }
    let core = &named.core;
    let (params, names) = (named.parameter_list(is_short, 1), named.names(is_short, 1));
    let what = format!("The method [`{name}`](fn@{name}).");
    let see = format!("See the function [`{name}`](fn@{name}).");
    let bounds = if bound.is_empty() { quote!() } else { quote!(where #lives #bound) };
    quote_spanned! {named.span=>
        #[allow(non_camel_case_types, reason = "one `use` brings a function and its method")]
        #[doc = #what]
        pub trait #name<D: #core::Device> {
            #[doc = #see]
            #[allow(clippy::needless_lifetimes, reason = "declarations with a list argument need the name")]
            fn #name<'t>(#receiver, #params) -> #core::Result<#output> #bounds;
        }
        impl<D: #core::Device> #name<D> for #core::Tensor<D> {
            #[allow(clippy::needless_lifetimes, reason = "declarations with a list argument need the name")]
            fn #name<'t>(#receiver, #params) -> #core::Result<#output> #bounds {
                #name(self, #names)
            }
        }
    }
}
