//! Typed forms of views: functions from a geometry to geometries over the same storage, or copied.

use super::Named;
use super::item::Item;
use crate::types::{Callee, Form};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// When a view is an error, for its page.
const VIEWS: &str = "A dimension, an index or a size that the tensor does not have, or a view that its strides do not \
    allow.";

/// A view: the function maps a geometry to geometries over the same storage, or copied.
pub(super) fn view<'n>(named: &'n Named<'n>, form: Form, name: &Ident, made: &TokenStream) -> Item<'n> {
    let path = named.callee_alias();
    let (core, table) = (&named.core, &named.table);
    let args = named.passed(Callee::View, form, 1);
    let made_text = made.to_string();
    let text = name.to_string();
    Item {
        output: if made_text.ends_with("parts") { quote!(Vec<#core::Tensor<D>>) } else { quote!(#core::Tensor<D>) },
        body: quote! {
            let _span = #core::observe::operator(#text, [this.geometry()]);
            #path(this.geometry(), #args)
                .and_then(|geometry| #table::#made(this, geometry))
                .map_err(|e| e.of(#text))
        },
        does: match &*made_text {
            "shared" => "returns a view, which shares the storage",
            "copied" => "returns a contiguous copy of this view",
            "shared_parts" => "returns views, which share the storage",
            _ => "returns contiguous copies of these views",
        },
        errors: VIEWS,
        ..Item::new(named, form, name, Callee::View)
    }
}

/// The same on the tensor's own geometry.
pub(super) fn inplace_view<'n>(named: &'n Named<'n>, form: Form, name: &Ident) -> Item<'n> {
    let path = named.callee_alias();
    let core = &named.core;
    let args = named.passed(Callee::View, form, 1);
    let output = quote!(&'t mut #core::Tensor<D>);
    let (text, operator) = (name.to_string(), super::qualified(named.schema));
    Item {
        this: Some(output.clone()),
        output,
        body: quote! {
            let _span = #core::observe::operator(#text, [this.geometry()]);
            let geometry = #path(this.geometry(), #args);
            geometry.and_then(|geometry| this.set_view(geometry)).map_err(|e| e.of(#operator))?;
            Ok(this)
        },
        does: "changes sizes and strides of the tensor itself, not its data",
        errors: VIEWS,
        ..Item::new(named, form, name, Callee::View)
    }
}
