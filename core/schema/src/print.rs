//! Prints schemas and their parts as PyTorch writes them. What was read with PyTorch's spacing comes back unchanged.

use std::fmt::{self, Display, Formatter, Write};

use super::types::{Alias, Base, Type, Wrap};
use super::{Argument, DefaultValue, Return, Schema};

impl Display for Schema {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = self.namespace() {
            write!(f, "{namespace}::")?;
        }
        write!(f, "{}(", self.full_name())?;
        for (i, arg) in self.args().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            if i == self.positional {
                f.write_str("*, ")?;
            }
            arg.fmt(f)?;
        }
        write!(f, ") -> {}", Returns(self.returns()))
    }
}

/// Results: one stands alone, none or several stand in parentheses.
pub(crate) struct Returns<'a>(pub(super) &'a [Return]);

impl Display for Returns<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let [ret] = self.0 {
            return ret.fmt(f);
        }
        f.write_char('(')?;
        for (i, ret) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            ret.fmt(f)?;
        }
        f.write_char(')')
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ty(), self.name())?;
        self.default().map_or(Ok(()), |default| write!(f, "={default}"))
    }
}

impl Display for Return {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.ty().fmt(f)?;
        self.name().map_or(Ok(()), |name| write!(f, " {name}"))
    }
}

impl Display for DefaultValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.base().fmt(f)?;
        self.alias().map_or(Ok(()), |alias| alias.fmt(f))?;
        for wrap in self.wraps() {
            match wrap {
                Wrap::Optional => f.write_char('?')?,
                Wrap::List(None) => f.write_str("[]")?,
                Wrap::List(Some(size)) => write!(f, "[{size}]")?,
            }
        }
        Ok(())
    }
}

impl Display for Base {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// With its parentheses: `(a! -> *)`, or `!` alone for a fresh write.
impl Display for Alias {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.is_fresh() {
            return f.write_char('!');
        }
        f.write_char('(')?;
        sets(f, self.before())?;
        if self.is_write() {
            f.write_char('!')?;
        }
        if self.after().len() > 0 {
            f.write_str(" -> ")?;
            sets(f, self.after())?;
        }
        f.write_char(')')
    }
}

fn sets<'a>(f: &mut Formatter<'_>, sets: impl Iterator<Item = &'a str>) -> fmt::Result {
    for (i, set) in sets.enumerate() {
        if i > 0 {
            f.write_char('|')?;
        }
        f.write_str(set)?;
    }
    Ok(())
}
