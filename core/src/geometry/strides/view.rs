//! The sizes and strides of views: broadcast, and of other sizes over the same elements.
#![deny(clippy::arithmetic_side_effects)]

use super::{DimVec, check_ndim, contiguous_strides};
use crate::error::{Error, ErrorKind, Result};
use smallvec::SmallVec;

/// Sizes that both broadcast to.
pub fn broadcast_sizes(a: &[i64], b: &[i64]) -> Result<DimVec> {
    let n = a.len().max(b.len());
    check_ndim(n)?;
    let mut out: DimVec = SmallVec::from_elem(1, n);
    let lead = |sizes: &[i64]| n.saturating_sub(sizes.len());
    let (lead_a, lead_b) = (lead(a), lead(b));
    for d in 0..n {
        let size_at = |s: &[i64], lead| d.checked_sub(lead).map_or(1, |d| s[d]);
        let (x, y) = (size_at(a, lead_a), size_at(b, lead_b));
        out[d] = match (x, y) {
            (x, y) if x == y => x,
            (1, y) => y,
            (x, 1) => x,
            _ => {
                return Err(ErrorKind::Broadcast {
                    left: a.to_vec(),
                    right: b.to_vec(),
                    dim: d,
                    left_size: x,
                    right_size: y,
                }
                .into());
            }
        };
    }
    Ok(out)
}

/// Strides with which a tensor of `sizes` and `strides` can be seen as `want` without a copy; `None` if it cannot.
/// Both must have the same number of elements.
///
/// Dimensions that are contiguous with each other form chunks; each chunk must be exactly covered by new dimensions.
pub fn view_strides(sizes: &[i64], strides: &[i64], want: &[i64]) -> Option<DimVec> {
    if sizes.len() != strides.len() {
        return None;
    }
    if sizes.is_empty() {
        return Some(SmallVec::from_elem(1, want.len()));
    }
    if sizes.contains(&0) {
        return Some(if sizes == want { DimVec::from_slice(strides) } else { contiguous_strides(want) });
    }
    let mut out: DimVec = SmallVec::from_elem(0, want.len());
    // The dimensions of the view that are still to be given a stride, the last first.
    let mut left = out.iter_mut().zip(want).rev().peekable();
    let mut dims = sizes.iter().zip(strides).rev().peekable();
    let (mut chunk, mut covered, mut base) = (1i64, 1i64, None);
    while let Some((&size, &stride)) = dims.next() {
        // The innermost dimension of a chunk has its stride.
        let innermost = *base.get_or_insert(stride);
        chunk = chunk.checked_mul(size)?;
        let goes_on = match dims.peek() {
            None => false,
            Some((outer, outer_stride)) => **outer == 1 || Some(**outer_stride) == chunk.checked_mul(innermost),
        };
        if goes_on {
            continue;
        }
        while let Some((stride, &size)) = left.next_if(|(_, size)| covered < chunk || **size == 1) {
            *stride = covered.checked_mul(innermost)?;
            covered = covered.checked_mul(size)?;
        }
        if covered != chunk {
            return None;
        }
        (chunk, covered, base) = (1, 1, None);
    }
    match left.next() {
        None => Some(out),
        Some(_) => None,
    }
}

/// Replaces one -1 in `sizes` by what the number of elements leaves for it.
pub fn infer_size(sizes: &[i64], numel: usize) -> Result<DimVec> {
    check_ndim(sizes.len())?;
    let bad = || Error::new(ErrorKind::ShapeNumel { want: sizes.to_vec(), numel });
    let mut out = DimVec::from_slice(sizes);
    let mut inferred = None;
    let mut product: i64 = 1;
    for (d, &s) in sizes.iter().enumerate() {
        match s {
            -1 if inferred.is_none() => inferred = Some(d),
            s if s >= 0 => product = product.checked_mul(s).ok_or_else(bad)?,
            _ => return Err(bad()),
        }
    }
    let elements = i64::try_from(numel).map_err(|_| bad())?;
    let Some(d) = inferred else { return if product == elements { Ok(out) } else { Err(bad()) } };
    // Nothing divides by zero: of a view without elements, any size would do.
    match (elements.checked_rem(product), elements.checked_div(product)) {
        (Some(0), Some(size)) => out[d] = size,
        _ => return Err(bad()),
    }
    Ok(out)
}
