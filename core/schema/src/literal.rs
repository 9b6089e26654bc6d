//! Defaults: their values, how they are read, and which of them fit a type. Resolves no enum names.

use super::error::{Accepted, Fault};
use super::parse::Cursor;
use super::types::{Base, Type, Wrap};

/// The default of an argument: its value, and its text as written. Equality looks at the value alone.
#[derive(Clone, Debug)]
pub struct DefaultValue {
    text: Box<str>,
    value: Literal,
}

/// The value of a default.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Literal {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer. Also stands as a default of `float` and `Scalar`.
    Int(i64),
    /// A finite float.
    Float(f64),
    /// A string, unescaped.
    Str(Box<str>),
    /// The name of an enum's value: `contiguous_format`, `Mean`, `long`.
    Name(Box<str>),
    /// A list. The bare default of a sized list is already repeated: `int[2] x=2` gives `[2, 2]`. The empty list as
    /// the default of a `Tensor` means that it may be undefined.
    List(Box<[Literal]>),
}

impl DefaultValue {
    /// The value that an omitted argument takes.
    pub fn value(&self) -> &Literal {
        &self.value
    }

    /// The default as it was written, white space but for one blank after a comma removed.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl PartialEq for DefaultValue {
    fn eq(&self, other: &DefaultValue) -> bool {
        self.value == other.value
    }
}

/// Reads the default of an argument of type `ty`.
pub(crate) fn default_value(cursor: &mut Cursor<'_>, ty: &Type) -> Result<DefaultValue, Fault> {
    let mut text = String::new();
    let value = Reader { cursor, ty, text: &mut text }.wrapped(&ty.wraps)?;
    Ok(DefaultValue { text: text.into(), value })
}

/// A default in the making. The recursion is as deep as the type has wraps, so no text can exhaust the stack.
struct Reader<'c, 't, 's> {
    cursor: &'c mut Cursor<'t>,
    ty: &'s Type,
    text: &'s mut String,
}

impl<'t> Reader<'_, 't, '_> {
    fn wrapped(&mut self, wraps: &[Wrap]) -> Result<Literal, Fault> {
        let Some((outer, inner)) = wraps.split_last() else { return self.bare() };
        match outer {
            Wrap::Optional if self.cursor.peek_ident() == Some("None") => self.ident().map(|_| Literal::None),
            Wrap::Optional => self.wrapped(inner),
            Wrap::List(_) if self.cursor.peek() == Some('[') => self.list(inner),
            Wrap::List(Some(size)) if !inner.iter().any(|wrap| matches!(wrap, Wrap::List(_))) => {
                let element = self.wrapped(inner)?;
                Ok(Literal::List(vec![element; usize::from(*size)].into()))
            }
            Wrap::List(_) => Err(self.misfit()),
        }
    }

    fn list(&mut self, inner: &[Wrap]) -> Result<Literal, Fault> {
        let mut items = Vec::new();
        self.cursor.expect('[', Accepted::ListItem)?;
        self.text.push('[');
        while self.cursor.peek() != Some(']') {
            items.push(self.wrapped(inner)?);
            if self.cursor.peek() == Some(']') {
                break;
            }
            self.cursor.expect(',', Accepted::ListItem)?;
            self.text.push_str(if self.cursor.at_space() { ", " } else { "," });
            if self.cursor.peek() == Some(']') {
                return Err(self.misfit());
            }
        }
        self.cursor.expect(']', Accepted::ListItem)?;
        self.text.push(']');
        Ok(Literal::List(items.into()))
    }

    fn bare(&mut self) -> Result<Literal, Fault> {
        let first = self.cursor.peek().unwrap_or('\0');
        match self.ty.base {
            Base::Int if first.is_ascii_alphabetic() || first == '_' => self.name(),
            Base::Int | Base::SymInt | Base::DeviceIndex => match self.number()? {
                (_, int @ Literal::Int(_)) => Ok(int),
                (at, _) => Err(self.misfit_at(at)),
            },
            Base::Scalar if matches!(self.cursor.peek_ident(), Some("True" | "False")) => self.truth(),
            Base::Float | Base::Complex | Base::Scalar => self.number().map(|(_, value)| value),
            Base::Bool | Base::SymBool => self.truth(),
            Base::Str | Base::Device => self.string(),
            Base::ScalarType | Base::Layout | Base::MemoryFormat | Base::QScheme => self.name(),
            Base::Tensor if first == '[' => self.undefined(),
            Base::Tensor | Base::Dimname | Base::Generator | Base::Storage | Base::Stream => Err(self.misfit()),
        }
    }

    /// `[]`, and nothing in it: reading items here would recurse as deep as the text says.
    fn undefined(&mut self) -> Result<Literal, Fault> {
        let at = self.cursor.offset();
        if !(self.cursor.eat("[") && self.cursor.eat("]")) {
            return Err(self.misfit_at(at));
        }
        self.text.push_str("[]");
        Ok(Literal::List([].into()))
    }

    fn name(&mut self) -> Result<Literal, Fault> {
        match self.cursor.peek_ident() {
            Some("None" | "True" | "False") => Err(self.misfit()),
            _ => self.ident().map(|name| Literal::Name(name.into())),
        }
    }

    fn truth(&mut self) -> Result<Literal, Fault> {
        match self.cursor.peek_ident() {
            Some("True" | "False") => self.ident().map(|word| Literal::Bool(word == "True")),
            _ => Err(self.misfit()),
        }
    }

    fn ident(&mut self) -> Result<&'t str, Fault> {
        let misfit = Accepted::Default { ty: self.ty.clone() };
        let word = self.cursor.ident(misfit)?;
        self.text.push_str(word);
        Ok(word)
    }

    /// `-1`, `0.5`, `1e-05`, with the offset where it starts.
    fn number(&mut self) -> Result<(usize, Literal), Fault> {
        let at = self.cursor.offset();
        let (len, float) = match number_len(self.cursor.rest()) {
            Some(found) => found,
            None => return Err(self.misfit()),
        };
        let text = self.cursor.take(len);
        self.text.push_str(text);
        let value = if float {
            text.parse().ok().filter(|value: &f64| value.is_finite()).map(Literal::Float).ok_or(Accepted::Finite)
        } else {
            text.parse().map(Literal::Int).map_err(|_| Accepted::Int64)
        };
        value.map(|value| (at, value)).map_err(|accepted| Fault::new(at, text, accepted))
    }

    /// A string in single or double quotes, on one line.
    fn string(&mut self) -> Result<Literal, Fault> {
        let quote = match self.cursor.peek() {
            Some(quote @ ('"' | '\'')) => quote,
            _ => return Err(self.misfit()),
        };
        let (at, rest) = (self.cursor.offset(), self.cursor.rest());
        let mut value = String::new();
        let mut chars = rest.char_indices().skip(1);
        while let Some((i, c)) = chars.next() {
            match c {
                '\\' => match chars.next().map(|(_, escaped)| escaped) {
                    Some(c @ ('\\' | '"' | '\'')) => value.push(c),
                    Some('n') => value.push('\n'),
                    Some('r') => value.push('\r'),
                    Some('t') => value.push('\t'),
                    other => {
                        let found: String = ['\\'].into_iter().chain(other).collect();
                        return Err(Fault::new(at + i, &found, Accepted::Escape));
                    }
                },
                '\n' | '\r' => break,
                c if c == quote => {
                    self.text.push_str(self.cursor.take(i + 1));
                    return Ok(Literal::Str(value.into()));
                }
                c => value.push(c),
            }
        }
        Err(Fault::new(at, rest.lines().next().unwrap_or(""), Accepted::ClosingQuote))
    }

    fn misfit(&mut self) -> Fault {
        self.cursor.fault(Accepted::Default { ty: self.ty.clone() })
    }

    fn misfit_at(&self, at: usize) -> Fault {
        self.cursor.fault_at(at, Accepted::Default { ty: self.ty.clone() })
    }
}

/// The length of the number that `text` starts with, and whether it is a float; `None` if it starts with none.
fn number_len(text: &str) -> Option<(usize, bool)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let mut len = sign + digits(sign);
    if len == sign {
        return None;
    }
    let mut float = false;
    if bytes.get(len) == Some(&b'.') {
        float = true;
        len += 1;
        len += digits(len);
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let from = len + 1 + usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        let exponent = if from <= bytes.len() { digits(from) } else { 0 };
        if exponent > 0 {
            float = true;
            len = from + exponent;
        }
    }
    Some((len, float))
}
