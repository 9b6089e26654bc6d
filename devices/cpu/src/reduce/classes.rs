//! The kernels of a fold, class by class of its domain: the CPU's counterpart of the symbolic classes in the operator
//! crate.

use super::fold_kernels::{FoldKernels, fold_kernels};
use super::parts::AccumulatorAt;
use super::results::StoreResults;
use crate::isa::{Avx2, Avx512, Level, Portable};
use crate::on::On;
use monomorph_core::{Complex32, Complex64, DType, Kind, bf16, f16};
use monomorph_ops::pointwise::{BoolClass, ComplexClass, DomainSet, Exact, IntClass, Membership, No, RealClass, Yes};
use monomorph_ops::reduce::{Fold, ReduceFn};

/// A class of dtypes on which fold `F` has kernels, or that does not belong to the domain.
pub trait ClassFolds<F: ReduceFn, K> {
    /// The kernels for one dtype of the class at a level, or at the best one below it that the host has (A1).
    fn kernels(dtype: DType, level: Level) -> Option<FoldKernels>;
}

impl<F: ReduceFn, K> ClassFolds<F, K> for No {
    fn kernels(_: DType, _: Level) -> Option<FoldKernels> {
        None
    }
}

/// Everything that a fold must be at every level to have kernels on `$element`.
macro_rules! classes {
    ($($class:ty: $($dtype:ident $element:ty),*;)*) => {$(
        impl<F> ClassFolds<F, $class> for Yes
        where
            F: ReduceFn $(
                + Fold<On<$element, Portable>, On<i64, Portable>>
                + Fold<On<$element, Avx2>, On<i64, Avx2>>
                + Fold<On<$element, Avx512>, On<i64, Avx512>>
            )*,
            F::Accumulator: $(
                AccumulatorAt<$element, Portable>
                + AccumulatorAt<$element, Avx2>
                + AccumulatorAt<$element, Avx512>
                +
            )*,
            F::Results: $(StoreResults<$element, Portable> +)*,
        {
            fn kernels(dtype: DType, level: Level) -> Option<FoldKernels> {
                match dtype {
                    $(DType::$dtype => Some(level.choose(
                        const { fold_kernels::<F, $element, Portable>() },
                        #[cfg(target_arch = "x86_64")]
                        const { [fold_kernels::<F, $element, Avx2>(), fold_kernels::<F, $element, Avx512>()] },
                    )),)*
                    _ => None,
                }
            }
        }
    )*};
}
classes! {
    BoolClass: Bool bool;
    IntClass: U8 u8, I8 i8, I16 i16, I32 i32, I64 i64;
    RealClass: F16 f16, BF16 bf16, F32 f32, F64 f64;
    ComplexClass: C64 Complex32, C128 Complex64;
}

/// A domain on which fold `F` has kernels.
pub trait DomainFolds<F: ReduceFn>: DomainSet {
    /// The kernels for one dtype at a level; `None` outside of the domain.
    fn kernels(dtype: DType, level: Level) -> Option<FoldKernels>;
}

impl<F, B, I, R, C> DomainFolds<F> for Exact<B, I, R, C>
where
    F: ReduceFn,
    B: ClassFolds<F, BoolClass> + Membership,
    I: ClassFolds<F, IntClass> + Membership,
    R: ClassFolds<F, RealClass> + Membership,
    C: ClassFolds<F, ComplexClass> + Membership,
{
    fn kernels(dtype: DType, level: Level) -> Option<FoldKernels> {
        match dtype.kind() {
            Kind::Bool => B::kernels(dtype, level),
            Kind::Int => I::kernels(dtype, level),
            Kind::Float => R::kernels(dtype, level),
            Kind::Complex => C::kernels(dtype, level),
        }
    }
}
