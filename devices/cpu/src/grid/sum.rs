//! Sums over the elements around a block of points.

use super::axis::{Along, Axis};
use super::{POINTS, Real, Rounding};

/// The most corners around a point.
const CORNERS: usize = 8;

/// Points whose sums are in registers together.
const LANES: usize = 8;

/// The corners around a block of points: every combination of the elements along each dimension.
///
/// Invariant: an index is that of an element of a channel.
pub(super) struct Corners<T: Real> {
    index: [[usize; POINTS]; CORNERS],
    mask: [[T::Mask; POINTS]; CORNERS],
    weight: [[T; POINTS]; CORNERS],
    volume: usize,
    pairs: Pairs<T>,
}

/// The four corners around a point of a plane as two pairs of neighbours, one in each line, so that one load gives two.
/// At the first and the last column, where one corner is outside of the image, the pair is the nearest one inside.
///
/// Invariant: an index is that of an element of a channel, and so is the next.
struct Pairs<T: Real> {
    index: [[usize; POINTS]; 2],
    /// All bits where the left corner is the second element of a pair.
    left_is_second: [T::Mask; POINTS],
    /// All bits where the right corner is the first element of a pair.
    right_is_first: [T::Mask; POINTS],
}

impl<T: Real> Pairs<T> {
    /// Finds the pairs of elements along the lines and columns of a plane, which has two columns or more.
    #[inline(always)]
    fn find(&mut self, [lines, columns]: [&Along<T>; 2], width: usize) {
        let last = width.saturating_sub(2);
        let [left, right, ..] = &columns.offset;
        for i in 0..POINTS {
            // What is outside is at 0: the right corner of a left one that is.
            let pair = left[i].min(last);
            self.left_is_second[i] = T::mask(left[i] != pair);
            self.right_is_first[i] = T::mask(right[i] == pair);
            for (index, line) in self.index.iter_mut().zip(&lines.offset) {
                index[i] = line[i] + pair;
            }
        }
    }
}

/// Copies pairs to memory that lies side by side, from which vectors are loaded. It is not inlined into the kernels of
/// an instruction set: with AVX-512 the compiler would gather, which takes longer than loads here.
///
/// # Safety
///
/// Each index is that of an element of the plane, and so is the next.
#[inline(never)]
unsafe fn copy_pairs<T: Real>(plane: &[T], index: &[usize; POINTS], pairs: &mut [[T; 2]; POINTS]) {
    for (pair, index) in pairs.iter_mut().zip(index) {
        // SAFETY: two elements of the plane: the caller's promise.
        *pair = unsafe { plane.as_ptr().wrapping_add(*index).cast::<[T; 2]>().read_unaligned() };
    }
}

impl<T: Real> Corners<T> {
    /// No corners.
    pub(super) const NONE: Corners<T> = Corners {
        index: [[0; POINTS]; CORNERS],
        mask: [[T::NO_BITS; POINTS]; CORNERS],
        weight: [[T::ZERO; POINTS]; CORNERS],
        volume: 0,
        pairs: Pairs {
            index: [[0; POINTS]; 2],
            left_is_second: [T::NO_BITS; POINTS],
            right_is_first: [T::NO_BITS; POINTS],
        },
    };

    /// Finds the corners of elements along dimensions, the outermost first.
    #[inline(always)]
    pub(super) fn find<R: Rounding>(&mut self, all: &[Along<T>], axes: &[Axis<T>], rounds: R) {
        self.volume = axes.iter().map(|axis| axis.size).product();
        let count = all.iter().map(|along| along.taps).product::<usize>().min(CORNERS);
        let are_pairs = are_pairs(axes);
        if let ([lines, columns], [_, across]) = (all, axes)
            && are_pairs
        {
            self.pairs.find([lines, columns], across.size);
        }
        for corner in 0..count {
            let (index, mask, weight) = (&mut self.index[corner], &mut self.mask[corner], &mut self.weight[corner]);
            // The last dimension changes fastest, and its weight is the first factor, as in PyTorch.
            let mut inner = 1;
            for (d, along) in all.iter().rev().enumerate() {
                let tap = corner / inner % along.taps;
                inner *= along.taps;
                let (offsets, masks, weights) = (&along.offset[tap], &along.mask[tap], &along.weight[tap]);
                if !are_pairs {
                    let before = |i: usize| if d == 0 { 0 } else { index[i] };
                    *index = std::array::from_fn(|i| before(i) + offsets[i]);
                }
                if d == 0 {
                    (*mask, *weight) = (*masks, *weights);
                    continue;
                }
                for i in 0..POINTS {
                    mask[i] = T::both(mask[i], masks[i]);
                    weight[i] = rounds.of(weight[i] * weights[i]);
                }
            }
            if axes.iter().any(Axis::skips_outside) {
                for (weight, mask) in weight.iter_mut().zip(mask) {
                    *weight = weight.masked(*mask);
                }
            }
        }
    }

    /// The weighted sums of the four corners around points of a plane, of which there are [pairs](are_pairs).
    #[inline(always)]
    pub(super) fn sum_of_pairs<R: Rounding>(&self, plane: &[T], rounds: R) -> [T; POINTS] {
        assert_eq!(plane.len(), self.volume, "a channel has the sizes of the image");
        let Pairs { index, left_is_second, right_is_first } = &self.pairs;
        let mut pairs = [[[T::ZERO; 2]; POINTS]; 2];
        for (pairs, index) in pairs.iter_mut().zip(index) {
            // SAFETY: both elements are some of a channel (the invariant), which the plane is.
            unsafe { copy_pairs(plane, index, pairs) };
        }
        let ([above, below], [nw, ne, sw, se, ..], weights) = (&pairs, &self.mask, &self.weight);
        let mut sums = [T::ZERO; POINTS];
        for (i, sum) in sums.iter_mut().enumerate() {
            let left = |[a, b]: [T; 2]| a.or(b, left_is_second[i]);
            let right = |[a, b]: [T; 2]| b.or(a, right_is_first[i]);
            let term = |corner: T, mask: T::Mask, weight: T| rounds.of(corner.masked(mask) * weight);
            *sum = term(left(above[i]), nw[i], weights[0][i]);
            *sum = rounds.of(*sum + term(right(above[i]), ne[i], weights[1][i]));
            *sum = rounds.of(*sum + term(left(below[i]), sw[i], weights[2][i]));
            *sum = rounds.of(*sum + term(right(below[i]), se[i], weights[3][i]));
        }
        sums
    }

    /// The sums of the elements of a channel at the first `K` corners, weighted or not.
    #[inline(always)]
    pub(super) fn sum<const K: usize, const WEIGHTED: bool, R: Rounding>(&self, plane: &[T], rounds: R) -> [T; POINTS] {
        assert_eq!(plane.len(), self.volume, "a channel has the sizes of the image");
        let mut sums = [T::ZERO; POINTS];
        let (lanes, _) = sums.as_chunks_mut::<LANES>();
        for (chunk, lanes) in lanes.iter_mut().enumerate() {
            let mut sum = [T::ZERO; LANES];
            for corner in 0..K {
                let (index, mask) = (self.index[corner].as_chunks().0, self.mask[corner].as_chunks().0);
                let (index, mask): (&[usize; LANES], &[T::Mask; LANES]) = (&index[chunk], &mask[chunk]);
                let weight: &[T; LANES] = &self.weight[corner].as_chunks().0[chunk];
                for i in 0..LANES {
                    // SAFETY: an index is that of an element of a channel (the invariant), which the plane is.
                    let element = unsafe { *plane.get_unchecked(index[i]) }.masked(mask[i]);
                    let term = if WEIGHTED { rounds.of(element * weight[i]) } else { element };
                    sum[i] = if corner == 0 { term } else { rounds.of(sum[i] + term) };
                }
            }
            *lanes = sum;
        }
        sums
    }
}

/// Whether corners are pairs of neighbours: of two elements along each dimension of a plane.
#[inline(always)]
pub(super) fn are_pairs<T: Real>(axes: &[Axis<T>]) -> bool {
    matches!(axes, [_, columns] if columns.is_linear() && columns.size > 1)
}

/// The sums of the elements of a channel, dimension by dimension: those along the last one first.
#[inline(always)]
pub(super) fn nested<T: Real, R: Rounding>(all: &[Along<T>], plane: &[T], rounds: R) -> [T; POINTS] {
    let r = |x: T| rounds.of(x);
    let mut sums = [T::ZERO; POINTS];
    let [outer @ .., lines, columns] = all else { return sums };
    for (i, sum) in sums.iter_mut().enumerate() {
        // The sum over a plane that begins with this element, of which these bits are taken.
        let of_plane = |first: usize, bits: Option<T::Mask>| {
            let mut sum = T::ZERO;
            for y in 0..lines.taps {
                let line = first + lines.offset[y][i];
                let bits = bits.map_or(lines.mask[y][i], |bits| T::both(bits, lines.mask[y][i]));
                let mut of_line = T::ZERO;
                for x in 0..columns.taps {
                    let element = plane[line + columns.offset[x][i]].masked(T::both(bits, columns.mask[x][i]));
                    let term = r(element * columns.weight[x][i]);
                    of_line = if x == 0 { term } else { r(of_line + term) };
                }
                let term = r(of_line * lines.weight[y][i]);
                sum = if y == 0 { term } else { r(sum + term) };
            }
            sum
        };
        *sum = match outer {
            [planes, ..] => {
                let mut sum = T::ZERO;
                for z in 0..planes.taps {
                    let value = of_plane(planes.offset[z][i], Some(planes.mask[z][i]));
                    let term = r(value * planes.weight[z][i]);
                    sum = if z == 0 { term } else { r(sum + term) };
                }
                sum
            }
            [] => of_plane(0, None),
        };
    }
    sums
}
