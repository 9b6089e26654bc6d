//! What is wrong with the text of a schema, and where.

use std::fmt::{self, Display, Formatter};

use super::near::near_names;
use super::types::{Base, Type, Wrap};

/// Why a text is no schema: where, what was found there, and what is accepted there.
///
/// Printed, it shows the text, and under the column a caret with the reason:
///
/// ```text
/// add(Tensro self) -> Tensor
///     ^ found `Tensro`; accepted is a type (Tensor, Scalar, int, …); did you mean Tensor?
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SchemaError {
    text: Box<str>,
    column: usize,
    found: Box<str>,
    accepted: Accepted,
}

impl SchemaError {
    /// The text that was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The place in the text: 1-based, in characters; one past the last character for the end.
    pub fn column(&self) -> usize {
        self.column
    }

    /// What stands there, shortened if it is long; empty for the end of the text.
    pub fn found(&self) -> &str {
        &self.found
    }

    /// What is accepted there.
    pub fn accepted(&self) -> &Accepted {
        &self.accepted
    }
}

impl std::error::Error for SchemaError {}

/// What a schema accepts at a place: the reason of a [`SchemaError`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Accepted {
    /// An operator's name.
    Name,
    /// The name of an overload.
    Overload,
    /// The opening parenthesis of the arguments.
    Arguments,
    /// A type.
    Type,
    /// A list's size, or its closing bracket.
    ListSize,
    /// No further `?` or `[]`.
    FewWraps,
    /// No further result.
    FewResults,
    /// No further alias set.
    FewAliasSets,
    /// No alias annotation: the type is not a tensor.
    AliasOfTensor,
    /// The name of an alias set.
    AliasSet,
    /// What may follow an alias set.
    AliasEnd,
    /// The name of an argument.
    ArgumentName,
    /// A comma, or the closing parenthesis.
    CommaOrClose,
    /// No second `*`.
    OneStar,
    /// A keyword-only argument after `*`.
    KeywordOnly,
    /// A default of the argument's type.
    Default {
        /// The argument's type.
        ty: Type,
    },
    /// A comma, or the closing bracket of a list.
    ListItem,
    /// An integer of 64 bits.
    Int64,
    /// A finite float.
    Finite,
    /// One of the known escapes.
    Escape,
    /// A string that ends on its line.
    ClosingQuote,
    /// The arrow in front of the results.
    Arrow,
    /// The end of the text.
    End,
    /// A result without a default.
    NoDefaultInReturn,
    /// A result that is not optional.
    NoOptionalReturn,
    /// An argument's name that is not taken.
    UniqueName,
    /// A default, since an argument before it has one.
    DefaultToo,
    /// An out argument, since one came before it.
    OutLast,
    /// An out argument marked as written.
    OutMarked,
    /// The out arguments as results.
    OutReturned,
    /// No results, since an out argument is a list.
    OutListNotReturned,
    /// A `self` marked as written, since the operator is in-place.
    InPlaceSelf,
    /// A plain tensor `self` as the one result, or no result for another `self`.
    InPlaceReturn,
    /// No out argument, since the operator is in-place.
    InPlaceWithoutOut,
    /// A written result that is `self` or an out argument.
    ReturnOfWritten,
    /// Results that are all written, or none of them.
    AllOrNoneWritten,
}

impl Display for Accepted {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Accepted::Name => "an operator's name (letters, digits and `_`)",
            Accepted::Overload => "an overload's name, other than `default` and not starting with `__`",
            Accepted::Arguments => "`(` and the arguments",
            Accepted::Type => "a type (Tensor, Scalar, int, …)",
            Accepted::ListSize => "a list size of 1 to 255, or `]`",
            Accepted::FewWraps => "a type with at most four of `?` and `[]`",
            Accepted::FewResults => "at most 1024 results",
            Accepted::FewAliasSets => "at most 16 alias sets before and after `->`",
            Accepted::AliasOfTensor => "an alias annotation on Tensor only",
            Accepted::AliasSet => "the name of an alias set, or `*`",
            Accepted::AliasEnd => "`|`, `!`, `->` or `)`, in this order",
            Accepted::ArgumentName => "the argument's name",
            Accepted::CommaOrClose => "`,` or `)`",
            Accepted::OneStar => "one `*` per schema",
            Accepted::KeywordOnly => "`,` and a keyword-only argument after `*`",
            Accepted::Default { ty } => return default_of(f, ty),
            Accepted::ListItem => "`,` or `]`",
            Accepted::Int64 => "an integer of 64 bits",
            Accepted::Finite => "a finite number",
            Accepted::Escape => r#"one of `\\`, `\'`, `\"`, `\n`, `\r`, `\t`"#,
            Accepted::ClosingQuote => "a string with a closing quote on the same line",
            Accepted::Arrow => "`->` and the results",
            Accepted::End => "the end of the text",
            Accepted::NoDefaultInReturn => "a result without a default",
            Accepted::NoOptionalReturn => "a result that is not optional",
            Accepted::UniqueName => "a name that no argument before it has",
            Accepted::DefaultToo => "an argument with a default, since one before it has a default",
            Accepted::OutLast => "an out argument, `Tensor(a!)`, since one came before it",
            Accepted::OutMarked => "an out argument marked as written, `Tensor(a!)`",
            Accepted::OutReturned => "the out arguments as results, in order, each with its annotation",
            Accepted::OutListNotReturned => "`()`, since an out argument is a list",
            Accepted::InPlaceSelf => "an argument `Tensor(a!) self`, since the operator is in-place",
            Accepted::InPlaceReturn => "the annotated `self`, or `()` where `self` is not a plain Tensor",
            Accepted::InPlaceWithoutOut => "no out argument, since the operator is in-place",
            Accepted::ReturnOfWritten => "a written result that is `self` or an out argument",
            Accepted::AllOrNoneWritten => "results that are all written, or none of them",
        })
    }
}

/// Which defaults a type takes, in words.
fn default_of(f: &mut Formatter<'_>, ty: &Type) -> fmt::Result {
    let item = match ty.base() {
        Base::Int => "an integer or the name of a value",
        Base::SymInt | Base::DeviceIndex => "an integer",
        Base::Float | Base::Complex => "a number",
        Base::Scalar => "a number, True or False",
        Base::Bool | Base::SymBool => "True or False",
        Base::Str | Base::Device => "a string in quotes",
        Base::ScalarType | Base::Layout | Base::MemoryFormat | Base::QScheme => "the name of a value",
        Base::Tensor => "`[]` for a tensor that may be undefined",
        Base::Dimname | Base::Generator | Base::Storage | Base::Stream => "none",
    };
    write!(f, "a default of the type `{ty}`: {item}")?;
    if ty.is_list() {
        let sized = ty.wraps().iter().any(|wrap| matches!(wrap, Wrap::List(Some(_))));
        f.write_str(if sized { ", or a list of such" } else { ", in a list" })?;
    }
    if ty.wraps().contains(&Wrap::Optional) {
        f.write_str(", or None")?;
    }
    Ok(())
}

impl Display for SchemaError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        /// Texts up to this length are shown whole, of longer ones this much before and after the column.
        const SHOWN: usize = 120;
        let skip = if self.text.chars().nth(SHOWN).is_none() { 0 } else { (self.column - 1).saturating_sub(SHOWN / 2) };
        let lead = if skip > 0 { "…" } else { "" };
        // A line break or a tab would move the caret away from its column.
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        write!(f, "{lead}{}", self.text.chars().skip(skip).take(SHOWN).map(plain).collect::<String>())?;
        if self.text.chars().nth(skip + SHOWN).is_some() {
            f.write_str("…")?;
        }
        let indent = self.column - 1 - skip + lead.chars().count();
        write!(f, "\n{:indent$}^ found ", "")?;
        match &*self.found {
            "" => f.write_str("the end of the text")?,
            found => write!(f, "`{}`", found.chars().map(plain).collect::<String>())?,
        }
        write!(f, "; accepted is {}", self.accepted)?;
        if self.accepted == Accepted::Type {
            let near = near_names(&self.found, Base::ALL.map(Base::name));
            if !near.is_empty() {
                write!(f, "; did you mean {}?", near.join(" or "))?;
            }
        }
        Ok(())
    }
}

/// A finding before its offset is turned into a column, which costs a walk over the text.
#[derive(Debug)]
pub(crate) struct Fault {
    at: usize,
    found: Box<str>,
    accepted: Accepted,
}

impl Fault {
    /// `at` is a byte offset at the start of a character, or the text's length.
    #[cold]
    pub(crate) fn new(at: usize, found: &str, accepted: Accepted) -> Fault {
        /// Nobody reads further in a message.
        const LONGEST: usize = 80;
        let found = match found.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &found[..end]).into(),
            None => found.into(),
        };
        Fault { at, found, accepted }
    }

    #[cold]
    pub(crate) fn locate(self, text: &str) -> SchemaError {
        let column = text[..self.at].chars().count() + 1;
        SchemaError { text: text.into(), column, found: self.found, accepted: self.accepted }
    }
}
