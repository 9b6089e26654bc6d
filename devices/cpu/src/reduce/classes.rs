//! The bodies of a fold, class by class of its domain: the CPU's counterpart of the symbolic classes in the operator crate.

use super::body::{Bodies, bodies};
use super::parts::AccumulatorAt;
use super::results::Keep;
use crate::isa::{Avx2, Avx512, Level, Portable};
use crate::on::On;
use monomorph_core::{Complex32, Complex64, DType, Kind, bf16, f16};
use monomorph_ops::pointwise::{BoolClass, ComplexClass, DomainSet, Exact, IntClass, Membership, No, RealClass, Yes};
use monomorph_ops::reduce::{Fold, ReduceFn};

/// A class of dtypes on which fold `F` has bodies, or that does not belong to the domain.
pub trait Class<F: ReduceFn, K> {
    /// The bodies for one dtype of the class at a level, or at the best one below it that the host has (B1).
    fn bodies(dtype: DType, level: Level) -> Option<Bodies>;
}

impl<F: ReduceFn, K> Class<F, K> for No {
    fn bodies(_: DType, _: Level) -> Option<Bodies> {
        None
    }
}

/// Everything that a fold must be at every level to have bodies on `$element`.
macro_rules! classes {
    ($($class:ty: $($dtype:ident $element:ty),*;)*) => {$(
        impl<F> Class<F, $class> for Yes
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
            F::Results: $(Keep<$element, Portable> +)*,
        {
            fn bodies(dtype: DType, level: Level) -> Option<Bodies> {
                match dtype {
                    $(DType::$dtype => Some(level.choose(
                        const { bodies::<F, $element, Portable>() },
                        #[cfg(target_arch = "x86_64")]
                        const { [bodies::<F, $element, Avx2>(), bodies::<F, $element, Avx512>()] },
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

/// A domain on which fold `F` has bodies.
pub trait Folds<F: ReduceFn>: DomainSet {
    /// The bodies for one dtype at a level; `None` outside of the domain.
    fn bodies(dtype: DType, level: Level) -> Option<Bodies>;
}

impl<F, B, I, R, C> Folds<F> for Exact<B, I, R, C>
where
    F: ReduceFn,
    B: Class<F, BoolClass> + Membership,
    I: Class<F, IntClass> + Membership,
    R: Class<F, RealClass> + Membership,
    C: Class<F, ComplexClass> + Membership,
{
    fn bodies(dtype: DType, level: Level) -> Option<Bodies> {
        match dtype.kind() {
            Kind::Bool => B::bodies(dtype, level),
            Kind::Int => I::bodies(dtype, level),
            Kind::Float => R::bodies(dtype, level),
            Kind::Complex => C::bodies(dtype, level),
        }
    }
}
