//! Gradients of tensors that were continued beyond their edges: every place of the input is the sum of the places of
//! the gradient that show it, added in their order. Owns what is to be computed; which places show which, and what is
//! wrong with arguments, is in `composite/border.rs`.
//!
//! ```text
//!   input      a b c, reflected by 2       a = g2 + g6, b = (g1 + g3) + g5, c = g0 + g4
//!   gradient   g0 g1│g2 g3 g4│g5 g6
//!   shows      c  b │a  b  c │b  a         runs of 2 from c back, of 3 from a on, of 2 from b back
//! ```
#![deny(clippy::arithmetic_side_effects)]

use crate::order::check_overlap;
use monomorph_core::strides::{DimVec, strides_for};
use monomorph_core::structured::{Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, MemoryFormat, Options, Result};
use smallvec::SmallVec;

/// Neighbours of the gradient, and which places of the input they show: `first`, then each `step` behind the one
/// before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ShownRun {
    /// The place of the first one.
    pub first: i64,
    /// From one to the next: 1, 0 or -1.
    pub step: i64,
    /// How many there are.
    pub length: i64,
}

/// One dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ShownAxis {
    /// Places of the input, all of those in `runs` among them.
    pub size: i64,
    /// All places of the gradient, in their order; runs may be empty.
    pub runs: [ShownRun; 3],
}

impl ShownAxis {
    /// A dimension that was not continued.
    pub fn plain(size: i64) -> ShownAxis {
        let none = ShownRun::default();
        ShownAxis { size, runs: [none, ShownRun { first: 0, step: 1, length: size }, none] }
    }

    /// Places of the gradient.
    pub fn shown(&self) -> i64 {
        self.runs.iter().fold(0, |sum, run| sum.saturating_add(run.length))
    }

    /// The place of the input that each place of the gradient shows.
    pub fn places(&self) -> impl Iterator<Item = i64> {
        self.runs.iter().flat_map(|run| (0..run.length).map(|i| run.first.wrapping_add(i.wrapping_mul(run.step))))
    }
}

/// What a device needs: planes of depth, height and width, each place of which is `inner` elements.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PadGradientPlan {
    /// The number of planes.
    pub planes: usize,
    /// Depth, height and width.
    pub axes: [ShownAxis; 3],
    /// Neighbours that belong to one place: the channels where these lie side by side, else 1.
    pub inner: usize,
    /// Strides of a dense gradient whose places lie in the order of the output's.
    pub strides: DimVec,
    /// The output may overwrite the gradient, so this is to be copied first.
    pub copies: bool,
}

/// The gradient of the places that are shown.
pub struct PadGradient;

/// The inputs of a call.
///
/// Invariant: the gradient has as many places as the axes say, behind the dimensions of `outer`.
pub struct PadGradientInputs<'t> {
    grad: [Operand<'t>; 1],
    outer: SmallVec<[i64; 2]>,
    axes: SmallVec<[ShownAxis; 3]>,
    format: MemoryFormat,
}

impl<'t> PadGradientInputs<'t> {
    /// The gradient of an input that lies in a format and has these sizes before the continued ones.
    pub(crate) fn new(
        grad: Operand<'t>,
        outer: &[i64],
        axes: &[ShownAxis],
        format: MemoryFormat,
    ) -> PadGradientInputs<'t> {
        PadGradientInputs { grad: [grad], outer: outer.into(), axes: axes.into(), format }
    }

    /// The gradient of the continued tensor.
    pub fn grad(&self) -> &Operand<'t> {
        &self.grad[0]
    }
}

impl StructuredOp for PadGradient {
    const NAME: &'static str = "pad_backward";
    const OUTPUTS: usize = 1;
    type Inputs<'t> = PadGradientInputs<'t>;
    type Plan = PadGradientPlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.grad
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let (grad, outer) = (inputs.grad(), &inputs.outer);
        let device = grad.tensor().map_or(DeviceId::CPU, |t| t.device());
        let options = Options::new(grad.dtype().unwrap_or(DType::F32), device);
        let sizes: DimVec = outer.iter().copied().chain(inputs.axes.iter().map(|axis| axis.size)).collect();
        let strides = strides_for(&sizes, inputs.format)?;
        sink.set_output_strided(0, &sizes, &strides, options, None)?;
        let (_, copies) = check_overlap(&inputs.grad, sink, false)?;
        // With channels side by side these are the innermost dimension, else they are planes.
        let channels_last = inputs.format != MemoryFormat::Contiguous;
        let count = |sizes: &[i64]| sizes.iter().fold(1usize, |count, &size| count.saturating_mul(size as usize));
        let split = if channels_last { outer.len().saturating_sub(1) } else { outer.len() };
        let (planes, inner) = outer.split_at(split);
        let mut axes = [ShownAxis::plain(1); 3];
        axes.iter_mut().rev().zip(inputs.axes.iter().rev()).for_each(|(axis, given)| *axis = *given);
        let strides = strides_for(grad.sizes(), inputs.format)?;
        *plan = PadGradientPlan { planes: count(planes), axes, inner: count(inner), strides, copies };
        Ok(())
    }
}
