//! Schema types as Rust types: the marker that reads an argument, the parameter of a typed function, and how one
//! becomes the other's value.

use monomorph_schema::{Argument, Base, Literal, Wrap};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};

/// One argument of a declaration in Rust's terms.
pub(crate) struct Arg<'a> {
    pub(crate) declared: &'a Argument,
    kind: Kind,
    pub(crate) rust: proc_macro2::Ident,
}

/// What an argument is to a typed function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tensor,
    OptionalTensor,
    Scalar,
    Ints,
    Other,
}

impl<'a> Arg<'a> {
    pub(crate) fn new(declared: &'a Argument, span: Span) -> Arg<'a> {
        let ty = declared.ty();
        let kind = match (ty.base(), ty.wraps()) {
            (Base::Tensor, []) if declared.default().is_some() => Kind::OptionalTensor,
            (Base::Tensor, []) => Kind::Tensor,
            (Base::Tensor, [Wrap::Optional]) => Kind::OptionalTensor,
            (Base::Scalar, []) => Kind::Scalar,
            (Base::Int | Base::SymInt, [Wrap::List(_)]) => Kind::Ints,
            _ => Kind::Other,
        };
        Arg { declared, kind, rust: crate::tokens::parameter(declared.name(), span) }
    }

    /// True for a tensor that is neither optional nor in a list.
    pub(crate) fn is_tensor(&self) -> bool {
        self.kind == Kind::Tensor
    }

    /// True if typed handles can pass such an argument.
    pub(crate) fn is_unboxed(&self) -> bool {
        let ty = self.declared.ty();
        let optionals = matches!(ty.wraps(), [Wrap::Optional, Wrap::List(_)]);
        !optionals && !matches!(ty.base(), Base::Generator | Base::Storage)
    }

    /// True for a tensor that may be absent.
    pub(crate) fn is_optional_tensor(&self) -> bool {
        self.kind == Kind::OptionalTensor
    }

    /// True for an argument that the short form of a function leaves out: keyword-only, with a default.
    pub(crate) fn is_fixed(&self) -> bool {
        self.declared.is_keyword_only() && self.declared.default().is_some()
    }

    /// The `ArgType`; `None` if there is none for the schema type.
    pub(crate) fn marker(&self, core: &TokenStream) -> Option<TokenStream> {
        let (base, wraps) = (self.declared.ty().base(), self.declared.ty().wraps());
        let one = |name: &str| {
            let name = format_ident!("{name}Arg");
            quote!(#core::#name)
        };
        if base == Base::Tensor {
            return Some(one(match (self.kind, wraps) {
                (Kind::Tensor, _) => "Tensor",
                (Kind::OptionalTensor, _) => "OptionalTensor",
                (_, [Wrap::List(_)]) => "Tensors",
                (_, [Wrap::Optional, Wrap::List(_)]) => "OptionalTensors",
                _ => return None,
            }));
        }
        let (name, list) = match base {
            Base::Scalar => ("Scalar", None),
            Base::Int | Base::SymInt | Base::DeviceIndex => ("Int", Some("Ints")),
            Base::Float => ("Float", Some("Floats")),
            Base::Bool | Base::SymBool => ("Bool", Some("Bools")),
            Base::Str => ("Str", None),
            Base::ScalarType => ("DType", None),
            Base::Layout => ("Layout", None),
            Base::Device => ("Device", None),
            Base::MemoryFormat => ("MemoryFormat", None),
            Base::Storage => ("Storage", None),
            Base::Generator => ("Generator", None),
            _ => return None,
        };
        let optional = |inner: TokenStream| quote!(#core::Optional<#inner>);
        Some(match wraps {
            [] => one(name),
            [Wrap::Optional] => optional(one(name)),
            [Wrap::List(_)] => one(list?),
            [Wrap::List(_), Wrap::Optional] => optional(one(list?)),
            _ => return None,
        })
    }

    /// The type of the value in an operator, for a call of this lifetime.
    pub(crate) fn value_type(&self, core: &TokenStream, lifetime: &TokenStream) -> TokenStream {
        let marker = self.marker(core).unwrap_or_default();
        quote!(<#marker as #core::ArgType>::Value<#lifetime>)
    }

    /// The type of a typed function's parameter.
    pub(crate) fn parameter_type(&self, core: &TokenStream) -> TokenStream {
        match self.kind {
            Kind::Tensor => quote!(impl #core::IntoArg<'t, D>),
            Kind::OptionalTensor => quote!(Option<&'t #core::Tensor<D>>),
            Kind::Scalar => quote!(impl Into<#core::Scalar>),
            Kind::Ints => quote!(impl Into<#core::IntList<'t>>),
            Kind::Other => self.value_type(core, &quote!('t)),
        }
    }

    /// The value that a typed function passes on: of its parameter, or the default if it has none.
    pub(crate) fn value(&self, core: &TokenStream, is_short: bool) -> TokenStream {
        let name = &self.rust;
        if let (true, true, Some(default)) = (is_short, self.is_fixed(), self.declared.default()) {
            return self.literal(core, default.value());
        }
        match self.kind {
            Kind::Tensor | Kind::OptionalTensor => quote!(#core::IntoArg::<'_, D>::into_arg(#name).operand()),
            Kind::Scalar => quote!(Into::<#core::Scalar>::into(#name)),
            Kind::Ints => quote!(Into::<#core::IntList<'_>>::into(#name).0),
            Kind::Other => quote!(#name),
        }
    }

    /// A default as operators take it.
    fn literal(&self, core: &TokenStream, literal: &Literal) -> TokenStream {
        let value = match literal {
            Literal::None if self.kind == Kind::OptionalTensor => return quote!(#core::structured::Operand::Absent),
            Literal::None => return quote!(None),
            Literal::Bool(value) => quote!(#value),
            Literal::Int(value) if self.declared.ty().base() == Base::Float => {
                let value = *value as f64;
                quote!(#value)
            }
            Literal::Int(value) => quote!(#value),
            Literal::Float(value) => quote!(#value),
            Literal::Str(value) => quote!(#value),
            Literal::Name(value) => name_of(core, value),
            Literal::List(_) if self.kind == Kind::OptionalTensor => return quote!(#core::structured::Operand::Absent),
            Literal::List(items) => {
                let items = items.iter().map(|item| self.literal(core, item));
                quote!(&[#(#items),*])
            }
            _ => quote!(compile_error!("a default of this kind has no Rust value")),
        };
        match (self.declared.ty().base(), self.declared.ty().is_optional()) {
            (Base::Scalar, _) => quote!(#core::Scalar::from(#value)),
            (_, true) => quote!(Some(#value)),
            _ => value,
        }
    }
}

/// A value of an enum by the name that schemas have for it.
fn name_of(core: &TokenStream, name: &str) -> TokenStream {
    match name {
        "contiguous_format" => quote!(#core::MemoryFormat::Contiguous),
        "preserve_format" => quote!(#core::MemoryFormat::Preserve),
        "channels_last" => quote!(#core::MemoryFormat::ChannelsLast),
        "Mean" => quote!(1),
        "long" => quote!(#core::DType::I64),
        _ => {
            let message = format!("the default `{name}` has no Rust value");
            quote!(compile_error!(#message))
        }
    }
}
