//! Losses of the differences of two tensors: squares, absolute values, and what is a square near 0 and an absolute
//! value further out; and their gradients.

use super::{check_real, common_dtype, reduced, share};
use crate::composite::steps::Steps;
use crate::composite::{in_dtype, operand, rule, tensor};
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result, Scalar};

/// An error unless the reduction is none, mean or sum.
fn check_reduction(reduction: i64) -> Result<()> {
    match reduction {
        0..=2 => Ok(()),
        got => Err(ErrorKind::OutOfRange { arg: "reduction", got, low: 0, high: 2 }.into()),
    }
}

/// `a - b`, which must be floating.
fn difference(calls: &Calls<'_>, this: &IValue, target: &IValue) -> Result<AnyTensor> {
    let is_boolean = [this, target].iter().all(|value| operand(value).dtype() == Some(DType::Bool));
    let difference =
        if is_boolean { tensor(this, "self")?.clone() } else { calls.sub(this.clone(), target.clone())? };
    let got = difference.dtype();
    if got.is_floating() {
        return Ok(difference);
    }
    let (what, accepted) = ("the operands promote to", "floating dtypes");
    Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
}

/// `mse_loss`.
pub fn mse_loss(calls: &Calls<'_>, this: &IValue, target: &IValue, reduction: i64) -> Result<AnyTensor> {
    check_reduction(reduction)?;
    let difference = difference(calls, this, target)?;
    reduced(calls, calls.mul(difference.clone(), difference)?, reduction)
}

/// `l1_loss`.
pub fn l1_loss(calls: &Calls<'_>, this: &IValue, target: &IValue, reduction: i64) -> Result<AnyTensor> {
    let size = calls.unary("abs", calls.sub(this.clone(), target.clone())?)?;
    reduced(calls, size, reduction)
}

/// The operand in float32 where it is of float16 or bfloat16: PyTorch's loops of these losses round once.
fn wide(calls: &Calls<'_>, value: &IValue) -> Result<IValue> {
    match operand(value).dtype() {
        Some(DType::F16 | DType::BF16) => in_dtype(calls, value, DType::F32),
        _ => Ok(value.clone()),
    }
}

/// `c · (size - c / 2)` with the smaller `c` of `size` and `limit`: a parabola, from the limit on its tangent.
fn parabola(calls: &Calls<'_>, difference: AnyTensor, limit: f64) -> Result<AnyTensor> {
    let size = calls.unary("abs", difference)?;
    let near = calls.tensor("clamp_max", [size.clone().into(), limit.into()])?;
    let rest = calls.tensor("sub.Tensor", [size.into(), near.clone().into(), 0.5.into()])?;
    calls.mul(near, rest)
}

/// `smooth_l1_loss`.
pub fn smooth_l1_loss(
    calls: &Calls<'_>,
    this: &IValue,
    target: &IValue,
    reduction: i64,
    beta: f64,
) -> Result<AnyTensor> {
    check_reduction(reduction)?;
    if beta < 0.0 {
        return Err(rule("argument beta is negative; accepted is 0 or more"));
    }
    let dtype = common_dtype(this, target)?;
    let difference = difference(calls, &wide(calls, this)?, &wide(calls, target)?)?;
    let losses = match beta == 0.0 {
        true => calls.unary("abs", difference)?,
        false => calls.div(parabola(calls, difference, beta)?, beta)?,
    };
    reduced(calls, calls.cast(losses, dtype)?, reduction)
}

/// `huber_loss`.
pub fn huber_loss(calls: &Calls<'_>, this: &IValue, target: &IValue, reduction: i64, delta: f64) -> Result<AnyTensor> {
    if delta.is_nan() || delta <= 0.0 {
        return Err(rule("argument delta must be above 0"));
    }
    let own = tensor(this, "self")?.dtype();
    let losses = parabola(calls, difference(calls, &wide(calls, this)?, &wide(calls, target)?)?, delta)?;
    if !losses.dtype().can_cast(own) {
        return Err(ErrorKind::Cast { from: losses.dtype(), to: own }.into());
    }
    reduced(calls, calls.cast(losses, own)?, reduction)
}

/// A gradient as PyTorch makes it: row-major, in the dtype of the input.
fn gradient(calls: &Calls<'_>, this: &AnyTensor, slope: AnyTensor) -> Result<AnyTensor> {
    if !slope.dtype().can_cast(this.dtype()) {
        return Err(ErrorKind::Cast { from: slope.dtype(), to: this.dtype() }.into());
    }
    let slope = calls.cast(slope, this.dtype())?;
    calls.tensor("contiguous", [slope.into(), monomorph_core::MemoryFormat::Contiguous.into()])
}

/// `mse_loss_backward`.
pub fn mse_loss_backward(
    calls: &Calls<'_>,
    grad: &IValue,
    this: &IValue,
    target: &IValue,
    reduction: i64,
) -> Result<AnyTensor> {
    check_real(&[grad, this, target])?;
    let own = tensor(this, "self")?;
    let difference = calls.sub(this.clone(), target.clone())?;
    let scaled = calls.mul(difference, number(own.dtype(), 2.0 * share(own, reduction)))?;
    gradient(calls, own, calls.mul(scaled, grad.clone())?)
}

/// A factor that does not make integers floats.
fn number(dtype: DType, x: f64) -> Scalar {
    if dtype.is_integral(true) { Scalar::Int(x as i64) } else { Scalar::Float(x) }
}

/// The difference, not above `limit` in size.
fn limited(calls: &Calls<'_>, this: &IValue, target: &IValue, limit: f64) -> Result<AnyTensor> {
    let difference = calls.sub(this.clone(), target.clone())?;
    let [low, high] = [-limit, limit].map(|x| number(difference.dtype(), x));
    calls.tensor("clamp", [difference.into(), low.into(), high.into()])
}

/// `smooth_l1_loss_backward`.
pub fn smooth_l1_loss_backward(
    calls: &Calls<'_>,
    grad: &IValue,
    this: &IValue,
    target: &IValue,
    reduction: i64,
    beta: f64,
) -> Result<AnyTensor> {
    check_real(&[grad, this, target])?;
    let own = tensor(this, "self")?;
    let factor = share(own, reduction);
    if beta == 0.0 {
        // The side that the difference is on; where there is none, it is below.
        let above = calls.tensor("gt.Tensor", [this.clone(), target.clone()])?;
        let sides = [factor, -factor].map(|x| number(own.dtype(), x));
        let side = calls.tensor("where.Scalar", [above.into(), sides[0].into(), sides[1].into()])?;
        return gradient(calls, own, calls.mul(calls.cast(side, own.dtype())?, grad.clone())?);
    }
    let near = limited(calls, this, target, beta)?;
    let scaled = calls.mul(near, number(own.dtype(), factor / beta))?;
    gradient(calls, own, calls.mul(scaled, grad.clone())?)
}

/// `huber_loss_backward`.
pub fn huber_loss_backward(
    calls: &Calls<'_>,
    grad: &IValue,
    this: &IValue,
    target: &IValue,
    reduction: i64,
    delta: f64,
) -> Result<AnyTensor> {
    let own = tensor(this, "self")?;
    for (arg, value) in [("grad_output", grad), ("target", target)] {
        let (got, want) = (tensor(value, arg)?.dtype(), own.dtype());
        if got != want {
            return Err(ErrorKind::DTypeMismatch { arg, got, want }.into());
        }
    }
    if !own.dtype().is_floating() {
        let (what, got, accepted) = ("argument self has dtype", own.dtype(), "floating dtypes");
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    }
    let scaled = calls.mul(limited(calls, this, target, delta)?, share(own, reduction))?;
    gradient(calls, own, calls.mul(scaled, grad.clone())?)
}

native! {
    family: DifferenceLosses, functions: crate::fill::Fills;

    func: mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor,
    out: mse_loss.out, composite: explicit mse_loss;

    func: mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor,
    out: mse_loss_backward.grad_input, composite: explicit mse_loss_backward;

    func: l1_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor, composite: implicit l1_loss;

    func: smooth_l1_loss(Tensor self, Tensor target, int reduction=Mean, float beta=1.0) -> Tensor,
    out: smooth_l1_loss.out, composite: explicit smooth_l1_loss;

    func: smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor,
    out: smooth_l1_loss_backward.grad_input, composite: explicit smooth_l1_loss_backward;

    func: huber_loss(Tensor self, Tensor target, int reduction=Mean, float delta=1.0) -> Tensor,
    out: huber_loss.out, composite: explicit huber_loss;

    func: huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor,
    out_iterated: huber_loss_backward.out as [grad_input], composite: explicit huber_loss_backward;
}
