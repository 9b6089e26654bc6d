//! One operator of a dispatcher: its definition, the kernels that libraries have registered, and the table that calls
//! read. Owns the table's making; who may register what is in `library.rs`.

use super::completion;
use super::kernel::{KernelFunction, KernelKind};
use super::key::{AliasKey, Backend, DispatchKey, RegistrationKey};
use super::lock::LockGuard;
use super::published::Published;
use super::resolve::{Registered, Resolution, Source, resolve};
use super::set::KeySet;
use crate::schema::Schema;
use crate::value::annotations::Silent;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Which library something comes from.
pub(super) type LibraryId = u64;

/// What an operator asks of a dispatcher besides finding its kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flags {
    /// The device of the first tensor is made current for the call of a kernel that computes.
    pub device_guard: bool,
    /// All tensors have to be on one device.
    pub device_check: bool,
    /// The definition takes no kernel: they are registered by hand.
    pub manual_registration: bool,
    /// Overrides what the schema says: true if the device comes from the `device` argument although there is a tensor.
    pub factory: Option<bool>,
    /// Results may share storage with arguments though the schema does not say so. Such are PyTorch's unsafe views, of
    /// which callers promise to use only one tensor from then on, and composed operators that return their argument
    /// where there is nothing to compute.
    pub silent_view: bool,
    /// The arguments that have the kernels write others although the schema does not say so, where one is given and not
    /// false: `training` has running statistics written.
    pub silent_write: &'static [&'static str],
}

impl Flags {
    /// What the schema keeps quiet about.
    pub(super) fn silent(&self) -> Silent {
        Silent { view: self.silent_view, write: self.silent_write }
    }
}

impl Default for Flags {
    fn default() -> Flags {
        let (silent_view, silent_write) = (false, &[][..]);
        let (device_guard, device_check, manual_registration, factory) = (true, true, false, None);
        Flags { device_guard, device_check, manual_registration, factory, silent_view, silent_write }
    }
}

/// The declaration of an operator.
#[derive(Clone, Debug)]
pub(super) struct Defined {
    pub(super) schema: Arc<Schema>,
    pub(super) flags: Flags,
    pub(super) library_name: Arc<str>,
    /// The out= form through which `Common` completes this one.
    pub(super) completed_by: Option<Arc<Operator>>,
}

impl Defined {
    pub(super) fn is_factory(&self) -> bool {
        self.flags.factory.unwrap_or_else(|| self.schema.is_factory())
    }
}

/// One registered kernel.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) key: RegistrationKey,
    pub(super) kernel: KernelFunction,
    pub(super) library: LibraryId,
    pub(super) library_name: Arc<str>,
}

/// What libraries have registered. Of several kernels at one key the last counts.
#[derive(Debug, Default)]
pub(super) struct Registrations {
    pub(super) defined: Option<Arc<Defined>>,
    /// The library of the definition, if there is one.
    pub(super) definer: LibraryId,
    pub(super) kernels: Vec<Kept>,
    /// Operators whose table depends on this one's kernels.
    pub(super) dependents: Vec<Weak<Operator>>,
}

impl Registrations {
    pub(super) fn is_defined_by(&self, library: LibraryId) -> bool {
        self.defined.is_some() && self.definer == library
    }

    pub(super) fn at(&self, key: RegistrationKey) -> Option<&Kept> {
        self.kernels.iter().rev().find(|kept| kept.key == key)
    }

    /// The name of the out= form that completes the operator.
    pub(super) fn completed_by(&self) -> Option<&Arc<Operator>> {
        self.defined.as_ref()?.completed_by.as_ref()
    }
}

/// What a dispatcher knows that is the same for all operators.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    pub(super) fallbacks: Vec<Kept>,
    pub(super) backends: [Option<BackendInfo>; Backend::COUNT],
}

impl Shared {
    pub(super) fn fallback(&self, key: DispatchKey) -> Option<&Kept> {
        self.fallbacks.iter().rev().find(|kept| kept.key == RegistrationKey::Runtime(key))
    }

    /// The key's name, with that of its device where a library has given one.
    pub(super) fn name_of(&self, key: RegistrationKey) -> String {
        let backend = match key {
            RegistrationKey::Runtime(key) => key.backend(),
            RegistrationKey::Alias(_) | RegistrationKey::CatchAll => None,
        };
        match backend.and_then(|b| Some((b, self.backends[usize::from(b.index())].as_ref()?))) {
            Some((backend, info)) => key.to_string().replace(backend.name(), &info.name),
            None => key.to_string(),
        }
    }
}

/// Runs something with a device of this index current.
pub(super) type Within = fn(u8, &mut dyn FnMut());

/// A backend as dispatch knows it.
#[derive(Clone, Debug)]
pub(super) struct BackendInfo {
    pub(super) name: Arc<str>,
    pub(super) library: LibraryId,
    pub(super) within: Within,
}

/// A kernel at a key, and what the call of it needs.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) resolution: Resolution,
    pub(super) kernel: Option<KernelFunction>,
    /// Devices are checked before the call.
    pub(super) check: bool,
    /// The device guard of the call.
    pub(super) within: Option<Within>,
}

/// What calls read.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) defined: Option<Arc<Defined>>,
    /// The keys that do not fall through.
    pub(super) mask: KeySet,
    pub(super) slots: Vec<Slot>,
}

/// An operator. It lives as long as a library or a handle knows it.
pub(super) struct Operator {
    /// The name that it is looked up by.
    pub(super) name: Box<str>,
    pub(super) table: Arc<Published<Table>>,
    registrations: Mutex<Registrations>,
}

impl fmt::Debug for Operator {
    /// Without what is registered: whatever is printed to may call the dispatcher, so no lock is held while printing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operator").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The kernels that count, by the place of their key: runtime keys, aliases, all keys. Found in one walk over what is
/// registered, which may be much.
type Last<'a> = [Option<&'a Kept>; PLACES];

const PLACES: usize = DispatchKey::COUNT + AliasKey::ALL.len() + 1;

fn place(key: RegistrationKey) -> usize {
    match key {
        RegistrationKey::Runtime(key) => key.index(),
        RegistrationKey::Alias(alias) => DispatchKey::COUNT + alias as usize,
        RegistrationKey::CatchAll => PLACES - 1,
    }
}

/// What is registered for one operator and for all.
struct View<'a> {
    own: &'a Registrations,
    last: Last<'a>,
    shared: &'a Shared,
}

impl<'a> View<'a> {
    fn new(own: &'a Registrations, shared: &'a Shared) -> View<'a> {
        let mut last = [None; PLACES];
        for kept in &own.kernels {
            last[place(kept.key)] = Some(kept);
        }
        View { own, last, shared }
    }

    fn at(&self, key: RegistrationKey) -> Option<&'a Kept> {
        self.last[place(key)]
    }
}

impl Registered for View<'_> {
    fn kernel(&self, key: RegistrationKey) -> bool {
        self.at(key).is_some()
    }

    fn fallback(&self, key: DispatchKey) -> bool {
        self.shared.fallback(key).is_some()
    }

    fn completes(&self, backend: Backend) -> bool {
        // Not the operator itself, whose lock is held: `define` refuses that.
        let out = self.own.completed_by();
        self.at(RegistrationKey::META).is_some()
            && out.is_some_and(|out| out.lock().at(DispatchKey::dense(backend).into()).is_some())
    }
}

impl Operator {
    pub(super) fn new(name: &str) -> Operator {
        let empty = Table { defined: None, mask: KeySet::EMPTY, slots: Vec::new() };
        Operator { name: name.into(), table: Arc::new(Published::new(empty)), registrations: Mutex::default() }
    }

    /// The registrations. Whoever changes them holds the dispatcher's lock too, and calls
    /// [`publish`](Operator::publish).
    pub(super) fn lock(&self) -> LockGuard<MutexGuard<'_, Registrations>> {
        LockGuard::new(|| self.registrations.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes the table anew, and those of the operators that depend on its kernels. None depends on their tables.
    pub(super) fn publish(&self, shared: &Shared) {
        for dependent in self.replace_table(shared).iter().filter_map(Weak::upgrade) {
            dependent.replace_table(shared);
        }
    }

    fn replace_table(&self, shared: &Shared) -> Vec<Weak<Operator>> {
        let own = self.lock();
        self.table.replace(Table::new(&own, shared));
        own.dependents.clone()
    }

    /// What would serve each key with these registrations in place of the present ones.
    pub(super) fn resolutions(&self, registered: &impl Registered) -> Vec<(DispatchKey, Resolution)> {
        DispatchKey::all().map(|key| (key, resolve(key, registered))).collect()
    }
}

impl Table {
    pub(super) fn new(own: &Registrations, shared: &Shared) -> Table {
        let view = View::new(own, shared);
        let flags = own.defined.as_ref().map_or(Flags::default(), |d| d.flags);
        let mut mask = KeySet::EMPTY;
        let slots = DispatchKey::all().map(|key| {
            let mut resolution = resolve(key, &view);
            let kernel = match resolution.source {
                Source::Kernel(at) => view.at(at).map(|kept| kept.kernel.clone()),
                Source::Fallback => shared.fallback(key).map(|kept| kept.kernel.clone()),
                Source::Completed => Some(KernelFunction::boxed(completion::complete).named("Common")),
                Source::Fallthrough | Source::Missing => None,
            };
            if kernel.as_ref().is_some_and(|k| k.kind() == KernelKind::Fallthrough) {
                resolution = Resolution { source: Source::Fallthrough, reason: "registered as fallthrough" };
            }
            if resolution.source != Source::Fallthrough {
                mask = mask | KeySet::of(key);
            }
            // A composed kernel leaves both to the operators that it calls.
            let computes = key.is_dense() && matches!(resolution.source, Source::Kernel(RegistrationKey::Runtime(_)));
            let info = key.backend().and_then(|b| shared.backends[usize::from(b.index())].as_ref());
            let within = info.filter(|_| computes && flags.device_guard).map(|info| info.within);
            Slot { resolution, kernel, check: computes && flags.device_check, within }
        });
        Table { defined: own.defined.clone(), slots: slots.collect(), mask }
    }
}
