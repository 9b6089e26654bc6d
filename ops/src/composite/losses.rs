//! Losses that are composed of elementwise operators: of the differences of two tensors, of logits, of signs. Owns how
//! the losses of elements become one (`reduced`).

use super::callees::Callees;
use super::steps::Steps;
use super::{in_dtype, operand, tensor};
use crate::composite::rule;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result, Scalar, strides};

/// What is made of the losses of elements: their mean (1), their sum (2), or nothing.
pub(super) fn reduced(calls: &Calls<'_>, losses: AnyTensor, reduction: i64) -> Result<AnyTensor> {
    match reduction {
        1 => calls.tensor("mean", [losses.into(), IValue::None]),
        2 => calls.tensor("sum", [losses.into(), IValue::None]),
        _ => Ok(losses),
    }
}

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

/// The dtype of the difference of two tensors.
fn common_dtype(this: &IValue, target: &IValue) -> Result<DType> {
    super::queries::promoted([operand(this), operand(target)])
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

/// `1`, or the share of one element in a mean.
pub(super) fn share(this: &AnyTensor, reduction: i64) -> f64 {
    if reduction == 1 { 1.0 / this.numel() as f64 } else { 1.0 }
}

/// A gradient as PyTorch makes it: row-major, in the dtype of the input.
fn gradient(calls: &Calls<'_>, this: &AnyTensor, slope: AnyTensor) -> Result<AnyTensor> {
    if !slope.dtype().can_cast(this.dtype()) {
        return Err(ErrorKind::Cast { from: slope.dtype(), to: this.dtype() }.into());
    }
    let slope = calls.cast(slope, this.dtype())?;
    calls.tensor("contiguous", [slope.into(), monomorph_core::MemoryFormat::Contiguous.into()])
}

/// An error for complex numbers, which these gradients have no order or square of.
fn check_real(values: &[&IValue]) -> Result<()> {
    let got = values.iter().filter_map(|value| operand(value).dtype()).find(|dtype| dtype.is_complex());
    let (what, accepted) = ("an operand has dtype", "real dtypes");
    got.map_or(Ok(()), |got| Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into()))
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

/// `hinge_embedding_loss`.
pub fn hinge_embedding_loss(
    calls: &Calls<'_>,
    this: &IValue,
    target: &IValue,
    margin: f64,
    reduction: i64,
) -> Result<AnyTensor> {
    let zeros = calls.mul(this.clone(), 0i64)?;
    let zeros = calls.tensor("fill.Scalar", [zeros.into(), 0i64.into()])?;
    let rest = calls.tensor("rsub.Scalar", [this.clone(), margin.into(), 1i64.into()])?;
    let rest = calls.tensor("clamp_min", [rest.into(), 0i64.into()])?;
    let [apart, alike] = [1i64, -1].map(|n| calls.tensor("ne.Scalar", [target.clone(), n.into()]));
    let apart = calls.tensor("where.self", [apart?.into(), rest.into(), zeros.clone().into()])?;
    let alike = calls.tensor("where.self", [alike?.into(), this.clone(), zeros.into()])?;
    reduced(calls, calls.add(apart, alike)?, reduction)
}

/// `margin_ranking_loss`.
pub fn margin_ranking_loss(
    calls: &Calls<'_>,
    first: &IValue,
    second: &IValue,
    target: &IValue,
    margin: f64,
    reduction: i64,
) -> Result<AnyTensor> {
    let order = calls.mul(calls.unary("neg", target.clone())?, calls.sub(first.clone(), second.clone())?)?;
    let losses = calls.tensor("clamp_min", [calls.add(order, margin)?.into(), 0i64.into()])?;
    reduced(calls, losses, reduction)
}

/// `cosine_embedding_loss`.
pub fn cosine_embedding_loss(
    calls: &Calls<'_>,
    first: &IValue,
    second: &IValue,
    target: &IValue,
    margin: f64,
    reduction: i64,
) -> Result<AnyTensor> {
    let goal = tensor(target, "target")?;
    let dim = goal.ndim();
    if dim > 1 {
        return Err(ErrorKind::DimCount { arg: "target", got: dim, accepted: "0 and 1" }.into());
    }
    for (arg, value) in [("input1", first), ("input2", second)] {
        let got = tensor(value, arg)?.ndim();
        if got != dim.saturating_add(1) {
            return Err(ErrorKind::DimCount { arg, got, accepted: "one more than target has" }.into());
        }
    }
    let along = [dim as i64];
    let product = |a: &IValue, b: &IValue| calls.sum(calls.mul(a.clone(), b.clone())?, &along, false);
    let square = |a: &IValue| calls.add(product(a, a)?, 1e-12);
    let below = calls.unary("sqrt", calls.mul(square(first)?, square(second)?)?)?;
    let cosine = calls.div(product(first, second)?, below)?;
    let zeros = calls.tensor("fill.Scalar", [cosine.clone().into(), 0i64.into()])?;
    let near = calls.tensor("rsub.Scalar", [cosine.clone().into(), 1i64.into(), 1i64.into()])?;
    let far = calls.tensor("clamp_min", [calls.sub(cosine, margin)?.into(), 0i64.into()])?;
    let [alike, apart] = [1i64, -1].map(|n| calls.tensor("eq.Scalar", [target.clone(), n.into()]));
    let near = calls.tensor("where.self", [alike?.into(), near.into(), zeros.clone().into()])?;
    let far = calls.tensor("where.self", [apart?.into(), far.into(), zeros.into()])?;
    reduced(calls, calls.add(near, far)?, reduction)
}

/// `pairwise_distance`.
pub fn pairwise_distance(
    calls: &Calls<'_>,
    first: &IValue,
    second: &IValue,
    p: f64,
    eps: f64,
    keepdim: bool,
) -> Result<AnyTensor> {
    let apart = calls.add(calls.sub(first.clone(), second.clone())?, eps)?;
    calls.norm(apart, p.into(), Some(&[-1]), keepdim, None)
}

/// `triplet_margin_loss`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn triplet_margin_loss(
    calls: &Calls<'_>,
    anchor: &IValue,
    positive: &IValue,
    negative: &IValue,
    margin: f64,
    p: f64,
    eps: f64,
    swap: bool,
    reduction: i64,
) -> Result<AnyTensor> {
    let ndim = tensor(anchor, "anchor")?.ndim();
    if tensor(positive, "positive")?.ndim() != ndim || tensor(negative, "negative")?.ndim() != ndim {
        return Err(rule("the tensors have different numbers of dimensions; accepted is one of all"));
    }
    let distance = |a: &IValue, b: &IValue| pairwise_distance(calls, a, b, p, eps, false);
    let near = distance(anchor, positive)?;
    let mut far = distance(anchor, negative)?;
    if swap {
        far = calls.binary("minimum", far, distance(positive, negative)?)?;
    }
    let losses = calls.sub(calls.add(near, margin)?, far)?;
    reduced(calls, calls.tensor("clamp_min", [losses.into(), 0i64.into()])?, reduction)
}

/// `cosine_similarity`.
pub fn cosine_similarity(calls: &Calls<'_>, first: &IValue, second: &IValue, dim: i64, eps: f64) -> Result<AnyTensor> {
    let (a, b) = (tensor(first, "x1")?, tensor(second, "x2")?);
    let got = common_dtype(first, second)?;
    if !got.is_floating() {
        let (what, accepted) = ("the operands promote to", "floating dtypes");
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    }
    let sizes = strides::broadcast_sizes(a.sizes(), b.sizes())?;
    let unit = |x: &AnyTensor| -> Result<AnyTensor> {
        let x = calls.expand(&calls.cast(x.clone(), got)?, &sizes)?;
        let norm = calls.norm(x.clone(), 2.0.into(), Some(&[dim]), true, None)?;
        calls.div(x, calls.tensor("clamp_min", [norm.into(), eps.into()])?)
    };
    calls.sum(calls.mul(unit(a)?, unit(b)?)?, &[dim], false)
}

native! {
    family: Losses, functions: crate::fill::Fills;

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

    func: hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=Mean) -> Tensor,
    composite: implicit hinge_embedding_loss;

    func: margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=Mean)
        -> Tensor,
    composite: implicit margin_ranking_loss;

    func: cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=Mean)
        -> Tensor,
    composite: implicit cosine_embedding_loss;

    func: triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2,
        float eps=1e-06, bool swap=False, int reduction=Mean) -> Tensor,
    composite: implicit triplet_margin_loss;

    func: pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor,
    composite: implicit pairwise_distance;

    func: cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor,
    composite: implicit cosine_similarity;
}
