//! Images sampled at the points of a grid: `grid_sampler`, of two dimensions and of three. Owns what is checked and
//! what there is to compute; where points lie and how elements around them are summed is the device's. The gradients
//! are in `grid_gradient.rs`.
#![deny(clippy::arithmetic_side_effects)]

use crate::order::check_overlap;
use crate::table::native;
use monomorph_core::structured::{FromArgs, Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, ErrorKind, Options, Result};
use std::marker::PhantomData;

/// What elements around a point make the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Interpolation {
    /// Both along each dimension, by distance.
    #[default]
    Linear,
    /// The nearest one.
    Nearest,
    /// Four along each dimension, by the cubic of Keys.
    Cubic,
}

/// What is outside of the image.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Padding {
    /// Zeros.
    #[default]
    Zeros,
    /// The element at the border.
    Border,
    /// The image, reflected.
    Reflection,
}

/// What is computed: the points of each image of a batch, in all of its channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GridPlan {
    /// Elements around a point.
    pub interpolation: Interpolation,
    /// Elements outside of the image.
    pub padding: Padding,
    /// Coordinates reach from centre to centre of the elements at the corners, not from edge to edge.
    pub align_corners: bool,
    /// Images.
    pub batch: usize,
    /// Channels of an image.
    pub channels: usize,
    /// Coordinates of a point: 2, or 3, of which the last one is along the outermost dimension.
    pub dims: usize,
    /// Elements of a channel along its dimensions; the first is 1 where there are two.
    pub sizes: [usize; 3],
    /// Points for each image.
    pub points: usize,
    /// Of gradients, the one by the image is wanted.
    pub of_image: bool,
    /// The output may overwrite an input, so those are to be copied first.
    pub copies: bool,
}

/// A plan for these arguments, and the sizes of the result.
///
/// # Errors
///
/// Sizes that do not fit each other, another dtype than that of the image, a mode that there is not.
pub(crate) fn plan(
    input: &Operand<'_>,
    grid: &Operand<'_>,
    (interpolation_mode, padding_mode): (i64, i64),
    align_corners: bool,
    dims: usize,
) -> Result<(GridPlan, Vec<i64>)> {
    for (arg, operand) in [("input", input), ("grid", grid)] {
        let got = operand.sizes().len();
        if got != dims.saturating_add(2) {
            let accepted = if dims == 2 { "4" } else { "5" };
            return Err(ErrorKind::DimCount { arg, got, accepted }.into());
        }
    }
    let ([batch, channels, sizes @ ..], [_, points @ .., _]) = (input.sizes(), grid.sizes()) else {
        return Err(ErrorKind::DimCount { arg: "input", got: 0, accepted: "4 or 5" }.into());
    };
    let want: Vec<i64> = [*batch].into_iter().chain(points.iter().copied()).chain([dims as i64]).collect();
    if grid.sizes() != want {
        return Err(ErrorKind::UnequalSizes { arg: "grid", got: grid.sizes().to_vec(), want }.into());
    }
    if let Some(&got) = sizes.iter().find(|size| **size < 1) {
        return Err(ErrorKind::OutOfRange { arg: "input.size", got, low: 1, high: i64::MAX }.into());
    }
    let dtype = input.dtype().unwrap_or(DType::F32);
    if !dtype.is_floating() {
        let (what, accepted) = ("argument input has dtype", "floating dtypes");
        return Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into());
    }
    if let Some(got) = grid.dtype().filter(|got| *got != dtype) {
        return Err(ErrorKind::DTypeMismatch { arg: "grid", got, want: dtype }.into());
    }
    let interpolation = match interpolation_mode {
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
    let output: Vec<i64> = [*batch, *channels].into_iter().chain(points.iter().copied()).collect();
    let sizes = match *sizes {
        [depth, height, width] => [depth, height, width],
        [height, width] => [1, height, width],
        _ => [1; 3],
    };
    let plan = GridPlan {
        interpolation,
        padding,
        align_corners,
        batch: *batch as usize,
        channels: *channels as usize,
        dims,
        sizes: sizes.map(|size| size as usize),
        // More than memory can hold is refused where the output is made.
        points: points.iter().fold(1_usize, |all, &size| all.saturating_mul(size as usize)),
        of_image: false,
        copies: false,
    };
    Ok((plan, output))
}

/// The operator with the name of `F`.
pub struct GridSample<F>(PhantomData<fn() -> F>);

/// A name of the operator, and how many dimensions an image of so many has.
pub trait GridFn: Send + Sync + 'static {
    /// The name that errors carry.
    const NAME: &'static str;

    /// The dimensions of a channel, of an input of so many dimensions.
    fn dims(ndim: usize) -> usize;
}

/// `grid_sampler`.
pub struct GridSampler;
impl GridFn for GridSampler {
    const NAME: &'static str = "grid_sampler";

    fn dims(ndim: usize) -> usize {
        if ndim == 5 { 3 } else { 2 }
    }
}
/// `grid_sampler_2d`.
pub struct GridSampler2d;
impl GridFn for GridSampler2d {
    const NAME: &'static str = "grid_sampler_2d";

    fn dims(_: usize) -> usize {
        2
    }
}
/// `grid_sampler_3d`.
pub struct GridSampler3d;
impl GridFn for GridSampler3d {
    const NAME: &'static str = "grid_sampler_3d";

    fn dims(_: usize) -> usize {
        3
    }
}

/// The inputs of a call.
pub struct GridInputs<'t> {
    operands: [Operand<'t>; 2],
    modes: (i64, i64),
    align_corners: bool,
}

impl<'t> GridInputs<'t> {
    /// The image and the grid.
    pub fn operands(&self) -> &[Operand<'t>; 2] {
        &self.operands
    }
}

impl<'t, A: Into<Operand<'t>>, B: Into<Operand<'t>>> FromArgs<(A, B, i64, i64, bool)> for GridInputs<'t> {
    fn from_args((input, grid, interpolation, padding, align_corners): (A, B, i64, i64, bool)) -> Result<Self> {
        let (operands, modes) = ([input.into(), grid.into()], (interpolation, padding));
        Ok(GridInputs { operands, modes, align_corners })
    }
}

impl<F: GridFn> StructuredOp for GridSample<F> {
    const NAME: &'static str = F::NAME;
    const OUTPUTS: usize = 1;
    type Inputs<'t> = GridInputs<'t>;
    type Plan = GridPlan;
    type Home = F;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, to: &mut Self::Plan) -> Result<()> {
        let [input, grid] = &inputs.operands;
        let dims = F::dims(input.sizes().len());
        let (plan, output) = plan(input, grid, inputs.modes, inputs.align_corners, dims)?;
        let device = input.tensor().map_or(DeviceId::CPU, |t| t.device());
        let dtype = input.dtype().unwrap_or(DType::F32);
        sink.set_output_contiguous(0, &output, Options::new(dtype, device), None)?;
        let (_, copies) = check_overlap(&inputs.operands, sink, false)?;
        *to = GridPlan { copies, ..plan };
        Ok(())
    }
}

native! {
    family: GridSamples;

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
    variants: function, structured: GridSample<GridSampler>;

    func: grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners)
        -> Tensor,
    autogen: grid_sampler_2d.out, structured: GridSample<GridSampler2d>;

    func: grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners)
        -> Tensor,
    autogen: grid_sampler_3d.out, structured: GridSample<GridSampler3d>;
}
