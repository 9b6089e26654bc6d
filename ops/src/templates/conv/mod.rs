//! Convolutions: an image, a map and a weight, of which two give the third.
//!
//! A window slides over the image; the map has one element for each of its places:
//!
//! ```text
//!   map[n, g·M + m, j]  =  Σ over c, k of  weight[g·M + m, c, k] · image[n, g·C + c, j·stride - padding + k·dilation]
//!
//!               image  [N, G·C, X..]      map  [N, G·M, J..]      weight  [G·M, C, K..]
//!
//!   [`Pass::Map`]      convolution; the gradient of a transposed one
//!   [`Pass::Image`]    transposed convolution; the gradient of a convolution by its input
//!   [`Pass::Weight`]   the gradient of either by its weight
//! ```
//!
//! Owns the operator [`Convolve`], which computes any of the three in the memory format that it is given. What
//! parameters are accepted, and how large results are, is in [`window`]; which memory format they have is in
//! [`layout`]; the operators are in [`forward`], [`backward`] and [`slow`].
#![deny(clippy::arithmetic_side_effects)]

pub mod backward;
pub mod forward;
pub mod layout;
pub mod slow;
pub mod tbc;
pub mod window;

use crate::order::check_overlap;
use monomorph_core::strides::DimVec;
use monomorph_core::structured::{Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, ErrorKind, Options, Result, rounding};
use window::Window;

/// The operator that computes a map, an image or a weight from the two others.
pub struct Convolve;

/// Which of the three is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pass {
    /// The map, of image and weight.
    #[default]
    Map,
    /// The image, of map and weight.
    Image,
    /// The weight, of image and map.
    Weight,
}

/// One dimension of the image and what the window does along it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConvAxis {
    /// Elements of the image.
    pub image: i64,
    /// Elements of the map: places of the window.
    pub map: i64,
    /// Elements of the window.
    pub taps: i64,
    /// From one place of the window to the next.
    pub stride: i64,
    /// How far before the image the first place begins.
    pub padding: i64,
    /// From one element of the window to the next.
    pub dilation: i64,
}

impl Default for ConvAxis {
    /// A dimension of one element.
    fn default() -> ConvAxis {
        ConvAxis { image: 1, map: 1, taps: 1, stride: 1, padding: 0, dilation: 1 }
    }
}

impl ConvAxis {
    /// Whether every position that the window can have, in front of the image and behind it, is far from overflow.
    fn is_addressable(&self) -> bool {
        let near = |n: i64| (0..FAR).contains(&n);
        // From the first of so many to the last one.
        let span = |n: i64, step: i64| n.saturating_sub(1).max(0).checked_mul(step).is_some_and(near);
        let sizes = [self.image, self.map, self.taps, self.padding.saturating_abs()];
        let steps = self.stride > 0 && self.dilation > 0;
        sizes.into_iter().all(near) && steps && span(self.map, self.stride) && span(self.taps, self.dilation)
    }
}

/// Positions are below it, so that sums of two of them do not overflow.
const FAR: i64 = 1 << 60;

/// What a device needs besides the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConvPlan {
    /// What is computed.
    pub pass: Pass,
    /// Images.
    pub batch: usize,
    /// Groups of channels, none of which sees another.
    pub groups: usize,
    /// Channels of a group in the image.
    pub image_channels: usize,
    /// Channels of a group in the map.
    pub map_channels: usize,
    /// The dimensions behind the channels, in front of them some of one element so that there are three.
    pub axes: [ConvAxis; 3],
    /// How many of them the tensors have.
    pub ndim: usize,
    /// Terms of an image in a half dtype are rounded one by one.
    pub rounds: bool,
    /// Sums may be rounded otherwise than PyTorch's ([`rounding`]).
    pub relaxed: bool,
    /// The output may overwrite the inputs, so those are to be copied first.
    pub copies: bool,
}

/// The inputs of a call.
pub struct ConvInputs<'t> {
    operands: [Operand<'t>; 3],
    pass: Pass,
    window: Window,
    sizes: DimVec,
    strides: DimVec,
    rounds: bool,
}

impl<'t> ConvInputs<'t> {
    /// A call for a result of these sizes and strides: of image and weight, of map and weight, or of image and map; and
    /// of a bias, unless the weight is computed. What each element of the window contributes to an image of halves may
    /// be rounded for itself, as PyTorch's own kernels do.
    pub(super) fn new(
        pass: Pass,
        operands: [Operand<'t>; 3],
        window: Window,
        (sizes, strides): (DimVec, DimVec),
        rounds: bool,
    ) -> ConvInputs<'t> {
        ConvInputs { operands, pass, window, sizes, strides, rounds }
    }

    /// The image, or the map if the image is computed.
    pub fn first(&self) -> &Operand<'t> {
        &self.operands[0]
    }

    /// The weight, or the map if the weight is computed.
    pub fn second(&self) -> &Operand<'t> {
        &self.operands[1]
    }

    /// What is added to each channel of the result.
    pub fn bias(&self) -> &Operand<'t> {
        &self.operands[2]
    }

    /// The plan of the call, if the sizes of its operands and of its result fit each other.
    fn plan(&self) -> Result<ConvPlan> {
        let [first, second, bias] = self.operands.each_ref().map(Operand::sizes);
        let result = &*self.sizes;
        let (image, map, weight) = match self.pass {
            Pass::Map => (first, result, second),
            Pass::Image => (result, first, second),
            Pass::Weight => (first, second, result),
        };
        let ndim = self.window.ndim();
        let dims = ndim.saturating_add(2);
        let unequal =
            |arg, got: &[i64], want: &[i64]| ErrorKind::UnequalSizes { arg, got: got.to_vec(), want: want.to_vec() };
        let (&[n, channels, ref image_sizes @ ..], &[maps, map_channels, ref map_sizes @ ..]) = (image, map) else {
            return Err(ErrorKind::DimCount { arg: "input", got: first.len(), accepted: "3, 4 and 5" }.into());
        };
        let (groups, taps) = (self.window.groups, &*self.window.taps);
        // A weight may come as a matrix of a row for each channel of the map.
        let (rows, columns) = (weight.first().copied().unwrap_or(0), monomorph_core::strides::numel(weight)?);
        let per_group =
            |channels: i64| channels.checked_div(groups).filter(|each| each.checked_mul(groups) == Some(channels));
        let (Some(c), Some(m)) = (per_group(channels), per_group(map_channels)) else {
            return Err(unequal("input", image, map).into());
        };
        let area = taps.iter().try_fold(c, |area, &taps| area.checked_mul(taps));
        let is_weight = area.and_then(|area| area.checked_mul(rows)).is_some_and(|all| all == columns as i64);
        if ndim == 0 || ndim > 3 || image.len() != dims || map.len() != dims || n != maps {
            return Err(unequal(if self.pass == Pass::Weight { "grad_output" } else { "input" }, map, image).into());
        }
        if rows != map_channels || !is_weight {
            return Err(unequal("weight", weight, &[map_channels, area.unwrap_or(0)]).into());
        }
        let wanted = if self.pass == Pass::Image { channels } else { map_channels };
        if !self.bias().is_absent() && bias != [wanted] {
            return Err(unequal("bias", bias, &[wanted]).into());
        }
        let mut axes = [ConvAxis::default(); 3];
        for (i, axis) in axes.iter_mut().rev().take(ndim).rev().enumerate() {
            let (image, map, taps) = (image_sizes[i], map_sizes[i], taps[i]);
            // A window that is moved only once may be moved any distance.
            let stride = self.window.stride[i].min(FAR);
            let (padding, dilation) = (self.window.padding[i], self.window.dilation[i]);
            *axis = ConvAxis { image, map, taps, stride, padding, dilation };
            if !axis.is_addressable() {
                return Err(window::overflow(image_sizes));
            }
        }
        let count = |n: i64| n as usize;
        Ok(ConvPlan {
            pass: self.pass,
            batch: count(n),
            groups: count(groups),
            image_channels: count(c),
            map_channels: count(m),
            axes,
            ndim,
            rounds: self.rounds && self.pass == Pass::Image,
            relaxed: rounding::is_relaxed(),
            copies: false,
        })
    }
}

impl StructuredOp for Convolve {
    const NAME: &'static str = "convolution";
    const OUTPUTS: usize = 1;
    type Inputs<'t> = ConvInputs<'t>;
    type Plan = ConvPlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let planned = inputs.plan()?;
        let dtype = inputs.first().dtype().unwrap_or(DType::F32);
        let device = inputs.first().tensor().map_or(DeviceId::CPU, |t| t.device());
        sink.set_output_strided(0, &inputs.sizes, &inputs.strides, Options::new(dtype, device), None)?;
        let (_, copies) = check_overlap(&inputs.operands, sink, false)?;
        *plan = ConvPlan { copies, ..planned };
        Ok(())
    }
}
