//! Bags of embeddings: rows of a matrix chosen by indices and folded bag by bag, and what gradients of them are. Which
//! index is in which bag is found on the host; rows are gathered, scaled and added by the operators that are there.

mod backward;
mod forward;
mod public;
mod renorm;

pub use backward::{embedding_bag_backward, embedding_dense_backward, per_sample_weights_backward};
pub(super) use forward::given;
pub use forward::{forward, forward_only};
pub use public::{embedding_bag, embedding_bag_padded};
pub use renorm::{embedding_renorm, embedding_renorm_};

use super::select::IndexSelectFn;
use super::{IndexInputs, Indexed};
use crate::copies::to_dtype;
use crate::functions::{mul, unsqueeze};
use crate::kernels::AllKernels;
use crate::table::native;
use monomorph_core::structured::{Functional, Operand, call};
use monomorph_core::{DType, ErrorKind, Result, Tensor};

/// The elements as int64 on the host.
pub(super) fn host_ints<D: AllKernels>(t: &Tensor<D>) -> Result<Vec<i64>> {
    to_dtype(t, DType::I64, false, false, None)?.to_vec::<i64>()
}

/// A vector on the device of `like`, in a dtype.
fn vector<D: AllKernels>(like: &Tensor<D>, list: &[i64], dtype: DType) -> Result<Tensor<D>> {
    cast(&Tensor::<D>::from_slice_on(like.device().index, list, list.len())?, dtype)
}

fn cast<D: AllKernels>(t: &Tensor<D>, dtype: DType) -> Result<Tensor<D>> {
    to_dtype(t, dtype, false, false, None)
}

/// The dtype that sums of rows are made in: halves are rounded once.
fn sum_dtype(dtype: DType) -> DType {
    if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype }
}

/// Entries of a dimension of an operand, in a new tensor.
pub(super) fn entries<D: AllKernels>(of: Operand<'_>, at: &Tensor<D>) -> Result<Tensor<D>> {
    let inputs = IndexInputs::of([of, Operand::from(at)]).with_int(0);
    let [found] = call::<Indexed<IndexSelectFn>, D, _>(&inputs, Functional::default())?;
    Ok(found)
}

/// Rows times a number each.
fn scaled<D: AllKernels>(rows: &Tensor<D>, by: &Tensor<D>) -> Result<Tensor<D>> {
    mul(rows, &unsqueeze(&cast(by, rows.dtype())?, 1)?)
}

fn check_ndim<D: AllKernels>(t: &Tensor<D>, arg: &'static str, want: usize) -> Result<()> {
    let (got, accepted) = (t.ndim(), if want == 1 { "1" } else { "2" });
    if got == want { Ok(()) } else { Err(ErrorKind::DimCount { arg, got, accepted }.into()) }
}

/// PyTorch reads the lists as if they were contiguous, or refuses them.
fn check_contiguous<D: AllKernels>(t: &Tensor<D>) -> Result<()> {
    match t.geometry().is_contiguous() {
        true => Ok(()),
        false => {
            let (sizes, strides) = (t.sizes().to_vec(), t.strides().to_vec());
            Err(ErrorKind::NotContiguous { sizes, strides }.into())
        }
    }
}

/// An error for an index that is no row.
fn check_rows(indices: &[i64], rows: i64) -> Result<()> {
    match indices.iter().find(|i| !(0..rows).contains(*i)) {
        None => Ok(()),
        Some(&got) => Err(ErrorKind::IndexOutOfRange { arg: "indices", got, dim: Some(0), size: rows, low: 0 }.into()),
    }
}

/// The bag of each index: that of the last offset which is not behind it.
fn bags_of(offsets: &[i64], n: usize) -> Vec<i64> {
    let mut bags = Vec::with_capacity(n);
    let mut bag = 0;
    for i in 0..n as i64 {
        while offsets.get(bag).is_some_and(|&start| start <= i) {
            bag += 1;
        }
        bags.push(bag as i64 - 1);
    }
    bags
}

native! {
    family: Bags, functions: crate::kernels::AllKernels;

    func: _embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0,
        bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False,
        int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor),
    autogen: _embedding_bag.out, kernel: forward;

    func: _embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False,
        int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False,
        int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor),
    autogen: _embedding_bag_forward_only.out, kernel: forward_only;

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

    func: _embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, Tensor bag_size,
        Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, bool sparse,
        Tensor? per_sample_weights, int padding_idx=-1) -> Tensor,
    kernel: embedding_bag_backward;

    func: _embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, Tensor offsets,
        Tensor offset2bag, int mode, int padding_idx=-1) -> Tensor,
    autogen: _embedding_bag_per_sample_weights_backward.out, kernel: per_sample_weights_backward;

    func: embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx,
        bool scale_grad_by_freq) -> Tensor,
    autogen: embedding_dense_backward.out, kernel: embedding_dense_backward;

    func: embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor,
    autogen: embedding_renorm.out, kernel: embedding_renorm;

    /// Scales rows that indices name, and whose norm is above `max_norm`, down to it.
    ///
    /// The norm is the `norm_type`-norm of a row of the matrix, whose dtype is floating. Indices are int32 or int64.
    ///
    /// ```
    /// let mut weight = tensor![[3.0f64, 4.0], [3.0, 4.0]];
    /// ops::embedding_renorm_(&mut weight, &tensor![1i64], 1.0, 2.0)?;
    /// assert!((weight.to_vec::<f64>()?[2] - 0.6).abs() < 1e-6);
    /// ```
    func: embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!),
    variants: function, kernel: embedding_renorm_;
}
