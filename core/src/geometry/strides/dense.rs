//! The strides of new tensors: row-major, in a memory format, or in the order of another tensor's dimensions; and which
//! of them a tensor has.
#![deny(clippy::arithmetic_side_effects)]

use super::{DimVec, MAX_DIMS, is_non_overlapping_and_dense, overflow};
use crate::error::{Error, ErrorKind, Result};
use crate::options::MemoryFormat;
use smallvec::SmallVec;

/// Row-major strides. A size of 0 counts as 1, as in PyTorch. Modulo 2⁶⁴, which matters to a tensor without elements
/// only: [`strides_for`] refuses such sizes.
pub fn contiguous_strides(sizes: &[i64]) -> DimVec {
    let mut strides: DimVec = SmallVec::from_elem(1, sizes.len());
    let mut running: i64 = 1;
    for (stride, &size) in strides.iter_mut().zip(sizes).rev() {
        *stride = running;
        running = running.wrapping_mul(size.max(1));
    }
    strides
}

/// [`contiguous_strides`], exact; `None` if one does not fit.
fn exact_contiguous_strides(sizes: &[i64]) -> Option<DimVec> {
    let mut strides: DimVec = SmallVec::from_elem(1, sizes.len());
    let mut running = Some(1i64);
    for (stride, &size) in strides.iter_mut().zip(sizes).rev() {
        *stride = running?;
        running = stride.checked_mul(size.max(1));
    }
    Some(strides)
}

/// Strides that make the dimensions dense in the given order, the first in `order` being the innermost; `None` if one
/// does not fit. A size of 0 makes the strides behind it 0, as in PyTorch's channels-last formats.
fn dense_in_order(sizes: &[i64], order: &[usize]) -> Option<DimVec> {
    let mut strides: DimVec = SmallVec::from_elem(0, sizes.len());
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
pub fn strides_for(sizes: &[i64], format: MemoryFormat) -> Result<DimVec> {
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

/// The strides of a new dense tensor in the order of the source's dimensions, for `preserve_format`: the source's own
/// strides if it is non-overlapping and dense, else dense strides in the order of its strides. Of what no tensor can
/// have, the contiguous ones.
pub fn preserve_strides(sizes: &[i64], strides: &[i64]) -> DimVec {
    if is_non_overlapping_and_dense(sizes, strides) {
        return DimVec::from_slice(strides);
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
