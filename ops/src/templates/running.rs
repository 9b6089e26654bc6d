//! Running extremes, `cummax` and `cummin`: of all elements up to each, the extreme and where it is. Owns the meta
//! function and the rows; devices have loops of their own, since an extreme is two outputs and no accumulator.

use super::scan::check_overlap;
use crate::table::native;
use monomorph_core::overlap::{self, Place, Shared};
use monomorph_core::strides::wrap_dim;
use monomorph_core::structured::{FromArgs, Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, ErrorKind, Geometry, Options, Result};
use std::marker::PhantomData;

/// Which extreme.
pub trait RunningFn: Sized + Send + Sync + 'static {
    /// The name that errors carry.
    const NAME: &'static str;
    /// The largest element; else the smallest.
    const IS_LARGEST: bool;
}

/// `cummax`.
pub struct CummaxFn;
impl RunningFn for CummaxFn {
    const NAME: &'static str = "cummax";
    const IS_LARGEST: bool = true;
}

/// `cummin`.
pub struct CumminFn;
impl RunningFn for CumminFn {
    const NAME: &'static str = "cummin";
    const IS_LARGEST: bool = false;
}

/// The operator of running extremes `F`.
pub struct Running<F>(PhantomData<fn() -> F>);

impl<F> crate::table::Template for Running<F> {
    type Body = F;
}

/// The inputs of a call.
pub struct RunningInputs<'t> {
    operand: [Operand<'t>; 1],
    dim: i64,
}

impl<'t> RunningInputs<'t> {
    /// The tensor, or a number in place of one.
    pub fn operand(&self) -> &Operand<'t> {
        &self.operand[0]
    }
}

impl<'t, A: Into<Operand<'t>>> FromArgs<(A, i64)> for RunningInputs<'t> {
    fn from_args((operand, dim): (A, i64)) -> Result<Self> {
        Ok(RunningInputs { operand: [operand.into()], dim })
    }
}

/// What a device needs besides the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RunningPlan {
    /// The dimension along which extremes run; `None` for a tensor without dimensions, which is its own extreme.
    pub dim: Option<usize>,
    /// Lines of an output may share memory with each other, so they have to be computed one after another.
    pub serial: bool,
    /// An output may overwrite elements of the input that are still to be read, so that is to be copied first.
    pub copies: bool,
}

impl<F: RunningFn> StructuredOp for Running<F> {
    const NAME: &'static str = F::NAME;
    const OUTPUTS: usize = 2;
    type Inputs<'t> = RunningInputs<'t>;
    type Plan = RunningPlan;
    type Home = F;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operand
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        *plan = plan_call(inputs, sink)?;
        Ok(())
    }
}

fn plan_call(inputs: &RunningInputs<'_>, sink: &mut SinkState<'_>) -> Result<RunningPlan> {
    let operand = inputs.operand();
    let absent = ErrorKind::ArgumentRule { rule: "argument self is absent; a running extreme needs a tensor" };
    let dtype = operand.dtype().ok_or(absent)?;
    let sizes = operand.sizes();
    let dim = wrap_dim(inputs.dim, sizes.len(), "dim")?;
    let device = operand.tensor().map_or(DeviceId::CPU, |t| t.device());
    let names = operand.geometry().and_then(Geometry::names).cloned();
    for (index, dtype) in [dtype, DType::I64].into_iter().enumerate() {
        sink.set_output_raw_strided(index, sizes, None, Options::new(dtype, device), names.clone())?;
    }
    if dtype.is_complex() && !sizes.is_empty() && !sizes.contains(&0) {
        let (what, accepted) = ("elements are compared in dtype", "real dtypes and bool");
        return Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into());
    }
    if sizes.contains(&0) {
        return Ok(RunningPlan::default());
    }
    let mut plan = RunningPlan { dim: (!sizes.is_empty()).then_some(dim), serial: false, copies: false };
    for index in 0..2 {
        let (serial, copies) = check_overlap(operand, index == 0, sink, index)?;
        plan = RunningPlan { serial: plan.serial | serial, copies: plan.copies | copies, ..plan };
    }
    check_apart(sink)?;
    Ok(plan)
}

/// An error if both outputs share memory.
fn check_apart(sink: &SinkState<'_>) -> Result<()> {
    let place = |i| Some(Place::of(sink.existing(i)?, sink.written(i)?));
    let (Some(values), Some(indices)) = (place(0), place(1)) else { return Ok(()) };
    match overlap::shared(&values, &indices) {
        Shared::None | Shared::Unknown => Ok(()),
        _ => Err(ErrorKind::Overlap { output: 0, other: "output 1".into() }.into()),
    }
}

native! {
    family: Runnings;

    /// The largest of all elements up to each along the dimension `dim`, and its index.
    ///
    /// The first result has the dtype of the tensor, the second is int64. Of equal elements it is the last one so far.
    /// From the first NaN on, all is NaN. Complex numbers are an error.
    ///
    /// ```
    /// let (values, indices) = tensor![1, 3, 2, 3].cummax(0)?;
    /// assert_eq!(values.to_vec::<i32>()?, [1, 3, 3, 3]);
    /// assert_eq!(indices.to_vec::<i64>()?, [0, 1, 1, 3]);
    /// ```
    func: cummax(Tensor self, int dim) -> (Tensor values, Tensor indices),
    out: cummax.out, variants: function, method, structured: Running<CummaxFn>;

    /// The smallest of all elements up to each along the dimension `dim`, and its index.
    ///
    /// The first result has the dtype of the tensor, the second is int64. Of equal elements it is the last one so far.
    /// From the first NaN on, all is NaN. Complex numbers are an error.
    ///
    /// ```
    /// let (values, indices) = tensor![2, 3, 1, 2].cummin(0)?;
    /// assert_eq!(values.to_vec::<i32>()?, [2, 2, 1, 1]);
    /// assert_eq!(indices.to_vec::<i64>()?, [0, 0, 2, 2]);
    /// ```
    func: cummin(Tensor self, int dim) -> (Tensor values, Tensor indices),
    out: cummin.out, variants: function, method, structured: Running<CumminFn>;
}
