//! The schema that a Rust function implies, and its comparison with the one that an operator declares.

use super::parameter::Kind;
use super::returns::Returned;
use super::signature::CanonicalList;
use crate::error::{DispatchError, Result, cut};
use crate::schema::Schema;

/// The schema that a Rust function implies: kinds of parameters and results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inferred {
    pub(super) args: &'static [Kind],
    pub(super) returns: &'static [Kind],
}

impl Inferred {
    /// Of canonical forms.
    pub(super) fn of<A: CanonicalList, O: Returned>() -> Inferred {
        Inferred { args: A::KINDS, returns: O::KINDS }
    }

    /// An error that names the first difference from what a schema declares.
    pub(super) fn check(&self, schema: &Schema) -> Result<()> {
        match self.difference(schema) {
            None => Ok(()),
            Some(at) => {
                let declared = cut(&schema.to_string()).into_owned();
                Err(DispatchError::SchemaMismatch { inferred: self.to_string(), declared, at }.into())
            }
        }
    }

    fn difference(&self, schema: &Schema) -> Option<String> {
        let declared = schema.args().len();
        if declared != self.args.len() {
            return Some(format!("{} parameters, {declared} declared", self.args.len()));
        }
        for (position, (kind, arg)) in self.args.iter().zip(schema.args()).enumerate() {
            if !kind.fits(arg.ty()) {
                return Some(format!("parameter {position} is {kind}, declared is `{} {}`", arg.ty(), arg.name()));
            }
        }
        let returns = schema.returns();
        if self.returns.is_empty() && returns.iter().all(|r| r.ty().alias().is_some_and(|a| a.is_write())) {
            return None;
        }
        if returns.len() != self.returns.len() {
            return Some(format!("{} results, {} declared", self.returns.len(), returns.len()));
        }
        let wrong = self.returns.iter().zip(returns).position(|(kind, r)| !kind.fits_result(r.ty()));
        wrong.map(|i| format!("result {i} is {}, declared is `{}`", self.returns[i], returns[i].ty()))
    }
}

impl std::fmt::Display for Inferred {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({}) -> ({})", list(self.args), list(self.returns))
    }
}

fn list(kinds: &[Kind]) -> String {
    kinds.iter().map(Kind::to_string).collect::<Vec<_>>().join(", ")
}
