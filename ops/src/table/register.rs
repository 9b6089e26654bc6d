//! The entries of rows in a library: one definition for each form that has a name, with its kernels. Owns which form gets which schema
//! and kernel; both are made elsewhere (`schemas.rs`, `kernels.rs`, `composed.rs`).

use super::composed::{Composed, define_composed, register_otherwise};
use super::schemas::squeeze;
use monomorph_core::dispatch::{AliasKey, Backend, Definition, DispatchError, Flags, KernelFunction, Library};
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

    /// Enters one form that is composed of other operators: a kernel for all devices.
    fn compose(&mut self, schema: Schema, key: AliasKey, kernel: KernelFunction) -> Result<()>;

    /// Enters the compositions of a row for devices without kernels of it.
    fn otherwise(&mut self, key: AliasKey, name: &str, forms: &[(&str, &str)], functional: Composed) -> Result<()>;
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

/// The out= form that completes the others of a structured row.
pub fn out_form<'a>(kind: &str, forms: &[(&str, &'a str)]) -> Option<&'a str> {
    let out = forms.iter().find(|(form, name)| *form == "out" && !name.is_empty());
    out.filter(|_| kind == "op").map(|(_, name)| *name)
}

/// Expands the table into definitions of a library, with one kernel per device named. An error leaves the enclosing function.
#[doc(hidden)]
#[macro_export]
macro_rules! __register {
    ($ctx:tt $({ $($row:tt)* })*) => { $( $crate::__register_row! { $ctx $($row)* } )* };
}

/// The forms of one row that have a name of their own in the table.
#[doc(hidden)]
#[macro_export]
macro_rules! __register_row {
    ($ctx:tt $name:tt $args:tt -> $rets:tt : $kind:ident $op:tt $forms:tt) => {
        $crate::__row_forms! { {__register_forms} {$ctx $name $args -> $rets} $kind $op $forms }
        $crate::__register_otherwise! { $ctx $name $args $forms $forms }
    };
}

/// The same once the operator is known.
#[doc(hidden)]
#[macro_export]
macro_rules! __register_forms {
    ([$library:ident $($device:ident)*] $name:tt $args:tt -> $rets:tt : $kind:ident $op:tt
        { $($form:ident $fn:tt $([$($fname:tt)*])? ;)* }) => {
        let out: Option<&str> =
            $crate::table::out_form(stringify!($kind), &[$((stringify!($form), stringify!($($($fname)*)?))),*]);
        $crate::__register_forms! { @each [$library out $($device)*] $name $args $rets $kind $op
            $([$form [$($($fname)*)?]])* }
    };
    (@each $ctx:tt $name:tt $args:tt $rets:tt $kind:ident $op:tt $([$form:ident $fname:tt])*) => {
        $( $crate::__register_form! { $form $ctx $kind $op $args $rets $name $fname } )*
    };
}

/// One form of one row.
#[doc(hidden)]
#[macro_export]
macro_rules! __register_form {
    // Not forms: kernels for the devices that have none, see `__register_otherwise!`.
    (or_implicit $($rest:tt)*) => {};
    (or_explicit $($rest:tt)*) => {};
    (or_nonfunctional $($rest:tt)*) => {};
    ($form:ident $ctx:tt composed $($rest:tt)*) => {
        $crate::__register_composed! { $form $ctx $($rest)* }
    };
    (functional $ctx:tt $kind:ident $op:tt ($($args:tt)*) ($($rets:tt)*) [$($name:tt)*] []) => {
        $crate::__schema_args! { @walk full no __boxed
            { functional $kind $ctx $op ($($rets)*)
              { $crate::table::functional_schema(stringify!($($name)*), stringify!($($args)*), stringify!($($rets)*)) } }
            ([] {}) $($args)* , }
    };
    (inplace $ctx:tt $kind:ident $op:tt ($($args:tt)*) $rets:tt $name:tt [$($fname:tt)*]) => {
        $crate::__schema_args! { @walk full no __boxed
            { inplace $kind $ctx $op $rets
              { $crate::table::inplace_schema(stringify!($($fname)*), stringify!($($args)*)) } }
            ([] {}) $($args)* , }
    };
    (copy $ctx:tt $kind:ident $op:tt ($($args:tt)*) ($($rets:tt)*) $name:tt [$($fname:tt)*]) => {
        $crate::__schema_args! { @walk full no __boxed
            { copy $kind $ctx $op ($($rets)*)
              { $crate::table::copy_schema(stringify!($($fname)*), stringify!($($args)*), stringify!($($rets)*)) } }
            ([] {}) $($args)* , }
    };
    (copyout $ctx:tt views $op:tt $args:tt $rets:tt $name:tt $fname:tt) => {
        $crate::__register_form! { @outs copyout $ctx $op $args $rets $fname }
    };
    (copyinto $ctx:tt views $op:tt $args:tt $rets:tt $name:tt $fname:tt) => {
        $crate::__register_form! { @outs copyinto $ctx $op $args $rets $fname }
    };
    (@outs $form:ident $ctx:tt $op:tt ($($args:tt)*) $rets:tt [$($fname:tt)*]) => {
        $crate::__schema_args! { @walk full no __boxed
            { $form views $ctx $op $rets
              { $crate::table::copy_outs_schema(stringify!($($fname)*), stringify!($($args)*)) } }
            ([] {}) $($args)* , }
    };
    (copyout $ctx:tt $kind:ident $op:tt ($($args:tt)*) $rets:tt $name:tt [$($fname:tt)*]) => {
        $crate::__schema_args! { @walk full no __boxed
            { copyout $kind $ctx $op $rets
              { $crate::table::copy_out_schema(stringify!($($fname)*), stringify!($($args)*)) } }
            ([] {}) $($args)* , }
    };
    ($form:ident $ctx:tt $kind:ident $op:tt ($($args:tt)*) ($($rets:tt)*) $name:tt [$($fname:tt)+]) => {
        $crate::__schema_args! { @walk full no __boxed
            { $form $kind $ctx $op ($($rets)*)
              { $crate::table::out_schema(stringify!($($fname)*), stringify!($($args)*), stringify!($($rets)*)) } }
            ([] {}) $($args)* , }
    };
    // A typed form under another name (`functional_full`): the boxed form is that of the short one.
    ($form:ident $ctx:tt $kind:ident $op:tt $args:tt $rets:tt $name:tt []) => {};
}

/// A boxed kernel for each device.
#[doc(hidden)]
#[macro_export]
macro_rules! __boxed {
    ({ $form:ident $kind:ident [$library:ident $out:ident $($device:ident)*] $op:tt $rets:tt { $schema:expr } } $all:tt $params:tt) => {
        $crate::table::Entry::enter($library, $schema, $crate::__completed_by!($form $out), vec![
            $((<$device as $crate::core::Device>::KIND, $crate::__two_doors! { $form $kind $device $op $rets $all })),*
        ])?;
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
