//! Where the points of a grid lie in an image, for its gradients (`grid_gradient.rs`). Every step is an operator on all
//! points at once, in the dtype of the image and in the order in which PyTorch computes it, so halves round as they do
//! there: where a point lies, which elements are around it, and what they weigh.

use crate::copies::{contiguous, reshape, to_dtype};
use crate::functions::{
    abs, add, clamp_max, div, floor, gather, ge, gt, le, logical_and, logical_not, lt, masked_fill, minimum, mul, ne,
    new_zeros, round, sub, trunc,
};
use crate::kernels::AllKernels;
use crate::templates::grid::{self, Interpolation, Padding};
use crate::view;
use monomorph_core::{DType, MemoryFormat, Result, Tensor};

/// One dimension of the image.
pub(super) struct Axis {
    pub(super) size: i64,
    padding: Padding,
    align_corners: bool,
    /// Of three dimensions PyTorch computes positions in another order.
    solid: bool,
}

impl Axis {
    /// Where coordinates from -1 to 1 lie among the elements.
    fn position<D: AllKernels>(&self, at: &Tensor<D>) -> Result<Tensor<D>> {
        let (moved, size) = (add(at, 1)?, self.size);
        match (self.solid, self.align_corners) {
            (true, true) => mul(&div(&moved, 2)?, size - 1),
            (true, false) => div(&sub(&mul(&moved, size)?, 1)?, 2),
            (false, true) => mul(&moved, (size - 1) as f64 / 2.0),
            (false, false) => sub(&mul(&moved, size as f64 / 2.0)?, 0.5),
        }
    }

    /// Positions within the image, if something else than zeros is outside of it.
    fn padded<D: AllKernels>(&self, at: &Tensor<D>) -> Result<Tensor<D>> {
        match self.padding {
            Padding::Zeros => Ok(at.clone()),
            Padding::Border => self.clipped(at),
            Padding::Reflection => self.clipped(&self.reflected(at)?),
        }
    }

    /// Positions outside of the image at its ends; what is no number at the first one.
    fn clipped<D: AllKernels>(&self, at: &Tensor<D>) -> Result<Tensor<D>> {
        let is_below = logical_not(&ge(at, 0)?)?;
        clamp_max(&masked_fill(at, &is_below, 0)?, self.size - 1)
    }

    /// The lower mirror, and twice the distance to the upper one.
    fn reflection(&self) -> (f64, f64) {
        if self.align_corners { (0.0, (self.size - 1) as f64 * 2.0) } else { (-0.5, self.size as f64 * 2.0) }
    }

    fn reflected<D: AllKernels>(&self, at: &Tensor<D>) -> Result<Tensor<D>> {
        if self.align_corners && self.size <= 1 {
            return new_zeros(at, at.sizes());
        }
        let (low, twice) = self.reflection();
        let distance = abs(&sub(at, low)?)?;
        let flips = trunc(&div(&distance, twice)?)?;
        let left = sub(&distance, &mul(&flips, twice)?)?;
        let back = add(&mul(&left, -1)?, twice)?;
        add(&minimum(&left, &back)?, low)
    }

    /// Elements around the points, and their weights.
    pub(super) fn taps<D: AllKernels>(&self, at: &Tensor<D>, how: Interpolation) -> Result<Vec<Tap<D>>> {
        let position = self.position(at)?;
        match how {
            Interpolation::Nearest => Ok(vec![(round(&self.padded(&position)?)?, None)]),
            Interpolation::Linear => {
                let position = self.padded(&position)?;
                let first = floor(&position)?;
                let behind = sub(&position, &first)?;
                let before = add(&mul(&behind, -1)?, 1)?;
                Ok(vec![(first.clone(), Some(before)), (add(&first, 1)?, Some(behind))])
            }
            Interpolation::Cubic => {
                let first = floor(&position)?;
                let weights = cubic_weights(&sub(&position, &first)?)?;
                let tap = |(j, weight): (i64, Tensor<D>)| Ok((self.padded(&add(&first, j - 1)?)?, Some(weight)));
                (0..).zip(weights).map(tap).collect()
            }
        }
    }

    /// How much the weights of [`taps`](Axis::taps) grow with the coordinates.
    pub(super) fn slopes<D: AllKernels>(&self, at: &Tensor<D>, how: Interpolation) -> Result<Vec<Tensor<D>>> {
        let scale = (if self.align_corners { self.size - 1 } else { self.size }) as f64 / 2.0;
        let position = self.position(at)?;
        if how == Interpolation::Cubic {
            let slopes = cubic_slopes(&sub(&position, &floor(&position)?)?)?;
            return slopes.iter().map(|slope| mul(slope, scale)).collect();
        }
        let behind = mul(&self.direction(&position)?, scale)?;
        Ok(vec![mul(&behind, -1)?, behind])
    }

    /// 1 where a padded position moves with its coordinate, -1 where it moves against it, 0 where it stays.
    fn direction<D: AllKernels>(&self, at: &Tensor<D>) -> Result<Tensor<D>> {
        let ones = add(&mul(at, 0)?, 1)?;
        let (position, direction) = match self.padding {
            Padding::Zeros => return Ok(ones),
            Padding::Border => (at.clone(), ones),
            Padding::Reflection if self.align_corners && self.size <= 1 => return new_zeros(at, at.sizes()),
            Padding::Reflection => {
                let (low, twice) = self.reflection();
                let distance = sub(at, low)?;
                let flips = trunc(&div(&abs(&distance)?, twice)?)?;
                let left = sub(&abs(&distance)?, &mul(&flips, twice)?)?;
                let returns = gt(&left, twice / 2.0)?;
                let is_below = lt(&distance, 0)?;
                let sign = masked_fill(&ones, &ne(&returns, &is_below)?, -1)?;
                (self.reflected(at)?, sign)
            }
        };
        let inside = logical_and(&gt(&position, 0)?, &lt(&position, self.size - 1)?)?;
        masked_fill(&direction, &logical_not(&inside)?, 0)
    }
}

/// Elements along a dimension, one for each point, and their weights.
pub(super) type Tap<D> = (Tensor<D>, Option<Tensor<D>>);

/// The parameter of the cubic weights, `a` in Keys, "Cubic convolution interpolation", 1981.
const A: f64 = -0.75;

/// The weights of four elements, of which the second one lies so far before the point.
fn cubic_weights<D: AllKernels>(behind: &Tensor<D>) -> Result<[Tensor<D>; 4]> {
    let outer = |x: &Tensor<D>| -> Result<Tensor<D>> {
        let slope = add(&mul(&sub(&mul(x, A)?, 5.0 * A)?, x)?, 8.0 * A)?;
        sub(&mul(&slope, x)?, 4.0 * A)
    };
    let inner = |x: &Tensor<D>| -> Result<Tensor<D>> {
        let slope = sub(&mul(x, A + 2.0)?, A + 3.0)?;
        add(&mul(&mul(&slope, x)?, x)?, 1)
    };
    let before = add(&mul(behind, -1)?, 1)?;
    Ok([outer(&add(behind, 1)?)?, inner(behind)?, inner(&before)?, outer(&add(&before, 1)?)?])
}

/// The derivatives of [`cubic_weights`] by the position.
fn cubic_slopes<D: AllKernels>(behind: &Tensor<D>) -> Result<[Tensor<D>; 4]> {
    let outer = |x: &Tensor<D>| add(&mul(&sub(&mul(x, 3.0 * A)?, 10.0 * A)?, x)?, 8.0 * A);
    let inner = |x: &Tensor<D>| mul(&sub(&mul(x, 3.0 * (A + 2.0))?, 2.0 * (A + 3.0))?, x);
    let before = add(&mul(behind, -1)?, 1)?;
    let last = outer(&add(&before, 1)?)?;
    Ok([outer(&add(behind, 1)?)?, inner(behind)?, mul(&inner(&before)?, -1)?, mul(&last, -1)?])
}

/// An image as `[batch, channels, elements]`, and the sizes of its planes.
pub(super) struct Image<D: AllKernels> {
    pub(super) flat: Tensor<D>,
    sizes: Vec<i64>,
}

impl<D: AllKernels> Image<D> {
    /// The elements at a place for each point, `[batch, channels, points]`; 0 outside of the image.
    pub(super) fn at(&self, place: &[&Tensor<D>]) -> Result<Tensor<D>> {
        match self.index(place)? {
            Some((index, outside)) => masked_fill(&gather(&self.flat, 2, &index)?, &outside, 0),
            None => Ok(self.flat.clone()),
        }
    }

    /// Which element of its plane is at a place, `[batch, channels, points]`, and whether it is outside of the image.
    pub(super) fn index(&self, place: &[&Tensor<D>]) -> Result<Option<(Tensor<D>, Tensor<D>)>> {
        let mut index: Option<Tensor<D>> = None;
        let mut inside: Option<Tensor<D>> = None;
        for (&coordinate, &size) in place.iter().zip(&self.sizes) {
            let within = logical_and(&ge(coordinate, 0)?, &le(coordinate, size - 1)?)?;
            // Elsewhere any element does.
            let element = masked_fill(coordinate, &logical_not(&within)?, 0)?;
            let element = to_dtype(&element, DType::I64, false, false, None)?;
            inside = Some(match inside {
                Some(all) => logical_and(&all, &within)?,
                None => within,
            });
            index = Some(match index {
                Some(outer) => add(&mul(&outer, size)?, &element)?,
                None => element,
            });
        }
        let (Some(index), Some(inside)) = (index, inside) else { return Ok(None) };
        let sizes = [self.flat.sizes()[0], self.flat.sizes()[1], index.sizes()[1]];
        let index = index.with_geometry(view::unsqueeze(index.geometry(), 1)?)?;
        let index = index.with_geometry(view::expand(index.geometry(), &sizes, false)?)?;
        Ok(Some((index, logical_not(&for_channels(&inside)?)?)))
    }
}

/// What each point has, beside the channels.
pub(super) fn for_channels<D: AllKernels>(of_points: &Tensor<D>) -> Result<Tensor<D>> {
    of_points.with_geometry(view::unsqueeze(of_points.geometry(), 1)?)
}

/// A call whose arguments fit each other.
pub(super) struct Sampling<D: AllKernels> {
    pub(super) image: Image<D>,
    pub(super) axes: Vec<Axis>,
    /// The coordinates of all points along each axis, `[batch, points]`.
    pub(super) coordinates: Vec<Tensor<D>>,
    pub(super) how: Interpolation,
}

/// The sizes of the result, and the rest where there is anything to sample.
pub(super) fn checked<D: AllKernels>(
    input: &Tensor<D>,
    grid: &Tensor<D>,
    modes: (i64, i64),
    align_corners: bool,
    n: usize,
) -> Result<(Vec<i64>, Option<Sampling<D>>)> {
    let (plan, output) = grid::plan(&input.into(), &grid.into(), modes, align_corners, n)?;
    if input.numel() == 0 || grid.numel() == 0 {
        return Ok((output, None));
    }
    let (outer, sizes) = input.sizes().split_at(2);
    let volume = sizes.iter().product::<i64>();
    let image = Image { flat: reshape(input, &[outer[0], outer[1], volume])?, sizes: sizes.to_vec() };
    let grid = reshape(grid, &[outer[0], plan.points as i64, n as i64])?;
    let axes = sizes.iter().map(|&size| Axis { size, padding: plan.padding, align_corners, solid: n == 3 }).collect();
    let along = |d: usize| {
        // The first coordinate is of the last dimension.
        let at = grid.with_geometry(view::select(grid.geometry(), 2, (n - 1 - d) as i64)?)?;
        contiguous(&at, MemoryFormat::Contiguous)
    };
    let coordinates = (0..n).map(along).collect::<Result<_>>()?;
    Ok((output, Some(Sampling { image, axes, coordinates, how: plan.interpolation })))
}

impl<D: AllKernels> Sampling<D> {
    /// The taps along each axis.
    pub(super) fn taps(&self) -> Result<Vec<Vec<Tap<D>>>> {
        self.axes.iter().zip(&self.coordinates).map(|(axis, at)| axis.taps(at, self.how)).collect()
    }
}
