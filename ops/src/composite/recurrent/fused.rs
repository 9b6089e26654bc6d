//! One step of a recurrent cell behind its products, composed: what serves devices without a kernel of it. Gates are
//! activated where they lie, so that they end as the workspace.
#![deny(clippy::arithmetic_side_effects)]

use super::super::callees::Callees;
use super::super::products::Multiplies;
use super::super::steps::Steps;
use super::super::{in_dtype, operand, tensor};
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, IValue, MemoryFormat, Result};

/// The operands of a step, in the dtype that kernels compute in: float32 for halves, which are rounded once.
struct Operands {
    input: AnyTensor,
    hidden: AnyTensor,
    state: AnyTensor,
    size: i64,
}

impl Operands {
    /// Gates with their biases, and the state.
    fn of(calls: &Calls<'_>, gates: [&IValue; 2], state: &IValue, biases: [&IValue; 2]) -> Result<Operands> {
        let dtype = match tensor(state, "state")?.dtype() {
            DType::F64 => DType::F64,
            _ => DType::F32,
        };
        let wide = |value: &IValue| in_dtype(calls, value, dtype);
        let biased = |gates: &IValue, bias: &IValue| match operand(bias).is_absent() {
            true => wide(gates)?.into_tensor().map_or_else(|| tensor(gates, "gates").cloned(), Ok),
            false => calls.add(wide(gates)?, wide(bias)?),
        };
        let (input, hidden) = (biased(gates[0], biases[0])?, biased(gates[1], biases[1])?);
        let state = calls.cast(tensor(state, "state")?.clone(), dtype)?;
        let size = state.sizes().last().copied().unwrap_or(0);
        Ok(Operands { input, hidden, state, size })
    }

    /// `count` gates, behind so many.
    fn gates(&self, calls: &Calls<'_>, t: &AnyTensor, first: i64, count: i64) -> Result<AnyTensor> {
        calls.narrow(t, 1, first.saturating_mul(self.size), count.saturating_mul(self.size))
    }
}

/// An activation of a tensor of the composition's own, in its place.
fn activate(calls: &Calls<'_>, name: &str, gates: AnyTensor) -> Result<AnyTensor> {
    calls.tensor(name, [gates.into()])
}

/// `_thnn_fused_lstm_cell`.
pub fn lstm(
    calls: &Calls<'_>,
    input_gates: &IValue,
    hidden_gates: &IValue,
    cx: &IValue,
    input_bias: &IValue,
    hidden_bias: &IValue,
) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
    let dtype = tensor(cx, "cx")?.dtype();
    let operands = Operands::of(calls, [input_gates, hidden_gates], cx, [input_bias, hidden_bias])?;
    let workspace = calls.add(operands.hidden.clone(), operands.input.clone())?;
    let gates = |first, count| operands.gates(calls, &workspace, first, count);
    activate(calls, "sigmoid_", gates(0, 2)?)?;
    let (enter, forget) = (gates(0, 1)?, gates(1, 1)?);
    let new = activate(calls, "tanh_", gates(2, 1)?)?;
    let leave = activate(calls, "sigmoid_", gates(3, 1)?)?;
    let kept = calls.mul(forget, operands.state.clone())?;
    let cell = calls.add_to(kept, &calls.mul(enter, new)?)?;
    let hidden = calls.mul(leave, calls.unary("tanh", cell.clone())?)?;
    Ok((calls.cast(hidden, dtype)?, calls.cast(cell, dtype)?, calls.cast(workspace, dtype)?))
}

/// `_thnn_fused_gru_cell`.
pub fn gru(
    calls: &Calls<'_>,
    input_gates: &IValue,
    hidden_gates: &IValue,
    hx: &IValue,
    input_bias: &IValue,
    hidden_bias: &IValue,
) -> Result<(AnyTensor, AnyTensor)> {
    let dtype = tensor(hx, "hx")?.dtype();
    let operands = Operands::of(calls, [input_gates, hidden_gates], hx, [input_bias, hidden_bias])?;
    let Operands { input, hidden, state, size } = &operands;
    let sizes = [state.sizes().first().copied().unwrap_or(0), size.saturating_mul(5)];
    let workspace = calls.empty(&sizes, state.dtype(), state.device(), MemoryFormat::Contiguous)?;
    let part = |first, count| operands.gates(calls, &workspace, first, count);
    let (both, new, of_hidden) = (part(0, 2)?, part(2, 1)?, part(4, 1)?);
    calls.copy_into(both.clone(), &operands.gates(calls, hidden, 0, 2)?)?;
    let both = calls.add_to(both, &operands.gates(calls, input, 0, 2)?)?;
    activate(calls, "sigmoid_", both)?;
    let (reset, update) = (part(0, 1)?, part(1, 1)?);
    calls.copy_into(part(3, 1)?, state)?;
    calls.copy_into(of_hidden.clone(), &operands.gates(calls, hidden, 2, 1)?)?;
    calls.copy_into(new.clone(), &of_hidden)?;
    let new = calls.tensor("mul_.Tensor", [new.into(), reset.into()])?;
    let new = calls.add_to(new, &operands.gates(calls, input, 2, 1)?)?;
    let new = activate(calls, "tanh_", new)?;
    let difference = calls.mul(calls.sub(state.clone(), new.clone())?, update)?;
    let hidden = calls.add_to(difference, &new)?;
    Ok((calls.cast(hidden, dtype)?, calls.cast(workspace, dtype)?))
}
