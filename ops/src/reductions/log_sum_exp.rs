//! `logcumsumexp`: logarithms of running sums of exponentials, none of which overflows: a sum is kept as a part of the
//! exponential of its largest element.

use crate::algebra::{Components, Equal, Exponential, Logarithm, Num, Ordered, Value, Widen};
use crate::pointwise::Common;
use crate::pointwise::FloatComplex;
use crate::reduce::{AccumulatorOf, Fold, ReduceRule, Widened, WidenedReal, WithIdentity};
use crate::scan::{Scan, ScanFn, ScanInputs};
use crate::table::native;
use monomorph_core::structured::{Executes, FromArgs, Operand, Operator, ValueSink, call};
use monomorph_core::{Device, Result};

crate::reduction! {
    /// The largest exponent, and the sum of exponentials divided by that of it. Of complex numbers the largest real
    /// part, and the logarithm itself: its imaginary part is that of the largest exponent and what the others turn it
    /// by, as PyTorch has it, and not reduced to one turn.
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
        (re, x)
    }
    #[inline(always)]
    fn merge(
        (most_a, sum_a): AccumulatorOf<Self, V, X>,
        (most_b, sum_b): AccumulatorOf<Self, V, X>,
    ) -> AccumulatorOf<Self, V, X> {
        if const { V::Wide::ARE_TWO } {
            // Both are logarithms, and the one whose real part is larger is the one to add to; of equal ones the later.
            let ([a, _], [b, _]) = (sum_a.components(), sum_b.components());
            let a_is_more = a.gt(b);
            let larger = Value::select(a_is_more, sum_a, sum_b);
            let smaller: V::Wide = Value::select(a_is_more, sum_b, sum_a);
            // Equal real parts may be infinite, and nothing is left of the smaller one then.
            let infinity: <V::Wide as Value>::Re = Value::from_f64(f64::INFINITY);
            let infinite = a.eq(b) & (a.eq(infinity) | a.eq(-infinity));
            let rest = Value::select(infinite, Value::from_bool(false), (smaller - larger).exp());
            return (most_a.maximum(most_b), larger + rest.log1p());
        }
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
        if const { V::Wide::ARE_TWO } {
            return V::narrow(sum);
        }
        V::narrow(sum.log() + V::Wide::one().scaled(most))
    }
    #[inline(always)]
    fn identity() -> AccumulatorOf<Self, V, X> {
        let low = f64::NEG_INFINITY;
        let none = if const { V::Wide::ARE_TWO } { V::Wide::from_complex(low, 0.0) } else { Value::from_bool(false) };
        (Value::from_f64(low), none)
    }
}

/// `logcumsumexp`.
pub struct LogcumsumexpFn;

impl ScanFn for LogcumsumexpFn {
    const NAME: &'static str = "logcumsumexp";
    type Domain = FloatComplex;
    type Fold = LogSumExpFn;
}

/// `logcumsumexp`: in the dtype of its input, which an output must have; `_logcumsumexp` computes in that of an output.
pub struct Logcumsumexp;

impl<'t, D: Device + Executes<Scan<LogcumsumexpFn>>> Operator<'t, D, (Operand<'t>, i64)> for Logcumsumexp {
    fn call<S: ValueSink<'t, D>>((x, dim): (Operand<'t>, i64), sink: S) -> Result<S::Value> {
        let inputs = ScanInputs::from_args((x, dim))?.in_own_dtype();
        call::<Scan<LogcumsumexpFn>, D, S>(&inputs, sink).map(S::value::<Scan<LogcumsumexpFn>>)
    }
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
    out: logcumsumexp.out, variants: function, method, operator: Logcumsumexp;

    func: _logcumsumexp(Tensor self, int dim) -> Tensor,
    out: _logcumsumexp.out, structured: Scan<LogcumsumexpFn>;
}
