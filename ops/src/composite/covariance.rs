//! Covariances and correlations of the rows of a matrix: cov, corrcoef. Both are products of a matrix with its own
//! transpose.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::Callees;
use super::products::Multiplies;
use super::steps::Steps;
use super::{operand, tensor};
use crate::composite::rule;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result, Scalar};

/// Weights of observations: none, or one for each, of which none is negative.
fn weights<'a>(
    calls: &Calls<'_>,
    arg: &'static str,
    value: &'a IValue,
    n: i64,
    suits: fn(DType) -> bool,
) -> Result<Option<&'a AnyTensor>> {
    let Some(t) = value.as_tensor().filter(|_| !operand(value).is_absent()) else { return Ok(None) };
    if t.ndim() > 1 {
        return Err(ErrorKind::DimCount { arg, got: t.ndim(), accepted: "0 or 1" }.into());
    }
    if !suits(t.dtype()) {
        let (what, accepted) = match arg {
            "fweights" => ("argument fweights has dtype", "integers"),
            _ => ("argument aweights has dtype", "floating dtypes"),
        };
        return Err(ErrorKind::DTypeNotSupported { what, got: t.dtype(), accepted }.into());
    }
    if t.numel() as i64 != n {
        return Err(ErrorKind::UnequalSizes { arg, got: t.sizes().to_vec(), want: vec![n] }.into());
    }
    let negative = calls.binary("lt.Scalar", t.clone(), Scalar::Int(0))?;
    if is_true(calls, calls.tensor("any", [negative.into()])?)? {
        return Err(rule("the weights of observations are not negative; one of fweights or aweights is"));
    }
    Ok(Some(t))
}

/// The one element of a tensor; of one without data nothing is true.
fn is_true(calls: &Calls<'_>, t: AnyTensor) -> Result<bool> {
    if t.device().is_meta() {
        return Ok(false);
    }
    let mut stack = vec![t.into()];
    calls.call("item", &mut stack)?;
    Ok(match stack.first() {
        Some(IValue::Bool(b)) => *b,
        Some(IValue::Int(i)) => *i != 0,
        Some(IValue::Float(f)) => *f != 0.0,
        _ => false,
    })
}

/// `cov`: covariances of rows, whose columns are observations.
pub fn cov(
    calls: &Calls<'_>,
    this: &IValue,
    correction: i64,
    fweights: &IValue,
    aweights: &IValue,
) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    if this.ndim() > 2 {
        return Err(ErrorKind::DimCount { arg: "self", got: this.ndim(), accepted: "0, 1 or 2" }.into());
    }
    if this.dtype() == DType::Bool {
        let (what, accepted) = ("argument self has dtype", "all dtypes but bool");
        return Err(ErrorKind::DTypeNotSupported { what, got: DType::Bool, accepted }.into());
    }
    let rows = if this.ndim() < 2 { calls.view(this, &[1, this.numel() as i64])? } else { this.clone() };
    let n = rows.sizes()[1];
    let frequencies = weights(calls, "fweights", fweights, n, |dtype| dtype.is_integral(false))?;
    let importances = weights(calls, "aweights", aweights, n, DType::is_floating)?;
    let weights = match (frequencies, importances) {
        (Some(f), Some(a)) => Some(calls.mul(f.clone(), a.clone())?),
        (f, a) => f.or(a).cloned(),
    };
    let total: IValue = match &weights {
        Some(w) => {
            let total = calls.tensor("sum", [w.clone().into(), IValue::None])?;
            if is_true(calls, calls.binary("eq.Scalar", total.clone(), Scalar::Int(0))?)? {
                return Err(rule("the weights of observations sum to zero, by which nothing is divided"));
            }
            total.into()
        }
        None => n.into(),
    };
    let weighted = |t: &AnyTensor| match &weights {
        Some(w) => calls.mul(t.clone(), w.clone()),
        None => Ok(t.clone()),
    };
    let sums = calls.sum(weighted(&rows)?, &[1], false)?;
    let mean = calls.div(sums, total.clone())?;
    let norm: IValue = match (&weights, importances) {
        (Some(w), Some(a)) if correction != 0 => {
            let both = calls.tensor("sum", [calls.mul(w.clone(), a.clone())?.into(), IValue::None])?;
            let lost = calls.div(calls.mul(both, correction)?, total.clone())?;
            calls.tensor("clamp_min", [calls.sub(total, lost)?.into(), Scalar::Int(0).into()])?.into()
        }
        (Some(_), _) => {
            let left = calls.sub(total, correction)?;
            calls.tensor("clamp_min", [left.into(), Scalar::Int(0).into()])?.into()
        }
        (None, _) => n.saturating_sub(correction).max(0).into(),
    };
    let centred = calls.sub(rows, calls.unsqueeze(&mean, 1)?)?;
    let other = calls.transpose(&weighted(&centred)?, 0, 1)?;
    let product = calls.mm(&centred, &calls.unary("conj", other)?)?;
    let quotient = calls.div(product, norm)?;
    calls.unary("squeeze", quotient)
}

/// `corrcoef`: covariances divided by both standard deviations.
pub fn corrcoef(calls: &Calls<'_>, this: &IValue) -> Result<AnyTensor> {
    let ndim = tensor(this, "self")?.ndim();
    if ndim > 2 {
        return Err(ErrorKind::DimCount { arg: "self", got: ndim, accepted: "0, 1 or 2" }.into());
    }
    let covariance = calls.tensor("cov", [this.clone(), 1i64.into(), IValue::None, IValue::None])?;
    if covariance.ndim() == 0 {
        return calls.div(covariance.clone(), covariance);
    }
    let variances = Callees::diagonal(calls, &covariance, 0, 0, 1)?;
    let real = |t: AnyTensor| if t.dtype().is_complex() { calls.unary("real", t) } else { Ok(t) };
    let deviations = calls.unary("sqrt", real(variances)?)?;
    let by_rows = calls.div(covariance, calls.unsqueeze(&deviations, 1)?)?;
    let both = calls.div(by_rows, calls.unsqueeze(&deviations, 0)?)?;
    let clipped = |t: AnyTensor| calls.tensor("clamp", [t.into(), Scalar::Int(-1).into(), Scalar::Int(1).into()]);
    if !both.dtype().is_complex() {
        return clipped(both);
    }
    let imaginary = clipped(calls.unary("imag", both.clone())?)?;
    calls.binary("complex", clipped(real(both)?)?, imaginary)
}

native! {
    family: Covariances, functions: crate::fill::Fills;

    func: cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor,
    composite: implicit cov;

    func: corrcoef(Tensor self) -> Tensor,
    composite: implicit corrcoef;

    func: _foreach_mm(Tensor[] self, Tensor[] mat2) -> Tensor[],
    each: mm;
}
