//! Registrations that would make calls endless: operators that redirect in a ring, operators that are completed by one
//! that is completed itself. Both are errors when the last of them is registered. What only values decide is bounded by
//! `nested`.

use super::Dispatcher;
use super::key::DispatchKey;
use super::nested::DEEPEST;
use super::operator::{Operator, Table};
use crate::error::{DispatchError, Result, cut};
use std::sync::{Arc, Weak};

/// Names that a message shows of a ring.
const SHOWN: usize = 8;

impl Dispatcher {
    /// Refuses a table with which calls of the operator would go round in a ring of redirections.
    pub(super) fn refuse_ring(&self, name: &str, table: &Table) -> Result<()> {
        for key in DispatchKey::all() {
            let mut path: Vec<Box<str>> = vec![name.into()];
            let mut next = redirection(table, key);
            // A longer path is no ring that this operator closes, or too deep for a call.
            for _ in 0..DEEPEST {
                let Some(to) = next else { break };
                if *to == *name {
                    path.push(to);
                    return Err(DispatchError::RedirectRing { ring: arrows(&path) }.into());
                }
                let operator = self.read().get(&to).cloned();
                next = operator.and_then(|operator| redirection(&operator.table.load(), key));
                path.push(to);
            }
        }
        Ok(())
    }
}

/// The operator that a call at this key goes on to.
fn redirection(table: &Table, key: DispatchKey) -> Option<Box<str>> {
    let to = table.slots.get(key.index())?.kernel.as_ref()?.redirects_to()?;
    Some(to.strip_prefix("aten::").unwrap_or(to).into())
}

/// Refuses completion by `out` in more than one step. So there are no rings of it either. Call without the lock of an
/// operator.
pub(super) fn refuse_chain(operator: &Arc<Operator>, out: &Arc<Operator>) -> Result<()> {
    let chain = |names: [&str; 3]| {
        let names: Vec<Box<str>> = names.into_iter().filter(|name| !name.is_empty()).map(Into::into).collect();
        Err(DispatchError::CompletionChain { chain: arrows(&names) }.into())
    };
    if operator.name == out.name {
        return chain([&operator.name, &out.name, ""]);
    }
    let next = out.lock().completed_by().cloned();
    if let Some(next) = next {
        return chain([&operator.name, &out.name, &next.name]);
    }
    let first = operator.lock().dependents.iter().find_map(Weak::upgrade);
    match first {
        Some(first) => chain([&first.name, &operator.name, &out.name]),
        None => Ok(()),
    }
}

fn arrows(names: &[Box<str>]) -> String {
    let Some((last, names)) = names.split_last() else { return String::new() };
    let shown = names.iter().take(SHOWN).map(|name| format!("{} -> ", cut(name)));
    let more = if names.len() > SHOWN { "… -> " } else { "" };
    format!("{}{more}{}", shown.collect::<String>(), cut(last))
}
