//! The window template: every element of the output is a fold over a window of the input, in one, two or three
//! dimensions. Owns the plan, and the operator that every plan makes.
//!
//! ```text
//!             d, h, w: windows of each dimension         the fold, in row-major order of the window
//!   input     ┌────┬────┬──                              max     the largest, NaN above all, and where it was
//!    [.. D H W]    │    │          output                mean    the sum over the number of places
//!             └────┴────┴──  ─►     [.. D' H' W']        spread  the gradient of the mean: over the windows that
//!                                                                cover a place, each over its own number
//! ```
//!
//! Windows are the product of those of each dimension ([`WindowAxis`]); the leading dimensions are planes, each by
//! itself. An operator is a function from its arguments to a plan ([`WindowFn`]). Devices run plans; none of them knows
//! an operator.

pub mod adaptive;
pub mod averages;
mod axis;
pub mod derived;
pub mod fractional;
pub mod gradients;
pub mod maxima;
mod sliding;

pub use axis::{Layout, Window, WindowAxis};
pub use sliding::Pool;

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

/// An operator as a function from arguments to a plan. Sealed, since devices trust plans.
pub trait WindowFn: Sealed + Sized + 'static {
    /// The name that errors carry.
    const NAME: &'static str;
    /// The number of outputs: of maxima their places are one.
    const OUTPUTS: usize;
    /// The type of what the operator is given besides tensors. Varies per family.
    type Parameters<'t>;

    /// Checks the arguments, declares the outputs, and says what windows there are.
    fn plan(
        operands: &[Operand<'_>],
        parameters: &Self::Parameters<'_>,
        sink: &mut SinkState<'_>,
    ) -> Result<WindowPlan>;
}

/// The operator of `F`.
pub struct Windowed<F>(PhantomData<fn() -> F>);

/// The inputs of a call.
pub struct WindowInputs<'t, P> {
    operands: SmallVec<[Operand<'t>; 2]>,
    parameters: P,
}

impl<'t, P> WindowInputs<'t, P> {
    /// Tensors, of which the first is the one that windows are of, and parameters.
    pub fn new<const N: usize>(operands: [Operand<'t>; N], parameters: P) -> Self {
        WindowInputs { operands: operands.into_iter().collect(), parameters }
    }

    /// The tensors.
    pub fn operands(&self) -> &[Operand<'t>] {
        &self.operands
    }
}

/// How a window becomes an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fold {
    /// The largest element, and its place in the plane.
    #[default]
    Max,
    /// The sum over the divisor.
    Mean(Divisor),
    /// The sum over windows that cover a place, each over its divisor.
    Spread(Divisor),
}

/// What a sum is divided by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Divisor {
    /// A number.
    Fixed(i64),
    /// The size of the window.
    Size,
    /// The size of the window in each dimension, one after the other, from the first one on.
    Sizes,
}

/// What a device needs besides the operands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WindowPlan {
    /// How a window becomes an element.
    pub fold: Fold,
    /// The windows of the last dimensions.
    pub axes: SmallVec<[WindowAxis; 3]>,
    /// The outputs may share memory with each other, so they have to be written one after another.
    pub serial: bool,
    /// An output may overwrite elements of the input that are still to be read.
    pub copies: bool,
}

impl<F: WindowFn> StructuredOp for Windowed<F> {
    const NAME: &'static str = F::NAME;
    const OUTPUTS: usize = F::OUTPUTS;
    type Inputs<'t> = WindowInputs<'t, F::Parameters<'t>>;
    type Plan = WindowPlan;
    type Home = F;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        *plan = F::plan(&inputs.operands, &inputs.parameters, sink)?;
        (plan.serial, plan.copies) = check_overlap(&inputs.operands, sink, false)?;
        Ok(())
    }
}

/// A set of dtypes, and its words.
type Dtypes = (u16, &'static str);

/// A tensor of planes: dimensions before the last `n`, one or two, and those.
pub(crate) struct Planes<'a> {
    pub(crate) dtype: DType,
    pub(crate) device: DeviceId,
    pub(crate) outer: &'a [i64],
    pub(crate) inner: &'a [i64],
    pub(crate) format: MemoryFormat,
}

impl<'a> Planes<'a> {
    /// The operand, if it has as many dimensions, and elements but for an empty batch.
    pub(crate) fn of(operand: &Operand<'a>, n: usize, arg: &'static str) -> Result<Planes<'a>> {
        Planes::with_empty(operand, n, arg, operand.sizes().len().saturating_sub(n + 1))
    }

    /// The same, where the first `leading` dimensions may be empty.
    pub(crate) fn with_empty(operand: &Operand<'a>, n: usize, arg: &'static str, leading: usize) -> Result<Planes<'a>> {
        let absent = ErrorKind::ArgumentRule { rule: "a tensor is absent; accepted is one of planes" };
        let dtype = operand.dtype().ok_or(absent)?;
        let sizes = operand.sizes();
        if sizes.len() != n + 1 && sizes.len() != n + 2 {
            let accepted = if n == 2 { "3 or 4" } else { "4 or 5" };
            return Err(ErrorKind::DimCount { arg, got: sizes.len(), accepted }.into());
        }
        let (outer, inner) = sizes.split_at(sizes.len() - n);
        if let Some(&got) = sizes.iter().skip(leading).find(|size| **size == 0) {
            return Err(ErrorKind::OutOfRange { arg: "self.size", got, low: 1, high: i64::MAX }.into());
        }
        let device = operand.tensor().map_or(DeviceId::CPU, |t| t.device());
        Ok(Planes { dtype, device, outer, inner, format: suggest_format(sizes, operand.strides()) })
    }

    /// An error for a dtype that is not one of these.
    pub(crate) fn check_dtype(&self, (mask, accepted): Dtypes) -> Result<()> {
        if mask.checked_shr(self.dtype as u32).is_some_and(|bits| bits & 1 == 1) {
            return Ok(());
        }
        let (what, got) = ("argument self has dtype", self.dtype);
        Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
    }

    /// Declares an output of planes of these sizes. One that is new or resized has the `format`.
    pub(crate) fn declare(
        &self,
        sink: &mut SinkState<'_>,
        i: usize,
        (dtype, inner): (DType, &[i64]),
        format: MemoryFormat,
    ) -> Result<()> {
        let sizes: SmallVec<[i64; 6]> = self.outer.iter().chain(inner).copied().collect();
        let options = Options { memory_format: Some(format), ..Options::new(dtype, self.device) };
        sink.set_output_raw_strided(i, &sizes, None, options, None)
    }
}

/// Bits of dtypes.
const fn mask(dtypes: &[DType]) -> u16 {
    let (mut mask, mut i) = (0, 0);
    while i < dtypes.len() {
        mask |= 1 << dtypes[i] as u16;
        i += 1;
    }
    mask
}

const FLOATS: Dtypes = (mask(&[DType::F16, DType::BF16, DType::F32, DType::F64]), "floating dtypes");
