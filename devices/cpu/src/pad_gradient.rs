//! Gradients of continued tensors on the CPU: line by line of the gradient, each added to the line of the input that it
//! shows. A line is three runs at most, one forward within the edges and one beyond each, so that places are found
//! without a look at each of them.

use crate::dense::Dense;
use crate::device::Cpu;
use crate::isa::Level;
use crate::planes::{Added, PlaneSum, Planes, add_line};
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{DType, Result};
use monomorph_ops::pad_gradient::{PadGradient, PadGradientInputs, PadGradientPlan, ShownAxis, ShownRun};

/// A call bound to memory.
#[derive(Debug)]
pub struct Ready {
    level: Level,
    dtype: DType,
    grad: Dense,
    output: *mut u8,
}

// SAFETY: the output is written by whoever has the only reference.
unsafe impl Send for Ready {}

// SAFETY: every element of the gradient is in bounds, since its sizes are those of the plan's axes, and every one of
// the output, which is dense in the order of the plan's dimensions, is written.
unsafe impl Executes<PadGradient> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &PadGradientPlan, inputs: &PadGradientInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        let dtype = outputs.geometry(0).dtype();
        Planes::<PadGradientPlan>::check(dtype)?;
        // SAFETY: E2: the gradient is borrowed as long as the result lives; the strides are dense ones of its sizes.
        let grad = unsafe { Dense::in_strides(inputs.grad(), dtype, plan.copies, &plan.strides) }?;
        Ok(Ready { level: crate::level()?, dtype, grad, output: outputs.data(0) })
    }

    unsafe fn run(ready: &mut Ready, plan: &PadGradientPlan) -> Result<()> {
        // Beside no planes, sizes may be as large as they like.
        if plan.planes == 0 || plan.inner == 0 {
            return Ok(());
        }
        // SAFETY: E2: the gradient is borrowed.
        unsafe { ready.grad.load() }?;
        let places = |of: fn(&ShownAxis) -> i64| plan.axes.iter().map(|axis| of(axis) as usize).product::<usize>();
        let (written, read) = (places(|axis| axis.size) * plan.inner, places(ShownAxis::shown) * plan.inner);
        let (from, to) = (ready.grad.start(), ready.output);
        let planes = Planes { sum: plan, count: plan.planes, from, read, to, written };
        // SAFETY: P1, P2: the gradient and the output have as many elements.
        unsafe { planes.run(ready.level, ready.dtype) }
    }
}

impl PlaneSum for PadGradientPlan {
    #[inline(always)]
    unsafe fn add<C: Added>(&self, from: *const u8, to: *mut u8) {
        let (PadGradientPlan { axes: [depth, height, width], inner, .. }, mut from) = (self, from);
        let size = inner * size_of::<C::Stored>();
        for z in depth.places() {
            for y in height.places() {
                let to = to.wrapping_add((z * height.size + y) as usize * width.size as usize * size);
                for run in &width.runs {
                    // SAFETY: P1, P2: the run is one of a line of the gradient, and shows places within a line of the
                    // output.
                    unsafe { add_run::<C>(from, to, *run, *inner) };
                    from = from.wrapping_add(run.length as usize * size);
                }
            }
        }
    }
}

/// Adds a run of places, each of `inner` elements, to what it shows of a line.
///
/// # Safety
///
/// The run has as many elements, which are initialised, and so are those of the line, which nobody else uses.
#[inline(always)]
unsafe fn add_run<C: Added>(from: *const u8, to: *mut u8, run: ShownRun, inner: usize) {
    let size = size_of::<C::Stored>();
    let at = |i: i64| to.wrapping_add((run.first + i * run.step) as usize * inner * size);
    match (run.step, inner) {
        // SAFETY: neighbours that show neighbours: the caller's promise.
        (1, _) => unsafe { add_line::<C>(from, at(0), run.length as usize * inner, 1) },
        _ => (0..run.length).for_each(|i| {
            // SAFETY: the elements of one place and of the one that it shows: the caller's promise.
            unsafe { add_line::<C>(from.wrapping_add(i as usize * inner * size), at(i), inner, 1) };
        }),
    }
}
