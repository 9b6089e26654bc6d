//! Reads tokens into declarations. Owns the syntax: which options there are and what stands behind each.

use crate::declaration::{Composite, Definition, Family, FormKind, Func, NamedForm, Row};
use crate::option;
use crate::tokens::Text;
use monomorph_schema::{Literal, Schema};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Token, bracketed};

impl Parse for Family {
    fn parse(input: ParseStream<'_>) -> syn::Result<Family> {
        let root;
        bracketed!(root in input);
        let root = root.parse()?;
        keyword(input, "family")?;
        input.parse::<Token![:]>()?;
        let name = input.parse()?;
        let functions_on = match input.peek(Token![,]) {
            true => {
                input.parse::<Token![,]>()?;
                keyword(input, "functions")?;
                input.parse::<Token![:]>()?;
                Some(until(input, |input| input.peek(Token![;]))?)
            }
            false => None,
        };
        input.parse::<Token![;]>()?;
        let mut rows = Vec::new();
        while !input.is_empty() {
            rows.push(input.parse()?);
        }
        Ok(Family { root, name, functions_on, rows })
    }
}

/// A word that stands there always.
fn keyword(input: ParseStream<'_>, word: &str) -> syn::Result<()> {
    let found: Ident = input.parse()?;
    if found == word {
        Ok(())
    } else {
        Err(syn::Error::new(found.span(), format!("found `{found}`; accepted is `{word}`")))
    }
}

fn until(input: ParseStream<'_>, is_end: impl Fn(ParseStream<'_>) -> bool) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !is_end(input) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    Ok(tokens)
}

/// `[a, b]`: arguments by their names.
fn names(input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    let list;
    bracketed!(list in input);
    Ok(list.parse_terminated(Ident::parse_any, Token![,])?.into_iter().collect())
}

/// `a = 1.5`, or `a` alone for an argument that is `None` by default.
fn option_default(input: ParseStream<'_>) -> syn::Result<(Ident, Literal)> {
    let name = input.parse()?;
    if input.parse::<Option<Token![=]>>()?.is_none() {
        return Ok((name, Literal::None));
    }
    let default = match input.parse()? {
        syn::Lit::Bool(value) => Literal::Bool(value.value),
        syn::Lit::Int(value) => Literal::Int(value.base10_parse()?),
        syn::Lit::Float(value) => Literal::Float(value.base10_parse()?),
        other => return Err(syn::Error::new(other.span(), "accepted is a bool, an int or a float")),
    };
    Ok((name, default))
}

impl Parse for Row {
    fn parse(input: ParseStream<'_>) -> syn::Result<Row> {
        let docs = input.call(Attribute::parse_outer)?;
        let span = input.span();
        let mut row = Options::default();
        let mut given: Vec<Ident> = Vec::new();
        loop {
            let name: Ident = input.parse()?;
            if given.contains(&name) {
                return Err(option::twice(&name));
            }
            input.parse::<Token![:]>()?;
            row.option(&name, input)?;
            given.push(name);
            if input.peek(Token![,]) {
                input.parse::<Token![,]>()?;
            }
            if input.is_empty() || input.peek(Token![;]) {
                break;
            }
        }
        if !input.is_empty() {
            input.parse::<Token![;]>()?;
        }
        row.finish(docs, span)
    }
}

/// The options of a row that have been read.
#[derive(Default)]
struct Options {
    func: Option<Func>,
    forms: Vec<NamedForm>,
    is_function: bool,
    is_method: bool,
    name: Option<Ident>,
    positional: Vec<Ident>,
    options: Vec<(Ident, Literal)>,
    typed: Option<(syn::Path, Option<TokenStream>)>,
    numbers: Vec<Ident>,
    definition: Option<Definition>,
    redirect: Option<Ident>,
    otherwise: Option<(Composite, syn::Path)>,
    across: Option<Ident>,
    direct: Option<Span>,
    is_silent_view: bool,
    silent_write: Vec<Ident>,
}

impl Options {
    fn option(&mut self, name: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let text = name.to_string();
        if let Some((_, kind)) = FormKind::OPTIONS.iter().find(|(option, _)| *option == text) {
            let overload = Text::parse(input)?;
            let outputs = match input.parse::<Option<Token![as]>>()? {
                Some(_) => names(input)?.iter().map(Ident::to_string).collect(),
                None => Vec::new(),
            };
            self.forms.push(NamedForm { kind: *kind, overload, outputs });
            return Ok(());
        }
        let definition = match &*text {
            "func" => {
                self.func = Some(func(input)?);
                return Ok(());
            }
            "variants" => return self.variants(input),
            "name" => {
                self.name = Some(input.parse()?);
                return Ok(());
            }
            "positional" => {
                self.positional = names(input)?;
                return Ok(());
            }
            "options" => {
                let list;
                bracketed!(list in input);
                let options = list.parse_terminated(option_default, Token![,])?;
                self.options = options.into_iter().collect();
                return Ok(());
            }
            "typed" => {
                self.typed = Some((input.parse()?, bound(input)?));
                return Ok(());
            }
            "numbers" => {
                self.numbers = names(input)?;
                return Ok(());
            }
            "otherwise" => {
                self.otherwise = Some((composite(input)?, input.parse()?));
                return Ok(());
            }
            "across" => {
                self.across = Some(input.parse()?);
                return Ok(());
            }
            "direct" => {
                self.direct = input.parse::<syn::LitBool>()?.value.then(|| name.span());
                return Ok(());
            }
            "silent_write" => {
                self.silent_write = names(input)?;
                return Ok(());
            }
            "silent_view" => {
                self.is_silent_view = input.parse::<syn::LitBool>()?.value;
                return Ok(());
            }
            "redirect" => {
                self.redirect = Some(input.parse()?);
                return Ok(());
            }
            "structured" => Definition::Structured(input.parse()?),
            "operator" => Definition::Operator(input.parse()?),
            "view" => Definition::View(input.parse()?),
            "views" => Definition::Views(input.parse()?),
            "kernel" => Definition::Kernel(input.parse()?, or_self(input)?),
            "composite" => Definition::Composite(composite(input)?, input.parse()?),
            "composed" => Definition::Composed(composite(input)?, input.parse()?, bound(input)?),
            "each" => Definition::Each(Text::parse(input)?),
            _ => return Err(option::unknown(name)),
        };
        if let Some(other) = &self.definition {
            let message = format!("found `{name}` beside `{}`; accepted is one definition", other.kind());
            return Err(syn::Error::new(name.span(), message));
        }
        self.definition = Some(definition);
        Ok(())
    }

    fn variants(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        loop {
            let variant: Ident = input.parse()?;
            let place = match &*variant.to_string() {
                "function" => &mut self.is_function,
                "method" => &mut self.is_method,
                _ => {
                    let message = format!("found variant `{variant}`; accepted are `function` and `method`");
                    return Err(syn::Error::new(variant.span(), message));
                }
            };
            *place = true;
            // A comma may end the option instead: another follows, with its colon.
            let ahead = input.fork();
            let another =
                ahead.parse::<Token![,]>().is_ok() && ahead.parse::<Ident>().is_ok() && !ahead.peek(Token![:]);
            if !another {
                return Ok(());
            }
            input.parse::<Token![,]>()?;
        }
    }

    fn finish(self, docs: Vec<Attribute>, span: Span) -> syn::Result<Row> {
        let definition = match (self.redirect, self.definition) {
            (None, Some(definition)) => definition,
            (Some(to), None) => Definition::Redirect(to, None),
            (Some(to), Some(Definition::Structured(ty) | Definition::Operator(ty))) => {
                Definition::Redirect(to, Some(ty))
            }
            (Some(to), Some(other)) => {
                let message = format!(
                    "found `redirect` beside `{}`; accepted is it alone, or beside `structured` or `operator`",
                    other.kind()
                );
                return Err(syn::Error::new(to.span(), message));
            }
            (None, None) => {
                let message = "the operator has no definition; accepted is one of structured, operator, view, views, \
                    kernel, composite, composed, each, redirect";
                return Err(syn::Error::new(span, message));
            }
        };
        Ok(Row {
            docs,
            func: self.func,
            forms: self.forms,
            is_function: self.is_function,
            is_method: self.is_method,
            name: self.name,
            positional: self.positional,
            options: self.options,
            typed: self.typed,
            numbers: self.numbers,
            definition,
            otherwise: self.otherwise,
            across: self.across,
            direct: self.direct,
            is_silent_view: self.is_silent_view,
            silent_write: self.silent_write,
            span,
        })
    }
}

/// `for Bound` behind a function over any device: what it needs of the device.
fn bound(input: ParseStream<'_>) -> syn::Result<Option<TokenStream>> {
    match input.parse::<Option<Token![for]>>()? {
        Some(_) => until(input, |input| input.peek(Token![,]) || input.peek(Token![;])).map(Some),
        None => Ok(None),
    }
}

/// `else self` behind a kernel: `None` stands for the first argument.
fn or_self(input: ParseStream<'_>) -> syn::Result<bool> {
    if !input.peek(Token![else]) {
        return Ok(false);
    }
    input.parse::<Token![else]>()?;
    input.parse::<Token![self]>()?;
    Ok(true)
}

fn composite(input: ParseStream<'_>) -> syn::Result<Composite> {
    let name: Ident = input.parse()?;
    let known = Composite::NAMES.iter().find(|(known, _)| name == known);
    known.map(|(_, composite)| *composite).ok_or_else(|| {
        let message = format!("found `{name}`; accepted are implicit, explicit and nonfunctional");
        syn::Error::new(name.span(), message)
    })
}

/// The schema behind `func:`; an error stands at the token that is wrong.
fn func(input: ParseStream<'_>) -> syn::Result<Func> {
    let text = Text::parse(input)?;
    match Schema::parse(&text.text) {
        Ok(schema) => Ok(Func { schema, text }),
        Err(error) => {
            let at = text.text.char_indices().nth(error.column() - 1).map_or(text.text.len(), |(at, _)| at);
            let found = if error.found().is_empty() { "the end" } else { error.found() };
            let message = format!("found `{found}`; accepted is {}", error.accepted());
            Err(syn::Error::new(text.span(at), message))
        }
    }
}

/// The families of a crate.
pub(crate) struct Families {
    pub(crate) root: TokenStream,
    /// Modules with their traits.
    pub(crate) families: Vec<(syn::Path, Ident)>,
    /// How many of them come before those that need of a device its memory and its copy.
    pub(crate) computing: usize,
    /// How many of them every device has to execute that executes the table.
    pub(crate) common: usize,
}

/// `#[feature = ".."]` in front of a family: whether the feature is on.
fn feature(input: ParseStream<'_>) -> syn::Result<bool> {
    let mut is_wanted = true;
    for attribute in input.call(Attribute::parse_outer)? {
        is_wanted &= match attribute.meta.require_name_value()? {
            pair if pair.path.is_ident("feature") && is_text(&pair.value, "special") => cfg!(feature = "special"),
            pair if pair.path.is_ident("feature") && is_text(&pair.value, "random") => cfg!(feature = "random"),
            pair if pair.path.is_ident("feature") && is_text(&pair.value, "fft") => cfg!(feature = "fft"),
            pair if pair.path.is_ident("feature") && is_text(&pair.value, "linalg") => cfg!(feature = "linalg"),
            pair => {
                let message = "accepted are the features `fft`, `linalg`, `random` and `special`";
                return Err(syn::Error::new_spanned(pair, message));
            }
        };
    }
    Ok(is_wanted)
}

fn is_text(value: &syn::Expr, text: &str) -> bool {
    matches!(value, syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(found), .. }) if found.value() == text)
}

impl Parse for Families {
    fn parse(input: ParseStream<'_>) -> syn::Result<Families> {
        let root;
        bracketed!(root in input);
        let root = root.parse()?;
        let mut families = Vec::new();
        let (mut computing, mut common) = (None, None);
        while !input.is_empty() {
            let is_wanted = feature(input)?;
            let module: syn::Path = input.parse()?;
            if input.peek(Token![;]) {
                input.parse::<Token![;]>()?;
                let section = if module.is_ident("partial") { &mut common } else { &mut computing };
                *section = Some(families.len());
                continue;
            }
            input.parse::<Token![:]>()?;
            let name = input.parse()?;
            if is_wanted {
                families.push((module, name));
            }
            input.parse::<Option<Token![,]>>()?;
        }
        let common = common.unwrap_or(families.len());
        Ok(Families { root, computing: computing.unwrap_or(common), common, families })
    }
}
