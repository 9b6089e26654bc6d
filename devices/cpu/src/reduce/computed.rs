//! Reductions of what pointwise operators give, bound to the memory of their operands.

use super::call::{Ready as Reduction, bind};
use super::driver::Input;
use super::fused::Fused;
use super::fused_kernel::{FuseWith, FusedKernels};
use super::kernels::Kernels;
use super::windows::Elements;
use crate::device::Cpu;
use crate::pointwise::{self, OperandBase, Producer};
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{Result, list};
use monomorph_iter::{GRAIN, TensorIter, is_parallel, pieces, share};
use monomorph_ops::reduce::{Computed, ComputedInputs, ComputedPlan, TypedRule};

/// A reduction of elements that are computed.
pub struct Ready {
    reduction: Reduction,
    producer: Producer,
    way: Way,
}

/// When elements are computed.
enum Way {
    /// In the loop that accumulates them.
    Fused(Box<Fused>),
    /// Some at a time, shortly before they are reduced.
    Windows,
    /// All of them first.
    First,
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
    G: pointwise::Kernels<V, Out: FuseWith<G, F>>,
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
        let mut reduction = unsafe { bind(plan.reduction(), F::lookup, rule, (nowhere, None), outputs) }?;
        let dtype = plan.compute().unwrap_or(plan.elements().common_dtype());
        let kernels = <G::Out as FuseWith<G, F>>::kernels(dtype, crate::level()?);
        let way = way(kernels, &mut reduction, &producer, plan.elements())?;
        Ok(Ready { reduction, producer, way })
    }

    unsafe fn run(ready: &mut Ready, plan: &ComputedPlan<G::Params>) -> Result<()> {
        // SAFETY: E2 and E3: the operands are borrowed, and these are the elements and the parameters of the plan.
        unsafe { ready.run(plan.elements(), std::ptr::from_ref(plan.params()).cast()) }
    }
}

/// How a reduction is computed best; `kernels` are those of the formula and the fold, if they have some.
fn way(
    kernels: Option<FusedKernels>,
    reduction: &mut Reduction,
    producer: &Producer,
    iter: &TensorIter,
) -> Result<Way> {
    let Some(driver) = reduction.driver_mut() else { return Ok(Way::First) };
    if let Some(kernels) = kernels
        && let Some(fused) = Fused::new(kernels, driver, producer, iter)?
    {
        driver.layout.widen_tasks(driver.kernels.parts, fused.unit());
        return Ok(Way::Fused(Box::new(fused)));
    }
    Ok(if driver.layout.suits_windows() { Way::Windows } else { Way::First })
}

impl Ready {
    /// # Safety
    ///
    /// The operands are borrowed as `ready` was promised, the iteration is that of the plan, and `params` points to its
    /// parameters.
    unsafe fn run(&mut self, iter: &TensorIter, params: *const ()) -> Result<()> {
        let Ready { reduction, producer, way } = self;
        let Some(driver) = reduction.driver() else {
            // SAFETY: the operands are borrowed; without a driver no element is read.
            unsafe { reduction.run() };
            return Ok(());
        };
        let elements = Elements { producer, iter, params };
        match way {
            Way::Fused(fused) => {
                // SAFETY: the operands are borrowed.
                unsafe { fused.load(producer) }?;
                // SAFETY: the operands are borrowed, and these are the elements of the layout, which was made to suit.
                unsafe { driver.run(Input::Computed(&fused.over(producer, params))) };
            }
            Way::Windows => {
                // SAFETY: the operands are borrowed, and these are the elements of the layout, which suits windows.
                unsafe { driver.run(Input::Computed(&elements)) };
            }
            Way::First => {
                let (numel, size) = (iter.numel(), producer.size());
                let mut memory: Vec<u128> =
                    list::with_capacity(numel.saturating_mul(size).div_ceil(size_of::<u128>()))?;
                let room = Room(memory.as_mut_ptr().cast());
                let chunk = if is_parallel(numel, GRAIN) { numel.div_ceil(pieces()).max(GRAIN) } else { numel };
                share(numel.div_ceil(chunk), |piece| {
                    let range = piece * chunk..numel.min((piece + 1) * chunk);
                    // SAFETY: there are such elements, and so much memory, of which this piece is its own.
                    unsafe { elements.compute(range.clone(), room.at(range.start * size)) };
                });
                // SAFETY: the operands are borrowed, and all elements were computed, in the order of the layout.
                unsafe { driver.run(Input::Memory(room.at(0))) };
            }
        }
        Ok(())
    }
}
