//! The gradients of images that are sampled at the points of a grid, by the image and by the grid: each corner around a
//! point passes its share of the gradient on to the element that is there, and the slope of its weight to the grid.
//! Owns what is checked and what there is to compute; the rest is the device's, as for [`super::grid`].
#![deny(clippy::arithmetic_side_effects)]

use super::grid::{self, GridPlan};
use crate::kernels::AllKernels;
use crate::order::check_overlap;
use crate::table::native;
use monomorph_core::structured::{Functional, Operand, SinkState, StructuredOp, call};
use monomorph_core::{DType, DeviceId, Error, ErrorKind, Options, Result, Tensor, observe};

/// Both gradients of a call.
pub struct GridGradient;

/// The inputs of a call.
pub struct GridGradientInputs<'t> {
    operands: [Operand<'t>; 3],
    plan: GridPlan,
}

impl<'t> GridGradientInputs<'t> {
    /// The gradient, the image and the grid.
    pub fn operands(&self) -> &[Operand<'t>; 3] {
        &self.operands
    }
}

impl StructuredOp for GridGradient {
    const NAME: &'static str = "grid_sampler_backward";
    const OUTPUTS: usize = 2;
    type Inputs<'t> = GridGradientInputs<'t>;
    type Plan = GridPlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let [_, image, grid] = &inputs.operands;
        let device = image.tensor().map_or(DeviceId::CPU, |t| t.device());
        let options = Options::new(image.dtype().unwrap_or(DType::F32), device);
        let of_image = if inputs.plan.of_image { image.sizes() } else { &[0] };
        sink.set_output_contiguous(0, of_image, options, None)?;
        sink.set_output_contiguous(1, grid.sizes(), options, None)?;
        let (_, copies) = check_overlap(&inputs.operands, sink, false)?;
        *plan = GridPlan { copies, ..inputs.plan };
        Ok(())
    }
}

/// The gradients by the image and by the grid; `None` for one that is not wanted.
type Gradients<D> = (Option<Tensor<D>>, Option<Tensor<D>>);

fn gradients<D: AllKernels>(
    [grad, input, grid]: [&Tensor<D>; 3],
    modes: (i64, i64),
    align_corners: bool,
    output_mask: &[bool],
    n: usize,
) -> Result<Gradients<D>> {
    let &[of_image, _] = output_mask else {
        return Err(ErrorKind::ListLength { arg: "output_mask", got: output_mask.len(), want: 2 }.into());
    };
    let (plan, output) = grid::plan(&input.into(), &grid.into(), modes, align_corners, n)?;
    if grad.sizes() != output {
        let (arg, got) = ("grad_output", grad.sizes().to_vec());
        return Err(ErrorKind::UnequalSizes { arg, got, want: output }.into());
    }
    if grad.dtype() != input.dtype() {
        let (arg, got, want) = ("grad_output", grad.dtype(), input.dtype());
        return Err(ErrorKind::DTypeMismatch { arg, got, want }.into());
    }
    let inputs =
        GridGradientInputs { operands: [grad.into(), input.into(), grid.into()], plan: GridPlan { of_image, ..plan } };
    // PyTorch makes the gradient by the grid whether it is wanted or not.
    let [image, grid] = call::<GridGradient, D, _>(&inputs, Functional::default())?;
    Ok((of_image.then_some(image), Some(grid)))
}

/// `grid_sampler_2d_backward`.
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
    gradients([grad_output, input, grid], modes, align_corners, output_mask, 2)
        .map_err(|e: Error| e.called("grid_sampler_2d_backward"))
}

/// `grid_sampler_3d_backward`.
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
    gradients([grad_output, input, grid], modes, align_corners, output_mask, 3)
        .map_err(|e: Error| e.called("grid_sampler_3d_backward"))
}

native! {
    family: GridGradients, functions: crate::kernels::AllKernels;

    structured: GridGradient;

    func: grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode,
        int padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor),
    autogen: grid_sampler_2d_backward.out, kernel: grid_sampler_2d_backward;

    func: grid_sampler_3d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode,
        int padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor),
    autogen: grid_sampler_3d_backward.out, kernel: grid_sampler_3d_backward;
}
