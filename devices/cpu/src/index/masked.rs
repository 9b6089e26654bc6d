//! Elements where a mask holds, written in one walk: each element of the output is the tensor's own or the next one of
//! the source.

use crate::dense::{Dense, Plain, Target};
use crate::device::Cpu;
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{Complex, DType, ErrorKind, Result};
use monomorph_ops::index::masked::{MaskedScatter, MaskedScatterInputs, MaskedScatterPlan};

/// A call bound to memory.
#[derive(Debug)]
pub struct MaskedReady {
    this: Dense,
    mask: Dense,
    source: Dense,
    output: Target,
    size: usize,
}

// SAFETY: every element of the operands is in bounds, and every one of the output is written: a `Target` writes all.
unsafe impl Executes<MaskedScatter> for Cpu {
    type Ready = MaskedReady;

    unsafe fn ready(
        plan: &MaskedScatterPlan,
        inputs: &MaskedScatterInputs<'_>,
        outputs: &Outputs<'_>,
    ) -> Result<MaskedReady> {
        let dtype = outputs.geometry(0).dtype();
        // SAFETY: E2: the operands are borrowed as long as the result lives.
        let dense = |i: usize, dtype| unsafe { Dense::new(&inputs.operands()[i], dtype, plan.copies) };
        let (this, mask, source) = (dense(0, dtype)?, dense(1, DType::Bool)?, dense(2, dtype)?);
        // SAFETY: E2, and an operand that shares memory with it was copied.
        let output = unsafe { Target::new(outputs, 0) };
        Ok(MaskedReady { this, mask, source, output, size: dtype.size() })
    }

    unsafe fn run(ready: &mut MaskedReady, _: &MaskedScatterPlan) -> Result<()> {
        for operand in [&mut ready.this, &mut ready.mask, &mut ready.source] {
            // SAFETY: E2: the operands are borrowed.
            unsafe { operand.load() }?;
        }
        match ready.size {
            1 => ready.run::<u8>(),
            2 => ready.run::<u16>(),
            4 => ready.run::<u32>(),
            8 => ready.run::<u64>(),
            _ => ready.run::<Complex<f64>>(),
        }
    }
}

impl MaskedReady {
    fn run<T: Plain + Default>(&mut self) -> Result<()> {
        let (this, mask, source) = (self.this.elements::<T>(), self.mask.elements::<u8>(), self.source.elements::<T>());
        let want = mask.iter().map(|&holds| usize::from(holds != 0)).sum::<usize>();
        if want > source.len() {
            return Err(ErrorKind::ListLength { arg: "source", got: source.len(), want }.into());
        }
        self.output.write(|output: &mut [T]| {
            // Behind the last one that is taken, one is still looked at.
            let Some(last) = source.len().checked_sub(1) else {
                output.copy_from_slice(this);
                return Ok(());
            };
            let mut next = 0;
            for ((to, &own), &holds) in output.iter_mut().zip(this).zip(mask) {
                *to = if holds != 0 { source[next.min(last)] } else { own };
                next += usize::from(holds != 0);
            }
            Ok(())
        })
    }
}
