//! Gradients of continued tensors on the CPU: line by line of the gradient, each added to the line of the input that it
//! shows. A line is three runs at most, one forward within the edges and one beyond each, so that places are found
//! without a look at each of them.

use crate::columns::{Added, add_line};
use crate::dense::Dense;
use crate::device::Cpu;
use crate::element::store;
use crate::isa::{Isa, Kernel, Level};
use crate::left_out::no_kernel;
use half::{bf16, f16};
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{Complex, DType, Result};
use monomorph_iter::{GRAIN, is_parallel, share};
use monomorph_ops::pad_gradient::{PadGradient, PadGradientInputs, PadGradientPlan, ShownRun};
use std::marker::PhantomData;
use std::ops::Range;

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
        planes_kernel(dtype).ok_or_else(|| no_kernel(dtype, "others"))?;
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
        let Some(kernel) = planes_kernel(ready.dtype) else { return Err(no_kernel(ready.dtype, "others").into()) };
        let image = plan.axes.iter().map(|axis| axis.size as usize).product::<usize>() * plan.inner;
        let shown = plan.axes.iter().map(|axis| axis.shown() as usize).product::<usize>() * plan.inner;
        let call = Planes { plan, grad: ready.grad.start(), output: ready.output, image, shown };
        let together =
            if is_parallel(plan.planes * shown, GRAIN) { (GRAIN / shown.max(1)).max(1) } else { plan.planes };
        let level = ready.level;
        share(plan.planes.div_ceil(together), |piece| {
            let planes = piece * together..plan.planes.min((piece + 1) * together);
            // SAFETY: G1, G2: the gradient has as many elements, and the output, of whose planes each is one piece's.
            unsafe { kernel(level, &call, planes) };
        });
        Ok(())
    }
}

/// What the threads of a call share. Invariants:
/// * G1: `grad` are dense elements of the dtype, `shown` for each plane, which nobody writes;
/// * G2: so is `output`, with `image` for each plane, which nobody else uses.
struct Planes<'a> {
    plan: &'a PadGradientPlan,
    grad: *const u8,
    output: *mut u8,
    image: usize,
    shown: usize,
}

// SAFETY: threads read the gradient, and write planes of their own.
unsafe impl Sync for Planes<'_> {}

/// Computes planes. Unsafe to call: G1, G2 for a dtype, whose kernel it is, and these planes of the output are nobody
/// else's.
type PlanesKernel = unsafe fn(Level, &Planes<'_>, Range<usize>);

fn planes_kernel(dtype: DType) -> Option<PlanesKernel> {
    Some(match dtype {
        #[cfg(feature = "halves")]
        DType::F16 => sums::<f16>,
        #[cfg(feature = "halves")]
        DType::BF16 => sums::<bf16>,
        DType::F32 => sums::<f32>,
        DType::F64 => sums::<f64>,
        #[cfg(feature = "complex")]
        DType::C64 => sums::<Complex<f32>>,
        #[cfg(feature = "complex")]
        DType::C128 => sums::<Complex<f64>>,
        _ => return None,
    })
}

/// # Safety
///
/// G1, G2 for elements of `C`; nobody else uses these planes of the output.
unsafe fn sums<C: Added>(level: Level, of: &Planes<'_>, planes: Range<usize>) {
    level.enter(Sums::<C>(of, planes, PhantomData));
}

struct Sums<'a, C>(&'a Planes<'a>, Range<usize>, PhantomData<C>);

impl<C: Added, I: Isa> Kernel<I> for Sums<'_, C> {
    type Home = C;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let Sums(call, planes, _) = self;
        let (PadGradientPlan { axes: [depth, height, width], inner, .. }, size) = (call.plan, size_of::<C::Stored>());
        let line = width.size as usize * inner * size;
        for plane in planes {
            let image = call.output.wrapping_add(plane * call.image * size);
            let mut from = call.grad.wrapping_add(plane * call.shown * size);
            for i in 0..call.image {
                // SAFETY: an element of the plane (G2).
                unsafe { store::<C>(image, i, C::ZERO) };
            }
            for z in depth.places() {
                for y in height.places() {
                    let to = image.wrapping_add((z * height.size + y) as usize * line);
                    for run in &width.runs {
                        // SAFETY: G1, G2: the run is one of a line of the gradient, and shows places within a line of
                        // the output.
                        unsafe { add_run::<C>(from, to, *run, *inner) };
                        from = from.wrapping_add(run.length as usize * inner * size);
                    }
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
