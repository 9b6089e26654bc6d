//! Norms of vectors as folds, one for each sort of order. Which one an operator takes is said in `vector_norm.rs`.

use crate::algebra::{
    Components, Equal, Exponential, Logarithm, Magnitude, Ordered, Power, Root, TrueDivision, Value, Widen, squared,
};
use crate::pointwise::FloatComplex;
use crate::reduce::{AccumulatorOf, Fold, Numbers, Real, ReduceRule, WidenedReal, WithIdentity};
use std::any::TypeId;

/// Below the first number and above the second, squares of float64 lose bits or overflow; the third and the fourth are
/// the powers of two by which such elements are scaled first.
const SMALL: f64 = f64::from_bits((1023 - 511) << 52);
const BIG: f64 = f64::from_bits((1023 + 486) << 52);
const SMALL_SCALE: f64 = f64::from_bits((1023 + 537) << 52);
const BIG_SCALE: f64 = f64::from_bits((1023 - 538) << 52);

crate::reduction! {
    /// The root of the sum of squares, for dtypes whose squares a wider one holds. Where there is none, squares may
    /// over- or underflow: [`NormTwoScaledFn`].
    NormTwoFn "linalg_vector_norm": FloatComplex, WidenedReal, WithIdentity => Real; ReduceRule::OWN
}

impl<V, X> Fold<V, X> for NormTwoFn
where
    V: Widen<Wide: Components<Re: TrueDivision + Root>>,
    V::Re: Widen<Wide = <V::Wide as Value>::Re>,
    X: Value<Mask = V::Mask>,
{
    #[inline(always)]
    fn one(x: V, _: X) -> <V::Wide as Value>::Re {
        squared(x.widen())
    }
    #[inline(always)]
    fn merge(a: <V::Wide as Value>::Re, b: <V::Wide as Value>::Re) -> <V::Wide as Value>::Re {
        a + b
    }
    #[inline(always)]
    fn finish(acc: <V::Wide as Value>::Re, _: X) -> V::Re {
        V::Re::narrow(acc.sqrt())
    }
    #[inline(always)]
    fn identity() -> <V::Wide as Value>::Re {
        Value::from_bool(false)
    }
}

crate::reduction! {
    /// Squares of medium, of small and of large components, each scaled so that no square over- or underflows (J. L.
    /// Blue, *A portable Fortran program to find the Euclidean norm of a vector*, ACM TOMS 4(1), 1978).
    NormTwoScaledFn "linalg_vector_norm": FloatComplex, (WidenedReal, WidenedReal, WidenedReal), WithIdentity => Real;
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

impl<V, X> Fold<V, X> for NormTwoScaledFn
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

/// Whether sums are of a wider type, which holds every square.
#[inline(always)]
fn has_wider<V: Widen>() -> bool {
    TypeId::of::<V>() != TypeId::of::<V::Wide>()
}

crate::reduction! {
    /// The root of the sum of powers of absolute values, of any order; of order 0, how many elements are not 0. The sum
    /// itself where the second number is not 0, to which 0 adds 1 by order 0.
    NormPowerFn "linalg_vector_norm": FloatComplex, WidenedReal, WithIdentity => Real; ReduceRule::OWN
}

impl<V, X> Fold<V, X> for NormPowerFn
where
    V: Widen<Wide: Magnitude<Re: TrueDivision + Ordered + Power + Exponential + Logarithm>>,
    V::Re: Widen<Wide = <V::Wide as Value>::Re>,
    X: Value<Mask = V::Mask>,
{
    #[inline(always)]
    fn one(x: V, at: X) -> <V::Wide as Value>::Re {
        <Self as Fold<V, X>>::one_by(x, at, [0.0; 2])
    }
    #[inline(always)]
    fn one_by(x: V, _: X, [order, is_sum]: Numbers) -> <V::Wide as Value>::Re {
        let a = x.widen().abs();
        if order == 0.0 {
            return Value::select(a.truth(), Value::from_bool(true), Value::from_bool(is_sum != 0.0));
        }
        // Of a wider type all digits count that the result has, and more: unlike a power, this vectorises.
        if has_wider::<V>() { (a.log() * Value::from_f64(order)).exp() } else { a.pow(Value::from_f64(order)) }
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
    fn finish_by(acc: <V::Wide as Value>::Re, _: X, [order, is_sum]: Numbers) -> V::Re {
        V::Re::narrow(if order == 0.0 || is_sum != 0.0 { acc } else { acc.pow(Value::from_f64(1.0 / order)) })
    }
    #[inline(always)]
    fn identity() -> <V::Wide as Value>::Re {
        Value::from_bool(false)
    }
}
