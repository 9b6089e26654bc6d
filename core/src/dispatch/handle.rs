//! Handles of operators: calling without a lock, boxed and unboxed. A handle reads the operator's table, keeps what it
//! has read, and holds the state of the kernels that have some. Owns the way of one call from arguments to kernel.

use super::Dispatcher;
use super::arguments::{checked_device, keys_of_device, keys_of_stack, within};
use super::door::Object;
use super::inferred::Inferred;
use super::kernel::Frame;
use super::key::{DispatchKey, RegistrationKey};
use super::nested::Nested;
use super::operator::{Defined, Operator, Slot, Table};
use super::published::{Lent, Reader, Seen};
use super::resolve::{Resolution, Source};
use super::returns::{KernelValue, Returned};
use super::set::{KeySet, localized};
use super::signature::{CanonicalList, ParameterList};
use crate::error::{DispatchError, Error, Result};
use crate::schema::Schema;
use crate::tensor::observe;
use crate::value::annotations::Silent;
use crate::value::{IValue, Stack, fill_defaults};
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// The objects that a handle has made for kernels with state, by place in the table.
type Made = Vec<(usize, OnceLock<Object>)>;

fn no_objects_yet(table: &Table) -> Made {
    let made = |slot: &Slot| slot.kernel.as_ref().is_some_and(super::kernel::KernelFunction::is_made);
    let places = table.slots.iter().enumerate().filter(|(_, slot)| made(slot));
    places.map(|(place, _)| (place, OnceLock::new())).collect()
}

/// An operator, looked up. A call through it takes no lock, whatever is registered meanwhile, and a kernel stays alive
/// while it runs. Kernels with state have it per handle: a clone starts anew.
///
/// A handle keeps what was registered at its calls, for at most 16 changes; after more, calls through it take a lock of
/// the handle's own. A clone begins to count anew.
#[derive(Debug)]
pub struct OperatorHandle {
    dispatcher: Dispatcher,
    operator: Arc<Operator>,
    reader: Reader<Table, Made>,
}

impl Clone for OperatorHandle {
    fn clone(&self) -> Self {
        OperatorHandle::new(self.dispatcher.clone(), self.operator.clone())
    }
}

impl OperatorHandle {
    pub(super) fn new(dispatcher: Dispatcher, operator: Arc<Operator>) -> OperatorHandle {
        let reader = Reader::new(operator.table.clone());
        OperatorHandle { dispatcher, operator, reader }
    }

    /// The dispatcher that it is of.
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// The name that it is looked up by.
    pub fn name(&self) -> &str {
        &self.operator.name
    }

    /// The out= form that completes this one.
    pub(super) fn completed_by(&self) -> Option<OperatorHandle> {
        let out = self.seen().value.defined.as_ref()?.completed_by.clone()?;
        Some(OperatorHandle::new(self.dispatcher.clone(), out))
    }

    /// True if a kernel is registered for this very key.
    pub(super) fn has_own(&self, key: DispatchKey) -> bool {
        let seen = self.seen();
        let slot = seen.value.slots.get(key.index());
        slot.is_some_and(|slot| slot.resolution.source == Source::Kernel(key.into()))
    }

    #[inline]
    fn seen(&self) -> Lent<'_, Table, Made> {
        self.reader.read(no_objects_yet)
    }

    /// True if there is a definition.
    pub(super) fn is_defined(&self) -> bool {
        self.seen().value.defined.is_some()
    }

    /// The schema.
    ///
    /// # Errors
    ///
    /// [`DispatchError::NotDefined`] once the defining library is gone.
    pub fn schema(&self) -> Result<Arc<Schema>> {
        Ok(defined(&self.seen().value)?.schema.clone())
    }

    /// What the schema keeps quiet about.
    pub fn silent(&self) -> Silent {
        defined(&self.seen().value).map_or(Silent::default(), |defined| defined.flags.silent())
    }

    /// Whether a call with these arguments may write some of them: its schema marks one, or keeps quiet about it.
    ///
    /// # Errors
    ///
    /// [`DispatchError::NotDefined`] once the defining library is gone.
    pub fn may_write(&self, args: &[IValue]) -> Result<bool> {
        let schema = self.schema()?;
        Ok(schema.mutable_args().next().is_some() || self.silent().may_write(&schema, |position| args.get(position)))
    }

    /// What serves each key and why, with the name of its kernel.
    pub fn explain(&self) -> Vec<(DispatchKey, Resolution, Option<&'static str>)> {
        let table = self.seen().value.clone();
        let line = |(key, slot): (DispatchKey, &Slot)| (key, slot.resolution, slot.kernel.as_ref().map(|k| k.name()));
        DispatchKey::all().zip(&table.slots).map(line).collect()
    }

    /// What would serve each key if there were kernels for just these keys.
    pub fn explain_with(&self, keys: &[RegistrationKey]) -> Vec<(DispatchKey, Resolution)> {
        self.dispatcher.hypothetical(&self.operator, keys)
    }

    /// Calls the operator: takes its arguments off the stack and leaves its results. Trailing arguments that have a
    /// default may be missing. On an error the stack is as it was, unless the kernel is to blame: it is empty after
    /// results that are not those of the schema.
    pub fn call(&self, stack: &mut Stack) -> Result<()> {
        self.call_boxed(stack, None).map_err(|e| e.of(self.operator.name.to_string()))
    }

    /// Calls the kernel that these keys lead to, whatever the arguments are.
    pub fn redispatch(&self, keys: KeySet, stack: &mut Stack) -> Result<()> {
        self.call_boxed(stack, Some(keys)).map_err(|e| e.of(self.operator.name.to_string()))
    }

    fn call_boxed(&self, stack: &mut Stack, keys: Option<KeySet>) -> Result<()> {
        let _nested = Nested::enter()?;
        let seen = self.seen();
        let seen = &*seen;
        let defined = defined(&seen.value)?;
        let given = stack.len();
        fill_defaults(&defined.schema, stack)?;
        let keys = keys.unwrap_or_else(|| localized(keys_of_stack(defined, stack)));
        let _span = observe::enter(&self.operator.name, |each| {
            stack.iter().flat_map(IValue::tensors).for_each(|t| each(t.geometry()));
        });
        let result = self.dispatch(seen, defined, keys, |object, frame, slot| {
            if slot.check || slot.within.is_some() {
                let first = checked_device(slot, |visit| stack.iter().flat_map(IValue::tensors).try_for_each(visit))?;
                return within(slot, first, || object.call_boxed(frame, stack));
            }
            object.call_boxed(frame, stack)
        });
        if result.is_err() {
            stack.truncate(given);
        }
        result
    }

    /// A handle for unboxed calls with these parameters and results, such as
    /// `typed::<(&AnyTensor, Scalar), AnyTensor>()`.
    ///
    /// # Errors
    ///
    /// [`DispatchError::SchemaMismatch`] if that is not what the schema declares.
    pub fn typed<A: ParameterList, O: KernelValue>(&self) -> Result<TypedHandle<A::Canonical, O::Returned>> {
        let inferred = Inferred::of::<A::Canonical, O::Returned>();
        let schema = self.schema()?;
        inferred.check(&schema).map_err(|e| e.of(self.operator.name.to_string()))?;
        Ok(TypedHandle { handle: self.clone(), schema, signature: PhantomData })
    }

    #[inline]
    fn dispatch<R>(
        &self,
        seen: &Seen<Table, Made>,
        defined: &Defined,
        keys: KeySet,
        call: impl FnOnce(&Object, &Frame<'_>, &Slot) -> Result<R>,
    ) -> Result<R> {
        let keys = keys & seen.value.mask;
        let key = keys.highest();
        let slot = &seen.value.slots[key.index()];
        let Some(kernel) = &slot.kernel else { return Err(self.no_kernel(&seen.value, key)) };
        let object = match kernel.shared_object() {
            Some(object) => object,
            None => made(seen, key.index(), kernel)?,
        };
        let silent = defined.flags.silent();
        let frame = Frame { handle: self, schema: &defined.schema, silent, keys, key };
        call(object, &frame, slot)
    }

    #[cold]
    fn no_kernel(&self, table: &Table, key: DispatchKey) -> Error {
        let serves = |slot: &Slot| slot.kernel.is_some() && slot.resolution.source != Source::Fallthrough;
        let have = DispatchKey::all().zip(&table.slots).filter(|(_, slot)| serves(slot));
        let names: Vec<_> = have.map(|(key, _)| self.dispatcher.name_of(key.into())).collect();
        let available = if names.is_empty() { "no key".to_owned() } else { names.join(", ") };
        let key = match key {
            DispatchKey::UNDEFINED => "a call without tensors (Undefined)".to_owned(),
            key => self.dispatcher.name_of(key.into()),
        };
        DispatchError::NoKernel { key, available }.into()
    }
}

/// A handle for unboxed calls.
#[derive(Debug)]
pub struct TypedHandle<A: CanonicalList, O> {
    handle: OperatorHandle,
    /// The schema that the signature was compared with.
    schema: Arc<Schema>,
    signature: PhantomData<fn(A) -> O>,
}

impl<A: CanonicalList, O: Returned> TypedHandle<A, O> {
    /// Calls the operator: the kernel is a function of these very parameters, or a boxed one.
    pub fn call(&self, values: A::Values<'_>) -> Result<O> {
        self.call_unnamed(values).map_err(|e| e.of(self.handle.operator.name.to_string()))
    }

    #[inline]
    fn call_unnamed(&self, values: A::Values<'_>) -> Result<O> {
        let _nested = Nested::enter()?;
        let handle = &self.handle;
        let seen = handle.seen();
        let seen = &*seen;
        let defined = defined(&seen.value)?;
        if !Arc::ptr_eq(&self.schema, &defined.schema) {
            redefined::<A, O>(&defined.schema)?;
        }
        let _span = observe::enter(&handle.operator.name, |each| A::tensors(&values, &mut |t| each(t.geometry())));
        let mut keys = A::keys(&values);
        if keys.is_empty() && defined.is_factory() {
            keys = keys_of_device(A::device(&values));
        }
        handle.dispatch(seen, defined, localized(keys), |object, frame, slot| {
            if slot.check || slot.within.is_some() {
                let first = checked_device(slot, |visit| {
                    let mut result = Ok(());
                    A::tensors(&values, &mut |t| {
                        if result.is_ok() {
                            result = visit(t)
                        }
                    });
                    result
                })?;
                return within(slot, first, || object.call::<A, O>(frame, values));
            }
            object.call::<A, O>(frame, values)
        })
    }

    /// The handle for boxed calls.
    pub fn handle(&self) -> &OperatorHandle {
        &self.handle
    }
}

/// Compares a signature with a schema that has been defined since.
#[cold]
fn redefined<A: CanonicalList, O: Returned>(schema: &Schema) -> Result<()> {
    Inferred::of::<A, O>().check(schema)
}

fn defined(table: &Table) -> Result<&Defined> {
    match &table.defined {
        Some(defined) => Ok(defined),
        None => Err(DispatchError::NotDefined.into()),
    }
}

/// The object of a kernel with state, made at the first call.
#[cold]
fn made<'a>(seen: &'a Seen<Table, Made>, place: usize, kernel: &super::kernel::KernelFunction) -> Result<&'a Object> {
    let none = || Error::from(DispatchError::NotDefined);
    let (_, cell) = seen.state.iter().find(|(p, _)| *p == place).ok_or_else(none)?;
    if cell.get().is_none()
        && let Some(object) = kernel.make()?
    {
        // Another thread may have been faster; then its object is the handle's.
        let _ = cell.set(object);
    }
    cell.get().ok_or_else(none)
}
