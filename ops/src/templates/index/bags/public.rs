//! `embedding_bag` as it is called by users: lists of any layout, weights of samples as a tensor, a padding index that
//! counts from the end.

use super::forward::{Folded, forward_only};
use crate::functions::contiguous;
use crate::kernels::AllKernels;
use monomorph_core::{Error, ErrorKind, Result, Tensor};

/// `embedding_bag`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn embedding_bag<D: AllKernels>(
    weight: &Tensor<D>,
    indices: &Tensor<D>,
    offsets: &Tensor<D>,
    scale: bool,
    mode: i64,
    sparse: bool,
    per_sample_weights: Option<&Tensor<D>>,
    include_last_offset: bool,
) -> Result<Folded<D>> {
    let (indices, offsets) = (contiguous(indices)?, contiguous(offsets)?);
    forward_only(weight, &indices, &offsets, scale, mode, sparse, per_sample_weights, include_last_offset, -1)
}

/// `embedding_bag.padding_idx`: a negative one counts from the end.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn embedding_bag_padded<D: AllKernels>(
    weight: &Tensor<D>,
    indices: &Tensor<D>,
    offsets: &Tensor<D>,
    scale: bool,
    mode: i64,
    sparse: bool,
    per_sample_weights: Option<&Tensor<D>>,
    include_last_offset: bool,
    padding_idx: Option<i64>,
) -> Result<Folded<D>> {
    let rows = weight.sizes().first().copied().unwrap_or(0);
    let padding = match padding_idx {
        None => -1,
        Some(at) if (-rows..rows).contains(&at) => at.rem_euclid(rows.max(1)),
        Some(got) => {
            let error = ErrorKind::IndexOutOfRange { arg: "padding_idx", got, dim: Some(0), size: rows, low: -rows };
            return Err(Error::new(error).of("embedding_bag"));
        }
    };
    let (indices, offsets) = (contiguous(indices)?, contiguous(offsets)?);
    forward_only(weight, &indices, &offsets, scale, mode, sparse, per_sample_weights, include_last_offset, padding)
}
