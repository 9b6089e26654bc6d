//! Cross entropies that are composed: nll_loss of any number of dimensions, cross_entropy_loss.

use super::callees::Callees;
use super::steps::Steps;
use super::tensor;
use crate::composite::rule;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, ErrorKind, IValue, MemoryFormat, Result};

/// The losses, without the sum of weights.
fn losses(calls: &Calls<'_>, name: &str, arguments: impl IntoIterator<Item = IValue>) -> Result<AnyTensor> {
    let [losses, _] = calls.several(name, arguments)?;
    Ok(losses)
}

/// `nll_loss`.
pub fn nll_loss(
    calls: &Calls<'_>,
    this: &IValue,
    target: &IValue,
    weight: &IValue,
    reduction: i64,
    ignore_index: i64,
) -> Result<AnyTensor> {
    let rest = [reduction.into(), ignore_index.into()];
    losses(calls, "nll_loss_forward", [this.clone(), target.clone(), weight.clone()].into_iter().chain(rest))
}

/// `nll_loss2d`.
pub fn nll_loss2d(
    calls: &Calls<'_>,
    this: &IValue,
    target: &IValue,
    weight: &IValue,
    reduction: i64,
    ignore_index: i64,
) -> Result<AnyTensor> {
    let rest = [reduction.into(), ignore_index.into()];
    losses(calls, "nll_loss2d_forward", [this.clone(), target.clone(), weight.clone()].into_iter().chain(rest))
}

/// `nll_loss_nd`.
pub fn nll_loss_nd(
    calls: &Calls<'_>,
    this: &IValue,
    target: &IValue,
    weight: &IValue,
    reduction: i64,
    ignore_index: i64,
) -> Result<AnyTensor> {
    let (x, goal) = (tensor(this, "self")?, tensor(target, "target")?);
    let sizes = x.sizes();
    if sizes.is_empty() {
        return Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "1 or more" }.into());
    }
    if sizes.len() > 1 && goal.sizes().first() != sizes.first() {
        let (got, want) = (goal.sizes().to_vec(), sizes.to_vec());
        return Err(ErrorKind::UnequalSizes { arg: "target", got, want }.into());
    }
    match sizes {
        [_] | [_, _] => return nll_loss(calls, this, target, weight, reduction, ignore_index),
        [_, _, _, _] => return nll_loss2d(calls, this, target, weight, reduction, ignore_index),
        _ => {}
    }
    if goal.sizes().get(1..) != Some(&sizes[2..]) {
        let (got, want) = (goal.sizes().to_vec(), sizes.to_vec());
        return Err(ErrorKind::UnequalSizes { arg: "target", got, want }.into());
    }
    let places = sizes[2..].iter().fold(1_i64, |all, &size| all.saturating_mul(size));
    let flat = |t: &AnyTensor, sizes: &[i64]| -> Result<IValue> {
        let t = calls.tensor("contiguous", [t.clone().into(), MemoryFormat::Contiguous.into()])?;
        Ok(calls.view(&t, sizes)?.into())
    };
    let (x, goal) = (flat(x, &[sizes[0], sizes[1], 1, places])?, flat(goal, &[sizes[0], 1, places])?);
    let result = nll_loss2d(calls, &x, &goal, weight, reduction, ignore_index)?;
    match reduction {
        0 => calls.view(&result, tensor(target, "target")?.sizes()),
        _ => Ok(result),
    }
}

/// The weights of classes, to be multiplied along their dimension.
fn along(calls: &Calls<'_>, weight: &AnyTensor, ndim: usize, dim: usize) -> Result<AnyTensor> {
    let mut sizes = vec![1; ndim];
    sizes[dim] = weight.numel() as i64;
    calls.view(weight, &sizes)
}

/// `cross_entropy_loss`: targets are classes, or where sizes are equal their probabilities.
pub fn cross_entropy_loss(
    calls: &Calls<'_>,
    this: &IValue,
    target: &IValue,
    weight: &IValue,
    reduction: i64,
    ignore_index: i64,
    label_smoothing: f64,
) -> Result<AnyTensor> {
    let (x, goal) = (tensor(this, "self")?, tensor(target, "target")?);
    let dim = usize::from(x.ndim() != 1);
    let Some(&classes) = x.sizes().get(dim) else {
        return Err(ErrorKind::DimCount { arg: "self", got: x.ndim(), accepted: "1 or more" }.into());
    };
    if !(0.0..=1.0).contains(&label_smoothing) {
        return Err(rule("argument label_smoothing must be from 0 to 1"));
    }
    if let Some(w) = weight.as_tensor().filter(|w| w.sizes() != [classes]) {
        let (got, want) = (w.sizes().to_vec(), vec![classes]);
        return Err(ErrorKind::UnequalSizes { arg: "weight", got, want }.into());
    }
    let log = calls.tensor("log_softmax.int", [this.clone(), (dim as i64).into(), x.dtype().into()]);
    if x.sizes() == goal.sizes() {
        if !goal.dtype().is_floating() {
            let (what, got, accepted) = ("argument target has dtype", goal.dtype(), "floating dtypes");
            return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
        }
        if ignore_index >= 0 {
            return Err(rule("argument ignore_index is given beside probabilities; accepted is it beside classes"));
        }
        return probabilities(calls, log?, goal, weight, reduction, (dim, classes, label_smoothing));
    }
    let log: IValue = log?.into();
    let hard = nll_loss_nd(calls, &log, target, weight, reduction, ignore_index)?;
    if label_smoothing == 0.0 {
        return Ok(hard);
    }
    let smooth = smoothed(calls, &log, goal, weight, reduction, (dim, ignore_index))?;
    let hard = calls.mul(hard, 1.0 - label_smoothing)?;
    calls.add(hard, calls.mul(smooth, label_smoothing / classes as f64)?)
}

/// The loss where targets are probabilities.
fn probabilities(
    calls: &Calls<'_>,
    log: AnyTensor,
    target: &AnyTensor,
    weight: &IValue,
    reduction: i64,
    (dim, classes, smoothing): (usize, i64, f64),
) -> Result<AnyTensor> {
    let mut target = target.clone();
    if smoothing > 0.0 {
        target = calls.add(calls.mul(target, 1.0 - smoothing)?, smoothing / classes as f64)?;
    }
    let (ndim, numel) = (log.ndim(), log.numel());
    let mut products = calls.mul(log, target)?;
    if let Some(weight) = weight.as_tensor() {
        products = calls.mul(products, along(calls, weight, ndim, dim)?)?;
    }
    let sum = match reduction {
        0 => calls.sum(products, &[dim as i64], false)?,
        _ => calls.tensor("sum", [products.into(), IValue::None])?,
    };
    let loss = calls.unary("neg", sum)?;
    match reduction {
        1 => calls.div(loss, numel as f64 / classes as f64),
        _ => Ok(loss),
    }
}

/// The part of label smoothing: the loss of all classes, which are alike likely.
fn smoothed(
    calls: &Calls<'_>,
    log: &IValue,
    target: &AnyTensor,
    weight: &IValue,
    reduction: i64,
    (dim, ignore_index): (usize, i64),
) -> Result<AnyTensor> {
    let weighted = match weight.as_tensor() {
        Some(weight) => {
            let ndim = tensor(log, "self")?.ndim();
            calls.mul(log.clone(), along(calls, weight, ndim, dim)?)?
        }
        None => tensor(log, "self")?.clone(),
    };
    let each = calls.unary("neg", calls.sum(weighted, &[dim as i64], false)?)?;
    let ignored = calls.tensor("eq.Scalar", [target.clone().into(), ignore_index.into()])?;
    let each = calls.tensor("masked_fill.Scalar", [each.into(), ignored.clone().into(), 0i64.into()])?;
    if reduction == 0 {
        return Ok(each);
    }
    let dtype = each.dtype();
    let all = calls.tensor("sum", [each.into(), IValue::None])?;
    if reduction != 1 {
        return Ok(all);
    }
    let counted: IValue = calls.unary("logical_not", ignored.clone())?.into();
    let share = match weight.as_tensor() {
        Some(weight) => {
            let classes = calls.tensor("masked_fill.Scalar", [target.clone().into(), ignored.into(), 0i64.into()])?;
            let flat = calls.reshape(&classes, &[-1])?;
            let weights = calls.tensor("index_select", [weight.clone().into(), 0i64.into(), flat.into()])?;
            calls.mul(weights, calls.reshape(tensor(&counted, "target")?, &[-1])?)?
        }
        None => calls.cast(tensor(&counted, "target")?.clone(), dtype)?,
    };
    calls.div(all, calls.tensor("sum", [share.into(), IValue::None])?)
}

native! {
    family: Entropies, functions: crate::fill::Fills;

    func: nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100)
        -> Tensor,
    autogen: nll_loss.out, composite: implicit nll_loss;

    func: nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100)
        -> Tensor,
    autogen: nll_loss2d.out, composite: implicit nll_loss2d;

    func: nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100)
        -> Tensor,
    composite: implicit nll_loss_nd;

    func: cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean,
        SymInt ignore_index=-100, float label_smoothing=0.0) -> Tensor,
    composite: implicit cross_entropy_loss;
}
