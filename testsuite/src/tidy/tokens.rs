//! Rust sources as names and punctuation, with their lines: enough to read paths off them. Comments, strings, character
//! literals, lifetimes and numbers are left out, so that nothing in them is taken for code. Refuses to know a grammar.

use std::iter::Peekable;
use std::str::CharIndices;

/// A piece of code that matters to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// An identifier or a keyword.
    Name(&'t str),
    /// `::`.
    Colons,
    /// Any other character.
    Sign(char),
}

/// The tokens of a source, each with its line, from 1.
pub(super) fn tokens(text: &str) -> Vec<(usize, Token<'_>)> {
    let mut reader = Reader { text, chars: text.char_indices().peekable(), line: 1 };
    let mut found = Vec::new();
    while let Some((at, c)) = reader.next() {
        let line = reader.line;
        match c {
            '/' if reader.is('/') => reader.skip_while(|c| c != '\n'),
            '/' if reader.is('*') => reader.skip_comment(),
            '"' => reader.skip_string(),
            '\'' => reader.skip_character(),
            ':' if reader.is(':') => {
                reader.next();
                found.push((line, Token::Colons));
            }
            c if c.is_ascii_digit() => reader.skip_while(|c| c.is_alphanumeric() || c == '_'),
            c if c.is_alphabetic() || c == '_' => {
                let name = reader.name_from(at);
                if matches!(name, "r" | "br" | "cr") && (reader.is('"') || reader.is('#')) {
                    reader.skip_raw();
                } else {
                    found.push((line, Token::Name(name)));
                }
            }
            c if c.is_whitespace() => {}
            c => found.push((line, Token::Sign(c))),
        }
    }
    found
}

struct Reader<'t> {
    text: &'t str,
    chars: Peekable<CharIndices<'t>>,
    line: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Option<(usize, char)> {
        let next = self.chars.next();
        self.line += usize::from(next.is_some_and(|(_, c)| c == '\n'));
        next
    }

    fn is(&mut self, c: char) -> bool {
        self.chars.peek().is_some_and(|(_, next)| *next == c)
    }

    fn skip_while(&mut self, mut goes_on: impl FnMut(char) -> bool) {
        while self.chars.peek().is_some_and(|(_, c)| goes_on(*c)) {
            self.next();
        }
    }

    /// The identifier that begins at byte `start`, whose first character has been read.
    fn name_from(&mut self, start: usize) -> &'t str {
        self.skip_while(|c| c.is_alphanumeric() || c == '_');
        let end = self.chars.peek().map_or(self.text.len(), |(at, _)| *at);
        &self.text[start..end]
    }

    /// A block comment behind its `/`; they nest.
    fn skip_comment(&mut self) {
        let (mut depth, mut before) = (0, '/');
        while let Some((_, c)) = self.next() {
            match (before, c) {
                ('/', '*') => (depth, before) = (depth + 1, ' '),
                ('*', '/') => (depth, before) = (depth - 1, ' '),
                _ => before = c,
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// A string behind its opening quote.
    fn skip_string(&mut self) {
        while let Some((_, c)) = self.next() {
            match c {
                '\\' => drop(self.next()),
                '"' => return,
                _ => {}
            }
        }
    }

    /// A raw string behind its `r`. A raw identifier is left to be read as one.
    fn skip_raw(&mut self) {
        let mut hashes = 0;
        self.skip_while(|c| {
            hashes += usize::from(c == '#');
            c == '#'
        });
        if !self.is('"') {
            return;
        }
        self.next();
        let mut closing = None;
        while let Some((_, c)) = self.next() {
            closing = match (c, closing) {
                ('"', _) => Some(0),
                ('#', Some(seen)) => Some(seen + 1),
                _ => None,
            };
            if closing == Some(hashes) {
                return;
            }
        }
    }

    /// What follows a single quote: a character literal, or a lifetime, which has no closing quote.
    fn skip_character(&mut self) {
        let Some((_, first)) = self.next() else { return };
        if first == '\\' {
            self.next();
            self.skip_while(|c| c != '\'');
            self.next();
        } else if self.is('\'') {
            self.next();
        } else {
            self.skip_while(|c| c.is_alphanumeric() || c == '_');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Token, tokens};

    fn names(text: &str) -> Vec<(usize, &str)> {
        let name = |(line, token)| if let Token::Name(name) = token { Some((line, name)) } else { None };
        tokens(text).into_iter().filter_map(name).collect()
    }

    #[test]
    fn only_code_is_read() {
        let comments_and_strings = "// no\n/* no /* no */ no */ a \"no \\\" no\n\" b\nr#\"no \" no\"# c r\"no\" d ";
        let text = comments_and_strings.to_owned() + "'n' '\\'' e::<'f>\nr#type 1u8 g";
        assert_eq!(names(&text), [(2, "a"), (3, "b"), (4, "c"), (4, "d"), (4, "e"), (5, "type"), (5, "g")]);
    }

    #[test]
    fn signs_are_kept() {
        let want = [Token::Name("a"), Token::Colons, Token::Sign('{'), Token::Name("b"), Token::Sign('}')];
        assert_eq!(tokens("a::{b}").into_iter().map(|(_, token)| token).collect::<Vec<_>>(), want);
    }

    #[test]
    fn what_is_cut_off_ends() {
        for text in ["\"a", "/* a", "r#\"a\"", "'", "'\\", "r#", "a:"] {
            tokens(text);
        }
    }
}
