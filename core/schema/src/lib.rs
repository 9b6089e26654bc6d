//! Operator schemas in PyTorch's schema language: `add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`.
//! Owns the data model of a declaration, its parser, its rules and its printer. Knows no operator, makes no values
//! (an enum default such as `contiguous_format` stays a name), and looks nothing up.
//!
//! ```
//! use monomorph_schema::{Base, Literal, Schema};
//!
//! let text = "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
//! let schema = Schema::parse(text)?;
//! assert_eq!(schema.full_name(), "add.Tensor");
//! assert_eq!(schema.positional().len(), 2);
//! let alpha = schema.arg("alpha").unwrap();
//! assert!(alpha.is_keyword_only());
//! assert_eq!(alpha.ty().base(), Base::Scalar);
//! assert_eq!(alpha.default().unwrap().value(), &Literal::Int(1));
//! assert_eq!(schema.to_string(), text);
//!
//! let error = Schema::parse("add(Tensro self) -> Tensor").unwrap_err();
//! assert_eq!((error.column(), error.found()), (5, "Tensro"));
//! # Ok::<(), monomorph_schema::SchemaError>(())
//! ```
//!
//! # The language
//!
//! ```text
//! schema   = [ident "::"] ident ["." ident] "(" [args] ")" "->" returns
//! args     = arg {"," arg} ["," "*" "," arg {"," arg}]  |  "*" "," arg {"," arg}
//! arg      = type ident ["=" literal]
//! returns  = "()"  |  return  |  "(" return {"," return} ")"
//! return   = type [ident]
//! type     = base [alias] {"?" | "[" [size] "]"}          at most four of the latter; size is 1 to 255
//! alias    = "!"  |  "(" set {"|" set} ["!"] ["->" set {"|" set}] ")"
//! set      = ident | "*"                                 at most 16 of them in a row, and 1024 results
//! literal  = "None" | "True" | "False" | integer | float | string | ident | "[" [literal {"," literal}] "]"
//! ```
//!
//! White space between tokens is free; what is printed has PyTorch's spacing, and defaults as they were written.
//! The rules that hold across arguments are listed in `rules.rs`.
#![forbid(unsafe_code)]

mod error;
mod literal;
pub mod near;
mod parse;
mod print;
mod rules;
mod types;

pub use error::{Accepted, SchemaError};
pub use literal::{DefaultValue, Literal};
pub use types::{Alias, Base, Type, Wrap};

/// The declaration of one overload of an operator. Only [`Schema::parse`] makes one, so every schema obeys the rules.
///
/// Two schemas are equal if they declare the same: `int[2] x=2` equals `int[2] x=[2, 2]`, and `'a'` equals `"a"`.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    namespace: Option<Box<str>>,
    /// `name` or `name.overload`.
    full: Box<str>,
    /// The length of `name` in `full`.
    name_len: usize,
    /// Positional arguments, then keyword-only ones, of which the out arguments come last.
    args: Vec<Argument>,
    positional: usize,
    outs: usize,
    returns: Vec<Return>,
}

/// One argument of a [`Schema`].
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    name: Box<str>,
    ty: Type,
    default: Option<DefaultValue>,
    keyword_only: bool,
}

/// One result of a [`Schema`].
#[derive(Clone, Debug, PartialEq)]
pub struct Return {
    name: Option<Box<str>>,
    ty: Type,
}

/// The operators of Python's augmented assignment: `__iadd__` and so on are in-place, `__invert__` is not.
const AUGMENTED: [&str; 11] = ["add", "sub", "mul", "div", "mod", "pow", "lshift", "rshift", "and", "xor", "or"];

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    ///
    /// The first place where the text leaves the language or breaks a rule.
    pub fn parse(text: &str) -> Result<Schema, SchemaError> {
        parse::schema(text).map_err(|fault| fault.locate(text))
    }

    /// The namespace in front of `::` (`aten`), if the text had one.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The operator's name without overload: `add`, `add_`, `__and__`.
    pub fn name(&self) -> &str {
        &self.full[..self.name_len]
    }

    /// The overload's name; empty for the one overload without a name.
    pub fn overload(&self) -> &str {
        self.full.get(self.name_len + 1..).unwrap_or("")
    }

    /// Name and overload as they are looked up: `add.Tensor`, or `relu` where the overload has no name.
    pub fn full_name(&self) -> &str {
        &self.full
    }

    /// All arguments in order: positional, keyword-only, out; [`Argument::is_keyword_only`] tells which.
    pub fn args(&self) -> std::slice::Iter<'_, Argument> {
        self.args.iter()
    }

    /// The argument of this name.
    pub fn arg(&self, name: &str) -> Option<&Argument> {
        self.args.iter().find(|arg| arg.name() == name)
    }

    /// The arguments before `*`.
    pub fn positional(&self) -> &[Argument] {
        &self.args[..self.positional]
    }

    /// The arguments after `*`, out arguments included.
    pub fn keyword_only(&self) -> &[Argument] {
        &self.args[self.positional..]
    }

    /// The results.
    pub fn returns(&self) -> &[Return] {
        &self.returns
    }

    /// The out arguments: keyword-only ones written through a named alias set, `Tensor(a!) out`. They come last.
    pub fn out_args(&self) -> &[Argument] {
        &self.args[self.args.len() - self.outs..]
    }

    /// True for an out= form: one with [`out_args`](Schema::out_args).
    pub fn is_out(&self) -> bool {
        self.outs > 0
    }

    /// True for an in-place form by its name: a trailing `_` (`add_`), or an augmented assignment (`__iadd__`).
    pub fn is_inplace(&self) -> bool {
        let name = self.name();
        match name.strip_prefix("__").and_then(|rest| rest.strip_suffix("__")) {
            Some(inner) if !inner.is_empty() => inner.strip_prefix('i').is_some_and(|op| AUGMENTED.contains(&op)),
            _ => name.ends_with('_') && name.bytes().any(|b| b != b'_'),
        }
    }

    /// Every argument that the operator writes: `self` of an in-place form, the out arguments, and any other marked
    /// with `!`, in order.
    pub fn mutable_args(&self) -> impl Iterator<Item = &Argument> {
        self.args.iter().filter(|arg| arg.is_mutable())
    }

    /// For each result, the position of the argument that it is, if it is one that was written: `self` of an in-place
    /// form, the out arguments.
    pub fn written_positions(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.returns.iter().map(|result| {
            let alias = result.ty.alias().filter(|a| a.is_write())?;
            let of = |arg: &Argument| arg.ty.alias().is_some_and(|a| a.is_write() && a.before().eq(alias.before()));
            self.args.iter().position(of)
        })
    }

    /// True if no argument is a tensor, an optional tensor or a list of them, so that the device of the result comes
    /// from a `device` argument or is the CPU. An out= form has a tensor argument, hence is none.
    pub fn is_factory(&self) -> bool {
        !self.args.iter().any(|arg| arg.ty.is_tensor())
    }
}

impl std::str::FromStr for Schema {
    type Err = SchemaError;

    fn from_str(text: &str) -> Result<Schema, SchemaError> {
        Schema::parse(text)
    }
}

impl Argument {
    /// The argument's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The argument's type, with its alias annotation.
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// The default, if it has one.
    pub fn default(&self) -> Option<&DefaultValue> {
        self.default.as_ref()
    }

    /// True after `*`.
    pub fn is_keyword_only(&self) -> bool {
        self.keyword_only
    }

    /// True if the operator writes the argument: `Tensor(a!)` or `Tensor!`.
    pub fn is_mutable(&self) -> bool {
        self.ty.alias().is_some_and(Alias::is_write)
    }

    /// True for an out argument: keyword-only and written through a named set.
    fn is_out(&self) -> bool {
        self.keyword_only && self.ty.alias().is_some_and(|alias| alias.is_write() && !alias.is_fresh())
    }
}

impl Return {
    /// The name, which many results lack.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The type, with its alias annotation: the set of the argument that it shares storage with.
    pub fn ty(&self) -> &Type {
        &self.ty
    }
}
