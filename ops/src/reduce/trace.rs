//! Folds over symbolic values: the check that a fold exists on every dtype of its domain.

use super::fold::{Fold, ReduceFn};
use crate::algebra::sym::Sym;
use crate::pointwise::{BoolClass, ComplexClass, DomainSet, Exact, IntClass, Membership, No, RealClass, Yes};
use monomorph_core::{Complex32, Complex64, bf16, f16};

/// A class of dtypes on which fold `F` exists, or that does not belong to the domain.
pub trait SymClass<F: ReduceFn, Class> {}

impl<F: ReduceFn, Class> SymClass<F, Class> for No {}

macro_rules! classes {
    ($($class:ty: $($element:ty),*;)*) => {$(
        impl<F: ReduceFn $(+ Fold<Sym<$element>, Sym<i64>>)*> SymClass<F, $class> for Yes {}
    )*};
}
classes! {
    BoolClass: bool;
    IntClass: u8, i8, i16, i32, i64;
    RealClass: f16, bf16, f32, f64;
    ComplexClass: Complex32, Complex64;
}

/// A domain on which fold `F` exists. The bound is the symbolic value's: every device has the same functions on the same
/// classes.
#[diagnostic::on_unimplemented(
    message = "the fold `{F}` does not cover its domain `{Self}`",
    label = "the domain names a class of dtypes on which the fold cannot be computed",
    note = "narrow the domain in `reduction!`, or give the fold a bound that these dtypes have"
)]
pub trait SymFold<F: ReduceFn>: DomainSet {}

impl<F, B, I, R, C> SymFold<F> for Exact<B, I, R, C>
where
    F: ReduceFn,
    B: SymClass<F, BoolClass> + Membership,
    I: SymClass<F, IntClass> + Membership,
    R: SymClass<F, RealClass> + Membership,
    C: SymClass<F, ComplexClass> + Membership,
{
}

/// Checks at compile time that the fold covers its domain.
pub const fn covered<F: ReduceFn, S: SymFold<F>>() {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::sym::trace;
    use crate::reduce::SumFn;

    #[test]
    fn float32_is_summed_in_float64_on_every_device() {
        let function = trace(|t| {
            let (a, b, at) = (t.input::<f32>(), t.input::<f32>(), t.input::<i64>());
            let one = <SumFn as Fold<Sym<f32>, Sym<i64>>>::one;
            let acc = <SumFn as Fold<Sym<f32>, Sym<i64>>>::merge(one(a, at), one(b, at));
            t.output(<SumFn as Fold<Sym<f32>, Sym<i64>>>::finish(acc, at));
        });
        let text = function.map(|f| f.c_source("sum")).unwrap_or_default();
        for part in ["k_f64 v3 = k_widen_f32(x0)", "k_add_f64(", "k_narrow_f32("] {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
    }
}
