//! Where the kernels of a fold are compiled: in the crate that calls it, or in the crate that prebuilds it.

use super::classes::DomainKernels;
use super::fold_kernels::FoldKernels;
use crate::isa::Level;
use monomorph_core::DType;
use monomorph_ops::reduce::{Here, ReduceFn};

/// A reduction whose kernels exist, compiled `W`here.
///
/// # Safety
///
/// `lookup` gives the kernels of this very fold for this very dtype, at a level that the host has.
#[diagnostic::on_unimplemented(
    message = "the CPU has no kernels of the reduction `{Self}` compiled `{W}`",
    label = "no kernels of this fold",
    note = "`Reduce<F, Here>` compiles them in the calling crate, for every fold that covers its domain",
    note = "`Reduce<F, Prebuilt>` needs the fold in a list `prebuilt_reductions! {{ .. }}`"
)]
pub unsafe trait Kernels<W>: ReduceFn {
    /// The kernels for one dtype at a level, or at the best one below it that the host has; `None` outside of the
    /// domain.
    fn lookup(dtype: DType, level: Level) -> Option<FoldKernels>;
}

// SAFETY: `DomainKernels::kernels` gives the kernels of this fold for this dtype, and `Level::choose` asks the host for
// the level.
unsafe impl<F> Kernels<Here> for F
where
    F: ReduceFn,
    F::Domain: DomainKernels<F, FoldKernels>,
{
    fn lookup(dtype: DType, level: Level) -> Option<FoldKernels> {
        <F::Domain as DomainKernels<F, FoldKernels>>::kernels(dtype, level)
    }
}

/// The kernels of a fold, compiled here.
pub fn here<F: Kernels<Here>>(dtype: DType, level: Level) -> Option<FoldKernels> {
    F::lookup(dtype, level)
}

/// Compiles the kernels of reductions in this crate: for each, one function that is not generic, so that crates that
/// use the reduction contain none of its loops.
///
/// `prebuilt_reductions! { SumFn }` expands to
///
/// ```text
/// unsafe impl Kernels<Prebuilt> for SumFn {
///     #[inline(never)] fn lookup(dtype: DType, level: Level) -> Option<FoldKernels> { here::<SumFn>(dtype, level) }
/// }
/// ```
#[macro_export]
macro_rules! prebuilt_reductions {
    ($($fold:ty),* $(,)?) => {$(
        // SAFETY: `here` gives the kernels of this very fold for the dtype, and asks the host for the level. Not
        // inlined: an inlined lookup would name the kernels in the crates downstream, which would then compile them.
        unsafe impl $crate::reduce::Kernels<$crate::reduce::Prebuilt> for $fold {
            #[inline(never)]
            fn lookup(
                dtype: $crate::reduce::DType,
                level: $crate::isa::Level,
            ) -> ::core::option::Option<$crate::reduce::FoldKernels> {
                $crate::reduce::here::<$fold>(dtype, level)
            }
        }
    )*};
}

/// The kernels of every in-tree fold, compiled in this crate: a module for each family.
mod table {
    macro_rules! prebuild {
        ($fold:ty, $name:literal) => {
            crate::prebuilt_reductions! { $fold }
        };
    }
    monomorph_ops::for_each_kernel! { modules Reduce prebuild }
}
