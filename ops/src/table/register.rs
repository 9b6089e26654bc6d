//! Declarations in a library: a definition for each form that has a name, with its kernels. Owns which form gets
//! which kernel; kernels are made elsewhere.

use super::declaration::{Composition, Declaration, Declared, FormKind, RunsOn};
use monomorph_core::dispatch::{AliasKey, Backend, Definition, DispatchError, Flags, KernelFunction, Library};
use monomorph_core::{Device, DeviceKind, Result};

/// A declaration with what of it is composed of other operators.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What was declared.
    pub declaration: &'static Declaration,
    /// What is composed.
    pub composition: Composition,
}

impl Entry {
    /// That of a row.
    pub fn of<R: Declared>() -> Entry {
        Entry { declaration: R::DECLARATION, composition: R::composition() }
    }
}

/// The kernels of one device for some declarations, in their order.
#[derive(Debug)]
pub struct DeviceKernels {
    device: DeviceKind,
    rows: Vec<Vec<KernelFunction>>,
}

impl DeviceKernels {
    /// Kernels of the device `D`: for each declaration one for each form with a name, or none.
    pub fn new<D: Device>(rows: Vec<Vec<KernelFunction>>) -> DeviceKernels {
        DeviceKernels { device: D::KIND, rows }
    }

    /// The kernels of one row.
    pub fn of<R: RunsOn<D>, D: Device>() -> DeviceKernels {
        DeviceKernels::new::<D>(vec![R::kernels()])
    }
}

/// Which forms of a declaration a device registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forms {
    /// All that have a name.
    All,
    /// Those that dispatch does not complete: out= without functional and in-place.
    Out,
}

/// Defines every form of these declarations that has a name, with the kernels of some devices.
///
/// # Errors
///
/// A library of another namespace, or an operator that is defined already; then some are defined.
pub fn define(library: &mut Library, entries: &[Entry], devices: Vec<DeviceKernels>) -> Result<()> {
    let mut devices: Vec<_> = devices.into_iter().map(|d| (d.device, d.rows.into_iter())).collect();
    for entry in entries {
        let mut kernels: Vec<_> =
            devices.iter_mut().map(|(device, rows)| (*device, rows.next().unwrap_or_default().into_iter())).collect();
        define_forms(library, entry, &mut kernels)?;
        if let Composition::Otherwise(key, f, make) = entry.composition {
            otherwise(library, entry.declaration, key, |kind| make(kind, entry.declaration, f))?;
        }
    }
    Ok(())
}

fn define_forms(
    library: &mut Library,
    entry: &Entry,
    devices: &mut [(DeviceKind, std::vec::IntoIter<KernelFunction>)],
) -> Result<()> {
    let completing = entry.declaration.completing();
    // Kernels enter devices and compare them themselves, in every form.
    let (silent_view, silent_write) = (entry.declaration.silent_view, entry.declaration.silent_write);
    let flags = Flags { device_guard: false, device_check: false, silent_view, silent_write, ..Flags::default() };
    for (kind, schema) in entry.declaration.overloads() {
        let mut definition = Definition::parse(schema)?.with_flags(flags);
        match entry.composition {
            Composition::All(key, f, make) => {
                // The function is of the form that is declared; the others follow from it.
                let kind = if overload(schema) == entry.declaration.name { FormKind::Functional } else { kind };
                definition = definition.dispatch([key], make(kind, entry.declaration, f));
            }
            Composition::Each(operator, make) => {
                let kernel = make(kind, entry.declaration, operator);
                definition = definition.dispatch([AliasKey::CompositeExplicit], kernel);
            }
            Composition::Redirect(to) => {
                definition =
                    definition.dispatch([AliasKey::CompositeImplicit], redirect(entry.declaration, schema, to));
            }
            Composition::None | Composition::Otherwise(..) => {}
        }
        if let (FormKind::Functional | FormKind::Inplace, Some(out)) = (kind, completing) {
            definition = definition.completed_by(out);
        }
        for (device, kernels) in &mut *devices {
            if let Some(kernel) = kernels.next() {
                definition = definition.dispatch([backend(*device)?], kernel.named("in-tree"));
            }
        }
        library.define(definition)?;
    }
    Ok(())
}

/// Adds kernels of a device to operators that are defined elsewhere.
///
/// # Errors
///
/// A device without a dispatch key, or a kernel that is there already; then some are added.
pub fn add(library: &mut Library, entries: &[Entry], device: DeviceKernels, forms: Forms) -> Result<()> {
    let backend = backend(device.device)?;
    for (entry, kernels) in entries.iter().zip(device.rows) {
        let completing = entry.declaration.completing();
        for ((kind, schema), kernel) in entry.declaration.overloads().zip(kernels) {
            let completed = completing.is_some() && matches!(kind, FormKind::Functional | FormKind::Inplace);
            if forms == Forms::All || !completed {
                library.kernel(overload(schema), backend, kernel.named("generic over devices"))?;
            }
        }
    }
    Ok(())
}

fn overload(schema: &str) -> &str {
    schema.split('(').next().unwrap_or(schema)
}

fn backend(kind: DeviceKind) -> Result<Backend> {
    Ok(Backend::of(kind).ok_or(DispatchError::NoBackend { kind: kind.0 })?)
}

/// The kernel of a form that is another operator under another name: `multiply_.Tensor` is `mul_.Tensor`.
fn redirect(declaration: &Declaration, schema: &str, to: &str) -> KernelFunction {
    let base = declaration.name.split('.').next().map_or(0, str::len);
    let rest = overload(schema).get(base..).unwrap_or_default();
    KernelFunction::redirect(format!("{to}{rest}"))
}

/// Registers a composition for the devices that have no kernel of an operator, in the forms that follow from it.
fn otherwise(
    library: &mut Library,
    declaration: &Declaration,
    key: AliasKey,
    make: impl Fn(FormKind) -> KernelFunction,
) -> Result<()> {
    for (kind, schema) in declaration.overloads() {
        if matches!(kind, FormKind::Functional | FormKind::Inplace | FormKind::Out | FormKind::Autogen) {
            library.kernel(overload(schema), key, make(kind))?;
        }
    }
    Ok(())
}
