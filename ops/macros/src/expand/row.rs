//! A row as data and as kernels: its declaration, what it is composed of, and its kernels on a device.

use super::function_forms::span_of;
use super::{Named, at, placed};
use crate::declaration::{Definition, Family, FormKind};
use crate::types::Form;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

/// The items of one row.
pub(super) fn row(family: &Family, named: &Named<'_>) -> TokenStream {
    let declared = declared(named);
    let agrees = agrees(named);
    let callee = named.callee().map(|(path, _)| {
        let alias = named.callee_alias();
        quote!(#[allow(unused_imports, reason = "used by typed forms")] use #path as #alias;)
    });
    let runs = runs_on(family, named);
    quote!(#declared #agrees #callee #runs)
}

/// The declaration as data.
fn declared(named: &Named<'_>) -> TokenStream {
    let (key, table) = (named.key(), &named.table);
    let name = super::qualified(named.schema);
    let kind = named.row.definition.kind();
    let definition = text_of(&named.row.definition);
    let results = named.schema.returns().len();
    let silent = named.row.is_silent_view;
    let silent_write = named.row.silent_write.iter().map(Ident::to_string);
    let parameters = named.args.iter().map(|arg| {
        let (name, ty) = (arg.declared.name(), base_text(&arg.declared.ty().to_string()));
        quote!(#table::Parameter { name: #name, ty: #ty })
    });
    let functions = named.functions();
    let named_so = |kind: FormKind, form: Form| {
        functions.iter().find(|(k, f, _)| (*k, *f) == (kind, form)).map(|(_, _, name)| name)
    };
    let mut forms: Vec<TokenStream> = named
        .forms()
        .iter()
        .map(|(kind, schema)| self::form(table, *kind, Some(schema), named_so(*kind, Form::Short)))
        .collect();
    forms.extend(
        functions
            .iter()
            .filter(|(_, form, _)| *form == Form::With)
            .map(|(kind, _, name)| self::form(table, *kind, None, Some(name))),
    );
    let composition = composition(named);
    quote! {
        impl #table::Declared for #key {
            const DECLARATION: &'static #table::Declaration = &#table::Declaration {
                name: #name,
                module: module_path!(),
                kind: #kind,
                definition: #definition,
                parameters: &[#(#parameters),*],
                results: #results,
                silent_view: #silent,
                silent_write: &[#(#silent_write),*],
                forms: &[#(#forms),*],
            };
            #composition
        }
    }
}

/// A type without its alias annotation: what messages say of it.
fn base_text(ty: &str) -> String {
    match (ty.find('('), ty.find(')')) {
        (Some(open), Some(close)) => format!("{}{}", &ty[..open], &ty[close + 1..]),
        _ => ty.to_owned(),
    }
}

fn form(table: &TokenStream, kind: FormKind, schema: Option<&String>, rust: Option<&Ident>) -> TokenStream {
    let kind = format_ident!("{kind:?}");
    let option = |text: Option<String>| text.map_or(quote!(None), |text| quote!(Some(#text)));
    let (schema, function) = (option(schema.cloned()), option(rust.map(Ident::to_string)));
    quote!(#table::Form { kind: #table::FormKind::#kind, schema: #schema, function: #function })
}

/// The definition as people read it.
fn text_of(definition: &Definition) -> String {
    let text = match definition {
        Definition::Structured(ty) | Definition::Operator(ty) => ty.to_token_stream().to_string(),
        Definition::View(path)
        | Definition::Views(path)
        | Definition::Kernel(path, _)
        | Definition::Composite(_, path)
        | Definition::Composed(_, path, _) => path.to_token_stream().to_string(),
        Definition::Each(operator) => operator.text.clone(),
        Definition::Redirect(to, _) => to.to_string(),
    };
    text.replace(' ', "")
}

/// What is composed of other operators.
fn composition(named: &Named<'_>) -> TokenStream {
    let table = &named.table;
    let composed = |make: &str, composite: crate::declaration::Composite, path: &syn::Path| {
        let (make, key) = (format_ident!("{make}"), format_ident!("{}", composite.key()));
        let (core, function) = (&named.core, composed_function(named, path));
        quote!(#table::Composition::#make(#core::dispatch::AliasKey::#key, #function))
    };
    let is_one = named.schema.returns().len() == 1;
    let value = match (&named.row.definition, &named.row.otherwise) {
        (Definition::Composite(composite, path) | Definition::Composed(composite, path, _), _) => {
            composed(if is_one { "all" } else { "all_of_several" }, *composite, path)
        }
        (Definition::Each(operator), _) => {
            let row = row_of(named, operator);
            quote!(#table::Composition::each(<#row as #table::Declared>::DECLARATION))
        }
        (Definition::Redirect(to, _), _) => {
            let to = to.to_string();
            quote!(#table::Composition::Redirect(#to))
        }
        (_, Some((composite, path))) => {
            composed(if is_one { "otherwise" } else { "otherwise_of_several" }, *composite, path)
        }
        (_, None) => return TokenStream::new(),
    };
    quote!(fn composition() -> #table::Composition { #value })
}

/// The row of another operator, so that one that is not declared is an error at its name.
fn row_of(named: &Named<'_>, operator: &crate::tokens::Text) -> TokenStream {
    let (table, hash) = (&named.table, super::hash(&operator.text));
    match named.is_in_tree || !operator.text.contains("::") {
        true => quote_spanned!(at(operator.span(0))=> #table::Row<#hash>),
        false => quote_spanned!(at(operator.span(0))=> LocalRow<#hash>),
    }
}

/// A composed function over the stack. Tensors stay boxed, since numbers may stand for them, but for functions that
/// are typed ones, too.
fn composed_function(named: &Named<'_>, path: &syn::Path) -> TokenStream {
    let (core, table) = (&named.core, &named.table);
    let is_typed = matches!(named.row.definition, Definition::Composed(..));
    let reads = named.args.iter().map(|arg| {
        let name = &arg.rust;
        let marker = match arg.marker(core) {
            Some(_) if is_typed && arg.is_tensor() => quote!(#table::PlainTensorArg),
            Some(_) if is_typed && arg.is_optional_tensor() => quote!(#core::Optional<#table::PlainTensorArg>),
            Some(_) if arg.is_tensor() => quote!(#table::WholeArg),
            Some(_) if arg.is_optional_tensor() => quote!(#table::MaybeWholeArg),
            marker => marker.unwrap_or_default(),
        };
        quote!(let #name = reader.read::<#marker>()?;)
    });
    let names = named.args.iter().map(|arg| &arg.rust);
    let key = named.key();
    quote_spanned! {at(path.span())=>
        |calls: &#core::dispatch::Calls<'_>, stack: &mut #core::Stack| -> #core::Result<()> {
            #table::composed(<#key as #table::Declared>::DECLARATION, stack, |reader| {
                #(#reads)*
                #path(calls, #(#names),*).map(#table::IntoResults::into_results)
            })
        }
    }
}

/// Holds the arguments and results of the row against its operator, with an error at the operator.
fn agrees(named: &Named<'_>) -> TokenStream {
    let Some(operator) = named.row.definition.operator() else { return TokenStream::new() };
    let (core, table, meta, results) = (&named.core, &named.table, &named.meta, named.schema.returns().len());
    let values = named.values(&quote!('static));
    let span = operator.span();
    let check = placed(quote!(#table::agrees), span);
    quote_spanned! {at(span)=>
        const _: () = #check(
            #results,
            <#operator as #core::structured::Operator<'static, #meta, #values>>::OUTPUTS,
        );
    }
}

/// The kernels of the row on a device.
fn runs_on(family: &Family, named: &Named<'_>) -> TokenStream {
    let (core, table, key) = (&named.core, &named.table, named.key());
    let declaration = quote!(<#key as #table::Declared>::DECLARATION);
    let (bounds, kernels) = match &named.row.definition {
        Definition::Structured(ty) | Definition::Operator(ty) => {
            let (values, signature) = (named.values(&quote!('t)), named.signature());
            let bounds = quote!(#ty: for<'t> #core::structured::Operator<'t, D, #values>,);
            let forms = named.forms().into_iter().map(|(kind, _)| form_method(named, kind));
            let kernels = quote! {
                let kernel = #table::Kernel::<D, #signature>::of::<#ty>(#declaration);
                vec![#(kernel.#forms()),*]
            };
            (bounds, kernels)
        }
        Definition::View(path) => {
            let call = call_view(named, path);
            (TokenStream::new(), quote!(#table::view_kernels::<D>(#declaration, #call)))
        }
        Definition::Views(path) => {
            let call = call_view(named, path);
            (TokenStream::new(), quote!(#table::views_kernels::<D>(#declaration, #call)))
        }
        Definition::Kernel(path, or_self) => {
            let on = functions_on(family);
            (quote!(D: #on,), function_kernels(named, path, *or_self, &declaration))
        }
        Definition::Composed(_, path, bound) if named.row.direct.is_some() => {
            let on = bound.clone().unwrap_or_else(|| functions_on(family));
            (quote!(D: #on,), direct_kernel(named, path, &declaration))
        }
        Definition::Composite(..) | Definition::Composed(..) | Definition::Each(_) | Definition::Redirect(..) => {
            (TokenStream::new(), quote!(Vec::new()))
        }
    };
    quote! {
        impl<D: #core::Device> #table::RunsOn<D> for #key
        where
            #bounds
        {
            fn kernels() -> Vec<#core::dispatch::KernelFunction> {
                #kernels
            }
        }
    }
}

/// What makes the kernel of a structured operator's form.
fn form_method(named: &Named<'_>, kind: FormKind) -> Ident {
    let has_door = named.args.iter().all(|arg| arg.is_unboxed());
    format_ident!(
        "{}",
        match (kind, has_door, named.schema.returns().len()) {
            (FormKind::Functional, true, 1) => "functional_form",
            (FormKind::Functional, true, 2) => "functional_pair_form",
            (FormKind::Functional, ..) => "functional_boxed_form",
            (FormKind::Inplace, true, _) => "inplace_form",
            (FormKind::Inplace, ..) => "inplace_boxed_form",
            (FormKind::Out, true, 1) => "out_form",
            (FormKind::Out, true, 2) => "out_pair_form",
            (FormKind::Out, ..) => "out_boxed_form",
            (FormKind::OutCopied, _, 1) => "out_copied_form",
            (FormKind::OutMatrix, ..) => "out_matrix_form",
            (_, _, 1) => "autogen_form",
            _ => "autogen_several_form",
        }
    )
}

/// What functions of the family need of a device.
pub(super) fn functions_on(family: &Family) -> TokenStream {
    let name = &family.name;
    family.functions_on.clone().unwrap_or_else(|| quote!(family::#name))
}

/// A view as a function of the geometry and of what reads the other arguments.
fn call_view(named: &Named<'_>, path: &syn::Path) -> TokenStream {
    let core = &named.core;
    let reads = named.args.iter().skip(1).map(|arg| {
        let marker = arg.marker(core);
        quote!(reader.read::<#marker>()?)
    });
    quote_spanned!(at(path.span())=> |geometry, reader| #path(geometry, #(#reads),*))
}

/// The kernel of the functional form that runs a composition on the typed functions of a device. Its other forms are
/// those of the composition, which call this one.
fn direct_kernel(named: &Named<'_>, path: &syn::Path, declaration: &TokenStream) -> TokenStream {
    let (core, table) = (&named.core, &named.table);
    let reads = named.args.iter().map(|arg| {
        let (name, marker) = (&arg.rust, arg.marker(core));
        match arg.is_tensor() {
            true => quote!(let #name = reader.plain_tensor::<D>()?;),
            false => quote!(let #name = reader.read::<#marker>()?;),
        }
    });
    let names = named.args.iter().map(|arg| &arg.rust);
    let (span, called) = (span_of(named), named.called(named.own_form()));
    quote_spanned! {at(path.span())=>
        vec![#core::dispatch::KernelFunction::stack(#table::functional::<D>(#declaration, |reader| {
            #(#reads)*
            #span
            let result = #path(&#table::Typed::<D>::CALLEES, #(#names),*).map_err(|e| e.called(#called))?;
            Ok(#table::IntoResults::into_results(result))
        }))]
    }
}

/// The kernels of a function that is written over any device.
fn function_kernels(named: &Named<'_>, path: &syn::Path, or_self: bool, declaration: &TokenStream) -> TokenStream {
    let (core, table) = (&named.core, &named.table);
    let is_inplace = named.schema.is_inplace();
    let args = || named.args.iter().skip(usize::from(is_inplace));
    let reads: Vec<TokenStream> = args()
        .map(|arg| {
            let (name, marker) = (&arg.rust, arg.marker(core));
            if arg.is_tensor() {
                quote!(let #name = &*reader.tensor::<D>()?;)
            } else if arg.is_optional_tensor() {
                quote! {
                    let #name = reader.optional_tensor::<D>()?;
                    let #name = #name.as_deref();
                }
            } else {
                quote!(let #name = reader.read::<#marker>()?;)
            }
        })
        .collect();
    let names: Vec<&Ident> = args().map(|arg| &arg.rust).collect();
    if is_inplace {
        let call = quote_spanned!(at(path.span())=> |this, reader| { #(#reads)* #path(this, #(#names),*)?; Ok(()) });
        return across(named, quote!(inplace), quote!(inplace_kernels), declaration, &call);
    }
    if named.schema.is_out() {
        let outs: Vec<Ident> = (0..named.schema.out_args().len()).map(|i| format_ident!("out{i}")).collect();
        let count = outs.len();
        let call = quote_spanned! {at(path.span())=> |reader, [#(#outs),*]| {
            #(#reads)*
            #path(#(#names,)* #(#outs),*)?;
            Ok(())
        }};
        return quote!(#table::out_kernels::<D, #count>(#declaration, #call));
    }
    let result = result_type(named, or_self);
    let call = quote_spanned! {at(path.span())=> |reader| {
        #(#reads)*
        let result: #result = #path(#(#names),*)?;
        Ok(#table::IntoResults::into_results(result))
    }};
    across(named, quote!(functional), quote!(functional_kernels), declaration, &call)
}

/// Kernels that also serve calls whose tensors are on several devices.
fn across(
    named: &Named<'_>,
    single: TokenStream,
    kernels: TokenStream,
    declaration: &TokenStream,
    call: &TokenStream,
) -> TokenStream {
    let table = &named.table;
    match &named.row.across {
        Some(how) => quote! {{
            let mut kernels = #table::#kernels::<D>(#declaration, #call);
            kernels[0] = #table::across::#how::<D>(#table::#single::<D>(#declaration, #call));
            kernels
        }},
        None => quote!(#table::#kernels::<D>(#declaration, #call)),
    }
}

/// What a function over any device returns.
fn result_type(named: &Named<'_>, or_self: bool) -> TokenStream {
    let core = &named.core;
    let tensor = quote!(#core::Tensor<D>);
    match named.schema.returns() {
        [one] if !one.ty().is_tensor() => crate::types::plain_result(core, one.ty()).unwrap_or(tensor),
        [one] if one.ty().is_list() => quote!(Vec<#tensor>),
        [_] if or_self => quote!(Option<#tensor>),
        [_] => tensor,
        several => {
            // Which results there are, a mask says.
            let has_mask = named.schema.args().any(|arg| arg.name() == "output_mask");
            let one = if has_mask { quote!(Option<#tensor>) } else { tensor };
            let several = several.iter().map(|_| &one);
            quote!((#(#several),*))
        }
    }
}
