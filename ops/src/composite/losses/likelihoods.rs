//! Losses of probabilities, of their logarithms and of logits.

use super::{check_real, reduced, share};
use crate::composite::callees::Callees;
use crate::composite::steps::Steps;
use crate::composite::{in_dtype, tensor};
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result, strides};

/// An error unless what both broadcast to has the sizes of the first: PyTorch computes in the place of it.
fn check_place(this: &AnyTensor, other: &AnyTensor) -> Result<()> {
    let broadcast = strides::broadcast_sizes(this.sizes(), other.sizes())?;
    if broadcast[..] == *this.sizes() {
        return Ok(());
    }
    let (got, got_dtype) = (this.sizes().to_vec(), this.dtype());
    Err(ErrorKind::InPlace { got, got_dtype, want: broadcast.to_vec(), want_dtype: got_dtype }.into())
}

/// `exp(-target · self)`, which must be of a dtype that that of `self` can hold.
fn margin(calls: &Calls<'_>, this: &AnyTensor, target: &AnyTensor) -> Result<AnyTensor> {
    let product = calls.mul(calls.unary("neg", target.clone())?, this.clone())?;
    if !this.dtype().is_floating() && !this.dtype().is_complex() {
        return Err(ErrorKind::Cast { from: DType::F32, to: this.dtype() }.into());
    }
    calls.unary("exp", calls.cast(product, this.dtype())?)
}

/// `soft_margin_loss`.
pub fn soft_margin_loss(calls: &Calls<'_>, this: &IValue, target: &IValue, reduction: i64) -> Result<AnyTensor> {
    let (this, target) = (tensor(this, "self")?, tensor(target, "target")?);
    check_place(this, target)?;
    let losses = calls.unary("log1p", margin(calls, this, target)?)?;
    reduced(calls, losses, reduction)
}

/// `soft_margin_loss_backward`.
pub fn soft_margin_loss_backward(
    calls: &Calls<'_>,
    grad: &IValue,
    this: &IValue,
    target: &IValue,
    reduction: i64,
) -> Result<AnyTensor> {
    let (this, target) = (tensor(this, "self")?, tensor(target, "target")?);
    let z = margin(calls, this, target)?;
    let above = calls.mul(calls.mul(target.clone(), z.clone())?, -share(this, reduction))?;
    let slope = calls.div(above, calls.add(z, 1i64)?)?;
    calls.cast(calls.mul(slope, grad.clone())?, this.dtype())
}

/// `binary_cross_entropy_with_logits`.
pub fn binary_cross_entropy_with_logits(
    calls: &Calls<'_>,
    this: &IValue,
    target: &IValue,
    weight: &IValue,
    pos_weight: &IValue,
    reduction: i64,
) -> Result<AnyTensor> {
    let goal = tensor(target, "target")?;
    check_place(goal, tensor(this, "self")?)?;
    let mut log = calls.unary("log_sigmoid", this.clone())?;
    if !matches!(pos_weight, IValue::None) {
        let factor = calls.add(calls.mul(calls.sub(pos_weight.clone(), 1i64)?, target.clone())?, 1i64)?;
        log = calls.mul(log, factor)?;
    }
    let rest = calls.mul(calls.tensor("rsub.Scalar", [target.clone(), 1i64.into(), 1i64.into()])?, this.clone())?;
    let mut losses = calls.sub(rest, log)?;
    if !matches!(weight, IValue::None) {
        losses = calls.mul(losses, weight.clone())?;
    }
    reduced(calls, calls.cast(losses, goal.dtype())?, reduction)
}

/// `binary_cross_entropy_backward`.
pub fn binary_cross_entropy_backward(
    calls: &Calls<'_>,
    grad: &IValue,
    this: &IValue,
    target: &IValue,
    weight: &IValue,
    reduction: i64,
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
    // In float32 throughout, as the loop does that PyTorch has for float16 and bfloat16.
    let wide = if own.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
    let [x, goal, slope] = [this, target, grad].map(|value| in_dtype(calls, value, wide));
    let (x, goal, slope) = (x?, goal?, slope?);
    let above = calls.mul(slope, calls.sub(x.clone(), goal)?)?;
    let below = calls.mul(calls.tensor("rsub.Scalar", [x.clone(), 1i64.into(), 1i64.into()])?, x)?;
    let below = calls.tensor("clamp_min", [below.into(), 1e-12.into()])?;
    let mut slope = calls.cast(calls.div(above, below)?, own.dtype())?;
    if !matches!(weight, IValue::None) {
        slope = calls.cast(calls.mul(slope, weight.clone())?, own.dtype())?;
    }
    if reduction == 1 {
        slope = calls.div(slope, own.numel() as i64)?;
    }
    if slope.geometry().same_strides(own.geometry()) {
        return Ok(slope);
    }
    let none = || IValue::None;
    let like = calls.tensor("empty_like", [this.clone(), none(), none(), none(), none(), none()])?;
    calls.copy_into(like.clone(), &slope)?;
    Ok(like)
}

/// `kl_div`.
pub fn kl_div(
    calls: &Calls<'_>,
    this: &IValue,
    target: &IValue,
    reduction: i64,
    log_target: bool,
) -> Result<AnyTensor> {
    check_real(&[this, target])?;
    for (what, value) in [("argument self has dtype", this), ("argument target has dtype", target)] {
        if let Some(got) = value.as_tensor().map(AnyTensor::dtype).filter(|dtype| !dtype.is_floating()) {
            return Err(ErrorKind::DTypeNotSupported { what, got, accepted: "floating dtypes" }.into());
        }
    }
    let losses = match log_target {
        true => calls.mul(calls.unary("exp", target.clone())?, calls.sub(target.clone(), this.clone())?)?,
        false => {
            let own = calls.binary("xlogy.Tensor", target.clone(), target.clone())?;
            calls.sub(own, calls.mul(target.clone(), this.clone())?)?
        }
    };
    reduced(calls, losses, reduction)
}

/// `poisson_nll_loss`.
pub fn poisson_nll_loss(
    calls: &Calls<'_>,
    input: &IValue,
    target: &IValue,
    log_input: bool,
    full: bool,
    eps: f64,
    reduction: i64,
) -> Result<AnyTensor> {
    let mut losses = match log_input {
        true => calls.sub(calls.unary("exp", input.clone())?, calls.mul(target.clone(), input.clone())?)?,
        false => {
            let log = calls.unary("log", calls.add(input.clone(), eps)?)?;
            calls.sub(input.clone(), calls.mul(target.clone(), log)?)?
        }
    };
    if full {
        let own = calls.mul(target.clone(), calls.unary("log", target.clone())?)?;
        let circle = calls.unary("log", calls.mul(target.clone(), 2.0 * std::f64::consts::PI)?)?;
        let stirling = calls.add(calls.sub(own, target.clone())?, calls.mul(circle, 0.5)?)?;
        let small = calls.tensor("le.Scalar", [target.clone(), 1i64.into()])?;
        let stirling = calls.tensor("masked_fill.Scalar", [stirling.into(), small.into(), 0i64.into()])?;
        losses = calls.add(losses, stirling)?;
    }
    reduced(calls, losses, reduction)
}

native! {
    family: LikelihoodLosses, functions: crate::fill::Fills;

    func: soft_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor,
    autogen: soft_margin_loss.out, composite: explicit soft_margin_loss;

    func: soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor,
    out: soft_margin_loss_backward.grad_input, composite: explicit soft_margin_loss_backward;

    func: binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None,
        int reduction=Mean) -> Tensor,
    out_sized: binary_cross_entropy_backward.grad_input, composite: explicit binary_cross_entropy_backward;

    func: binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None,
        int reduction=Mean) -> Tensor,
    autogen: binary_cross_entropy_with_logits.out, composite: explicit binary_cross_entropy_with_logits;

    func: kl_div(Tensor self, Tensor target, int reduction=Mean, *, bool log_target=False) -> Tensor,
    composite: implicit kl_div;

    func: poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor,
    composite: implicit poisson_nll_loss;
}
