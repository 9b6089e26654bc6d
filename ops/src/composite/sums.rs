//! Sums and counts that are composed: sum_to_size, count_nonzero, nanmean, logsumexp.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::Callees;
use super::steps::Steps;
use super::{operand, tensor};
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result, Scalar};

/// `sum_to_size`: the sum along the dimensions that sizes lack, or have as 1: the counterpart of an expansion.
pub fn sum_to_size(calls: &Calls<'_>, this: &IValue, sizes: &[i64]) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    let own = this.sizes();
    let leading = own.len().checked_sub(sizes.len());
    let fits = |leading: usize| sizes.iter().zip(&own[leading..]).all(|(&to, &from)| to == from || to == 1);
    let Some(leading) = leading.filter(|&leading| fits(leading)) else {
        let rule =
            "argument size does not expand to the sizes of the tensor; accepted are sizes that broadcast to them";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    };
    if sizes.is_empty() {
        return calls.tensor("sum", [this.clone().into(), IValue::None]);
    }
    let goes = |d: &usize| d.checked_sub(leading).is_none_or(|k| sizes[k] == 1 && own[*d] != 1);
    let dims: Vec<i64> = (0..own.len()).filter(goes).map(|d| d as i64).collect();
    let sum = if dims.is_empty() { this.clone() } else { calls.sum(this.clone(), &dims, true)? };
    if leading > 0 { calls.view(&sum, sizes) } else { Ok(sum) }
}

/// `count_nonzero.dim_IntList`.
pub fn count_nonzero_along(calls: &Calls<'_>, this: &IValue, dims: &[i64]) -> Result<AnyTensor> {
    let counted = match operand(this).dtype() {
        Some(DType::Bool) => tensor(this, "self")?.clone(),
        _ => calls.binary("ne.Scalar", this.clone(), 0i64)?,
    };
    calls.sum(counted, dims, false)
}

/// `count_nonzero`.
pub fn count_nonzero(calls: &Calls<'_>, this: &IValue, dim: Option<i64>) -> Result<AnyTensor> {
    count_nonzero_along(calls, this, dim.as_slice())
}

/// `nanmean`: the mean of the elements that are not NaN.
pub fn nanmean(
    calls: &Calls<'_>,
    this: &IValue,
    dims: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<AnyTensor> {
    let got = tensor(this, "self")?.dtype();
    if got.is_integral(true) {
        let accepted = "floating dtypes";
        return Err(ErrorKind::DTypeNotSupported { what: "argument self has dtype", got, accepted }.into());
    }
    let numbers = calls.unary("logical_not", calls.unary("isnan", this.clone())?)?;
    let count = calls.sum(numbers, dims.unwrap_or_default(), keepdim)?;
    let dims = dims.map_or(IValue::None, |dims| IValue::Ints(dims.to_vec()));
    let dtype = dtype.map_or(IValue::None, IValue::from);
    let sum = calls.tensor("nansum", [this.clone(), dims, keepdim.into(), dtype])?;
    calls.div(sum, count)
}

/// `logsumexp`: the logarithm of the sum of exponentials. The largest element is taken out, so that none overflows; an
/// infinite one is not, since that would leave NaN. Of complex numbers it is the largest real part.
pub fn logsumexp(calls: &Calls<'_>, this: &IValue, dims: &[i64], keepdim: bool) -> Result<AnyTensor> {
    let mut this = tensor(this, "self")?.clone();
    if this.dtype().is_integral(true) {
        this = calls.cast(this, DType::F32)?;
    }
    if this.numel() == 0 {
        let sum = calls.sum(calls.unary("exp", this)?, dims, keepdim)?;
        return calls.unary("log", sum);
    }
    if dims.is_empty() && !keepdim && this.ndim() > 0 {
        let rule = "argument dim is empty, and keepdim is not set; name the dimensions, or set keepdim";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    let real = if this.dtype().is_complex() { calls.unary("real", this.clone())? } else { this.clone() };
    let largest = calls.reduced("amax", real, dims, true)?;
    let infinite = calls.unary("isinf", largest.clone())?;
    let finite = calls.tensor("masked_fill.Scalar", [largest.into(), infinite.into(), Scalar::Int(0).into()])?;
    let sum = calls.sum(calls.unary("exp", calls.sub(this, finite.clone())?)?, dims, keepdim)?;
    let finite = if keepdim { finite } else { calls.reshape(&finite, sum.sizes())? };
    calls.add(calls.unary("log", sum)?, finite)
}

native! {
    family: Sums, functions: crate::fill::Fills;

    func: sum_to_size(Tensor self, SymInt[] size) -> Tensor,
    composite: implicit sum_to_size, silent_view: true;

    func: count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor,
    autogen: count_nonzero.dim_IntList_out, composite: explicit count_nonzero_along;

    func: count_nonzero(Tensor self, int? dim=None) -> Tensor,
    autogen: count_nonzero.out, composite: explicit count_nonzero;

    func: nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor,
    out: nanmean.out, composite: implicit nanmean;

    func: logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor,
    out: logsumexp.out, composite: explicit logsumexp;

    func: special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor,
    out: special_logsumexp.out, composite: implicit logsumexp;
}
