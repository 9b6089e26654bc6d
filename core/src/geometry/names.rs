//! Optional names of dimensions and how they unify.

use crate::error::{ErrorKind, Result};
use std::sync::Arc;

/// The names of a tensor's dimensions; `None` is a dimension without a name.
pub type Names = Box<[Option<Arc<str>>]>;

/// Names of a result of `ndim` dimensions from two operands, matched from the right: a name meets itself or no name.
pub fn unify(left: Option<&Names>, right: Option<&Names>) -> Result<Option<Names>> {
    let (Some(l), Some(r)) = (left, right) else { return Ok(left.or(right).cloned()) };
    let n = l.len().max(r.len());
    let at = |names: &Names, i: usize| names.iter().rev().nth(i).cloned().flatten();
    let mut out = vec![None; n];
    for (i, name) in out.iter_mut().rev().enumerate() {
        *name = match (at(l, i), at(r, i)) {
            (Some(a), Some(b)) if a != b => {
                let text = |names: &Names| names.iter().map(|n| n.as_deref().unwrap_or("*").to_owned()).collect();
                return Err(ErrorKind::Names { left: text(l), right: text(r), position: i }.into());
            }
            (a, b) => a.or(b),
        };
    }
    Ok(Some(out.into()))
}
