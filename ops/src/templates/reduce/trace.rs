//! Folds over symbolic values: the check that a fold exists on every dtype of its domain, and its text.

use super::accumulator::{AccumulatorOn, Identity};
use super::fold::{CommonAndIndex, Fold, Index, Real, RealAndCommon, ReduceFn, Results, Two};
use crate::algebra::Value;
use crate::algebra::sym::{Compute, Function, Sym, Tracer, trace};
use crate::pointwise::{
    BoolClass, Common, ComplexClass, DomainSet, Exact, IntClass, Membership, No, RealClass, Truth, Yes,
};
use monomorph_core::{Complex32, Complex64, DType, bf16, f16};

/// A fold on one dtype as recorded functions. An accumulator is one value, two or three, side by side among inputs and
/// outputs; indices and counts are int64.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recording {
    /// Of an element and its index: the accumulator.
    pub one: Function,
    /// Of four elements and then their indices: the accumulator.
    pub four: Function,
    /// Of two accumulators: that of the elements of both.
    pub merge: Function,
    /// Of an accumulator and the number of its elements: the results.
    pub finish: Function,
    /// The accumulator of no element, if there is one.
    pub identity: Option<Function>,
}

/// The accumulator of a recording of a fold on `C`.
pub trait SymAccumulator<C: Compute>: AccumulatorOn<Sym<C>, Sym<i64>> {
    /// Declares its parts as inputs.
    fn input(t: &mut Tracer) -> Self::Of;
    /// Declares its parts as outputs.
    fn output(t: &mut Tracer, acc: Self::Of);
}

impl<A, C: Compute> SymAccumulator<C> for A
where
    A: AccumulatorOn<Sym<C>, Sym<i64>, Of: SymParts>,
{
    fn input(t: &mut Tracer) -> Self::Of {
        Self::Of::input(t)
    }
    fn output(t: &mut Tracer, acc: Self::Of) {
        acc.output(t);
    }
}

/// Symbolic values, as the parts of an accumulator.
pub trait SymParts: Copy {
    /// Declares them as inputs.
    fn input(t: &mut Tracer) -> Self;
    /// Declares them as outputs.
    fn output(self, t: &mut Tracer);
}

impl<C: Compute> SymParts for Sym<C> {
    fn input(t: &mut Tracer) -> Self {
        t.input::<C>()
    }
    fn output(self, t: &mut Tracer) {
        t.output(self);
    }
}

impl<A: Compute, B: Compute> SymParts for (Sym<A>, Sym<B>) {
    fn input(t: &mut Tracer) -> Self {
        (t.input::<A>(), t.input::<B>())
    }
    fn output(self, t: &mut Tracer) {
        t.output(self.0);
        t.output(self.1);
    }
}

impl<A: Compute, B: Compute, C: Compute> SymParts for (Sym<A>, Sym<B>, Sym<C>) {
    fn input(t: &mut Tracer) -> Self {
        (t.input::<A>(), t.input::<B>(), t.input::<C>())
    }
    fn output(self, t: &mut Tracer) {
        t.output(self.0);
        t.output(self.1);
        t.output(self.2);
    }
}

/// Results of a recording of a fold on `C`.
pub trait SymResults<C: Compute>: Results {
    /// Declares the outputs.
    fn output(t: &mut Tracer, results: Self::Of<Sym<C>, Sym<i64>>);
}

impl<C: Compute> SymResults<C> for Common {
    fn output(t: &mut Tracer, result: Sym<C>) {
        t.output(result);
    }
}

impl<C: Compute> SymResults<C> for Truth {
    fn output(t: &mut Tracer, result: Sym<bool>) {
        t.output(result);
    }
}

impl<C: Compute> SymResults<C> for Index {
    fn output(t: &mut Tracer, result: Sym<i64>) {
        t.output(result);
    }
}

impl<C: Compute> SymResults<C> for Real {
    fn output(t: &mut Tracer, result: Sym<C::Re>) {
        t.output(result);
    }
}

impl<C: Compute> SymResults<C> for RealAndCommon {
    fn output(t: &mut Tracer, (real, common): (Sym<C::Re>, Sym<C>)) {
        t.output(real);
        t.output(common);
    }
}

impl<C: Compute> SymResults<C> for CommonAndIndex {
    fn output(t: &mut Tracer, (common, index): (Sym<C>, Sym<i64>)) {
        t.output(common);
        t.output(index);
    }
}

impl<C: Compute> SymResults<C> for Two {
    fn output(t: &mut Tracer, (first, second): (Sym<C>, Sym<C>)) {
        t.output(first);
        t.output(second);
    }
}

fn record<F, C>() -> Option<Recording>
where
    C: Compute,
    Sym<C>: Value<Mask = Sym<bool>>,
    F: Fold<Sym<C>, Sym<i64>, Accumulator: SymAccumulator<C>, Results: SymResults<C>>,
{
    let identity = trace(|t| {
        if let Some(acc) = F::Identity::optional(F::identity()) {
            F::Accumulator::output(t, acc);
        }
    });
    Some(Recording {
        one: trace(|t| {
            let (x, at) = (t.input::<C>(), t.input::<i64>());
            F::Accumulator::output(t, F::one(x, at));
        })
        .ok()?,
        four: trace(|t| {
            let x = std::array::from_fn(|_| t.input::<C>());
            let at = std::array::from_fn(|_| t.input::<i64>());
            F::Accumulator::output(t, F::four(x, at));
        })
        .ok()?,
        merge: trace(|t| {
            let (a, b) = (F::Accumulator::input(t), F::Accumulator::input(t));
            F::Accumulator::output(t, F::merge(a, b));
        })
        .ok()?,
        finish: trace(|t| {
            let (acc, count) = (F::Accumulator::input(t), t.input::<i64>());
            F::Results::output(t, F::finish(acc, count));
        })
        .ok()?,
        // A recording without an output is of a fold that has none.
        identity: identity.ok(),
    })
}

/// A class of dtypes on which fold `F` exists, or that does not belong to the domain.
pub trait SymClass<F: ReduceFn, Class> {
    /// The recording for one dtype of the class.
    fn record(dtype: DType) -> Option<Recording>;
}

impl<F: ReduceFn, Class> SymClass<F, Class> for No {
    fn record(_: DType) -> Option<Recording> {
        None
    }
}

macro_rules! classes {
    ($($class:ty: $($dtype:ident $element:ty),*;)*) => {$(
        impl<F> SymClass<F, $class> for Yes
        where
            F: ReduceFn $(+ Fold<Sym<$element>, Sym<i64>>)*,
            F::Accumulator: $(SymAccumulator<$element> +)*,
            F::Results: $(SymResults<$element> +)*,
        {
            fn record(dtype: DType) -> Option<Recording> {
                match dtype {
                    $(DType::$dtype => record::<F, $element>(),)*
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

mod sealed {
    /// What nobody else can name, so nobody else can implement a trait whose method takes it.
    pub struct Token;
}

/// A domain on which fold `F` exists. Sealed: devices compile what is recorded, and rely on its parts being those of
/// `F`. The bound is the symbolic value's: every device has the same functions on the same classes.
#[diagnostic::on_unimplemented(
    message = "the fold `{F}` does not cover its domain `{Self}`",
    label = "the domain names a class of dtypes on which the fold cannot be computed",
    note = "narrow the domain in `reduction!`, or give the fold a bound that these dtypes have"
)]
pub trait SymFold<F: ReduceFn>: DomainSet {
    /// The recording for one dtype; `None` outside of the domain.
    fn record(dtype: DType, _: sealed::Token) -> Option<Recording>;
}

impl<F, B, I, R, C> SymFold<F> for Exact<B, I, R, C>
where
    F: ReduceFn,
    B: SymClass<F, BoolClass> + Membership,
    I: SymClass<F, IntClass> + Membership,
    R: SymClass<F, RealClass> + Membership,
    C: SymClass<F, ComplexClass> + Membership,
{
    fn record(dtype: DType, _: sealed::Token) -> Option<Recording> {
        B::record(dtype).or_else(|| I::record(dtype)).or_else(|| R::record(dtype)).or_else(|| C::record(dtype))
    }
}

/// Checks at compile time that the fold covers its domain.
pub const fn covered<F: ReduceFn, S: SymFold<F>>() {}

/// The fold of `F` as recorded functions on `dtype`; `None` outside of its domain.
pub fn symbolic<F: ReduceFn>(dtype: DType) -> Option<Recording>
where
    F::Domain: SymFold<F>,
{
    <F::Domain as SymFold<F>>::record(dtype, sealed::Token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce::{AccumulatedBy, AnyFn, ArgmaxFn, ArgminFn, MeanFn, SumFn, VarianceFn, VarianceMeanFn};
    use crate::reductions::{max::MaxFn, min::MinFn};

    #[test]
    fn float32_is_summed_in_float64_on_every_device() {
        let sum = symbolic::<SumFn>(DType::F32).expect("in the domain");
        let text = |function: &Function| function.c_source("f");
        assert!(text(&sum.one).contains("k_f64 v2 = k_widen_f32(x0)"), "{}", text(&sum.one));
        assert!(text(&sum.four).contains("k_add_f32(") && text(&sum.four).contains("k_widen_f32("));
        assert!(text(&sum.merge).contains("k_f64 f(k_f64 x0, k_f64 x1)"), "{}", text(&sum.merge));
        assert!(text(&sum.finish).contains("k_narrow_f32("));
        assert!(sum.identity.is_some_and(|identity| text(&identity).contains("return 0e0;")));
    }

    #[test]
    fn recordings_are_of_parts_and_results() {
        let argmax = symbolic::<ArgmaxFn>(DType::I16).expect("in the domain");
        assert_eq!(argmax.one.outputs().collect::<Vec<_>>(), [DType::I16, DType::I64]);
        assert_eq!(argmax.merge.inputs(), [DType::I16, DType::I64, DType::I16, DType::I64]);
        assert_eq!(argmax.finish.outputs().collect::<Vec<_>>(), [DType::I64]);
        assert_eq!(argmax.identity, None);
        assert!(symbolic::<ArgmaxFn>(DType::C64).is_none() && symbolic::<AnyFn>(DType::C64).is_some());
    }

    /// Asserts that a fold accumulates as the other one does whose loops devices run for it, where both have a dtype.
    fn accumulates_as<F, B>()
    where
        F: ReduceFn<Domain: SymFold<F>>,
        B: ReduceFn<Domain: SymFold<B>>,
    {
        assert_eq!(std::any::TypeId::of::<AccumulatedBy<F>>(), std::any::TypeId::of::<B>());
        let both =
            DType::ALL.into_iter().filter_map(|dtype| Some((dtype, symbolic::<F>(dtype)?, symbolic::<B>(dtype)?)));
        let mut n = 0;
        for (dtype, f, b) in both {
            assert_eq!(
                (f.one, f.four, f.merge, f.identity),
                (b.one, b.four, b.merge, b.identity),
                "{}, {dtype}",
                F::NAME
            );
            n += 1;
        }
        assert!(n >= 4, "{} and {} share dtypes", F::NAME, B::NAME);
    }

    #[test]
    fn folds_that_share_loops_accumulate_alike() {
        accumulates_as::<MaxFn, ArgmaxFn>();
        accumulates_as::<MinFn, ArgminFn>();
        accumulates_as::<MeanFn, SumFn>();
        accumulates_as::<VarianceMeanFn, VarianceFn>();
        accumulates_as::<SumFn, SumFn>();
    }
}
