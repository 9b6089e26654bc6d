//! The last stage: strides of all operands in the order of the walk, neighbouring dimensions merged, and the verdict whether
//! the operands may be walked from several threads.

use crate::operand::Op;
use crate::order::{Fast, broadcast_stride};
use crate::plan::Plan;
use crate::tensor_iter::TensorIter;
use monomorph_core::overlap::{self, Internal};
use smallvec::SmallVec;

/// The number of elements of a shape whose partial products are known not to overflow.
pub(crate) fn product(shape: &[usize]) -> usize {
    if shape.contains(&0) { 0 } else { shape.iter().product() }
}

/// Fills `iter` from the plan and the operands as they will be walked (`ops`, outputs declared). Meta operands have no
/// memory that could overlap, and keep their dimensions.
pub(crate) fn finish(plan: Plan, ops: &[Op<'_>], is_meta: bool, iter: &mut TensorIter) {
    iter.operands = plan.fixed;
    iter.noutputs = plan.noutputs;
    iter.numel = plan.numel;
    iter.common = plan.common;
    iter.reduction = plan.reduction;
    iter.serial = !is_meta && plan.numel > 1 && overlapping(ops, plan.noutputs, &plan.shape, plan.reduction);
    iter.strides.clear();
    if plan.fast != Fast::No && plan.uniform {
        // All operands are dense in one order: one dimension, whatever that order is.
        iter.perm = SmallVec::new();
        iter.shape = if plan.shape.is_empty() { SmallVec::new() } else { SmallVec::from_slice(&[plan.numel]) };
        if !plan.shape.is_empty() {
            iter.strides.extend(ops.iter().map(|op| op.view.dtype.size() as isize));
        }
        return;
    }
    iter.shape = plan.perm.iter().map(|&d| plan.shape[d] as usize).collect();
    for op in ops {
        let size = op.view.dtype.size() as i64;
        let in_bytes = |&d: &usize| broadcast_stride(op.view.sizes, op.view.strides, &plan.shape, d).wrapping_mul(size);
        iter.strides.extend(plan.perm.iter().map(|d| in_bytes(d) as isize));
    }
    iter.perm = plan.perm;
    if !is_meta {
        coalesce(iter);
    }
}

/// Merges neighbouring dimensions that every operand walks as one: either has size 1, or
/// `size[i] · stride[i] == stride[i + 1]`.
pub(crate) fn coalesce(iter: &mut TensorIter) {
    let ndim = iter.shape.len();
    if ndim <= 1 || iter.numel == 0 {
        return;
    }
    let n = iter.operands.len();
    let mut last = 0;
    for d in 1..ndim {
        let (size0, size1) = (iter.shape[last], iter.shape[d]);
        let strides = &mut iter.strides;
        let as_one = |k: usize| strides[k * ndim + last].wrapping_mul(size0 as isize) == strides[k * ndim + d];
        if size0 == 1 || size1 == 1 || (0..n).all(as_one) {
            if size0 == 1 {
                for k in 0..n {
                    strides[k * ndim + last] = strides[k * ndim + d];
                }
            }
            iter.shape[last] = size0 * size1;
        } else {
            last += 1;
            for k in 0..n {
                strides[k * ndim + last] = strides[k * ndim + d];
            }
            iter.shape[last] = size1;
        }
    }
    let merged = last + 1;
    for k in 1..n {
        iter.strides.copy_within(k * ndim..k * ndim + merged, k * merged);
    }
    iter.strides.truncate(n * merged);
    iter.shape.truncate(merged);
}

/// True unless it is certain that different indices write different elements, and that what is written is read, if at all,
/// at the same index only.
fn overlapping(ops: &[Op<'_>], noutputs: usize, shape: &[i64], reduction: bool) -> bool {
    (0..noutputs).any(|o| {
        let out = &ops[o];
        let inner = if reduction {
            // Reduced dimensions reach one element by intention.
            let kept = (0..out.view.sizes.len()).filter(|&d| out.view.strides[d] != 0);
            let (sizes, strides): (crate::Dims, crate::Dims) =
                kept.map(|d| (out.view.sizes[d], out.view.strides[d])).unzip();
            internal(&sizes, &strides)
        } else {
            internal(out.view.sizes, out.view.strides)
        };
        let others = ops.iter().enumerate().filter(|&(k, _)| k > o || k >= noutputs);
        inner != Internal::No || others.into_iter().any(|(_, other)| out.touches(other) && !out.walks_as(other, shape))
    })
}

/// [`overlap::internal`], for strides of either sign.
pub(crate) fn internal(sizes: &[i64], strides: &[i64]) -> Internal {
    if strides.iter().all(|&s| s >= 0) {
        return overlap::internal(sizes, strides);
    }
    let positive: crate::Dims = strides.iter().map(|s| s.saturating_abs()).collect();
    overlap::internal(sizes, &positive)
}
