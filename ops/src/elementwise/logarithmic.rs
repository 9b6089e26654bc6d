//! Logarithms besides log, which is with the exponentials, and what is made of them: log2, log10, log1p, logaddexp,
//! xlogy.

use crate::algebra::{Exponential, Logarithm, Real, log_of_sum};
use crate::pointwise::{Common, FloatComplex, Map, Reals, Rule, Same, pointwise};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use std::f64::consts::LOG2_E;

pointwise! { Log2Fn "log2": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Logarithm> Map<V> for Log2Fn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.log2()
    }
}

pointwise! { Log10Fn "log10": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Logarithm> Map<V> for Log10Fn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.log10()
    }
}

pointwise! { Log1pFn "log1p": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Logarithm> Map<V> for Log1pFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.log1p()
    }
}

pointwise! { LogaddexpFn "logaddexp": FloatComplex, Same<2>; () => Common; Rule::BINARY }
impl<V: Logarithm> Map<V> for LogaddexpFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.log_sum_exp(b)
    }
}

pointwise! { Logaddexp2Fn "logaddexp2": Reals, Same<2>; () => Common; Rule::BINARY }
impl<V: Real + Exponential + Logarithm> Map<V> for Logaddexp2Fn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        log_of_sum(a, b, |x| x.exp2().log1p() * V::from_f64(LOG2_E))
    }
}

/// x times a logarithm of y: 0 where x is, but NaN where y is.
#[inline(always)]
fn times_log<V: Real>(x: V, y: V, log: V) -> V {
    V::select(y.is_nan(), y, V::select(x.eq(V::zero()), V::zero(), x * log))
}

pointwise! { XlogyFn "xlogy": Reals, Same<2>; () => Common; Rule::BINARY_FLOAT }
impl<V: Real + Logarithm> Map<V> for XlogyFn {
    #[inline(always)]
    fn eval([x, y]: [V; 2], (): ()) -> V {
        times_log(x, y, y.log())
    }
}

pointwise! { Xlog1pyFn "special_xlog1py": Reals, Same<2>; () => Common; Rule::BINARY_FLOAT }
impl<V: Real + Logarithm> Map<V> for Xlog1pyFn {
    #[inline(always)]
    fn eval([x, y]: [V; 2], (): ()) -> V {
        times_log(x, y, y.log1p())
    }
}

/// One operand; a new output is row-major, whatever the strides of the operand.
pub(crate) const ROW_MAJOR: Rule = Rule::UNARY.linear();

pointwise! { LogSigmoidFn "log_sigmoid": Reals, Same<1>; () => Common; ROW_MAJOR }
impl<V: Real + Exponential + Logarithm> Map<V> for LogSigmoidFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.minimum(V::zero()) - (-a.abs()).exp().log1p()
    }
}

pointwise! { EntrFn "special_entr": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Real + Logarithm> Map<V> for EntrFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        let below = V::select(a.eq(V::zero()), V::zero(), V::from_f64(f64::NEG_INFINITY));
        let result = V::select(a.gt(V::zero()), -a * a.log(), below);
        V::select(a.is_nan(), a, result)
    }
}

record! { Log2Fn "log2: x", Any within 4: float |[a], []| a.log2(), complex |[a], []| a.ln() * LOG2_E }
record! {
    Log10Fn "log10: x", Any within 4: float |[a], []| a.log10(), complex |[a], []| a.ln() * std::f64::consts::LOG10_E
}
record! { Log1pFn "log1p: x", Any within 4: float |[a], []| a.ln_1p(), complex |[a], []| (a + 1.0).ln() }
record! { LogaddexpFn "logaddexp: x x", Any within 4:
float |[a, b], []| if a == b { a + std::f64::consts::LN_2 } else { a.max(b) + (-(a - b).abs()).exp().ln_1p() },
complex |[a, b], []| { let (small, large) = if a.re < b.re { (a, b) } else { (b, a) };
    large + reference::log1p((small - large).exp()) } }
record! { Logaddexp2Fn "logaddexp2: x x", Any within 4:
float |[a, b], []| if a == b { a + 1.0 } else { a.max(b) + (-(a - b).abs()).exp2().ln_1p() * LOG2_E } }
record! { XlogyFn "xlogy.Tensor: x x", Any within 4:
float |[x, y], []| if y.is_nan() { y } else if x == 0.0 { 0.0 } else { x * y.ln() } }
record! { Xlog1pyFn "special_xlog1py: x x", Any within 4:
float |[x, y], []| if y.is_nan() { y } else if x == 0.0 { 0.0 } else { x * y.ln_1p() } }
record! { LogSigmoidFn "log_sigmoid: x", Any within 4: float |[a], []| {
    if a.is_nan() { a } else { a.min(0.0) - (-a.abs()).exp().ln_1p() }
} }
record! { EntrFn "special_entr: x", Any within 4: float |[a], []| match a {
    _ if a.is_nan() => a,
    _ if a > 0.0 => -a * a.ln(),
    _ if a == 0.0 => 0.0,
    _ => f64::NEG_INFINITY,
} }

/// What the records call.
#[cfg(feature = "record")]
mod reference {
    use monomorph_core::Complex64;

    /// log(1 + z), which keeps the digits of a small z.
    pub(super) fn log1p(z: Complex64) -> Complex64 {
        Complex64::new(0.5 * (z.re * (z.re + 2.0) + z.im * z.im).ln_1p(), z.im.atan2(1.0 + z.re))
    }
}

native! {
    family: Logarithmic;

    /// The logarithm to the base 2 elementwise.
    ///
    /// Integers and bool give float32. Of 0 it is -∞, of negative numbers NaN.
    ///
    /// ```
    /// let x = tensor![1, 8];
    /// assert_eq!(x.log2()?.to_vec::<f32>()?, [0.0, 3.0]);
    /// ```
    func: log2(Tensor self) -> Tensor,
    inplace: log2_, out: log2.out, variants: function, method, structured: Pointwise<Log2Fn>;

    /// The logarithm to the base 10 elementwise.
    ///
    /// Integers and bool give float32. Of 0 it is -∞, of negative numbers NaN.
    ///
    /// ```
    /// let x = tensor![1, 100];
    /// assert_eq!(x.log10()?.to_vec::<f32>()?, [0.0, 2.0]);
    /// ```
    func: log10(Tensor self) -> Tensor,
    inplace: log10_, out: log10.out, variants: function, method, structured: Pointwise<Log10Fn>;

    /// The natural logarithm of 1 more, elementwise: `log(1 + self)`, exact near 0.
    ///
    /// Integers and bool give float32. Of -1 it is -∞, of smaller numbers NaN.
    ///
    /// ```
    /// let x = tensor![0.0f32, 1e-10];
    /// assert_eq!(x.log1p()?.to_vec::<f32>()?, [0.0, 1.0e-10]);
    /// ```
    func: log1p(Tensor self) -> Tensor,
    inplace: log1p_, out: log1p.out, variants: function, method, structured: Pointwise<Log1pFn>;

    /// [`log1p`](super::functions::log1p) under another name.
    func: special_log1p(Tensor self) -> Tensor,
    out: special_log1p.out, variants: function, method, structured: Pointwise<Log1pFn>;

    /// The logarithm of a sum of exponentials elementwise: `log(e^self + e^other)` without overflow on the way.
    ///
    /// The operands broadcast and promote to a float dtype; integers are an error.
    ///
    /// ```
    /// let x = tensor![0.0f32, 1000.0];
    /// assert_eq!(x.logaddexp(f32::NEG_INFINITY)?.to_vec::<f32>()?, [0.0, 1000.0]);
    /// ```
    func: logaddexp(Tensor self, Tensor other) -> Tensor,
    out: logaddexp.out, variants: function, method, structured: Pointwise<LogaddexpFn>;

    /// The logarithm of a sum of powers of two elementwise: `log2(2^self + 2^other)` without overflow on the way.
    ///
    /// The operands broadcast and promote to a float dtype; integers are an error.
    ///
    /// ```
    /// let x = tensor![0.0f32, 1000.0];
    /// assert_eq!(x.logaddexp2(&x)?.to_vec::<f32>()?, [1.0, 1001.0]);
    /// ```
    func: logaddexp2(Tensor self, Tensor other) -> Tensor,
    out: logaddexp2.out, variants: function, method, structured: Pointwise<Logaddexp2Fn>;

    /// The product of `self` and the logarithm of `other`, elementwise: `self · log(other)`, and 0 where `self` is 0.
    ///
    /// NaN in `other` stays NaN. The operands broadcast; integers and bool give float32.
    ///
    /// ```
    /// let x = tensor![0.0f32, 2.0];
    /// assert_eq!(x.xlogy(&tensor![0.0f32, 1.0])?.to_vec::<f32>()?, [0.0, 0.0]);
    /// ```
    func: xlogy.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: xlogy_.Tensor, out: xlogy.OutTensor, variants: function, method, structured: Pointwise<XlogyFn>;

    func: xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor,
    out: xlogy.OutScalar_Self, structured: Pointwise<XlogyFn>;

    func: xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor,
    inplace: xlogy_.Scalar_Other, out: xlogy.OutScalar_Other, structured: Pointwise<XlogyFn>;

    /// [`xlogy`](super::functions::xlogy) under another name.
    func: special_xlogy(Tensor self, Tensor other) -> Tensor,
    out: special_xlogy.out, variants: function, method, structured: Pointwise<XlogyFn>;

    func: special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor,
    out: special_xlogy.self_scalar_out, structured: Pointwise<XlogyFn>;

    func: special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor,
    out: special_xlogy.other_scalar_out, structured: Pointwise<XlogyFn>;

    /// The product of `self` and the logarithm of 1 more than `other`: `self · log(1 + other)`, and 0 where `self` is
    /// 0.
    ///
    /// NaN in `other` stays NaN. The operands broadcast; integers and bool give float32.
    ///
    /// ```
    /// let x = tensor![0.0f32, 2.0];
    /// assert_eq!(x.special_xlog1py(&tensor![-1.0f32, 0.0])?.to_vec::<f32>()?, [0.0, 0.0]);
    /// ```
    func: special_xlog1py(Tensor self, Tensor other) -> Tensor,
    out: special_xlog1py.out, variants: function, method, structured: Pointwise<Xlog1pyFn>;

    func: special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor,
    out: special_xlog1py.self_scalar_out, structured: Pointwise<Xlog1pyFn>;

    func: special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor,
    out: special_xlog1py.other_scalar_out, structured: Pointwise<Xlog1pyFn>;

    /// The logarithm of the logistic function elementwise: `-log(1 + e^-self)`, without overflow on the way.
    ///
    /// Floats only.
    ///
    /// ```
    /// let x = tensor![-1000.0f32, 1000.0];
    /// assert_eq!(x.log_sigmoid()?.to_vec::<f32>()?, [-1000.0, 0.0]);
    /// ```
    func: log_sigmoid(Tensor self) -> Tensor,
    out: log_sigmoid.out, variants: function, method, structured: Pointwise<LogSigmoidFn>;

    /// The entropy of each element: `-self · log(self)`, 0 of 0, -∞ of negative numbers.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// let x = tensor![0.0f32, 1.0, -1.0];
    /// assert_eq!(x.special_entr()?.to_vec::<f32>()?, [0.0, -0.0, -f32::INFINITY]);
    /// ```
    func: special_entr(Tensor self) -> Tensor,
    out: special_entr.out, variants: function, method, structured: Pointwise<EntrFn>;
}
