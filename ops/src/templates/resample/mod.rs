//! The resampling template: every element of the output is a sum of weighted elements of the input, with weights that
//! are products of those of each dimension ([`ResampleAxis`]); gradients are the same with the weights transposed. Owns
//! the plan and the operator; the modes are arguments of it.
//!
//! ```text
//!   input   x0    x1    x2    x3        out[o] = Σ weight[o, i] · x[i]
//!            ╲   ╱ ╲   ╱ ╲   ╱          nearest 1, linear 2, cubic 4 elements; with antialiasing as many as lie
//!   output    o0    o1    o2            between neighbouring outputs
//! ```
#![allow(clippy::many_single_char_names, reason = "rows of formulas")]

pub mod rows;
pub mod sized;
mod taps;

pub use taps::{Mode, Precision, ResampleAxis, Taps};

use crate::order::check_overlap;
use monomorph_core::strides::suggest_format;
use monomorph_core::structured::{Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, ErrorKind, MemoryFormat, Options, Result};
use smallvec::SmallVec;
use std::marker::PhantomData;

mod sealed {
    /// Devices follow plans without looking: only operators of this module may write them.
    pub trait Sealed {}
}
use sealed::Sealed;

/// An operator: its name, its mode and what it takes.
pub trait ResampleFn: Sealed + Sized + 'static {
    /// The name that errors carry.
    const NAME: &'static str;
    /// How elements are made.
    const MODE: Mode;
    /// The number of dimensions that are resampled, the last ones.
    const DIMS: usize;
    /// It is the gradient of the operator.
    const BACKWARD: bool;
}

/// The operator of `F`.
pub struct Resampled<F>(PhantomData<fn() -> F>);

/// The arguments of a call besides the tensor.
#[derive(Clone, Default, Debug)]
pub struct Resizing<'t> {
    /// Elements of the output in each dimension.
    pub output_size: SmallVec<[i64; 3]>,
    /// The sizes of the input, for a gradient.
    pub input_size: Option<&'t [i64]>,
    /// See [`ResampleAxis`].
    pub align_corners: bool,
    /// Outputs per input of each dimension, where the caller gave it.
    pub scales: [Option<f64>; 3],
}

/// The inputs of a call.
pub struct ResampleInputs<'t> {
    operand: [Operand<'t>; 1],
    resizing: Resizing<'t>,
}

impl<'t> ResampleInputs<'t> {
    /// A tensor, and what becomes of it.
    pub fn new(operand: Operand<'t>, resizing: Resizing<'t>) -> Self {
        ResampleInputs { operand: [operand], resizing }
    }

    /// The tensor.
    pub fn operand(&self) -> &Operand<'t> {
        &self.operand[0]
    }
}

/// What a device needs besides the operand.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ResamplePlan {
    /// The dimensions that are resampled, the last ones.
    pub axes: SmallVec<[ResampleAxis; 3]>,
    /// Weights are transposed.
    pub backward: bool,
    /// The output may share memory with itself, so it has to be written by one thread.
    pub serial: bool,
    /// The output may overwrite elements of the input that are still to be read.
    pub copies: bool,
}

impl<F: ResampleFn> StructuredOp for Resampled<F> {
    const NAME: &'static str = F::NAME;
    const OUTPUTS: usize = 1;
    type Inputs<'t> = ResampleInputs<'t>;
    type Plan = ResamplePlan;
    type Home = F;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operand
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let rule = Rule { mode: F::MODE, dims: F::DIMS, backward: F::BACKWARD };
        *plan = rule.plan(inputs, sink)?;
        (plan.serial, plan.copies) = check_overlap(&inputs.operand, sink, false)?;
        Ok(())
    }
}

/// What operators differ in.
struct Rule {
    mode: Mode,
    dims: usize,
    backward: bool,
}

impl Rule {
    fn plan(&self, inputs: &ResampleInputs<'_>, sink: &mut SinkState<'_>) -> Result<ResamplePlan> {
        let (operand, resizing) = (inputs.operand(), &inputs.resizing);
        let n = self.dims;
        if resizing.output_size.len() != n {
            let got = resizing.output_size.len();
            return Err(ErrorKind::ListLength { arg: "output_size", got, want: n }.into());
        }
        let absent = ErrorKind::ArgumentRule { rule: "a tensor is absent; accepted is one of images" };
        let dtype = operand.dtype().ok_or(absent)?;
        let arg = if self.backward { "grad_output" } else { "self" };
        if let Some(got) = resizing.input_size.map(<[i64]>::len).filter(|len| *len != n + 2) {
            return Err(ErrorKind::ListLength { arg: "input_size", got, want: n + 2 }.into());
        }
        if operand.sizes().len() != n + 2 {
            let (got, accepted) = (operand.sizes().len(), ["3", "4", "5"][n - 1]);
            return Err(ErrorKind::DimCount { arg, got, accepted }.into());
        }
        let input = resizing.input_size.unwrap_or(operand.sizes());
        let of_input = if self.backward { "input_size" } else { "self.size" };
        for (arg, sizes) in [("output_size", &resizing.output_size[..]), (of_input, &input[2..])] {
            if let Some(&got) = sizes.iter().find(|size| **size < 1) {
                return Err(ErrorKind::OutOfRange { arg, got, low: 1, high: i64::MAX }.into());
            }
        }
        // A batch may be empty.
        if !self.backward && input[1] < 1 {
            return Err(ErrorKind::OutOfRange { arg: "self.size", got: input[1], low: 1, high: i64::MAX }.into());
        }
        let whole = |outer: &[i64], inner: &[i64]| outer.iter().chain(inner).copied().collect::<SmallVec<[i64; 5]>>();
        let output = whole(&input[..2], &resizing.output_size);
        if self.backward && operand.sizes() != output.as_slice() {
            let (got, want) = (operand.sizes().to_vec(), output.to_vec());
            return Err(ErrorKind::UnequalSizes { arg, got, want }.into());
        }
        self.check_dtype(dtype, arg)?;
        let suggested = suggest_format(operand.sizes(), operand.strides());
        let device = operand.tensor().map_or(DeviceId::CPU, |t| t.device());
        let options = Options { memory_format: Some(self.format(suggested)), ..Options::new(dtype, device) };
        let sizes = if self.backward { input } else { &output };
        sink.set_output_raw_strided(0, sizes, None, options, None)?;
        let plain = self.is_plain(&output, suggested != MemoryFormat::Contiguous);
        let axis = |d: usize| ResampleAxis {
            input: input[d + 2],
            output: resizing.output_size[d],
            mode: self.mode,
            align_corners: resizing.align_corners,
            scale: resizing.scales[d],
            plain,
        };
        Ok(ResamplePlan { axes: (0..n).map(axis).collect(), backward: self.backward, ..ResamplePlan::default() })
    }

    fn check_dtype(&self, got: DType, arg: &'static str) -> Result<()> {
        let is_wide = matches!(got, DType::F32 | DType::F64);
        // In one and three dimensions, bytes have nearest elements only.
        let bytes = !self.backward && (self.mode.is_nearest() || self.dims == 2);
        let is_taken = is_wide || got.is_floating() && !self.mode.is_smooth() || got == DType::U8 && bytes;
        if is_taken {
            return Ok(());
        }
        let what = if arg == "self" { "argument self has dtype" } else { "argument grad_output has dtype" };
        let accepted = match (self.mode.is_smooth(), bytes) {
            (true, true) => "float32, float64 and uint8",
            (true, false) => "float32 and float64",
            (false, true) => "floats and uint8",
            (false, false) => "floating dtypes",
        };
        Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
    }

    /// The format of a new output: mostly that of the input.
    fn format(&self, suggested: MemoryFormat) -> MemoryFormat {
        let cubic = matches!(self.mode, Mode::Cubic | Mode::SmoothCubic | Mode::SmoothLanczos);
        let is_row_major = self.backward && (cubic || self.mode.is_nearest() && self.dims == 3);
        if self.dims == 1 || is_row_major { MemoryFormat::Contiguous } else { suggested }
    }

    /// Which of its two ways to find elements PyTorch takes: that of gradients, of images with channels side by side,
    /// and of small ones.
    fn is_plain(&self, output: &[i64], channels_last: bool) -> bool {
        let is_small = self.dims == 2 && output[2].saturating_add(output[3]) <= 128;
        let side_by_side = self.dims > 1 && channels_last && output[1] > 3;
        let has_two = self.mode.is_nearest() || self.mode == Mode::Linear;
        has_two && (self.backward || is_small || side_by_side)
    }
}
