//! Losses of vectors that are to be near each other or far apart, and what tells how near they are.

use super::{common_dtype, reduced};
use crate::composite::callees::Callees;
use crate::composite::steps::Steps;
use crate::composite::{rule, tensor};
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, ErrorKind, IValue, Result, strides};

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
    // The margin takes the dtype of the tensor, also where that drops its fraction.
    let margins = calls.tensor("fill.Scalar", [this.clone(), margin.into()])?;
    let rest = calls.sub(margins, this.clone())?;
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
    if eps < 0.0 {
        return Err(rule("argument eps is negative; accepted is 0 or more"));
    }
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
    family: VectorLosses, functions: crate::fill::Fills;

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
