//! Points along one dimension of the image: where they lie, which elements are around them, and what these weigh.

use super::{POINTS, Real, Rounding};
use monomorph_ops::grid::{GridPlan, Interpolation, Padding};

/// The most elements around a point along a dimension.
pub(super) const TAPS: usize = 4;

/// The parameter of the cubic weights, `a` in Keys, "Cubic convolution interpolation", 1981.
const A: f64 = -0.75;

/// One dimension of the image.
#[derive(Clone, Copy)]
pub(super) struct Axis<T> {
    /// How many elements, and how far they are apart in a channel.
    pub(super) size: usize,
    stride: usize,
    last: T,
    padding: Padding,
    interpolation: Interpolation,
    align_corners: bool,
    /// Of three dimensions PyTorch computes positions in another order, and what is outside is not weighted.
    is_solid: bool,
}

/// The elements around a block of points along a dimension.
#[derive(Clone, Copy)]
pub(super) struct Along<T: Real> {
    /// How many there are for each point.
    pub(super) taps: usize,
    /// How far behind the first one they lie in a channel; anywhere in it where they are outside of the image.
    pub(super) offset: [[usize; POINTS]; TAPS],
    /// All bits where they are inside.
    pub(super) mask: [[T::Mask; POINTS]; TAPS],
    pub(super) weight: [[T; POINTS]; TAPS],
}

impl<T: Real> Along<T> {
    /// No points.
    pub(super) const NONE: Along<T> = Along {
        taps: 0,
        offset: [[0; POINTS]; TAPS],
        mask: [[T::NO_BITS; POINTS]; TAPS],
        weight: [[T::ZERO; POINTS]; TAPS],
    };

    /// Finds the elements around points with these coordinates.
    #[inline(always)]
    pub(super) fn find<R: Rounding>(&mut self, axis: &Axis<T>, at: &[T; POINTS], rounds: R) {
        let r = |x: T| rounds.of(x);
        let one = T::one();
        let (mut position, axis) = (*at, *axis);
        position.iter_mut().for_each(|x| *x = axis.position(*x, rounds));
        match axis.interpolation {
            Interpolation::Nearest => {
                self.taps = 1;
                axis.pad(&mut position, rounds);
                position.iter_mut().for_each(|x| *x = x.nearest());
                self.tap(&axis, 0, &position);
            }
            Interpolation::Linear => {
                self.taps = 2;
                axis.pad(&mut position, rounds);
                let mut tap = position;
                tap.iter_mut().for_each(|x| *x = x.floor());
                self.tap(&axis, 0, &tap);
                for i in 0..POINTS {
                    let behind = r(position[i] - tap[i]);
                    self.weight[1][i] = behind;
                    self.weight[0][i] = r(one - behind);
                }
                tap.iter_mut().for_each(|x| *x = r(*x + one));
                self.tap(&axis, 1, &tap);
            }
            Interpolation::Cubic => {
                self.taps = 4;
                let mut first = position;
                first.iter_mut().for_each(|x| *x = x.floor());
                for (j, step) in [-1.0, 0.0, 1.0, 2.0].into_iter().enumerate() {
                    let mut tap = first;
                    tap.iter_mut().for_each(|x| *x = r(*x + T::constant(step)));
                    axis.pad(&mut tap, rounds);
                    self.tap(&axis, j, &tap);
                }
                for i in 0..POINTS {
                    let weights = cubic_weights(r(position[i] - first[i]), rounds);
                    for (all, weight) in self.weight.iter_mut().zip(weights) {
                        all[i] = weight;
                    }
                }
            }
        }
    }

    /// Element number `tap` around each point, which is a whole number.
    #[inline(always)]
    fn tap(&mut self, axis: &Axis<T>, tap: usize, at: &[T; POINTS]) {
        let (offset, mask) = (&mut self.offset[tap], &mut self.mask[tap]);
        // Instructions for many points at once take indices of 32 bits, and multiply these.
        let stride = match u32::try_from(axis.stride) {
            Ok(stride) if axis.size <= 1 << 30 => u64::from(stride),
            _ => {
                for ((offset, mask), &x) in offset.iter_mut().zip(mask).zip(at) {
                    let is_inside = x >= T::ZERO && x <= axis.last;
                    // Rounding may have made `last` larger than it is.
                    *offset = if is_inside { x.index().min(axis.size - 1) } else { 0 } * axis.stride;
                    *mask = T::mask(is_inside);
                }
                return;
            }
        };
        // Copies, so that nothing in the loop is read again after a store; and `&`, so that nothing in it branches.
        let (last, last_position) = ((axis.size - 1) as u32, axis.last);
        for ((offset, mask), &x) in offset.iter_mut().zip(mask).zip(at) {
            let is_inside = (x >= T::ZERO) & (x <= last_position);
            let x = if is_inside { x } else { T::ZERO };
            // SAFETY: it is not more than the size as a number, which rounding does not make 2^31.
            let element = unsafe { x.short_index() }.min(last);
            *offset = (u64::from(element) * stride) as usize;
            *mask = T::mask(is_inside);
        }
    }
}

impl<T: Real> Axis<T> {
    /// Dimension number `d` of three.
    pub(super) fn new(d: usize, plan: &GridPlan) -> Axis<T> {
        let size = plan.sizes[d];
        Axis {
            size,
            stride: plan.sizes[d + 1..].iter().product(),
            last: T::constant((size - 1) as f64),
            padding: plan.padding,
            interpolation: plan.interpolation,
            align_corners: plan.align_corners,
            is_solid: plan.dims == 3,
        }
    }

    /// Whether there are two elements around a point.
    pub(super) fn is_linear(&self) -> bool {
        self.interpolation == Interpolation::Linear
    }

    /// Whether what is outside of the image is left out of sums; otherwise it is 0 times its weight, which may be NaN.
    pub(super) fn skips_outside(&self) -> bool {
        self.is_solid && self.interpolation == Interpolation::Linear
    }

    /// Where a coordinate from -1 to 1 lies among the elements.
    #[inline(always)]
    fn position<R: Rounding>(&self, at: T, rounds: R) -> T {
        let r = |x: T| rounds.of(x);
        let constant = T::constant;
        let (moved, size, last) = (r(at + T::one()), constant(self.size as f64), self.last);
        match (self.is_solid, self.align_corners) {
            (true, true) => r(r(moved / constant(2.0)) * last),
            (true, false) => r(r(r(moved * size) - T::one()) / constant(2.0)),
            (false, true) => r(moved * constant((self.size - 1) as f64 / 2.0)),
            (false, false) => r(r(moved * constant(self.size as f64 / 2.0)) - constant(0.5)),
        }
    }

    /// How much the position of a coordinate grows with it, within the image: 0 where the padding holds it.
    #[inline(always)]
    pub(super) fn scale<R: Rounding>(&self, at: T, rounds: R) -> T {
        let r = |x: T| rounds.of(x);
        let size = if self.align_corners { self.size - 1 } else { self.size };
        let scale = r(T::constant(size as f64 / 2.0));
        if self.padding == Padding::Zeros || self.interpolation == Interpolation::Cubic {
            return scale;
        }
        let position = self.position(at, rounds);
        let (position, scale) = match self.padding {
            Padding::Reflection if self.align_corners && self.size <= 1 => return T::ZERO,
            Padding::Reflection => {
                let (low, span) = self.mirrors();
                let twice = span + span;
                let distance = r(position - low);
                let flips = r(distance.abs() / twice).trunc();
                let returns = r(distance.abs() - r(flips * twice)) > span;
                let is_against = returns != (distance < T::ZERO);
                let reflected = match self.is_solid {
                    true => self.reflected_by_remainder(position, rounds),
                    false => self.reflected(position, rounds),
                };
                (reflected, if is_against { -scale } else { scale })
            }
            _ => (position, scale),
        };
        if position > T::ZERO && position < self.last { scale } else { T::ZERO }
    }

    /// How much the weights of four elements grow with the position.
    #[inline(always)]
    pub(super) fn cubic_slopes<R: Rounding>(&self, at: T, rounds: R) -> [T; TAPS] {
        let r = |x: T| rounds.of(x);
        let c = T::constant;
        let position = self.position(at, rounds);
        let behind = r(position - position.floor());
        let outer = |x: T| r(r(r(r(x * c(3.0 * A)) - c(10.0 * A)) * x) + c(8.0 * A));
        let inner = |x: T| r(r(r(x * c(3.0 * (A + 2.0))) - c(2.0 * (A + 3.0))) * x);
        let before = r(T::one() - behind);
        [outer(r(behind + T::one())), inner(behind), -inner(before), -outer(r(before + T::one()))]
    }

    /// Moves positions into the image, if something else than zeros is outside of it.
    #[inline(always)]
    fn pad<R: Rounding>(&self, at: &mut [T; POINTS], rounds: R) {
        if self.padding == Padding::Reflection {
            match self.is_solid {
                true => at.iter_mut().for_each(|x| *x = self.reflected_by_remainder(*x, rounds)),
                false => at.iter_mut().for_each(|x| *x = self.reflected(*x, rounds)),
            }
        }
        if self.padding != Padding::Zeros {
            match self.is_solid {
                // As C++'s `min` and `max` have it, what is no number is at the end.
                true => at.iter_mut().for_each(|x| {
                    let low = if *x < T::ZERO { T::ZERO } else { *x };
                    *x = if low < self.last { low } else { self.last };
                }),
                // And as instructions of vectors have it, at the beginning.
                false => at.iter_mut().for_each(|x| {
                    let low = if *x >= T::ZERO { *x } else { T::ZERO };
                    *x = if low < self.last { low } else { self.last };
                }),
            }
        }
    }

    /// The lower mirror, and the distance to the upper one.
    #[inline(always)]
    fn mirrors(&self) -> (T, T) {
        match self.align_corners {
            true => (T::ZERO, self.last),
            false => (T::constant(-0.5), T::constant(self.size as f64)),
        }
    }

    #[inline(always)]
    fn reflected<R: Rounding>(&self, at: T, rounds: R) -> T {
        let r = |x: T| rounds.of(x);
        if self.align_corners && self.size <= 1 {
            return T::ZERO;
        }
        let (low, span) = self.mirrors();
        let twice = span + span;
        let distance = r(at - low).abs();
        let flips = r(distance / twice).trunc();
        let left = r(distance - r(flips * twice));
        let back = r(twice - left);
        // What is no number stays so.
        let nearer = if left < back || left.is_nan() { left } else { back };
        r(nearer + low)
    }

    #[inline(always)]
    fn reflected_by_remainder<R: Rounding>(&self, at: T, rounds: R) -> T {
        let r = |x: T| rounds.of(x);
        if self.align_corners && self.size <= 1 {
            return T::ZERO;
        }
        let (low, span) = self.mirrors();
        let distance = r(at - low).abs();
        let extra = r(distance % span);
        let flips = r(distance / span).floor();
        // PyTorch counts in an int, in which what does not fit is even.
        let is_odd = flips < T::constant(-f64::from(i32::MIN)) && flips % T::constant(2.0) != T::ZERO;
        if is_odd { r(r(span - extra) + low) } else { r(extra + low) }
    }
}

/// The weights of four elements, of which the second one lies so far before the point.
#[inline(always)]
fn cubic_weights<T: Real, R: Rounding>(behind: T, rounds: R) -> [T; TAPS] {
    let r = |x: T| rounds.of(x);
    let c = T::constant;
    let outer = |x: T| {
        let slope = r(r(r(r(x * c(A)) - c(5.0 * A)) * x) + c(8.0 * A));
        r(r(slope * x) - c(4.0 * A))
    };
    let inner = |x: T| {
        let slope = r(r(x * c(A + 2.0)) - c(A + 3.0));
        r(r(r(slope * x) * x) + T::one())
    };
    let before = r(T::one() - behind);
    [outer(r(behind + T::one())), inner(behind), inner(before), outer(r(before + T::one()))]
}
