//! Memory overlap: may two indices of one tensor, or elements of two tensors, be the same memory?
#![deny(clippy::arithmetic_side_effects)]

use super::strides;

/// Whether a tensor has indices that reach the same element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Internal {
    /// Provably not.
    No,
    /// Provably so: an expanded dimension.
    Yes,
    /// Too hard to tell.
    Unknown,
}

/// How two tensors share memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shared {
    /// Not at all.
    None,
    /// They are the same elements in the same order.
    Full,
    /// Some bytes are in both.
    Partial,
    /// Too hard to tell.
    Unknown,
}

/// Judges one geometry. Strides are in any one unit. More dimensions than a tensor may have are too hard to tell.
pub fn internal(sizes: &[i64], strides: &[i64]) -> Internal {
    if sizes.len() > strides::MAX_DIMS {
        return Internal::Unknown;
    }
    if strides::is_non_overlapping_and_dense(sizes, strides) || sizes.contains(&0) {
        return Internal::No;
    }
    if sizes.iter().zip(strides).any(|(&size, &stride)| size > 1 && stride == 0) {
        return Internal::Yes;
    }
    // Sorted by stride, no dimension reaches as far as the stride of the next one: all indices are distinct.
    let mut reach: i64 = 0;
    for (stride, size) in strides::by_stride(sizes, strides) {
        if stride <= reach {
            return Internal::Unknown;
        }
        reach = match size.wrapping_sub(1).checked_mul(stride).and_then(|r| reach.checked_add(r)) {
            Some(r) => r,
            None => return Internal::Unknown,
        };
    }
    Internal::No
}

/// A tensor's place in memory, for [`shared`].
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Identity of the storage.
    pub storage: usize,
    /// Byte address of the first element, relative to the storage.
    pub start: i64,
    /// Bytes from the first to one past the last byte reached.
    pub bytes: i64,
    /// Bytes per element.
    pub element: usize,
    /// Sizes.
    pub sizes: &'a [i64],
    /// Strides in elements.
    pub strides: &'a [i64],
}

/// Judges two tensors, as PyTorch does: different storages share nothing; two dense tensors share by their byte ranges;
/// anything else in one storage is too hard to tell.
pub fn shared(a: &Place<'_>, b: &Place<'_>) -> Shared {
    if a.storage != b.storage || a.bytes == 0 || b.bytes == 0 {
        return Shared::None;
    }
    if a.start == b.start && a.element == b.element && a.sizes == b.sizes && a.strides == b.strides {
        return Shared::Full;
    }
    if !strides::is_non_overlapping_and_dense(a.sizes, a.strides)
        || !strides::is_non_overlapping_and_dense(b.sizes, b.strides)
    {
        return Shared::Unknown;
    }
    let (a_end, b_end) = (a.start.saturating_add(a.bytes), b.start.saturating_add(b.bytes));
    if a.start == b.start && a_end == b_end {
        return if a.strides == b.strides { Shared::Full } else { Shared::Partial };
    }
    if a.start < b_end && b.start < a_end { Shared::Partial } else { Shared::None }
}
