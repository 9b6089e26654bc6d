//! Symbolic integers: sizes that an archive leaves open, as expressions over symbols. Owns their values in one run and
//! what follows from a size that is known; the text of expressions is read by `parse`.

mod parse;

pub(crate) use parse::Symbols;

/// An expression over symbols.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// An integer.
    Int(i64),
    /// The symbol of this number.
    Symbol(u32),
    /// A function of expressions.
    Call(Function, Vec<Expr>),
    /// An expression that is not understood, whose value is never known.
    Opaque,
}

/// The functions of expressions, in sympy's and PyTorch's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// The sum.
    Add,
    /// The product.
    Mul,
    /// A power with an integer exponent.
    Pow,
    /// A quotient, rounded towards minus infinity.
    FloorDiv,
    /// A quotient, rounded towards plus infinity.
    CeilDiv,
    /// A quotient that need not be whole.
    Ratio,
    /// What a division that rounds down leaves.
    Mod,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// Rounded down.
    Floor,
    /// Rounded up.
    Ceiling,
}

/// A fraction in lowest terms with a denominator above 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fraction {
    numerator: i128,
    denominator: i128,
}

impl Fraction {
    fn new(numerator: i128, denominator: i128) -> Option<Fraction> {
        if denominator == 0 {
            return None;
        }
        let divisor = gcd(numerator.checked_abs()?, denominator.checked_abs()?).max(1);
        let sign = denominator.signum();
        Some(Fraction {
            numerator: (numerator / divisor).checked_mul(sign)?,
            denominator: (denominator / divisor).checked_mul(sign)?,
        })
    }

    fn whole(value: i128) -> Fraction {
        Fraction { numerator: value, denominator: 1 }
    }

    fn add(self, other: Fraction) -> Option<Fraction> {
        let left = self.numerator.checked_mul(other.denominator)?;
        let right = other.numerator.checked_mul(self.denominator)?;
        Fraction::new(left.checked_add(right)?, self.denominator.checked_mul(other.denominator)?)
    }

    fn mul(self, other: Fraction) -> Option<Fraction> {
        let numerator = self.numerator.checked_mul(other.numerator)?;
        Fraction::new(numerator, self.denominator.checked_mul(other.denominator)?)
    }

    fn div(self, other: Fraction) -> Option<Fraction> {
        self.mul(Fraction::new(other.denominator, other.numerator)?)
    }

    fn pow(self, exponent: Fraction) -> Option<Fraction> {
        let exponent = i32::try_from(exponent.to_whole()?).ok()?;
        let power = |x: i128| x.checked_pow(exponent.unsigned_abs());
        let raised = Fraction::new(power(self.numerator)?, power(self.denominator)?)?;
        if exponent < 0 { Fraction::whole(1).div(raised) } else { Some(raised) }
    }

    fn floor(self) -> Fraction {
        Fraction::whole(self.numerator.div_euclid(self.denominator))
    }

    fn ceiling(self) -> Option<Fraction> {
        Some(Fraction::whole(self.floor().numerator.checked_add(i128::from(self.denominator != 1))?))
    }

    fn to_whole(self) -> Option<i128> {
        (self.denominator == 1).then_some(self.numerator)
    }

    fn less(self, other: Fraction) -> Option<bool> {
        let left = self.numerator.checked_mul(other.denominator)?;
        Some(left < other.numerator.checked_mul(self.denominator)?)
    }
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The values of symbols in one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings(Vec<Option<i64>>);

/// What a known size says of the symbols in its expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unified {
    /// It is the value that the expression has, or gives its symbol the only value with which it has it.
    Agrees,
    /// The expression has another value.
    Differs(i64),
    /// No value of the symbol gives this size.
    NoSolution,
    /// Nothing: the expression has more than one unknown, or is not understood.
    Open,
}

impl Bindings {
    /// The value of a symbol, if it is known.
    pub(crate) fn value(&self, symbol: u32) -> Option<i64> {
        self.0.get(symbol as usize).copied().flatten()
    }

    /// Gives a symbol its value.
    pub(crate) fn bind(&mut self, symbol: u32, value: i64) {
        let index = symbol as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, None);
        }
        self.0[index] = Some(value);
    }

    /// The value of an expression, if its symbols are known and it is an integer.
    pub(crate) fn evaluate(&self, expr: &Expr) -> Option<i64> {
        i64::try_from(self.fraction(expr)?.to_whole()?).ok()
    }

    fn fraction(&self, expr: &Expr) -> Option<Fraction> {
        let (function, args) = match expr {
            Expr::Int(value) => return Some(Fraction::whole((*value).into())),
            Expr::Symbol(symbol) => return self.value(*symbol).map(|v| Fraction::whole(v.into())),
            Expr::Opaque => return None,
            Expr::Call(function, args) => (function, args),
        };
        let mut args = args.iter().map(|arg| self.fraction(arg));
        let mut next = || args.next().flatten();
        let first = next()?;
        Some(match function {
            Function::Add => args.try_fold(first, |sum, x| sum.add(x?))?,
            Function::Mul => args.try_fold(first, |product, x| product.mul(x?))?,
            Function::Max => args.try_fold(first, |max, x| Some(if max.less(x?)? { x? } else { max }))?,
            Function::Min => args.try_fold(first, |min, x| Some(if x?.less(min)? { x? } else { min }))?,
            Function::Pow => first.pow(next()?)?,
            Function::FloorDiv => first.div(next()?)?.floor(),
            Function::CeilDiv => first.div(next()?)?.ceiling()?,
            Function::Ratio => first.div(next()?)?,
            Function::Mod => {
                let divisor = next()?;
                let whole = first.div(divisor)?.floor();
                first.add(divisor.mul(whole)?.mul(Fraction::whole(-1))?)?
            }
            Function::Floor => first.floor(),
            Function::Ceiling => first.ceiling()?,
        })
    }

    /// Holds a size against its expression; binds the expression's symbol if that is the only unknown and the
    /// expression is linear in it.
    pub(crate) fn unify(&mut self, expr: &Expr, size: i64) -> Unified {
        if let Expr::Symbol(symbol) = expr
            && self.value(*symbol).is_none()
        {
            self.bind(*symbol, size);
            return Unified::Agrees;
        }
        if let Some(value) = self.evaluate(expr) {
            return if value == size { Unified::Agrees } else { Unified::Differs(value) };
        }
        let Some(symbol) = self.only_unknown(expr) else { return Unified::Open };
        let mut at = |value: i64| {
            self.bind(symbol, value);
            self.fraction(expr)
        };
        let values = (at(0), at(1), at(2));
        self.0[symbol as usize] = None;
        let (Some(zero), Some(one), Some(two)) = values else { return Unified::Open };
        let minus = |a: Fraction, b: Fraction| a.add(b.mul(Fraction::whole(-1))?);
        let slope = match (minus(one, zero), minus(two, one)) {
            (Some(slope), Some(again)) if slope == again && slope.numerator != 0 => slope,
            _ => return Unified::Open,
        };
        let solution = minus(Fraction::whole(size.into()), zero).and_then(|rise| rise.div(slope));
        match solution.and_then(Fraction::to_whole).and_then(|value| i64::try_from(value).ok()) {
            Some(value) => self.bind(symbol, value),
            None => return Unified::NoSolution,
        }
        if self.evaluate(expr) == Some(size) {
            return Unified::Agrees;
        }
        self.0[symbol as usize] = None;
        Unified::Open
    }

    /// The symbol without a value, if the expression has just one.
    fn only_unknown(&self, expr: &Expr) -> Option<u32> {
        fn visit(this: &Bindings, expr: &Expr, found: &mut Option<u32>) -> bool {
            match expr {
                Expr::Int(_) => true,
                Expr::Opaque => false,
                Expr::Symbol(symbol) if this.value(*symbol).is_some() => true,
                Expr::Symbol(symbol) => *found.get_or_insert(*symbol) == *symbol,
                Expr::Call(_, args) => args.iter().all(|arg| visit(this, arg, found)),
            }
        }
        let mut found = None;
        if visit(self, expr, &mut found) { found } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(texts: &[&str]) -> (Symbols, Vec<Expr>) {
        let mut symbols = Symbols::default();
        let exprs = texts.iter().map(|text| symbols.parse(text)).collect();
        (symbols, exprs)
    }

    #[test]
    fn values_of_both_notations() {
        let (symbols, exprs) = parsed(&[
            "Symbol('s0', positive=True, integer=True)",
            "Add(Mul(Integer(-1), Integer(32), Symbol('s1', integer=True)), Mul(Integer(32), Symbol('s0')))",
            "Pow(Symbol('s0', positive=True, integer=True), Integer(2))",
            "4*s0 + 2",
            "-s1//2",
            "Mod(s0 - 9, 4)",
            "Mul(Rational(1, 2), Symbol('s0'))",
            "Max(1, Min(Integer(8), s0))",
            "2**s1",
            "nothing(s0)",
            "s0 $",
            "",
        ]);
        let mut bindings = Bindings::default();
        bindings.bind(symbols.find("s0").unwrap(), 6);
        bindings.bind(symbols.find("s1").unwrap(), 3);
        let values: Vec<_> = exprs.iter().map(|expr| bindings.evaluate(expr)).collect();
        let some = [6, 96, 36, 26, -2, 1, 3, 6, 8].map(Some);
        assert_eq!(values[..9], some);
        assert_eq!(values[9..], [None; 3]);
    }

    #[test]
    fn sizes_bind_symbols_once() {
        let (_, exprs) = parsed(&["s0", "4*s1", "s0*s1", "s2*s3", "s4**2"]);
        let mut bindings = Bindings::default();
        assert_eq!(bindings.unify(&exprs[1], 10), Unified::NoSolution);
        assert_eq!(bindings.unify(&exprs[0], 3), Unified::Agrees);
        assert_eq!(bindings.unify(&exprs[0], 4), Unified::Differs(3));
        assert_eq!(bindings.unify(&exprs[2], 15), Unified::Agrees);
        assert_eq!(bindings.unify(&exprs[1], 20), Unified::Agrees);
        assert_eq!(bindings.unify(&exprs[3], 20), Unified::Open);
        assert_eq!(bindings.unify(&exprs[4], 9), Unified::Open);
    }

    #[test]
    fn hostile_texts() {
        let deep = format!("{}s0{}", "(".repeat(100_000), ")".repeat(100_000));
        let minus = format!("{}s0", "-".repeat(100_000));
        let calls = "Add(".repeat(100_000);
        let (_, exprs) =
            parsed(&[&deep, &calls, "1//0", "2**(2**62)", "9223372036854775807*s0*s0", "99999999999999999999"]);
        let mut bindings = Bindings::default();
        bindings.bind(0, i64::MAX);
        assert!(exprs.iter().all(|expr| bindings.evaluate(expr).is_none()));
        exprs.iter().for_each(|expr| {
            bindings.unify(expr, i64::MIN);
        });
        let (_, signs) = parsed(&[&minus]);
        assert_eq!(bindings.evaluate(&signs[0]), Some(i64::MAX));
    }
}
