//! Where the kernels of a formula are compiled: in the crate that calls it, or in the crate that prebuilds it.

use super::classes::DomainKernels;
use super::kernel_fn::KernelFn;
use crate::isa::Level;
use monomorph_core::DType;
use monomorph_ops::pointwise::{Here, PointwiseFn};

/// A formula whose kernels exist, compiled `W`here.
///
/// # Safety
///
/// `lookup` gives a kernel of this very formula for this very dtype, at a level that the host has.
#[diagnostic::on_unimplemented(
    message = "the CPU has no kernels of the formula `{Self}` compiled `{W}`",
    label = "no kernels of this formula",
    note = "`Pointwise<F, Here>` compiles them in the calling crate, for every formula that covers its domain",
    note = "`Pointwise<F, Prebuilt>` needs the formula in a list `prebuilt! {{ .. }}`"
)]
pub unsafe trait Kernels<W>: PointwiseFn {
    /// The kernel for one dtype at a level, or at the best one below it that the host has; `None` outside of the
    /// domain, and for halves that are computed as float32.
    fn lookup(dtype: DType, level: Level) -> Option<KernelFn>;
}

// SAFETY: `DomainKernels::kernel` gives a kernel of this formula for this dtype, and `Level::choose` asks the host for
// the level.
unsafe impl<F> Kernels<Here> for F
where
    F: PointwiseFn,
    F::Domain: DomainKernels<F>,
{
    fn lookup(dtype: DType, level: Level) -> Option<KernelFn> {
        <F::Domain as DomainKernels<F>>::kernel(dtype, level)
    }
}

/// The kernel of a formula for one dtype at a level, compiled in the crate that calls this.
#[inline]
pub fn here<F: Kernels<Here>>(dtype: DType, level: Level) -> Option<KernelFn> {
    F::lookup(dtype, level)
}

/// Compiles the kernels of formulas in this crate: for each, one function that is not generic, so that crates that use
/// the formula contain none of its loops.
///
/// `prebuilt! { AddFn }` expands to
///
/// ```text
/// unsafe impl Kernels<Prebuilt> for AddFn {
///     #[inline(never)] fn lookup(dtype: DType, level: Level) -> Option<KernelFn> { here::<AddFn>(dtype, level) }
/// }
/// ```
#[macro_export]
macro_rules! prebuilt {
    ($($formula:ty),* $(,)?) => {$(
        // SAFETY: `here` gives a kernel of this very formula, for this dtype, at a level that the host has. Not
        // inlined: an inlined lookup would name the kernels in the crates downstream, which would then compile them.
        unsafe impl $crate::pointwise::Kernels<$crate::pointwise::Prebuilt> for $formula {
            #[inline(never)]
            fn lookup(
                dtype: $crate::pointwise::DType,
                level: $crate::isa::Level,
            ) -> ::core::option::Option<$crate::pointwise::KernelFn> {
                $crate::pointwise::here::<$formula>(dtype, level)
            }
        }
    )*};
}
