//! Losses of the differences of two tensors, and their gradients: squares, absolute values, and what is a square near 0
//! and an absolute value further out (P. J. Huber, *Robust estimation of a location parameter*, Ann. Math. Statist.
//! 35(1), 1964).

use crate::algebra::{Num, Real as HasReal};
use crate::composite::{self, steps::Steps};
use crate::kernels::{DifferenceLosses, Mean, Sum};
use crate::piecewise::{check_own, check_wide};
use crate::pointwise::{Check, Common, Map, Number, Numbers, PointwiseFn, Real, Reals, Rule, Same, pointwise, run};
use crate::prebuilt::{Pointwise, Reduce};
use crate::record;
use crate::reduce::{Dims, MeanFn, ReduceFn, ReduceInputs, SumFn};
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::structured::{Executes, Functional, Operand, Operator, ValueSink, call};
use monomorph_core::{AnyTensor, Device, ErrorKind, Geometry, IValue, Result, Scalar, Tensor};

/// The losses of `huber_loss` replace a tensor like its first operand.
const HUBER: Rule = Rule::BINARY.with_dtype_of(0).with_outputs_like::<Reals>(0);

/// Gradients by the first operand have its dtype and are row-major.
const GRADIENT: Rule = Rule::TERNARY.with_dtype_of(0).with_row_major_results();

pointwise! {
    /// Each step is rounded as PyTorch's is, so that halves have its bits.
    MseLossFn "mse_loss": Reals, Same<2>; () => Common; Rule::BINARY
}
impl<V: HasReal> Map<V> for MseLossFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        let difference = (a - b).stored();
        difference * difference
    }
}

pointwise! { SmoothL1LossFn "smooth_l1_loss": Reals, Same<2>; Number => Common; Rule::BINARY, check = check_wide }
impl<V: HasReal> Map<V> for SmoothL1LossFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], beta: V) -> V {
        let (size, half) = ((a - b).abs(), V::from_f64(0.5));
        V::select(size.ge(beta), size - half * beta, half * size * size / beta)
    }
}

pointwise! { HuberLossFn "huber_loss": Reals, Same<2>; Number => Common; HUBER, check = check_wide }
impl<V: HasReal> Map<V> for HuberLossFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], delta: V) -> V {
        let (size, half) = ((a - b).abs(), V::from_f64(0.5));
        V::select(size.gt(delta), delta * (size - half * delta), half * size * size)
    }
}

pointwise! {
    /// The number is the share of an element, twice. Rounded step by step, as in PyTorch.
    MseLossBackwardFn "mse_loss_backward": Real, Same<3>; Number => Common; GRADIENT.with_stored_numbers(),
        check = check_own
}
impl<V: Num> Map<V> for MseLossBackwardFn {
    #[inline(always)]
    fn eval([a, b, grad]: [V; 3], share: V) -> V {
        (share * (a - b).stored()).stored() * grad
    }
}

pointwise! {
    /// The numbers are the share of an element, and `beta`.
    SmoothL1LossBackwardFn "smooth_l1_loss_backward": Reals, Same<3>; Numbers<2> => Common; GRADIENT, check = check_wide
}
impl<V: HasReal> Map<V> for SmoothL1LossBackwardFn {
    #[inline(always)]
    fn eval([a, b, grad]: [V; 3], [share, beta]: [V; 2]) -> V {
        let difference = a - b;
        // Where there is no difference and beta is 0, it is below.
        let side = V::select(difference.gt(V::zero()), V::one(), -V::one());
        share * V::select(difference.abs().ge(beta), side, difference / beta) * grad
    }
}

pointwise! {
    /// The numbers are the share of an element, and `delta`. Rounded step by step, as in PyTorch.
    HuberLossBackwardFn "huber_loss_backward": Reals, Same<3>; Numbers<2> => Common;
        Rule::TERNARY_ALIKE.exact().with_row_major_results().with_stored_numbers(), check = check_huber_backward
}
impl<V: HasReal> Map<V> for HuberLossBackwardFn {
    #[inline(always)]
    fn eval([a, b, grad]: [V; 3], [share, delta]: [V; 2]) -> V {
        let difference = (a - b).stored();
        let limited = V::select(difference.lt(-delta), -delta, V::select(difference.gt(delta), delta, difference));
        (share * limited).stored() * grad
    }
}

/// The operands must be of one dtype, which holds the numbers.
fn check_huber_backward(call: &Check<'_, '_>) -> Result<()> {
    if let [a, others @ ..] = call.operands
        && let Some(want) = a.dtype()
        && let Some((i, got)) =
            others.iter().enumerate().find_map(|(i, o)| Some((i, o.dtype().filter(|&d| d != want)?)))
    {
        return Err(ErrorKind::DTypeMismatch { arg: ["target", "grad_output"][i], got, want }.into());
    }
    check_own(call)
}

/// An error unless the reduction is none, mean or sum.
fn check_reduction(reduction: i64) -> Result<()> {
    match reduction {
        0..=2 => Ok(()),
        got => Err(ErrorKind::OutOfRange { arg: "reduction", got, low: 0, high: 2 }.into()),
    }
}

/// The reduction of losses that are already computed.
fn fold<'s, F, D, S>(losses: &'s Tensor<D>, sink: S) -> Result<S::Value>
where
    F: ReduceFn,
    D: Device + Executes<Reduce<F>>,
    S: ValueSink<'s, D>,
{
    let inputs = ReduceInputs::told(losses.into(), (Dims::All, false), (None, true), [0.0; 2]);
    call::<Reduce<F>, D, S>(&inputs, sink).map(S::value::<Reduce<F>>)
}

/// The losses of formula `F`, or what is made of them: their mean (1) or their sum (2), nothing by any other number.
fn reduced<'t, F, D, Args, S>(args: Args, reduction: i64, sink: S) -> Result<S::Value>
where
    F: PointwiseFn,
    D: Executes<Pointwise<F>> + Mean + Sum,
    Pointwise<F>: Operator<'t, D, Args>,
    S: ValueSink<'t, D>,
{
    if !matches!(reduction, 1 | 2) {
        return Pointwise::<F>::call(args, sink);
    }
    let [losses] = Pointwise::<F>::call(args, Functional::<D, 1>::default())?;
    if let Some(to) = sink.existing(0).map(|out| out.geometry().dtype()).filter(|&to| !losses.dtype().can_cast(to)) {
        return Err(ErrorKind::Cast { from: losses.dtype(), to }.into());
    }
    sink.through(&losses, |sink, _| match reduction {
        1 => fold::<MeanFn, D, _>(&losses, sink),
        _ => fold::<SumFn, D, _>(&losses, sink),
    })
}

/// `mse_loss`.
pub struct MseLoss;

impl<'t, D: DifferenceLosses + Mean + Sum> Operator<'t, D, (Operand<'t>, Operand<'t>, i64)> for MseLoss {
    fn call<S: ValueSink<'t, D>>((a, b, reduction): (Operand<'t>, Operand<'t>, i64), sink: S) -> Result<S::Value> {
        check_reduction(reduction)?;
        reduced::<MseLossFn, D, _, S>((a, b), reduction, sink)
    }
}

/// `smooth_l1_loss`.
pub struct SmoothL1Loss;

impl<'t, D: DifferenceLosses + Mean + Sum> Operator<'t, D, (Operand<'t>, Operand<'t>, i64, f64)> for SmoothL1Loss {
    fn call<S: ValueSink<'t, D>>(
        (a, b, reduction, beta): (Operand<'t>, Operand<'t>, i64, f64),
        sink: S,
    ) -> Result<S::Value> {
        check_reduction(reduction)?;
        if beta < 0.0 {
            return Err(ErrorKind::ArgumentRule { rule: "argument beta is negative; accepted is 0 or more" }.into());
        }
        reduced::<SmoothL1LossFn, D, _, S>((a, b, Scalar::Float(beta)), reduction, sink)
    }
}

/// `huber_loss`. PyTorch takes every number but 1 and 2 for no reduction here.
pub struct HuberLoss;

impl<'t, D: DifferenceLosses + Mean + Sum> Operator<'t, D, (Operand<'t>, Operand<'t>, i64, f64)> for HuberLoss {
    fn call<S: ValueSink<'t, D>>(
        (a, b, reduction, delta): (Operand<'t>, Operand<'t>, i64, f64),
        sink: S,
    ) -> Result<S::Value> {
        if delta.is_nan() || delta <= 0.0 {
            return Err(ErrorKind::ArgumentRule { rule: "argument delta must be above 0" }.into());
        }
        reduced::<HuberLossFn, D, _, S>((a, b, Scalar::Float(delta)), reduction, sink)
    }
}

/// `factor` times the share of one element in what its losses are reduced to: 1, or its part of a mean. For integers it
/// is rounded to one.
fn share(x: &Operand<'_>, reduction: i64, factor: f64) -> Scalar {
    let numel = x.geometry().map_or(1, Geometry::numel);
    let share = if reduction == 1 { factor / numel as f64 } else { factor };
    if x.dtype().is_some_and(|dtype| dtype.is_integral(true)) { Scalar::Int(share as i64) } else { share.into() }
}

/// `mse_loss_backward`. The order of the operands decides on that of the dimensions.
pub struct MseLossBackward;

impl<'t, D: DifferenceLosses> Operator<'t, D, (Operand<'t>, Operand<'t>, Operand<'t>, i64)> for MseLossBackward {
    fn call<S: ValueSink<'t, D>>(
        (grad, a, b, reduction): (Operand<'t>, Operand<'t>, Operand<'t>, i64),
        sink: S,
    ) -> Result<S::Value> {
        let share = share(&a, reduction, 2.0);
        run::<MseLossBackwardFn, D, _, S>((a, b, grad, share), sink)
    }
}

/// The arguments of a gradient of a loss that has a limit.
type Limited<'t> = (Operand<'t>, Operand<'t>, Operand<'t>, i64, f64);

/// `smooth_l1_loss_backward`.
pub struct SmoothL1LossBackward;

impl<'t, D: DifferenceLosses> Operator<'t, D, Limited<'t>> for SmoothL1LossBackward {
    fn call<S: ValueSink<'t, D>>((grad, a, b, reduction, beta): Limited<'t>, sink: S) -> Result<S::Value> {
        let share = share(&a, reduction, 1.0);
        run::<SmoothL1LossBackwardFn, D, _, S>((a, b, grad, share, Scalar::Float(beta)), sink)
    }
}

/// `huber_loss_backward`.
pub struct HuberLossBackward;

impl<'t, D: DifferenceLosses> Operator<'t, D, Limited<'t>> for HuberLossBackward {
    fn call<S: ValueSink<'t, D>>((grad, a, b, reduction, delta): Limited<'t>, sink: S) -> Result<S::Value> {
        let share = share(&a, reduction, 1.0);
        run::<HuberLossBackwardFn, D, _, S>((a, b, grad, share, Scalar::Float(delta)), sink)
    }
}

/// `l1_loss`: PyTorch composes it for all devices.
pub fn l1_loss(calls: &Calls<'_>, this: &IValue, target: &IValue, reduction: i64) -> Result<AnyTensor> {
    let sizes = calls.unary("abs", calls.sub(this.clone(), target.clone())?)?;
    composite::losses::reduced(calls, sizes, reduction)
}

record! { MseLossFn "-: x x", Small within 4: float |[a, b], []| (a - b) * (a - b) }
record! { SmoothL1LossFn "-: x x p", Small within 16: float |[a, b], [beta]| {
    let size = (a - b).abs();
    if size < beta { 0.5 * size * size / beta } else { size - 0.5 * beta }
} }
record! { HuberLossFn "-: x x p", Small within 16: float |[a, b], [delta]| {
    let size = (a - b).abs();
    if size > delta { delta * (size - 0.5 * delta) } else { 0.5 * size * size }
} }
record! { MseLossBackwardFn "-: x x x p", Small within 4:
    int |[a, b, grad], [share]| share.wrapping_mul(a.wrapping_sub(b)).wrapping_mul(grad),
float |[a, b, grad], [share]| share * (a - b) * grad }
record! { SmoothL1LossBackwardFn "-: x x x p p", Small within 16: float |[a, b, grad], [share, beta]| {
    let difference: f64 = a - b;
    let side = if difference > 0.0 { 1.0 } else { -1.0 };
    share * if difference.abs() >= beta { side } else { difference / beta } * grad
} }
record! { HuberLossBackwardFn "-: x x x p p", Small within 16: float |[a, b, grad], [share, delta]| match a - b {
    d if d < -delta => -share * delta * grad,
    d if d > delta => share * delta * grad,
    d => share * d * grad,
} }

native! {
    family: DifferenceLosses, functions: crate::kernels::DifferenceLosses + crate::kernels::Mean + crate::kernels::Sum;

    /// The squares of the differences, their mean or their sum: `(self - target)²`, elementwise.
    ///
    /// The operands broadcast and promote; floats only. `reduction` is 0 for the losses of the elements, 1 for their
    /// mean, which it is by default, and 2 for their sum.
    ///
    /// ```
    /// let (x, y) = (tensor![1.0f32, 2.0], tensor![1.0f32, 4.0]);
    /// assert_eq!(ops::mse_loss(&x, &y)?.at::<f32>(())?, 2.0);
    /// ```
    func: mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor,
    out: mse_loss.out, variants: function, operator: MseLoss;

    /// The gradient of [`mse_loss`](super::functions::mse_loss) by `self`, in its dtype and row-major:
    /// `2 · (self - target) · grad_output`, over the number of elements where the losses have become their mean.
    ///
    /// ```
    /// let (x, y) = (tensor![1.0f32, 2.0], tensor![1.0f32, 4.0]);
    /// let slope = ops::mse_loss_backward(&tensor![1.0f32], &x, &y, 1)?;
    /// assert_eq!(slope.to_vec::<f32>()?, [0.0, -2.0]);
    /// ```
    func: mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor,
    out: mse_loss_backward.grad_input, variants: function, operator: MseLossBackward;

    func: l1_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor, composite: implicit l1_loss;

    /// Of each difference `d` of the operands `d² / (2 · beta)` where its size is below `beta`, `|d| - beta / 2` where
    /// it is not; then their mean (`reduction` 1, as it is by default), their sum (2) or neither (0).
    ///
    /// The operands broadcast and promote; floats only. `beta` is 0 or more.
    ///
    /// ```
    /// let (x, y) = (tensor![1.0f32, 2.0], tensor![1.0f32, 4.0]);
    /// assert_eq!(ops::smooth_l1_loss(&x, &y)?.at::<f32>(())?, 0.75);
    /// ```
    func: smooth_l1_loss(Tensor self, Tensor target, int reduction=Mean, float beta=1.0) -> Tensor,
    out: smooth_l1_loss.out, variants: function, operator: SmoothL1Loss;

    /// The gradient of [`smooth_l1_loss`](super::functions::smooth_l1_loss) by `self`, in its dtype and row-major: of
    /// each difference `d` the smaller of `|d| / beta` and 1, with its sign, times `grad_output`. Floats only.
    ///
    /// ```
    /// let (x, y) = (tensor![1.5f32, 2.0], tensor![1.0f32, 4.0]);
    /// let slope = ops::smooth_l1_loss_backward(&tensor![1.0f32], &x, &y, 0, 1.0)?;
    /// assert_eq!(slope.to_vec::<f32>()?, [0.5, -1.0]);
    /// ```
    func: smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor,
    out: smooth_l1_loss_backward.grad_input, variants: function, operator: SmoothL1LossBackward;

    /// Of each difference `d` of the operands `d² / 2` where its size is at most `delta`, `delta · (|d| - delta / 2)`
    /// where it is more; then their mean (`reduction` 1, as it is by default), their sum (2) or neither.
    ///
    /// The operands broadcast; the result has the dtype of `self`. `delta` is above 0.
    ///
    /// ```
    /// let (x, y) = (tensor![1.0f32, 2.0], tensor![1.0f32, 4.0]);
    /// assert_eq!(ops::huber_loss(&x, &y)?.at::<f32>(())?, 0.75);
    /// ```
    func: huber_loss(Tensor self, Tensor target, int reduction=Mean, float delta=1.0) -> Tensor,
    out: huber_loss.out, variants: function, operator: HuberLoss;

    /// The gradient of [`huber_loss`](super::functions::huber_loss) by `self`, row-major: each difference, limited to
    /// `delta` in size, times `grad_output`. All operands have one dtype.
    ///
    /// ```
    /// let (x, y) = (tensor![1.5f32, 2.0], tensor![1.0f32, 4.0]);
    /// let slope = ops::huber_loss_backward(&tensor![1.0f32], &x, &y, 0, 1.0)?;
    /// assert_eq!(slope.to_vec::<f32>()?, [0.5, -1.0]);
    /// ```
    func: huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor,
    out: huber_loss_backward.out as [grad_input], variants: function, operator: HuberLossBackward;

    structured: Pointwise<MseLossFn>;

    structured: Pointwise<MseLossBackwardFn>;

    structured: Pointwise<SmoothL1LossFn>;

    structured: Pointwise<SmoothL1LossBackwardFn>;

    structured: Pointwise<HuberLossFn>;

    structured: Pointwise<HuberLossBackwardFn>;
}
