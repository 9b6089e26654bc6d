//! Attention on the CPU: blocks of scores, never all of them.
//!
//! ```text
//!             keys, a block at a time ─►
//!   queries  ┌────────┐   scores of the block, by a product; then, row by row: the largest so far, powers of e by
//!   of one   │ scores │   how far others are below it, and their sum; where the largest grew, what was summed
//!   piece    └────────┘   before shrinks by the same power
//!            ┌────────┐
//!            │ output │   += powers × values, by a product; divided by the sum at the end
//!            └────────┘
//! ```
//!
//! The running maximum is that of M. Milakov, N. Gimelshein, *Online normalizer calculation for softmax*, 2018; that
//! scores need never be kept, that of T. Dao et al., *FlashAttention*, 2022. Sums are made in float32, or float64 for
//! float64; operands of other dtypes are converted first and results last. Pieces of work are blocks of queries, or all
//! of a head of keys for gradients, so results do not depend on the number of threads.

mod backward;
mod forward;
mod rows;

use crate::converted::{Converted, ConvertedOutput};
use crate::device::Cpu;
use crate::isa::Level;
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{DType, Result};
use monomorph_ops::attention::{Attention, AttentionGradients, AttentionInputs, AttentionPlan, summed_in};

/// Queries and keys of a block: of float32, a block of scores is 128 KiB, and stays in the second-level cache.
const QUERIES: usize = 64;
const KEYS: usize = 512;

/// A tensor as kernels reach it: steps for batch, heads, rows and elements.
///
/// Invariant A1: `data` is the first element of a tensor of the sizes that the plan says, aligned to its dtype, whose
/// elements are initialised unless it is written.
#[derive(Clone, Copy, Debug)]
struct Array {
    data: *mut u8,
    steps: [isize; 4],
}

// SAFETY: a call reads its inputs, which nobody writes, and threads write elements of the outputs of their own.
unsafe impl Send for Array {}
// SAFETY: a call reads its inputs, which nobody writes, and threads write elements of the outputs of their own.
unsafe impl Sync for Array {}

impl Array {
    fn new(data: *mut u8, strides: &[i64]) -> Array {
        let mut steps = [0; 4];
        steps.iter_mut().zip(strides).for_each(|(step, &stride)| *step = stride as isize);
        Array { data, steps }
    }

    /// The first element of a row.
    fn row<T>(&self, batch: usize, head: usize, row: usize) -> *mut T {
        let at = |i: usize, step: isize| (i as isize).wrapping_mul(step);
        let [b, h, r, _] = self.steps;
        self.data.cast::<T>().wrapping_offset(at(batch, b).wrapping_add(at(head, h)).wrapping_add(at(row, r)))
    }
}

/// `N` operands and outputs bound to memory. A1 holds for the arrays.
#[derive(Debug)]
pub struct Ready<const N: usize, const M: usize> {
    level: Level,
    dtype: DType,
    inputs: [Option<Converted>; N],
    outputs: [Array; M],
    staged: [Option<ConvertedOutput>; M],
}

impl<const N: usize, const M: usize> Ready<N, M> {
    /// # Safety
    ///
    /// E2: all operands stay borrowed as long as the result lives.
    unsafe fn new(inputs: &AttentionInputs<'_, N>, outputs: &Outputs<'_>) -> Result<Self> {
        let dtype = summed_in(outputs.geometry(0).dtype());
        let (mut converted, mut staged) = ([const { None }; N], [const { None }; M]);
        for (i, slot) in converted.iter_mut().enumerate() {
            // SAFETY: the operands are borrowed: the caller's promise.
            *slot = unsafe { Converted::new(inputs.operand(i), dtype, false) }?;
        }
        let mut arrays = [Array { data: std::ptr::null_mut(), steps: [0; 4] }; M];
        for (i, (array, staged)) in arrays.iter_mut().zip(&mut staged).enumerate() {
            *staged = ConvertedOutput::new(outputs, i, dtype)?;
            let data = staged.as_mut().map_or_else(|| outputs.data(i), ConvertedOutput::data);
            *array = Array::new(data, outputs.geometry(i).strides());
        }
        Ok(Ready { level: crate::level()?, dtype, inputs: converted, outputs: arrays, staged })
    }

    /// Copies what is converted.
    ///
    /// # Safety
    ///
    /// E2.
    unsafe fn load(&mut self) -> Result<()> {
        // SAFETY: the caller's promise.
        self.inputs.iter_mut().flatten().try_for_each(|input| unsafe { input.load() })
    }

    /// The operand with this number.
    fn input(&self, i: usize) -> Option<Array> {
        self.inputs[i].as_ref().map(|input| Array::new(input.data, &input.strides))
    }

    /// # Safety
    ///
    /// The outputs were written, and nobody else uses them.
    unsafe fn store(&mut self) -> Result<()> {
        for staged in self.staged.iter_mut().flatten() {
            // SAFETY: the caller's promise.
            unsafe { staged.store() }?;
        }
        Ok(())
    }
}

/// What kernels are given. A1 holds for the arrays.
#[derive(Clone, Copy, Debug)]
struct Job<'a, const M: usize> {
    plan: &'a AttentionPlan,
    level: Level,
    query: Array,
    key: Array,
    value: Array,
    mask: Option<Array>,
    outputs: [Array; M],
}

impl<const M: usize> Job<'_, M> {
    /// The heads of keys and of values that a head of queries sees.
    fn seen(&self, head: usize) -> [usize; 2] {
        let [all, keys, values] = self.plan.heads;
        [keys, values].map(|heads| head / (all / heads.max(1)).max(1))
    }

    /// How many keys the last of the queries up to this one sees.
    fn visible(&self, queries: usize) -> usize {
        if self.plan.causal { self.plan.keys.min(queries) } else { self.plan.keys }
    }
}

impl<const N: usize, const M: usize> Ready<N, M> {
    /// What kernels are given; nothing if an operand is a number, of which meta takes none.
    fn job<'a>(&self, plan: &'a AttentionPlan) -> Option<Job<'a, M>> {
        Some(Job {
            plan,
            level: self.level,
            query: self.input(0)?,
            key: self.input(1)?,
            value: self.input(2)?,
            mask: self.input(N - 1),
            outputs: self.outputs,
        })
    }
}

// SAFETY: operands are read and outputs written within the sizes of the plan, which are theirs (meta checks that), each
// element of the outputs by one piece of work.
unsafe impl Executes<Attention> for Cpu {
    type Ready = Ready<4, 2>;

    unsafe fn ready(_: &AttentionPlan, inputs: &AttentionInputs<'_, 4>, outputs: &Outputs<'_>) -> Result<Ready<4, 2>> {
        // SAFETY: E2.
        unsafe { Ready::new(inputs, outputs) }
    }

    unsafe fn run(ready: &mut Ready<4, 2>, plan: &AttentionPlan) -> Result<()> {
        // SAFETY: E2: the operands are borrowed.
        unsafe { ready.load() }?;
        let Some(job) = ready.job(plan) else { return Ok(()) };
        match ready.dtype {
            // SAFETY: A1 for this dtype, and nobody else uses the outputs (E2).
            DType::F64 => unsafe { forward::run::<f64>(&job) },
            // SAFETY: A1 for this dtype, and nobody else uses the outputs (E2).
            _ => unsafe { forward::run::<f32>(&job) },
        }?;
        // SAFETY: they were just written (E2).
        unsafe { ready.store() }
    }
}

// SAFETY: operands are read and outputs written within the sizes of the plan, which are theirs (meta checks that), each
// element of the outputs by one piece of work.
unsafe impl Executes<AttentionGradients> for Cpu {
    type Ready = Ready<7, 3>;

    unsafe fn ready(_: &AttentionPlan, inputs: &AttentionInputs<'_, 7>, outputs: &Outputs<'_>) -> Result<Ready<7, 3>> {
        // SAFETY: E2.
        unsafe { Ready::new(inputs, outputs) }
    }

    unsafe fn run(ready: &mut Ready<7, 3>, plan: &AttentionPlan) -> Result<()> {
        // SAFETY: E2: the operands are borrowed.
        unsafe { ready.load() }?;
        let (Some(job), Some(grad), Some(out), Some(sums)) =
            (ready.job(plan), ready.input(3), ready.input(4), ready.input(5))
        else {
            return Ok(());
        };
        match ready.dtype {
            // SAFETY: A1 for this dtype, and nobody else uses the outputs (E2).
            DType::F64 => unsafe { backward::run::<f64>(&job, [grad, out, sums]) },
            // SAFETY: A1 for this dtype, and nobody else uses the outputs (E2).
            _ => unsafe { backward::run::<f32>(&job, [grad, out, sums]) },
        }?;
        // SAFETY: they were just written (E2).
        unsafe { ready.store() }
    }
}
