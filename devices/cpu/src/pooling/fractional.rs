//! Where fractional windows begin: each plane has a random number for each dimension.

use super::kernel::Tap;
use super::window;
use crate::element::CpuElement;
use crate::index::placed::{Placed, product};
use half::{bf16, f16};
use monomorph_core::{DType, Result, list};
use monomorph_ops::pooling::{Layout, WindowPlan};

/// True if windows lie where random numbers say.
pub(super) fn is_fractional(plan: &WindowPlan) -> bool {
    plan.axes.iter().any(|axis| matches!(axis.layout, Layout::Fractional { .. }))
}

/// The first places of fractional windows, for each plane and dimension; none of others.
#[derive(Default)]
pub(super) struct Starts {
    pub(super) planes: usize,
    starts: Vec<i64>,
    /// Where those of a dimension begin among those of a plane; the last one is how many a plane has.
    offsets: [usize; 4],
}

impl Starts {
    /// # Safety
    ///
    /// P1 for the samples, of which there is one for each plane and dimension; nobody writes them meanwhile.
    pub(super) unsafe fn new(plan: &WindowPlan, input: &Placed, samples: Option<&Placed>) -> Result<Starts> {
        let Some(samples) = samples else { return Ok(Starts::default()) };
        // SAFETY: P1; nobody writes it meanwhile. Conversions to float64 are exact.
        let (_own, numbers) = unsafe { samples.copied(DType::F64) }?;
        let outer = &input.sizes[..input.sizes.len() - plan.axes.len()];
        let planes = product(outer.iter().map(|&size| size as usize));
        let mut offsets = [0; 4];
        for (d, axis) in plan.axes.iter().enumerate() {
            offsets[d + 1] = offsets[d] + axis.windows as usize;
        }
        let mut starts = list::with_capacity(offsets[plan.axes.len()].saturating_mul(planes))?;
        let channels = outer.last().map_or(1, |&size| size as usize);
        let row = numbers.sizes[2] as usize;
        for plane in 0..planes {
            let first = (plane / channels * numbers.sizes[1] as usize + plane % channels) * row;
            for axis in &plan.axes {
                let Layout::Fractional { kernel, sample } = axis.layout else { continue };
                let at = numbers.data.cast::<f64>().wrapping_add(first + sample);
                // SAFETY: the copy is contiguous, and has a number for this plane and dimension (the caller's promise).
                let number = unsafe { at.read() };
                let range = axis.input - kernel;
                let begin = match input.dtype {
                    DType::F16 => begin::<f16>,
                    DType::BF16 => begin::<bf16>,
                    DType::F32 => begin_single,
                    _ => begin_double,
                };
                // Numbers outside of 0..1 may lead out of the input.
                let place = |o: i64| begin(number, range, axis.windows, o).clamp(0, range);
                starts.extend((0..axis.windows - 1).map(place).chain([range]));
            }
        }
        Ok(Starts { planes, starts, offsets: with_last(offsets, plan.axes.len()) })
    }

    /// The window `o` of dimension `d` of a plane.
    pub(super) fn window(&self, plan: &WindowPlan, d: usize, plane: usize, o: i64) -> Tap {
        let tap = window(plan, &plan.axes[d], o);
        let place = plane * self.offsets[3] + self.offsets[d] + o as usize;
        Tap { start: self.starts.get(place).copied().unwrap_or(tap.start), ..tap }
    }
}

/// Offsets whose last one is the sum.
fn with_last(mut offsets: [usize; 4], n: usize) -> [usize; 4] {
    offsets[3] = offsets[n];
    offsets
}

/// Where window `o` of as many begins, each step rounded to the dtype.
fn begin<C: CpuElement<Repr = f32>>(number: f64, range: i64, windows: i64, o: i64) -> i64 {
    let rounded = |x: f32| C::widen(C::narrow(x));
    let number = number as f32;
    let alpha = rounded(rounded(range as f32) / rounded((windows - 1) as f32));
    rounded(rounded(rounded(o as f32) + number) * alpha) as i64 - rounded(number * alpha) as i64
}

fn begin_single(number: f64, range: i64, windows: i64, o: i64) -> i64 {
    begin::<f32>(number, range, windows, o)
}

fn begin_double(number: f64, range: i64, windows: i64, o: i64) -> i64 {
    let alpha = range as f64 / (windows - 1) as f64;
    ((o as f64 + number) * alpha) as i64 - (number * alpha) as i64
}
