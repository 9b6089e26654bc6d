//! Parts of the operator table, chosen at compile time: a program that registers three operators contains the kernels
//! of three, and a device of another crate gets what it can run. Owns the choosing; the rows are `monomorph_ops`'s.

use crate::{Cpu, Library, Meta, Result};
use monomorph_core::Device;
use monomorph_core::dispatch::KernelFunction;
use monomorph_ops::fill::Fills;
use monomorph_ops::table::{self, Declared, DeviceKernels, Entry, RunsOn};

pub use monomorph_ops::table::{Forms, Row, name};

/// Defines every operator of the table in a library of the namespace `aten`, for a dispatcher of one's own; on an
/// error, none.
///
/// # Errors
///
/// Another namespace, or an operator that is defined already.
pub fn register_all(library: &mut Library) -> Result<()> {
    library.all_or_none(|library| {
        table::define(library, &monomorph_ops::entries(), vec![all_kernels::<Cpu>(), all_kernels::<Meta>()])
    })
}

/// Defines the operators that a module declares for a namespace of their own, all or none.
macro_rules! register_family {
    ($($module:ident)::+, $library:ident) => {{
        use $($module)::+::native;
        let mut kernels = Vec::new();
        crate::__operator_kernels! { kernels Cpu, Meta }
        $library.all_or_none(|library| table::define(library, &native::entries(), kernels))
    }};
}

/// Defines PyTorch's operators `quantized_decomposed::*` in a library of that namespace; on an error, none.
///
/// # Errors
///
/// Another namespace, or an operator that is defined already.
pub fn register_quantized(library: &mut Library) -> Result<()> {
    library.all_or_none(|library| {
        register_family!(monomorph_ops::composite::quantized, library)?;
        register_family!(monomorph_ops::composite::quantized_parts, library)
    })
}

/// Defines operators `transformers::*`, which programs exported from models of that Python library call, in a library
/// of that namespace; on an error, none.
///
/// # Errors
///
/// Another namespace, or an operator that is defined already.
pub fn register_transformers(library: &mut Library) -> Result<()> {
    register_family!(monomorph_ops::contract::experts, library)
}

/// Every kernel of a device: of each operator those of its kind.
fn all_kernels<D: monomorph_ops::AllKernels + Fills>() -> DeviceKernels {
    let either = |(structured, functions): (Vec<KernelFunction>, Vec<KernelFunction>)| {
        if structured.is_empty() { functions } else { structured }
    };
    let rows = monomorph_ops::structured_kernels::<D>().into_iter().zip(monomorph_ops::function_kernels::<D>());
    DeviceKernels::new::<D>(rows.map(either).collect())
}

/// Defines every form of an operator that has a name, with kernels for the CPU and for meta tensors.
///
/// # Errors
///
/// A library that is not of the namespace `aten`, or an operator that is defined already.
pub fn define<R: Declared + RunsOn<Cpu> + RunsOn<Meta>>(library: &mut Library) -> Result<()> {
    table::define(library, &[Entry::of::<R>()], vec![DeviceKernels::of::<R, Cpu>(), DeviceKernels::of::<R, Meta>()])
}

/// Adds a device's kernels for these forms of an operator.
///
/// # Errors
///
/// A device kind without a dispatch key, or a kernel that is there already.
pub fn add<R: RunsOn<D>, D: Device>(library: &mut Library, forms: Forms) -> Result<()> {
    table::add(library, &[Entry::of::<R>()], DeviceKernels::of::<R, D>(), forms)
}

/// Adds kernels of the device `D` for all that takes memory and a copy: views and their copies, factories, `clone`,
/// `copy_`, `fill_`, `reshape`, `to`, `resize_` and their relatives; on an error, none. What is left are the operators
/// that compute.
///
/// # Errors
///
/// A device kind without a dispatch key, or a kernel that is there already.
pub fn register_memory<D: Fills>(library: &mut Library) -> Result<()> {
    let kernels = DeviceKernels::new::<D>(monomorph_ops::memory_kernels::<D>());
    library.all_or_none(|library| table::add(library, &monomorph_ops::memory_entries(), kernels, Forms::All))
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
        let each = [$($crate::selection::add::<$crate::selection::Row<{ $crate::selection::name($name) }>, $device>),+];
        library.all_or_none(|library| {
            each.into_iter().try_for_each(|add| add(library, $crate::selection::Forms::$forms))
        })
    }};
    ($library:expr => $($name:literal),+ $(,)?) => {{
        let library: &mut $crate::Library = $library;
        let each = [$($crate::selection::define::<$crate::selection::Row<{ $crate::selection::name($name) }>>),+];
        library.all_or_none(|library| each.into_iter().try_for_each(|define| define(library)))
    }};
}
