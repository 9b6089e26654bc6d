//! Copies between layouts whose rows are short, such as images whose channels become places or the other way round: by
//! a table of the elements of several dimensions (`offsets.rs`). Row by row pixel_shuffle of 4 × 16 × 32 × 32 by 2 took
//! 140 µs, most of it to begin 32Ki rows of two elements.

use crate::offsets::{Offsets, Sides};
use monomorph_iter::{GRAIN, TensorIter, is_parallel, pieces, share};
use std::ops::Range;

/// Elements of a row from which on it is copied by itself.
const SHORT: usize = 16;

/// Bytes of a row that is dense on both sides, from which on it is copied by itself.
const SHORT_BYTES: usize = 32;

/// Copies a target whose innermost dimensions are small and dense, from wherever.
pub(crate) struct TableCopy<'i> {
    iter: &'i TensorIter,
    /// Bytes of an element.
    size: usize,
    /// Where the elements of those dimensions come from.
    offsets: Offsets,
    /// How many dimensions there are around them.
    inner: usize,
    /// How many places those have.
    outer: usize,
}

impl<'i> TableCopy<'i> {
    /// The table of an iteration, if rows are short and several of them lie one behind the other in the target.
    pub(crate) fn new(iter: &'i TensorIter, size: usize) -> Option<TableCopy<'i>> {
        let (shape, to, from) = (iter.shape(), iter.strides(0), iter.strides(1));
        let row = *shape.first()?;
        if row >= SHORT || (from[0] == size as isize && row * size > SHORT_BYTES) {
            return None;
        }
        let (mut length, mut reach, mut inner) = (1, 0_usize, 0);
        for (d, &n) in shape.iter().enumerate() {
            // Places of a dimension lie within the source, so that no distance of them overflows.
            reach = reach.saturating_add(from[d].unsigned_abs().saturating_mul(n));
            let is_behind = to[d] == (length * size) as isize;
            if !is_behind || length * n > Offsets::MOST || reach > i32::MAX as usize {
                break;
            }
            (length, inner) = (length * n, d + 1);
        }
        if inner < 2 {
            return None;
        }
        let mut offsets = Offsets::new();
        for d in 0..inner {
            offsets.repeat((0..shape[d] as isize).map(|i| i * from[d]));
        }
        Some(TableCopy { iter, size, offsets, inner, outer: shape[inner..].iter().product() })
    }

    /// Copies everything, by several threads where it is large.
    ///
    /// # Safety
    ///
    /// C1, C2 for the operands of the iteration, whose elements have `size` bytes.
    pub(crate) unsafe fn copy(&self, sides: Sides) {
        let iter = self.iter;
        let copy = |range: Range<usize>| {
            for place in range {
                let side = |k: usize| {
                    let (mut rest, mut offset) = (place, 0_isize);
                    for (&n, &stride) in iter.shape().iter().zip(iter.strides(k)).skip(self.inner) {
                        (rest, offset) = (rest / n, offset + (rest % n) as isize * stride);
                    }
                    offset
                };
                // SAFETY: C1, C2: the place is one of the dimensions around, and all elements there are of both sides.
                unsafe { self.gather(sides.at(side(0), side(1))) };
            }
        };
        if iter.must_be_serial() || !is_parallel(iter.numel(), GRAIN) {
            return copy(0..self.outer);
        }
        let each = self.outer.div_ceil(pieces());
        share(self.outer.div_ceil(each), |piece| copy(piece * each..((piece + 1) * each).min(self.outer)));
    }

    /// # Safety
    ///
    /// C1, C2 for the elements at one place of the dimensions around, of `size` bytes each.
    unsafe fn gather(&self, sides: Sides) {
        match self.size {
            // SAFETY: the caller's promise, for elements of one byte.
            1 => unsafe { self.offsets.gather::<u8>(sides) },
            // SAFETY: the caller's promise, for elements of two bytes.
            2 => unsafe { self.offsets.gather::<u16>(sides) },
            // SAFETY: the caller's promise, for elements of four bytes.
            4 => unsafe { self.offsets.gather::<u32>(sides) },
            // SAFETY: the caller's promise, for elements of eight bytes.
            8 => unsafe { self.offsets.gather::<u64>(sides) },
            // SAFETY: the caller's promise, for elements of sixteen bytes: no dtype has another size.
            _ => unsafe { self.offsets.gather::<[u64; 2]>(sides) },
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::copy::copy;
    use monomorph_core::{DType, Strided, strides};

    /// Parts of images in every order, into dense targets and such with gaps, against one element at a time.
    #[test]
    fn short_rows_arrive_whole() {
        let sizes: [&[i64]; 5] = [&[2, 3, 4, 2, 5], &[3, 2, 2], &[4, 1, 3, 2], &[40, 30, 8, 3, 2], &[700, 9, 15]];
        for (sizes, turn) in sizes.into_iter().flat_map(|sizes| (0..sizes.len()).map(move |turn| (sizes, turn))) {
            // The source lies in another order of its dimensions, with a gap behind the second one.
            let mut order: Vec<usize> = (0..sizes.len()).collect();
            order.rotate_left(turn);
            let mut from_strides = vec![1; sizes.len()];
            let mut next = 1;
            for (i, &d) in order.iter().enumerate() {
                from_strides[d] = next;
                next = next * sizes[d] + i64::from(i == 1);
            }
            let dense = strides::contiguous_strides(sizes).to_vec();
            let spaced: Vec<i64> =
                dense.iter().map(|&stride| if stride > 1 { stride + stride / 2 } else { 1 }).collect();
            for (to_strides, (dtype, size)) in
                [&dense, &spaced].into_iter().flat_map(|to| [(DType::U8, 1), (DType::I64, 8)].map(|of| (to, of)))
            {
                let extent = |strides: &[i64]| strides::extent(sizes, strides).expect("small");
                let source: Vec<u8> =
                    (0..extent(&from_strides) * size).map(|i| ((i * 2_654_435_761) >> 9) as u8).collect();
                let mut target = vec![0xa5_u8; extent(to_strides) * size];
                let side = |data: *const u8, strides| Strided {
                    data: data.cast_mut(),
                    strides,
                    dtype,
                    conj: false,
                    neg: false,
                };
                let mut want = target.clone();
                let (to, from) = (side(target.as_mut_ptr(), &to_strides[..]), side(source.as_ptr(), &from_strides));
                // SAFETY: C1: both sides are vectors that reach as far as the strides do; C2: they lie apart, and no
                // two indices of the target have an element in common.
                unsafe { copy(sizes, to, from) }.expect("a level");
                for mut flat in 0..sizes.iter().product::<i64>() {
                    let (mut to, mut from) = (0, 0);
                    for (d, &n) in sizes.iter().enumerate().rev() {
                        to += (flat % n * to_strides[d]) as usize * size;
                        from += (flat % n * from_strides[d]) as usize * size;
                        flat /= n;
                    }
                    want[to..to + size].copy_from_slice(&source[from..from + size]);
                }
                assert!(target == want, "{sizes:?} from {from_strides:?} to {to_strides:?} of {size} bytes");
            }
        }
    }
}
