//! The options of an operator: a structure with a field for each argument that has a default.

use super::Named;
use crate::declaration::FormKind;
use crate::types::{Arg, Borrows, Form};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

/// The structure, if the operator has options.
pub(super) fn structure(named: &Named<'_>) -> TokenStream {
    let with = named.functions().into_iter().find(|(_, form, _)| *form == Form::With);
    let (Some(name), Some((kind, _, function))) = (named.options_name(), with) else { return TokenStream::new() };
    // An in-place form that is a row of its own has the options of the functional one.
    if kind == FormKind::Inplace {
        return TokenStream::new();
    }
    let core = &named.core;
    let options: Vec<&Arg<'_>> = named.args.iter().filter(|arg| arg.is_option()).collect();
    let fields = options.iter().map(|arg| {
        let (field, ty) = (&arg.rust, arg.plain_type(core));
        let doc = format!("`{}`, {} by default.", arg.declared.name(), arg.default_text());
        quote!(#[doc = #doc] pub #field: #ty,)
    });
    let defaults = options.iter().map(|arg| {
        let (field, default) = (&arg.rust, arg.option_default(core));
        quote!(#field: #default,)
    });
    let (generics, arguments) = generics(named);
    let derives = match borrows(named) {
        Borrows::Tensors => quote!(),
        _ => quote!(#[derive(Clone, Debug, PartialEq)]),
    };
    let doc = format!(
        "The options of [`{function}`](super::functions::{function}). What is not named has its default: \
         `{name} {{ {}: .., ..Default::default() }}`.",
        options[0].rust
    );
    quote_spanned! {named.span=>
        #[doc = #doc]
        #derives
        pub struct #name #generics {
            #(#fields)*
            // Whoever names every field still writes `..Default::default()`, so that another one breaks no program.
            #[doc(hidden)]
            pub __others: (),
        }
        impl #generics Default for #name #arguments {
            fn default() -> Self {
                #name { #(#defaults)* __others: () }
            }
        }
    }
}

/// The type of the parameter `options`.
pub(super) fn parameter_type(named: &Named<'_>) -> TokenStream {
    let (name, (_, arguments)) = (named.options_name(), generics(named));
    quote!(super::options::#name #arguments)
}

fn borrows(named: &Named<'_>) -> Borrows {
    let options = named.args.iter().filter(|arg| arg.is_option());
    options.map(Arg::borrows).max().unwrap_or(Borrows::Nothing)
}

/// The generic parameters of the structure, and the arguments for them.
fn generics(named: &Named<'_>) -> (TokenStream, TokenStream) {
    let core = &named.core;
    match borrows(named) {
        Borrows::Nothing => (quote!(), quote!()),
        Borrows::Something => (quote!(<'t>), quote!(<'t>)),
        Borrows::Tensors => (quote!(<'t, D: #core::Device>), quote!(<'t, D>)),
    }
}
