//! Reads the text of a schema by recursive descent over a cursor; the grammar is in `mod.rs`. Cross-argument rules
//! are in `rules.rs`. No input makes it panic: it slices only at offsets that it reached through whole characters,
//! and recurses only as deep as a type is wrapped.

use super::error::{Accepted, Fault};
use super::types::{Alias, Base, Type, Wrap};
use super::{Argument, Return, Schema, literal, rules};

/// How many results a schema may have; PyTorch's have up to 9. Each written one is looked for among the arguments, of
/// which there may be any number.
const MOST_RESULTS: usize = 1024;

/// How many alias sets an annotation may name. PyTorch's name one; sets are compared in pairs.
const MOST_SETS: usize = 16;

/// A place in the text.
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

/// Where in the text the parts of a schema start: the rules report their findings there.
pub(crate) struct Places {
    pub(crate) name: usize,
    pub(crate) args: Vec<usize>,
    pub(crate) returns_open: usize,
    pub(crate) returns: Vec<usize>,
}

/// Reads a whole schema.
pub(crate) fn schema(text: &str) -> Result<Schema, Fault> {
    let mut c = Cursor { text, at: 0 };
    c.skip_space();
    let mut places = Places { name: c.at, args: Vec::new(), returns_open: 0, returns: Vec::new() };

    let mut name = c.ident(Accepted::Name)?;
    let mut namespace = None;
    if c.eat("::") {
        namespace = Some(name.into());
        c.skip_space();
        places.name = c.at;
        name = c.ident(Accepted::Name)?;
    }
    let mut full = String::from(name);
    if c.eat(".") {
        c.skip_space();
        let at = c.at;
        let overload = c.ident(Accepted::Overload)?;
        if overload == "default" || overload.starts_with("__") {
            return Err(c.fault_at(at, Accepted::Overload));
        }
        full.push('.');
        full.push_str(overload);
    }

    c.expect('(', Accepted::Arguments)?;
    let (args, positional) = arguments(&mut c, &mut places)?;
    if !c.eat("->") {
        return Err(c.fault(Accepted::Arrow));
    }
    c.skip_space();
    places.returns_open = c.at;
    let returns = returns(&mut c, &mut places)?;
    if c.peek().is_some() {
        let accepted = if returns.len() == 1 && c.eat("=") { Accepted::NoDefaultInReturn } else { Accepted::End };
        return Err(c.fault(accepted));
    }

    let outs = args.iter().rev().take_while(|arg| arg.is_out()).count();
    let schema = Schema { namespace, full: full.into(), name_len: name.len(), args, positional, outs, returns };
    rules::check(&schema, &places)?;
    Ok(schema)
}

/// The arguments behind `(`, up to and with `)`, and how many of them are positional.
fn arguments(c: &mut Cursor<'_>, places: &mut Places) -> Result<(Vec<Argument>, usize), Fault> {
    let mut args = Vec::new();
    let mut star = None;
    if c.eat(")") {
        return Ok((args, 0));
    }
    loop {
        if c.peek() == Some('*') {
            if star.is_some() {
                return Err(c.fault(Accepted::OneStar));
            }
            c.eat("*");
            star = Some(args.len());
            if !c.eat(",") {
                return Err(c.fault(Accepted::KeywordOnly));
            }
            continue;
        }
        c.skip_space();
        places.args.push(c.at);
        let ty = ty(c)?;
        let name = c.ident(Accepted::ArgumentName)?.into();
        let default = if c.eat("=") { Some(literal::default_value(c, &ty)?) } else { None };
        args.push(Argument { name, ty, default, keyword_only: star.is_some() });
        if c.eat(")") {
            let positional = star.unwrap_or(args.len());
            return Ok((args, positional));
        }
        c.expect(',', Accepted::CommaOrClose)?;
    }
}

/// The results: `()`, one, or several in parentheses.
fn returns(c: &mut Cursor<'_>, places: &mut Places) -> Result<Vec<Return>, Fault> {
    if !c.eat("(") {
        return Ok(vec![result(c, places)?]);
    }
    let mut returns = Vec::new();
    if c.eat(")") {
        return Ok(returns);
    }
    loop {
        if returns.len() == MOST_RESULTS {
            return Err(c.fault(Accepted::FewResults));
        }
        returns.push(result(c, places)?);
        if c.eat(")") {
            return Ok(returns);
        }
        if c.peek() == Some('=') {
            return Err(c.fault(Accepted::NoDefaultInReturn));
        }
        c.expect(',', Accepted::CommaOrClose)?;
    }
}

fn result(c: &mut Cursor<'_>, places: &mut Places) -> Result<Return, Fault> {
    c.skip_space();
    places.returns.push(c.at);
    let ty = ty(c)?;
    let name = c.peek_ident().map(Into::into);
    if name.is_some() {
        c.ident(Accepted::ArgumentName)?;
    }
    Ok(Return { name, ty })
}

fn ty(c: &mut Cursor<'_>) -> Result<Type, Fault> {
    c.skip_space();
    let at = c.at;
    let base = Base::from_name(c.ident(Accepted::Type)?).ok_or_else(|| c.fault_at(at, Accepted::Type))?;
    let alias = match c.peek() {
        Some('(' | '!') if base != Base::Tensor => return Err(c.fault(Accepted::AliasOfTensor)),
        Some('!') => {
            c.eat("!");
            Some(Alias { before: Vec::new(), write: true, after: Vec::new() })
        }
        Some('(') => Some(alias(c)?),
        _ => None,
    };
    let mut wraps = Vec::new();
    while let Some('?' | '[') = c.peek() {
        if wraps.len() == Type::MAX_WRAPS {
            return Err(c.fault(Accepted::FewWraps));
        }
        if c.eat("?") {
            wraps.push(Wrap::Optional);
            continue;
        }
        c.eat("[");
        c.skip_space();
        let at = c.at;
        let len = c.rest().bytes().take_while(u8::is_ascii_digit).count();
        let digits = c.take(len);
        let size = if digits.is_empty() {
            None
        } else {
            let size = digits.parse::<u8>().ok().filter(|&size| size > 0);
            Some(size.ok_or_else(|| Fault::new(at, digits, Accepted::ListSize))?)
        };
        c.expect(']', Accepted::ListSize)?;
        wraps.push(Wrap::List(size));
    }
    Ok(Type { base, wraps, alias: alias.map(Box::new) })
}

/// `(a)`, `(a!)`, `(a|b)`, `(a -> *)`.
fn alias(c: &mut Cursor<'_>) -> Result<Alias, Fault> {
    c.eat("(");
    let before = alias_sets(c)?;
    let write = c.eat("!");
    let after = if c.eat("->") { alias_sets(c)? } else { Vec::new() };
    c.expect(')', Accepted::AliasEnd)?;
    Ok(Alias { before, write, after })
}

fn alias_sets(c: &mut Cursor<'_>) -> Result<Vec<Box<str>>, Fault> {
    let mut sets: Vec<Box<str>> = Vec::with_capacity(1);
    loop {
        if sets.len() == MOST_SETS {
            return Err(c.fault(Accepted::FewAliasSets));
        }
        sets.push(if c.eat("*") { "*".into() } else { c.ident(Accepted::AliasSet)?.into() });
        if !c.eat("|") {
            return Ok(sets);
        }
    }
}

impl<'t> Cursor<'t> {
    /// What is left, from the next token on.
    pub(crate) fn rest(&mut self) -> &'t str {
        self.skip_space();
        &self.text[self.at..]
    }

    /// Where the next token starts.
    pub(crate) fn offset(&mut self) -> usize {
        self.skip_space();
        self.at
    }

    /// The first character of the next token.
    pub(crate) fn peek(&mut self) -> Option<char> {
        self.rest().chars().next()
    }

    /// True if white space comes before the next token.
    pub(crate) fn at_space(&self) -> bool {
        self.text[self.at..].starts_with(is_space)
    }

    /// Steps over `len` bytes of the next token, which must end between two characters of [`rest`](Cursor::rest).
    pub(crate) fn take(&mut self, len: usize) -> &'t str {
        let taken = &self.rest()[..len];
        self.at += len;
        taken
    }

    /// Steps over `token` if it comes next.
    pub(crate) fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Steps over a punctuation mark that has to come next.
    pub(crate) fn expect(&mut self, mark: char, accepted: Accepted) -> Result<(), Fault> {
        if self.peek() != Some(mark) {
            return Err(self.fault(accepted));
        }
        self.at += mark.len_utf8();
        Ok(())
    }

    /// The identifier that comes next.
    pub(crate) fn peek_ident(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let starts = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        starts.then(|| &rest[..word_len(rest)])
    }

    /// Steps over an identifier that has to come next.
    pub(crate) fn ident(&mut self, accepted: Accepted) -> Result<&'t str, Fault> {
        match self.peek_ident() {
            Some(word) => {
                self.at += word.len();
                Ok(word)
            }
            None => Err(self.fault(accepted)),
        }
    }

    /// The fault that the next token is not what is accepted here.
    pub(crate) fn fault(&mut self, accepted: Accepted) -> Fault {
        self.skip_space();
        self.fault_at(self.at, accepted)
    }

    /// The fault that the token at this offset is not what is accepted there.
    pub(crate) fn fault_at(&self, at: usize, accepted: Accepted) -> Fault {
        let rest = &self.text[at..];
        let len = match word_len(rest) {
            0 => rest.chars().next().map_or(0, char::len_utf8),
            len => len,
        };
        Fault::new(at, &rest[..len], accepted)
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches(is_space).len();
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// How many letters, digits and underscores the text starts with.
fn word_len(text: &str) -> usize {
    text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count()
}
