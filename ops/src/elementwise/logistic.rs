//! The logistic function's relatives: logit, which is its inverse, log_sigmoid in two parts, and their backwards.

use crate::algebra::{Exponential, Logarithm, Real};
use crate::kernels::{Logarithmic, Logistic};
use crate::logarithmic::{LogSigmoidFn, ROW_MAJOR};
use crate::piecewise::check_own;
use crate::pointwise::{Common, Map, Number, Reals, Rule, Same, pointwise, run};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use crate::table::{OutLayout, write_pair};
use monomorph_core::structured::{Functional, Operand, Operator, ValueSink};
use monomorph_core::{Result, Scalar, Tensor, observe};

/// One operand, integers become floats; the number is rounded as an element is, and must be one that the dtype holds.
const ROUNDED: Rule = Rule::UNARY_FLOAT.with_stored_numbers();

pointwise! {
    /// Each step is rounded as PyTorch's is, so that halves have its bits. The number is `eps`; a negative one is none.
    LogitFn "logit": Reals, Same<1>; Number => Common; ROUNDED, check = check_own
}
impl<V: Real + Logarithm> Map<V> for LogitFn {
    #[inline(always)]
    fn eval([x]: [V; 1], eps: V) -> V {
        let high = (V::one() - eps).stored();
        let within = V::select(x.lt(eps), eps, V::select(x.gt(high), high, x));
        let x = V::select(eps.lt(V::zero()), x, within);
        (x / (V::one() - x).stored()).stored().log()
    }
}

pointwise! {
    /// Each step is rounded as PyTorch's is, so that halves have its bits. Zero where logit is flat and, if there is an
    /// `eps`, of NaN; NaN where it is not defined. PyTorch's code for single elements takes -0 for 0 and keeps NaN;
    /// this is its code for whole vectors.
    LogitBackwardFn "logit_backward": Reals, Same<2>; Number => Common; Rule::BINARY.with_stored_numbers(),
        check = check_own
}
impl<V: Real> Map<V> for LogitBackwardFn {
    #[inline(always)]
    fn eval([grad, x]: [V; 2], eps: V) -> V {
        let (zero, one) = (V::zero(), V::one());
        let all = eps.lt(zero);
        let (low, high) = (V::select(all, zero, eps), V::select(all, one, (one - eps).stored()));
        let outside = V::select(all, V::from_f64(f64::NAN), zero);
        // At the ends it is infinite, at -0 with the other sign.
        let slope = grad / (x * (one - x).stored()).stored();
        V::select(x.ge(low) & x.le(high), slope, outside)
    }
}

pointwise! {
    /// What `log_sigmoid_forward` hands to its backward.
    LogSigmoidBufferFn "log_sigmoid_forward": Reals, Same<1>; () => Common; ROW_MAJOR
}
impl<V: Real + Exponential> Map<V> for LogSigmoidBufferFn {
    #[inline(always)]
    fn eval([x]: [V; 1], (): ()) -> V {
        (-x.abs()).exp()
    }
}

/// Three operands and an output of one dtype, which is made like the gradient.
const ALIKE: Rule = Rule::TERNARY_ALIKE.exact().with_outputs_like::<Reals>(2);

pointwise! { LogSigmoidBackwardFn "log_sigmoid_backward": Reals, Same<3>; () => Common; ALIKE }
impl<V: Real> Map<V> for LogSigmoidBackwardFn {
    #[inline(always)]
    fn eval([x, buffer, grad]: [V; 3], (): ()) -> V {
        let share = buffer / (V::one() + buffer);
        V::select(x.lt(V::zero()), V::one() - share, share) * grad
    }
}

/// PyTorch's number for the absence of one.
fn or_none(eps: Option<f64>) -> Scalar {
    Scalar::Float(eps.unwrap_or(-1.0))
}

/// `logit`, with its argument limited to `eps` up to 1 - `eps`, if that is given.
pub struct Logit;

impl<'t, D: Logistic> Operator<'t, D, (Operand<'t>, Option<f64>)> for Logit {
    fn call<S: ValueSink<'t, D>>((x, eps): (Operand<'t>, Option<f64>), sink: S) -> Result<S::Value> {
        run::<LogitFn, D, _, S>((x, or_none(eps)), sink)
    }
}

/// `logit_backward`.
pub struct LogitBackward;

impl<'t, D: Logistic> Operator<'t, D, (Operand<'t>, Operand<'t>, Option<f64>)> for LogitBackward {
    fn call<S: ValueSink<'t, D>>((grad, x, eps): (Operand<'t>, Operand<'t>, Option<f64>), sink: S) -> Result<S::Value> {
        run::<LogitBackwardFn, D, _, S>((grad, x, or_none(eps)), sink)
    }
}

/// `log_sigmoid_backward`. The order of its operands decides on that of the dimensions.
pub struct LogSigmoidBackward;

impl<'t, D: Logistic> Operator<'t, D, (Operand<'t>, Operand<'t>, Operand<'t>)> for LogSigmoidBackward {
    fn call<S: ValueSink<'t, D>>(
        (grad, x, buffer): (Operand<'t>, Operand<'t>, Operand<'t>),
        sink: S,
    ) -> Result<S::Value> {
        run::<LogSigmoidBackwardFn, D, _, S>((x, buffer, grad), sink)
    }
}

/// `log_sigmoid_forward`: the result and e^-|x|, both row-major.
pub fn log_sigmoid_forward<D: Logistic + Logarithmic>(this: &Tensor<D>) -> Result<(Tensor<D>, Tensor<D>)> {
    let _span = observe::operator("log_sigmoid_forward", [this.geometry()]);
    let [output] = run::<LogSigmoidFn, D, _, _>((this,), Functional::<D, 1>::default())?;
    let [buffer] = run::<LogSigmoidBufferFn, D, _, _>((this,), Functional::<D, 1>::default())?;
    Ok((output, buffer))
}

/// `log_sigmoid_forward.output`: the buffer becomes row-major whatever it was.
pub fn log_sigmoid_forward_out<D: Logistic + Logarithmic>(
    this: &Tensor<D>,
    output: &mut Tensor<D>,
    buffer: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("log_sigmoid_forward", [this.geometry(), output.geometry(), buffer.geometry()]);
    let (made, for_backward) = log_sigmoid_forward(this)?;
    let pair = [(&made, output, OutLayout::Kept), (&for_backward, buffer, OutLayout::RowMajor)];
    write_pair(this, pair).map_err(|e| e.of("log_sigmoid_forward"))
}

record! { LogitFn "-: x p", Any within 4: float |[x], [eps]| {
    let x = if eps < 0.0 { x } else if x < eps { eps } else if x > 1.0 - eps { 1.0 - eps } else { x };
    (x / (1.0 - x)).ln()
} }
record! { LogitBackwardFn "-: x x p", Small within 16: float |[grad, x], [eps]| {
    let (low, high, outside) = if eps < 0.0 { (0.0, 1.0, f64::NAN) } else { (eps, 1.0 - eps, 0.0) };
    if x >= low && x <= high { grad / (x * (1.0 - x)) } else { outside }
} }
record! { LogSigmoidBufferFn "-: x", Any within 4: float |[x], []| (-x.abs()).exp() }
record! { LogSigmoidBackwardFn "-: x x x", Tame within 64: float |[x, buffer, grad], []| {
    let share = buffer / (1.0 + buffer);
    grad * if x < 0.0 { 1.0 - share } else { share }
} }

native! {
    family: Logistic, functions: crate::kernels::Logistic + crate::kernels::Logarithmic;

    /// The logarithm of the odds, elementwise: `log(self / (1 - self))`, the inverse of
    /// [`sigmoid`](super::functions::sigmoid).
    ///
    /// With the option `eps`, what is not from `eps` to `1 - eps` is limited to that; without it, beyond 0 and 1 it is
    /// NaN. Integers and bool give float32.
    ///
    /// ```
    /// let x = tensor![0.5f32, 1.0];
    /// assert_eq!(x.logit()?.to_vec::<f32>()?, [0.0, f32::INFINITY]);
    /// ```
    func: logit(Tensor self, float? eps=None) -> Tensor,
    inplace: logit_, out: logit.out, variants: function, method, operator: Logit;

    /// [`logit`](super::functions::logit) under another name.
    func: special_logit(Tensor self, float? eps=None) -> Tensor,
    out: special_logit.out, variants: function, method, operator: Logit;

    /// The gradient of [`logit`](super::functions::logit) at `self`: `grad_output / (self · (1 - self))`, elementwise.
    ///
    /// ```
    /// let x = tensor![0.5f32];
    /// assert_eq!(ops::logit_backward(&tensor![2.0f32], &x)?.to_vec::<f32>()?, [8.0]);
    /// ```
    func: logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor,
    out: logit_backward.grad_input, variants: function, operator: LogitBackward;

    /// [`log_sigmoid`](super::functions::log_sigmoid), and the buffer that its gradient takes.
    ///
    /// ```
    /// let (y, _) = tensor![1000.0f32].log_sigmoid_forward()?;
    /// assert_eq!(y.to_vec::<f32>()?, [0.0]);
    /// ```
    func: log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer),
    variants: function, kernel: log_sigmoid_forward;

    /// [`log_sigmoid_forward`](super::functions::log_sigmoid_forward) into `output` and `buffer`.
    func: log_sigmoid_forward.output(Tensor self, *, Tensor(a!) output, Tensor(b!) buffer) -> (Tensor(a!),
        Tensor(b!)),
    variants: function, kernel: log_sigmoid_forward_out;

    /// The gradient of [`log_sigmoid`](super::functions::log_sigmoid) at `self`: `grad_output · sigmoid(-self)`,
    /// elementwise.
    ///
    /// ```
    /// let x = tensor![0.0f32];
    /// let (_, buffer) = x.log_sigmoid_forward()?;
    /// assert_eq!(ops::log_sigmoid_backward(&tensor![2.0f32], &x, &buffer)?.to_vec::<f32>()?, [1.0]);
    /// ```
    func: log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor,
    out: log_sigmoid_backward.grad_input, variants: function, operator: LogSigmoidBackward;

    structured: Pointwise<LogitFn>;

    structured: Pointwise<LogitBackwardFn>;

    structured: Pointwise<LogSigmoidBufferFn>;

    structured: Pointwise<LogSigmoidBackwardFn>;
}
