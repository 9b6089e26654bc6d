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

use crate::error::{Error, ErrorKind, Result};
use crate::options::MemoryFormat;
use smallvec::SmallVec;

/// Sizes or strides, inline up to 6 dimensions.
pub type Dims = SmallVec<[i64; 6]>;

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

/// Row-major strides. A size of 0 counts as 1, as in PyTorch. Modulo 2⁶⁴, which matters to a tensor without elements
/// only: [`strides_for`] refuses such sizes.
pub fn contiguous_strides(sizes: &[i64]) -> Dims {
    let mut strides: Dims = SmallVec::from_elem(1, sizes.len());
    let mut running: i64 = 1;
    for (stride, &size) in strides.iter_mut().zip(sizes).rev() {
        *stride = running;
        running = running.wrapping_mul(size.max(1));
    }
    strides
}

/// [`contiguous_strides`], exact; `None` if one does not fit.
fn exact_contiguous_strides(sizes: &[i64]) -> Option<Dims> {
    let mut strides: Dims = SmallVec::from_elem(1, sizes.len());
    let mut running = Some(1i64);
    for (stride, &size) in strides.iter_mut().zip(sizes).rev() {
        *stride = running?;
        running = stride.checked_mul(size.max(1));
    }
    Some(strides)
}

/// Strides that make the dimensions dense in the given order, the first in `order` being the innermost; `None` if one
/// does not fit. A size of 0 makes the strides behind it 0, as in PyTorch's channels-last formats.
fn dense_in_order(sizes: &[i64], order: &[usize]) -> Option<Dims> {
    let mut strides: Dims = SmallVec::from_elem(0, sizes.len());
    let mut running = Some(1i64);
    for &d in order {
        strides[d] = running?;
        running = strides[d].checked_mul(sizes[d]);
    }
    Some(strides)
}

const CHANNELS_LAST: [usize; 4] = [1, 3, 2, 0];
const CHANNELS_LAST_3D: [usize; 5] = [1, 4, 3, 2, 0];

/// The strides of a new tensor in `format`; Preserve counts as Contiguous here. Channels-last formats need 4 or 5
/// dimensions. An error if a stride does not fit an `i64`, also where there are no elements.
pub fn strides_for(sizes: &[i64], format: MemoryFormat) -> Result<Dims> {
    let exact = match format {
        MemoryFormat::Contiguous | MemoryFormat::Preserve => exact_contiguous_strides(sizes),
        MemoryFormat::ChannelsLast if sizes.len() == 4 => dense_in_order(sizes, &CHANNELS_LAST),
        MemoryFormat::ChannelsLast3d if sizes.len() == 5 => dense_in_order(sizes, &CHANNELS_LAST_3D),
        MemoryFormat::ChannelsLast => return Err(format_dims(sizes.len(), "4 dimensions for channels_last")),
        MemoryFormat::ChannelsLast3d => return Err(format_dims(sizes.len(), "5 dimensions for channels_last_3d")),
    };
    exact.ok_or_else(|| overflow(sizes, &[]))
}

#[cold]
fn format_dims(got: usize, accepted: &'static str) -> Error {
    ErrorKind::DimCount { arg: "self", got, accepted }.into()
}

/// True if the elements lie row-major without gaps. Dimensions of size 1 may have any stride; empty tensors are
/// contiguous.
pub fn is_contiguous(sizes: &[i64], strides: &[i64]) -> bool {
    let mut expected: i64 = 1;
    for (&size, &stride) in sizes.iter().zip(strides).rev() {
        if size != 1 {
            if stride != expected {
                return sizes.contains(&0);
            }
            expected = expected.saturating_mul(size);
        }
    }
    true
}

/// The order of the dimensions in a channels-last format, if there are as many as it needs, each with a stride.
fn channels_last_order(sizes: &[i64], strides: &[i64], format: MemoryFormat) -> Option<&'static [usize]> {
    match format {
        _ if sizes.len() != strides.len() => None,
        MemoryFormat::ChannelsLast if sizes.len() == 4 => Some(&CHANNELS_LAST),
        MemoryFormat::ChannelsLast3d if sizes.len() == 5 => Some(&CHANNELS_LAST_3D),
        _ => None,
    }
}

/// True if the elements lie in the given channels-last format without gaps.
pub fn is_channels_last(sizes: &[i64], strides: &[i64], format: MemoryFormat) -> bool {
    let Some(order) = channels_last_order(sizes, strides, format) else { return false };
    let mut expected: i64 = 1;
    for &d in order {
        if sizes[d] != 1 {
            if strides[d] != expected {
                return false;
            }
            expected = expected.saturating_mul(sizes[d]);
        }
    }
    true
}

/// True if the strides *look* channels-last, gaps allowed: what a new tensor "in the same format" follows.
///
/// NC11 and N11 with equal strides are ambiguous and count as contiguous.
pub fn is_channels_last_strides(sizes: &[i64], strides: &[i64], format: MemoryFormat) -> bool {
    let Some(order) = channels_last_order(sizes, strides, format) else { return false };
    let mut min: i64 = 0;
    if strides[1] == 0 {
        return false;
    }
    for &d in order {
        if sizes[d] == 0 || strides[d] < min {
            return false;
        }
        // The batch dimension may not have the stride of the channel: that would be NCHW with H = W = 1.
        if d == 0 && min == strides[1] {
            return false;
        }
        min = strides[d];
        if sizes[d] > 1 {
            min = min.saturating_mul(sizes[d]);
        }
    }
    true
}

/// The memory format that the strides suggest: one of the channels-last formats or Contiguous.
pub fn suggest_format(sizes: &[i64], strides: &[i64]) -> MemoryFormat {
    for format in [MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d] {
        if is_channels_last_strides(sizes, strides, format) {
            return format;
        }
    }
    MemoryFormat::Contiguous
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

/// The strides of a new dense tensor in the order of the source's dimensions, for `preserve_format`: the source's own
/// strides if it is non-overlapping and dense, else dense strides in the order of its strides. Of what no tensor can
/// have, the contiguous ones.
pub fn preserve_strides(sizes: &[i64], strides: &[i64]) -> Dims {
    if is_non_overlapping_and_dense(sizes, strides) {
        return Dims::from_slice(strides);
    }
    if sizes.len() != strides.len() || sizes.len() > MAX_DIMS {
        return contiguous_strides(sizes);
    }
    // Insertion sort from the last dimension; a stride of 0 is ambiguous and decides nothing.
    let n = sizes.len();
    let mut perm: SmallVec<[usize; 6]> = (0..n).rev().collect();
    let should_swap = |a: usize, b: usize| -> i32 {
        let (sa, sb) = (strides[a], strides[b]);
        if sa == 0 || sb == 0 {
            return 0;
        }
        if sa < sb {
            return -1;
        }
        if sa > sb {
            return 1;
        }
        i32::from(sizes[a] > sizes[b])
    };
    for i in 1..n {
        let mut d1 = i;
        for d0 in (0..i).rev() {
            match should_swap(perm[d0], perm[d1]) {
                1.. => {
                    perm.swap(d0, d1);
                    d1 = d0;
                }
                0 => {}
                _ => break,
            }
        }
    }
    // A tensor that has elements has no stride that does not fit.
    dense_in_order(sizes, &perm).unwrap_or_else(|| contiguous_strides(sizes))
}

/// Sizes that both broadcast to.
pub fn broadcast_sizes(a: &[i64], b: &[i64]) -> Result<Dims> {
    let n = a.len().max(b.len());
    check_ndim(n)?;
    let mut out: Dims = SmallVec::from_elem(1, n);
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
pub fn view_strides(sizes: &[i64], strides: &[i64], want: &[i64]) -> Option<Dims> {
    if sizes.len() != strides.len() {
        return None;
    }
    if sizes.is_empty() {
        return Some(SmallVec::from_elem(1, want.len()));
    }
    if sizes.contains(&0) {
        return Some(if sizes == want { Dims::from_slice(strides) } else { contiguous_strides(want) });
    }
    let mut out: Dims = SmallVec::from_elem(0, want.len());
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
pub fn infer_size(sizes: &[i64], numel: usize) -> Result<Dims> {
    check_ndim(sizes.len())?;
    let bad = || Error::new(ErrorKind::ShapeNumel { want: sizes.to_vec(), numel });
    let mut out = Dims::from_slice(sizes);
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
