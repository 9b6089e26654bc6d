//! The bodies of a formula, class by class of its domain: the CPU's counterpart of the symbolic classes in the operator
//! crate. Which dtypes a class has is said once per side, never per operator.

use super::body::{Body, HasBody};
use super::operands::{Load, Store};
use super::truth;
use crate::isa::{Avx2, Avx512, Level, Portable};
use crate::on::On;
use monomorph_core::{Complex32, Complex64, DType, Kind, bf16, f16};
use monomorph_ops::pointwise::{
    BoolClass, ComplexClass, DomainSet, Exact, IntClass, Map, Membership, No, PointwiseFn, RealClass, Wide, Yes,
};

/// True if elements of `dtype` are computed in the loop of float32. Of a light formula bfloat16 would take longer to convert than to
/// compute, and in a loop of its own it is converted in passing.
#[inline]
pub(super) const fn as_f32<F: PointwiseFn>(dtype: DType) -> bool {
    F::HALVES_AS_F32 && (matches!(dtype, DType::F16) || matches!(dtype, DType::BF16) && !F::LIGHT)
}

/// A class of dtypes on which formula `F` has bodies, or that does not belong to the domain.
pub trait Class<F: PointwiseFn, K> {
    /// The body for one dtype of the class at a level, or at the best one below it that the host has (K1).
    fn body(dtype: DType, level: Level) -> Option<Body>;
}

impl<F: PointwiseFn, K> Class<F, K> for No {
    #[inline]
    fn body(_: DType, _: Level) -> Option<Body> {
        None
    }
}

/// Everything that a formula must be at every level to have bodies on `$element`.
macro_rules! classes {
    ($($member:ident $class:ty: $($dtype:ident $element:ty),*;)*) => {$(
        impl<F> Class<F, $class> for $member
        where
            F: PointwiseFn $(+ Map<On<$element, Portable>> + Map<On<$element, Avx2>> + Map<On<$element, Avx512>>)*,
            F::Operands: $(Load<On<$element, Portable>> + Load<On<$element, Avx2>> + Load<On<$element, Avx512>> +)*,
            F::Out: $(Store<On<$element, Portable>> + Store<On<$element, Avx2>> + Store<On<$element, Avx512>> +)*,
        {
            #[inline]
            fn body(dtype: DType, level: Level) -> Option<Body> {
                match dtype {
                    // Decided by constants, so that a loop which is not offered is not compiled.
                    $(DType::$dtype => if const { as_f32::<F>(DType::$dtype) } {
                        None
                    } else if const { F::ELEMENTWISE_ONLY } {
                        Some(<F as HasBody>::body::<$element, Portable>)
                    } else {
                        Some(level.choose(
                            <F as HasBody>::body::<$element, Portable>,
                            #[cfg(target_arch = "x86_64")]
                            [
                                <F as HasBody>::body::<$element, Avx2>,
                                if const { F::RARE } { <F as HasBody>::body::<$element, Avx2> } else { <F as HasBody>::body::<$element, Avx512> },
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
    Own BoolClass: Bool bool;
    Yes IntClass: U8 u8, I8 i8, I16 i16, I32 i32, I64 i64;
    Yes RealClass: F16 f16, BF16 bf16, F32 f32, F64 f64;
    Wide RealClass: F32 f32, F64 f64;
    Yes ComplexClass: C64 Complex32, C128 Complex64;
}

/// Bools, by the loop of a formula's own.
struct Own;

impl<F: PointwiseFn> Class<F, BoolClass> for Yes
where
    Own: Class<F, BoolClass>,
    F: Map<On<bool, Portable>>,
    F::Operands: Load<On<bool, Portable>>,
    F::Out: Store<On<bool, Portable>>,
{
    #[inline]
    fn body(dtype: DType, level: Level) -> Option<Body> {
        if const { !truth::applies::<F>() } {
            return <Own as Class<F, BoolClass>>::body(dtype, level);
        }
        Some(level.choose(
            truth::truth::<F, Portable>,
            #[cfg(target_arch = "x86_64")]
            [truth::truth::<F, Avx2>, truth::truth::<F, Avx512>],
        ))
    }
}

/// A domain on which formula `F` has bodies.
pub trait Bodies<F: PointwiseFn>: DomainSet {
    /// The body for one dtype at a level; `None` outside of the domain, and for halves that are computed as float32.
    fn body(dtype: DType, level: Level) -> Option<Body>;
}

impl<F, B, I, R, C> Bodies<F> for Exact<B, I, R, C>
where
    F: PointwiseFn,
    B: Class<F, BoolClass> + Membership,
    I: Class<F, IntClass> + Membership,
    R: Class<F, RealClass> + Membership,
    C: Class<F, ComplexClass> + Membership,
{
    #[inline]
    fn body(dtype: DType, level: Level) -> Option<Body> {
        match dtype.kind() {
            Kind::Bool => B::body(dtype, level),
            Kind::Int => I::body(dtype, level),
            Kind::Float => R::body(dtype, level),
            Kind::Complex => C::body(dtype, level),
        }
    }
}
