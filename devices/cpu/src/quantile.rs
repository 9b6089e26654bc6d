//! Quantiles of sorted rows on the CPU. Ranks are computed in the dtype of the elements, as in PyTorch.

use crate::dense::{Dense, Plain, Target};
use crate::device::Cpu;
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{DType, Result};
use monomorph_ops::quantile::{FRACTIONS, Interpolation, QuantileInputs, QuantilePlan, SortedQuantiles};
use num_traits::Float;

/// A call bound to memory: rows and fractions.
#[derive(Debug)]
pub struct Ready {
    inputs: [Dense; 2],
    dtype: DType,
    output: Target,
}

// SAFETY: every element of the inputs is in bounds, and every one of the output is written: a `Target` writes all.
unsafe impl Executes<SortedQuantiles> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &QuantilePlan, inputs: &QuantileInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        let dtype = outputs.geometry(0).dtype();
        let [rows, fractions] = inputs.operands();
        // SAFETY: E2: the operands are borrowed as long as the result lives.
        let dense = |operand| unsafe { Dense::new(operand, dtype, plan.copies) };
        let inputs = [dense(rows)?, dense(fractions)?];
        // SAFETY: E2, and inputs that share memory with it were copied.
        let output = unsafe { Target::new(outputs, 0) };
        Ok(Ready { inputs, dtype, output })
    }

    unsafe fn run(ready: &mut Ready, plan: &QuantilePlan) -> Result<()> {
        // SAFETY: E2: the operands are borrowed.
        ready.inputs.iter_mut().try_for_each(|input| unsafe { input.load() })?;
        match ready.dtype {
            DType::F32 => ready.run::<f32>(plan),
            _ => ready.run::<f64>(plan),
        }
    }
}

impl Ready {
    fn run<T: Float + Plain + Default>(&mut self, plan: &QuantilePlan) -> Result<()> {
        let (rows, fractions) = (self.inputs[0].elements::<T>(), self.inputs[1].elements::<T>());
        if !fractions.iter().all(|&q| q >= T::zero() && q <= T::one()) {
            return Err(FRACTIONS.into());
        }
        self.output.write(|out: &mut [T]| {
            let rows = rows.chunks(plan.columns.max(1));
            for (row, out) in rows.zip(out.chunks_mut(fractions.len().max(1))) {
                // NaN is last.
                let numbers = row.partition_point(|x| !x.is_nan());
                let last = if plan.skips_nan { numbers } else { row.len() }.saturating_sub(1);
                let has_nan = numbers < row.len();
                for (out, &q) in out.iter_mut().zip(fractions) {
                    *out =
                        if has_nan && !plan.skips_nan { row[last] } else { picked(row, q, last, plan.interpolation) };
                }
            }
            Ok(())
        })
    }
}

/// The element at a fraction of the first `last + 1` elements of a row.
fn picked<T: Float>(row: &[T], q: T, last: usize, interpolation: Interpolation) -> T {
    let rank = q * T::from(last).unwrap_or_else(T::infinity);
    let at = |rank: T| row[rank.to_usize().unwrap_or(last).min(last)];
    match interpolation {
        Interpolation::Lower => at(rank.floor()),
        Interpolation::Higher => at(rank.ceil()),
        Interpolation::Nearest => at(round_to_even(rank)),
        Interpolation::Midpoint => between(at(rank.floor()), at(rank.ceil()), T::from(0.5).unwrap_or_else(T::one)),
        Interpolation::Linear => between(at(rank.floor()), at(rank.ceil()), rank.fract()),
    }
}

/// From `a` to `b`, from the end that is nearer, so that both ends are exact.
fn between<T: Float>(a: T, b: T, weight: T) -> T {
    let way = b - a;
    if weight + weight < T::one() { a + weight * way } else { b - way * (T::one() - weight) }
}

fn round_to_even<T: Float>(x: T) -> T {
    let (floor, two) = (x.floor(), T::one() + T::one());
    let below = x - floor;
    let is_even = (floor / two).floor() * two == floor;
    if below + below < T::one() || (below + below == T::one() && is_even) { floor } else { floor + T::one() }
}
