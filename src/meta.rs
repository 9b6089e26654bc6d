//! Shapes only: every functional form with a meta tensor as its result, for operands of any device; and whole functions
//! of tensors on shapes.

use crate::{DType, Device, Meta, Result, Sizes, Tensor};
pub use monomorph_ops::meta::*;

/// What has sizes and a dtype: a tensor of any device, or both as a pair.
pub trait Spec {
    /// A tensor without data that is like it.
    ///
    /// # Errors
    ///
    /// Negative sizes, or a tensor that no memory could hold.
    fn to_meta(&self) -> Result<Tensor<Meta>>;
}

impl<D: Device> Spec for Tensor<D> {
    fn to_meta(&self) -> Result<Tensor<Meta>> {
        Tensor::zeroed(self.dtype(), self.sizes(), self.strides(), 0)
    }
}

impl<S: Clone + Into<Sizes>> Spec for (S, DType) {
    fn to_meta(&self) -> Result<Tensor<Meta>> {
        monomorph_ops::factory::empty(&self.0.clone().into(), Some(self.1), None, None, None, None)
    }
}

/// Runs a function of tensors on shapes: `spec` says which sizes and dtype it is given, and nothing is computed.
///
/// ```
/// use monomorph::{meta, prelude::*};
///
/// fn standardise<D: Kernels>(x: &Tensor<D>) -> monomorph::Result<Tensor<D>> {
///     let mean = x.mean_with(1, Mean { keepdim: true, ..Default::default() })?;
///     (x - &mean)? / x.square()?.mean_with(1, Mean { keepdim: true, ..Default::default() })?.sqrt()?
/// }
///
/// # fn main() -> monomorph::Result<()> {
/// let dry = meta::run(standardise, &([64, 1024], F32))?;
/// assert_eq!((dry.sizes(), dry.dtype()), (&[64, 1024][..], F32));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Those of the function, and of a spec that no tensor has.
pub fn run<R>(function: impl FnOnce(&Tensor<Meta>) -> Result<R>, spec: &impl Spec) -> Result<R> {
    function(&spec.to_meta()?)
}
