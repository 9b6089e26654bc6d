//! Norms of vectors: folds, one for each sort of order, and the operators that choose one.

use crate::algebra::{Components, Equal, Magnitude, Ordered, Power, Root, TrueDivision, Value, Widen};
use crate::kernels::Norms;
use crate::pointwise::FloatComplex;
use crate::prebuilt::Reduce;
use crate::reduce::{
    AccumulatorOf, Dims, Fold, Numbers, Real, ReduceFn, ReduceInputs, ReduceRule, WidenedReal, WithIdentity,
};
use crate::table::native;
use monomorph_core::strides::wrap_dim;
use monomorph_core::structured::{Executes, Operand, Operator, ValueSink, call};
use monomorph_core::{DType, Device, ErrorKind, Result, Scalar};

/// Below the first number and above the second, squares of float64 lose bits or overflow; the third and the fourth are
/// the powers of two by which such elements are scaled first.
const SMALL: f64 = f64::from_bits((1023 - 511) << 52);
const BIG: f64 = f64::from_bits((1023 + 486) << 52);
const SMALL_SCALE: f64 = f64::from_bits((1023 + 537) << 52);
const BIG_SCALE: f64 = f64::from_bits((1023 - 538) << 52);

crate::reduction! {
    /// Squares of medium, of small and of large components, each scaled so that no square over- or underflows (J. L.
    /// Blue, *A portable Fortran program to find the Euclidean norm of a vector*, ACM TOMS 4(1), 1978). Narrow dtypes,
    /// whose squares a wider one holds, have medium ones only.
    NormTwoFn "linalg_vector_norm": FloatComplex, (WidenedReal, WidenedReal, WidenedReal), WithIdentity => Real;
    ReduceRule::OWN
}

/// Medium, small and large squares.
type Bins<R> = (R, R, R);

#[inline(always)]
fn bins<R: TrueDivision + Ordered + Magnitude<Re = R>>(x: R) -> Bins<R> {
    let a = x.abs();
    let zero = R::from_bool(false);
    let (is_small, is_big) = (a.lt(R::from_f64(SMALL)), a.gt(R::from_f64(BIG)));
    let small = R::select(is_small, a * R::from_f64(SMALL_SCALE), zero);
    let big = R::select(is_big, a * R::from_f64(BIG_SCALE), zero);
    let medium = R::select(is_small | is_big, zero, a);
    (medium * medium, small * small, big * big)
}

#[inline(always)]
fn add<R: TrueDivision>(a: Bins<R>, b: Bins<R>) -> Bins<R> {
    (a.0 + b.0, a.1 + b.1, a.2 + b.2)
}

impl<V, X> Fold<V, X> for NormTwoFn
where
    V: Widen<Wide: Components<Re: TrueDivision + Ordered + Root + Magnitude<Re = <V::Wide as Value>::Re>>>,
    V::Re: Widen<Wide = <V::Wide as Value>::Re>,
    X: Value<Mask = V::Mask>,
{
    #[inline(always)]
    fn one(x: V, _: X) -> AccumulatorOf<Self, V, X> {
        let [re, im] = x.widen().components();
        if const { V::Wide::ARE_TWO } { add(bins(re), bins(im)) } else { bins(re) }
    }
    #[inline(always)]
    fn merge(a: AccumulatorOf<Self, V, X>, b: AccumulatorOf<Self, V, X>) -> AccumulatorOf<Self, V, X> {
        add(a, b)
    }
    #[inline(always)]
    fn finish((medium, small, big): AccumulatorOf<Self, V, X>, _: X) -> V::Re {
        type Wide<V> = <<V as Widen>::Wide as Value>::Re;
        let number = |x: f64| Wide::<V>::from_f64(x);
        let zero = number(0.0);
        let (down, up) = (number(1.0 / SMALL_SCALE), number(1.0 / BIG_SCALE));
        let large = (big + medium * number(BIG_SCALE) * number(BIG_SCALE)).sqrt() * up;
        let usual = (medium + small * down * down).sqrt();
        let tiny = small.sqrt() * down;
        let usual = Value::select(medium.eq(zero), tiny, usual);
        V::Re::narrow(Value::select(big.gt(zero), large, usual))
    }
    #[inline(always)]
    fn identity() -> AccumulatorOf<Self, V, X> {
        (Value::from_bool(false), Value::from_bool(false), Value::from_bool(false))
    }
}

/// Folds of absolute values that differ in how two are merged.
macro_rules! folds_of_magnitudes {
    ($($(#[$doc:meta])* $fold:ident: |$a:ident, $b:ident| $merge:expr, from $identity:expr;)*) => {$(
        crate::reduction! {
            $(#[$doc])*
            $fold "linalg_vector_norm": FloatComplex, WidenedReal, WithIdentity => Real; ReduceRule::OWN
        }
        impl<V, X> Fold<V, X> for $fold
        where
            V: Widen<Wide: Magnitude<Re: TrueDivision + Ordered>>,
            V::Re: Widen<Wide = <V::Wide as Value>::Re>,
            X: Value<Mask = V::Mask>,
        {
            #[inline(always)]
            fn one(x: V, _: X) -> <V::Wide as Value>::Re {
                x.widen().abs()
            }
            #[inline(always)]
            fn merge($a: <V::Wide as Value>::Re, $b: <V::Wide as Value>::Re) -> <V::Wide as Value>::Re {
                $merge
            }
            #[inline(always)]
            fn finish(acc: <V::Wide as Value>::Re, _: X) -> V::Re {
                V::Re::narrow(acc)
            }
            #[inline(always)]
            fn identity() -> <V::Wide as Value>::Re {
                Value::from_f64($identity)
            }
        }
    )*};
}
folds_of_magnitudes! {
    /// The sum of absolute values.
    NormOneFn: |a, b| a + b, from 0.0;
    /// The largest absolute value.
    NormMaxFn: |a, b| a.maximum(b), from 0.0;
    /// The smallest absolute value.
    NormMinFn: |a, b| a.minimum(b), from f64::INFINITY;
}

crate::reduction! {
    /// The root of the sum of powers of absolute values, of any order; of order 0, how many elements are not 0.
    NormPowerFn "linalg_vector_norm": FloatComplex, WidenedReal, WithIdentity => Real; ReduceRule::OWN
}

impl<V, X> Fold<V, X> for NormPowerFn
where
    V: Widen<Wide: Magnitude<Re: TrueDivision + Ordered + Power>>,
    V::Re: Widen<Wide = <V::Wide as Value>::Re>,
    X: Value<Mask = V::Mask>,
{
    #[inline(always)]
    fn one(x: V, at: X) -> <V::Wide as Value>::Re {
        <Self as Fold<V, X>>::one_by(x, at, [0.0; 2])
    }
    #[inline(always)]
    fn one_by(x: V, _: X, [order, _]: Numbers) -> <V::Wide as Value>::Re {
        let a = x.widen().abs();
        if order == 0.0 {
            Value::select(a.truth(), Value::from_bool(true), Value::from_bool(false))
        } else {
            a.pow(Value::from_f64(order))
        }
    }
    #[inline(always)]
    fn four_by([a, b, c, d]: [V; 4], [i, j, k, l]: [X; 4], numbers: Numbers) -> <V::Wide as Value>::Re {
        let one = |x, at| <Self as Fold<V, X>>::one_by(x, at, numbers);
        (one(a, i) + one(b, j)) + (one(c, k) + one(d, l))
    }
    #[inline(always)]
    fn merge(a: <V::Wide as Value>::Re, b: <V::Wide as Value>::Re) -> <V::Wide as Value>::Re {
        a + b
    }
    #[inline(always)]
    fn finish(acc: <V::Wide as Value>::Re, count: X) -> V::Re {
        <Self as Fold<V, X>>::finish_by(acc, count, [0.0; 2])
    }
    #[inline(always)]
    fn finish_by(acc: <V::Wide as Value>::Re, _: X, [order, _]: Numbers) -> V::Re {
        V::Re::narrow(if order == 0.0 { acc } else { acc.pow(Value::from_f64(1.0 / order)) })
    }
    #[inline(always)]
    fn identity() -> <V::Wide as Value>::Re {
        Value::from_bool(false)
    }
}

/// A number without an imaginary part.
pub(super) fn real(number: Scalar) -> Result<f64> {
    let value = number.to_complex();
    if value.im != 0.0 {
        let rule = "found a complex number as the order or the correction; accepted are real numbers";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    Ok(value.re)
}

/// `linalg_vector_norm`: the fold for the order.
pub struct VectorNorm;

type Args<'t> = (Operand<'t>, Scalar, Option<&'t [i64]>, bool, Option<DType>);

impl VectorNorm {
    fn fold<'t, F, D, S>((x, _, dims, keepdim, dtype): Args<'t>, order: f64, sink: S) -> Result<S::Value>
    where
        F: ReduceFn,
        D: Device + Executes<Reduce<F>>,
        S: ValueSink<'t, D>,
    {
        let dims = dims.map_or(Dims::All, Dims::List);
        let inputs = ReduceInputs::told(x, (dims, keepdim), (dtype, false), [order, 0.0]);
        call::<Reduce<F>, D, S>(&inputs, sink).map(S::value::<Reduce<F>>)
    }
}

/// What is wrong with the dtypes, or with a reduction over no element by an order that says nothing of it.
fn check((x, _, dims, _, dtype): Args<'_>, order: f64) -> Result<()> {
    let accepted = "floating and complex dtypes";
    let got = x.dtype().unwrap_or(DType::I64);
    if got.is_integral(true) {
        return Err(ErrorKind::DTypeNotSupported { what: "argument self has dtype", got, accepted }.into());
    }
    if let Some(to) = dtype {
        if to.is_integral(true) {
            return Err(ErrorKind::DTypeNotSupported { what: "argument dtype is", got: to, accepted }.into());
        }
        if to.is_complex() != got.is_complex() || got.promote(to) != to {
            let rule = "argument dtype is real where the input is complex, complex where it is real, or narrower than \
                        the input; give one that holds all of its numbers";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
    }
    let sizes = x.sizes();
    if sizes.contains(&0) && (order < 0.0 || order == f64::INFINITY) {
        let Some(list) = dims.filter(|list| !list.is_empty()) else { return Err(ErrorKind::EmptyInput.into()) };
        for &dim in list {
            let dim = wrap_dim(dim, sizes.len(), "dim")?;
            if sizes[dim] == 0 {
                return Err(ErrorKind::EmptyReduction { dim: dim as i64 }.into());
            }
        }
    }
    Ok(())
}

impl<'t, D: Norms> Operator<'t, D, Args<'t>> for VectorNorm {
    fn call<S: ValueSink<'t, D>>(args: Args<'t>, sink: S) -> Result<S::Value> {
        let order = real(args.1)?;
        check(args, order)?;
        match order {
            2.0 => Self::fold::<NormTwoFn, D, S>(args, order, sink),
            1.0 => Self::fold::<NormOneFn, D, S>(args, order, sink),
            f64::INFINITY => Self::fold::<NormMaxFn, D, S>(args, order, sink),
            f64::NEG_INFINITY => Self::fold::<NormMinFn, D, S>(args, order, sink),
            _ => Self::fold::<NormPowerFn, D, S>(args, order, sink),
        }
    }
}

/// `norm`: the same, of order 2 where none is given.
pub struct Norm;

impl Norm {
    fn of<'t, D: Norms, S: ValueSink<'t, D>>(
        (x, order, dims, keepdim, dtype): (Operand<'t>, Option<Scalar>, Option<&'t [i64]>, bool, Option<DType>),
        sink: S,
    ) -> Result<S::Value> {
        let order = order.unwrap_or(Scalar::Int(2));
        <VectorNorm as Operator<'t, D, Args<'t>>>::call((x, order, dims, keepdim, dtype), sink)
    }
}

impl<'t, D: Norms> Operator<'t, D, (Operand<'t>, Option<Scalar>, DType)> for Norm {
    fn call<S: ValueSink<'t, D>>((x, order, dtype): (Operand<'t>, Option<Scalar>, DType), sink: S) -> Result<S::Value> {
        Self::of::<D, S>((x, order, None, false, Some(dtype)), sink)
    }
}

impl<'t, D: Norms> Operator<'t, D, (Operand<'t>, Option<Scalar>, &'t [i64], bool)> for Norm {
    fn call<S: ValueSink<'t, D>>(
        (x, order, dims, keepdim): (Operand<'t>, Option<Scalar>, &'t [i64], bool),
        sink: S,
    ) -> Result<S::Value> {
        Self::of::<D, S>((x, order, Some(dims), keepdim, None), sink)
    }
}

impl<'t, D: Norms> Operator<'t, D, (Operand<'t>, Option<Scalar>, &'t [i64], bool, DType)> for Norm {
    fn call<S: ValueSink<'t, D>>(
        (x, order, dims, keepdim, dtype): (Operand<'t>, Option<Scalar>, &'t [i64], bool, DType),
        sink: S,
    ) -> Result<S::Value> {
        Self::of::<D, S>((x, order, Some(dims), keepdim, Some(dtype)), sink)
    }
}

/// `frobenius_norm`: of order 2.
pub struct FrobeniusNorm;

impl<'t, D: Norms> Operator<'t, D, (Operand<'t>, &'t [i64], bool)> for FrobeniusNorm {
    fn call<S: ValueSink<'t, D>>((x, dims, keepdim): (Operand<'t>, &'t [i64], bool), sink: S) -> Result<S::Value> {
        if dims.len() > 2 {
            return Err(ErrorKind::ListLength { arg: "dim", got: dims.len(), want: 2 }.into());
        }
        Norm::of::<D, S>((x, None, Some(dims), keepdim, None), sink)
    }
}

native! {
    family: Norms;

    structured: Reduce<NormTwoFn>;

    structured: Reduce<NormOneFn>;

    structured: Reduce<NormMaxFn>;

    structured: Reduce<NormMinFn>;

    structured: Reduce<NormPowerFn>;

    /// The norm of the elements along the dimensions `dim` as one vector; all of them without the option `dim`.
    ///
    /// The order `ord` is 2 unless it is given: the root of the sum of squares, which over- or underflows only where the
    /// norm does. 1 is the sum of absolute values, infinity the largest and minus infinity the smallest of them, 0 the
    /// number of elements that are not 0, and any other p the p-th root of the sum of p-th powers. The dimensions go, or
    /// become 1 with `keepdim`. The dtype stays, but that of complex numbers becomes real; the option `dtype` converts
    /// the elements first. Integers and bool are an error, and so is a smallest or largest of no elements.
    ///
    /// ```
    /// let x = tensor![[3.0f32, 4.0], [0.0, -1.0]];
    /// let rows = LinalgVectorNorm { dim: Some(&[1]), ..Default::default() };
    /// assert_eq!(x.linalg_vector_norm_with(2, rows)?.to_vec::<f32>()?, [5.0, 1.0]);
    /// assert_eq!(x.linalg_vector_norm(1)?.at::<f32>(())?, 8.0);
    /// ```
    func: linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None)
        -> Tensor,
    out: linalg_vector_norm.out, variants: function, positional: [ord], operator: VectorNorm;

    func: norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor,
    autogen: norm.ScalarOpt_dtype_out, operator: Norm;

    func: norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor,
    out: norm.out, operator: Norm;

    func: norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor,
    out: norm.dtype_out, operator: Norm;

    func: frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor,
    out: frobenius_norm.out, operator: FrobeniusNorm;
}
