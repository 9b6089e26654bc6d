//! Where the expanded forms of a row go: into definitions, or beside those of another library. Owns no form.

use super::register::squeeze;
use monomorph_core::dispatch::{Backend, Definition, DispatchError, Flags, KernelFunction, Library};
use monomorph_core::schema::Schema;
use monomorph_core::{DeviceKind, Result};

/// Where the forms of a row go: a library that defines them, or one that adds kernels of another device to their definitions.
pub trait Entry {
    /// Enters one form with a kernel for each device.
    fn enter(
        &mut self,
        schema: Schema,
        completed_by: Option<&str>,
        kernels: Vec<(DeviceKind, KernelFunction)>,
    ) -> Result<()>;
}

impl Entry for Library {
    fn enter(
        &mut self,
        schema: Schema,
        completed_by: Option<&str>,
        kernels: Vec<(DeviceKind, KernelFunction)>,
    ) -> Result<()> {
        define(self, schema, completed_by, kernels)
    }
}

/// Which forms of a row a device registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forms {
    /// All that have a name.
    All,
    /// Those that dispatch does not complete: out= without functional and in-place.
    Out,
}

/// A library that adds kernels of a device to operators of the table, wherever those are defined.
pub struct Adding<'a> {
    library: &'a mut Library,
    forms: Forms,
}

impl<'a> Adding<'a> {
    /// Adds these forms of each row.
    pub fn new(library: &'a mut Library, forms: Forms) -> Adding<'a> {
        Adding { library, forms }
    }
}

impl Entry for Adding<'_> {
    fn enter(
        &mut self,
        schema: Schema,
        completed_by: Option<&str>,
        kernels: Vec<(DeviceKind, KernelFunction)>,
    ) -> Result<()> {
        if completed_by.is_some() && self.forms == Forms::Out {
            return Ok(());
        }
        let name = match schema.namespace() {
            Some(namespace) => format!("{namespace}::{}", schema.full_name()),
            None => schema.full_name().to_owned(),
        };
        for (kind, kernel) in kernels {
            self.library.kernel(&name, backend(kind)?, kernel.named("generic over devices"))?;
        }
        Ok(())
    }
}

fn backend(kind: DeviceKind) -> Result<Backend> {
    Ok(Backend::of(kind).ok_or(DispatchError::NoBackend { kind: kind.0 })?)
}

/// Defines one form of a row with a kernel for each device. Operators of the table enter devices and compare them themselves,
/// in every form.
fn define(
    library: &mut Library,
    schema: Schema,
    completed_by: Option<&str>,
    kernels: Vec<(DeviceKind, KernelFunction)>,
) -> Result<()> {
    let flags = Flags { device_guard: false, device_check: false, ..Flags::default() };
    let mut definition = Definition::new(schema).with_flags(flags);
    if let Some(out) = completed_by {
        definition = definition.completed_by(squeeze(out));
    }
    for (kind, kernel) in kernels {
        definition = definition.dispatch([backend(kind)?], kernel.named("in-tree"));
    }
    library.define(definition)
}
