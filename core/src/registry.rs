//! Operators by name: schemas with boxed kernels per device kind, and the boxed call. Dispatch keys beyond the device, and
//! registration at run time, have their place in [`Entry`] and are not here yet.

use crate::annotations::checked_call;
use crate::defaults::default_value;
use crate::device::{DeviceId, DeviceKind};
use crate::error::{Error, ErrorKind, Result};
use crate::ivalue::IValue;
use crate::schema::{Schema, near};
use crate::tensor::AnyTensor;
use std::collections::HashMap;

/// The arguments of a boxed call, in schema order; afterwards its results.
pub type Stack = Vec<IValue>;

/// A kernel in boxed form: arguments in schema order, results returned. On an error the arguments are as they were.
pub type BoxedFn = fn(&mut [IValue]) -> Result<Vec<IValue>>;

/// One overload: its schema and a kernel for each device kind that has one.
#[derive(Debug)]
pub struct Entry {
    schema: Schema,
    kernels: Vec<(DeviceKind, BoxedFn)>,
}

impl Entry {
    /// An overload without kernels.
    pub fn new(schema: Schema) -> Entry {
        Entry { schema, kernels: Vec::new() }
    }

    /// The same with a kernel for `kind`.
    #[must_use]
    pub fn with(mut self, kind: DeviceKind, kernel: BoxedFn) -> Entry {
        self.kernels.retain(|(k, _)| *k != kind);
        self.kernels.push((kind, kernel));
        self
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The device kinds that have a kernel.
    pub fn kinds(&self) -> impl Iterator<Item = DeviceKind> + '_ {
        self.kernels.iter().map(|(kind, _)| *kind)
    }

    /// Calls the overload: takes its arguments off the stack and leaves its results. Trailing arguments that have a default
    /// may be missing. On an error the stack is as it was.
    pub fn call(&self, stack: &mut Stack) -> Result<()> {
        let name = self.schema.full_name();
        self.call_unnamed(stack).map_err(|e| e.of(name.to_owned()))
    }

    fn call_unnamed(&self, stack: &mut Stack) -> Result<()> {
        let given = stack.len();
        self.fill_defaults(stack)?;
        let result = self.kernel(stack).and_then(|kernel| checked_call(&self.schema, stack, kernel));
        match result {
            Ok(returns) => {
                *stack = returns;
                Ok(())
            }
            Err(error) => {
                stack.truncate(given);
                Err(error)
            }
        }
    }

    fn fill_defaults(&self, stack: &mut Stack) -> Result<()> {
        let given = stack.len();
        let want = self.schema.args().len();
        let count_error =
            || -> Error { ErrorKind::ArgumentCount { got: given, want, schema: self.schema.to_string() }.into() };
        if given > want {
            return Err(count_error());
        }
        for arg in self.schema.args().skip(given) {
            match default_value(arg) {
                Some(value) => stack.push(value),
                None => {
                    stack.truncate(given);
                    return Err(count_error());
                }
            }
        }
        Ok(())
    }

    /// The kernel for the device of the arguments: meta if any tensor is, else the first tensor's, else the `device`
    /// argument's, else the CPU's.
    fn kernel(&self, stack: &[IValue]) -> Result<BoxedFn> {
        let mut device: Option<DeviceId> = None;
        for t in stack.iter().flat_map(IValue::tensors).map(AnyTensor::device) {
            device = if t.is_meta() { Some(t) } else { device.or(Some(t)) };
        }
        let named = || stack.iter().find_map(|v| if let IValue::Device(d) = v { Some(*d) } else { None });
        let device = device.or_else(named).unwrap_or(DeviceId::CPU);
        match self.kernels.iter().find(|(kind, _)| *kind == device.kind) {
            Some((_, kernel)) => Ok(*kernel),
            None => {
                let arg = "device";
                Err(ErrorKind::UnknownDevice {
                    arg,
                    got: device.to_string(),
                    accepted: "the devices that have a kernel",
                }
                .into())
            }
        }
    }
}

/// Operators by name.
#[derive(Debug, Default)]
pub struct Registry {
    entries: HashMap<Box<str>, Entry>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Adds or replaces an overload. It is looked up by name and overload, with the namespace in front if its schema has one
    /// other than `aten`.
    pub fn insert(&mut self, entry: Entry) {
        let full = entry.schema.full_name();
        let key = match entry.schema.namespace() {
            None | Some("aten") => full.into(),
            Some(namespace) => format!("{namespace}::{full}").into_boxed_str(),
        };
        self.entries.insert(key, entry);
    }

    /// The overload with this name, such as `add.Tensor`, `relu` or `my::axpy`. An `aten::` in front is accepted.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownOperator`] with near names.
    pub fn get(&self, name: &str) -> Result<&Entry> {
        let bare = name.strip_prefix("aten::").unwrap_or(name);
        self.entries.get(bare).ok_or_else(|| self.unknown(bare))
    }

    #[cold]
    fn unknown(&self, name: &str) -> Error {
        let near = near::near_names(name, self.entries.keys().map(|k| &**k));
        ErrorKind::UnknownOperator { name: name.to_owned(), near: near.into_iter().map(str::to_owned).collect() }.into()
    }

    /// Calls an overload by name.
    pub fn call(&self, name: &str, stack: &mut Stack) -> Result<()> {
        self.get(name)?.call(stack)
    }

    /// Every overload, sorted by the name that it is looked up by.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|(name, _)| *name);
        entries.into_iter().map(|(_, entry)| entry)
    }
}
