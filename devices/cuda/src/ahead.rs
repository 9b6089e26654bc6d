//! Kernels ahead of the calls that need them: compiled now for a device, or listed for who compiles them elsewhere.
//! Owns which kernels an operator has.

use crate::compile::Kernel;
use crate::device::{Copies, identity};
use crate::execute::functor;
use crate::functor::{Form, Functor};
use crate::gpu::gpu;
use monomorph_core::{DType, Result};
use monomorph_ops::pointwise::{PointwiseFn, SymDomain};
use std::any::TypeId;
use std::sync::Arc;

/// The functors of a formula as calls name them, for who compiles ahead.
pub fn functors<F: PointwiseFn>() -> Vec<Functor>
where
    F::Domain: SymDomain<F>,
{
    DType::ALL.into_iter().filter_map(functor::<F>).collect()
}

/// The same of copies.
pub fn copy_functors() -> Vec<Functor> {
    DType::ALL.into_iter().filter_map(identity).collect()
}

/// A form of the translation unit with the kernels that cast, or with the others.
fn unit(casting: bool) -> Form {
    if casting { Form::Casting } else { Form::Vector }
}

/// Compiles the formula's kernels at these dtypes, for device `index`, in one translation unit, so that later calls
/// need not wait for the compiler; with `casting`, the kernel for operands of other dtypes, and without it those for
/// its own. Dtypes outside of the domain are left out.
///
/// # Errors
/// No such device, and what the compiler and the driver say.
pub fn compile<F: PointwiseFn>(index: u8, dtypes: &[DType], casting: bool) -> Result<()>
where
    F::Domain: SymDomain<F>,
{
    let compiled = gpu(index).and_then(|gpu| {
        let kernel = |&dtype: &DType| gpu.kernels.formulas.of((TypeId::of::<F>(), dtype), || functor::<F>(dtype));
        let kernels: Vec<Arc<Kernel>> = dtypes.iter().filter_map(kernel).collect();
        gpu.kernels.ahead(gpu.context(), &kernels, unit(casting))
    });
    compiled.map_err(|error| error.on(index))
}

/// The same for the kernels of copies: `casting` from other dtypes, or without.
///
/// # Errors
/// As for [`compile`].
pub fn compile_copies(index: u8, casting: bool) -> Result<()> {
    let compiled = gpu(index).and_then(|gpu| {
        let kernel = |dtype| gpu.kernels.formulas.of((TypeId::of::<Copies>(), dtype), || identity(dtype));
        let kernels: Vec<Arc<Kernel>> = DType::ALL.into_iter().filter_map(kernel).collect();
        gpu.kernels.ahead(gpu.context(), &kernels, unit(casting))
    });
    compiled.map_err(|error| error.on(index))
}
