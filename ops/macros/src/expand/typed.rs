//! The typed forms: functions, a trait of their methods, options, meta functions, prepared calls.

use super::item::Item;
use super::{Named, options, row::functions_on};
use crate::declaration::{Definition, Family, FormKind};
use crate::types::{Arg, Callee, Form};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

/// What the errors of each sort of function are, for its page.
const OPERANDS: &str = "Sizes that do not broadcast, dtypes or values that the operator does not take, memory that \
    cannot be had. The message names the argument, what it is and what is accepted.";
const OUTPUTS: &str = "Those of the functional form; an output whose dtype cannot hold the result, that overlaps an \
    operand in part, or that is being read elsewhere. Then every argument is as it was.";
const ARGUMENTS: &str = "An argument that is not as described: the message names it, what it is and what is accepted. \
    Then every argument is as it was.";
const VIEWS: &str = "A dimension, an index or a size that the tensor does not have, or a view that its strides do not \
    allow.";

/// The modules of typed forms.
pub(super) fn modules(family: &Family) -> TokenStream {
    let (mut functions, mut meta, mut prepared) = (TokenStream::new(), TokenStream::new(), TokenStream::new());
    let (mut structures, mut declared, mut bodies) = (TokenStream::new(), TokenStream::new(), TokenStream::new());
    let mut constructors = Vec::new();
    for named in family.rows.iter().filter_map(|row| Named::of(family, row)) {
        for (kind, form, name) in named.functions() {
            let Some(item) = item(family, &named, kind, form, &name) else { continue };
            functions.extend(item.function());
            if let Some((signature, method)) = item.method() {
                declared.extend(signature);
                bodies.extend(method);
            }
            if let (FormKind::Functional, Some(op)) = (kind, named.typed_operator()) {
                meta.extend(meta_function(&named, &op, form, &name));
            }
            constructors.extend(constructor(family, &named, kind, form, &name));
        }
        structures.extend(options::structure(&named));
        prepared.extend(prepared_function(&named));
    }
    let root = &family.root;
    let core = quote!(#root::core);
    let methods = format_ident!("{}Methods", family.name);
    let constructors = constructor_trait(family, &constructors);
    let scope = quote! {
        #[allow(unused_imports, reason = "declarations name what the module around them has in scope")]
        use super::*;
    };
    quote! {
        /// Functions.
        pub mod functions {
            #scope
            #functions
        }
        /// Methods.
        pub mod methods {
            #scope
            /// The functions of the family as methods of tensors.
            pub trait #methods<D: #core::Device> {
                #declared
            }
            impl<D: #core::Device> #methods<D> for #core::Tensor<D> {
                #bodies
            }
            #constructors
        }
        /// What functions may be given besides their parameters.
        pub mod options {
            #scope
            #structures
        }
        /// The functional forms on meta tensors.
        pub mod meta {
            #scope
            #meta
        }
        /// Calls that are checked once and run again and again.
        pub mod prepared {
            #scope
            #prepared
        }
    }
}

fn item<'n>(family: &Family, named: &'n Named<'n>, kind: FormKind, form: Form, name: &Ident) -> Option<Item<'n>> {
    let operator = named.typed_operator();
    match (&named.row.definition, kind) {
        (Definition::View(_), FormKind::Inplace) => Some(inplace_view(named, form, name)),
        (Definition::View(_), FormKind::Functional) => Some(view(named, form, name, &quote!(shared))),
        (Definition::View(_), _) => Some(view(named, form, name, &quote!(copied))),
        (Definition::Views(_), FormKind::Functional) => Some(view(named, form, name, &quote!(shared_parts))),
        (Definition::Views(_), _) => Some(view(named, form, name, &quote!(copied_parts))),
        _ => match operator {
            Some(op) => Some(match kind {
                FormKind::Inplace => inplace(named, &op, form, name),
                FormKind::Out => out(named, &op, form, name),
                _ => functional(named, &op, form, name),
            }),
            None => function(family, named, form, name),
        },
    }
}

impl Named<'_> {
    /// The operator that typed functions call, if it is one.
    fn typed_operator(&self) -> Option<TokenStream> {
        let own = self.row.definition.operator()?;
        Some(self.row.typed.as_ref().map_or_else(|| quote!(#own), |(path, _)| quote!(#path)))
    }

    /// Whether there is a prepared call of it.
    pub(super) fn has_prepared(&self) -> bool {
        let has_forms = self.row.forms.iter().any(|form| form.kind != FormKind::Functional);
        has_forms && matches!(self.row.definition, Definition::Structured(_))
    }

    /// The function that typed functions call, if it is one, and whether its `None` stands for `self`.
    pub(super) fn callee(&self) -> Option<(&syn::Path, bool)> {
        match (&self.row.typed, &self.row.definition) {
            (_, Definition::View(path) | Definition::Views(path)) => Some((path, false)),
            (_, definition) if definition.operator().is_some() => None,
            (Some((path, _)), _) => Some((path, false)),
            (None, Definition::Kernel(path, or_self)) => Some((path, *or_self)),
            _ => None,
        }
    }

    /// The values of the arguments behind the first `skip`.
    fn passed(&self, callee: Callee<'_>, form: Form, skip: usize) -> TokenStream {
        let ndim = match callee {
            Callee::Operator if skip == 0 => quote!(this.operand().sizes().len()),
            Callee::Operator => quote!(ndim),
            Callee::View | Callee::Function { .. } => quote!(this.ndim()),
        };
        let each = self.args.iter().skip(skip).map(|arg| arg.value(&self.core, callee, form, &ndim));
        quote!(#(#each,)*)
    }

    /// What stands before the arguments of an operator: `self` as operators take it, whose dimensions some name.
    fn receiver(&self) -> TokenStream {
        let core = &self.core;
        match self.args.first() {
            Some(first) if first.is_tensor() && first.rust == "this" => {
                quote!(let this = #core::IntoArg::<'_, D>::into_arg(this);)
            }
            _ => TokenStream::new(),
        }
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

    /// A name for each result.
    fn result_names(&self) -> Vec<Ident> {
        (0..self.schema.returns().len()).map(|i| format_ident!("r{i}")).collect()
    }

    /// The results by their names: one, or a tuple.
    fn results(&self) -> TokenStream {
        match &self.result_names()[..] {
            [one] => quote!(#one),
            several => quote!((#(#several),*)),
        }
    }

    /// Turns an array of results into one result or a tuple.
    fn tuple(&self, array: &TokenStream) -> TokenStream {
        let (names, results) = (self.result_names(), self.results());
        quote!({ let [#(#names),*] = #array; #results })
    }
}

fn functional<'n>(named: &'n Named<'n>, op: &TokenStream, form: Form, name: &Ident) -> Item<'n> {
    let (core, count) = (&named.core, named.schema.returns().len());
    let (receiver, args, values) =
        (named.receiver(), named.passed(Callee::Operator, form, 0), named.values(&quote!('s)));
    let result = named.tuple(&quote!(outputs));
    let called = named.called(FormKind::Functional);
    // An operator reports its own name; nothing is done to the result of one that is called by it, because that would
    // copy a tensor.
    let renamed = match &named.row.definition {
        Definition::Redirect(..) => quote!(.map_err(|e| e.called(#called))),
        _ => TokenStream::new(),
    };
    Item {
        named,
        name: name.clone(),
        form,
        callee: Callee::Operator,
        this: None,
        out: None,
        output: named.each_result(&quote!(#core::Tensor<D>)),
        bound: quote!(#op: for<'s> #core::structured::Operator<'s, D, #values>,),
        body: quote! {
            #receiver
            let sink = #core::structured::Functional::<D, #count>::default();
            let outputs = <#op as #core::structured::Operator<'_, D, _>>::call((#args), sink)#renamed?;
            Ok(#result)
        },
        does: "returns new tensors",
        errors: OPERANDS,
    }
}

fn out<'n>(named: &'n Named<'n>, op: &TokenStream, form: Form, name: &Ident) -> Item<'n> {
    let core = &named.core;
    let (receiver, args, values) =
        (named.receiver(), named.passed(Callee::Operator, form, 0), named.values(&quote!('s)));
    let output = named.each_result(&quote!(&'t mut #core::Tensor<D>));
    let (names, results) = (named.result_names(), named.results());
    let called = named.called(FormKind::Out);
    Item {
        named,
        name: name.clone(),
        form,
        callee: Callee::Operator,
        this: None,
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
    }
}

fn inplace<'n>(named: &'n Named<'n>, op: &TokenStream, form: Form, name: &Ident) -> Item<'n> {
    let core = &named.core;
    let (args, values) = (named.passed(Callee::Operator, form, 1), named.values(&quote!('s)));
    let called = named.called(FormKind::Inplace);
    Item {
        named,
        name: name.clone(),
        form,
        callee: Callee::Operator,
        this: Some(quote!(&'t mut #core::Tensor<D>)),
        out: None,
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
    }
}

/// A function that is written over any device.
fn function<'n>(family: &Family, named: &'n Named<'n>, form: Form, name: &Ident) -> Option<Item<'n>> {
    let core = &named.core;
    let callee = Callee::Function { numbers: &named.row.numbers };
    let args = named.passed(callee, form, 0);
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
                [one] if one.ty().is_list() => (quote!(Vec<#tensor>), quote!(#path(#args)#renamed)),
                [_] if or_self => (tensor, quote!(Ok(#path(#args)#renamed?.unwrap_or_else(|| this.clone())))),
                _ => (named.each_result(&tensor), quote!(#path(#args)#renamed)),
            };
            (None, None, output, body)
        }
    };
    let standard = is_factory(named).then(|| quote!(#core::Standard: #core::DefaultDevice<D>,));
    Some(Item {
        named,
        name: name.clone(),
        form,
        callee,
        this,
        out,
        output,
        bound: quote!(D: #bound, #standard),
        body,
        does: match named.own_form() {
            FormKind::Inplace => "writes to its first argument, and returns it",
            FormKind::Out => "writes into tensors of the caller, which are resized where needed, and returns them",
            _ => "returns new tensors",
        },
        errors: ARGUMENTS,
    })
}

/// The function over any device that typed functions call, whether its `None` stands for `self`, and what it needs of
/// a device.
fn callable(family: &Family, named: &Named<'_>) -> Option<(Ident, bool, TokenStream)> {
    let (_, or_self) = named.callee()?;
    let bound = named.row.typed.as_ref().and_then(|(_, bound)| bound.clone());
    Some((named.callee_alias(), or_self, bound.unwrap_or_else(|| functions_on(family))))
}

/// True for a function that makes tensors of nothing on a device that it chooses.
fn is_factory(named: &Named<'_>) -> bool {
    let on_device = named.args.iter().any(|arg| arg.declared.name() == "device");
    on_device && !named.args.iter().any(Arg::has_tensors) && !named.schema.is_out()
}

/// A view: the function maps a geometry to geometries over the same storage, or copied.
fn view<'n>(named: &'n Named<'n>, form: Form, name: &Ident, made: &TokenStream) -> Item<'n> {
    let path = named.callee_alias();
    let (core, table) = (&named.core, &named.table);
    let callee = Callee::View;
    let args = named.passed(callee, form, 1);
    let made_text = made.to_string();
    let text = name.to_string();
    Item {
        named,
        name: name.clone(),
        form,
        callee,
        this: None,
        out: None,
        output: if made_text.ends_with("parts") { quote!(Vec<#core::Tensor<D>>) } else { quote!(#core::Tensor<D>) },
        bound: TokenStream::new(),
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
    }
}

/// The same on the tensor's own geometry.
fn inplace_view<'n>(named: &'n Named<'n>, form: Form, name: &Ident) -> Item<'n> {
    let path = named.callee_alias();
    let core = &named.core;
    let callee = Callee::View;
    let args = named.passed(callee, form, 1);
    let output = quote!(&'t mut #core::Tensor<D>);
    let (text, operator) = (name.to_string(), super::qualified(named.schema));
    Item {
        named,
        name: name.clone(),
        form,
        callee,
        this: Some(output.clone()),
        out: None,
        output,
        bound: TokenStream::new(),
        body: quote! {
            let _span = #core::observe::operator(#text, [this.geometry()]);
            let geometry = #path(this.geometry(), #args);
            geometry.and_then(|geometry| this.set_view(geometry)).map_err(|e| e.of(#operator))?;
            Ok(this)
        },
        does: "changes sizes and strides of the tensor itself, not its data",
        errors: VIEWS,
    }
}

fn meta_function(named: &Named<'_>, op: &TokenStream, form: Form, name: &Ident) -> TokenStream {
    let (core, meta, count) = (&named.core, &named.meta, named.schema.returns().len());
    let result = named.tuple(&quote!(outputs));
    let (receiver, args, values) =
        (named.receiver(), named.passed(Callee::Operator, form, 0), named.values(&quote!('s)));
    let item = Item {
        named,
        name: name.clone(),
        form,
        callee: Callee::Operator,
        this: None,
        out: None,
        output: named.each_result(&quote!(#core::Tensor<#meta>)),
        bound: quote!(#op: for<'s> #core::structured::Operator<'s, #meta, #values>,),
        body: quote! {
            #receiver
            let sink = #core::structured::Functional::<#meta, #count>::default();
            let outputs = <#op as #core::structured::Operator<'_, #meta, _>>::call((#args), sink)?;
            Ok(#result)
        },
        does: "returns sizes, strides and dtype of the result, without data",
        errors: OPERANDS,
    };
    item.documented(&super::docs::meta(&item))
}

/// Of structured operators that have an out= form, with all arguments.
fn prepared_function(named: &Named<'_>) -> TokenStream {
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

/// A factory as a method of a device, whose index takes the place of the argument `device`.
fn constructor(
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
    Some((quote!(#[doc = #doc] #signature;), quote!(#signature { #preamble #path(#(#args),*) })))
}

fn constructor_trait(family: &Family, constructors: &[(TokenStream, TokenStream)]) -> TokenStream {
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
