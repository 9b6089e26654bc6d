//! Typed forms of functions that are written over any device, and of factories as methods of a device.

use super::item::Item;
use super::trace::Note;
use super::{Named, options, row::functions_on};
use crate::declaration::{Definition, Family, FormKind};
use crate::types::{Arg, Callee, Form, plain_result};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

/// When such a function is an error, for its page.
const ARGUMENTS: &str = "An argument that is not as described: the message names it, what it is and what is accepted. \
    Then every argument is as it was.";

/// A function that is written over any device.
pub(super) fn function<'n>(family: &Family, named: &'n Named<'n>, form: Form, name: &Ident) -> Option<Item<'n>> {
    let core = &named.core;
    let callee = Callee::Function { numbers: &named.row.numbers };
    let args = named.passed(callee, form, 0);
    let args = match &named.row.definition {
        Definition::Composed(..) if named.row.typed.is_none() => {
            let table = &named.table;
            quote!(&#table::Typed::<D>::CALLEES, #args)
        }
        _ => args,
    };
    let (path, or_self, bound) = callable(family, named)?;
    let called = named.called(named.own_form());
    let renamed = quote!(.map_err(|e| e.called(#called)));
    let (this, out, output, body) = match named.own_form() {
        FormKind::Inplace => {
            let output = quote!(&'t mut #core::Tensor<D>);
            (Some(output.clone()), None, output, quote!(#path(#args)#renamed?; Ok(this)))
        }
        FormKind::Out => {
            let (outs, results) = (named.result_names(), named.results());
            let output = named.each_result(&quote!(&'t mut #core::Tensor<D>));
            let body = quote! {
                let #results = out;
                #path(#args #(&mut *#outs),*)#renamed?;
                Ok(#results)
            };
            (None, Some(output.clone()), output, body)
        }
        _ => {
            let tensor = quote!(#core::Tensor<D>);
            let (output, body) = match named.schema.returns() {
                [one] if !one.ty().is_tensor() => {
                    (plain_result(core, one.ty()).unwrap_or_default(), quote!(#path(#args)#renamed))
                }
                [one] if one.ty().is_list() => (quote!(Vec<#tensor>), quote!(#path(#args)#renamed)),
                [_] if or_self => (tensor, quote!(Ok(#path(#args)#renamed?.unwrap_or_else(|| this.clone())))),
                _ => (named.each_result(&tensor), quote!(#path(#args)#renamed)),
            };
            (None, None, output, body)
        }
    };
    let span = span_of(named);
    let body = quote!(#span #body);
    let standard = is_factory(named).then(|| quote!(#core::Standard: #core::DefaultDevice<D>,));
    Some(Item {
        this,
        out,
        output,
        bound: quote!(D: #bound, #standard),
        body,
        does: match named.own_form() {
            FormKind::Inplace => "writes to its first argument, and returns it",
            FormKind::Out => "writes into tensors of the caller, which are resized where needed, and returns them",
            _ if named.schema.returns().iter().any(|result| !result.ty().is_tensor()) => "returns the value",
            _ => "returns new tensors",
        },
        errors: ARGUMENTS,
        ..Item::new(named, form, name, callee)
    })
}

/// The function over any device that typed functions call, whether its `None` stands for `self`, and what it needs of
/// a device.
fn callable(family: &Family, named: &Named<'_>) -> Option<(Ident, bool, TokenStream)> {
    let (_, or_self) = named.callee()?;
    let bound = match (&named.row.typed, &named.row.definition) {
        (Some((_, bound)), _) | (None, Definition::Composed(_, _, bound)) => bound.clone(),
        _ => None,
    };
    Some((named.callee_alias(), or_self, bound.unwrap_or_else(|| functions_on(family))))
}

/// The span of a typed call of a composition; other functions open theirs themselves.
pub(super) fn span_of(named: &Named<'_>) -> TokenStream {
    if !matches!(named.row.definition, Definition::Composed(..)) || named.row.typed.is_some() {
        return TokenStream::new();
    }
    let (core, called) = (&named.core, named.called(named.own_form()));
    let each = named.args.iter().filter(|arg| arg.is_positional()).map(|arg| {
        let name = &arg.rust;
        match arg {
            _ if arg.is_tensor() => quote!(each(#name.geometry());),
            _ if arg.has_tensors() && !arg.is_optional_tensor() => {
                let geometry = quote!(::std::borrow::Borrow::<#core::Tensor<D>>::borrow(t).geometry());
                quote!(#name.iter().for_each(|t| each(#geometry));)
            }
            _ => TokenStream::new(),
        }
    });
    quote!(let _span = #core::observe::enter(#called, |each| { #(#each)* });)
}

/// True for a function that makes tensors of nothing on a device that it chooses.
fn is_factory(named: &Named<'_>) -> bool {
    let on_device = named.args.iter().any(|arg| arg.declared.name() == "device");
    on_device && !named.args.iter().any(Arg::has_tensors) && !named.schema.is_out()
}

/// A factory as a method of a device, whose index takes the place of the argument `device`.
pub(super) fn constructor(
    family: &Family,
    named: &Named<'_>,
    kind: FormKind,
    form: Form,
    name: &Ident,
) -> Option<(TokenStream, TokenStream)> {
    if kind != FormKind::Functional || !is_factory(named) {
        return None;
    }
    let (core, callee) = (&named.core, Callee::Function { numbers: &named.row.numbers });
    let (path, _, bound) = callable(family, named)?;
    let params = named.args.iter().filter(|arg| arg.is_positional()).map(|arg| {
        let (name, ty) = (&arg.rust, arg.parameter_type(core, callee));
        quote!(#name: #ty)
    });
    let overload = named.overload(kind);
    let note = Note { named, overload: &overload, callee, form, writes_this: false, has_out: false };
    let passed = named.parameters(form, &quote!(this));
    let note = note.tokens(&quote!(self.#name(#(#passed),*)));
    let options = (form == Form::With).then(|| {
        let ty = options::parameter_type(named);
        quote!(options: #ty)
    });
    let params: Vec<TokenStream> = params.chain(options).collect();
    let preamble: TokenStream = named.args.iter().map(|arg| arg.preamble(core)).collect();
    let args = named.args.iter().map(|arg| match arg.declared.name() {
        "device" => quote!(Some(self.id())),
        _ => arg.value(core, callee, form, &quote!()),
    });
    let doc = format!("[`{name}`](super::functions::{name}) on this device.");
    let signature = quote_spanned! {named.span=>
        fn #name(self, #(#params),*) -> #core::Result<#core::Tensor<D>> where D: #bound
    };
    Some((quote!(#[doc = #doc] #signature;), quote!(#signature { #preamble #note #path(#(#args),*) })))
}

pub(super) fn constructor_trait(family: &Family, constructors: &[(TokenStream, TokenStream)]) -> TokenStream {
    if constructors.is_empty() {
        return TokenStream::new();
    }
    let root = &family.root;
    let core = quote!(#root::core);
    let name = format_ident!("{}Constructors", family.name);
    let (declared, bodies): (Vec<_>, Vec<_>) = constructors.iter().cloned().unzip();
    quote! {
        /// The factories of the family on a device.
        pub trait #name<D: #core::Device>: Sized {
            #(#declared)*
        }
        impl<D: #core::Device> #name<D> for #core::DeviceHandle<D> {
            #(#bodies)*
        }
    }
}
