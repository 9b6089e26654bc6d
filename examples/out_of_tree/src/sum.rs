//! A kernel of the reduction template: `sum`.

use crate::add::{COMPUTED, plus, unsupported};
use crate::device::Arena;
use crate::memory::arena;
use crate::walk::{Elements, byte_strides, each};
use monomorph::crates::core::structured::{Executes, Operand, Outputs};
use monomorph::crates::ops::reduce::{ReduceInputs, ReducePlan, Sum, SumFn};
use monomorph::{DType, Geometry, Result, Scalar};

/// A call bound to memory.
#[derive(Debug)]
pub struct Ready {
    index: u8,
    dtype: DType,
    out: *mut u8,
    geometry: Geometry,
    input: *mut u8,
}

// SAFETY: addresses are followed by way of the arena's checked loads and stores alone. Every element of the output is
// written first.
unsafe impl Executes<Sum> for Arena {
    type Ready = Ready;

    unsafe fn ready(plan: &ReducePlan, inputs: &ReduceInputs<'_, SumFn>, outputs: &Outputs<'_>) -> Result<Ready> {
        let (dtype, out) = (plan.compute(), outputs.geometry(0));
        let dtype = dtype.filter(|dtype| COMPUTED.contains(dtype) && out.dtype() == *dtype);
        let dtype = dtype.ok_or_else(|| unsupported(plan.compute()))?;
        let Operand::Tensor(input) = inputs.operand() else { return Err(unsupported(None)) };
        // SAFETY: E2: the storage is borrowed as long as the result lives.
        let input = unsafe { input.data() };
        Ok(Ready { index: Arena::current(), dtype, out: outputs.data(0), geometry: out.clone(), input })
    }

    unsafe fn run(ready: &mut Ready, plan: &ReducePlan) -> Result<()> {
        let (iter, dtype) = (plan.iter(), ready.dtype);
        let mut arena = arena(ready.index).ok_or_else(|| unsupported(None))?;
        let out = Elements::in_geometry(&ready.geometry);
        let sizes: Vec<usize> = ready.geometry.sizes().iter().map(|&size| size as usize).collect();
        let strides = byte_strides(ready.geometry.strides(), dtype);
        each(&sizes, [&strides], [ready.out], |[at]| out.store(&mut arena, at, Scalar::Int(0)))?;
        if iter.numel() == 0 {
            return Ok(());
        }
        let input = Elements::of(iter, 1);
        each(iter.shape(), [iter.strides(0), iter.strides(1)], [ready.out, ready.input], |[to, from]| {
            let sum = plus(dtype, out.load(&arena, to)?, input.load(&arena, from)?.cast(dtype));
            out.store(&mut arena, to, sum)
        })
    }
}
