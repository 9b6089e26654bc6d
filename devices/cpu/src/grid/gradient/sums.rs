//! What a block of points adds to the gradients. Sums round as PyTorch's: of a plane it adds the shares of as many
//! points as a register of 256 bits has elements, corner by corner; of a volume point by point.

use super::super::axis::{Axis, TAPS};
use super::super::real::Real;
use super::super::{POINTS, find_all};
use super::{Call, Corner, Share, State};
use crate::rounding::Rounding;
use monomorph_ops::grid::Interpolation;

/// Copies elements to where they lie side by side. It is not inlined into the kernels of an instruction set: with
/// AVX-512 the compiler would gather, which takes longer than loads here.
///
/// # Safety
///
/// Each place is that of an element of the plane.
#[inline(never)]
unsafe fn copy_places<T: Real>(plane: &[T], places: &[usize; POINTS], to: &mut [T; POINTS]) {
    for (to, place) in to.iter_mut().zip(places) {
        // SAFETY: an element of the plane: the caller's promise.
        *to = unsafe { *plane.get_unchecked(*place) };
    }
}

impl<T: Real, R: Rounding> Call<'_, T, R> {
    /// The coordinates of a block of points.
    #[inline(always)]
    fn coordinates(&self, image: usize, first: usize) -> &[T] {
        let plan = self.plan;
        let points = POINTS.min(plan.points - first);
        &self.grid[(image * plan.points + first) * plan.dims..][..points * plan.dims]
    }

    /// The gradients of a block of points in a channel of all; behind the last point 0.
    #[inline(always)]
    fn gradients(&self, channel: usize, first: usize) -> [T; POINTS] {
        let points = POINTS.min(self.plan.points - first);
        let mut grad = [T::ZERO; POINTS];
        grad[..points].copy_from_slice(&self.grad[channel * self.plan.points + first..][..points]);
        grad
    }

    /// Finds the corners around a block of points, in the order in which PyTorch adds them.
    #[inline(always)]
    pub(super) fn find(&self, image: usize, first: usize, state: &mut State<T>) {
        let State { all, corners, .. } = state;
        find_all(self.plan, &self.axes, self.coordinates(image, first), all, self.rounds);
        let (is_plane, is_linear) = (self.plan.dims == 2, self.plan.interpolation == Interpolation::Linear);
        let [z, y, x] = all;
        if is_plane {
            z.taps = 1;
        }
        corners.clear();
        let count = z.taps * y.taps * x.taps;
        for corner in 0..count {
            // Of planes with four elements along each dimension the last dimension is the outer one.
            let taps = match is_plane && self.plan.interpolation == Interpolation::Cubic {
                true => [0, corner % y.taps, corner / y.taps],
                false => [corner / x.taps / y.taps, corner / x.taps % y.taps, corner % x.taps],
            };
            let (y_tap, x_tap) = (taps[1], taps[2]);
            let (zero, no) = ([T::ZERO; POINTS], [T::NO_BITS; POINTS]);
            let mut corner = Corner { taps, place: [0; POINTS], mask: no, weight: zero, value: zero };
            for i in 0..POINTS {
                let mut mask = T::both(y.mask[y_tap][i], x.mask[x_tap][i]);
                corner.place[i] = y.offset[y_tap][i] + x.offset[x_tap][i];
                if !is_plane {
                    mask = T::both(mask, z.mask[taps[0]][i]);
                    corner.place[i] += z.offset[taps[0]][i];
                }
                corner.mask[i] = mask;
            }
            if is_linear {
                for i in 0..POINTS {
                    let of_plane = self.rounds.of(x.weight[x_tap][i] * y.weight[y_tap][i]);
                    corner.weight[i] =
                        if is_plane { of_plane } else { self.rounds.of(of_plane * z.weight[taps[0]][i]) };
                }
            }
            corners.push(corner);
        }
    }

    /// Adds the shares of a block of points to a channel of the gradient by the image.
    #[inline(always)]
    pub(super) fn add(&self, channel: usize, first: usize, state: &mut State<T>, to: &mut [T]) {
        let grad = self.gradients(channel, first);
        let r = |x: T| self.rounds.of(x);
        let State { all, corners, shares } = state;
        for Corner { taps, weight, value, .. } in corners.iter_mut() {
            match self.plan.interpolation {
                Interpolation::Nearest => *value = grad,
                Interpolation::Linear => (0..POINTS).for_each(|i| value[i] = r(weight[i] * grad[i])),
                Interpolation::Cubic => {
                    *value = grad;
                    for (along, &tap) in all.iter().zip(&*taps).rev().take(self.plan.dims) {
                        (0..POINTS).for_each(|i| value[i] = r(value[i] * along.weight[tap][i]));
                    }
                }
            }
        }
        for Share { corner, point, place } in &*shares {
            // SAFETY: the corner is one of the block's, and the place that of an element of a channel (the invariants).
            let to = unsafe { to.get_unchecked_mut(*place) };
            // SAFETY: the corner is one of the block's (the invariant).
            let corner = unsafe { corners.get_unchecked(*corner as usize) };
            *to = r(*to + corner.value[*point as usize % POINTS]);
        }
    }

    /// The shares of a block of points, in the order in which PyTorch adds them.
    #[inline(always)]
    pub(super) fn order(&self, first: usize, state: &mut State<T>) {
        let State { corners, shares, .. } = state;
        shares.clear();
        let points = POINTS.min(self.plan.points - first);
        for start in (0..points).step_by(self.step) {
            for (number, corner) in corners.iter().enumerate() {
                for point in start..points.min(start + self.step) {
                    if T::one().masked(corner.mask[point]) != T::ZERO {
                        shares.push(Share { corner: number as u32, point: point as u32, place: corner.place[point] });
                    }
                }
            }
        }
    }

    /// The gradients by the coordinates of a block of points, along each dimension.
    #[inline(always)]
    pub(super) fn slopes(&self, image: usize, first: usize, state: &mut State<T>) -> [[T; POINTS]; 3] {
        let (plan, r) = (self.plan, |x: T| self.rounds.of(x));
        let mut sums = [[T::ZERO; POINTS]; 3];
        let State { all, corners, .. } = state;
        let slopes = (plan.interpolation == Interpolation::Cubic).then(|| {
            let mut slopes = [[[T::ZERO; POINTS]; TAPS]; 3];
            self.each_axis(image, first, |d, axis, at| {
                for i in 0..POINTS {
                    for (tap, slope) in axis.cubic_slopes(at[i], self.rounds).into_iter().enumerate() {
                        slopes[d][tap][i] = slope;
                    }
                }
            });
            slopes
        });
        for channel in image * plan.channels..(image + 1) * plan.channels {
            let grad = self.gradients(channel, first);
            let plane = &self.image[channel * self.volume..][..self.volume];
            for Corner { place, mask, value, .. } in corners.iter_mut() {
                // SAFETY: places are those of elements of a channel (the invariant), which the plane is.
                unsafe { copy_places(plane, place, value) };
                (0..POINTS).for_each(|i| value[i] = value[i].masked(mask[i]));
            }
            match (&slopes, &corners[..]) {
                (Some(slopes), _) => {
                    for Corner { taps, value, .. } in corners.iter() {
                        for d in 3 - plan.dims..3 {
                            let mut term: [T; POINTS] =
                                std::array::from_fn(|i| r(r(grad[i] * value[i]) * slopes[d][taps[d]][i]));
                            for e in (3 - plan.dims..3).rev().filter(|e| *e != d) {
                                (0..POINTS).for_each(|i| term[i] = r(term[i] * all[e].weight[taps[e]][i]));
                            }
                            (0..POINTS).for_each(|i| sums[d][i] = r(sums[d][i] + term[i]));
                        }
                    }
                }
                (None, [nw, ne, sw, se]) => {
                    let [_, y, x] = &*all;
                    let [nw, ne, sw, se] = [nw, ne, sw, se].map(|corner| &corner.value);
                    for i in 0..POINTS {
                        let [before, behind] = [y.weight[0][i], y.weight[1][i]];
                        let by_x = r(r(r(ne[i] - nw[i]) * before) + r(r(se[i] - sw[i]) * behind));
                        let [before, behind] = [x.weight[0][i], x.weight[1][i]];
                        let by_y = r(r(r(sw[i] - nw[i]) * before) + r(r(se[i] - ne[i]) * behind));
                        sums[2][i] = r(sums[2][i] + r(by_x * grad[i]));
                        sums[1][i] = r(sums[1][i] + r(by_y * grad[i]));
                    }
                }
                _ => {
                    for Corner { taps, value, mask, .. } in corners.iter() {
                        for d in 0..3 {
                            let mut term = *value;
                            for e in (0..3).rev().filter(|e| *e != d) {
                                (0..POINTS).for_each(|i| term[i] = r(term[i] * all[e].weight[taps[e]][i]));
                            }
                            for i in 0..POINTS {
                                let term = r(term[i] * grad[i]);
                                let term = if taps[d] == 0 { -term } else { term };
                                sums[d][i] = sums[d][i].or(r(sums[d][i] + term), mask[i]);
                            }
                        }
                    }
                }
            }
        }
        self.each_axis(image, first, |d, axis, at| {
            for i in 0..POINTS {
                sums[d][i] = r(sums[d][i] * axis.scale(at[i], self.rounds));
            }
        });
        sums
    }

    /// Calls `f` with each dimension, and the coordinates of a block of points along it; behind the last point 0.
    #[inline(always)]
    fn each_axis(&self, image: usize, first: usize, mut f: impl FnMut(usize, &Axis<T>, &[T; POINTS])) {
        let dims = self.plan.dims;
        let coordinates = self.coordinates(image, first);
        for d in 3 - dims..3 {
            let mut at = [T::ZERO; POINTS];
            // The first coordinate is of the last axis.
            at.iter_mut().zip(coordinates.chunks_exact(dims)).for_each(|(at, point)| *at = point[2 - d]);
            f(d, &self.axes[d], &at);
        }
    }
}
