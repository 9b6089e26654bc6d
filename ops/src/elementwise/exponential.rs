//! Exponentials and their kin: exp, exp2, expm1, log, tanh, sigmoid, erf, its complement and its inverse.

use crate::algebra::{Exponential, Gaussian, Hyperbolic, Logarithm};
use crate::pointwise::{Common, FloatComplex, Map, Reals, Rule, Same, pointwise};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;

pointwise! { ExpFn "exp": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Exponential> Map<V> for ExpFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.exp()
    }
}

pointwise! { LogFn "log": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Logarithm> Map<V> for LogFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.log()
    }
}

pointwise! { TanhFn "tanh": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Hyperbolic> Map<V> for TanhFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.tanh()
    }
}

pointwise! { SigmoidFn "sigmoid": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Hyperbolic> Map<V> for SigmoidFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.sigmoid()
    }
}

pointwise! { ErfFn "erf": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Gaussian> Map<V> for ErfFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.erf()
    }
}

pointwise! { Exp2Fn "exp2": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Exponential> Map<V> for Exp2Fn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.exp2()
    }
}

pointwise! { Expm1Fn "expm1": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Exponential> Map<V> for Expm1Fn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.expm1()
    }
}

pointwise! { ErfcFn "erfc": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Gaussian> Map<V> for ErfcFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.erfc()
    }
}

pointwise! { ErfinvFn "erfinv": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Gaussian> Map<V> for ErfinvFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.erfinv()
    }
}

record! { ExpFn "exp: x", Any within 2: float |[a], []| a.exp(), complex |[a], []| a.exp() }
record! { LogFn "log: x", Any within 2: float |[a], []| a.ln(), complex |[a], []| a.ln() }
record! { TanhFn "tanh: x", Any within 4: float |[a], []| a.tanh(), complex |[a], []| a.tanh() }
record! { SigmoidFn "sigmoid: x", Any within 4:
float |[a], []| record::logistic(a), complex |[a], []| record::c_logistic(a) }
record! { ErfFn "erf: x", Any within 64: float |[a], []| record::error_function(a) }

record! {
    Exp2Fn "exp2: x", Any within 4: float |[a], []| a.exp2(), complex |[a], []| (a * std::f64::consts::LN_2).exp()
}
record! {
    Expm1Fn "expm1: x", Any within 4: float |[a], []| a.exp_m1(), complex |[a], []| record::c_exp_m1(a)
}
record! { ErfcFn "erfc: x", Any within 16: float |[a], []| record::error_function_complement(a) }
record! { ErfinvFn "erfinv: x", Any within 4: float |[a], []| record::inverse_error_function(a) }

native! {
    family: Exponential;

    /// The exponential elementwise: `e^self`.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// assert_eq!(tensor![0, 1].exp()?.to_vec::<f32>()?, [1.0, std::f32::consts::E]);
    /// ```
    func: exp(Tensor self) -> Tensor,
    inplace: exp_, out: exp.out, variants: function, method, structured: Pointwise<ExpFn>;

    /// The natural logarithm elementwise.
    ///
    /// Integers and bool give float32. Of 0 it is -∞, of negative numbers NaN.
    ///
    /// ```
    /// let x = tensor![1.0f32, 0.0];
    /// assert_eq!(x.log()?.to_vec::<f32>()?, [0.0, -f32::INFINITY]);
    /// ```
    func: log(Tensor self) -> Tensor,
    inplace: log_, out: log.out, variants: function, method, structured: Pointwise<LogFn>;

    /// The hyperbolic tangent elementwise.
    ///
    /// Integers and bool give float32. The result is from -1 to 1.
    ///
    /// ```
    /// let x = tensor![0.0f32, f32::INFINITY];
    /// assert_eq!(x.tanh()?.to_vec::<f32>()?, [0.0, 1.0]);
    /// ```
    func: tanh(Tensor self) -> Tensor,
    inplace: tanh_, out: tanh.out, variants: function, method, structured: Pointwise<TanhFn>;

    /// The logistic function elementwise: `1 / (1 + e^-self)`.
    ///
    /// Integers and bool give float32. The result is from 0 to 1.
    ///
    /// ```
    /// let x = tensor![0.0f32, f32::INFINITY];
    /// assert_eq!(x.sigmoid()?.to_vec::<f32>()?, [0.5, 1.0]);
    /// ```
    func: sigmoid(Tensor self) -> Tensor,
    inplace: sigmoid_, out: sigmoid.out, variants: function, method, structured: Pointwise<SigmoidFn>;

    /// The error function elementwise: `2 / sqrt(π) · ∫ e^-t² dt` from 0 to `self`.
    ///
    /// Integers and bool give float32. Complex numbers are an error.
    ///
    /// ```
    /// let x = tensor![0.0f32, f32::INFINITY];
    /// assert_eq!(x.erf()?.to_vec::<f32>()?, [0.0, 1.0]);
    /// ```
    func: erf(Tensor self) -> Tensor,
    inplace: erf_, out: erf.out, variants: function, method, structured: Pointwise<ErfFn>;

    /// Two to the power of each element: `2^self`.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// let x = tensor![3, -1];
    /// assert_eq!(x.exp2()?.to_vec::<f32>()?, [8.0, 0.5]);
    /// ```
    func: exp2(Tensor self) -> Tensor,
    inplace: exp2_, out: exp2.out, variants: function, method, structured: Pointwise<Exp2Fn>;

    /// The exponential less 1, elementwise: `e^self - 1`, exact near 0.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// let x = tensor![0.0f32, 1e-10];
    /// assert_eq!(x.expm1()?.to_vec::<f32>()?, [0.0, 1.0e-10]);
    /// ```
    func: expm1(Tensor self) -> Tensor,
    inplace: expm1_, out: expm1.out, variants: function, method, structured: Pointwise<Expm1Fn>;

    /// The complement of the error function elementwise: `1 - erf(self)`, exact where that is near 0.
    ///
    /// Integers and bool give float32. Complex numbers are an error.
    ///
    /// ```
    /// let x = tensor![0.0f32, f32::INFINITY];
    /// assert_eq!(x.erfc()?.to_vec::<f32>()?, [1.0, 0.0]);
    /// ```
    func: erfc(Tensor self) -> Tensor,
    inplace: erfc_, out: erfc.out, variants: function, method, structured: Pointwise<ErfcFn>;

    /// The inverse of the error function elementwise: the number whose [`erf`](super::functions::erf) is `self`.
    ///
    /// Integers and bool give float32. Of 1 it is infinite, beyond -1 and 1 NaN. Complex numbers are an error.
    ///
    /// ```
    /// let x = tensor![0.0f32, 1.0];
    /// assert_eq!(x.erfinv()?.to_vec::<f32>()?, [0.0, f32::INFINITY]);
    /// ```
    func: erfinv(Tensor self) -> Tensor,
    inplace: erfinv_, out: erfinv.out, variants: function, method, structured: Pointwise<ErfinvFn>;

    /// [`exp2`](super::functions::exp2) under another name.
    func: special_exp2(Tensor self) -> Tensor,
    out: special_exp2.out, variants: function, method, structured: Pointwise<Exp2Fn>;

    /// [`expm1`](super::functions::expm1) under another name.
    func: special_expm1(Tensor self) -> Tensor,
    out: special_expm1.out, variants: function, method, structured: Pointwise<Expm1Fn>;

    /// [`erf`](super::functions::erf) under another name.
    func: special_erf(Tensor self) -> Tensor,
    out: special_erf.out, variants: function, method, structured: Pointwise<ErfFn>;

    /// [`erfc`](super::functions::erfc) under another name.
    func: special_erfc(Tensor self) -> Tensor,
    out: special_erfc.out, variants: function, method, structured: Pointwise<ErfcFn>;

    /// [`erfinv`](super::functions::erfinv) under another name.
    func: special_erfinv(Tensor self) -> Tensor,
    out: special_erfinv.out, variants: function, method, structured: Pointwise<ErfinvFn>;

    /// [`sigmoid`](super::functions::sigmoid) under another name.
    func: special_expit(Tensor self) -> Tensor,
    out: special_expit.out, variants: function, method, structured: Pointwise<SigmoidFn>;
}
