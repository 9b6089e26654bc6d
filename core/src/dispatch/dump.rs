//! Everything that is registered, as text: for people, and for tests that a refused registration changes nothing. Owns
//! the listing.

use super::Dispatcher;
use super::key::Backend;
use super::operator::{Kept, Operator};
use std::fmt::Write;

impl Dispatcher {
    /// All operators that are defined or have kernels, with their kernels in the order of registration, then fallbacks
    /// and backends of other crates. Each line says which library registered it.
    pub fn dump(&self) -> String {
        let edit = self.edit();
        let mut operators = self.all();
        operators.sort_by(|a, b| a.name.cmp(&b.name));
        let mut text = String::new();
        for operator in operators {
            list(&mut text, &operator);
        }
        for kept in &edit.shared.fallbacks {
            kernel(&mut text, "fallback", kept);
        }
        for backend in Backend::all() {
            if let Some(info) = &edit.shared.backends[usize::from(backend.index())] {
                line(&mut text, format_args!("backend {} is {}", backend.name(), info.name));
            }
        }
        text
    }
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // A string takes everything.
    let _ = writeln!(text, "{line}");
}

fn list(text: &mut String, operator: &Operator) {
    let own = operator.lock();
    match &own.defined {
        Some(defined) => {
            let (schema, flags, library) = (&defined.schema, defined.flags, &defined.library_name);
            line(text, format_args!("{}: {schema}, {flags:?}, of {library}", operator.name));
            if let Some(out) = &defined.completed_by {
                line(text, format_args!("  completed by {}", out.name));
            }
        }
        None => line(text, format_args!("{}: not defined", operator.name)),
    }
    own.kernels.iter().for_each(|kept| kernel(text, " ", kept));
    for dependent in own.dependents.iter().filter_map(std::sync::Weak::upgrade) {
        line(text, format_args!("  completes {}", dependent.name));
    }
}

fn kernel(text: &mut String, what: &str, kept: &Kept) {
    let (key, library) = (kept.key, &kept.library_name);
    line(text, format_args!("{what} {key}: {:?} {}, of {library}", kept.kernel.kind(), kept.kernel.name()));
}
