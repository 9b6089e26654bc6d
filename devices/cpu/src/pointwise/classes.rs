//! Which kernel a formula has for a dtype at a level, class by class of its domain (bool, integers, reals, complex):
//! the CPU's counterpart of the symbolic classes in the operator crate. Which dtypes a class has is said once on each
//! side, never for an operator.
//!
//! ```text
//! DomainKernels::kernel(dtype, level) ─► ClassKernels::kernel ─┬► FormulaKernel::kernel::<dtype, level>
//!                 of the domain           of the dtype's class └► bool_kernel, for one or two bools
//! ```

use super::bool_kernel;
use super::kernel_fn::{FormulaKernel, KernelFn};
use super::operands::{LoadOperands, StoreOutput};
use crate::isa::{Avx2, Avx512, Level, Portable};
use crate::left_out::left_out;
use crate::scalar::Lane;
use crate::tuning::{FastPaths, Tuning, TuningValues};
use monomorph_core::{Complex32, Complex64, DType, Kind, bf16, f16};
use monomorph_ops::pointwise::{
    BoolClass, ComplexClass, DomainSet, Exact, IntClass, Map, Membership, No, PointwiseFn, RealClass, Wide, Yes,
};

/// True if elements of `dtype` are computed by the kernel on float32, before and after which they are staged. Not
/// bfloat16 in light formulas: staging would take longer than computing, and a kernel of its own converts in the loop.
#[inline]
pub(super) const fn computes_as_f32(tuning: &TuningValues, dtype: DType) -> bool {
    tuning.halves_as_f32 && (matches!(dtype, DType::F16) || matches!(dtype, DType::BF16) && !tuning.light)
}

/// False for a dtype that this build has no kernels on, or that is computed as another.
const fn has_kernel(tuning: &TuningValues, dtype: DType) -> bool {
    left_out(dtype).is_none() && !computes_as_f32(tuning, dtype)
}

/// The kernels of formula `F`, tuned by `T`, on class `K` of dtypes. Implemented by the answers to whether the domain
/// has the class: [`Yes`] and [`Wide`] have kernels, [`No`] has none.
pub trait ClassKernels<F: PointwiseFn, T, K> {
    /// The kernel for one dtype of the class, at a level or at the best one below it that the host has (K1).
    fn kernel(dtype: DType, level: Level) -> Option<KernelFn>;
}

impl<F: PointwiseFn, T, K> ClassKernels<F, T, K> for No {
    #[inline]
    fn kernel(_: DType, _: Level) -> Option<KernelFn> {
        None
    }
}

/// Implements [`ClassKernels`] for a class: its dtypes, on each of which the formula must compute at every level.
macro_rules! classes {
    ($($member:ident $class:ty: $($dtype:ident $element:ty),*;)*) => {$(
        impl<F, T> ClassKernels<F, T, $class> for $member
        where
            F: PointwiseFn $(
                + Map<Lane<$element, Portable>> + Map<Lane<$element, Avx2>> + Map<Lane<$element, Avx512>>
            )*,
            T: $(
                FastPaths<Lane<$element, Portable>, F> + FastPaths<Lane<$element, Avx2>, F> +
                FastPaths<Lane<$element, Avx512>, F> +
            )* Tuning,
            F::Operands: $(
                LoadOperands<Lane<$element, Portable>> + LoadOperands<Lane<$element, Avx2>> +
                LoadOperands<Lane<$element, Avx512>> +
            )*,
            F::Out: $(
                StoreOutput<Lane<$element, Portable>> + StoreOutput<Lane<$element, Avx2>> +
                StoreOutput<Lane<$element, Avx512>> +
            )*,
        {
            #[inline]
            fn kernel(dtype: DType, level: Level) -> Option<KernelFn> {
                match dtype {
                    // Decided by constants, so that a kernel which is not offered is not compiled.
                    $(DType::$dtype => if const { !has_kernel(&TuningValues::of::<T>(), DType::$dtype) } {
                        None
                    } else if const { T::ELEMENTWISE_ONLY } {
                        Some(<F as FormulaKernel>::kernel::<T, $element, Portable>)
                    } else {
                        Some(level.choose(
                            <F as FormulaKernel>::kernel::<T, $element, Portable>,
                            #[cfg(target_arch = "x86_64")]
                            [
                                <F as FormulaKernel>::kernel::<T, $element, Avx2>,
                                if const { T::RARE } {
                                    <F as FormulaKernel>::kernel::<T, $element, Avx2>
                                } else {
                                    <F as FormulaKernel>::kernel::<T, $element, Avx512>
                                },
                            ],
                        ))
                    },)*
                    _ => None,
                }
            }
        }
    )*};
}
classes! {
    GenericLoop BoolClass: Bool bool;
    Yes IntClass: U8 u8, I8 i8, I16 i16, I32 i32, I64 i64;
    Yes RealClass: F16 f16, BF16 bf16, F32 f32, F64 f64;
    Wide RealClass: F32 f32, F64 f64;
    Yes ComplexClass: C64 Complex32, C128 Complex64;
}

/// Bools in the loop that other dtypes have, for formulas that [`bool_kernel`] does not apply to.
struct GenericLoop;

impl<F: PointwiseFn, T> ClassKernels<F, T, BoolClass> for Yes
where
    GenericLoop: ClassKernels<F, T, BoolClass>,
    F: Map<Lane<bool, Portable>>,
    F::Operands: LoadOperands<Lane<bool, Portable>>,
    F::Out: StoreOutput<Lane<bool, Portable>>,
{
    #[inline]
    fn kernel(dtype: DType, level: Level) -> Option<KernelFn> {
        if const { !bool_kernel::applies_to::<F>() } {
            return <GenericLoop as ClassKernels<F, T, BoolClass>>::kernel(dtype, level);
        }
        Some(level.choose(
            bool_kernel::bool_kernel::<F, Portable>,
            #[cfg(target_arch = "x86_64")]
            [bool_kernel::bool_kernel::<F, Avx2>, bool_kernel::bool_kernel::<F, Avx512>],
        ))
    }
}

/// The kernels of formula `F`, tuned by `T`, on its domain.
pub trait DomainKernels<F: PointwiseFn, T>: DomainSet {
    /// The kernel for one dtype, at a level or at the best one below it that the host has; `None` outside of the
    /// domain, and for halves that are computed as float32.
    fn kernel(dtype: DType, level: Level) -> Option<KernelFn>;
}

impl<F, T, B, I, R, C> DomainKernels<F, T> for Exact<B, I, R, C>
where
    F: PointwiseFn,
    B: ClassKernels<F, T, BoolClass> + Membership,
    I: ClassKernels<F, T, IntClass> + Membership,
    R: ClassKernels<F, T, RealClass> + Membership,
    C: ClassKernels<F, T, ComplexClass> + Membership,
{
    #[inline]
    fn kernel(dtype: DType, level: Level) -> Option<KernelFn> {
        match dtype.kind() {
            Kind::Bool => B::kernel(dtype, level),
            Kind::Int => I::kernel(dtype, level),
            Kind::Float => R::kernel(dtype, level),
            Kind::Complex => C::kernel(dtype, level),
        }
    }
}
