//! Which dimension is walked first, and how new outputs are laid out. Pure functions over the strides of the operands.

use crate::DimVec;
use crate::config::Flags;
use crate::operand::{Op, Replaced};
use monomorph_core::{MemoryFormat, strides};
use smallvec::SmallVec;

/// What the fast set-up found: all operands of one shape and one dense layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FastSetup {
    /// Nothing: dimensions have to be sorted.
    No,
    /// All row-major.
    Contiguous,
    /// All channels-last.
    ChannelsLast,
    /// All dense with the same strides, those of the last operand.
    Dense,
}

/// The stride of an operand in dimension `d` of the shape that it is broadcast to.
#[inline]
pub(crate) fn broadcast_stride(sizes: &[i64], strides: &[i64], shape: &[i64], d: usize) -> i64 {
    let missing = shape.len() - sizes.len();
    if d < missing || (sizes[d - missing] == 1 && shape[d] != 1) { 0 } else { strides[d - missing] }
}

/// Whether the operands allow the fast set-up. `same_shape` is the verdict of broadcasting.
pub(crate) fn fast_setup(ops: &[Op<'_>], store: &Replaced, flags: &Flags, same_shape: bool) -> FastSetup {
    if flags.is_reduction || !same_shape {
        return FastSetup::No;
    }
    let laid_out = || ops.iter().filter(|op| op.has_layout());
    let contiguous = |op: &Op<'_>| strides::is_contiguous(op.view.sizes, op.order_strides(store));
    if laid_out().all(contiguous) {
        return FastSetup::Contiguous;
    }
    if flags.enforce_linear_iteration {
        // Any other layout would change the order of the walk.
        return FastSetup::No;
    }
    let format = MemoryFormat::ChannelsLast;
    if laid_out().all(|op| {
        let (sizes, strides) = (op.view.sizes, op.order_strides(store));
        strides::is_channels_last(sizes, strides, format)
    }) {
        return FastSetup::ChannelsLast;
    }
    let Some(last) = laid_out().next_back() else { return FastSetup::No };
    let dense = |op: &Op<'_>| strides::is_non_overlapping_and_dense(op.view.sizes, op.order_strides(store));
    if laid_out().all(|op| dense(op) && op.order_strides(store) == last.order_strides(store)) {
        FastSetup::Dense
    } else {
        FastSetup::No
    }
}

/// The order of the walk that a fast set-up implies, for operands that are not really laid out as they seem.
pub(crate) fn implied_order(fast: FastSetup, shape: &[i64], last: &Op<'_>, store: &Replaced) -> SmallVec<[usize; 6]> {
    let mut perm: SmallVec<[usize; 6]> = (0..shape.len()).rev().collect();
    if fast != FastSetup::Contiguous {
        let strides = last.order_strides(store);
        // By insertion, as below.
        for i in 1..perm.len() {
            let moving = perm[i];
            let place = perm[..i].iter().rposition(|&d| strides[d] <= strides[moving]).map_or(0, |before| before + 1);
            perm[place..=i].rotate_right(1);
        }
    }
    perm
}

/// The dimensions in the order of the walk: an insertion sort by strides, in which operands decide one after the other.
///
/// A stride of 0 (a broadcast dimension) decides nothing; equal strides are decided by the sizes if they can be. In a
/// reduction, reduced dimensions come first.
pub(crate) fn sorted_order(ops: &[Op<'_>], store: &Replaced, shape: &[i64], flags: &Flags) -> SmallVec<[usize; 6]> {
    let ndim = shape.len();
    let mut perm: SmallVec<[usize; 6]> = (0..ndim).rev().collect();
    if ndim <= 1 || flags.enforce_linear_iteration {
        return perm;
    }
    for i in 1..ndim {
        let mut moving = i;
        for before in (0..i).rev() {
            match comes_after(ops, store, shape, flags, perm[before], perm[moving]) {
                Some(true) => {
                    perm.swap(before, moving);
                    moving = before;
                }
                Some(false) => break,
                None => {}
            }
        }
    }
    perm
}

/// Whether dimension `a` has to come after dimension `b`; `None` if no operand decides it.
fn comes_after(ops: &[Op<'_>], store: &Replaced, shape: &[i64], flags: &Flags, a: usize, b: usize) -> Option<bool> {
    for op in ops.iter().filter(|op| op.has_layout()) {
        let stride = |d| broadcast_stride(op.view.sizes, op.order_strides(store), shape, d).unsigned_abs();
        let (stride_a, stride_b) = (stride(a), stride(b));
        if flags.is_reduction && op.output && (stride_a == 0) != (stride_b == 0) {
            return Some(stride_b == 0);
        }
        if stride_a == 0 || stride_b == 0 {
            continue;
        }
        if stride_a != stride_b {
            return Some(stride_a > stride_b);
        }
        if shape[a] > shape[b] {
            return Some(true);
        }
    }
    None
}

/// The strides of a new output that is dense in the order of the walk; `None` if that is row-major anyway.
pub(crate) fn output_strides(perm: &[usize], shape: &[i64]) -> Option<DimVec> {
    let ndim = shape.len();
    if perm.iter().enumerate().all(|(j, &d)| d == ndim - 1 - j) {
        return None;
    }
    let mut strides = DimVec::from_elem(0, ndim);
    let mut next: i64 = 1;
    for &d in perm {
        strides[d] = next;
        // A size of 0 makes the outer strides 0: such an output has no element, and PyTorch shows these strides.
        next = next.saturating_mul(shape[d]);
    }
    Some(strides)
}
