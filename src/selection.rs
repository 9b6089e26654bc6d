//! Parts of the operator table, chosen at compile time: a program that registers three operators contains the kernels of three.
//! Owns the choosing; the rows are `monomorph_ops`'s.

use crate::{Cpu, Library, Meta, Result};

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

macro_rules! in_table {
    ([] $name:tt $($row:tt)*) => {
        impl InTable for Row<{ name(monomorph_ops::__row_name!($name)) }> {
            fn register(library: &mut Library) -> Result<()> {
                monomorph_ops::__register_row! { [library Cpu Meta] $name $($row)* }
                Ok(())
            }
        }
    };
}
monomorph_ops::op_table! { __each_row in_table [] }

macro_rules! register_row {
    ([$library:ident] $name:tt $($row:tt)*) => {
        <Row<{ name(monomorph_ops::__row_name!($name)) }> as InTable>::register($library)?;
    };
}

/// Defines every operator of the table in a library of the namespace `aten`, for a dispatcher of one's own.
///
/// # Errors
///
/// Another namespace, or an operator that is defined already.
pub fn register_all(library: &mut Library) -> Result<()> {
    monomorph_ops::op_table! { __each_row register_row [library] }
    Ok(())
}

/// Defines chosen operators of the table in a [`Library`](crate::Library) of the namespace `aten`: each with its in-place and out=
/// forms, on the CPU and on meta tensors. Only their kernels are linked. Gives a `Result<()>`.
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
/// A name that is not in the table does not compile:
///
/// ```compile_fail,E0277
/// let dispatcher = monomorph::Dispatcher::new();
/// let mut library = dispatcher.library("aten");
/// let _ = monomorph::register!(&mut library => "ad.Tensor");
/// ```
#[macro_export]
macro_rules! register {
    ($library:expr => $($name:literal),+ $(,)?) => {{
        let library: &mut $crate::Library = $library;
        let each = [$(<$crate::selection::Row<{ $crate::selection::name($name) }> as $crate::selection::InTable>::register),+];
        each.into_iter().try_for_each(|register| register(library))
    }};
}
