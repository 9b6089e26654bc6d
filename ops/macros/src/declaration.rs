//! What a block of declarations says, before anything is made of it.

use monomorph_schema::{Literal, Schema};
use proc_macro2::{Ident, Span, TokenStream};

/// One block: the operators of a family.
pub(crate) struct Family {
    /// The path of the crate that has the machinery.
    pub(crate) root: TokenStream,
    /// The trait of devices that execute the family.
    pub(crate) name: Ident,
    /// What functions that are written over any device need of it; the family's own trait if nothing is said.
    pub(crate) functions_on: Option<TokenStream>,
    pub(crate) rows: Vec<Row>,
}

impl Family {
    /// True in the crate of the machinery itself.
    pub(crate) fn is_in_tree(&self) -> bool {
        self.root.to_string() == "crate"
    }
}

/// One operator.
pub(crate) struct Row {
    pub(crate) docs: Vec<syn::Attribute>,
    /// `None` for an operator that others are made of, and that has no name of its own.
    pub(crate) func: Option<Func>,
    pub(crate) forms: Vec<NamedForm>,
    pub(crate) is_function: bool,
    pub(crate) is_method: bool,
    /// The Rust name where it is not that of the operator.
    pub(crate) name: Option<Ident>,
    /// Arguments that are parameters of typed functions although they have defaults.
    pub(crate) positional: Vec<Ident>,
    /// Arguments that are options of typed functions although the schema has no default, which is here.
    pub(crate) options: Vec<(Ident, Literal)>,
    /// What typed functions call where it is not the definition, and what that needs of a device.
    pub(crate) typed: Option<(syn::Path, Option<TokenStream>)>,
    /// Tensors for which numbers may stand in functions over any device.
    pub(crate) numbers: Vec<Ident>,
    pub(crate) definition: Definition,
    pub(crate) otherwise: Option<(Composite, syn::Path)>,
    pub(crate) across: Option<Ident>,
    /// Devices run what is composed on their typed functions, as one kernel, and not through the dispatcher.
    pub(crate) direct: Option<Span>,
    /// True if results share storage with arguments though the schema does not say so.
    pub(crate) is_silent_view: bool,
    /// The arguments that have it write others though the schema does not say so.
    pub(crate) silent_write: Vec<Ident>,
    /// Where to point for what concerns the whole row.
    pub(crate) span: Span,
}

/// The schema, as it was read.
pub(crate) struct Func {
    pub(crate) schema: Schema,
    pub(crate) text: crate::tokens::Text,
}

/// A form that follows from the functional one.
pub(crate) struct NamedForm {
    pub(crate) kind: FormKind,
    pub(crate) overload: crate::tokens::Text,
    /// What PyTorch calls its outputs, where that is neither the names of the results nor `out`.
    pub(crate) outputs: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FormKind {
    Functional,
    Inplace,
    Out,
    Autogen,
    OutApart,
    OutRestrided,
    OutIterated,
    OutSized,
    OutCopied,
    OutCast,
    OutMatrix,
    Copy,
    CopyOut,
    CopyInto,
}

impl FormKind {
    /// The options of a declaration that name a form.
    pub(crate) const OPTIONS: [(&'static str, FormKind); 13] = [
        ("inplace", FormKind::Inplace),
        ("out", FormKind::Out),
        ("autogen", FormKind::Autogen),
        ("out_apart", FormKind::OutApart),
        ("out_restrided", FormKind::OutRestrided),
        ("out_iterated", FormKind::OutIterated),
        ("out_sized", FormKind::OutSized),
        ("out_copied", FormKind::OutCopied),
        ("out_cast", FormKind::OutCast),
        ("out_matrix", FormKind::OutMatrix),
        ("copy", FormKind::Copy),
        ("copy_out", FormKind::CopyOut),
        ("copy_into", FormKind::CopyInto),
    ];
}

/// What an operator is.
pub(crate) enum Definition {
    /// A `StructuredOp`, which devices execute.
    Structured(syn::Type),
    /// An `Operator` that chooses between structured ones.
    Operator(syn::Type),
    /// A function from a geometry to a geometry.
    View(syn::Path),
    /// A function from a geometry to several.
    Views(syn::Path),
    /// A function over any device; whether `None` stands for the first argument.
    Kernel(syn::Path, bool),
    /// A function that calls other operators.
    Composite(Composite, syn::Path),
    /// A function over the callees of a composition, which is the typed function, too, and what that needs of a device.
    Composed(Composite, syn::Path, Option<TokenStream>),
    /// An operator that is called for each item of the lists among the arguments.
    Each(crate::tokens::Text),
    /// Another operator's name.
    Redirect(Ident, Option<syn::Type>),
}

/// The key of a composition.
#[derive(Clone, Copy)]
pub(crate) enum Composite {
    Implicit,
    Explicit,
    NonFunctional,
}

impl Composite {
    pub(crate) const NAMES: [(&'static str, Composite); 3] = [
        ("implicit", Composite::Implicit),
        ("explicit", Composite::Explicit),
        ("nonfunctional", Composite::NonFunctional),
    ];

    /// The variant of `AliasKey`.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Composite::Implicit => "CompositeImplicit",
            Composite::Explicit => "CompositeExplicit",
            Composite::NonFunctional => "CompositeExplicitNonFunctional",
        }
    }
}

impl Definition {
    /// The option that gives it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Definition::Structured(_) => "structured",
            Definition::Operator(_) => "operator",
            Definition::View(_) => "view",
            Definition::Views(_) => "views",
            Definition::Kernel(..) => "kernel",
            Definition::Composite(..) => "composite",
            Definition::Composed(..) => "composed",
            Definition::Each(_) => "each",
            Definition::Redirect(..) => "redirect",
        }
    }

    /// The type that typed calls go to.
    pub(crate) fn operator(&self) -> Option<&syn::Type> {
        match self {
            Definition::Structured(ty) | Definition::Operator(ty) => Some(ty),
            Definition::Redirect(_, ty) => ty.as_ref(),
            _ => None,
        }
    }
}
