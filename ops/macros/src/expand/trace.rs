//! Notes that typed functions make of their calls while a function of tensors is traced: on the device of shapes, and
//! nowhere else.

use super::Named;
use crate::types::{Arg, Callee, Form};
use proc_macro2::TokenStream;
use quote::quote;

/// What a typed function does before anything else: while it is traced, it notes its arguments and calls itself as
/// `call`, which notes nothing.
pub(super) struct Note<'n> {
    pub(super) named: &'n Named<'n>,
    /// The operator, with its overload.
    pub(super) overload: &'n str,
    pub(super) callee: Callee<'n>,
    pub(super) form: Form,
    /// True if the function takes `this` to write it.
    pub(super) writes_this: bool,
    /// True if it has a parameter `out`.
    pub(super) has_out: bool,
}

impl Note<'_> {
    pub(super) fn tokens(&self, call: &TokenStream) -> TokenStream {
        let core = &self.named.core;
        let is_written = |arg: &Arg<'_>| self.writes_this && arg.rust == "this";
        let fixed = self.named.args.iter().filter(|arg| !is_written(arg)).map(|arg| arg.fixed(core, self.callee));
        let ndim = match self.callee {
            Callee::Operator if !self.writes_this => quote!(this.operand().sizes().len()),
            _ => quote!(this.ndim()),
        };
        let boxed = self.named.args.iter().map(|arg| match arg {
            arg if is_written(arg) => quote!(Some(#core::trace::TraceArg::value(&*this))),
            arg if self.is_placed(arg) => quote!(None),
            arg => arg.boxed(core, self.callee, self.form, &ndim),
        });
        let names = self.named.result_names();
        let (outs, written) = match (self.has_out, &names[..]) {
            (false, _) => (TokenStream::new(), &[][..]),
            (true, [one]) => (quote!(let #one = &out;), &names[..]),
            (true, several) => (quote!(let (#(#several),*) = &out;), &names[..]),
        };
        let overload = self.overload;
        quote! {
            if const { <D as #core::Device>::MEMORY.is_none() } && #core::trace::is_tracing() {
                #(#fixed)*
                #outs
                let args = [#(#boxed,)* #(Some(#core::trace::TraceArg::value(#written))),*];
                return #core::trace::typed(#overload, args, move || #call);
            }
        }
    }

    /// True for the device of a factory's tensors, which is that of the program.
    fn is_placed(&self, arg: &Arg<'_>) -> bool {
        arg.declared.name() == "device" && !self.named.args.iter().any(Arg::has_tensors)
    }
}
