//! Reductions of what pointwise operators give, bound to the memory of their operands.

use super::call::{Ready as Reduction, bind};
use super::driver::{Compute, Input, TaskRunner};
use super::kernels::Kernels;
use super::lanes::Lanes;
use super::layout::Task;
use crate::device::Cpu;
use crate::pointwise::{self, OperandBase, Producer};
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{Result, list};
use monomorph_iter::{GRAIN, TensorIter, is_parallel, pieces, share};
use monomorph_ops::reduce::{Computed, ComputedInputs, ComputedPlan, TypedRule};
use std::ops::Range;

/// A reduction of elements that are computed.
pub struct Ready {
    reduction: Reduction,
    producer: Producer,
    /// Elements are computed when they are reduced; else all of them first.
    by_windows: bool,
}

/// One run of a producer.
struct Elements<'a> {
    producer: &'a Producer,
    iter: &'a TensorIter,
    params: *const (),
}

// SAFETY: `params` points to a formula's parameters, which are `Sync` and only read; the operands of the producer are
// only read.
unsafe impl Sync for Elements<'_> {}

impl Compute for Elements<'_> {
    unsafe fn compute(&self, elements: Range<usize>, to: *mut u8) {
        // SAFETY: the iteration and the parameters are those of the producer, as it was made (`run`), whose inputs are
        // borrowed; the caller promises the elements and the room.
        unsafe { self.producer.compute(self.iter, self.params, elements, to) };
    }

    unsafe fn run_tasks(&self, runner: &TaskRunner<'_>, tasks: Range<usize>) {
        // SAFETY: the caller's promise; elements are given to a driver only where its layout suits windows.
        unsafe { runner.run_windows(self, tasks) };
    }

    unsafe fn reduce(&self, runner: &TaskRunner<'_>, task: &Task, chunks: Range<usize>, into: Lanes) -> bool {
        // SAFETY: the caller's promise; elements are given to a driver only where its layout suits windows.
        unsafe { runner.reduce_windows(self, task, chunks, into) }
    }
}

/// Memory for all elements.
struct Room(*mut u8);

// SAFETY: threads write to different elements.
unsafe impl Sync for Room {}

impl Room {
    /// The address of a byte.
    fn at(&self, byte: usize) -> *mut u8 {
        self.0.wrapping_add(byte)
    }
}

// SAFETY: as for `Reduce`: the driver reads elements of its input and writes elements of the outputs only, and the
// input is what the producer computes, which reads elements of the inputs only. The iteration of the plan has the input
// of the reduction as operand 0, dense and in order, which `ComputedInputs` are only made with.
unsafe impl<G, V: 'static, F, W: 'static> Executes<Computed<G, V, F, W>> for Cpu
where
    G: pointwise::Kernels<V>,
    F: Kernels<W>,
{
    type Ready = Ready;

    unsafe fn ready(
        plan: &ComputedPlan<G::Params>,
        inputs: &ComputedInputs<'_, G>,
        outputs: &Outputs<'_>,
    ) -> Result<Ready> {
        // SAFETY: operand 0 is dense in the order of the iteration, and the inputs are borrowed (E1, E2).
        let producer = unsafe { Producer::new::<G, V>(plan.elements(), plan.compute(), inputs.operands()) }?;
        let nowhere = OperandBase::Memory(std::ptr::null_mut());
        let rule = const { &TypedRule::of::<F>() };
        // SAFETY: E1 and E2 are the caller's promise but for the input, of which `run` gives the place; `lookup` gives
        // the kernels of this fold, whose rule this is.
        let reduction = unsafe { bind(plan.reduction(), F::lookup, rule, (nowhere, None), outputs) }?;
        let by_windows = reduction.driver().is_some_and(|driver| driver.layout.suits_windows());
        Ok(Ready { reduction, producer, by_windows })
    }

    unsafe fn run(ready: &mut Ready, plan: &ComputedPlan<G::Params>) -> Result<()> {
        let params = std::ptr::from_ref(plan.params()).cast();
        // SAFETY: E2 and E3: the operands are borrowed, and this is the plan.
        unsafe { ready.run(Elements { producer: &ready.producer, iter: plan.elements(), params }) }
    }
}

impl Ready {
    /// # Safety
    ///
    /// The operands are borrowed as `ready` was promised, and the elements are those of the plan.
    unsafe fn run(&self, elements: Elements<'_>) -> Result<()> {
        let Some(driver) = self.reduction.driver() else {
            // SAFETY: the operands are borrowed; without a driver no element is read.
            unsafe { self.reduction.run() };
            return Ok(());
        };
        if self.by_windows {
            // SAFETY: the operands are borrowed, and these are the elements of the layout, which suits windows.
            unsafe { driver.run(Input::Computed(&elements)) };
            return Ok(());
        }
        let (numel, size) = (elements.iter.numel(), elements.producer.size());
        let mut memory: Vec<u128> = list::with_capacity(numel.saturating_mul(size).div_ceil(size_of::<u128>()))?;
        let room = Room(memory.as_mut_ptr().cast());
        let chunk = if is_parallel(numel, GRAIN) { numel.div_ceil(pieces()).max(GRAIN) } else { numel };
        share(numel.div_ceil(chunk), |piece| {
            let range = piece * chunk..numel.min((piece + 1) * chunk);
            // SAFETY: there are such elements, and so much memory, of which this piece is its own.
            unsafe { elements.compute(range.clone(), room.at(range.start * size)) };
        });
        // SAFETY: the operands are borrowed, and all elements were computed, in the order of the layout.
        unsafe { driver.run(Input::Memory(room.at(0))) };
        Ok(())
    }
}
