//! The typed forms: functions, a trait of their methods, options, meta functions, prepared calls. Owns the modules that
//! they stand in and what all of them ask of a row; each sort of callee has a file of its own.

use super::function_forms::{constructor, constructor_trait, function};
use super::item::Item;
use super::operator_forms::{functional, inplace, meta_function, out, prepared_function};
use super::view_forms::{inplace_view, view};
use super::{Named, options};
use crate::declaration::{Definition, Family, FormKind};
use crate::types::{Callee, Form};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

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
    let item = match (&named.row.definition, kind) {
        (Definition::View(_), FormKind::Inplace) => Some(inplace_view(named, form, name)),
        (Definition::View(_), FormKind::Functional) => Some(view(named, form, name, &quote!(shared))),
        (Definition::View(_), _) => Some(view(named, form, name, &quote!(copied))),
        (Definition::Views(_), FormKind::Functional) => Some(view(named, form, name, &quote!(shared_parts))),
        (Definition::Views(_), _) => Some(view(named, form, name, &quote!(copied_parts))),
        _ => match operator {
            Some(op) => Some(match kind {
                FormKind::Inplace => inplace(named, &op, form, name),
                FormKind::Out => out(named, &op, form, name),
                _ => functional(named, &op, form, name, &quote!(D)),
            }),
            None => function(family, named, form, name),
        },
    };
    item.map(|item| Item { overload: named.overload(kind), ..item })
}

impl Named<'_> {
    /// The operator that typed functions call, if it is one.
    pub(super) fn typed_operator(&self) -> Option<TokenStream> {
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
            (None, Definition::Composed(_, path, _)) if self.row.is_function => Some((path, false)),
            _ => None,
        }
    }

    /// The values of the arguments behind the first `skip`.
    pub(super) fn passed(&self, callee: Callee<'_>, form: Form, skip: usize) -> TokenStream {
        let ndim = match callee {
            Callee::Operator if skip == 0 => quote!(this.operand().sizes().len()),
            Callee::Operator => quote!(ndim),
            Callee::View | Callee::Function { .. } => quote!(this.ndim()),
        };
        let each = self.args.iter().skip(skip).map(|arg| arg.value(&self.core, callee, form, &ndim));
        quote!(#(#each,)*)
    }

    /// The parameters of a function, for a call of it with `this` as the tensor `self`.
    pub(super) fn parameters(&self, form: Form, this: &TokenStream) -> Vec<TokenStream> {
        let names = self.args.iter().filter(|arg| arg.is_positional()).map(|arg| match &arg.rust {
            name if name == "this" && arg.is_tensor() => this.clone(),
            name => quote!(#name),
        });
        let options = (form == Form::With).then(|| quote!(options));
        names.chain(options).collect()
    }

    /// What stands before the arguments of an operator: `self` as operators take it, whose dimensions some name.
    pub(super) fn receiver(&self) -> TokenStream {
        let core = &self.core;
        match self.args.first() {
            Some(first) if first.is_tensor() && first.rust == "this" => {
                quote!(let this = #core::IntoArg::<'_, D>::into_arg(this);)
            }
            _ => TokenStream::new(),
        }
    }

    /// One `item`, or as many as there are results in parentheses.
    pub(super) fn each_result(&self, item: &TokenStream) -> TokenStream {
        match self.schema.returns().len() {
            1 => item.clone(),
            count => {
                let items = (0..count).map(|_| item);
                quote!((#(#items),*))
            }
        }
    }

    /// A name for each result.
    pub(super) fn result_names(&self) -> Vec<Ident> {
        (0..self.schema.returns().len()).map(|i| format_ident!("r{i}")).collect()
    }

    /// The results by their names: one, or a tuple.
    pub(super) fn results(&self) -> TokenStream {
        match &self.result_names()[..] {
            [one] => quote!(#one),
            several => quote!((#(#several),*)),
        }
    }

    /// Turns an array of results into one result or a tuple.
    pub(super) fn tuple(&self, array: &TokenStream) -> TokenStream {
        let (names, results) = (self.result_names(), self.results());
        quote!({ let [#(#names),*] = #array; #results })
    }
}
