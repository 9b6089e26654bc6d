//! Images sampled at the points of a grid. Every step is an operator on all points at once, in the dtype of the image
//! and in the order in which PyTorch computes it, so halves round as PyTorch's do: where a point lies, which elements
//! are around it, and the sum of these with their weights.

use crate::copies::{contiguous, reshape, to_dtype};
use crate::functions::{
    abs, add, clamp_max, div, floor, gather, ge, gt, le, logical_and, logical_not, lt, masked_fill, minimum, mul, ne,
    new_zeros, round, sub, trunc,
};
use crate::kernels::AllKernels;
use crate::table::native;
use crate::view;
use monomorph_core::{DType, Error, ErrorKind, MemoryFormat, Result, Tensor, observe};

/// What elements around a point make the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Interpolation {
    Linear,
    Nearest,
    Cubic,
}

/// What is outside of the image.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Padding {
    Zeros,
    Border,
    Reflection,
}

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

/// An element at one of the corners around each point, and its weights.
type Corner<'a, D> = (Vec<&'a Tensor<D>>, Option<Tensor<D>>);

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

    /// The sum over elements around the points. Linear weights are multiplied first, others dimension by dimension.
    fn sum(&self, taps: &[Vec<Tap<D>>], how: Interpolation) -> Result<Tensor<D>> {
        if how == Interpolation::Cubic {
            return self.nested(taps, &mut Vec::new());
        }
        let mut all: Vec<Corner<'_, D>> = vec![(Vec::new(), None)];
        for taps in taps {
            let mut next = Vec::new();
            for (place, product) in &all {
                for (coordinate, weight) in taps {
                    let place: Vec<_> = place.iter().copied().chain([coordinate]).collect();
                    let product = match (product, weight) {
                        (Some(product), Some(weight)) => Some(mul(product, weight)?),
                        (_, weight) => weight.clone(),
                    };
                    next.push((place, product));
                }
            }
            all = next;
        }
        let mut sum: Option<Tensor<D>> = None;
        for (place, weight) in &all {
            sum = Some(self.plus(sum, self.at(place)?, weight.as_ref())?);
        }
        sum.map_or_else(|| Ok(self.flat.clone()), Ok)
    }

    fn nested<'a>(&self, taps: &'a [Vec<Tap<D>>], place: &mut Vec<&'a Tensor<D>>) -> Result<Tensor<D>> {
        let Some((first, others)) = taps.split_first() else { return self.at(place) };
        let mut sum: Option<Tensor<D>> = None;
        for (coordinate, weight) in first {
            place.push(coordinate);
            let value = self.nested(others, place)?;
            place.pop();
            sum = Some(self.plus(sum, value, weight.as_ref())?);
        }
        sum.map_or_else(|| Ok(self.flat.clone()), Ok)
    }

    fn plus(&self, sum: Option<Tensor<D>>, value: Tensor<D>, weight: Option<&Tensor<D>>) -> Result<Tensor<D>> {
        let term = match weight {
            Some(weight) => mul(&value, &for_channels(weight)?)?,
            None => value,
        };
        match sum {
            Some(sum) => add(&sum, &term),
            None => Ok(term),
        }
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
    (interpolation_mode, padding_mode): (i64, i64),
    align_corners: bool,
    n: usize,
) -> Result<(Vec<i64>, Option<Sampling<D>>)> {
    for (arg, t) in [("input", input), ("grid", grid)] {
        if t.ndim() != n + 2 {
            let accepted = if n == 2 { "4" } else { "5" };
            return Err(ErrorKind::DimCount { arg, got: t.ndim(), accepted }.into());
        }
    }
    let (outer, sizes) = input.sizes().split_at(2);
    let points = &grid.sizes()[1..n + 1];
    let want: Vec<i64> = [outer[0]].into_iter().chain(points.iter().copied()).chain([n as i64]).collect();
    if grid.sizes() != want {
        return Err(ErrorKind::UnequalSizes { arg: "grid", got: grid.sizes().to_vec(), want }.into());
    }
    if let Some(&got) = sizes.iter().find(|size| **size < 1) {
        return Err(ErrorKind::OutOfRange { arg: "input.size", got, low: 1, high: i64::MAX }.into());
    }
    if !input.dtype().is_floating() {
        let (what, accepted) = ("argument input has dtype", "floating dtypes");
        return Err(ErrorKind::DTypeNotSupported { what, got: input.dtype(), accepted }.into());
    }
    if grid.dtype() != input.dtype() {
        let (arg, got, want) = ("grid", grid.dtype(), input.dtype());
        return Err(ErrorKind::DTypeMismatch { arg, got, want }.into());
    }
    let how = match interpolation_mode {
        0 => Interpolation::Linear,
        1 => Interpolation::Nearest,
        2 => Interpolation::Cubic,
        got => return Err(ErrorKind::OutOfRange { arg: "interpolation_mode", got, low: 0, high: 2 }.into()),
    };
    let padding = match padding_mode {
        0 => Padding::Zeros,
        1 => Padding::Border,
        2 => Padding::Reflection,
        got => return Err(ErrorKind::OutOfRange { arg: "padding_mode", got, low: 0, high: 2 }.into()),
    };
    let output: Vec<i64> = outer.iter().chain(points).copied().collect();
    let count = points.iter().product::<i64>();
    if input.numel() == 0 || grid.numel() == 0 {
        return Ok((output, None));
    }
    let volume = sizes.iter().product::<i64>();
    let image = Image { flat: reshape(input, &[outer[0], outer[1], volume])?, sizes: sizes.to_vec() };
    let grid = reshape(grid, &[outer[0], count, n as i64])?;
    let axes = sizes.iter().map(|&size| Axis { size, padding, align_corners, solid: n == 3 }).collect();
    let along = |d: usize| {
        // The first coordinate is of the last dimension.
        let at = grid.with_geometry(view::select(grid.geometry(), 2, (n - 1 - d) as i64)?)?;
        contiguous(&at, MemoryFormat::Contiguous)
    };
    let coordinates = (0..n).map(along).collect::<Result<_>>()?;
    Ok((output, Some(Sampling { image, axes, coordinates, how })))
}

impl<D: AllKernels> Sampling<D> {
    /// The taps along each axis.
    pub(super) fn taps(&self) -> Result<Vec<Vec<Tap<D>>>> {
        self.axes.iter().zip(&self.coordinates).map(|(axis, at)| axis.taps(at, self.how)).collect()
    }
}

fn sampled<D: AllKernels>(
    input: &Tensor<D>,
    grid: &Tensor<D>,
    modes: (i64, i64),
    align_corners: bool,
    n: usize,
) -> Result<Tensor<D>> {
    let (output, sampling) = checked(input, grid, modes, align_corners, n)?;
    let Some(sampling) = sampling else { return new_zeros(input, output) };
    let values = sampling.image.sum(&sampling.taps()?, sampling.how)?;
    let values = contiguous(&values, MemoryFormat::Contiguous)?;
    values.with_geometry(view::view(values.geometry(), &output)?)
}

/// `grid_sampler_2d`.
pub fn grid_sampler_2d<D: AllKernels>(
    input: &Tensor<D>,
    grid: &Tensor<D>,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("grid_sampler_2d", [input.geometry(), grid.geometry()]);
    sampled(input, grid, (interpolation_mode, padding_mode), align_corners, 2)
        .map_err(|e: Error| e.called("grid_sampler_2d"))
}

/// `grid_sampler_3d`.
pub fn grid_sampler_3d<D: AllKernels>(
    input: &Tensor<D>,
    grid: &Tensor<D>,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("grid_sampler_3d", [input.geometry(), grid.geometry()]);
    sampled(input, grid, (interpolation_mode, padding_mode), align_corners, 3)
        .map_err(|e: Error| e.called("grid_sampler_3d"))
}

/// `grid_sampler`: of two dimensions or of three.
pub fn grid_sampler<D: AllKernels>(
    input: &Tensor<D>,
    grid: &Tensor<D>,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("grid_sampler", [input.geometry(), grid.geometry()]);
    let n = if input.ndim() == 5 { 3 } else { 2 };
    sampled(input, grid, (interpolation_mode, padding_mode), align_corners, n)
        .map_err(|e: Error| e.called("grid_sampler"))
}

native! {
    family: GridSamples, functions: crate::kernels::AllKernels;

    /// The image at the points of a grid, `[batch, channels, height, width]` at `[batch, out height, out width, 2]`.
    ///
    /// Coordinates reach from -1 to 1 over the image, the first one along its width; with `align_corners` from centre
    /// to centre of the elements at the corners. Between elements `interpolation_mode` is 0 for linear, 1 for the
    /// nearest one, 2 for cubic; outside of the image `padding_mode` is 0 for zeros, 1 for the border, 2 for a
    /// reflection. Images with a depth have five dimensions and three coordinates. Floating dtypes.
    ///
    /// ```
    /// let image = tensor![[[[1.0f32, 3.0]]]];
    /// let grid = tensor![[[[0.0f32, 0.0], [-0.5, 0.0]]]];
    /// let points = monomorph::ops::grid_sampler(&image, &grid, 0, 0, false)?;
    /// assert_eq!(points.to_vec::<f32>()?, [2.0, 1.0]);
    /// ```
    func: grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners)
        -> Tensor,
    variants: function, kernel: grid_sampler;

    func: grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners)
        -> Tensor,
    autogen: grid_sampler_2d.out, kernel: grid_sampler_2d;

    func: grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners)
        -> Tensor,
    autogen: grid_sampler_3d.out, kernel: grid_sampler_3d;
}
