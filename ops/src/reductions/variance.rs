//! Variances and standard deviations, alone or with the mean: the mean and the sum of squared deviations from it,
//! merged pairwise, so that nothing cancels where the mean is large (T. F. Chan, G. H. Golub, R. J. LeVeque, *Updating
//! formulae and a pairwise algorithm for computing sample variances*, Stanford report STAN-CS-79-773, 1979).
//!
//! Of complex numbers it is the variance of the real parts plus that of the imaginary ones.

use crate::algebra::{Components, Equal, FromIndex, Ordered, Root, TrueDivision, Value, Widen, squared};
use crate::pointwise::FloatComplex;
use crate::prebuilt::Reduce;
use crate::reduce::{
    AccumulatorOf, Dims, Fold, Numbers, Real, RealAndCommon, ReduceFn, ReduceInputs, ReduceRule, Results, ResultsOf,
    SharedWith, Widened, WidenedReal, WithIdentity,
};
use crate::table::native;
use monomorph_core::structured::{Executes, Operand, Operator, ValueSink, call};
use monomorph_core::{Device, Result, Scalar};
use std::marker::PhantomData;

/// The mean of some elements, the sum of squared deviations from it, and how many elements there are.
type Moments<W> = (W, <W as Value>::Re, <W as Value>::Re);

/// Those of one element.
#[inline(always)]
fn one<W: Components<Re: TrueDivision>>(x: W) -> Moments<W> {
    (x, W::Re::from_bool(false), W::Re::from_bool(true))
}

/// Those of four elements: the mean in one go.
#[inline(always)]
fn four<W: Components<Re: TrueDivision>>([a, b, c, d]: [W; 4]) -> Moments<W> {
    let mean = ((a + b) + (c + d)).scaled(W::Re::from_f64(0.25));
    let square = |x: W| squared(x - mean);
    (mean, (square(a) + square(b)) + (square(c) + square(d)), W::Re::from_f64(4.0))
}

/// Those of the elements of both. Without elements on either side nothing is divided by 0.
#[inline(always)]
fn merge<W: Components<Re: TrueDivision + Ordered>>(a: Moments<W>, b: Moments<W>) -> Moments<W> {
    let ((mean_a, squares_a, n_a), (mean_b, squares_b, n_b)) = (a, b);
    let n = n_a + n_b;
    let share = n_b / n.maximum(W::Re::from_bool(true));
    let way = mean_b - mean_a;
    (mean_a + way.scaled(share), squares_a + squares_b + squared(way) * (n_a * share), n)
}

/// The variance of `count` elements, with so much less in its denominator, or the root of it.
#[inline(always)]
fn spread<R: TrueDivision + Ordered + Root>(squares: R, count: R, [less, root]: Numbers) -> R {
    let zero = R::from_bool(false);
    let variance = squares / (count - R::from_f64(less)).maximum(zero);
    let variance = R::select(count.eq(zero), R::from_f64(f64::NAN), variance);
    if root == 0.0 { variance } else { variance.sqrt() }
}

/// What is told to the folds where nothing is.
const UNBIASED: Numbers = [1.0, 0.0];

/// Folds into moments that differ in what they make of the variance and the mean.
macro_rules! folds_of_moments {
    ($($fold:ident $name:literal, $accumulator:ty => $results:ty: |$variance:ident, $mean:ident| $finish:expr;)*) => {$(
        crate::reduction! {
            $fold $name: FloatComplex, $accumulator, WithIdentity => $results;
            ReduceRule::VARIANCE
        }
        impl<V, X> Fold<V, X> for $fold
        where
            V: Widen<Wide: Components<Re: TrueDivision + Ordered + Root + FromIndex<X>>>,
            V::Re: Widen<Wide = <V::Wide as Value>::Re>,
            X: Value<Mask = V::Mask>,
        {
            #[inline(always)]
            fn one(x: V, _: X) -> AccumulatorOf<Self, V, X> {
                one(x.widen())
            }
            #[inline(always)]
            fn four(x: [V; 4], _: [X; 4]) -> AccumulatorOf<Self, V, X> {
                four(x.map(V::widen))
            }
            #[inline(always)]
            fn merge(a: AccumulatorOf<Self, V, X>, b: AccumulatorOf<Self, V, X>) -> AccumulatorOf<Self, V, X> {
                merge::<V::Wide>(a, b)
            }
            #[inline(always)]
            fn finish(acc: AccumulatorOf<Self, V, X>, count: X) -> ResultsOf<Self, V, X> {
                <Self as Fold<V, X>>::finish_by(acc, count, UNBIASED)
            }
            #[inline(always)]
            fn finish_by(acc: AccumulatorOf<Self, V, X>, count: X, numbers: Numbers) -> ResultsOf<Self, V, X> {
                let ((mean, squares, _), count) = (acc, <V::Wide as Value>::Re::from_index(count));
                // 0, but of infinities NaN: the distance of an infinity from its mean is no number, and PyTorch's mean
                // of it and anything else neither.
                let off = mean - mean;
                let is_alone = count.eq(Value::from_bool(true));
                let nothing = count.eq(Value::from_bool(false));
                let mean = Value::select(is_alone, mean, mean + off);
                let ($variance, $mean) = (
                    V::Re::narrow(spread(squares + squared(off), count, numbers)),
                    V::narrow(Value::select(nothing, V::Wide::from_complex(f64::NAN, f64::NAN), mean)),
                );
                $finish
            }
            #[inline(always)]
            fn identity() -> AccumulatorOf<Self, V, X> {
                (Value::from_bool(false), Value::from_bool(false), Value::from_bool(false))
            }
        }
    )*};
}
folds_of_moments! {
    VarianceFn "var", (Widened, WidenedReal, WidenedReal) => Real: |variance, _mean| variance;
    VarianceMeanFn "var_mean", SharedWith<VarianceFn> => RealAndCommon: |variance, mean| (variance, mean);
}

/// The operator of fold `F`: the variance, or its root.
pub struct Spread<F, const ROOT: bool>(PhantomData<fn() -> F>);

impl<F: ReduceFn, const ROOT: bool> Spread<F, ROOT> {
    fn run<'t, D, S>((x, dims, keepdim): (Operand<'t>, Dims<'t>, bool), less: f64, sink: S) -> Result<S::Value>
    where
        D: Device + Executes<Reduce<F>>,
        S: ValueSink<'t, D>,
    {
        let inputs = ReduceInputs::told(x, (dims, keepdim), (None, false), [less, f64::from(u8::from(ROOT))]);
        call::<Reduce<F>, D, S>(&inputs, sink).map(S::value::<Reduce<F>>)
    }
}

impl<'t, F, const ROOT: bool, D> Operator<'t, D, (Operand<'t>, bool)> for Spread<F, ROOT>
where
    F: ReduceFn,
    D: Device + Executes<Reduce<F>>,
{
    const OUTPUTS: usize = <F::Results as Results>::KINDS.len();

    fn call<S: ValueSink<'t, D>>((x, unbiased): (Operand<'t>, bool), sink: S) -> Result<S::Value> {
        Self::run((x, Dims::All, false), f64::from(u8::from(unbiased)), sink)
    }
}

impl<'t, F, const ROOT: bool, D> Operator<'t, D, (Operand<'t>, Option<&'t [i64]>, bool, bool)> for Spread<F, ROOT>
where
    F: ReduceFn,
    D: Device + Executes<Reduce<F>>,
{
    const OUTPUTS: usize = <F::Results as Results>::KINDS.len();

    fn call<S: ValueSink<'t, D>>(
        (x, dims, unbiased, keepdim): (Operand<'t>, Option<&'t [i64]>, bool, bool),
        sink: S,
    ) -> Result<S::Value> {
        Self::run((x, dims.map_or(Dims::All, Dims::List), keepdim), f64::from(u8::from(unbiased)), sink)
    }
}

impl<'t, F, const ROOT: bool, D> Operator<'t, D, (Operand<'t>, Option<&'t [i64]>, Option<Scalar>, bool)>
    for Spread<F, ROOT>
where
    F: ReduceFn,
    D: Device + Executes<Reduce<F>>,
{
    const OUTPUTS: usize = <F::Results as Results>::KINDS.len();

    fn call<S: ValueSink<'t, D>>(
        (x, dims, correction, keepdim): (Operand<'t>, Option<&'t [i64]>, Option<Scalar>, bool),
        sink: S,
    ) -> Result<S::Value> {
        let less = correction.map_or(Ok(1.0), super::vector_norm::real)?;
        Self::run((x, dims.map_or(Dims::All, Dims::List), keepdim), less, sink)
    }
}

native! {
    family: Variance;

    structured: Reduce<VarianceFn>;

    structured: Reduce<VarianceMeanFn>;

    func: var(Tensor self, bool unbiased=True) -> Tensor,
    operator: Spread<VarianceFn, false>;

    func: var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor,
    out: var.out, operator: Spread<VarianceFn, false>;

    /// The variance of the elements along the dimensions `dim`; `..` is all of them.
    ///
    /// The squared deviations from the mean are added and divided by their number less the option `correction`, which
    /// is 1. The dimensions go, or become 1 with `keepdim`. The dtype stays, but that of complex numbers becomes real.
    /// Integers and bool are an error. The variance of no elements is NaN.
    ///
    /// ```
    /// let x = tensor![[1.0f32, 3.0], [2.0, 2.0]];
    /// assert_eq!(x.var(1)?.to_vec::<f32>()?, [2.0, 0.0]);
    /// let population = Var { correction: Some(0.into()), ..Default::default() };
    /// assert_eq!(x.var_with(1, population)?.to_vec::<f32>()?, [1.0, 0.0]);
    /// ```
    func: var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor,
    out: var.correction_out, variants: function, method, name: var, positional: [dim],
    operator: Spread<VarianceFn, false>;

    func: std(Tensor self, bool unbiased=True) -> Tensor,
    operator: Spread<VarianceFn, true>;

    func: std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor,
    out: std.out, operator: Spread<VarianceFn, true>;

    /// The standard deviation of the elements along the dimensions `dim`; `..` is all of them.
    ///
    /// The root of [`var`](super::functions::var), which takes the same arguments.
    ///
    /// ```
    /// let x = tensor![[1.0f32, 5.0], [2.0, 2.0]];
    /// let population = Std { correction: Some(0.into()), ..Default::default() };
    /// assert_eq!(x.std_with(1, population)?.to_vec::<f32>()?, [2.0, 0.0]);
    /// ```
    func: std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor,
    out: std.correction_out, variants: function, method, name: std, positional: [dim],
    operator: Spread<VarianceFn, true>;

    func: var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor),
    operator: Spread<VarianceMeanFn, false>;

    func: var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor),
    operator: Spread<VarianceMeanFn, false>;

    /// The variance and the mean of the elements along the dimensions `dim`, in one pass; `..` is all of them.
    ///
    /// The first is [`var`](super::functions::var), the second [`mean`](super::functions::mean).
    ///
    /// ```
    /// let (variance, mean) = tensor![1.0f32, 2.0, 3.0].var_mean(..)?;
    /// assert_eq!((variance.at::<f32>(())?, mean.at::<f32>(())?), (1.0, 2.0));
    /// ```
    func: var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False)
        -> (Tensor, Tensor),
    autogen: var_mean.correction_out, variants: function, name: var_mean, positional: [dim],
    operator: Spread<VarianceMeanFn, false>;

    func: std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor),
    operator: Spread<VarianceMeanFn, true>;

    func: std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor),
    operator: Spread<VarianceMeanFn, true>;

    /// The standard deviation and the mean of the elements along the dimensions `dim`, in one pass; `..` is all of
    /// them.
    ///
    /// The first is [`std`](super::functions::std), the second [`mean`](super::functions::mean).
    ///
    /// ```
    /// let (deviation, mean) = tensor![1.0f32, 2.0, 3.0].std_mean(..)?;
    /// assert_eq!((deviation.at::<f32>(())?, mean.at::<f32>(())?), (1.0, 2.0));
    /// ```
    func: std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False)
        -> (Tensor, Tensor),
    autogen: std_mean.correction_out, variants: function, name: std_mean, positional: [dim],
    operator: Spread<VarianceMeanFn, true>;
}
