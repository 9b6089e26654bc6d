//! Sums over the elements around a block of points.

use super::axis::{Along, Axis};
use super::{POINTS, Real, Rounds};

/// The most corners around a point.
const CORNERS: usize = 8;

/// Points whose sums are in registers together.
const LANES: usize = 16;

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
    /// The corners of elements along dimensions, the outermost first.
    #[inline(always)]
    pub(super) fn new<const HALF: bool>(all: &[Along<T>], axes: &[Axis<T>], rounds: Rounds<HALF>) -> Corners<T> {
        let mut corners = Corners {
            index: [[0; POINTS]; CORNERS],
            mask: [[T::Mask::default(); POINTS]; CORNERS],
            weight: [[T::ZERO; POINTS]; CORNERS],
            volume: axes.iter().map(|axis| axis.size).product(),
        };
        let count = all.iter().map(|along| along.taps).product::<usize>().min(CORNERS);
        for corner in 0..count {
            let mut inside = [true; POINTS];
            let (index, weight) = (&mut corners.index[corner], &mut corners.weight[corner]);
            let mut taps = corner;
            let mut digits = [0; 3];
            for (digit, along) in digits.iter_mut().zip(all).rev() {
                (*digit, taps) = (taps % along.taps, taps / along.taps);
            }
            for (d, (along, axis)) in all.iter().zip(axes).enumerate() {
                let tap = digits[d];
                for i in 0..POINTS {
                    index[i] = index[i] * axis.size + along.element[tap][i];
                    inside[i] &= along.is_inside[tap][i];
                    let own = along.weight[tap][i];
                    weight[i] = if d == 0 { own } else { rounds.of(weight[i] * own) };
                }
            }
            if axes.iter().any(Axis::skips_outside) {
                for (weight, inside) in weight.iter_mut().zip(inside) {
                    *weight = if inside { *weight } else { T::ZERO };
                }
            }
            corners.mask[corner] = inside.map(T::mask);
        }
        corners
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
        for (lanes, sums) in sums.chunks_exact_mut(LANES).enumerate() {
            let lanes = lanes * LANES..(lanes + 1) * LANES;
            for corner in 0..K {
                let (index, mask) = (&self.index[corner][lanes.clone()], &self.mask[corner][lanes.clone()]);
                let weight = &self.weight[corner][lanes.clone()];
                for i in 0..LANES {
                    // SAFETY: an index is that of an element of a channel (the invariant), which the plane is.
                    let element = unsafe { *plane.get_unchecked(index[i]) }.masked(mask[i]);
                    let term = if WEIGHTED { rounds.of(element * weight[i]) } else { element };
                    sums[i] = if corner == 0 { term } else { rounds.of(sums[i] + term) };
                }
            }
        }
        sums
    }
}

/// The sums of the elements of a channel, dimension by dimension: those along the last one first.
#[inline(always)]
pub(super) fn nested<T: Real, const HALF: bool>(
    all: &[Along<T>],
    axes: &[Axis<T>],
    plane: &[T],
    rounds: Rounds<HALF>,
) -> [T; POINTS] {
    let r = |x: T| rounds.of(x);
    let mut sums = [T::ZERO; POINTS];
    let [outer @ .., lines, columns] = all else { return sums };
    let [.., height, width] = axes else { return sums };
    for (i, sum) in sums.iter_mut().enumerate() {
        // The sum over a plane that begins with this element, where it is inside.
        let of_plane = |first: usize, is_inside: bool| {
            let mut sum = T::ZERO;
            for y in 0..lines.taps {
                let line = first + lines.element[y][i] * width.size;
                let mut of_line = T::ZERO;
                for x in 0..columns.taps {
                    let mask = T::mask(is_inside & lines.is_inside[y][i] & columns.is_inside[x][i]);
                    let term = r(plane[line + columns.element[x][i]].masked(mask) * columns.weight[x][i]);
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
                    let value = of_plane(planes.element[z][i] * height.size * width.size, planes.is_inside[z][i]);
                    let term = r(value * planes.weight[z][i]);
                    sum = if z == 0 { term } else { r(sum + term) };
                }
                sum
            }
            [] => of_plane(0, true),
        };
    }
    sums
}
