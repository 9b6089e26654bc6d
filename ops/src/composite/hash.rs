//! `hash_tensor`: the bits of elements, combined by exclusive or.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::Callees;
use super::pad::constant_pad_nd;
use super::steps::Steps;
use super::tensor;
use crate::composite::rule;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::wrap_dims;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, MemoryFormat, Result, Scalar};

/// `hash_tensor`: the exclusive or of the bits of the elements along dimensions, of all of them where none is named.
/// The bits are those of float64 for floats, of int64 for bool and integers. PyTorch gives them as uint64, which is no
/// dtype here: the same 64 bits are int64.
///
/// The halves of what is left are combined until it is one element, which takes as many steps as their number has bits.
pub fn hash_tensor(calls: &Calls<'_>, this: &IValue, dims: &[i64], keepdim: bool, mode: i64) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    if mode != 0 {
        return Err(rule("argument mode is not 0, which is exclusive or; accepted is 0"));
    }
    if this.dtype().is_complex() {
        let (what, accepted) = ("argument self has dtype", "bool, integers and floats");
        return Err(ErrorKind::DTypeNotSupported { what, got: this.dtype(), accepted }.into());
    }
    let mask = if dims.is_empty() { u64::MAX } else { wrap_dims(dims, this.ndim(), "dim")? };
    let is_reduced = |d: usize| mask.checked_shr(d as u32).is_some_and(|bits| bits & 1 == 1);
    let (reduced, kept): (Vec<usize>, Vec<usize>) = (0..this.ndim()).partition(|&d| is_reduced(d));
    if let Some(&dim) = reduced.iter().find(|&&d| this.sizes()[d] == 0) {
        return Err(if dims.is_empty() {
            ErrorKind::EmptyInput
        } else {
            ErrorKind::EmptyReduction { dim: dim as i64 }
        }
        .into());
    }
    let bits = match this.dtype().is_floating() {
        true => calls.tensor("view.dtype", [calls.cast(this.clone(), DType::F64)?.into(), DType::I64.into()])?,
        false => calls.cast(this.clone(), DType::I64)?,
    };
    let order = kept.iter().chain(&reduced).map(|&d| d as i64).collect();
    let ordered = calls.tensor("permute", [bits.into(), IValue::Ints(order)])?;
    let size = |&d: &usize| this.sizes()[d];
    // Of elements that exist.
    let count = reduced.iter().map(size).fold(1, i64::saturating_mul);
    let mut left = count.checked_ilog2().map_or(1, |log| 1_i64 << log);
    let mut rows = calls.reshape(&ordered, &kept.iter().map(size).chain([count]).collect::<Vec<i64>>())?;
    if left < count {
        left = left.saturating_mul(2);
        rows = constant_pad_nd(calls, &rows, &[0, left.saturating_sub(count)], Scalar::Int(0))?;
    }
    while left > 1 {
        left >>= 1;
        let [low, high] = [0, left].map(|start| calls.narrow(&rows, kept.len(), start, left));
        rows = calls.binary("bitwise_xor.Tensor", low?, high?)?;
    }
    let sizes =
        (0..this.ndim()).filter(|&d| keepdim || !is_reduced(d)).map(|d| if is_reduced(d) { 1 } else { size(&d) });
    let result = calls.reshape(&rows, &sizes.collect::<Vec<i64>>())?;
    // Of one element each, nothing was combined, and `self` must not be its own hash.
    if count == 1 { calls.cloned(&result, MemoryFormat::Contiguous) } else { Ok(result) }
}

native! {
    family: Hashes, functions: crate::fill::Fills;

    func: hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor,
    autogen: hash_tensor.out, composite: explicit hash_tensor;
}
