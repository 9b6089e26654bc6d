//! Schema types as Rust types: the marker that reads an argument, the parameter of a typed function, and how one
//! becomes the other's value.

use crate::declaration::Row;
use monomorph_schema::{Argument, Base, Literal, Type, Wrap};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

/// One argument of a declaration in Rust's terms.
pub(crate) struct Arg<'a> {
    pub(crate) declared: &'a Argument,
    kind: Kind,
    role: Role<'a>,
    pub(crate) rust: Ident,
}

/// What an argument is to a typed function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tensor,
    OptionalTensor,
    Tensors,
    Scalar,
    /// A list of dimensions, or `..` for all.
    Dims,
    /// A dimension, or `..` for all.
    Dim,
    Sizes,
    Other,
}

/// Where a typed function takes an argument from.
#[derive(Clone, Copy, PartialEq)]
enum Role<'a> {
    /// A parameter.
    Positional,
    /// A field of the options, which is this unless it is given.
    Option(&'a Literal),
    /// Nowhere: always the default. Layouts and page-locked memory are what the device makes of them.
    Fixed,
}

impl<'a> Arg<'a> {
    /// `positional` names arguments that are parameters although they have defaults, `options` those that are options
    /// although they have none.
    pub(crate) fn new(declared: &'a Argument, row: &'a Row, span: Span) -> Arg<'a> {
        let ty = declared.ty();
        let name = declared.name();
        let is_dim = matches!(name, "dim" | "dims" | "source" | "destination");
        let kind = match (ty.base(), ty.wraps()) {
            (Base::Tensor, []) if declared.default().is_some() => Kind::OptionalTensor,
            (Base::Tensor, []) => Kind::Tensor,
            (Base::Tensor, [Wrap::Optional]) => Kind::OptionalTensor,
            (Base::Tensor, [Wrap::List(_)]) => Kind::Tensors,
            (Base::Scalar, []) => Kind::Scalar,
            (Base::Int | Base::SymInt, [Wrap::List(_)] | [Wrap::List(_), Wrap::Optional]) if is_dim => Kind::Dims,
            (Base::Int | Base::SymInt, [Wrap::List(_)]) => Kind::Sizes,
            (Base::Int | Base::SymInt, [Wrap::Optional]) if is_dim => Kind::Dim,
            _ => Kind::Other,
        };
        let named = |list: &[Ident]| list.iter().any(|other| other == name);
        let option = row.options.iter().find(|(other, _)| other == name).map(|(_, default)| default);
        let role = match (option, declared.default()) {
            (Some(default), _) => Role::Option(default),
            (None, None) => Role::Positional,
            (None, Some(_)) if named(&row.positional) => Role::Positional,
            (None, Some(_)) if matches!(name, "layout" | "pin_memory") => Role::Fixed,
            // A factory makes tensors where its type or its method says.
            (None, Some(_)) if name == "device" && !takes_tensors(row) => Role::Fixed,
            (None, Some(default)) => Role::Option(default.value()),
        };
        Arg { declared, kind, role, rust: crate::tokens::parameter(name, span) }
    }

    /// True for a tensor that is neither optional nor in a list.
    pub(crate) fn is_tensor(&self) -> bool {
        self.kind == Kind::Tensor
    }

    /// True for tensors of whatever kind.
    pub(crate) fn has_tensors(&self) -> bool {
        matches!(self.kind, Kind::Tensor | Kind::OptionalTensor | Kind::Tensors)
    }

    /// True if typed handles can pass such an argument.
    pub(crate) fn is_unboxed(&self) -> bool {
        let ty = self.declared.ty();
        let optionals = matches!(ty.wraps(), [Wrap::Optional, Wrap::List(_)]);
        let numbers = ty.base() == Base::Scalar && ty.is_list();
        !optionals && !numbers && !matches!(ty.base(), Base::Generator | Base::Storage)
    }

    /// True for a tensor that may be absent.
    pub(crate) fn is_optional_tensor(&self) -> bool {
        self.kind == Kind::OptionalTensor
    }

    /// True for a parameter of typed functions.
    pub(crate) fn is_positional(&self) -> bool {
        self.role == Role::Positional
    }

    /// True for a field of the options.
    pub(crate) fn is_option(&self) -> bool {
        matches!(self.role, Role::Option(_))
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
                (Kind::Tensors, _) => "Tensors",
                (_, [Wrap::Optional, Wrap::List(_)]) => "OptionalTensors",
                _ => return None,
            }));
        }
        let (name, list) = match base {
            Base::Scalar => ("Scalar", Some("Scalars")),
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
        match self.kind {
            Kind::Tensor | Kind::OptionalTensor => quote!(#core::structured::Operand<#lifetime>),
            _ => self.named_type(core, lifetime),
        }
    }

    /// The type of a typed function's parameter. Functions over any device take tensors as such, and operators numbers
    /// in their place.
    pub(crate) fn parameter_type(&self, core: &TokenStream, callee: Callee<'_>) -> TokenStream {
        match (self.kind, callee) {
            (Kind::Tensor, Callee::Function { numbers }) if self.is_either(numbers) => {
                quote!(impl Into<#core::TensorOrNumber<'t, D>>)
            }
            (Kind::Tensor, Callee::Function { .. } | Callee::View) => quote!(&'t #core::Tensor<D>),
            (Kind::Tensor, Callee::Operator) => quote!(impl #core::IntoArg<'t, D>),
            (Kind::OptionalTensor, Callee::Operator) if self.declared.default().is_some() => {
                quote!(impl #core::IntoArg<'t, D>)
            }
            (Kind::OptionalTensor, _) => quote!(Option<&'t #core::Tensor<D>>),
            (Kind::Tensors, _) => quote!(&[impl ::std::borrow::Borrow<#core::Tensor<D>>]),
            (Kind::Scalar, _) => quote!(impl Into<#core::Scalar>),
            (Kind::Dims, _) => quote!(impl Into<#core::Dims>),
            (Kind::Dim, _) => quote!(impl Into<#core::Dim>),
            (Kind::Sizes, _) => quote!(impl Into<#core::Sizes>),
            (Kind::Other, _) if self.is_optional_dtype() => quote!(impl Into<Option<#core::DType>>),
            (Kind::Other, _) => self.plain_type(core),
        }
    }

    /// The same for a prepared call, which keeps its arguments.
    pub(crate) fn prepared_type(&self, core: &TokenStream) -> TokenStream {
        match self.kind {
            Kind::Tensor => quote!(impl #core::IntoArg<'t, D>),
            Kind::Scalar => quote!(impl Into<#core::Scalar>),
            _ => self.plain_type(core),
        }
    }

    /// The value that a prepared call passes on.
    pub(crate) fn prepared_value(&self) -> TokenStream {
        let name = &self.rust;
        match self.kind {
            Kind::Tensor | Kind::OptionalTensor => quote!(#name.into_arg().operand()),
            Kind::Scalar => quote!(#name.into()),
            _ => quote!(#name),
        }
    }

    /// Turns a parameter of many types into the one that is passed on, so that it can be looked at first. It can be
    /// given to the function again.
    pub(crate) fn fixed(&self, core: &TokenStream, callee: Callee<'_>) -> TokenStream {
        let name = &self.rust;
        let ty = match (self.kind, callee) {
            _ if !self.is_positional() => return TokenStream::new(),
            (Kind::Tensor, Callee::Operator) => return quote!(let #name = #core::IntoArg::<'_, D>::into_arg(#name);),
            (Kind::OptionalTensor, Callee::Operator) if self.declared.default().is_some() => {
                return quote!(let #name = #core::IntoArg::<'_, D>::into_arg(#name););
            }
            (Kind::Tensor, Callee::Function { numbers }) if self.is_either(numbers) => {
                quote!(#core::TensorOrNumber<'_, D>)
            }
            (Kind::Scalar, _) => quote!(#core::Scalar),
            (Kind::Dim, _) => quote!(#core::Dim),
            (Kind::Other, _) if self.is_optional_dtype() => quote!(Option<#core::DType>),
            _ => return TokenStream::new(),
        };
        quote!(let #name: #ty = #name.into();)
    }

    /// The boxed value of an argument that is fixed; `None` for one that has its default.
    pub(crate) fn boxed(&self, core: &TokenStream, callee: Callee<'_>, form: Form, ndim: &TokenStream) -> TokenStream {
        let name = &self.rust;
        let value = match (self.role, form) {
            (Role::Fixed, _) => return quote!(None),
            (Role::Option(_), Form::Short) if self.declared.default().is_some() => return quote!(None),
            (Role::Option(default), Form::Short) => self.literal(core, default),
            (Role::Option(_), Form::With) => quote!(options.#name),
            (Role::Positional, _) => match (self.kind, callee) {
                (Kind::Tensor, Callee::Function { numbers }) if self.is_either(numbers) => quote!(#name),
                (Kind::Other, _) if self.is_optional_dtype() => quote!(#name),
                _ => self.value(core, callee, form, ndim),
            },
        };
        match self.kind {
            Kind::Tensors => quote!(Some(#core::trace::tensors::<D>(#value))),
            _ => quote!(Some(#core::trace::TraceArg::value(&#value))),
        }
    }

    /// True if numbers may stand for the tensor.
    fn is_either(&self, numbers: &[Ident]) -> bool {
        numbers.iter().any(|name| *name == self.declared.name())
    }

    fn is_optional_dtype(&self) -> bool {
        self.declared.ty().base() == Base::ScalarType && self.declared.ty().is_optional()
    }

    /// The type with its name in Rust, for a parameter or a field.
    pub(crate) fn plain_type(&self, core: &TokenStream) -> TokenStream {
        self.named_type(core, &quote!('t))
    }

    /// The type as people read it in documentation, rather than as the one that a marker stands for.
    fn named_type(&self, core: &TokenStream, lifetime: &TokenStream) -> TokenStream {
        let marker = || {
            let marker = self.marker(core).unwrap_or_default();
            quote!(<#marker as #core::ArgType>::Value<#lifetime>)
        };
        let (base, wraps) = (self.declared.ty().base(), self.declared.ty().wraps());
        let one = match base {
            Base::Tensor => quote!(&#lifetime #core::Tensor<D>),
            Base::Scalar => quote!(#core::Scalar),
            Base::Int | Base::SymInt | Base::DeviceIndex => quote!(i64),
            Base::Float => quote!(f64),
            Base::Bool | Base::SymBool => quote!(bool),
            Base::Str => quote!(&#lifetime str),
            Base::ScalarType => quote!(#core::DType),
            Base::Layout => quote!(#core::Layout),
            Base::Device => quote!(#core::DeviceId),
            Base::MemoryFormat => quote!(#core::MemoryFormat),
            Base::Generator => quote!(&#lifetime #core::Generator),
            _ => return marker(),
        };
        match wraps {
            [] => one,
            [Wrap::Optional] => quote!(Option<#one>),
            [Wrap::List(_)] => quote!(&#lifetime [#one]),
            [Wrap::List(_), Wrap::Optional] => quote!(Option<&#lifetime [#one]>),
            _ => marker(),
        }
    }

    /// What a field of the options borrows: nothing, something, or tensors.
    pub(crate) fn borrows(&self) -> Borrows {
        let (base, wraps) = (self.declared.ty().base(), self.declared.ty().wraps());
        match (base, wraps) {
            (Base::Tensor, _) => Borrows::Tensors,
            (Base::Str | Base::Generator, _) | (_, [Wrap::List(_), ..]) => Borrows::Something,
            _ => Borrows::Nothing,
        }
    }

    /// What a function does with a parameter before it passes it on.
    pub(crate) fn preamble(&self, core: &TokenStream) -> TokenStream {
        let name = &self.rust;
        let ty = match self.kind {
            _ if !self.is_positional() => return TokenStream::new(),
            Kind::Dims => quote!(#core::Dims),
            Kind::Sizes => quote!(#core::Sizes),
            _ => return TokenStream::new(),
        };
        quote!(let #name: #ty = #name.into();)
    }

    /// The value that a typed function passes on: of its parameter, of its options, or the default if it has none.
    /// `ndim` is how many dimensions there are.
    pub(crate) fn value(&self, core: &TokenStream, callee: Callee<'_>, form: Form, ndim: &TokenStream) -> TokenStream {
        let name = &self.rust;
        let is_operator = matches!(callee, Callee::Operator);
        match (self.role, form) {
            (Role::Option(_), Form::With) if self.has_tensors() && is_operator => {
                return quote!(#core::IntoArg::<'_, D>::into_arg(options.#name).operand());
            }
            (Role::Option(_), Form::With) => return quote!(options.#name),
            (Role::Option(default), Form::Short) => return self.default_value(core, default, is_operator),
            (Role::Fixed, _) => return quote!(None),
            (Role::Positional, _) => {}
        }
        match self.kind {
            Kind::Tensor if callee == Callee::View => quote!(#core::structured::Operand::from(#name)),
            Kind::Tensor | Kind::OptionalTensor if is_operator => {
                quote!(#core::IntoArg::<'_, D>::into_arg(#name).operand())
            }
            Kind::Scalar => quote!(Into::<#core::Scalar>::into(#name)),
            Kind::Dims if self.declared.ty().is_optional() => quote!(#name.optional()),
            Kind::Dims => quote!(#name.list(#ndim)),
            Kind::Dim => quote!(Into::<#core::Dim>::into(#name).0),
            Kind::Sizes => quote!(&*#name),
            Kind::Tensor => match callee {
                Callee::Function { numbers } if self.is_either(numbers) => quote!(#name.into()),
                _ => quote!(#name),
            },
            Kind::Other if self.is_optional_dtype() => quote!(#name.into()),
            _ => quote!(#name),
        }
    }

    /// The default of a field of the options, as the field has it.
    pub(crate) fn option_default(&self, core: &TokenStream) -> TokenStream {
        match self.role {
            Role::Option(default) => self.default_value(core, default, false),
            _ => TokenStream::new(),
        }
    }

    /// The default as people read it.
    pub(crate) fn default_text(&self) -> String {
        match self.role {
            Role::Option(default) => text_of(default),
            _ => String::new(),
        }
    }

    fn default_value(&self, core: &TokenStream, default: &Literal, is_operator: bool) -> TokenStream {
        match (self.kind, is_operator) {
            (Kind::OptionalTensor, false) => quote!(None),
            _ => self.literal(core, default),
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

/// The Rust type of a result that is no tensor; `None` for those that there is none for.
pub(crate) fn plain_result(core: &TokenStream, ty: &Type) -> Option<TokenStream> {
    if !ty.wraps().is_empty() {
        return None;
    }
    Some(match ty.base() {
        Base::Bool | Base::SymBool => quote!(bool),
        Base::Int | Base::SymInt => quote!(i64),
        Base::Float => quote!(f64),
        Base::Scalar => quote!(#core::Scalar),
        Base::ScalarType => quote!(#core::DType),
        _ => return None,
    })
}

fn takes_tensors(row: &Row) -> bool {
    row.func.as_ref().is_some_and(|func| func.schema.args().any(|arg| arg.ty().is_tensor()))
}

/// What a typed function calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Callee<'a> {
    /// An operator, whose operands are tensors or numbers.
    Operator,
    /// A function from a geometry, which other tensors are operands of.
    View,
    /// A function over any device; numbers may stand for the tensors that are named.
    Function { numbers: &'a [Ident] },
}

/// Which of an operator's two functions: the one that leaves its options out, or the one that takes them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Short,
    With,
}

/// What the fields of options borrow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Borrows {
    Nothing,
    Something,
    Tensors,
}

fn text_of(literal: &Literal) -> String {
    match literal {
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => value.to_string(),
        Literal::Float(value) => format!("{value:?}"),
        Literal::Str(value) => format!("\"{value}\""),
        Literal::Name(value) => value.to_string(),
        Literal::List(items) => format!("[{}]", items.iter().map(text_of).collect::<Vec<_>>().join(", ")),
        _ => "`None`".to_owned(),
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
