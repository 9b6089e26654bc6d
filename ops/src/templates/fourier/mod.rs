//! Discrete Fourier transforms: of complex numbers, of real ones, and back to real ones. Owns checks, sizes and
//! layouts; how a device computes them is its own matter. The functions of `torch.fft` are composed of these (`one.rs`,
//! `several.rs`), and so are those that transform a signal piece by piece (`frames.rs`, `signal.rs`).
#![deny(clippy::arithmetic_side_effects)]

mod composed;
pub mod frames;
mod layout;
mod lengths;
pub mod one;
mod pieces;
pub mod several;
pub mod shift;
pub mod signal;

pub use layout::{Order, strides_in};

use crate::order::check_overlap;
use crate::table::native;
use layout::{as_it_lies, transformed};
use monomorph_core::strides::{self, DimVec};
use monomorph_core::structured::{FromArgs, Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, ErrorKind, Options, Result};
use smallvec::SmallVec;
use std::marker::PhantomData;

/// From what to what, and in which direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Complex numbers to complex numbers.
    Complex {
        /// With exp(−2πi·jk/n); else its conjugate.
        forward: bool,
    },
    /// Real numbers to complex numbers, forward.
    FromReal {
        /// Only the first half along the last dimension that is transformed: the other mirrors it.
        onesided: bool,
    },
    /// Complex numbers, of which along the last dimension that is transformed the first half counts, to so many real
    /// numbers, backward.
    ToReal {
        /// Elements of the result along that dimension.
        size: i64,
    },
}

/// One of the three operators.
pub trait Transform: 'static {
    /// Its name.
    const NAME: &'static str;
    /// The type of its last argument.
    type Argument;
    /// What the last argument says.
    fn direction(argument: Self::Argument) -> Direction;
}

/// Of complex numbers.
pub struct OfComplex;

/// Of real numbers.
pub struct OfReal;

/// To real numbers.
pub struct ToReal;

impl Transform for OfComplex {
    const NAME: &'static str = "_fft_c2c";
    type Argument = bool;
    fn direction(forward: bool) -> Direction {
        Direction::Complex { forward }
    }
}

impl Transform for OfReal {
    const NAME: &'static str = "_fft_r2c";
    type Argument = bool;
    fn direction(onesided: bool) -> Direction {
        Direction::FromReal { onesided }
    }
}

impl Transform for ToReal {
    const NAME: &'static str = "_fft_c2r";
    type Argument = i64;
    fn direction(size: i64) -> Direction {
        Direction::ToReal { size }
    }
}

/// A transform as an operator.
pub struct Fourier<T>(PhantomData<T>);

/// The inputs of a call.
pub struct FourierInputs<'t, T> {
    operand: [Operand<'t>; 1],
    dims: &'t [i64],
    normalization: i64,
    direction: Direction,
    of: PhantomData<T>,
}

impl<'t, T> FourierInputs<'t, T> {
    /// What is transformed.
    pub fn operand(&self) -> &Operand<'t> {
        &self.operand[0]
    }
}

impl<'t, T: Transform, A: Into<Operand<'t>>> FromArgs<(A, &'t [i64], i64, T::Argument)> for FourierInputs<'t, T> {
    fn from_args((operand, dims, normalization, argument): (A, &'t [i64], i64, T::Argument)) -> Result<Self> {
        let (operand, direction) = ([operand.into()], T::direction(argument));
        Ok(FourierInputs { operand, dims, normalization, direction, of: PhantomData })
    }
}

/// What a device needs besides the operand.
#[derive(Clone, Debug)]
pub struct FourierPlan {
    /// From what to what.
    pub direction: Direction,
    /// The dimensions as they lie in the output, the outermost first. That along which there are real numbers is the
    /// innermost.
    pub order: Order,
    /// Along which of them, as positions in `order`, complex numbers are transformed.
    pub axes: SmallVec<[usize; 6]>,
    /// What the sums are multiplied by.
    pub scale: f64,
    /// The output may overwrite the input, so that is to be copied first.
    pub copies: bool,
}

impl Default for FourierPlan {
    fn default() -> Self {
        let direction = Direction::Complex { forward: true };
        FourierPlan { direction, order: Order::new(), axes: SmallVec::new(), scale: 1.0, copies: false }
    }
}

impl<T: Transform> StructuredOp for Fourier<T> {
    const NAME: &'static str = T::NAME;
    const OUTPUTS: usize = 1;
    type Inputs<'t> = FourierInputs<'t, T>;
    type Plan = FourierPlan;
    type Home = T;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operand
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let FourierInputs { operand, dims, normalization, direction, .. } = inputs;
        *plan = planned(operand, dims, *normalization, *direction, sink)?;
        Ok(())
    }
}

/// Checks the call and declares its output.
fn planned(
    operand: &[Operand<'_>; 1],
    dims: &[i64],
    normalization: i64,
    direction: Direction,
    sink: &mut SinkState<'_>,
) -> Result<FourierPlan> {
    let [input] = operand;
    let (sizes, input_strides) = (input.sizes(), input.strides());
    let dtype = output_dtype(input.dtype().unwrap_or(DType::F32), direction)?;
    let dims = wrapped(dims, sizes)?;
    let mut output: DimVec = sizes.into();
    let last = match (direction, dims.last()) {
        (Direction::Complex { .. }, _) => None,
        (_, None) => return Err(ErrorKind::ListLength { arg: "dim", got: 0, want: 1 }.into()),
        (_, Some(&last)) => Some(last),
    };
    if let Some(last) = last {
        output[last] = last_size(sizes[last], direction)?;
    }
    let is_empty = output.contains(&0);
    if !is_empty {
        check_sizes(sizes, &dims, last, direction)?;
    }
    let order = match direction {
        // A copy as it lies.
        _ if dims.is_empty() => as_it_lies(&strides::preserve_strides(sizes, input_strides)),
        _ if is_empty => (0..sizes.len()).collect(),
        Direction::Complex { .. } => transformed(input_strides, &dims, None),
        Direction::FromReal { .. } => transformed(input_strides, &dims, last),
        // First of complex numbers, along all dimensions but the last.
        Direction::ToReal { .. } => {
            let others = dims.split_last().map_or(&[][..], |(_, others)| others);
            let between = match others {
                [] => input_strides.into(),
                others => strides_in(&transformed(input_strides, others, None), sizes),
            };
            transformed(&between, &[], last)
        }
    };
    let device = input.tensor().map_or(DeviceId::CPU, |t| t.device());
    let options = Options::new(dtype, device);
    let output_strides = match dims.is_empty() {
        true => strides::preserve_strides(sizes, input_strides),
        false => strides_in(&order, &output),
    };
    sink.set_output_strided(0, &output, &output_strides, options, None)?;
    let (_, copies) = check_overlap(operand, sink, false)?;
    let axes = (0..order.len()).filter(|&at| dims.contains(&order[at]) && last != Some(order[at])).collect();
    let elements = dims.iter().map(|&dim| sizes[dim].max(output[dim]) as f64).product::<f64>();
    let scale = match normalization {
        0 => 1.0,
        1 => 1.0 / elements.sqrt(),
        _ => 1.0 / elements,
    };
    Ok(FourierPlan { direction, order, axes, scale, copies })
}

/// The dimensions, none of them twice.
fn wrapped(dims: &[i64], sizes: &[i64]) -> Result<Order> {
    strides::wrap_dims(dims, sizes.len(), "dim")?;
    lengths::check_dims(sizes.len(), !dims.is_empty())?;
    dims.iter().map(|&dim| strides::wrap_dim(dim, sizes.len(), "dim")).collect()
}

/// The dtype of the output.
fn output_dtype(got: DType, direction: Direction) -> Result<DType> {
    let (accepts, accepted, output) = match direction {
        Direction::FromReal { .. } => (matches!(got, DType::F32 | DType::F64), "float32 and float64", got.to_complex()),
        Direction::Complex { .. } => (got.is_complex(), "complex64 and complex128", got),
        Direction::ToReal { .. } => (got.is_complex(), "complex64 and complex128", got.to_real()),
    };
    match accepts {
        true => Ok(output),
        false => Err(ErrorKind::DTypeNotSupported { what: "argument self has dtype", got, accepted }.into()),
    }
}

/// The size of the output along the last dimension.
fn last_size(input: i64, direction: Direction) -> Result<i64> {
    match direction {
        Direction::ToReal { size: got } if got < 0 => {
            Err(ErrorKind::OutOfRange { arg: "last_dim_size", got, low: 0, high: i64::MAX }.into())
        }
        Direction::ToReal { size } => Ok(size),
        Direction::FromReal { onesided: true } => Ok(lengths::half(input)),
        _ => Ok(input),
    }
}

/// Whether there is something to transform; in front of real numbers there must be half as many complex ones, or all.
fn check_sizes(sizes: &[i64], dims: &[usize], last: Option<usize>, direction: Direction) -> Result<()> {
    if dims.iter().any(|&dim| sizes[dim] == 0) {
        let rule = "argument self has no elements along a dimension that is transformed; accepted is one or more";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    if let (Direction::ToReal { size }, Some(last)) = (direction, last)
        && ![size, lengths::half(size)].contains(&sizes[last])
    {
        let mut want = sizes.to_vec();
        want[last] = lengths::half(size);
        return Err(ErrorKind::UnequalSizes { arg: "self", got: sizes.to_vec(), want }.into());
    }
    Ok(())
}

native! {
    family: FourierTransforms;

    func: _fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor,
    out_copied: _fft_c2c.out, structured: Fourier<OfComplex>;

    func: _fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor,
    out_copied: _fft_r2c.out, structured: Fourier<OfReal>;

    func: _fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor,
    out_copied: _fft_c2r.out, structured: Fourier<ToReal>;
}
