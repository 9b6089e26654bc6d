//! The text of symbolic expressions: sympy's `srepr` (`Add(Symbol('s0', integer=True), Integer(2))`) and its plain form
//! (`4*s0 + 2`), which keys of ranges have. What is not understood becomes [`Expr::Opaque`], never an error: sizes are
//! checked as far as they are understood.

use super::{Bindings, Expr, Function};
use std::collections::HashMap;

/// How deep an expression may be nested. Those of PyTorch's own shape functions have about ten levels.
const MAX_DEPTH: usize = 64;

/// The symbols of a program by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols {
    numbers: HashMap<Box<str>, u32>,
    names: Vec<Box<str>>,
    /// The values in the example with which the program was exported.
    example: Bindings,
}

impl Symbols {
    /// The expression that a text means.
    pub(crate) fn parse(&mut self, text: &str) -> Expr {
        let mut parser = Parser { symbols: self, rest: text, depth: 0 };
        match parser.sum() {
            Some(expr) if parser.peek().is_none() => expr,
            _ => Expr::Opaque,
        }
    }

    /// Notes the value of an expression in the example, if that is a symbol.
    pub(crate) fn note_example(&mut self, expr: &Expr, value: i64) {
        if let Expr::Symbol(symbol) = expr {
            self.example.bind(*symbol, value);
        }
    }

    /// The value of an expression in the example, as far as it is known.
    pub(crate) fn in_example(&self, expr: &Expr) -> Option<i64> {
        self.example.evaluate(expr)
    }

    /// The number of a symbol that some expression has.
    #[cfg(test)]
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The name of a symbol.
    pub(crate) fn name(&self, symbol: u32) -> &str {
        self.names.get(symbol as usize).map_or("?", |name| name)
    }

    /// An expression in the plain form.
    pub(crate) fn show(&self, expr: &Expr) -> String {
        match expr {
            Expr::Int(value) => value.to_string(),
            Expr::Symbol(symbol) => self.name(*symbol).to_owned(),
            Expr::Opaque => "?".to_owned(),
            Expr::Call(function, args) => {
                let args: Vec<String> = args.iter().map(|arg| self.show(arg)).collect();
                match function {
                    Function::Add => format!("({})", args.join(" + ")),
                    Function::Mul => args.join("*"),
                    Function::Pow => args.join("**"),
                    Function::FloorDiv => format!("({})", args.join("//")),
                    function => format!("{function:?}({})", args.join(", ")),
                }
            }
        }
    }

    fn intern(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.into());
        self.numbers.insert(name.into(), number);
        number
    }
}

struct Parser<'a> {
    symbols: &'a mut Symbols,
    rest: &'a str,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn eat(&mut self, token: &str) -> bool {
        self.peek();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// Products, added and subtracted.
    fn sum(&mut self) -> Option<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut terms = vec![self.product()?];
        loop {
            if self.eat("+") {
                terms.push(self.product()?);
            } else if self.eat("-") {
                let term = self.product()?;
                terms.push(Expr::Call(Function::Mul, vec![Expr::Int(-1), term]));
            } else {
                break;
            }
        }
        self.depth -= 1;
        Some(if terms.len() == 1 { terms.remove(0) } else { Expr::Call(Function::Add, terms) })
    }

    /// Powers, multiplied and divided from left to right.
    fn product(&mut self) -> Option<Expr> {
        let mut left = self.signed()?;
        for _ in 0..MAX_DEPTH {
            let function = if self.eat("//") {
                Function::FloorDiv
            } else if self.eat("/") {
                Function::Ratio
            } else if self.eat("%") {
                Function::Mod
            } else if self.eat("*") {
                Function::Mul
            } else {
                return Some(left);
            };
            let right = self.signed()?;
            left = match left {
                Expr::Call(Function::Mul, mut factors) if function == Function::Mul => {
                    factors.push(right);
                    Expr::Call(Function::Mul, factors)
                }
                left => Expr::Call(function, vec![left, right]),
            };
        }
        None
    }

    /// A power with signs in front; a sign binds less than `**`.
    fn signed(&mut self) -> Option<Expr> {
        let mut negative = false;
        while self.peek() == Some('-') {
            self.eat("-");
            negative = !negative;
        }
        let base = self.atom()?;
        let power = if self.eat("**") { Expr::Call(Function::Pow, vec![base, self.atom()?]) } else { base };
        Some(if negative { Expr::Call(Function::Mul, vec![Expr::Int(-1), power]) } else { power })
    }

    fn atom(&mut self) -> Option<Expr> {
        let first = self.peek()?;
        if self.eat("(") {
            let inner = self.sum()?;
            return self.eat(")").then_some(inner);
        }
        if first.is_ascii_digit() {
            return self.word().parse().ok().map(Expr::Int);
        }
        let word = self.word();
        if word.is_empty() {
            return None;
        }
        if !self.eat("(") {
            return Some(Expr::Symbol(self.symbols.intern(word)));
        }
        if word == "Symbol" {
            return self.symbol();
        }
        let mut args = Vec::new();
        while !self.eat(")") {
            args.push(self.sum()?);
            if !self.eat(",") && self.peek() != Some(')') {
                return None;
            }
        }
        call(word, args)
    }

    /// `'s0', positive=True, integer=True)`: the name, and assumptions that nothing here uses.
    fn symbol(&mut self) -> Option<Expr> {
        if !self.eat("'") {
            return None;
        }
        let name = self.word();
        let close = self.rest.find(')')?;
        let assumptions = &self.rest[..close];
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '\'' | ',' | ' ' | '=' | '_');
        if name.is_empty() || !assumptions.starts_with('\'') || !assumptions.chars().all(plain) {
            return None;
        }
        self.rest = &self.rest[close + 1..];
        Some(Expr::Symbol(self.symbols.intern(name)))
    }
}

/// A function of sympy or of `torch.utils._sympy.functions`.
fn call(name: &str, mut args: Vec<Expr>) -> Option<Expr> {
    let binary = |function, args: Vec<Expr>| (args.len() == 2).then_some(Expr::Call(function, args));
    let unary = |function, args: Vec<Expr>| (args.len() == 1).then_some(Expr::Call(function, args));
    let any = |function, args: Vec<Expr>| (!args.is_empty()).then_some(Expr::Call(function, args));
    match name {
        "Integer" | "TruncToInt" | "Identity" if args.len() == 1 => args.pop(),
        "Add" => any(Function::Add, args),
        "Mul" => any(Function::Mul, args),
        "Max" => any(Function::Max, args),
        "Min" => any(Function::Min, args),
        "Pow" | "PowByNatural" => binary(Function::Pow, args),
        "FloorDiv" | "CleanDiv" => binary(Function::FloorDiv, args),
        "CeilDiv" => binary(Function::CeilDiv, args),
        "Rational" | "IntTrueDiv" => binary(Function::Ratio, args),
        "Mod" | "PythonMod" => binary(Function::Mod, args),
        "floor" | "FloorToInt" => unary(Function::Floor, args),
        "ceiling" | "CeilToInt" => unary(Function::Ceiling, args),
        _ => None,
    }
}
