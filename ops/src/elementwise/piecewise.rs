//! Activations that are straight but for their kinks, and their backwards: relu, leaky_relu, threshold,
//! hardtanh_backward, hardsigmoid, hardswish, hardshrink, softshrink, prelu.

use crate::algebra::{Num, Ordered as HasOrder, Real as HasReal};
use crate::copies::reshape;
use crate::kernels::Piecewise as Kernels;
use crate::pointwise::{Check, Common, Map, Number, Numbers, Real, Reals, Rule, Same, pointwise, run};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use monomorph_core::structured::{Functional, Operand, Operator, ValueSink};
use monomorph_core::{DType, Error, ErrorKind, Result, Scalar, Tensor, observe};

pointwise! { ReluFn "relu": Real, Same<1>; () => Common; Rule::UNARY }
impl<V: Num + HasOrder> Map<V> for ReluFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        // NaN and -0 stay.
        V::select(a.lt(V::zero()), V::zero(), a)
    }
}

pointwise! { LeakyReluFn "leaky_relu": Reals, Same<1>; Number => Common; Rule::UNARY, check = check_wide }
impl<V: HasReal> Map<V> for LeakyReluFn {
    #[inline(always)]
    fn eval([a]: [V; 1], slope: V) -> V {
        V::select(a.gt(V::zero()), a, a * slope)
    }
}

pointwise! {
    LeakyReluBackwardFn "leaky_relu_backward": Reals, Same<2>; Number => Common; Rule::BINARY, check = check_wide
}
impl<V: HasReal> Map<V> for LeakyReluBackwardFn {
    #[inline(always)]
    fn eval([a, grad]: [V; 2], slope: V) -> V {
        V::select(a.gt(V::zero()), grad, grad * slope)
    }
}

pointwise! {
    ThresholdFn "threshold": Real, Same<1>; Numbers<2> => Common; Rule::TERNARY.over_itself(), check = check_wide
}
impl<V: HasOrder> Map<V> for ThresholdFn {
    #[inline(always)]
    fn eval([a]: [V; 1], [threshold, value]: [V; 2]) -> V {
        V::select(a.le(threshold), value, a)
    }
}

pointwise! {
    ThresholdBackwardFn "threshold_backward": Real, Same<2>; Number => Common; Rule::BINARY.over_itself(),
        check = check_wide
}
impl<V: HasOrder> Map<V> for ThresholdBackwardFn {
    #[inline(always)]
    fn eval([a, grad]: [V; 2], threshold: V) -> V {
        V::select(a.le(threshold), V::from_bool(false), grad)
    }
}

pointwise! {
    HardtanhBackwardFn "hardtanh_backward": Reals, Same<2>; Numbers<2> => Common;
    Rule::BINARY.with_stored_numbers(), check = check_own
}
impl<V: HasReal> Map<V> for HardtanhBackwardFn {
    #[inline(always)]
    fn eval([grad, a]: [V; 2], [low, high]: [V; 2]) -> V {
        V::select(a.gt(low) & a.lt(high), grad, V::zero())
    }
}

pointwise! { HardsigmoidFn "hardsigmoid": Reals, Same<1>; () => Common; Rule::UNARY }
impl<V: HasReal> Map<V> for HardsigmoidFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        ramp(a) / V::from_i64(6)
    }
}

pointwise! { HardsigmoidBackwardFn "hardsigmoid_backward": Reals, Same<2>; () => Common; Rule::BINARY }
impl<V: HasReal> Map<V> for HardsigmoidBackwardFn {
    #[inline(always)]
    fn eval([grad, a]: [V; 2], (): ()) -> V {
        let inside = a.gt(V::from_i64(-3)) & a.lt(V::from_i64(3));
        V::select(inside, grad * V::from_f64(1.0 / 6.0), V::zero())
    }
}

pointwise! { HardswishFn "hardswish": Reals, Same<1>; () => Common; Rule::UNARY }
impl<V: HasReal> Map<V> for HardswishFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a * ramp(a) / V::from_i64(6)
    }
}

pointwise! { HardswishBackwardFn "hardswish_backward": Reals, Same<2>; () => Common; Rule::BINARY }
impl<V: HasReal> Map<V> for HardswishBackwardFn {
    #[inline(always)]
    fn eval([grad, a]: [V; 2], (): ()) -> V {
        let between = grad * (a / V::from_i64(3) + V::from_f64(0.5));
        let above = V::select(a.ge(V::from_i64(3)), grad, between);
        V::select(a.le(V::from_i64(-3)), V::zero(), above)
    }
}

pointwise! {
    HardshrinkFn "hardshrink": Reals, Same<1>; Number => Common; Rule::UNARY.with_stored_numbers(), check = check_own
}
impl<V: HasReal> Map<V> for HardshrinkFn {
    #[inline(always)]
    fn eval([a]: [V; 1], reach: V) -> V {
        V::select(a.ge(-reach) & a.le(reach), V::zero(), a)
    }
}

pointwise! {
    SoftshrinkFn "softshrink": Reals, Same<1>; Number => Common; Rule::UNARY.with_stored_numbers(), check = check_reach
}
impl<V: HasReal> Map<V> for SoftshrinkFn {
    #[inline(always)]
    fn eval([a]: [V; 1], reach: V) -> V {
        let below = V::select(a.lt(-reach), a + reach, V::zero());
        V::select(a.is_nan(), a, V::select(a.gt(reach), a - reach, below))
    }
}

pointwise! {
    HardshrinkBackwardFn "hardshrink_backward": Reals, Same<2>; Number => Common;
    Rule::BINARY.with_stored_numbers(), check = check_own
}
impl<V: HasReal> Map<V> for HardshrinkBackwardFn {
    #[inline(always)]
    fn eval([grad, a]: [V; 2], reach: V) -> V {
        V::select(a.lt(-reach) | a.gt(reach), grad, V::zero())
    }
}

pointwise! { PreluFn "_prelu_kernel": Reals, Same<2>; () => Common; Rule::BINARY_EXACT.with_outputs_like::<Reals>(0) }
impl<V: HasReal> Map<V> for PreluFn {
    #[inline(always)]
    fn eval([a, weight]: [V; 2], (): ()) -> V {
        V::select(a.gt(V::zero()), a, weight * a)
    }
}

pointwise! { PreluBackwardFn "_prelu_kernel_backward": Reals, Same<3>; () => Common; Rule::TERNARY_ALIKE }
impl<V: HasReal> Map<V> for PreluBackwardFn {
    #[inline(always)]
    fn eval([a, weight, grad]: [V; 3], (): ()) -> V {
        V::select(a.gt(V::zero()), grad, weight * grad)
    }
}

pointwise! { PreluWeightBackwardFn "_prelu_kernel_backward": Reals, Same<3>; () => Common; Rule::TERNARY_ALIKE }
impl<V: HasReal> Map<V> for PreluWeightBackwardFn {
    #[inline(always)]
    fn eval([a, _, grad]: [V; 3], (): ()) -> V {
        V::select(a.gt(V::zero()), V::zero(), a * grad)
    }
}

/// A number between 0 and 6: 3 more than `a`.
#[inline(always)]
fn ramp<V: HasReal>(a: V) -> V {
    (a + V::from_i64(3)).maximum(V::zero()).minimum(V::from_i64(6))
}

/// The numbers must be ones that the dtype holds; float16 and bfloat16 read them as float32.
pub(crate) fn check_wide(call: &Check<'_, '_>) -> Result<()> {
    let dtype = if matches!(call.common, DType::F16 | DType::BF16) { DType::F32 } else { call.common };
    call.params.iter().try_for_each(|number| number.check_fits(dtype, "of a number"))
}

/// The numbers must be ones that the dtype holds.
pub(crate) fn check_own(call: &Check<'_, '_>) -> Result<()> {
    call.params.iter().try_for_each(|number| number.check_fits(call.common, "of a number"))
}

/// Whether a number is negative, or none.
fn is_negative_or_nan(number: Scalar) -> bool {
    let number = number.to_f64();
    number.is_nan() || number < 0.0
}

/// The same, and none is negative or NaN.
fn check_reach(call: &Check<'_, '_>) -> Result<()> {
    if call.params.iter().any(|&number| is_negative_or_nan(number)) {
        return Err(ErrorKind::ArgumentRule { rule: "argument lambd must be 0 or more" }.into());
    }
    check_own(call)
}

/// `leaky_relu_backward`. The result of leaky_relu has the sign of its input unless the slope is negative.
pub struct LeakyReluBackward;

impl<'t, D: Kernels> Operator<'t, D, (Operand<'t>, Operand<'t>, Scalar, bool)> for LeakyReluBackward {
    fn call<S: ValueSink<'t, D>>(
        (grad, a, slope, of_result): (Operand<'t>, Operand<'t>, Scalar, bool),
        sink: S,
    ) -> Result<S::Value> {
        if of_result && slope.to_f64() < 0.0 {
            let rule = "with a negative slope the result does not tell the sign of the input; give the input";
            return Err(Error::new(ErrorKind::ArgumentRule { rule }).of("leaky_relu_backward"));
        }
        run::<LeakyReluBackwardFn, D, _, S>((a, grad, slope), sink)
    }
}

/// `threshold_backward`: `threshold` with the gradient in place of what passes.
pub struct ThresholdBackward;

impl<'t, D: Kernels> Operator<'t, D, (Operand<'t>, Operand<'t>, Scalar)> for ThresholdBackward {
    fn call<S: ValueSink<'t, D>>(
        (grad, a, threshold): (Operand<'t>, Operand<'t>, Scalar),
        sink: S,
    ) -> Result<S::Value> {
        run::<ThresholdBackwardFn, D, _, S>((a, grad, threshold), sink)
    }
}

/// `softshrink_backward`: that of `hardshrink`, with softshrink's check.
pub struct SoftshrinkBackward;

impl<'t, D: Kernels> Operator<'t, D, (Operand<'t>, Operand<'t>, Scalar)> for SoftshrinkBackward {
    fn call<S: ValueSink<'t, D>>((grad, a, reach): (Operand<'t>, Operand<'t>, Scalar), sink: S) -> Result<S::Value> {
        run::<HardshrinkBackwardFn, D, _, S>((grad, a, reach), sink)
    }
}

/// `prelu`: a slope below zero for each channel (dimension 1), or one for all.
pub fn prelu<D: Kernels>(this: &Tensor<D>, weight: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("prelu", [this.geometry(), weight.geometry()]);
    let check = || -> std::result::Result<Vec<i64>, ErrorKind> {
        if this.dtype() != weight.dtype() {
            return Err(ErrorKind::ArgumentRule { rule: "self and weight must have one dtype; cast one of them" });
        }
        let channels = if this.ndim() > 1 { this.sizes()[1] } else { 1 };
        if weight.ndim() > 1 || (weight.numel() != 1 && (this.ndim() == 0 || weight.numel() as i64 != channels)) {
            let rule = "argument weight must have one element, or one dimension with one for each channel (dimension \
                1) of self";
            return Err(ErrorKind::ArgumentRule { rule });
        }
        let place = |d: usize| if d == 1 && weight.numel() != 1 { channels } else { 1 };
        Ok((0..this.ndim()).map(place).collect())
    };
    let sizes = check().map_err(|error| Error::new(error).of("prelu"))?;
    let weight = reshape(weight, &sizes)?;
    let [out] = run::<PreluFn, D, _, _>((this, &weight), Functional::<D, 1>::default())?;
    Ok(out)
}

/// `_prelu_kernel_backward`: the gradients by the input and by the weight, not summed.
pub fn prelu_kernel_backward<D: Kernels>(
    grad: &Tensor<D>,
    this: &Tensor<D>,
    weight: &Tensor<D>,
) -> Result<(Tensor<D>, Tensor<D>)> {
    let _span = observe::operator("_prelu_kernel_backward", [grad.geometry(), this.geometry(), weight.geometry()]);
    let [by_input] = run::<PreluBackwardFn, D, _, _>((this, weight, grad), Functional::<D, 1>::default())?;
    let [by_weight] = run::<PreluWeightBackwardFn, D, _, _>((this, weight, grad), Functional::<D, 1>::default())?;
    Ok((by_input, by_weight))
}

record! { ReluFn "relu: x", Any within 0:
int |[a], []| a.max(0), float |[a], []| if a < 0.0 { 0.0 } else { a } }
record! { LeakyReluFn "leaky_relu: x p", Small within 0: float |[a], [s]| if a > 0.0 { a } else { a * s } }
record! { LeakyReluBackwardFn "-: x x p", Small within 0: float |[a, g], [s]| if a > 0.0 { g } else { g * s } }
record! { ThresholdFn "threshold: x p p", Any within 0:
int |[a], [t, v]| if a <= t { v } else { a }, float |[a], [t, v]| if a <= t { v } else { a } }
record! { ThresholdBackwardFn "-: x x p", Any within 0:
int |[a, g], [t]| if a <= t { 0 } else { g }, float |[a, g], [t]| if a <= t { 0.0 } else { g } }
record! { HardtanhBackwardFn "hardtanh_backward: x x p p", Any within 0:
float |[g, a], [l, h]| if a > l && a < h { g } else { 0.0 } }
record! { HardsigmoidFn "hardsigmoid: x", Small within 2: float |[a], []| reference::hard(a) / 6.0 }
record! { HardsigmoidBackwardFn "hardsigmoid_backward: x x", Small within 2:
float |[g, a], []| if a > -3.0 && a < 3.0 { g / 6.0 } else { 0.0 } }
record! { HardswishFn "hardswish: x", Small within 2: float |[a], []| a * reference::hard(a) / 6.0 }
record! { HardswishBackwardFn "hardswish_backward: x x", Small within 4: float |[g, a], []| match a {
    ..=-3.0 => 0.0,
    3.0.. => g,
    _ => g * (a / 3.0 + 0.5),
} }
record! { HardshrinkFn "hardshrink: x p", Any within 0: float |[a], [r]| if a >= -r && a <= r { 0.0 } else { a } }
record! { SoftshrinkFn "softshrink: x p", Small within 0: float |[a], [r]| match () {
    () if a > r => a - r,
    () if a < -r => a + r,
    () => if a.is_nan() { a } else { 0.0 },
} }
record! { HardshrinkBackwardFn "hardshrink_backward: x x p", Any within 0:
float |[g, a], [r]| if a < -r || a > r { g } else { 0.0 } }
record! { PreluBackwardFn "-: x x x", Small within 0: float |[a, w, g], []| if a > 0.0 { g } else { w * g } }
record! { PreluWeightBackwardFn "-: x x x", Small within 0: float |[a, _, g], []| if a > 0.0 { 0.0 } else { a * g } }
record! { PreluFn "_prelu_kernel: x x", Small within 0: float |[a, w], []| if a > 0.0 { a } else { w * a } }

/// What the records call.
#[cfg(feature = "record")]
mod reference {
    /// 3 more than `a`, from 0 to 6.
    pub(super) fn hard(a: f64) -> f64 {
        if a.is_nan() { a } else { (a + 3.0).clamp(0.0, 6.0) }
    }
}

native! {
    family: Piecewise, functions: crate::Kernels;

    /// The rectified linear unit elementwise: `self` where it is positive, else 0.
    ///
    /// The dtype stays; NaN stays NaN. Bool and complex numbers are an error.
    ///
    /// ```
    /// let x = tensor![-1.0f32, 2.0];
    /// assert_eq!(x.relu()?.to_vec::<f32>()?, [0.0, 2.0]);
    /// ```
    func: relu(Tensor self) -> Tensor,
    inplace: relu_, autogen: relu.out, variants: function, method, structured: Pointwise<ReluFn>,
    otherwise: explicit crate::composite::arithmetic::relu;

    /// The leaky rectified linear unit elementwise: `self` where it is positive, else `negative_slope · self`.
    ///
    /// Floats only.
    ///
    /// ```
    /// let x = tensor![-4.0f32, 2.0];
    /// let slope = LeakyRelu { negative_slope: 0.25.into(), ..Default::default() };
    /// assert_eq!(x.leaky_relu_with(slope)?.to_vec::<f32>()?, [-1.0, 2.0]);
    /// ```
    func: leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor,
    inplace: leaky_relu_, out: leaky_relu.out, variants: function, method, structured: Pointwise<LeakyReluFn>;

    /// The gradient of [`leaky_relu`](super::functions::leaky_relu) at `self`: `grad_output` where that is positive,
    /// else `negative_slope · grad_output`.
    ///
    /// With `self_is_result` it is told the result in place of `self`; then the slope must not be negative.
    ///
    /// ```
    /// let x = tensor![-4.0f32, 2.0];
    /// let grad = ops::leaky_relu_backward(&tensor![8.0f32], &x, 0.25, false)?;
    /// assert_eq!(grad.to_vec::<f32>()?, [2.0, 8.0]);
    /// ```
    func: leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope,
        bool self_is_result) -> Tensor,
    out: leaky_relu_backward.grad_input, variants: function, operator: LeakyReluBackward;

    /// Replaces what is not more than `threshold` by `value`, elementwise.
    ///
    /// The dtype stays; NaN stays NaN.
    ///
    /// ```
    /// let x = tensor![1, 3];
    /// assert_eq!(x.threshold(2, 9)?.to_vec::<i32>()?, [9, 3]);
    /// ```
    func: threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor,
    inplace: threshold_, out: threshold.out, variants: function, method, structured: Pointwise<ThresholdFn>;

    /// The gradient of [`threshold`](super::functions::threshold) at `self`: `grad_output` where that is more than
    /// `threshold`, else 0.
    ///
    /// ```
    /// let x = tensor![1.0f32, 3.0];
    /// assert_eq!(ops::threshold_backward(&tensor![8.0f32], &x, 2)?.to_vec::<f32>()?, [0.0, 8.0]);
    /// ```
    func: threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor,
    out: threshold_backward.grad_input, variants: function, operator: ThresholdBackward;

    /// The gradient of [`hardtanh`](super::functions::hardtanh) at `self`: `grad_output` strictly between the bounds,
    /// else 0.
    ///
    /// ```
    /// let x = tensor![0.5f32, 3.0];
    /// assert_eq!(ops::hardtanh_backward(&tensor![8.0f32], &x, -1, 1)?.to_vec::<f32>()?, [8.0, 0.0]);
    /// ```
    func: hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor,
    out: hardtanh_backward.grad_input, variants: function, structured: Pointwise<HardtanhBackwardFn>;

    /// A piecewise linear sigmoid elementwise: `(self + 3) / 6`, from 0 to 1.
    ///
    /// Floats only.
    ///
    /// ```
    /// let x = tensor![-5.0f32, 0.0, 5.0];
    /// assert_eq!(x.hardsigmoid()?.to_vec::<f32>()?, [0.0, 0.5, 1.0]);
    /// ```
    func: hardsigmoid(Tensor self) -> Tensor,
    inplace: hardsigmoid_, out: hardsigmoid.out, variants: function, method, structured: Pointwise<HardsigmoidFn>;

    /// The gradient of [`hardsigmoid`](super::functions::hardsigmoid) at `self`: `grad_output / 6` strictly between -3
    /// and 3, else 0.
    ///
    /// ```
    /// let x = tensor![-5.0f32, 0.0];
    /// assert_eq!(ops::hardsigmoid_backward(&tensor![12.0f32], &x)?.to_vec::<f32>()?, [0.0, 2.0]);
    /// ```
    func: hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor,
    out: hardsigmoid_backward.grad_input, variants: function, structured: Pointwise<HardsigmoidBackwardFn>;

    /// The hard swish function elementwise: `self · hardsigmoid(self)`.
    ///
    /// Floats only.
    ///
    /// ```
    /// let x = tensor![-5.0f32, 0.0, 5.0];
    /// assert_eq!(x.hardswish()?.to_vec::<f32>()?, [-0.0, 0.0, 5.0]);
    /// ```
    func: hardswish(Tensor self) -> Tensor,
    inplace: hardswish_, out: hardswish.out, variants: function, method, structured: Pointwise<HardswishFn>;

    /// The gradient of [`hardswish`](super::functions::hardswish) at `self`: `grad_output` times its derivative,
    /// elementwise.
    ///
    /// ```
    /// let x = tensor![-5.0f32, 5.0];
    /// assert_eq!(ops::hardswish_backward(&tensor![2.0f32], &x)?.to_vec::<f32>()?, [0.0, 2.0]);
    /// ```
    func: hardswish_backward(Tensor grad_output, Tensor self) -> Tensor,
    autogen: hardswish_backward.out, variants: function, structured: Pointwise<HardswishBackwardFn>;

    /// Replaces what is from `-lambd` to `lambd` by 0, elementwise.
    ///
    /// Floats only.
    ///
    /// ```
    /// let x = tensor![-1.0f32, 0.25, 0.75];
    /// assert_eq!(x.hardshrink()?.to_vec::<f32>()?, [-1.0, 0.0, 0.75]);
    /// ```
    func: hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor,
    out: hardshrink.out, variants: function, method, structured: Pointwise<HardshrinkFn>;

    /// The gradient of [`hardshrink`](super::functions::hardshrink) at `self`: `grad_out` outside of the interval, else
    /// 0.
    ///
    /// ```
    /// let x = tensor![-1.0f32, 0.25];
    /// assert_eq!(ops::hardshrink_backward(&tensor![2.0f32], &x, 0.5)?.to_vec::<f32>()?, [2.0, 0.0]);
    /// ```
    func: hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor,
    out: hardshrink_backward.grad_input, variants: function, structured: Pointwise<HardshrinkBackwardFn>;

    /// Moves each element by `lambd` towards 0, and to 0 what is nearer than that.
    ///
    /// `lambd` must not be negative. Floats only.
    ///
    /// ```
    /// let x = tensor![-1.0f32, 0.25, 0.75];
    /// assert_eq!(x.softshrink()?.to_vec::<f32>()?, [-0.5, 0.0, 0.25]);
    /// ```
    func: softshrink(Tensor self, Scalar lambd=0.5) -> Tensor,
    out: softshrink.out, variants: function, method, structured: Pointwise<SoftshrinkFn>;

    /// The gradient of [`softshrink`](super::functions::softshrink) at `self`: `grad_output` outside of the interval,
    /// else 0.
    ///
    /// ```
    /// let x = tensor![-1.0f32, 0.25];
    /// assert_eq!(ops::softshrink_backward(&tensor![2.0f32], &x, 0.5)?.to_vec::<f32>()?, [2.0, 0.0]);
    /// ```
    func: softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor,
    out: softshrink_backward.grad_input, variants: function, operator: SoftshrinkBackward;

    /// The rectified linear unit with a slope for each element: [`prelu`](super::functions::prelu) of a `weight` that
    /// broadcasts.
    ///
    /// ```
    /// let x = tensor![-4.0f32, 2.0];
    /// assert_eq!(x.prelu_kernel(&tensor![0.25f32])?.to_vec::<f32>()?, [-1.0, 2.0]);
    /// ```
    func: _prelu_kernel(Tensor self, Tensor weight) -> Tensor,
    variants: function, method, structured: Pointwise<PreluFn>;

    /// The gradients of [`prelu_kernel`](super::functions::prelu_kernel) with respect to `self` and `weight`,
    /// elementwise.
    ///
    /// ```
    /// let x = tensor![-4.0f32, 2.0];
    /// let (grad, _) = ops::prelu_kernel_backward(&tensor![8.0f32, 8.0], &x, &tensor![0.25f32])?;
    /// assert_eq!(grad.to_vec::<f32>()?, [2.0, 8.0]);
    /// ```
    func: _prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor),
    variants: function, kernel: prelu_kernel_backward;

    structured: Pointwise<PreluBackwardFn>;

    structured: Pointwise<PreluWeightBackwardFn>;

    /// The rectified linear unit with a learnt slope: `self` where it is positive, else `weight · self`.
    ///
    /// `weight` has one element, or one for each index of the second dimension, the channels. Floats only, of the same
    /// dtype.
    ///
    /// ```
    /// let x = tensor![[-4.0f32, -4.0], [2.0, 2.0]];
    /// assert_eq!(x.prelu(&tensor![0.25f32, 0.5])?.to_vec::<f32>()?, [-1.0, -2.0, 2.0, 2.0]);
    /// ```
    func: prelu(Tensor self, Tensor weight) -> Tensor,
    variants: function, kernel: prelu;

    structured: Pointwise<LeakyReluBackwardFn>;

    structured: Pointwise<ThresholdBackwardFn>;
}
