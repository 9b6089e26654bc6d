//! Smooth activations of neural networks and their backwards: gelu, silu, mish, softplus, elu and its kin, and the
//! backwards of sigmoid and tanh.

use crate::algebra::{Dual, Exponential, Gaussian, Hyperbolic, Logarithm, Real as HasReal, Signum, TrueDivision};
use crate::kernels::Activation;
use crate::piecewise::check_wide;
use crate::pointwise::{Check, Common, FloatComplex, Map, Numbers, Reals, Rule, Same, pointwise, run};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use monomorph_core::structured::{Operand, Operator, ValueSink};
use monomorph_core::{DType, Error, ErrorKind, Result, Scalar};
use std::f64::consts::{FRAC_2_SQRT_PI, SQRT_2};

pointwise! { GeluFn "gelu": Reals, Same<1>; () => Common; Rule::UNARY }
impl<V: Gaussian> Map<V> for GeluFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.gelu()
    }
}

pointwise! { GeluTanhFn "gelu": Reals, Same<1>; () => Common; Rule::UNARY }
impl<V: Gaussian> Map<V> for GeluTanhFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.gelu_tanh()
    }
}

pointwise! { GeluBackwardFn "gelu_backward": Reals, Same<2>; () => Common; Rule::BINARY, check = check_gelu_backward }
impl<V: HasReal> Map<V> for GeluBackwardFn
where
    Dual<V>: Gaussian,
{
    #[inline(always)]
    fn eval([grad, a]: [V; 2], (): ()) -> V {
        grad * Dual::variable(a).gelu().slope
    }
}

pointwise! {
    /// In PyTorch's steps, not by the dual number: on the negative side 1 - tanh² has lost most of its bits, and a
    /// large gradient shows which. Where the square overflows the slope is NaN.
    GeluTanhBackwardFn "gelu_backward": Reals, Same<2>; () => Common; Rule::BINARY
}
impl<V: HasReal + Hyperbolic> Map<V> for GeluTanhBackwardFn {
    #[inline(always)]
    fn eval([grad, a]: [V; 2], (): ()) -> V {
        let (one, half) = (V::one(), V::from_f64(0.5));
        let (slope, cube) = (V::from_f64(SQRT_2 * FRAC_2_SQRT_PI * 0.5), V::from_f64(0.044_715));
        let square = a * a;
        let tanh = (slope * a.add_scaled(cube, square * a)).tanh();
        let steepness = slope * one.add_scaled(V::from_i64(3) * cube, square);
        grad * (half * (one + tanh) + half * a * one.add_scaled(-tanh, tanh) * steepness)
    }
}

/// 1 + e^-x, the reciprocal of the logistic function: off by two units more than that, and in half the time.
#[inline(always)]
fn logistic_below<V: Exponential>(x: V) -> V {
    V::one() + (-x).exp()
}

pointwise! { SiluFn "silu": FloatComplex, Same<1>; () => Common; Rule::UNARY }
impl<V: Exponential + TrueDivision> Map<V> for SiluFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a / logistic_below(a)
    }
}

pointwise! { SiluBackwardFn "silu_backward": FloatComplex, Same<2>; () => Common; Rule::BINARY }
impl<V: Exponential + TrueDivision> Map<V> for SiluBackwardFn {
    #[inline(always)]
    fn eval([grad, a]: [V; 2], (): ()) -> V {
        let part = V::one() / logistic_below(a);
        grad * part * (V::one() + a * (V::one() - part))
    }
}

pointwise! { MishFn "mish": Reals, Same<1>; () => Common; Rule::UNARY }
impl<V: HasReal + Exponential> Map<V> for MishFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a * tanh_softplus(a)[0]
    }
}

pointwise! { MishBackwardFn "mish_backward": Reals, Same<2>; () => Common; Rule::BINARY.with_dtype_of(1) }
impl<V: HasReal + Exponential + Hyperbolic> Map<V> for MishBackwardFn {
    #[inline(always)]
    fn eval([grad, a]: [V; 2], (): ()) -> V {
        let [part, rest] = tanh_softplus(a);
        grad * (part + a * a.sigmoid() * (rest * (V::one() + part)))
    }
}

pointwise! { SigmoidBackwardFn "sigmoid_backward": FloatComplex, Same<2>; () => Common; Rule::BINARY }
impl<V: Signum> Map<V> for SigmoidBackwardFn {
    #[inline(always)]
    fn eval([grad, part]: [V; 2], (): ()) -> V {
        // In this order, so that no product overflows where the gradient is zero.
        grad * (V::one() - part).conj() * part.conj()
    }
}

pointwise! { TanhBackwardFn "tanh_backward": FloatComplex, Same<2>; () => Common; Rule::BINARY }
impl<V: Signum> Map<V> for TanhBackwardFn {
    #[inline(always)]
    fn eval([grad, tanh]: [V; 2], (): ()) -> V {
        grad * (V::one() - tanh * tanh).conj()
    }
}

pointwise! { SoftplusFn "softplus": Reals, Same<1>; Numbers<2> => Common; Rule::UNARY, check = check_wide }
impl<V: HasReal + Exponential + Logarithm> Map<V> for SoftplusFn {
    #[inline(always)]
    fn eval([a]: [V; 1], [beta, threshold]: [V; 2]) -> V {
        let scaled = a * beta;
        // log(e^s + 1) from the larger of the two, so that nothing overflows; what the sum loses is made up for.
        let small = (-scaled.abs()).exp();
        let sum = small + V::one();
        let rest = sum.log() + (small - (sum - V::one())) / sum;
        V::select(scaled.gt(threshold), a, (scaled.maximum(V::zero()) + rest) / beta)
    }
}

pointwise! { EluFn "elu": Reals, Same<1>; Numbers<3> => Common; Rule::UNARY, check = check_wide }
impl<V: HasReal + Exponential> Map<V> for EluFn {
    #[inline(always)]
    fn eval([a]: [V; 1], [alpha, scale, input_scale]: [V; 3]) -> V {
        let scaled = a * input_scale;
        V::select(a.ge(V::zero()), a * scale, scaled.expm1() * (alpha * scale))
    }
}

pointwise! {
    SoftplusBackwardFn "softplus_backward": Reals, Same<2>; Numbers<2> => Common; Rule::BINARY, check = check_wide
}
impl<V: HasReal + Exponential> Map<V> for SoftplusBackwardFn {
    #[inline(always)]
    fn eval([grad, a]: [V; 2], [beta, threshold]: [V; 2]) -> V {
        let scaled = a * beta;
        // grad e^s / (1 + e^s), of which nothing overflows.
        let small = (-scaled.abs()).exp();
        let part = V::select(scaled.lt(V::zero()), small, V::one()) / (V::one() + small);
        V::select(scaled.gt(threshold), grad, grad * part)
    }
}

pointwise! { EluBackwardFn "elu_backward": Reals, Same<2>; Numbers<3> => Common; Rule::BINARY, check = check_wide }
impl<V: HasReal + Exponential> Map<V> for EluBackwardFn {
    #[inline(always)]
    fn eval([grad, a]: [V; 2], [alpha, scale, input_scale]: [V; 3]) -> V {
        let below = grad * input_scale * (alpha * scale) * (a * input_scale).exp();
        V::select(a.gt(V::zero()), grad * scale, below)
    }
}

pointwise! {
    EluBackwardOfResultFn "elu_backward": Reals, Same<2>; Numbers<3> => Common; Rule::BINARY, check = check_wide
}
impl<V: HasReal> Map<V> for EluBackwardOfResultFn {
    #[inline(always)]
    fn eval([grad, y]: [V; 2], [alpha, scale, input_scale]: [V; 3]) -> V {
        let below = grad * input_scale * (y + alpha * scale);
        V::select(y.gt(V::zero()), grad * scale, below)
    }
}

/// tanh(log(1 + e^a)), and what it lacks of 1: with n = e^a (e^a + 2), n / (n + 2) and 2 / (n + 2).
#[inline(always)]
fn tanh_softplus<V: HasReal + Exponential>(a: V) -> [V; 2] {
    let two = V::from_i64(2);
    // From there on nothing is lacking.
    let power = a.minimum(V::from_i64(20)).exp();
    let n = power * (power + two);
    let far = a.gt(V::from_i64(20));
    [V::select(far, V::one(), n / (n + two)), V::select(far, V::zero(), two / (n + two))]
}

/// `gelu`, exact or approximated.
pub struct Gelu;

impl<'t, D: Activation, A: Into<Operand<'t>>> Operator<'t, D, (A, &'t str)> for Gelu {
    fn call<S: ValueSink<'t, D>>((a, approximate): (A, &'t str), sink: S) -> Result<S::Value> {
        match approximate {
            "none" => run::<GeluFn, D, _, S>((a,), sink),
            "tanh" => run::<GeluTanhFn, D, _, S>((a,), sink),
            other => Err(unknown_approximation(other).of("gelu")),
        }
    }
}

#[cold]
fn unknown_approximation(got: &str) -> Error {
    let accepted = "\"none\" (exact) and \"tanh\" (the approximation)";
    Error::new(ErrorKind::UnknownOption { arg: "approximate", got: got.to_owned(), accepted })
}

/// PyTorch's exact backward of more than one element that lie row-major, float32 or bfloat16, is oneDNN's: it
/// broadcasts nothing, and takes few dtypes beside.
fn check_gelu_backward(call: &Check<'_, '_>) -> Result<()> {
    let [grad, a] = call.operands else { return Ok(()) };
    let halves: &[DType] = match a.dtype() {
        Some(DType::F32) => &[DType::F16, DType::BF16],
        Some(DType::BF16) => &[DType::BF16],
        _ => return Ok(()),
    };
    if !a.geometry().is_some_and(|a| a.is_contiguous() && a.numel() > 1) {
        return Ok(());
    }
    let float = |dtype: DType| dtype == DType::F32 || halves.contains(&dtype);
    let byte = |dtype: DType| matches!(dtype, DType::I8 | DType::U8);
    let of_grad = grad.dtype().filter(|&dtype| !float(dtype) && !byte(dtype));
    if let Some(got) = of_grad.or(call.out.filter(|&dtype| !float(dtype))) {
        let what = "where self is float32 or bfloat16 and contiguous, an operand has dtype";
        let accepted = "int8, uint8, bfloat16, float32 and, if self is not bfloat16, float16; a result must be a float";
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    }
    if grad.sizes() != a.sizes() {
        let rule = "grad_output and self must have the same sizes where self is float32 or bfloat16; expand them";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    Ok(())
}

/// `gelu_backward`, of either.
pub struct GeluBackward;

impl<'t, D: Activation> Operator<'t, D, (Operand<'t>, Operand<'t>, &'t str)> for GeluBackward {
    fn call<S: ValueSink<'t, D>>(
        (grad, a, approximate): (Operand<'t>, Operand<'t>, &'t str),
        sink: S,
    ) -> Result<S::Value> {
        match approximate {
            "none" => run::<GeluBackwardFn, D, _, S>((grad, a), sink),
            "tanh" => run::<GeluTanhBackwardFn, D, _, S>((grad, a), sink),
            other => Err(unknown_approximation(other).of("gelu_backward")),
        }
    }
}

/// `celu`: `elu` that is smooth whatever alpha.
pub struct Celu;

impl<'t, D: Activation> Operator<'t, D, (Operand<'t>, Scalar)> for Celu {
    fn call<S: ValueSink<'t, D>>((a, alpha): (Operand<'t>, Scalar), sink: S) -> Result<S::Value> {
        if alpha.to_f64() == 0.0 {
            return Err(Error::new(ErrorKind::ArgumentRule { rule: "argument alpha must not be 0" }).of("celu"));
        }
        run::<EluFn, D, _, S>((a, alpha, Scalar::Int(1), Scalar::Float(1.0 / alpha.to_f64())), sink)
    }
}

/// `selu`: `elu` whose numbers keep mean and variance (G. Klambauer et al., *Self-Normalizing Neural Networks*, 2017).
pub struct Selu;

impl<'t, D: Activation> Operator<'t, D, (Operand<'t>,)> for Selu {
    fn call<S: ValueSink<'t, D>>((a,): (Operand<'t>,), sink: S) -> Result<S::Value> {
        let [alpha, scale] = [1.673_263_242_354_377_2, 1.050_700_987_355_480_5].map(Scalar::Float);
        run::<EluFn, D, _, S>((a, alpha, scale, Scalar::Int(1)), sink)
    }
}

/// `elu_backward`, by the input or by the result, which tells the slope unless alpha is negative.
pub struct EluBackward;

type EluBackwardArgs<'t> = (Operand<'t>, Scalar, Scalar, Scalar, bool, Operand<'t>);
impl<'t, D: Activation> Operator<'t, D, EluBackwardArgs<'t>> for EluBackward {
    fn call<S: ValueSink<'t, D>>(
        (grad, alpha, scale, input_scale, is_result, a): EluBackwardArgs<'t>,
        sink: S,
    ) -> Result<S::Value> {
        if !is_result {
            return run::<EluBackwardFn, D, _, S>((grad, a, alpha, scale, input_scale), sink);
        }
        if alpha.to_f64() < 0.0 {
            let rule = "with a negative alpha the result does not tell the input; give the input";
            return Err(Error::new(ErrorKind::ArgumentRule { rule }).of("elu_backward"));
        }
        run::<EluBackwardOfResultFn, D, _, S>((grad, a, alpha, scale, input_scale), sink)
    }
}

record! { GeluFn "gelu: x none", Any within 64: float |[a], []| a * record::normal_probability(a) }
record! { GeluTanhFn "gelu: x tanh", Any within 1024: float |[a], []| {
    let scaled = 1.595_769_121_605_730_8 * (a + 0.044_715 * a * a * a);
    let small = (-scaled.abs()).exp();
    if scaled < 0.0 { a * (small / (1.0 + small)) } else { a / (1.0 + small) }
} }

record! { GeluBackwardFn "gelu_backward: x x none", Tame within 4096: float |[g, a], []|
g * (record::normal_probability(a) + a * (-0.5 * a * a).exp() / (2.0 * std::f64::consts::PI).sqrt()) }
record! { GeluTanhBackwardFn "gelu_backward: x x tanh", Tame within 65536: float |[g, a], []| {
    let s = record::logistic(1.595_769_121_605_730_8 * (a + 0.044_715 * a * a * a));
    g * (s + a * s * (1.0 - s) * 1.595_769_121_605_730_8 * (1.0 + 3.0 * 0.044_715 * a * a))
} }
// Where e^-x is infinite, silu is zero, as PyTorch's is.
record! { SiluFn "silu: x", Any within 64 or 3e-37:
float |[a], []| a * record::logistic(a), complex |[a], []| a * record::c_logistic(a) }
record! { SiluBackwardFn "silu_backward: x x", Tame within 4096:
float |[g, a], []| g * record::logistic(a) * (1.0 + a * (1.0 - record::logistic(a))),
complex |[g, a], []| g * record::c_logistic(a) * (1.0 + a * (1.0 - record::c_logistic(a))) }
record! { MishFn "mish: x", Any within 64: float |[a], []| a * a.exp().ln_1p().tanh() }
record! { MishBackwardFn "mish_backward: x x", Tame within 4096: float |[g, a], []| {
    let t = a.exp().ln_1p().tanh();
    g * (t + a * record::logistic(a) * (1.0 - t * t))
} }
record! { SigmoidBackwardFn "sigmoid_backward: x x", Small within 1:
float |[g, y], []| g * (1.0 - y) * y, complex |[g, y], []| g * (1.0 - y).conj() * y.conj() }
record! { TanhBackwardFn "tanh_backward: x x", Small within 1:
float |[g, y], []| g * (1.0 - y * y), complex |[g, y], []| g * (1.0 - y * y).conj() }
record! { SoftplusFn "softplus: x p p", Tame within 64: float |[a], [b, t]|
if a * b > t { a } else { ((a * b).max(0.0) + (-(a * b).abs()).exp().ln_1p()) / b } }
record! { EluFn "elu: x p p p", Tame within 1024: float |[a], [alpha, scale, unit]|
if a > 0.0 { a * scale } else { (a * unit).exp_m1() * (alpha * scale) } }
record! { SoftplusBackwardFn "softplus_backward: x x p p", Tame within 16:
float |[g, a], [b, t]| if a * b > t { g } else { g * record::logistic(a * b) } }
record! { EluBackwardFn "elu_backward: x p p p False x", Tame within 64: float |[g, a], [alpha, scale, unit]|
if a > 0.0 { g * scale } else { g * unit * (alpha * scale) * (a * unit).exp() } }
record! { EluBackwardOfResultFn "-: x x p p p", Small within 0: float |[g, y], [alpha, scale, unit]|
if y > 0.0 { g * scale } else { g * unit * (y + alpha * scale) } }

native! {
    family: Activation;

    /// The Gaussian error linear unit elementwise: `self · Φ(self)`, with the distribution function Φ of the normal
    /// distribution.
    ///
    /// The option `approximate` is `"none"` or `"tanh"`, which uses `Φ(x) ≈ (1 + tanh(sqrt(2 / π) · (x + 0.044715 x³)))
    /// / 2`. Floats only.
    ///
    /// ```
    /// let x = tensor![0.0f32, 10.0];
    /// assert_eq!(x.gelu()?.to_vec::<f32>()?, [0.0, 10.0]);
    /// let by_tanh = Gelu { approximate: "tanh", ..Default::default() };
    /// assert_eq!(x.gelu_with(by_tanh)?.to_vec::<f32>()?, [0.0, 10.0]);
    /// ```
    func: gelu(Tensor self, *, str approximate="none") -> Tensor,
    inplace: gelu_, out: gelu.out, variants: function, method, operator: Gelu;

    /// The gradient of [`gelu`](super::functions::gelu) at `self`: `grad_output` times its derivative, elementwise.
    ///
    /// Where `self` is float32 or bfloat16, both must have the same sizes.
    ///
    /// ```
    /// let x = tensor![0.0f32, 20.0];
    /// assert_eq!(ops::gelu_backward(&tensor![2.0f32, 2.0], &x)?.to_vec::<f32>()?, [1.0, 2.0]);
    /// ```
    func: gelu_backward(Tensor grad_output, Tensor self, *, str approximate="none") -> Tensor,
    out: gelu_backward.grad_input, variants: function, operator: GeluBackward;

    /// The sigmoid linear unit elementwise: `self · sigmoid(self)`, also called swish.
    ///
    /// Floats and complex numbers only.
    ///
    /// ```
    /// let x = tensor![0.0f32, 100.0];
    /// assert_eq!(x.silu()?.to_vec::<f32>()?, [0.0, 100.0]);
    /// ```
    func: silu(Tensor self) -> Tensor,
    inplace: silu_, out: silu.out, variants: function, method, structured: Pointwise<SiluFn>;

    /// The gradient of [`silu`](super::functions::silu) at `self`: `grad_output` times its derivative, elementwise.
    ///
    /// ```
    /// let x = tensor![0.0f32, 100.0];
    /// assert_eq!(ops::silu_backward(&tensor![2.0f32], &x)?.to_vec::<f32>()?, [1.0, 2.0]);
    /// ```
    func: silu_backward(Tensor grad_output, Tensor self) -> Tensor,
    out: silu_backward.grad_input, variants: function, structured: Pointwise<SiluBackwardFn>;

    /// The Mish function elementwise: `self · tanh(softplus(self))`.
    ///
    /// Floats only.
    ///
    /// ```
    /// let x = tensor![0.0f32, 100.0];
    /// assert_eq!(x.mish()?.to_vec::<f32>()?, [0.0, 100.0]);
    /// ```
    func: mish(Tensor self) -> Tensor,
    inplace: mish_, out: mish.out, variants: function, method, structured: Pointwise<MishFn>;

    /// The gradient of [`mish`](super::functions::mish) at `self`: `grad_output` times its derivative, elementwise.
    ///
    /// ```
    /// let x = tensor![100.0f32];
    /// assert_eq!(ops::mish_backward(&tensor![2.0f32], &x)?.to_vec::<f32>()?, [2.0]);
    /// ```
    func: mish_backward(Tensor grad_output, Tensor self) -> Tensor,
    variants: function, structured: Pointwise<MishBackwardFn>;

    /// The gradient of [`sigmoid`](super::functions::sigmoid) from its result: `grad_output · output · (1 - output)`,
    /// elementwise.
    ///
    /// ```
    /// let y = tensor![0.5f32, 1.0];
    /// assert_eq!(ops::sigmoid_backward(&tensor![2.0f32], &y)?.to_vec::<f32>()?, [0.5, 0.0]);
    /// ```
    func: sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor,
    out: sigmoid_backward.grad_input, variants: function, structured: Pointwise<SigmoidBackwardFn>;

    /// The gradient of [`tanh`](super::functions::tanh) from its result: `grad_output · (1 - output²)`, elementwise.
    ///
    /// ```
    /// let y = tensor![0.5f32, 1.0];
    /// assert_eq!(ops::tanh_backward(&tensor![2.0f32], &y)?.to_vec::<f32>()?, [1.5, 0.0]);
    /// ```
    func: tanh_backward(Tensor grad_output, Tensor output) -> Tensor,
    out: tanh_backward.grad_input, variants: function, structured: Pointwise<TanhBackwardFn>;

    /// The softplus function elementwise: `log(1 + e^(beta · self)) / beta`.
    ///
    /// Where `beta · self` is more than `threshold`, 20 by default, it is `self`. Floats only.
    ///
    /// ```
    /// let x = tensor![-1000.0f32, 1000.0];
    /// assert_eq!(x.softplus()?.to_vec::<f32>()?, [0.0, 1000.0]);
    /// ```
    func: softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor,
    out: softplus.out, variants: function, method, structured: Pointwise<SoftplusFn>,
    otherwise: explicit crate::composite::arithmetic::softplus;

    /// The exponential linear unit elementwise: `scale · self` where that is positive, else a curve towards `-scale ·
    /// alpha`.
    ///
    /// The curve is `scale · alpha · (e^(input_scale · self) - 1)`. Floats only.
    ///
    /// ```
    /// let x = tensor![-1000.0f32, 2.0];
    /// assert_eq!(x.elu()?.to_vec::<f32>()?, [-1.0, 2.0]);
    /// ```
    func: elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor,
    inplace: elu_, out: elu.out, variants: function, method, structured: Pointwise<EluFn>;

    /// The continuously differentiable exponential linear unit, elementwise.
    ///
    /// It is `self` where that is positive, else `alpha · (e^(self / alpha) - 1)`. An `alpha` of 0 is an error. Floats
    /// only.
    ///
    /// ```
    /// let x = tensor![-1000.0f32, 2.0];
    /// assert_eq!(x.celu_with(Celu { alpha: 2.into(), ..Default::default() })?.to_vec::<f32>()?, [-2.0, 2.0]);
    /// ```
    func: celu(Tensor self, Scalar alpha=1.0) -> Tensor,
    inplace: celu_, autogen: celu.out, variants: function, method, operator: Celu;

    /// The scaled exponential linear unit, elementwise: [`elu`](super::functions::elu) with the constants that keep
    /// mean 0 and variance 1.
    ///
    /// These are `alpha` ≈ 1.6733 and `scale` ≈ 1.0507. Floats only.
    ///
    /// ```
    /// let x = tensor![0.0f32, 1.0];
    /// assert_eq!(x.selu()?.to_vec::<f32>()?, [0.0, 1.050701]);
    /// ```
    func: selu(Tensor self) -> Tensor,
    inplace: selu_, variants: function, method, operator: Selu;

    /// The gradient of [`softplus`](super::functions::softplus) at `self`: `grad_output · sigmoid(beta · self)`,
    /// elementwise.
    ///
    /// ```
    /// let x = tensor![0.0f32, 100.0];
    /// let grad = ops::softplus_backward(&tensor![2.0f32], &x, 1, 20)?;
    /// assert_eq!(grad.to_vec::<f32>()?, [1.0, 2.0]);
    /// ```
    func: softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor,
    out: softplus_backward.grad_input, variants: function, structured: Pointwise<SoftplusBackwardFn>;

    /// The gradient of [`elu`](super::functions::elu) at `self`, or from its result with `is_result`: `grad_output`
    /// times its derivative, elementwise.
    ///
    /// ```
    /// let x = tensor![-1000.0f32, 2.0];
    /// let grad = ops::elu_backward(&tensor![3.0f32], 1, 1, 1, false, &x)?;
    /// assert_eq!(grad.to_vec::<f32>()?, [0.0, 3.0]);
    /// ```
    func: elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result,
        Tensor self_or_result) -> Tensor,
    out: elu_backward.grad_input, variants: function, operator: EluBackward;

    structured: Pointwise<GeluBackwardFn>;

    structured: Pointwise<GeluTanhBackwardFn>;

    structured: Pointwise<EluBackwardFn>;

    structured: Pointwise<EluBackwardOfResultFn>;

    structured: Pointwise<GeluFn>;

    structured: Pointwise<GeluTanhFn>;
}
