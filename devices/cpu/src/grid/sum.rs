//! Sums over the elements around a block of points.

use super::axis::{Along, Axis};
use super::{POINTS, Real, Rounds};

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
}

impl<T: Real> Corners<T> {
    /// No corners.
    pub(super) const NONE: Corners<T> = Corners {
        index: [[0; POINTS]; CORNERS],
        mask: [[T::NO_BITS; POINTS]; CORNERS],
        weight: [[T::ZERO; POINTS]; CORNERS],
        volume: 0,
    };

    /// Finds the corners of elements along dimensions, the outermost first.
    #[inline(always)]
    pub(super) fn find<const HALF: bool>(&mut self, all: &[Along<T>], axes: &[Axis<T>], rounds: Rounds<HALF>) {
        self.volume = axes.iter().map(|axis| axis.size).product();
        let count = all.iter().map(|along| along.taps).product::<usize>().min(CORNERS);
        for corner in 0..count {
            let (index, mask, weight) = (&mut self.index[corner], &mut self.mask[corner], &mut self.weight[corner]);
            // The last dimension changes fastest.
            let mut rest = count;
            for (d, along) in all.iter().enumerate() {
                rest /= along.taps;
                let tap = corner / rest % along.taps;
                let (offsets, masks, weights) = (&along.offset[tap], &along.mask[tap], &along.weight[tap]);
                if d == 0 {
                    (*index, *mask, *weight) = (*offsets, *masks, *weights);
                    continue;
                }
                for i in 0..POINTS {
                    index[i] += offsets[i];
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

    /// The sums of the elements of a channel at the first `K` corners, weighted or not.
    #[inline(always)]
    pub(super) fn sum<const K: usize, const WEIGHTED: bool, const HALF: bool>(
        &self,
        plane: &[T],
        rounds: Rounds<HALF>,
    ) -> [T; POINTS] {
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

/// The sums of the elements of a channel, dimension by dimension: those along the last one first.
#[inline(always)]
pub(super) fn nested<T: Real, const HALF: bool>(all: &[Along<T>], plane: &[T], rounds: Rounds<HALF>) -> [T; POINTS] {
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
