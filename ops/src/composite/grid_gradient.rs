//! The gradients of images that are sampled at the points of a grid, by the image and by the grid. Each corner around
//! a point passes its share of the gradient on to the element that is there, and the slope of its weight to the grid;
//! where points and corners are is what `grid` says.

use super::grid::{Sampling, Tap, checked, for_channels};
use super::typed_join::stack;
use crate::copies::{contiguous, reshape};
use crate::functions::{add, masked_fill, mul, new_zeros, scatter_add_, sum};
use crate::kernels::AllKernels;
use crate::table::native;
use crate::templates::grid::Interpolation;
use monomorph_core::{Error, ErrorKind, MemoryFormat, Result, Tensor, observe};

/// The gradients by the image and by the grid; `None` for one that is not wanted.
type Gradients<D> = (Option<Tensor<D>>, Option<Tensor<D>>);

/// For each corner around a point which tap it is along each axis.
fn corners<D: AllKernels>(taps: &[Vec<Tap<D>>]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for axis in taps {
        let longer = |corner: &Vec<usize>| {
            (0..axis.len()).map(|tap| corner.iter().copied().chain([tap]).collect()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The product of the factors that there are; `None` if there are none.
fn product<'a, D: AllKernels + 'a>(factors: impl Iterator<Item = &'a Tensor<D>>) -> Result<Option<Tensor<D>>> {
    let mut all: Option<Tensor<D>> = None;
    for factor in factors {
        all = Some(match all {
            Some(all) => mul(&all, factor)?,
            None => factor.clone(),
        });
    }
    Ok(all)
}

impl<D: AllKernels> Sampling<D> {
    /// The gradient by the image: each element's share of the gradients of the points around it.
    fn of_image(&self, grad: &Tensor<D>, taps: &[Vec<Tap<D>>]) -> Result<Tensor<D>> {
        let mut image = new_zeros(&self.image.flat, self.image.flat.sizes())?;
        for corner in corners(taps) {
            let at = || taps.iter().zip(&corner).map(|(axis, &tap)| &axis[tap]);
            let place: Vec<_> = at().map(|(coordinate, _)| coordinate).collect();
            let Some((index, outside)) = self.image.index(&place)? else { continue };
            let share = match product(at().filter_map(|(_, weight)| weight.as_ref()))? {
                Some(weight) => mul(grad, &for_channels(&weight)?)?,
                None => grad.clone(),
            };
            scatter_add_(&mut image, 2, &index, &masked_fill(&share, &outside, 0)?)?;
        }
        Ok(image)
    }

    /// The gradient by the grid, `[batch, points]` for each axis.
    fn of_grid(&self, grad: &Tensor<D>, taps: &[Vec<Tap<D>>]) -> Result<Vec<Tensor<D>>> {
        let none = || new_zeros(&self.coordinates[0], self.coordinates[0].sizes());
        let mut all: Vec<Tensor<D>> = self.axes.iter().map(|_| none()).collect::<Result<_>>()?;
        // The nearest element is the same in the surroundings of almost every point.
        if self.how == Interpolation::Nearest {
            return Ok(all);
        }
        let slopes = self.axes.iter().zip(&self.coordinates).map(|(axis, at)| axis.slopes(at, self.how));
        let slopes: Vec<_> = slopes.collect::<Result<_>>()?;
        for corner in corners(taps) {
            let place: Vec<_> = taps.iter().zip(&corner).map(|(axis, &tap)| &axis[tap].0).collect();
            let value = sum(&mul(grad, &self.image.at(&place)?)?, 1)?;
            for (d, gradient) in all.iter_mut().enumerate() {
                let factor = |(e, &tap): (usize, &usize)| match e == d {
                    true => slopes[e].get(tap),
                    false => taps[e][tap].1.as_ref(),
                };
                if let Some(slope) = product(corner.iter().enumerate().filter_map(factor))? {
                    *gradient = add(&*gradient, &mul(&value, &slope)?)?;
                }
            }
        }
        Ok(all)
    }
}

fn gradients<D: AllKernels>(
    grad: &Tensor<D>,
    input: &Tensor<D>,
    grid: &Tensor<D>,
    modes: (i64, i64),
    align_corners: bool,
    output_mask: &[bool],
    n: usize,
) -> Result<Gradients<D>> {
    let &[of_image, _] = output_mask else {
        return Err(ErrorKind::ListLength { arg: "output_mask", got: output_mask.len(), want: 2 }.into());
    };
    let (output, sampling) = checked(input, grid, modes, align_corners, n)?;
    if grad.sizes() != output {
        let (arg, got) = ("grad_output", grad.sizes().to_vec());
        return Err(ErrorKind::UnequalSizes { arg, got, want: output }.into());
    }
    if grad.dtype() != input.dtype() {
        let (arg, got, want) = ("grad_output", grad.dtype(), input.dtype());
        return Err(ErrorKind::DTypeMismatch { arg, got, want }.into());
    }
    let Some(sampling) = sampling else {
        let image = if of_image { Some(new_zeros(input, input.sizes())?) } else { None };
        return Ok((image, Some(new_zeros(grid, grid.sizes())?)));
    };
    let taps = sampling.taps()?;
    let points = sampling.coordinates[0].sizes()[1];
    let grad = reshape(&contiguous(grad, MemoryFormat::Contiguous)?, &[output[0], output[1], points])?;
    let image = match of_image {
        true => Some(reshape(&sampling.of_image(&grad, &taps)?, input.sizes())?),
        false => None,
    };
    // The first coordinate is of the last axis. PyTorch makes the gradient by the grid whether it is wanted or not.
    let of_grid = sampling.of_grid(&grad, &taps)?;
    let columns: Vec<_> = of_grid.into_iter().rev().collect();
    Ok((image, Some(reshape(&stack(&columns, -1)?, grid.sizes())?)))
}

/// `grid_sampler_2d_backward`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn grid_sampler_2d_backward<D: AllKernels>(
    grad_output: &Tensor<D>,
    input: &Tensor<D>,
    grid: &Tensor<D>,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
    output_mask: &[bool],
) -> Result<Gradients<D>> {
    let _span = observe::operator("grid_sampler_2d_backward", [grad_output.geometry(), input.geometry()]);
    let modes = (interpolation_mode, padding_mode);
    gradients(grad_output, input, grid, modes, align_corners, output_mask, 2)
        .map_err(|e: Error| e.called("grid_sampler_2d_backward"))
}

/// `grid_sampler_3d_backward`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn grid_sampler_3d_backward<D: AllKernels>(
    grad_output: &Tensor<D>,
    input: &Tensor<D>,
    grid: &Tensor<D>,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
    output_mask: &[bool],
) -> Result<Gradients<D>> {
    let _span = observe::operator("grid_sampler_3d_backward", [grad_output.geometry(), input.geometry()]);
    let modes = (interpolation_mode, padding_mode);
    gradients(grad_output, input, grid, modes, align_corners, output_mask, 3)
        .map_err(|e: Error| e.called("grid_sampler_3d_backward"))
}

native! {
    family: GridGradients, functions: crate::kernels::AllKernels;

    func: grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode,
        int padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor),
    autogen: grid_sampler_2d_backward.out, kernel: grid_sampler_2d_backward;

    func: grid_sampler_3d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode,
        int padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor),
    autogen: grid_sampler_3d_backward.out, kernel: grid_sampler_3d_backward;
}
