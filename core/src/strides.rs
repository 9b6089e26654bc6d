//! The algebra of sizes and strides: counting, dense layouts, broadcasting, views. Pure functions over slices; nothing
//! here knows a tensor.

use crate::error::{Error, ErrorKind, Result};
use crate::format::MemoryFormat;
use smallvec::SmallVec;

/// Sizes or strides, inline up to 6 dimensions.
pub type Dims = SmallVec<[i64; 6]>;

/// The number of elements. Sizes must not be negative; an overflow is an error.
pub fn numel(sizes: &[i64]) -> Result<usize> {
    if sizes.contains(&0) {
        return Ok(0);
    }
    let mut n: i64 = 1;
    for &s in sizes {
        if s < 0 {
            return Err(ErrorKind::NegativeSize { arg: "size", got: s }.into());
        }
        n = n.checked_mul(s).ok_or_else(|| overflow(sizes, &[]))?;
    }
    Ok(n as usize)
}

/// One past the highest element that sizes and strides reach from the start, 0 for an empty tensor.
pub fn extent(sizes: &[i64], strides: &[i64]) -> Result<usize> {
    if sizes.contains(&0) {
        return Ok(0);
    }
    let mut last: i64 = 0;
    for (&size, &stride) in sizes.iter().zip(strides) {
        let reach = (size - 1).checked_mul(stride);
        last = reach.and_then(|r| last.checked_add(r)).ok_or_else(|| overflow(sizes, strides))?;
    }
    let extent = last.checked_add(1).ok_or_else(|| overflow(sizes, strides))?;
    usize::try_from(extent).map_err(|_| overflow(sizes, strides))
}

#[cold]
fn overflow(sizes: &[i64], strides: &[i64]) -> Error {
    ErrorKind::SizeOverflow { sizes: sizes.to_vec(), strides: strides.to_vec() }.into()
}

/// Row-major strides. A size of 0 counts as 1, as in PyTorch.
pub fn contiguous_strides(sizes: &[i64]) -> Dims {
    let mut strides: Dims = SmallVec::from_elem(1, sizes.len());
    let mut running: i64 = 1;
    for d in (0..sizes.len()).rev() {
        strides[d] = running;
        running = running.saturating_mul(sizes[d].max(1));
    }
    strides
}

/// Strides that make the dimensions dense in the given order, the first in `order` being the innermost. A size of 0 makes
/// the strides behind it 0, as in PyTorch's channels-last formats.
fn dense_in_order(sizes: &[i64], order: &[usize]) -> Dims {
    let mut strides: Dims = SmallVec::from_elem(0, sizes.len());
    let mut running: i64 = 1;
    for &d in order {
        strides[d] = running;
        running = running.saturating_mul(sizes[d]);
    }
    strides
}

const CHANNELS_LAST: [usize; 4] = [1, 3, 2, 0];
const CHANNELS_LAST_3D: [usize; 5] = [1, 4, 3, 2, 0];

/// The strides of a new tensor in `format`; Preserve counts as Contiguous here. Channels-last formats need 4 or 5
/// dimensions.
pub fn strides_for(sizes: &[i64], format: MemoryFormat) -> Result<Dims> {
    match format {
        MemoryFormat::Contiguous | MemoryFormat::Preserve => Ok(contiguous_strides(sizes)),
        MemoryFormat::ChannelsLast if sizes.len() == 4 => Ok(dense_in_order(sizes, &CHANNELS_LAST)),
        MemoryFormat::ChannelsLast3d if sizes.len() == 5 => Ok(dense_in_order(sizes, &CHANNELS_LAST_3D)),
        MemoryFormat::ChannelsLast => Err(format_dims(sizes.len(), "4 dimensions for channels_last")),
        MemoryFormat::ChannelsLast3d => Err(format_dims(sizes.len(), "5 dimensions for channels_last_3d")),
    }
}

#[cold]
fn format_dims(got: usize, accepted: &'static str) -> Error {
    ErrorKind::DimCount { arg: "self", got, accepted }.into()
}

/// True if the elements lie row-major without gaps. Dimensions of size 1 may have any stride; empty tensors are contiguous.
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

/// True if the elements lie in the given channels-last format without gaps.
pub fn is_channels_last(sizes: &[i64], strides: &[i64], format: MemoryFormat) -> bool {
    let order: &[usize] = match format {
        MemoryFormat::ChannelsLast if sizes.len() == 4 => &CHANNELS_LAST,
        MemoryFormat::ChannelsLast3d if sizes.len() == 5 => &CHANNELS_LAST_3D,
        _ => return false,
    };
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
    let order: &[usize] = match format {
        MemoryFormat::ChannelsLast if sizes.len() == 4 => &CHANNELS_LAST,
        MemoryFormat::ChannelsLast3d if sizes.len() == 5 => &CHANNELS_LAST_3D,
        _ => return false,
    };
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

/// True if every element of a dense block is reached exactly once, in any order of dimensions. Empty tensors are dense.
pub fn is_non_overlapping_and_dense(sizes: &[i64], strides: &[i64]) -> bool {
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

/// The dimensions of two elements or more as (stride, size), in ascending order. By insertion: a tensor that has elements has at most 62
/// such dimensions, and a sort for any number of them is 5 KB of code.
pub(crate) fn by_stride(sizes: &[i64], strides: &[i64]) -> SmallVec<[(i64, i64); 6]> {
    let mut sorted = SmallVec::new();
    for (&size, &stride) in sizes.iter().zip(strides).filter(|(size, _)| **size > 1) {
        let place = sorted.iter().rposition(|known| *known <= (stride, size)).map_or(0, |before| before + 1);
        sorted.insert(place, (stride, size));
    }
    sorted
}

/// The strides of a new dense tensor in the order of the source's dimensions, for `preserve_format`: the source's own
/// strides if it is non-overlapping and dense, else dense strides in the order of its strides.
pub fn preserve_strides(sizes: &[i64], strides: &[i64]) -> Dims {
    if is_non_overlapping_and_dense(sizes, strides) {
        return Dims::from_slice(strides);
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
    dense_in_order(sizes, &perm)
}

/// Sizes that both broadcast to.
pub fn broadcast_sizes(a: &[i64], b: &[i64]) -> Result<Dims> {
    let n = a.len().max(b.len());
    let mut out: Dims = SmallVec::from_elem(1, n);
    for d in 0..n {
        let size_at = |s: &[i64]| if d + s.len() >= n { s[d + s.len() - n] } else { 1 };
        let (x, y) = (size_at(a), size_at(b));
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
    if sizes.is_empty() {
        return Some(SmallVec::from_elem(1, want.len()));
    }
    if sizes.contains(&0) {
        return if sizes == want { Some(Dims::from_slice(strides)) } else { Some(empty_view_strides(want)) };
    }
    let mut out: Dims = SmallVec::from_elem(0, want.len());
    let mut view_d = want.len() as isize - 1;
    let mut base = strides[sizes.len() - 1];
    let mut chunk: i64 = 1;
    let mut covered: i64 = 1;
    for d in (0..sizes.len()).rev() {
        chunk = chunk.checked_mul(sizes[d])?;
        let ends = d == 0 || (sizes[d - 1] != 1 && strides[d - 1] != chunk.checked_mul(base)?);
        if !ends {
            continue;
        }
        while view_d >= 0 && (covered < chunk || want[view_d as usize] == 1) {
            out[view_d as usize] = covered.checked_mul(base)?;
            covered = covered.checked_mul(want[view_d as usize])?;
            view_d -= 1;
        }
        if covered != chunk {
            return None;
        }
        if d > 0 {
            base = strides[d - 1];
            chunk = 1;
            covered = 1;
        }
    }
    (view_d == -1).then_some(out)
}

/// The strides of an empty view: contiguous, with a size of 0 counting as 1.
fn empty_view_strides(want: &[i64]) -> Dims {
    contiguous_strides(want)
}

/// Replaces one -1 in `sizes` by what the number of elements leaves for it.
pub fn infer_size(sizes: &[i64], numel: usize) -> Result<Dims> {
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
    let numel = numel as i64;
    match inferred {
        None if product == numel => Ok(out),
        Some(d) if product > 0 && numel % product == 0 => {
            out[d] = numel / product;
            Ok(out)
        }
        _ => Err(bad()),
    }
}

/// The dimension that `dim` names in a tensor of `ndim` dimensions: negative counts from the end. A tensor without
/// dimensions accepts -1 and 0.
pub fn wrap_dim(dim: i64, ndim: usize, arg: &'static str) -> Result<usize> {
    let n = ndim.max(1) as i64;
    if dim < -n || dim >= n {
        return Err(ErrorKind::DimOutOfRange { arg, got: dim, ndim, low: -n, high: n - 1 }.into());
    }
    Ok(if dim < 0 { dim + n } else { dim } as usize)
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
        if mask >> d & 1 == 1 {
            return Err(ErrorKind::DimRepeated { arg, dim: d }.into());
        }
        mask |= 1 << d;
    }
    Ok(mask)
}
