//! The kernels of rows that are composed of other operators: which key they are registered at, and the forms that
//! follow from the functional one. Owns the expansion; the functions are in [`composite`](crate::composite).

use super::schemas::squeeze;
use crate::composite::derived;
use monomorph_core::dispatch::{AliasKey, Calls, Definition, Flags, KernelFunction, Library};
use monomorph_core::schema::Schema;
use monomorph_core::{Result, Stack};

/// Defines one form of a composed row.
pub(super) fn define_composed(
    library: &mut Library,
    schema: Schema,
    key: AliasKey,
    kernel: KernelFunction,
) -> Result<()> {
    let flags = Flags { device_guard: false, device_check: false, ..Flags::default() };
    library.define(Definition::new(schema).with_flags(flags).dispatch([key], kernel))
}

/// The kernel of a form that is another operator under another name: `multiply_.Tensor` is `mul_.Tensor`.
pub fn another_name(name: &str, form: &str, to: &str) -> KernelFunction {
    let (name, form) = (squeeze(name), squeeze(form));
    let base = name.split('.').next().map_or(0, str::len);
    let rest = form.get(base..).unwrap_or_default();
    KernelFunction::redirect(format!("{to}{rest}"))
}

/// Registers a composition for the devices that have no kernel of a row, in the forms that follow from it.
pub(super) fn register_otherwise(
    library: &mut Library,
    key: AliasKey,
    name: &str,
    forms: &[(&str, &str)],
    functional: Composed,
) -> Result<()> {
    let name = squeeze(name);
    for (form, overload) in forms {
        let kernel = match (*form, overload.is_empty()) {
            ("functional", true) => derived::checked(functional),
            ("inplace", false) => derived::checked(derived::inplace(&name)),
            ("out", false) => derived::checked(derived::out(&name)),
            ("autoout", false) => derived::checked(derived::autoout(&name)),
            _ => continue,
        };
        let overload = if overload.is_empty() { name.clone() } else { squeeze(overload) };
        library.kernel(&overload, key, kernel)?;
    }
    Ok(())
}

/// A composed function as a row makes it.
pub type Composed = fn(&Calls<'_>, &mut Stack) -> Result<()>;

/// The kernel of a composed function.
pub fn composed_kernel(f: Composed) -> KernelFunction {
    KernelFunction::composed(f).named("in-tree composition")
}

/// One form of a row that is composed.
#[doc(hidden)]
#[macro_export]
macro_rules! __register_composed {
    (functional $library:ident $op:tt $args:tt $rets:tt $name:tt []) => {
        $crate::__register_composed! { @define functional_schema function $library $op $args $rets $name $name }
    };
    (inplace $($row:tt)*) => {
        $crate::__register_composed! { @define inplace_schema inplace $($row)* }
    };
    ($form:ident $($row:tt)*) => {
        $crate::__register_composed! { @define out_schema $form $($row)* }
    };
    (@define $schema:ident $form:ident $library:ident ($key:ident $($how:tt)*) ($($args:tt)*) ($($rets:tt)*) $name:tt [$($fname:tt)+]) => {
        let text = $crate::table::Text { name: stringify!($($fname)*), args: stringify!($($args)*), rets: stringify!($($rets)*) };
        let kernel = $crate::__composed! { $form ($key $($how)*) $name [$($fname)*] ($($args)*) };
        $crate::table::Entry::compose(
            $library, $crate::table::$schema(text), $crate::core::dispatch::AliasKey::$key, kernel)?;
    };
}

/// The kernel of one form of a row that is composed.
#[doc(hidden)]
#[macro_export]
macro_rules! __composed {
    ($form:ident ($key:ident => $to:ident) [$($name:tt)*] [$($fname:tt)*] $args:tt) => {
        $crate::table::another_name(stringify!($($name)*), stringify!($($fname)*), stringify!($to))
    };
    (function ($key:ident $($path:tt)*) $name:tt $fname:tt ($($args:tt)*)) => {
        $crate::table::composed_kernel(
            $crate::__schema_args! { @walk full no __composed_function {$($path)*} ([] {}) $($args)* , })
    };
    ($form:ident ($key:ident $($path:tt)*) [$($name:tt)*] $fname:tt $args:tt) => {
        $crate::composite::derived::kernel($crate::composite::derived::$form(&stringify!($($name)*).replace(' ', "")))
    };
}

/// A composed kernel: a closure that reads arguments off the stack by schema type, and hands them on with what it calls
/// other operators with. Arguments have the names of the row, so that one of another type is an error at the row.
#[doc(hidden)]
#[macro_export]
macro_rules! __composed_function {
    ({$($path:tt)*} [$((arg $ty:ident $n:ident))*] $params:tt) => {
        |calls: &$crate::core::dispatch::Calls<'_>, stack: &mut $crate::core::Stack| -> $crate::core::Result<()> {
            const COUNT: usize = <[&str]>::len(&[$(stringify!($n)),*]);
            let args = $crate::table::arguments(stack, COUNT)?;
            let mut reader = $crate::table::Reader::new(args, 0);
            $( let $n = reader.next::<$crate::__composed_marker!($ty)>(stringify!($n), stringify!($ty))?; )*
            let result = $($path)*(calls, $($n),*)?;
            $crate::table::finish(stack, COUNT, $crate::table::IntoResults::into_results(result));
            Ok(())
        }
    };
}

/// The marker type of a schema type in a composed function: tensors stay boxed, since numbers may stand for them.
#[doc(hidden)]
#[macro_export]
macro_rules! __composed_marker {
    (Tensor) => {
        $crate::composite::Whole
    };
    (OptTensor) => {
        $crate::composite::MaybeWhole
    };
    ($ty:ident) => {
        $crate::__marker!($ty)
    };
}

/// The compositions among the forms of a row.
#[doc(hidden)]
#[macro_export]
macro_rules! __register_otherwise {
    ($library:ident $name:tt $args:tt { $($form:ident $fn:tt $([$($fname:tt)*])? ;)* } $forms:tt) => {
        $( $crate::__register_otherwise! { @form $form $fn $library $name $args $forms } )*
    };
    (@form or_implicit $($rest:tt)*) => { $crate::__register_otherwise! { @found CompositeImplicit $($rest)* } };
    (@form or_explicit $($rest:tt)*) => { $crate::__register_otherwise! { @found CompositeExplicit $($rest)* } };
    (@form or_nonfunctional $($rest:tt)*) => {
        $crate::__register_otherwise! { @found CompositeExplicitNonFunctional $($rest)* }
    };
    (@form $($rest:tt)*) => {};
    (@found $key:ident ($($path:tt)*) $library:ident [$($name:tt)*] ($($args:tt)*)
        { $($form:ident $fn:tt $([$($fname:tt)*])? ;)* }) => {
        let forms = [$((stringify!($form), stringify!($($($fname)*)?))),*];
        let key = $crate::core::dispatch::AliasKey::$key;
        let function = $crate::__schema_args! { @walk full no __composed_function {$($path)*} ([] {}) $($args)* , };
        $crate::table::Entry::otherwise($library, key, stringify!($($name)*), &forms, function)?;
    };
}
