//! The algebra of sizes and strides: counting, dense layouts, broadcasting, views. Pure functions over slices; nothing
//! here knows a tensor, and nothing here panics, whatever the numbers are and whether or not lists have one length.
//!
//! # Arithmetic
//!
//! A tensor without elements may have any strides and any offset, so sums and products of them need not fit an `i64`
//! although they reach nothing. They are of one of two kinds, and the lint below refuses any other:
//!
//! * *exact* (`checked_*`), where a number of elements or bytes is found: an overflow is an
//!   [`ErrorKind::SizeOverflow`];
//! * *modulo 2⁶⁴* (`wrapping_*`), where a stride or an offset is found. For elements that exist that is exact, since
//!   the tensor that they belong to was checked against its storage. Where there are none it is what PyTorch computes;
//!   [`Geometry::new`](crate::Geometry::new) refuses a result below zero, as PyTorch does.
#![deny(clippy::arithmetic_side_effects)]

mod dense;
mod view;

pub use dense::{
    contiguous_strides, is_channels_last, is_channels_last_strides, is_contiguous, preserve_strides, strides_for,
    suggest_format,
};
pub use view::{broadcast_sizes, infer_size, view_strides};

use crate::error::{Error, ErrorKind, Result};
use smallvec::SmallVec;

/// Sizes or strides, inline up to 6 dimensions.
pub type DimVec = SmallVec<[i64; 6]>;

/// The most dimensions that a tensor may have. Orders of dimensions are found by insertion, in quadratic time, and
/// masks of them are words; PyTorch has no limit of its own, but refuses more than 64 where an operator names
/// dimensions.
pub const MAX_DIMS: usize = 128;

/// An error for more than [`MAX_DIMS`] dimensions.
#[inline]
pub fn check_ndim(got: usize) -> Result<()> {
    if got > MAX_DIMS { Err(too_many_dims(got)) } else { Ok(()) }
}

#[cold]
fn too_many_dims(got: usize) -> Error {
    ErrorKind::TooManyDims { got, most: MAX_DIMS }.into()
}

/// The place `index` steps of `stride` behind `offset`, modulo 2⁶⁴: exact if there is an element.
#[inline]
pub fn offset_at(offset: i64, stride: i64, index: i64) -> i64 {
    offset.wrapping_add(stride.wrapping_mul(index))
}

/// The number of elements. An error for more than [`MAX_DIMS`] sizes, one below zero, and a number that does not fit an
/// `i64`.
pub fn numel(sizes: &[i64]) -> Result<usize> {
    check_ndim(sizes.len())?;
    let mut n = Some(1i64);
    let mut empty = false;
    for &s in sizes {
        if s < 0 {
            return Err(ErrorKind::NegativeSize { arg: "size", got: s }.into());
        }
        empty |= s == 0;
        n = n.and_then(|n| n.checked_mul(s));
    }
    match n {
        _ if empty => Ok(0),
        Some(n) => Ok(n as usize),
        None => Err(overflow(sizes, &[])),
    }
}

/// One past the highest element that sizes and strides reach from the start, 0 for an empty tensor.
pub fn extent(sizes: &[i64], strides: &[i64]) -> Result<usize> {
    if sizes.contains(&0) {
        return Ok(0);
    }
    let mut last: i64 = 0;
    for (&size, &stride) in sizes.iter().zip(strides) {
        let reach = size.checked_sub(1).and_then(|steps| steps.checked_mul(stride));
        last = reach.and_then(|r| last.checked_add(r)).ok_or_else(|| overflow(sizes, strides))?;
    }
    let extent = last.checked_add(1).ok_or_else(|| overflow(sizes, strides))?;
    usize::try_from(extent).map_err(|_| overflow(sizes, strides))
}

#[cold]
fn overflow(sizes: &[i64], strides: &[i64]) -> Error {
    ErrorKind::SizeOverflow { sizes: sizes.to_vec(), strides: strides.to_vec() }.into()
}

/// True if every element of a dense block is reached exactly once, in any order of dimensions. Empty tensors are dense;
/// what no tensor can have is not.
pub fn is_non_overlapping_and_dense(sizes: &[i64], strides: &[i64]) -> bool {
    if sizes.len() != strides.len() || sizes.len() > MAX_DIMS {
        return false;
    }
    if sizes.contains(&0) {
        return true;
    }
    if sizes.len() == 1 {
        return sizes[0] < 2 || strides[0] == 1;
    }
    let mut expected: i64 = 1;
    for (stride, size) in by_stride(sizes, strides) {
        if stride != expected {
            return false;
        }
        expected = expected.saturating_mul(size);
    }
    true
}

/// The dimensions of two elements or more as (stride, size), in ascending order. By insertion: a tensor that has
/// elements has at most 62 such dimensions, and a sort for any number of them is 5 KB of code. Callers make sure that
/// there are no more than [`MAX_DIMS`].
pub(crate) fn by_stride(sizes: &[i64], strides: &[i64]) -> SmallVec<[(i64, i64); 6]> {
    let mut sorted: SmallVec<[(i64, i64); 6]> = SmallVec::new();
    for (&size, &stride) in sizes.iter().zip(strides).filter(|(size, _)| **size > 1) {
        let place =
            sorted.len().saturating_sub(sorted.iter().rev().take_while(|known| **known > (stride, size)).count());
        sorted.insert(place, (stride, size));
    }
    sorted
}

/// The dimension that `dim` names in a tensor of `ndim` dimensions: negative counts from the end. A tensor without
/// dimensions accepts -1 and 0.
pub fn wrap_dim(dim: i64, ndim: usize, arg: &'static str) -> Result<usize> {
    let n = i64::try_from(ndim.max(1)).unwrap_or(i64::MAX);
    let d = if dim < 0 { dim.wrapping_add(n) } else { dim };
    if !(0..n).contains(&d) {
        let (low, high) = (n.wrapping_neg(), n.wrapping_sub(1));
        return Err(ErrorKind::DimOutOfRange { arg, got: dim, ndim, low, high }.into());
    }
    Ok(d as usize)
}

/// [`wrap_dim`] for a list in which no dimension may repeat; the result is a mask over at most 64 dimensions.
pub fn wrap_dims(dims: &[i64], ndim: usize, arg: &'static str) -> Result<u64> {
    if ndim > 64 {
        return Err(ErrorKind::DimCount {
            arg: "self",
            got: ndim,
            accepted: "at most 64 dimensions where dims are named",
        }
        .into());
    }
    let mut mask = 0u64;
    for &dim in dims {
        let d = wrap_dim(dim, ndim, arg)?;
        let bit = 1u64.wrapping_shl(d as u32);
        if mask & bit != 0 {
            return Err(ErrorKind::DimRepeated { arg, dim: d }.into());
        }
        mask |= bit;
    }
    Ok(mask)
}
