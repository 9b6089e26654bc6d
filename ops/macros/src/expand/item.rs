//! One typed function, and the method that calls it.

use super::trace::Note;
use super::{Named, docs, options};
use crate::types::{Callee, Form};
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

/// A typed function before it is written down.
pub(super) struct Item<'n> {
    pub(super) named: &'n Named<'n>,
    pub(super) name: Ident,
    pub(super) form: Form,
    pub(super) callee: Callee<'n>,
    /// The operator that it is, with its overload.
    pub(super) overload: String,
    /// How the function takes the tensor `self`, where that is not as the other tensors.
    pub(super) this: Option<TokenStream>,
    /// The type of the parameter `out`, if there is one.
    pub(super) out: Option<TokenStream>,
    pub(super) output: TokenStream,
    /// What it needs of the device and of the operator.
    pub(super) bound: TokenStream,
    pub(super) body: TokenStream,
    /// What this form does, as the end of a sentence.
    pub(super) does: &'static str,
    /// When it is an error.
    pub(super) errors: &'static str,
}

impl<'n> Item<'n> {
    /// One that takes all tensors alike, writes none, and needs nothing of the device. What it gives is not said yet.
    pub(super) fn new(named: &'n Named<'n>, form: Form, name: &Ident, callee: Callee<'n>) -> Item<'n> {
        Item {
            named,
            name: name.clone(),
            form,
            callee,
            overload: named.overload(named.own_form()),
            this: None,
            out: None,
            output: TokenStream::new(),
            bound: TokenStream::new(),
            body: TokenStream::new(),
            does: "",
            errors: "",
        }
    }

    /// `name: type` of each parameter but, for a method, the receiver.
    fn parameters(&self, is_method: bool) -> TokenStream {
        let core = &self.named.core;
        let each = self.named.args.iter().filter(|arg| arg.is_positional() && !(is_method && arg.rust == "this"));
        let mut all: Vec<TokenStream> = each
            .map(|arg| {
                let name = &arg.rust;
                let ty = match &self.this {
                    Some(ty) if name == "this" => ty.clone(),
                    _ => arg.parameter_type(core, self.callee),
                };
                quote!(#name: #ty)
            })
            .collect();
        if self.form == Form::With {
            let ty = options::parameter_type(self.named);
            all.push(quote!(options: #ty));
        }
        all.extend(self.out.as_ref().map(|ty| quote!(out: #ty)));
        quote!(#(#all),*)
    }

    /// Sizes and dims as operators take them.
    fn preamble(&self) -> TokenStream {
        self.named.args.iter().map(|arg| arg.preamble(&self.named.core)).collect()
    }

    /// The function.
    pub(super) fn function(&self) -> TokenStream {
        self.documented(&docs::function(self))
    }

    /// The function with a page of its own.
    pub(super) fn documented(&self, docs: &TokenStream) -> TokenStream {
        let Item { named, name, output, bound, body, .. } = self;
        let (core, params, preamble, note) = (&named.core, self.parameters(false), self.preamble(), self.note());
        quote_spanned! {named.span=>
            #docs
            #[allow(clippy::needless_lifetimes, reason = "declarations whose arguments borrow need the name")]
            #[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
            pub fn #name<'t, D: #core::Device>(#params) -> #core::Result<#output>
            where
                #bound
            {
                #preamble
                #note
                #body
            }
        }
    }

    fn note(&self) -> TokenStream {
        let (name, has_out) = (&self.name, self.out.is_some());
        let mut passed = self.named.parameters(self.form, &quote!(this));
        passed.extend(has_out.then(|| quote!(out)));
        let note = Note {
            named: self.named,
            overload: &self.overload,
            callee: self.callee,
            form: self.form,
            writes_this: self.writes_this(),
            has_out,
        };
        note.tokens(&quote!(self::#name::<D>(#(#passed),*)))
    }

    /// True if the function takes the tensor `self` to write it.
    fn writes_this(&self) -> bool {
        self.this.as_ref().is_some_and(|ty| ty.to_string().contains("mut"))
    }

    /// Declaration and body of the method; `None` for a function without a tensor `self`, and where outputs are
    /// parameters.
    pub(super) fn method(&self) -> Option<(TokenStream, TokenStream)> {
        let Item { named, name, output, bound, .. } = self;
        let is_this = |arg: &crate::types::Arg<'_>| arg.rust == "this" && arg.is_tensor();
        if self.out.is_some() || !named.args.iter().any(is_this) {
            return None;
        }
        let receiver = if self.writes_this() { quote!(&'t mut self) } else { quote!(&'t self) };
        let (core, params) = (&named.core, self.parameters(true));
        let passed = named.parameters(self.form, &quote!(self));
        let docs = docs::method(self);
        let signature = quote_spanned! {named.span=>
            #[allow(clippy::needless_lifetimes, reason = "declarations whose arguments borrow need the name")]
            #[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
            fn #name<'t>(#receiver, #params) -> #core::Result<#output> where D: 't, #bound
        };
        let body = quote_spanned!(named.span=> super::functions::#name(#(#passed),*));
        Some((quote!(#docs #signature;), quote!(#signature { #body })))
    }
}
