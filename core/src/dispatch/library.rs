//! Libraries: what one party defines and registers, undone when it is dropped. Owns the rules of registration.

use super::Dispatcher;
use super::definition::Definition;
use super::kernel::KernelFunction;
use super::key::{Backend, DispatchKey, RegistrationKey};
use super::operator::{BackendInfo, Defined, Kept, LibraryId, Operator, Registrations, Shared, Table};
use super::rings::refuse_chain;
use crate::error::{DispatchError, Result, cut};
use crate::schema::Schema;
use crate::storage::Device;
use std::sync::Arc;

/// Operators and kernels of one party. Everything is undone when it is dropped: kernels are removed, those that they
/// had replaced are back, and operators that it defined are gone once no other library has kernels for them. Calls that
/// run meanwhile end with the kernels that they began with.
#[derive(Debug)]
pub struct Library {
    dispatcher: Dispatcher,
    id: LibraryId,
    namespace: Arc<str>,
}

impl Library {
    pub(super) fn new(dispatcher: Dispatcher, id: LibraryId, namespace: &str) -> Library {
        Library { dispatcher, id, namespace: namespace.into() }
    }

    /// The dispatcher that it registers with.
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// The namespace of the operators that it defines.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Defines an operator. A schema without a namespace gets the library's.
    ///
    /// # Errors
    ///
    /// A name outside of the namespace, one that is defined, kernels that do not fit the schema or each other; then
    /// nothing is registered.
    pub fn define(&mut self, definition: Definition) -> Result<()> {
        let name = self.qualified(&definition.schema)?;
        self.define_as(&name, definition).map_err(|e| e.of(name))
    }

    fn define_as(&mut self, name: &str, definition: Definition) -> Result<()> {
        let (schema, flags) = (Arc::new(definition.schema.clone()), definition.flags);
        let completed_by = definition.completed_by.clone();
        let mut edit = self.dispatcher.edit();
        let kernels = definition.into_kernels(&edit.shared)?;
        let operator = self.dispatcher.operator(name);
        if let Some(other) = &operator.lock().defined {
            return Err(DispatchError::AlreadyDefined { by: cut(&other.library_name).into_owned() }.into());
        }
        let completed_by = completed_by.as_deref().map(|out| match out.strip_prefix("aten::").unwrap_or(out) {
            out if out == name => Ok(operator.clone()),
            out => short_enough(out).map(|()| self.dispatcher.operator(out)),
        });
        let completed_by = completed_by.transpose()?;
        if let Some(out) = &completed_by {
            refuse_chain(&operator, out)?;
        }
        let defined =
            Defined { schema, flags, library_name: self.namespace.clone(), completed_by: completed_by.clone() };
        {
            let mut own = operator.lock();
            // Kernels that came before the definition could not be compared with it then.
            for kept in &own.kernels {
                checked_against(&kept.kernel, &defined.schema)?;
            }
            own.defined = Some(Arc::new(defined));
            own.definer = self.id;
            if let Err(error) = self.keep_all(&edit.shared, &operator, &mut own, kernels, false) {
                own.defined = None;
                return Err(error);
            }
        }
        if let Some(out) = completed_by {
            out.lock().dependents.push(Arc::downgrade(&operator));
            self.dispatcher.enter(out.clone());
            edit.touch(self.id, &out);
        }
        self.dispatcher.enter(operator.clone());
        operator.publish(&edit.shared);
        edit.touch(self.id, &operator);
        Ok(())
    }

    /// Registers a kernel for an operator of any library, also one that is not defined yet.
    ///
    /// # Errors
    ///
    /// A key that has a kernel or cannot have one, a second composed kernel, a function that is not what the schema
    /// declares; then nothing is registered.
    pub fn kernel(&mut self, name: &str, key: impl Into<RegistrationKey>, kernel: KernelFunction) -> Result<()> {
        self.register(name, &[key.into()], kernel, false)
    }

    /// Registers one kernel for several keys: for all or, on an error, for none.
    pub fn kernels(&mut self, name: &str, keys: &[RegistrationKey], kernel: KernelFunction) -> Result<()> {
        self.register(name, keys, kernel, false)
    }

    /// Registers a kernel over another, which is back when this library is dropped. It serves calls by name and through
    /// handles; typed functions and methods are compiled for the kernels of their device and do not see it.
    pub fn replace(&mut self, name: &str, key: impl Into<RegistrationKey>, kernel: KernelFunction) -> Result<()> {
        self.register(name, &[key.into()], kernel, true)
    }

    fn register(&mut self, name: &str, keys: &[RegistrationKey], kernel: KernelFunction, over: bool) -> Result<()> {
        let name = name.strip_prefix("aten::").unwrap_or(name);
        short_enough(name)?;
        let mut edit = self.dispatcher.edit();
        let operator = self.dispatcher.operator(name);
        let kernels = keys.iter().map(|key| (*key, kernel.clone())).collect();
        self.keep_all(&edit.shared, &operator, &mut operator.lock(), kernels, over)
            .map_err(|e| e.of(name.to_owned()))?;
        self.dispatcher.enter(operator.clone());
        operator.publish(&edit.shared);
        edit.touch(self.id, &operator);
        Ok(())
    }

    /// Adds kernels to the registrations of an operator, which are not published yet: all, or none and an error.
    fn keep_all(
        &self,
        shared: &Shared,
        operator: &Operator,
        own: &mut Registrations,
        kernels: Vec<(RegistrationKey, KernelFunction)>,
        over: bool,
    ) -> Result<()> {
        let before = own.kernels.len();
        let redirects = kernels.iter().any(|(_, kernel)| kernel.redirects_to().is_some());
        let mut kept = kernels.into_iter().try_for_each(|(key, kernel)| self.keep(shared, own, key, kernel, over));
        if redirects && kept.is_ok() {
            kept = self.dispatcher.refuse_ring(&operator.name, &Table::new(own, shared));
        }
        if kept.is_err() {
            own.kernels.truncate(before);
        }
        kept
    }

    /// Adds one kernel.
    fn keep(
        &self,
        shared: &Shared,
        own: &mut Registrations,
        key: RegistrationKey,
        kernel: KernelFunction,
        over: bool,
    ) -> Result<()> {
        if key == RegistrationKey::Runtime(DispatchKey::UNDEFINED) {
            let reason = "a call without tensors is served by composed kernels";
            return Err(DispatchError::KeyTakesNoKernel { key: shared.name_of(key), reason }.into());
        }
        if let (false, Some(other)) = (over, own.at(key)) {
            return Err(DispatchError::AlreadyRegistered {
                key: shared.name_of(key),
                by: cut(&other.library_name).into_owned(),
            }
            .into());
        }
        let composite = |key: RegistrationKey| matches!(key, RegistrationKey::Alias(alias) if alias.is_composite());
        if let (true, Some(other)) = (composite(key), own.kernels.iter().find(|k| composite(k.key) && k.key != key)) {
            return Err(DispatchError::ConflictingAliases {
                have: shared.name_of(other.key),
                got: shared.name_of(key),
            }
            .into());
        }
        if let Some(defined) = &own.defined {
            checked_against(&kernel, &defined.schema)?;
        }
        own.kernels.push(Kept { key, kernel, library: self.id, library_name: self.namespace.clone() });
        Ok(())
    }

    /// Registers what serves a key of all operators that have no kernel there: a boxed kernel, or fallthrough.
    ///
    /// # Errors
    ///
    /// A key that has a fallback; a kernel that is neither.
    pub fn fallback(&mut self, key: DispatchKey, kernel: KernelFunction) -> Result<()> {
        let at = RegistrationKey::Runtime(key);
        let mut edit = self.dispatcher.edit();
        if kernel.inferred().is_some() {
            let reason = "a fallback serves operators of every schema, so it has to be boxed";
            return Err(DispatchError::KeyTakesNoKernel { key: edit.shared.name_of(at), reason }.into());
        }
        if let Some(other) = edit.shared.fallback(key) {
            return Err(DispatchError::AlreadyRegistered {
                key: edit.shared.name_of(at),
                by: cut(&other.library_name).into_owned(),
            }
            .into());
        }
        edit.shared.fallbacks.push(Kept { key: at, kernel, library: self.id, library_name: self.namespace.clone() });
        self.dispatcher.publish_all(&edit);
        Ok(())
    }

    /// Makes a device known: its name in messages, and its guard.
    ///
    /// # Errors
    ///
    /// A device kind that dispatch has no room for, or that another library has made known; a name that another backend
    /// or key has.
    pub fn backend<D: Device>(&mut self, name: &str) -> Result<Backend> {
        fn within<D: Device>(index: u8, call: &mut dyn FnMut()) {
            let _guard = D::enter(index);
            call();
        }
        let Some(backend) = Backend::of(D::KIND) else {
            return Err(DispatchError::NoBackend { kind: D::KIND.0 }.into());
        };
        let mut edit = self.dispatcher.edit();
        let is_key = RegistrationKey::from_name(name).is_some_and(|key| key != backend.into());
        if is_key || edit.shared.backends.iter().flatten().any(|other| *other.name == *name) {
            return Err(DispatchError::NameTaken { name: cut(name).into_owned() }.into());
        }
        let slot = &mut edit.shared.backends[usize::from(backend.index())];
        if let Some(other) = slot {
            return Err(DispatchError::BackendTaken { kind: D::KIND.0, by: cut(&other.name).into_owned() }.into());
        }
        *slot = Some(BackendInfo { name: name.into(), library: self.id, within: within::<D> });
        self.dispatcher.publish_all(&edit);
        Ok(backend)
    }

    /// Registers several things, or none of them: where `register` fails, what it has registered until then is undone.
    ///
    /// # Errors
    ///
    /// That of `register`.
    pub fn all_or_none(&mut self, register: impl FnOnce(&mut Library) -> Result<()>) -> Result<()> {
        // Dropped on an error, it takes along what it has.
        let mut part = self.dispatcher.library(&self.namespace);
        register(&mut part)?;
        self.dispatcher.adopt(part.id, self.id);
        Ok(())
    }

    /// Undoes everything, if no other library relies on it.
    ///
    /// # Errors
    ///
    /// [`DispatchError::InUse`] if another library has kernels for operators that this one defines; the library comes
    /// back as it was.
    pub fn close(self) -> std::result::Result<(), (Library, crate::error::Error)> {
        match self.dispatcher.dependents_of(self.id) {
            by if by.is_empty() => Ok(()),
            by => {
                let error = DispatchError::InUse { by: cut(&by.join(", ")).into_owned() };
                Err((self, error.into()))
            }
        }
    }

    /// The name that an operator of the library is looked up by.
    fn qualified(&self, schema: &Schema) -> Result<String> {
        if let Some(other) = schema.namespace().filter(|namespace| **namespace != *self.namespace) {
            let outside = DispatchError::OutsideNamespace { namespace: cut(&self.namespace).into_owned() };
            let name = format!("{other}::{}", schema.full_name());
            return Err(crate::error::Error::from(outside).of(cut(&name).into_owned()));
        }
        let name = match &*self.namespace {
            "aten" => schema.full_name().to_owned(),
            namespace => format!("{namespace}::{}", schema.full_name()),
        };
        short_enough(&name)?;
        Ok(name)
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        self.dispatcher.remove(self.id);
    }
}

/// Names are part of every message of their operators.
fn short_enough(name: &str) -> Result<()> {
    /// The longest of PyTorch's has 61 bytes.
    const LONGEST: usize = 512;
    match name.len() {
        ..=LONGEST => Ok(()),
        length => Err(DispatchError::LongName { length, limit: LONGEST }.into()),
    }
}

fn checked_against(kernel: &KernelFunction, schema: &Schema) -> Result<()> {
    kernel.inferred().map_or(Ok(()), |inferred| inferred.check(schema))
}
