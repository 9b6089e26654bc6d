//! Losses that are composed of elementwise operators: of probabilities (`likelihoods`), of vectors and
//! signs (`vectors`). Owns how the losses of elements become one.

pub mod likelihoods;
pub mod vectors;

use super::operand;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result};

/// What is made of the losses of elements: their mean (1), their sum (2), or nothing.
pub(crate) fn reduced(calls: &Calls<'_>, losses: AnyTensor, reduction: i64) -> Result<AnyTensor> {
    match reduction {
        1 => calls.tensor("mean", [losses.into(), IValue::None]),
        2 => calls.tensor("sum", [losses.into(), IValue::None]),
        _ => Ok(losses),
    }
}

/// `1`, or the share of one element in a mean.
pub(super) fn share(this: &AnyTensor, reduction: i64) -> f64 {
    if reduction == 1 { 1.0 / this.numel() as f64 } else { 1.0 }
}

/// An error for complex numbers, which these gradients have no order or square of.
fn check_real(values: &[&IValue]) -> Result<()> {
    let got = values.iter().filter_map(|value| operand(value).dtype()).find(|dtype| dtype.is_complex());
    let (what, accepted) = ("an operand has dtype", "real dtypes");
    got.map_or(Ok(()), |got| Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into()))
}

/// The dtype of the difference of two tensors.
fn common_dtype(this: &IValue, target: &IValue) -> Result<DType> {
    super::queries::promoted([operand(this), operand(target)])
}
