//! Bags of embeddings: rows of a matrix chosen by indices and folded bag by bag, and what gradients of them are. Which
//! index is in which bag is found on the host; rows are gathered, scaled and added by the operators that are there.

pub mod backward;
pub mod forward;
pub mod public;
pub mod renorm;

use super::select::IndexSelectFn;
use super::{IndexInputs, Indexed};
use crate::copies::to_dtype;
use crate::functions::{mul, unsqueeze};
use crate::kernels::AllKernels;
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
