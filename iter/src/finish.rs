//! The last stage: strides of all operands in the order of the walk, neighbouring dimensions merged, and the verdict
//! whether the operands may be walked from several threads.

use crate::config::View;
use crate::order::{FastSetup, broadcast_stride};
use crate::plan::Plan;
use crate::tensor_iter::TensorIter;
use monomorph_core::overlap::{self, Internal};
use monomorph_core::{Error, ErrorKind, Result};
use smallvec::SmallVec;

/// The number of elements of a shape whose partial products are known not to overflow.
pub(crate) fn product(shape: &[usize]) -> usize {
    if shape.contains(&0) { 0 } else { shape.iter().product() }
}

/// Completes `iter` from the plan and the operands as they will be walked, outputs declared. Meta operands have no
/// memory that could overlap, and keep their dimensions.
///
/// An error if an operand does not broadcast to the shape, in which case a walk would leave it (I2). No stage lets one
/// pass; this is the last look at all of them, whatever flags the caller chose.
pub(crate) fn finish<'v>(
    plan: &Plan,
    view: impl Fn(usize) -> View<'v>,
    is_meta: bool,
    iter: &mut TensorIter,
) -> Result<()> {
    let n = iter.operands.len();
    if let Some(k) = (0..n).find(|&k| !broadcasts_to(view(k).sizes, &plan.shape)) {
        return Err(outside(k, view(k).sizes, &plan.shape));
    }
    iter.strides.clear();
    iter.serial = !is_meta && !plan.fresh && iter.numel > 1 && {
        let views: SmallVec<[View<'_>; 4]> = (0..n).map(&view).collect();
        overlapping(&views, iter.noutputs, &plan.shape, iter.reduction)
    };
    if plan.fast != FastSetup::No && plan.real_strides {
        // All operands are dense in one order: one dimension, whatever that order is.
        iter.shape.clear();
        if !plan.shape.is_empty() {
            iter.shape.push(iter.numel);
            iter.strides.extend(iter.operands.iter().map(|op| op.dtype.size() as isize));
        }
        iter.find_flat();
        return Ok(());
    }
    iter.shape.clear();
    iter.shape.extend(iter.perm.iter().map(|&d| plan.shape[d] as usize));
    for k in 0..n {
        let view = view(k);
        let size = view.dtype.size() as i64;
        let in_bytes = |d| broadcast_stride(view.sizes, view.strides, &plan.shape, d).wrapping_mul(size) as isize;
        iter.strides.extend(iter.perm.iter().map(|&d| in_bytes(d)));
    }
    if !is_meta {
        coalesce(iter);
    }
    iter.find_flat();
    Ok(())
}

/// True if every index within `shape` is, broadcast, an index within `sizes`.
fn broadcasts_to(sizes: &[i64], shape: &[i64]) -> bool {
    let Some(missing) = shape.len().checked_sub(sizes.len()) else { return false };
    sizes.iter().zip(&shape[missing..]).all(|(&own, &all)| own == all || own == 1)
}

#[cold]
fn outside(operand: usize, sizes: &[i64], shape: &[i64]) -> Error {
    ErrorKind::OutputSize { index: operand, got: sizes.to_vec(), want: shape.to_vec() }.into()
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

/// True unless it is certain that different indices write different elements, and that what is written is read, if at
/// all, at the same index only.
fn overlapping(views: &[View<'_>], noutputs: usize, shape: &[i64], reduction: bool) -> bool {
    (0..noutputs).any(|o| {
        let out = &views[o];
        let inner = if reduction {
            // Reduced dimensions reach one element by intention.
            let kept = (0..out.sizes.len()).filter(|&d| out.strides[d] != 0);
            let (sizes, strides): (crate::DimVec, crate::DimVec) = kept.map(|d| (out.sizes[d], out.strides[d])).unzip();
            internal(&sizes, &strides)
        } else {
            internal(out.sizes, out.strides)
        };
        let others = views.iter().enumerate().filter(|&(k, _)| k > o || k >= noutputs);
        inner != Internal::No || others.into_iter().any(|(_, other)| out.touches(other) && !out.walks_as(other, shape))
    })
}

/// [`overlap::internal`], for strides of either sign.
pub(crate) fn internal(sizes: &[i64], strides: &[i64]) -> Internal {
    if strides.iter().all(|&s| s >= 0) {
        return overlap::internal(sizes, strides);
    }
    let positive: crate::DimVec = strides.iter().map(|s| s.saturating_abs()).collect();
    overlap::internal(sizes, &positive)
}
