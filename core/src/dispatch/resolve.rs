//! Which registered kernel serves a key: the rules of precedence, as one function over what is registered. Owns no
//! kernel, so the same function fills the tables of operators, prints why, and answers hypothetical questions.

use super::key::{AliasKey, Backend, DispatchKey, Functionality, RegistrationKey};
use std::fmt;

/// What is registered for an operator, and for all operators.
pub(super) trait Registered {
    /// True if the operator has a kernel at this key.
    fn kernel(&self, key: RegistrationKey) -> bool;
    /// True if all operators fall back to a kernel at this key.
    fn fallback(&self, key: DispatchKey) -> bool;
    /// True if the operator can be completed from its out= form on this backend.
    fn completes(&self, backend: Backend) -> bool;
}

/// What serves a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The operator's kernel that is registered so.
    Kernel(RegistrationKey),
    /// The fallback of all operators at the key.
    Fallback,
    /// The operator's out= kernel behind meta checks and allocation.
    Completed,
    /// Nothing, and the call goes on to the next key.
    Fallthrough,
    /// Nothing, and the call is an error.
    Missing,
}

/// What serves a key, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resolution {
    /// What serves the key.
    pub source: Source,
    /// The rule that decided.
    pub reason: &'static str,
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source {
            Source::Kernel(key) => write!(f, "kernel of {key}: {}", self.reason),
            Source::Fallback => write!(f, "fallback: {}", self.reason),
            Source::Completed => write!(f, "completed: {}", self.reason),
            Source::Fallthrough => write!(f, "fallthrough: {}", self.reason),
            Source::Missing => write!(f, "missing: {}", self.reason),
        }
    }
}

/// What serves `key`.
///
/// A kernel of the key itself comes first. Composed kernels serve keys that compute and the undefined key, explicit
/// before implicit; an implicit one serves a slot of automatic differentiation too, unless the backend has a kernel of
/// its own, since the derivative of the composition is then not that of the kernel. Kernels without a key and fallbacks
/// of all operators come last.
pub(super) fn resolve(key: DispatchKey, registered: &impl Registered) -> Resolution {
    use AliasKey::{Autograd, CompositeExplicit, CompositeExplicitNonFunctional, CompositeImplicit};
    let has = |alias: AliasKey| registered.kernel(RegistrationKey::Alias(alias));
    let alias = |alias, reason| Resolution { source: Source::Kernel(RegistrationKey::Alias(alias)), reason };
    if registered.kernel(RegistrationKey::Runtime(key)) {
        let source = Source::Kernel(RegistrationKey::Runtime(key));
        return Resolution { source, reason: "registered for this key" };
    }
    if key.is_dense() || key == DispatchKey::UNDEFINED {
        for composite in [CompositeExplicitNonFunctional, CompositeExplicit, CompositeImplicit] {
            if has(composite) {
                return alias(composite, "composed, and this key has no kernel of its own");
            }
        }
    }
    match (key.functionality(), key.backend()) {
        (Some(Functionality::Autograd), Some(backend)) => {
            let own = registered.kernel(RegistrationKey::Runtime(DispatchKey::dense(backend)));
            if has(CompositeImplicit) && !own && !has(CompositeExplicit) && !has(CompositeExplicitNonFunctional) {
                return alias(CompositeImplicit, "composed of operators that have derivatives themselves");
            }
            if has(Autograd) {
                return alias(Autograd, "registered for every backend's derivatives");
            }
        }
        (Some(Functionality::Common), Some(backend)) if backend.is_private() => {
            if registered.fallback(key) {
                return Resolution { source: Source::Fallback, reason: "the backend declines or replaces completion" };
            }
            if registered.kernel(RegistrationKey::Runtime(DispatchKey::dense(backend))) {
                return Resolution {
                    source: Source::Fallthrough,
                    reason: "the backend has a kernel of this very form",
                };
            }
            if registered.completes(backend) {
                return Resolution {
                    source: Source::Completed,
                    reason: "meta checks, allocation, then the backend's out= kernel",
                };
            }
        }
        _ => {}
    }
    if registered.kernel(RegistrationKey::CatchAll) && (key.is_dense() || key == DispatchKey::UNDEFINED) {
        return Resolution { source: Source::Kernel(RegistrationKey::CatchAll), reason: "registered without a key" };
    }
    if registered.fallback(key) {
        return Resolution { source: Source::Fallback, reason: "of all operators at this key" };
    }
    if key.is_dense() || key == DispatchKey::UNDEFINED {
        Resolution { source: Source::Missing, reason: "no kernel, no composition, no fallback" }
    } else {
        Resolution { source: Source::Fallthrough, reason: "nothing to do here" }
    }
}
