//! Fourier transforms on the CPU, by the crates `rustfft` and `realfft`. Owns how tensors become the runs that they
//! transform, and in which precision; axes are in `axes.rs`, what is planned once for a length in `planned.rs`.

mod axes;
mod planned;

use crate::dense::{Dense, Plain, Target};
use crate::device::Cpu;
use crate::left_out::{left_out, no_kernel};
use crate::scratch::{Scratch, scratch};
use axes::{Array, along, from_real, to_real};
use bytemuck::Pod;
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, Result};
use monomorph_ops::fourier::{Direction, Fourier, FourierInputs, FourierPlan, Transform, strides_in};
use num_complex::Complex;
use planned::Real;
use smallvec::SmallVec;

/// Up to how many elements float32 is transformed along several axes in float64 and rounded once.
const EXACT: usize = 1 << 10;

/// A call bound to memory: elements in the order of the plan.
#[derive(Debug)]
pub struct Ready {
    input: Dense,
    /// What complex numbers are transformed in before they become real ones, if they are.
    between: Scratch<u128>,
    output: Target,
    input_sizes: SmallVec<[usize; 6]>,
    output_sizes: SmallVec<[usize; 6]>,
    /// Computes in float64.
    wide: bool,
    /// The output is float32 or complex64 all the same.
    rounds: bool,
}

// SAFETY: every element of the input is in bounds, and every one of the output written: a `Target` writes all.
unsafe impl<T: Transform> Executes<Fourier<T>> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &FourierPlan, inputs: &FourierInputs<'_, T>, outputs: &Outputs<'_>) -> Result<Ready> {
        // SAFETY: E1, E2: the caller's promises.
        unsafe { bind(plan, inputs.operand(), outputs) }
    }

    unsafe fn run(ready: &mut Ready, plan: &FourierPlan) -> Result<()> {
        // SAFETY: E2: the operand is borrowed.
        unsafe { ready.input.load() }?;
        if ready.wide { ready.run::<f64>(plan) } else { ready.run::<f32>(plan) }
    }
}

/// # Safety
///
/// E1 and E2 for the operand and the outputs.
unsafe fn bind(plan: &FourierPlan, operand: &Operand<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
    let dtype = operand.dtype().unwrap_or(DType::F32);
    if left_out(dtype.to_complex()).is_some() {
        return Err(no_kernel(dtype.to_complex(), "complex64 and complex128").into());
    }
    let sizes = outputs.geometry(0).sizes();
    let is_wide = matches!(dtype, DType::F64 | DType::C128);
    let axes = plan.axes.len() + usize::from(!matches!(plan.direction, Direction::Complex { .. }));
    let rounds = !is_wide && axes > 1 && outputs.geometry(0).numel() <= EXACT;
    let dtype = match (rounds, dtype.is_complex()) {
        (false, _) => dtype,
        (true, true) => DType::C128,
        (true, false) => DType::F64,
    };
    let in_order = |sizes: &[i64]| plan.order.iter().map(|&dim| sizes[dim] as usize).collect::<SmallVec<[usize; 6]>>();
    // SAFETY: E2: the operand is borrowed as long as the result lives. Strides of an order are dense.
    let input = unsafe { Dense::in_strides(operand, dtype, plan.copies, &strides_in(&plan.order, operand.sizes())) }?;
    // SAFETY: E2, and an input that shares memory with it was copied. Strides of an order are dense.
    let output = unsafe { Target::in_strides(outputs, 0, &strides_in(&plan.order, sizes)) };
    let between = match plan.direction {
        Direction::ToReal { .. } if !plan.axes.is_empty() => {
            crate::converted::zeroed(operand.geometry().map_or(0, |g| g.numel()), dtype)?
        }
        _ => crate::converted::zeroed(0, dtype)?,
    };
    let (input_sizes, output_sizes) = (in_order(operand.sizes()), in_order(sizes));
    Ok(Ready { input, between, output, input_sizes, output_sizes, wide: is_wide || rounds, rounds })
}

impl Ready {
    fn run<T: Real>(&mut self, plan: &FourierPlan) -> Result<()> {
        let Ready { input, between, output, input_sizes, output_sizes, rounds, .. } = self;
        let rounds: Option<fn(Complex<T>) -> Complex<f32>> =
            rounds.then_some(|x: Complex<T>| Complex::new(x.re.to_f32(), x.im.to_f32()));
        if output_sizes.contains(&0) {
            return Ok(());
        }
        let scale = T::of(plan.scale);
        let width = |sizes: &[usize]| sizes.last().copied().unwrap_or(1);
        match plan.direction {
            Direction::Complex { forward } => write(output, rounds, |out| {
                out.copy_from_slice(input.elements());
                complex(out, output_sizes, plan, forward, scale)
            }),
            Direction::FromReal { .. } => write(output, rounds, |out| {
                let first = if plan.axes.is_empty() { scale } else { T::one() };
                from_real(input.elements(), width(input_sizes), out, width(output_sizes), first)?;
                complex(out, output_sizes, plan, true, scale)
            }),
            Direction::ToReal { .. } => {
                let mut elements = input.elements::<Complex<T>>();
                if !plan.axes.is_empty() {
                    let between = &mut bytemuck::cast_slice_mut(between)[..elements.len()];
                    between.copy_from_slice(elements);
                    complex(between, input_sizes, plan, false, T::one())?;
                    elements = between;
                }
                let rounds: Option<fn(T) -> f32> = rounds.map(|_| T::to_f32 as fn(T) -> f32);
                write(output, rounds, |out| to_real(elements, width(input_sizes), out, width(output_sizes), scale))
            }
        }
    }
}

/// Has `work` write the output, in wider numbers if they are to be rounded.
fn write<W: Pod + Plain + Default, N: Plain + Default>(
    output: &mut Target,
    round: Option<fn(W) -> N>,
    work: impl FnOnce(&mut [W]) -> Result<()>,
) -> Result<()> {
    let Some(round) = round else { return output.write(work) };
    output.write(|out: &mut [N]| {
        let mut wide = scratch::<W>(out.len())?;
        work(&mut wide)?;
        out.iter_mut().zip(&*wide).for_each(|(out, &x)| *out = round(x));
        Ok(())
    })
}

/// Transforms along all axes of a plan; what there is then is multiplied by `scale`.
fn complex<T: Real>(
    elements: &mut [Complex<T>],
    sizes: &[usize],
    plan: &FourierPlan,
    forward: bool,
    scale: T,
) -> Result<()> {
    for (i, &axis) in plan.axes.iter().enumerate() {
        let is_last = i + 1 == plan.axes.len();
        let array = Array::of(sizes, axis);
        along(elements, array, forward, if is_last { scale } else { T::one() })?;
    }
    Ok(())
}
