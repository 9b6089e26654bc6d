//! `logcumsumexp`: logarithms of running sums of exponentials, none of which overflows: a sum is kept as a part of the
//! exponential of its largest element.

use crate::algebra::{Components, Equal, Exponential, Logarithm, Num, Ordered, Value, Widen};
use crate::pointwise::Common;
use crate::pointwise::FloatComplex;
use crate::reduce::{AccumulatorOf, Fold, ReduceRule, Widened, WidenedReal, WithIdentity};
use crate::scan::{Scan, ScanFn};
use crate::table::native;

crate::reduction! {
    /// The largest exponent, of complex numbers the largest real part, and the sum of exponentials divided by that of it.
    LogSumExpFn "logcumsumexp": FloatComplex, (WidenedReal, Widened), WithIdentity => Common; ReduceRule::OWN
}

impl<V, X> Fold<V, X> for LogSumExpFn
where
    V: Widen<Wide: Components<Re: Ordered + Num + Exponential> + Exponential + Logarithm>,
    X: Value<Mask = V::Mask>,
{
    #[inline(always)]
    fn one(x: V, _: X) -> AccumulatorOf<Self, V, X> {
        let x = x.widen();
        let [re, _] = x.components();
        if const { !V::Wide::ARE_TWO } {
            return (re, V::Wide::one());
        }
        // The difference of infinities would be NaN.
        let infinity = Value::from_f64(f64::INFINITY);
        let finite = Value::select(re.lt(infinity) & re.gt(-infinity), re, Value::from_bool(false));
        (finite, (x - V::Wide::one().scaled(finite)).exp())
    }
    #[inline(always)]
    fn merge(
        (most_a, sum_a): AccumulatorOf<Self, V, X>,
        (most_b, sum_b): AccumulatorOf<Self, V, X>,
    ) -> AccumulatorOf<Self, V, X> {
        let a_is_more = most_a.ge(most_b);
        let (most, least) = (most_a.maximum(most_b), most_a.minimum(most_b));
        // Equal ones may be infinite.
        let way = Value::select(most_a.eq(most_b), Value::from_bool(false), least - most);
        let larger = Value::select(a_is_more, sum_a, sum_b);
        let smaller: V::Wide = Value::select(a_is_more, sum_b, sum_a);
        (most, larger + smaller.scaled(way.exp()))
    }
    #[inline(always)]
    fn finish((most, sum): AccumulatorOf<Self, V, X>, _: X) -> V {
        V::narrow(sum.log() + V::Wide::one().scaled(most))
    }
    #[inline(always)]
    fn identity() -> AccumulatorOf<Self, V, X> {
        (Value::from_f64(f64::NEG_INFINITY), Value::from_bool(false))
    }
}

/// `logcumsumexp`.
pub struct LogcumsumexpFn;

impl ScanFn for LogcumsumexpFn {
    const NAME: &'static str = "logcumsumexp";
    type Domain = FloatComplex;
    type Fold = LogSumExpFn;
}

native! {
    family: LogSumExp;

    /// Logarithms of the sums of exponentials of all elements up to each along the dimension `dim`.
    ///
    /// Nothing overflows on the way. The sizes and the dtype stay; integers and bool are an error. From the first NaN
    /// on, all is NaN.
    ///
    /// ```
    /// let x = tensor![1000.0f32, 1000.0];
    /// assert_eq!(x.logcumsumexp(0)?.to_vec::<f32>()?, [1000.0, 1000.0 + 2.0f32.ln()]);
    /// ```
    func: logcumsumexp(Tensor self, int dim) -> Tensor,
    out: logcumsumexp.out, variants: function, method, structured: Scan<LogcumsumexpFn>;

    func: _logcumsumexp(Tensor self, int dim) -> Tensor,
    out: _logcumsumexp.out, structured: Scan<LogcumsumexpFn>;
}
