//! Typed forms of operators: functional, out=, in place, on shapes, prepared.

use super::Named;
use super::item::Item;
use crate::declaration::{Definition, FormKind};
use crate::types::{Arg, Callee, Form};
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

/// When a functional form is an error, for its page.
const OPERANDS: &str = "Sizes that do not broadcast, dtypes or values that the operator does not take, memory that \
    cannot be had. The message names the argument, what it is and what is accepted.";
/// The same of forms that write tensors of the caller.
const OUTPUTS: &str = "Those of the functional form; an output whose dtype cannot hold the result, that overlaps an \
    operand in part, or that is being read elsewhere. Then every argument is as it was.";

/// New tensors on `device`, which is that of the operands or the one of shapes.
pub(super) fn functional<'n>(
    named: &'n Named<'n>,
    op: &TokenStream,
    form: Form,
    name: &Ident,
    device: &TokenStream,
) -> Item<'n> {
    let (core, count) = (&named.core, named.schema.returns().len());
    let (receiver, args, values) =
        (named.receiver(), named.passed(Callee::Operator, form, 0), named.values(&quote!('s)));
    let result = named.tuple(&quote!(outputs));
    let called = named.called(FormKind::Functional);
    // A structured operator reports its own name: nothing is done to its result, because that would copy a tensor.
    let renamed = match &named.row.definition {
        Definition::Structured(..) => TokenStream::new(),
        _ => quote!(.map_err(|e| e.called(#called))),
    };
    Item {
        output: named.each_result(&quote!(#core::Tensor<#device>)),
        bound: quote!(#op: for<'s> #core::structured::Operator<'s, #device, #values>,),
        body: quote! {
            #receiver
            let sink = #core::structured::Functional::<#device, #count>::default();
            let outputs = <#op as #core::structured::Operator<'_, #device, _>>::call((#args), sink)#renamed?;
            Ok(#result)
        },
        does: "returns new tensors",
        errors: OPERANDS,
        ..Item::new(named, form, name, Callee::Operator)
    }
}

pub(super) fn out<'n>(named: &'n Named<'n>, op: &TokenStream, form: Form, name: &Ident) -> Item<'n> {
    let core = &named.core;
    let (receiver, args, values) =
        (named.receiver(), named.passed(Callee::Operator, form, 0), named.values(&quote!('s)));
    let output = named.each_result(&quote!(&'t mut #core::Tensor<D>));
    let (names, results) = (named.result_names(), named.results());
    let called = named.called(FormKind::Out);
    Item {
        out: Some(output.clone()),
        output,
        bound: quote!(#op: for<'s> #core::structured::Operator<'s, D, #values>,),
        body: quote! {
            #receiver
            let #results = out;
            let sink = #core::structured::Out([#(&mut *#names),*]);
            <#op as #core::structured::Operator<'_, D, _>>::call((#args), sink).map_err(|e| e.called(#called))?;
            Ok(#results)
        },
        does: "writes into tensors of the caller, which are resized where needed, and returns them",
        errors: OUTPUTS,
        ..Item::new(named, form, name, Callee::Operator)
    }
}

pub(super) fn inplace<'n>(named: &'n Named<'n>, op: &TokenStream, form: Form, name: &Ident) -> Item<'n> {
    let core = &named.core;
    let (args, values) = (named.passed(Callee::Operator, form, 1), named.values(&quote!('s)));
    let called = named.called(FormKind::Inplace);
    Item {
        this: Some(quote!(&'t mut #core::Tensor<D>)),
        output: quote!(&'t mut #core::Tensor<D>),
        bound: quote!(#op: for<'s> #core::structured::Operator<'s, D, #values>,),
        body: quote! {
            #[allow(unused_variables, reason = "only arguments that are dims ask for it")]
            let ndim = this.ndim();
            #core::structured::in_place(this, move |input, sink, _| {
                let args = (#core::structured::Operand::from(input), #args);
                <#op as #core::structured::Operator<'_, D, _>>::call(args, sink)
            })
            .map_err(|e| e.called(#called))
        },
        does: "writes to its first argument, and returns it",
        errors: OUTPUTS,
        ..Item::new(named, form, name, Callee::Operator)
    }
}

pub(super) fn meta_function(named: &Named<'_>, op: &TokenStream, form: Form, name: &Ident) -> TokenStream {
    let on_shapes = functional(named, op, form, name, &named.meta);
    let item = Item { does: "returns sizes, strides and dtype of the result, without data", ..on_shapes };
    item.documented(&super::docs::meta(&item))
}

/// Of structured operators that have an out= form, with all arguments.
pub(super) fn prepared_function(named: &Named<'_>) -> TokenStream {
    let (Definition::Structured(op), Some(name), true) =
        (&named.row.definition, named.rust_name(), named.has_prepared())
    else {
        return TokenStream::new();
    };
    let (core, count, names) = (&named.core, named.schema.returns().len(), named.result_names());
    let results = named.results();
    let params = named.args.iter().map(|arg| {
        let (name, ty) = (&arg.rust, arg.prepared_type(core));
        quote!(#name: #ty)
    });
    let args = named.args.iter().map(Arg::prepared_value);
    let values = named.values(&quote!('t));
    let outs = named.each_result(&quote!(&'t mut #core::Tensor<D>));
    let doc = format!(
        "`{}`, checked once and kept: `run` then writes the output anew from the present contents of the operands, \
         with no check and no allocation.",
        super::qualified(named.schema)
    );
    quote_spanned! {named.span=>
        #[doc = #doc]
        pub fn #name<'t, D>(#(#params,)* out: #outs)
            -> #core::Result<#core::structured::Prepared<'t, #op, D, #count>>
        where
            D: #core::structured::Executes<#op>,
            <#op as #core::structured::StructuredOp>::Inputs<'t>: #core::structured::FromArgs<#values>,
        {
            let #results = out;
            let inputs = #core::structured::FromArgs::from_args((#(#args,)*))?;
            #core::structured::prepare::<#op, D, #count>(&inputs, [#(#names),*])
        }
    }
}
