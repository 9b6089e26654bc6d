//! Parts of the operator table, chosen at compile time: a program that registers three operators contains the kernels
//! of three, and a device of another crate gets what it can run. Owns the choosing; the rows are `monomorph_ops`'s.

use crate::{Cpu, Library, Meta, Result};
use monomorph_core::Device;
use monomorph_core::structured::Operator;
use monomorph_ops::Op;
use monomorph_ops::fill::Fills;
use monomorph_ops::pointwise::Prebuilt;
use monomorph_ops::reduce::Reduce;
use monomorph_ops::table::{Adding, Entry, Form};

pub use monomorph_ops::table::Forms;

/// The row of the table whose name has this [hash](name).
#[derive(Clone, Copy, Debug)]
pub struct Row<const NAME: u64>;

/// A row that is in the table.
#[diagnostic::on_unimplemented(
    message = "no operator of this name is in the table",
    note = "the name is that of the functional overload, such as `add.Tensor` or `relu`; it brings the in-place and out= forms along"
)]
pub trait InTable {
    /// Defines every form of the row that has a name, with kernels for the CPU and for meta tensors.
    ///
    /// # Errors
    ///
    /// A library that is not of the namespace `aten`, or an operator that is defined already.
    fn register(library: &mut Library) -> Result<()>;
}

/// The hash of an operator's name (64-bit FNV-1a). Two names of the table with one hash would not compile.
pub const fn name(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut i = 0;
    while i < bytes.len() {
        if !bytes[i].is_ascii_whitespace() {
            hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        }
        i += 1;
    }
    hash
}

macro_rules! register_family {
    ($family:ident $rows:ident $library:ident) => {
        $family::register($library)?;
    };
}

/// Defines every operator of the table in a library of the namespace `aten`, for a dispatcher of one's own; on an
/// error, none.
///
/// # Errors
///
/// Another namespace, or an operator that is defined already.
pub fn register_all(library: &mut Library) -> Result<()> {
    library.all_or_none(|library| {
        monomorph_ops::for_each_family! { register_family library }
        Ok(())
    })
}

/// A row of the table that a device can run: it executes the row's formula, fold or template.
#[diagnostic::on_unimplemented(
    message = "`{D}` does not run this row of the table",
    note = "a device runs a row by implementing `Executes` for its formula, fold or template; other rows are registered by \
        `register_memory`, or kernel by kernel with `Library::kernel`"
)]
pub trait RunsOn<D> {
    /// Adds the device's kernels for these forms of the row.
    ///
    /// # Errors
    ///
    /// A device kind without a dispatch key, or a kernel that is there already.
    fn register_on(library: &mut Library, forms: Forms) -> Result<()>;
}

macro_rules! select {
    ([$library:ident] $name:tt $args:tt -> $rets:tt : formula ($path:path) $forms:tt) => {
        monomorph_ops::__parsed! { structured { $library (Op<$path>) $name $args -> $rets : $forms } $args }
    };
    ([$library:ident] $name:tt $args:tt -> $rets:tt : fold ($path:path) $forms:tt) => {
        monomorph_ops::__parsed! { structured { $library (Reduce<$path, Prebuilt>) $name $args -> $rets : $forms } $args }
    };
    ([$library:ident] $name:tt $args:tt -> $rets:tt : template ($op:ty) $forms:tt) => {
        monomorph_ops::__parsed! { structured { $library ($op) $name $args -> $rets : $forms } $args }
    };
    ([$library:ident] $name:tt $args:tt -> $rets:tt : op ($op:ty) $forms:tt) => {
        monomorph_ops::__parsed! { structured { $library ($op) $name $args -> $rets : $forms } $args }
    };
    ([$library:ident] $name:tt $($row:tt)*) => {{
        fn define(library: &mut Library) -> Result<()> {
            monomorph_ops::__register_row! { [library Cpu Meta] $name $($row)* }
            Ok(())
        }

        in_table! { $library $name }
    }};
}

// A row that is a structured operator. The compiler checks its kernels once, for any operator and device, and for the
// row's own only that the operator takes these arguments.
macro_rules! structured {
    ({ $library:ident ($op:ty) $name:tt $args:tt -> $rets:tt : $forms:tt } $parsed:tt) => {{
        fn row<D: Device, O>() -> Vec<Form<'static>>
        where
            O: for<'t> Operator<'t, D, monomorph_ops::__arguments_type!('t $parsed)>,
        {
            monomorph_ops::__forms_of! { D $name $args -> $rets : op (O) $forms $parsed }
        }

        fn define(library: &mut Library) -> Result<()> {
            library.enter(vec![row::<Cpu, $op>(), row::<Meta, $op>()])?;
            monomorph_ops::__register_compositions! { [library] $name $args $forms }
            Ok(())
        }

        impl<D: Device> RunsOn<D> for Row<{ name(monomorph_ops::__row_name!($name)) }>
        where
            $op: for<'t> Operator<'t, D, monomorph_ops::__arguments_type!('t $parsed)>,
        {
            fn register_on(library: &mut Library, forms: Forms) -> Result<()> {
                Adding::new(library, forms).enter(vec![row::<D, $op>()])
            }
        }

        in_table! { $library $name }
    }};
}

// A function defines the row, because the compiler puts a method where its type is, and those of all rows would be in
// one unit.
macro_rules! in_table {
    ($library:ident $name:tt) => {
        impl InTable for Row<{ name(monomorph_ops::__row_name!($name)) }> {
            #[inline]
            fn register(library: &mut Library) -> Result<()> {
                define(library)
            }
        }

        define($library)?;
    };
}

// The rows of a family are in the function that defines them all, which calls each without looking for its
// implementation.
macro_rules! family {
    ($family:ident $rows:ident) => {
        mod $family {
            use super::*;

            #[allow(non_local_definitions, reason = "a row is one place")]
            pub(super) fn register(library: &mut Library) -> Result<()> {
                monomorph_ops::$rows! { __each_row select [library] }
                Ok(())
            }
        }
    };
}
monomorph_ops::for_each_family! { family }

macro_rules! memory_row {
    ([$library:ident $device:ident] $name:tt $args:tt -> $rets:tt : view $($row:tt)*) => {
        monomorph_ops::__register_row! { [$library $device] $name $args -> $rets : view $($row)* }
    };
    ([$library:ident $device:ident] $name:tt $args:tt -> $rets:tt : views $($row:tt)*) => {
        monomorph_ops::__register_row! { [$library $device] $name $args -> $rets : views $($row)* }
    };
    ([$library:ident $device:ident] $name:tt $args:tt -> $rets:tt : hand $($row:tt)*) => {
        monomorph_ops::__register_row! { [$library $device] $name $args -> $rets : hand $($row)* }
    };
    ([$library:ident $device:ident] $name:tt $args:tt -> $rets:tt : itself $($row:tt)*) => {
        monomorph_ops::__register_row! { [$library $device] $name $args -> $rets : itself $($row)* }
    };
    ([$library:ident $device:ident] $name:tt $args:tt -> $rets:tt : copying $($row:tt)*) => {
        monomorph_ops::__register_row! { [$library $device] $name $args -> $rets : copying $($row)* }
    };
    ([$library:ident $device:ident] $name:tt $args:tt -> $rets:tt : moving $($row:tt)*) => {
        monomorph_ops::__register_row! { [$library $device] $name $args -> $rets : moving $($row)* }
    };
    ($($other:tt)*) => {};
}

/// Adds kernels of the device `D` for all that takes memory and a copy: views and their copies, factories, `clone`,
/// `copy_`, `fill_`, `reshape`, `to`, `resize_` and their relatives; on an error, none. What is left are the operators
/// that compute.
///
/// # Errors
///
/// A device kind without a dispatch key, or a kernel that is there already.
pub fn register_memory<D: Fills>(library: &mut Library) -> Result<()> {
    library.all_or_none(|library| {
        let library = &mut Adding::new(library, Forms::All);
        monomorph_ops::memory_table! { __each_row memory_row [library D] }
        Ok(())
    })
}

/// Defines chosen operators of the table in a [`Library`](crate::Library) of the namespace `aten`: each with its
/// in-place and out= forms, on the CPU and on meta tensors. Only their kernels are linked. Gives a `Result<()>`; on an
/// error, nothing is registered.
///
/// ```
/// # fn main() -> monomorph::Result<()> {
/// let dispatcher = monomorph::Dispatcher::new();
/// let mut library = dispatcher.library("aten");
/// monomorph::register!(&mut library => "add.Tensor", "mul.Tensor", "relu")?;
/// assert!(dispatcher.find("add_.Tensor").is_ok() && dispatcher.find("exp").is_err());
/// # Ok(())
/// # }
/// ```
///
/// With a device, adds its kernels to operators that are defined elsewhere; it must
/// [execute](monomorph_core::structured::Executes) them. `out` leaves the functional and in-place forms to dispatch,
/// which completes them for a device of another crate:
///
/// ```ignore
/// monomorph::register!(&mut library, Arena => "add.Tensor", "mul.Tensor")?;
/// monomorph::register!(&mut library, Arena: out => "sum.dim_IntList")?;
/// ```
///
/// A name that is not in the table does not compile:
///
/// ```compile_fail,E0277
/// let dispatcher = monomorph::Dispatcher::new();
/// let mut library = dispatcher.library("aten");
/// let _ = monomorph::register!(&mut library => "ad.Tensor");
/// ```
#[macro_export]
macro_rules! register {
    ($library:expr, $device:ty => $($name:literal),+ $(,)?) => {
        $crate::register!(@on All $library, $device, $($name)+)
    };
    ($library:expr, $device:ty: out => $($name:literal),+ $(,)?) => {
        $crate::register!(@on Out $library, $device, $($name)+)
    };
    (@on $forms:ident $library:expr, $device:ty, $($name:literal)+) => {{
        let library: &mut $crate::Library = $library;
        let each = [$(<$crate::selection::Row<{ $crate::selection::name($name) }>
            as $crate::selection::RunsOn<$device>>::register_on),+];
        library.all_or_none(|library| {
            each.into_iter().try_for_each(|register| register(library, $crate::selection::Forms::$forms))
        })
    }};
    ($library:expr => $($name:literal),+ $(,)?) => {{
        let library: &mut $crate::Library = $library;
        let each = [$(<$crate::selection::Row<{ $crate::selection::name($name) }> as $crate::selection::InTable>::register),+];
        library.all_or_none(|library| each.into_iter().try_for_each(|register| register(library)))
    }};
}
