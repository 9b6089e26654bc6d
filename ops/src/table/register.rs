//! The entries of rows in a library: one definition for each form that has a name, with its kernels. Owns which form
//! gets which schema and kernel; both are made elsewhere (`schemas.rs`, `kernels.rs`, `composed.rs`).

use super::composed::{Composed, define_composed, register_otherwise};
use super::schemas::{Text, squeeze};
use monomorph_core::dispatch::{AliasKey, Backend, Definition, DispatchError, Flags, KernelFunction, Library};
use monomorph_core::schema::Schema;
use monomorph_core::{Device, DeviceKind, Result};

/// One form of a row with the kernel of one device.
pub struct Form<'a> {
    text: Text<'a>,
    schema: fn(Text<'_>) -> Schema,
    completed_by: Option<&'a str>,
    device: DeviceKind,
    kernel: KernelFunction,
}

impl<'a> Form<'a> {
    /// A form whose schema `schema` makes of the text of the row; `completed_by` is the name of the form that completes
    /// it.
    pub fn new<D: Device>(
        text: Text<'a>,
        schema: fn(Text<'_>) -> Schema,
        completed_by: Option<&'a str>,
        kernel: KernelFunction,
    ) -> Form<'a> {
        Form { text, schema, completed_by, device: D::KIND, kernel }
    }
}

/// Where the forms of a row go: a library that defines them, or one that adds kernels of another device to their
/// definitions.
pub trait Entry {
    /// Enters a row with the kernels of each device: for all devices the same forms, in the same order.
    fn enter(&mut self, devices: Vec<Vec<Form<'_>>>) -> Result<()>;

    /// Enters one form that is composed of other operators: a kernel for all devices.
    fn compose(&mut self, schema: Schema, key: AliasKey, kernel: KernelFunction) -> Result<()>;

    /// Enters the compositions of a row for devices without kernels of it.
    fn otherwise(&mut self, key: AliasKey, name: &str, forms: &[(&str, &str)], functional: Composed) -> Result<()>;
}

impl Entry for Library {
    fn enter(&mut self, devices: Vec<Vec<Form<'_>>>) -> Result<()> {
        let mut devices: Vec<_> = devices.into_iter().map(Vec::into_iter).collect();
        loop {
            let mut form = devices.iter_mut().filter_map(Iterator::next);
            let Some(first) = form.next() else { return Ok(()) };
            define(self, first, form)?;
        }
    }

    fn compose(&mut self, schema: Schema, key: AliasKey, kernel: KernelFunction) -> Result<()> {
        define_composed(self, schema, key, kernel)
    }

    fn otherwise(&mut self, key: AliasKey, name: &str, forms: &[(&str, &str)], functional: Composed) -> Result<()> {
        register_otherwise(self, key, name, forms, functional)
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
    fn enter(&mut self, devices: Vec<Vec<Form<'_>>>) -> Result<()> {
        let wanted = |form: &Form<'_>| form.completed_by.is_none() || self.forms == Forms::All;
        for form in devices.into_iter().flatten().filter(wanted) {
            let kernel = form.kernel.named("generic over devices");
            self.library.kernel(&squeeze(form.text.name), backend(form.device)?, kernel)?;
        }
        Ok(())
    }

    /// Nothing: it is defined for all devices.
    fn compose(&mut self, _: Schema, _: AliasKey, _: KernelFunction) -> Result<()> {
        Ok(())
    }

    /// Nothing, as above.
    fn otherwise(&mut self, _: AliasKey, _: &str, _: &[(&str, &str)], _: Composed) -> Result<()> {
        Ok(())
    }
}

fn backend(kind: DeviceKind) -> Result<Backend> {
    Ok(Backend::of(kind).ok_or(DispatchError::NoBackend { kind: kind.0 })?)
}

/// Defines one form of a row with a kernel for each device. Operators of the table enter devices and compare them
/// themselves, in every form.
fn define<'a>(library: &mut Library, first: Form<'a>, others: impl Iterator<Item = Form<'a>>) -> Result<()> {
    let flags = Flags { device_guard: false, device_check: false, ..Flags::default() };
    let mut definition = Definition::new((first.schema)(first.text)).with_flags(flags);
    if let Some(out) = first.completed_by {
        definition = definition.completed_by(squeeze(out));
    }
    for form in std::iter::once(first).chain(others) {
        definition = definition.dispatch([backend(form.device)?], form.kernel.named("in-tree"));
    }
    library.define(definition)
}

/// The out= form that completes the others of a structured row.
pub fn out_form<'a>(kind: &str, forms: &[(&str, &'a str)]) -> Option<&'a str> {
    let out = forms.iter().find(|(form, name)| *form == "out" && !name.is_empty());
    out.filter(|_| kind == "op").map(|(_, name)| *name)
}

/// The forms of one row that have a name of their own in the table, entered in a library with one kernel for each
/// device. An error leaves the enclosing function.
#[doc(hidden)]
#[macro_export]
macro_rules! __register_row {
    ($ctx:tt $name:tt $args:tt -> $rets:tt : $kind:ident $op:tt $forms:tt) => {
        $crate::__row_forms! { {__register_forms} {$ctx $name $args -> $rets} $kind $op $forms }
        $crate::__register_compositions! { $ctx $name $args $forms }
    };
}

/// What a row composes for the devices that have no kernel of it, entered in a library.
#[doc(hidden)]
#[macro_export]
macro_rules! __register_compositions {
    ([$library:ident $($device:ident)*] $name:tt $args:tt $forms:tt) => {
        $crate::__register_otherwise! { $library $name $args $forms $forms }
    };
}

/// The forms once the operator is known.
#[doc(hidden)]
#[macro_export]
macro_rules! __register_forms {
    ([$library:ident $($device:ident)*] $name:tt $args:tt -> $rets:tt : composed $op:tt
        { $($form:ident $fn:tt $([$($fname:tt)*])? ;)* }) => {
        $( $crate::__register_composed! { $form $library $op $args $rets $name [$($($fname)*)?] } )*
    };
    ([$library:ident $($device:ident)*] $name:tt $args:tt -> $rets:tt : $kind:ident $op:tt $forms:tt) => {
        $crate::table::Entry::enter($library, vec![
            $($crate::__forms_on! { $device $name $args -> $rets : $kind $op $forms }),*
        ])?;
    };
}

/// The forms of one row with the kernels of one device, a `Vec<Form>`.
#[doc(hidden)]
#[macro_export]
macro_rules! __forms_on {
    ($device:ident $name:tt ($($args:tt)*) $($row:tt)*) => {
        $crate::__schema_args! { @walk full no __forms_on_parsed {$device $name ($($args)*) $($row)*} ([] {}) $($args)* , }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __forms_on_parsed {
    ({$($row:tt)*} $parsed:tt $params:tt) => { $crate::__forms_of! { $($row)* $parsed } };
}

/// The same once the arguments are parsed.
#[doc(hidden)]
#[macro_export]
macro_rules! __forms_of {
    ($device:ident $name:tt $args:tt -> $rets:tt : $kind:ident $op:tt
        { $($form:ident $fn:tt $([$($fname:tt)*])? ;)* } $parsed:tt) => {{
        let mut forms = Vec::new();
        let out: Option<&str> =
            $crate::table::out_form(stringify!($kind), &[$((stringify!($form), stringify!($($($fname)*)?))),*]);
        $( $crate::__form_of! { $form [forms out $device] $kind $op $args $parsed $rets $name [$($($fname)*)?] } )*
        forms
    }};
}

/// One form of one row, behind those that are there.
#[doc(hidden)]
#[macro_export]
macro_rules! __form_of {
    // Not forms: kernels for the devices that have none, see `__register_otherwise!`.
    (or_implicit $($rest:tt)*) => {};
    (or_explicit $($rest:tt)*) => {};
    (or_nonfunctional $($rest:tt)*) => {};
    (functional $ctx:tt $kind:ident $op:tt $args:tt $parsed:tt $rets:tt $name:tt []) => {
        $crate::__form_of! { @of functional_schema functional $ctx $kind $op $args $parsed $rets $name }
    };
    // A typed form under another name (`functional_full`): the boxed form is that of the short one.
    ($form:ident $ctx:tt $kind:ident $op:tt $args:tt $parsed:tt $rets:tt $name:tt []) => {};
    (inplace $ctx:tt $kind:ident $op:tt $args:tt $parsed:tt $rets:tt $name:tt $fname:tt) => {
        $crate::__form_of! { @of inplace_schema inplace $ctx $kind $op $args $parsed $rets $fname }
    };
    (copy $ctx:tt $kind:ident $op:tt $args:tt $parsed:tt $rets:tt $name:tt $fname:tt) => {
        $crate::__form_of! { @of copy_schema copy $ctx $kind $op $args $parsed $rets $fname }
    };
    (copyout $ctx:tt views $op:tt $args:tt $parsed:tt $rets:tt $name:tt $fname:tt) => {
        $crate::__form_of! { @of copy_outs_schema copyout $ctx views $op $args $parsed $rets $fname }
    };
    (copyinto $ctx:tt views $op:tt $args:tt $parsed:tt $rets:tt $name:tt $fname:tt) => {
        $crate::__form_of! { @of copy_outs_schema copyinto $ctx views $op $args $parsed $rets $fname }
    };
    (copyout $ctx:tt $kind:ident $op:tt $args:tt $parsed:tt $rets:tt $name:tt $fname:tt) => {
        $crate::__form_of! { @of copy_out_schema copyout $ctx $kind $op $args $parsed $rets $fname }
    };
    ($form:ident $ctx:tt $kind:ident $op:tt $args:tt $parsed:tt $rets:tt $name:tt $fname:tt) => {
        $crate::__form_of! { @of out_schema $form $ctx $kind $op $args $parsed $rets $fname }
    };
    (@of $schema:ident $form:ident [$forms:ident $out:ident $device:ident] $kind:ident $op:tt ($($args:tt)*) $parsed:tt ($($rets:tt)*)
        [$($name:tt)*]) => {
        $forms.push($crate::table::Form::new::<$device>(
            $crate::table::Text { name: stringify!($($name)*), args: stringify!($($args)*), rets: stringify!($($rets)*) },
            $crate::table::$schema,
            $crate::__completed_by!($form $out),
            $crate::__two_doors! { $form $kind $device $op ($($rets)*) $parsed },
        ));
    };
}

/// The forms that an out= form completes.
#[doc(hidden)]
#[macro_export]
macro_rules! __completed_by {
    (functional $out:ident) => {
        $out
    };
    (inplace $out:ident) => {
        $out
    };
    ($form:ident $out:ident) => {
        None
    };
}
