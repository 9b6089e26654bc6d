//! The kernels of a fold, class by class of a domain: the CPU's counterpart of the symbolic classes in the operator
//! crate. Which kernels, those of reductions or of scans, is a type.

use crate::isa::{Avx2, Avx512, Level, Portable};
use crate::left_out::left_out;
use monomorph_core::{Complex32, Complex64, DType, Kind, bf16, f16};
use monomorph_ops::pointwise::{BoolClass, ComplexClass, DomainSet, Exact, IntClass, Membership, No, RealClass, Yes};

/// Kernels that a fold `F` has on elements `C` at level `I`.
pub trait KernelsOn<F, C, I>: Sized {
    /// The kernels.
    const KERNELS: Self;
}

/// A class of dtypes on which fold `F` has kernels `T`, or that does not belong to the domain.
pub trait ClassKernels<F, T, K> {
    /// The kernels for one dtype of the class at a level, or at the best one below it that the host has.
    fn kernels(dtype: DType, level: Level) -> Option<T>;
}

impl<F, T, K> ClassKernels<F, T, K> for No {
    fn kernels(_: DType, _: Level) -> Option<T> {
        None
    }
}

/// Kernels at every level up to `$widest` on each `$element`. AVX-512 is not worth what it takes to compile for narrow
/// integers and complex numbers, which are rarely reduced.
macro_rules! classes {
    ($($class:ty: $($dtype:ident $element:ty => $widest:ty),*;)*) => {$(
        impl<F, T> ClassKernels<F, T, $class> for Yes
        where
            T: $(
                KernelsOn<F, $element, Portable>
                + KernelsOn<F, $element, Avx2>
                + KernelsOn<F, $element, $widest>
                +
            )*,
        {
            fn kernels(dtype: DType, level: Level) -> Option<T> {
                match dtype {
                    // Decided by constants, so that kernels that are left out are not compiled.
                    $(DType::$dtype => if const { left_out(DType::$dtype).is_some() } {
                        None
                    } else {
                        Some(level.choose(
                            <T as KernelsOn<F, $element, Portable>>::KERNELS,
                            #[cfg(target_arch = "x86_64")]
                            [
                                <T as KernelsOn<F, $element, Avx2>>::KERNELS,
                                <T as KernelsOn<F, $element, $widest>>::KERNELS,
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
    BoolClass: Bool bool => Avx512;
    IntClass: U8 u8 => Avx2, I8 i8 => Avx2, I16 i16 => Avx2, I32 i32 => Avx512, I64 i64 => Avx512;
    RealClass: F16 f16 => Avx512, BF16 bf16 => Avx512, F32 f32 => Avx512, F64 f64 => Avx512;
    ComplexClass: C64 Complex32 => Avx2, C128 Complex64 => Avx2;
}

/// A domain on which fold `F` has kernels `T`.
pub trait DomainKernels<F, T>: DomainSet {
    /// The kernels for one dtype at a level; `None` outside of the domain.
    fn kernels(dtype: DType, level: Level) -> Option<T>;
}

impl<F, T, B, I, R, C> DomainKernels<F, T> for Exact<B, I, R, C>
where
    B: ClassKernels<F, T, BoolClass> + Membership,
    I: ClassKernels<F, T, IntClass> + Membership,
    R: ClassKernels<F, T, RealClass> + Membership,
    C: ClassKernels<F, T, ComplexClass> + Membership,
{
    fn kernels(dtype: DType, level: Level) -> Option<T> {
        match dtype.kind() {
            Kind::Bool => B::kernels(dtype, level),
            Kind::Int => I::kernels(dtype, level),
            Kind::Float => R::kernels(dtype, level),
            Kind::Complex => C::kernels(dtype, level),
        }
    }
}
