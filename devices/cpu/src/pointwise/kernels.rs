//! Where the kernels of a formula are compiled: in the crate that calls it, or in the crate that prebuilds it.

use super::classes::DomainKernels;
use super::kernel_fn::KernelFn;
use crate::isa::Level;
use crate::tuning::{Tuned, Tuning, TuningValues, Untuned};
use monomorph_core::DType;
use monomorph_ops::pointwise::{Here, PointwiseFn};

/// A formula whose kernels exist, compiled `W`here.
///
/// # Safety
///
/// `lookup` gives a kernel of this very formula for this very dtype, at a level that the host has, compiled with
/// `TUNING`.
#[diagnostic::on_unimplemented(
    message = "the CPU has no kernels of the formula `{Self}` compiled `{W}`",
    label = "no kernels of this formula",
    note = "`Pointwise<F, Here>` compiles them in the calling crate, for every formula that covers its domain",
    note = "`Pointwise<F, Tuned>` does so by the formula's own `impl Tuning for F` and `impl FastPaths<V> for F`",
    note = "`Pointwise<F, Prebuilt>` needs the formula in a list `prebuilt! {{ .. }}`"
)]
pub unsafe trait Kernels<W>: PointwiseFn {
    /// How the kernels are tuned, which tells what they take.
    const TUNING: TuningValues;

    /// The kernel for one dtype at a level, or at the best one below it that the host has; `None` outside of the
    /// domain, and for halves that are computed as float32.
    fn lookup(dtype: DType, level: Level) -> Option<KernelFn>;
}

// SAFETY: `DomainKernels::kernel` gives a kernel of this formula for this dtype, compiled with `Untuned`, and
// `Level::choose` asks the host for the level.
unsafe impl<F> Kernels<Here> for F
where
    F: PointwiseFn,
    F::Domain: DomainKernels<F, Untuned>,
{
    const TUNING: TuningValues = TuningValues::of::<Untuned>();

    fn lookup(dtype: DType, level: Level) -> Option<KernelFn> {
        <F::Domain as DomainKernels<F, Untuned>>::kernel(dtype, level)
    }
}

// SAFETY: `DomainKernels::kernel` gives a kernel of this formula for this dtype, compiled with the formula's own
// tuning, and `Level::choose` asks the host for the level.
unsafe impl<F> Kernels<Tuned> for F
where
    F: PointwiseFn + Tuning,
    F::Domain: DomainKernels<F, F>,
{
    const TUNING: TuningValues = TuningValues::of::<F>();

    fn lookup(dtype: DType, level: Level) -> Option<KernelFn> {
        <F::Domain as DomainKernels<F, F>>::kernel(dtype, level)
    }
}

/// Compiles the kernels of formulas in this crate: for each, one function that is not generic, so that crates that use
/// the formula contain none of its loops.
///
/// `prebuilt! { AddFn }` expands to
///
/// ```text
/// unsafe impl Kernels<Prebuilt> for AddFn {
///     const TUNING: TuningValues = <Chosen<AddFn>>::TUNING;      // of `impl Tuning for AddFn`, or the defaults
///     #[inline(never)] fn lookup(dtype: DType, level: Level) -> Option<KernelFn> {
///         <Chosen<AddFn>>::lookup(dtype, level)
///     }
/// }
/// ```
#[macro_export]
macro_rules! prebuilt {
    ($($formula:ty),* $(,)?) => {$(
        // SAFETY: `lookup` gives a kernel of this very formula, for this dtype, at a level that the host has, compiled
        // with the tuning of the same `Chosen`. Not inlined: an inlined lookup would name the kernels in the crates
        // downstream, which would then compile them.
        unsafe impl $crate::pointwise::Kernels<$crate::pointwise::Prebuilt> for $formula {
            const TUNING: $crate::tuning::TuningValues = {
                #[allow(unused_imports, reason = "a tuned formula has inherent items instead")]
                use $crate::tuning::ByDefault as _;
                <$crate::tuning::Chosen<$formula>>::TUNING
            };

            #[inline(never)]
            fn lookup(
                dtype: $crate::pointwise::DType,
                level: $crate::isa::Level,
            ) -> ::core::option::Option<$crate::pointwise::KernelFn> {
                #[allow(unused_imports, reason = "a tuned formula has inherent items instead")]
                use $crate::tuning::ByDefault as _;
                <$crate::tuning::Chosen<$formula>>::lookup(dtype, level)
            }
        }
    )*};
}

/// The kernels of every in-tree formula, compiled in this crate: a module for each family.
mod table {
    macro_rules! prebuild {
        ($formula:ty, $name:literal) => {
            crate::prebuilt! { $formula }
        };
    }
    monomorph_ops::for_each_kernel! { modules Pointwise prebuild }
}
