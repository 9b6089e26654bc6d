//! `embedding_bag` as it is called by users: lists of any layout, weights of samples as a tensor, a padding index that
//! counts from the end.

use super::forward::{Folded, forward_only};
use crate::functions::contiguous;
use crate::kernels::AllKernels;
use crate::table::native;
use monomorph_core::{Error, ErrorKind, Result, Tensor, observe};

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
    let _span = observe::operator("embedding_bag", [weight.geometry(), indices.geometry(), offsets.geometry()]);
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
    let _span = observe::operator("embedding_bag", [weight.geometry(), indices.geometry(), offsets.geometry()]);
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

native! {
    family: Bags, functions: crate::kernels::AllKernels;

    /// Rows of the matrix `weight` that indices name, added bag by bag, or their means or maxima.
    ///
    /// Bag `i` begins at entry `offsets[i]` of `indices`. `mode` is 0 for sums, 1 for means, 2 for maxima; sums may
    /// be of rows times `per_sample_weights`. With `include_last_offset` the last offset is the end of the last bag.
    /// The results are one row for each bag, the bag of each index (none where it is not needed), the sizes of the
    /// bags, and the indices of the maxima. Dtypes are floating, and integers of int32 or int64.
    ///
    /// ```
    /// let weight = tensor![[1.0f32, 2.0], [3.0, 4.0]];
    /// let (bags, ..) = ops::embedding_bag(&weight, &tensor![0i64, 1, 1], &tensor![0i64, 2])?;
    /// assert_eq!(bags.to_vec::<f32>()?, [4.0, 6.0, 3.0, 4.0]);
    /// ```
    func: embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0,
        bool sparse=False, Tensor? per_sample_weights=None,
        bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor),
    variants: function, kernel: embedding_bag;

    /// [`embedding_bag`](super::functions::embedding_bag) in which the index `padding_idx` counts as none.
    ///
    /// ```
    /// let weight = tensor![[1.0f32, 2.0], [3.0, 4.0]];
    /// let (indices, offsets) = (tensor![0i64, 1, 1], tensor![0i64, 2]);
    /// let (bags, ..) = ops::embedding_bag_padded(&weight, &indices, &offsets, None, Some(0))?;
    /// assert_eq!(bags.to_vec::<f32>()?, [3.0, 4.0, 3.0, 4.0]);
    /// ```
    func: embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode,
        bool sparse, Tensor? per_sample_weights, bool include_last_offset,
        int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor),
    variants: function, name: embedding_bag_padded, options: [scale_grad_by_freq = false, mode = 0, sparse = false,
        include_last_offset = false],
    kernel: embedding_bag_padded;
}
