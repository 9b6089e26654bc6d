//! Schemas stand in declarations as tokens, so that an error points at the argument. Owns the text that a run of
//! tokens is, and which token each place of it came from.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::parse::ParseStream;

/// Text that was made of tokens.
pub(crate) struct Text {
    pub(crate) text: String,
    /// Where each token starts in the text, in order.
    places: Vec<(usize, Span)>,
}

impl Text {
    /// Takes tokens up to a `,`, `;` or `as` that is in no parentheses.
    pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Text> {
        let mut text = Text { text: String::new(), places: Vec::new() };
        let is_end = |input: ParseStream<'_>| {
            input.peek(syn::Token![,]) || input.peek(syn::Token![;]) || input.peek(syn::Token![as])
        };
        while !input.is_empty() && !is_end(input) {
            text.push(input.parse::<TokenTree>()?);
        }
        match text.places.is_empty() {
            true => Err(input.error("expected a name in the schema language, such as `add.Tensor`")),
            false => Ok(text),
        }
    }

    /// The token at a place of the text, counted in bytes.
    pub(crate) fn span(&self, at: usize) -> Span {
        let before = self.places.iter().take_while(|(start, _)| *start <= at).last();
        before.or(self.places.first()).map_or_else(Span::call_site, |(_, span)| *span)
    }

    fn push(&mut self, token: TokenTree) {
        match token {
            TokenTree::Group(group) => self.group(&group),
            TokenTree::Ident(word) => self.word(&word.to_string(), word.span()),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                // PyTorch quotes with what Rust has for characters only.
                let is_plain = !text.contains(['\\', '\'']);
                self.word(&if is_plain { text.replace('"', "'") } else { text }, literal.span());
            }
            TokenTree::Punct(mark) => self.mark(&mark.as_char().to_string(), mark.span()),
        }
    }

    fn group(&mut self, group: &Group) {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::None => ("", ""),
        };
        self.mark(open, group.span_open());
        self.stream(group.stream());
        self.mark(close, group.span_close());
    }

    fn stream(&mut self, stream: TokenStream) {
        stream.into_iter().for_each(|token| self.push(token));
    }

    /// A word, apart from one before it.
    fn word(&mut self, word: &str, span: Span) {
        if self.text.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '?' | ']' | ')' | ',')) {
            self.text.push(' ');
        }
        self.mark(word, span);
    }

    fn mark(&mut self, mark: &str, span: Span) {
        self.places.push((self.text.len(), span));
        self.text.push_str(mark);
    }
}

/// An identifier of Rust for a name of a schema: `self` and keywords cannot name a parameter.
pub(crate) fn parameter(name: &str, span: Span) -> Ident {
    match name {
        "self" => Ident::new("this", span),
        _ if syn::parse_str::<Ident>(name).is_err() => Ident::new(&format!("{name}_"), span),
        _ => Ident::new(name, span),
    }
}
