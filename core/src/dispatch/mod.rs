//! From a name or a handle to a kernel: dispatch keys, kernels, registration at run time. Typed calls of operators that
//! are known at compile time never come here.
//!
//! ```text
//! arguments ──► KeySet ──► + included − excluded by the thread ──► & keys that do not fall through ──► highest
//!                                                                                                        │
//! Library::define, kernel, fallback ─► Registrations ─► resolve (precedence) ─► Table ──────────────► slot ─► kernel
//! ```
//!
//! | file | owns |
//! | --- | --- |
//! | `key`, `set` | keys, their order and aliases; sets, and what a thread includes and excludes |
//! | `resolve` | which registered kernel serves a key |
//! | `rings` | registrations that would make calls endless |
//! | `results` | whether a boxed kernel left what its schema declares |
//! | `parameter`, `returns`, `signature` | Rust types as schema types: one argument, results, lists |
//! | `inferred` | the schema that a function implies |
//! | `kernel`, `door` | kinds of kernels; their two doors |
//! | `published` | replacing a table while others read it |
//! | `lock` | the locks, and that no user's code runs under one |
//! | `nested` | how deep calls are nested |
//! | `operator`, `handle`, `arguments` | tables; calls; what arguments say of devices |
//! | `definition`, `library` | declarations; registration and its undoing |
//! | `undo` | what a library has done: undone, made another's, in use |
//! | `completion` | completing a backend that has only out= kernels |
//! | `compliance` | whether composed kernels do nothing else |
//! | `composed` | kernels made of calls of other operators |
//! | `dump` | everything that is registered, as text |

mod arguments;
mod completion;
pub mod compliance;
mod composed;
mod definition;
mod door;
mod dump;
mod handle;
mod inferred;
mod kernel;
mod key;
mod library;
#[doc(hidden)]
pub mod lock;
mod nested;
mod operator;
mod parameter;
#[doc(hidden)]
pub mod published;
mod resolve;
mod results;
mod returns;
mod rings;
mod set;
mod signature;
mod undo;

pub use crate::error::DispatchError;
pub use crate::value::{BoxedFn, Stack};
pub use composed::Calls;
pub use definition::Definition;
pub use handle::{OperatorHandle, TypedHandle};
pub use inferred::Inferred;
pub use kernel::{BoxedKernel, Frame, KernelFunction, KernelKind};
pub use key::{AliasKey, Backend, DispatchKey, Functionality, RegistrationKey};
pub use library::Library;
pub use operator::Flags;
pub use parameter::{Canonical, Kind, Parameter, Unboxed, tensors, values};
pub use resolve::{Resolution, Source};
pub use returns::{KernelReturn, KernelValue, Returned};
pub use set::{KeyGuard, KeySet};
pub use signature::{CanonicalList, KernelFn, ParameterList, WithFrame};

use crate::error::{Error, ErrorKind, Result, cut};
use crate::schema::near;
use lock::LockGuard;
use operator::{LibraryId, Operator, Shared};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Operators by name. Clones are the same dispatcher.
#[derive(Clone, Default)]
pub struct Dispatcher(Arc<Inner>);

#[derive(Default)]
struct Inner {
    operators: RwLock<HashMap<Box<str>, Arc<Operator>>>,
    edit: Mutex<Edit>,
    /// Which feature of the program's crates has an operator that is not there.
    feature_of: OnceLock<FeatureOf>,
}

/// The feature that has an operator of this name, if one has.
pub type FeatureOf = fn(&str) -> Option<&'static str>;

/// What registration changes, under one lock: registrations are rare, and their order is what counts.
#[derive(Default)]
struct Edit {
    shared: Shared,
    last_library: LibraryId,
    /// The operators that each living library has defined or given kernels.
    touched: HashMap<LibraryId, Touched>,
}

/// Operators, each once, in the order in which they came.
#[derive(Default)]
struct Touched {
    list: Vec<Arc<Operator>>,
    addresses: HashSet<usize>,
}

impl Edit {
    fn touch(&mut self, library: LibraryId, operator: &Arc<Operator>) {
        let touched = self.touched.entry(library).or_default();
        if touched.addresses.insert(Arc::as_ptr(operator).addr()) {
            touched.list.push(operator.clone());
        }
    }
}

impl std::fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Whatever is printed to may call the dispatcher, so no lock is held while printing.
        let operators = self.read().len();
        f.debug_struct("Dispatcher").field("operators", &operators).finish_non_exhaustive()
    }
}

impl Dispatcher {
    /// A dispatcher without operators.
    pub fn new() -> Dispatcher {
        Dispatcher::default()
    }

    /// Lets the error about an operator that is not there say which feature of a crate has it. The first call counts.
    pub fn set_feature_of(&self, feature_of: FeatureOf) {
        let _ = self.0.feature_of.set(feature_of);
    }

    /// A library whose operators are of this namespace; `aten` is looked up without it.
    pub fn library(&self, namespace: &str) -> Library {
        let mut edit = self.edit();
        edit.last_library += 1;
        Library::new(self.clone(), edit.last_library, namespace)
    }

    /// The operator with this name, such as `add.Tensor`, `relu` or `my::axpy`. An `aten::` in front is accepted.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownOperator`] with near names; [`DispatchError::LeftOut`] for one that a feature has.
    pub fn find(&self, name: &str) -> Result<OperatorHandle> {
        let bare = name.strip_prefix("aten::").unwrap_or(name);
        // The lock ends here: asked for again with a writer waiting in between, it would never come.
        let known = self.read().get(bare).cloned();
        match known {
            Some(operator) => Ok(OperatorHandle::new(self.clone(), operator)),
            None => Err(self.unknown(bare)),
        }
    }

    /// Calls an operator by name.
    pub fn call(&self, name: &str, stack: &mut Stack) -> Result<()> {
        self.find(name)?.call(stack)
    }

    /// Every operator that has a definition, sorted by the name that it is looked up by.
    pub fn operators(&self) -> Vec<OperatorHandle> {
        let handle = |operator: Arc<Operator>| OperatorHandle::new(self.clone(), operator);
        let mut handles: Vec<_> = self.all().into_iter().map(handle).filter(OperatorHandle::is_defined).collect();
        handles.sort_by(|a, b| a.name().cmp(b.name()));
        handles
    }

    /// The key of this name: one of [`RegistrationKey`], or the name of a backend that a library has made known.
    ///
    /// # Errors
    ///
    /// [`DispatchError::UnknownKey`] with near names.
    pub fn key(&self, name: &str) -> Result<RegistrationKey> {
        let edit = self.edit();
        let known = |backend: &Backend| {
            edit.shared.backends[usize::from(backend.index())].as_ref().is_some_and(|info| *info.name == *name)
        };
        if let Some(key) = Backend::all().find(known).map(RegistrationKey::from).or(RegistrationKey::from_name(name)) {
            return Ok(key);
        }
        let names: Vec<String> = RegistrationKey::all().map(|key| key.to_string()).collect();
        let near = near::near_names(name, names.iter().map(String::as_str)).join(", ");
        Err(DispatchError::UnknownKey { name: cut(name).into_owned(), near }.into())
    }

    /// A key in words: with the name of a device that a library has made known in place of its number.
    pub fn name_of(&self, key: RegistrationKey) -> String {
        self.edit().shared.name_of(key)
    }

    fn read(&self) -> LockGuard<RwLockReadGuard<'_, HashMap<Box<str>, Arc<Operator>>>> {
        LockGuard::new(|| self.0.operators.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self) -> LockGuard<RwLockWriteGuard<'_, HashMap<Box<str>, Arc<Operator>>>> {
        LockGuard::new(|| self.0.operators.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn edit(&self) -> LockGuard<MutexGuard<'_, Edit>> {
        LockGuard::new(|| self.0.edit.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Every operator that can be found.
    fn all(&self) -> Vec<Arc<Operator>> {
        self.read().values().cloned().collect()
    }

    /// The operator of this name, or a new one that nobody can find yet. Call with the edit lock held.
    fn operator(&self, name: &str) -> Arc<Operator> {
        let known = self.read().get(name).cloned();
        known.unwrap_or_else(|| Arc::new(Operator::new(name)))
    }

    /// Lets an operator be found.
    fn enter(&self, operator: Arc<Operator>) {
        self.write().entry(operator.name.clone()).or_insert(operator);
    }

    fn publish_all(&self, edit: &Edit) {
        self.all().iter().for_each(|operator| operator.publish(&edit.shared));
    }

    #[cold]
    fn unknown(&self, name: &str) -> Error {
        if let Some(feature) = self.0.feature_of.get().and_then(|feature_of| feature_of(name)) {
            return Error::from(ErrorKind::Dispatch(DispatchError::LeftOut { feature })).of(cut(name).into_owned());
        }
        let operators = self.read();
        let near = near::near_names(name, operators.keys().map(|k| &**k));
        let near = near.into_iter().map(str::to_owned).collect();
        ErrorKind::UnknownOperator { name: cut(name).into_owned(), near }.into()
    }

    fn hypothetical(&self, operator: &Operator, keys: &[RegistrationKey]) -> Vec<(DispatchKey, Resolution)> {
        /// Just these kernels; fallbacks as they are.
        struct Supposed<'a>(&'a [RegistrationKey], &'a Shared);
        impl resolve::Registered for Supposed<'_> {
            fn kernel(&self, key: RegistrationKey) -> bool {
                self.0.contains(&key)
            }
            fn fallback(&self, key: DispatchKey) -> bool {
                self.1.fallback(key).is_some()
            }
            fn completes(&self, _: Backend) -> bool {
                false
            }
        }
        operator.resolutions(&Supposed(keys, &self.edit().shared))
    }
}
