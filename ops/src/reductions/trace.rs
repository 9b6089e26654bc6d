//! `trace`: the sum of the diagonal of a matrix, one element after the other: integers in int64, wrapping, halves in
//! float32, float32 in float64, complex numbers in the same way by their parts.
#![deny(clippy::arithmetic_side_effects)]

use crate::composite::diagonal::check_trace;
use crate::order::check_overlap;
use crate::table::native;
use monomorph_core::structured::{FromArgs, Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, ErrorKind, Options, Result};

/// The operator.
pub struct Trace;

/// The inputs of a call.
pub struct TraceInputs<'t>([Operand<'t>; 1]);

impl<'t> TraceInputs<'t> {
    /// The matrix.
    pub fn operand(&self) -> &Operand<'t> {
        &self.0[0]
    }
}

impl<'t, A: Into<Operand<'t>>> FromArgs<(A,)> for TraceInputs<'t> {
    fn from_args((matrix,): (A,)) -> Result<Self> {
        Ok(TraceInputs([matrix.into()]))
    }
}

/// What a device needs besides the matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TracePlan {
    /// Elements of the diagonal.
    pub length: usize,
}

impl StructuredOp for Trace {
    const NAME: &'static str = "trace";
    const OUTPUTS: usize = 1;
    type Inputs<'t> = TraceInputs<'t>;
    type Plan = TracePlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.0
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let operand = inputs.operand();
        let absent = ErrorKind::ArgumentRule { rule: "argument self is absent; a trace is that of a matrix" };
        let dtype = operand.dtype().ok_or(absent)?;
        check_trace(operand.sizes(), dtype)?;
        let device = operand.tensor().map_or(DeviceId::CPU, |t| t.device());
        let of_sum = if dtype.is_integral(true) { DType::I64 } else { dtype };
        sink.set_output_contiguous(0, &[], Options::new(of_sum, device), None)?;
        check_overlap(&inputs.0, sink, false)?;
        let length = operand.sizes().iter().copied().min().unwrap_or(0);
        *plan = TracePlan { length: length as usize };
        Ok(())
    }
}

native! {
    family: Traces;

    func: trace(Tensor self) -> Tensor,
    autogen: trace.out, structured: Trace, otherwise: explicit crate::composite::diagonal::trace;
}
