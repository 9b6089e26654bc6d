//! Singular values on the CPU: one matrix after another, in double precision whatever the dtype, and rounded once. Owns
//! how matrices are read and values written; the algorithm is in `jacobi.rs`.

mod jacobi;

use crate::dense::{Dense, Plain, Target};
use crate::device::Cpu;
use crate::left_out::{left_out, no_kernel};
use jacobi::{Entry, Workspace};
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{DType, Result};
use monomorph_ops::singular::{NOT_A_NUMBER, SingularInputs, SingularPlan, SingularValues};
use num_complex::Complex;

/// A call bound to memory: matrices in double precision, row by row, and their values.
#[derive(Debug)]
pub struct Ready {
    matrices: Dense,
    dtype: DType,
    output: Target,
}

// SAFETY: every element of the input is in bounds, and every one of the output is written: a `Target` writes all.
unsafe impl Executes<SingularValues> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &SingularPlan, inputs: &SingularInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        let dtype = inputs.operand().dtype().unwrap_or(DType::F32);
        if left_out(dtype).is_some() {
            return Err(no_kernel(dtype, "float32 and float64").into());
        }
        let wide = if dtype.is_complex() { DType::C128 } else { DType::F64 };
        // SAFETY: E2: the operand is borrowed as long as the result lives.
        let matrices = unsafe { Dense::new(inputs.operand(), wide, plan.copies) }?;
        // SAFETY: E2, and an input that shares memory with it was copied.
        let output = unsafe { Target::new(outputs, 0) };
        Ok(Ready { matrices, dtype, output })
    }

    unsafe fn run(ready: &mut Ready, plan: &SingularPlan) -> Result<()> {
        // SAFETY: E2: the operand is borrowed.
        unsafe { ready.matrices.load() }?;
        match ready.dtype {
            DType::F64 => ready.run::<f64, f64>(plan, |value| value),
            DType::C128 => ready.run::<Complex<f64>, f64>(plan, |value| value),
            DType::C64 => ready.run::<Complex<f64>, f32>(plan, |value| value as f32),
            _ => ready.run::<f64, f32>(plan, |value| value as f32),
        }
    }
}

impl Ready {
    fn run<E: Entry + Plain, T: Plain + Default>(&mut self, plan: &SingularPlan, round: fn(f64) -> T) -> Result<()> {
        let Ready { matrices, output, .. } = self;
        let elements = matrices.elements::<E>();
        if elements.is_empty() {
            return Ok(());
        }
        // Before anything is written.
        if elements.iter().any(|x| x.is_nan()) {
            return Err(NOT_A_NUMBER.into());
        }
        let size = plan.rows * plan.columns;
        let mut workspace = Workspace::<E>::new(plan.rows, plan.columns)?;
        output.write(|out: &mut [T]| {
            let out = out.chunks_mut(plan.rows.min(plan.columns).max(1));
            for (matrix, out) in elements.chunks_exact(size).zip(out) {
                for (out, &value) in out.iter_mut().zip(workspace.singular_values(matrix)?) {
                    *out = round(value);
                }
            }
            Ok(())
        })
    }
}
