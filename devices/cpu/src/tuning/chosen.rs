//! Which tuning the kernels of a concrete formula are compiled with: its own if it has one, else the defaults. Decided
//! by name resolution, since a bound cannot ask whether a type lacks an implementation.
//!
//! An inherent item is preferred to one of a trait, and the inherent ones of [`Chosen<F>`] exist only where `F` is a
//! [`Tuning`]. So `<Chosen<AddFn>>::TUNING`, with [`ByDefault`] in scope, is the formula's own or the default. In code
//! that is generic over `F` it would always be the default: only macros that know the formula may ask.

use super::{Tuned, Tuning, TuningValues, Untuned};
use crate::isa::Level;
use crate::pointwise::{DomainKernels, KernelFn, Kernels};
use monomorph_core::DType;
use monomorph_ops::pointwise::{Here, PointwiseFn};
use std::marker::PhantomData;

/// Formula `F` with the tuning that its kernels are prebuilt with.
pub struct Chosen<F>(PhantomData<fn() -> F>);

impl<F: PointwiseFn + Tuning> Chosen<F> {
    /// The formula's own tuning.
    pub const TUNING: TuningValues = TuningValues::of::<F>();

    /// The kernel for one dtype at a level or below it, by the formula's own tuning.
    #[inline(always)]
    pub fn lookup(dtype: DType, level: Level) -> Option<KernelFn>
    where
        F::Domain: DomainKernels<F, F>,
    {
        <F as Kernels<Tuned>>::lookup(dtype, level)
    }
}

/// What [`Chosen`] gives of formulas that are no [`Tuning`].
pub trait ByDefault {
    /// The defaults.
    const TUNING: TuningValues = TuningValues::of::<Untuned>();

    /// The kernel for one dtype at a level or below it, untuned.
    fn lookup(dtype: DType, level: Level) -> Option<KernelFn>;
}

impl<F: PointwiseFn> ByDefault for Chosen<F>
where
    F::Domain: DomainKernels<F, Untuned>,
{
    #[inline(always)]
    fn lookup(dtype: DType, level: Level) -> Option<KernelFn> {
        <F as Kernels<Here>>::lookup(dtype, level)
    }
}
