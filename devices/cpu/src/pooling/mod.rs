//! Folds over windows on the CPU: rows of the output, computed by blocks of lanes.
//!
//! ```text
//!   lanes are channels, where these lie side by side          else places along the last dimension, whose windows
//!                                                             have one size and lie at equal distances (a run)
//!   out[.., w, c]  c c c c c c c c                            out[.., w]  w w w w w w w w
//!                  ─┬─────────────                                        ─┬─────────────
//!   for each place of the window: one load of a row of lanes, one step of the fold in registers
//! ```
//!
//! Each element is folded in row-major order of its window, whatever the lanes, so results depend neither on the layout
//! nor on the number of threads. An input that has lazy bits, or that an output may overwrite, is copied first; outputs
//! with lazy bits are written elsewhere and copied.

mod fractional;
mod kernel;

use crate::device::Cpu;
use crate::index::placed::{Argument, Own, Placed, product};
use crate::isa::Level;
use crate::left_out::no_kernel;
use fractional::{Starts, is_fractional};
use kernel::{Row, Run, Tap, row_kernel};
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{ErrorKind, Result, list};
use monomorph_iter::{GRAIN, is_parallel, share};
use monomorph_ops::pooling::{Fold, WindowAxis, WindowFn, WindowInputs, WindowPlan, Windowed};

/// A call bound to memory. P1 for its tensors.
pub struct Ready {
    input: Placed,
    /// The values, and for maxima their places.
    outputs: Vec<Placed>,
    level: Level,
    /// The windows of the last dimension, cut into runs.
    runs: Vec<Run>,
    /// Where fractional windows begin.
    starts: Starts,
    /// For gradients, the divisors of the windows of each dimension.
    divisors: [Vec<i64>; 3],
    /// Copies of an input.
    _own: Own,
}

// SAFETY: the windows of a plan lie within the input, whose last dimensions the axes are, and every element of the
// outputs is written once.
unsafe impl<F: WindowFn> Executes<Windowed<F>> for Cpu {
    type Ready = Ready;

    unsafe fn ready(
        plan: &WindowPlan,
        inputs: &WindowInputs<'_, F::Parameters<'_>>,
        outputs: &Outputs<'_>,
    ) -> Result<Ready> {
        // SAFETY: E2: storages are borrowed as long as the result lives.
        let input = unsafe { Argument::of(&inputs.operands()[0]) };
        let Argument::Tensor(input) = input else {
            return Err(ErrorKind::ArgumentRule { rule: "windows need a tensor of planes" }.into());
        };
        let outputs: Vec<Placed> = (0..F::OUTPUTS).map(|i| Placed::output_at(outputs, i)).collect();
        let mut starts = Starts::default();
        if is_fractional(plan) && outputs[0].numel() > 0 {
            // SAFETY: E2: storages are borrowed as long as the result lives.
            let samples = unsafe { Argument::of(&inputs.operands()[1]) };
            // SAFETY: E2; meta has made sure that there is a number for each plane and dimension.
            starts = unsafe { Starts::new(plan, &input, samples.tensor()) }?;
        }
        // SAFETY: E1, E2.
        unsafe { Ready::new(plan, input, outputs, starts) }
    }

    unsafe fn run(ready: &mut Ready, plan: &WindowPlan) -> Result<()> {
        // SAFETY: E2 keeps the memory of P1 borrowed.
        unsafe { ready.run(plan) }
    }
}

/// The window of place `o` of an output, but for fractional ones.
fn window(plan: &WindowPlan, axis: &WindowAxis, o: i64) -> Tap {
    let window = match plan.fold {
        Fold::Spread(_) => axis.covering(o),
        _ => axis.window(o),
    };
    Tap { start: window.start, count: window.count }
}

/// What the window of place `o` of an output counts in a divisor.
fn divisor(plan: &WindowPlan, axis: &WindowAxis, o: i64) -> i64 {
    if let Fold::Mean(_) = plan.fold { axis.divisor(o) } else { 1 }
}

impl Ready {
    /// # Safety
    ///
    /// P1; the plan is of these tensors.
    unsafe fn new(plan: &WindowPlan, mut input: Placed, outputs: Vec<Placed>, starts: Starts) -> Result<Ready> {
        let level = crate::level()?;
        let mut ready = Ready {
            input: input.clone(),
            outputs,
            level,
            runs: Vec::new(),
            starts,
            divisors: [Vec::new(), Vec::new(), Vec::new()],
            _own: Own::new(),
        };
        if ready.outputs[0].numel() == 0 {
            return Ok(ready);
        }
        row_kernel(input.dtype, plan.fold).ok_or_else(|| no_kernel(input.dtype, "others"))?;
        let plane = plan.axes.iter().fold(1_i64, |plane, axis| plane.saturating_mul(axis.input));
        if plane > i64::from(u32::MAX) {
            let limit = u32::MAX as usize;
            return Err(ErrorKind::TooManyElements { sizes: input.sizes.to_vec(), limit }.into());
        }
        if plan.copies || !input.is_plain() {
            // SAFETY: P1; nobody writes an input.
            (ready._own, input) = unsafe { input.copied(input.dtype) }?;
            ready.input = input;
        }
        if let Fold::Spread(_) = plan.fold {
            let skipped = 3 - plan.axes.len();
            for (list, axis) in ready.divisors.iter_mut().skip(skipped).zip(&plan.axes) {
                *list = list::with_capacity(axis.windows as usize)?;
                list.extend((0..axis.windows).map(|o| axis.divisor(o)));
            }
            ready.divisors.iter_mut().take(skipped).for_each(|list| list.push(1));
        }
        ready.cut(plan)?;
        Ok(ready)
    }

    /// The windows of the last dimension, in runs of those that have one size and lie at equal distances.
    fn cut(&mut self, plan: &WindowPlan) -> Result<()> {
        let (Some(axis), Some(&places)) = (plan.axes.last(), self.outputs[0].sizes.last()) else { return Ok(()) };
        // Fractional windows lie in each plane elsewhere.
        let planes = if is_fractional(plan) { self.starts.planes } else { 1 };
        self.runs = list::with_capacity(planes.saturating_mul(places as usize))?;
        // Places of a run have one divisor; those of the windows that cover them must be one, too.
        let is_uniform = self.divisors[2].windows(2).all(|pair| pair[0] == pair[1]);
        let apart = self.lanes(plan).is_some() || is_fractional(plan) || !is_uniform;
        for (plane, o) in (0..planes).flat_map(|plane| (0..places).map(move |o| (plane, o))) {
            let tap = self.starts.window(plan, plan.axes.len() - 1, plane, o);
            let divisor = divisor(plan, axis, o);
            let joins = |run: &Run| {
                let distance = tap.start - run.tap.start;
                let fits = run.n == 1 && distance >= 0 || distance == run.n as i64 * run.distance;
                !apart && run.tap.count == tap.count && run.divisor == divisor && fits
            };
            match self.runs.last_mut() {
                Some(run) if joins(run) => {
                    if run.n == 1 {
                        run.distance = tap.start - run.tap.start;
                    }
                    run.n += 1;
                }
                _ => self.runs.push(Run { first: o, n: 1, tap, distance: 0, divisor }),
            }
        }
        Ok(())
    }

    /// The dimension of channels, if these lie side by side in the input and the values.
    fn lanes(&self, plan: &WindowPlan) -> Option<usize> {
        let channels = self.input.sizes.len().checked_sub(plan.axes.len() + 1)?;
        let dense = |t: &Placed| t.strides[channels] == 1;
        let side_by_side = dense(&self.input) && dense(&self.outputs[0]) && !is_fractional(plan);
        (self.input.sizes[channels] > 1 && side_by_side).then_some(channels)
    }

    /// # Safety
    ///
    /// P1; E2.
    unsafe fn run(&self, plan: &WindowPlan) -> Result<()> {
        if self.outputs[0].numel() == 0 {
            return Ok(());
        }
        // Outputs with lazy bits are written elsewhere, and those that may share memory with each other.
        let mut targets: Vec<(Own, Placed)> = Vec::new();
        for output in &self.outputs {
            let direct = output.is_plain() && !plan.serial;
            targets.push(if direct { (Own::new(), output.clone()) } else { output.zeroed(output.dtype)? });
        }
        let Some(kernel) = row_kernel(self.input.dtype, plan.fold) else {
            return Err(no_kernel(self.input.dtype, "others").into());
        };
        let call = Call { ready: self, plan, targets: &targets, lanes: self.lanes(plan) };
        let (rows, level) = (call.rows(), self.level);
        let elements = self.outputs[0].numel();
        let together = if is_parallel(elements, GRAIN / 4) { (GRAIN / 4 * rows / elements).max(1) } else { rows };
        share(rows.div_ceil(together), |piece| {
            for row in piece * together..rows.min((piece + 1) * together) {
                // SAFETY: P1: windows lie within the input, and rows of the outputs apart from each other.
                unsafe { kernel(level, &call.row(row)) };
            }
        });
        for (output, (_, target)) in self.outputs.iter().zip(&targets) {
            if target.data != output.data {
                // SAFETY: P1 for both; a tensor in place of the output lies apart from it, and both are ours.
                unsafe { target.copy_to(output) }?;
            }
        }
        Ok(())
    }
}

/// A call, shared by the threads that do it.
struct Call<'a> {
    ready: &'a Ready,
    plan: &'a WindowPlan,
    targets: &'a [(Own, Placed)],
    lanes: Option<usize>,
}

// SAFETY: threads read the input, which nobody writes, and write different rows of the outputs, which lie apart.
unsafe impl Sync for Call<'_> {}

impl Call<'_> {
    /// Dimensions that rows are counted along: all but the last one, and the channels where these are lanes.
    fn counted(&self) -> impl DoubleEndedIterator<Item = usize> {
        let (dims, lanes) = (self.ready.input.sizes.len(), self.lanes);
        (0..dims - 1).filter(move |d| Some(*d) != lanes)
    }

    fn rows(&self) -> usize {
        product(self.counted().map(|d| self.ready.outputs[0].sizes[d] as usize))
    }

    fn row(&self, mut row: usize) -> Row<'_> {
        let Call { ready, plan, targets, .. } = self;
        let input = &ready.input;
        let n = plan.axes.len();
        let dims = input.sizes.len();
        let (values, places) = (&targets[0].1, targets.get(1).map(|t| &t.1));
        let (mut from, mut to, mut to_place) = (0_isize, 0_isize, 0_isize);
        let whole = Tap { start: 0, count: 1 };
        // Rows of a plane follow each other, so the planes are what is left of them.
        let per_plane = product(values.sizes[dims - n..dims - 1].iter().map(|&size| size as usize));
        let plane = if is_fractional(plan) { row / per_plane } else { 0 };
        let (mut taps, mut counts) = ([whole; 2], [1; 2]);
        for d in self.counted().rev() {
            let size = values.sizes[d] as usize;
            let at = (row % size) as isize;
            row /= size;
            to = to.wrapping_add(at.wrapping_mul(values.step(d)));
            to_place = to_place.wrapping_add(places.map_or(0, |p| at.wrapping_mul(p.step(d))));
            match (d + n).checked_sub(dims) {
                // The first of three dimensions, or of two the second.
                Some(k) => {
                    taps[3 - n + k] = ready.starts.window(plan, k, plane, at as i64);
                    counts[3 - n + k] = divisor(plan, &plan.axes[k], at as i64);
                }
                None => from = from.wrapping_add(at.wrapping_mul(input.step(d))),
            }
        }
        let step = |k: usize| {
            plan.axes.get(k).map_or(1, |axis| match plan.fold {
                Fold::Spread(_) => 1,
                _ => axis.step(),
            })
        };
        let inner = |k: usize| input.step(dims - n + k);
        let size = |k: usize| input.sizes[dims - n + k];
        let (steps, strides, sizes) = match n {
            2 => ([1, step(0), step(1)], [0, inner(0), inner(1)], [1, size(0), size(1)]),
            _ => ([step(0), step(1), step(2)], [inner(0), inner(1), inner(2)], [size(0), size(1), size(2)]),
        };
        let along = |t: &Placed| [t.step(dims - 1), self.lanes.map_or(0, |d| t.step(d))];
        Row {
            input: input.data.wrapping_offset(from),
            values: values.data.wrapping_offset(to),
            places: places.map_or(std::ptr::null_mut(), |p| p.data.wrapping_offset(to_place)),
            lanes: self.lanes.map(|d| input.sizes[d] as usize),
            taps,
            counts,
            steps,
            strides,
            sizes,
            runs: match is_fractional(plan) {
                true => ready.runs.chunks(values.sizes[dims - 1] as usize).nth(plane).unwrap_or_default(),
                false => &ready.runs,
            },
            divisors: [&ready.divisors[0], &ready.divisors[1], &ready.divisors[2]],
            to: along(values),
            to_place: places.map_or([0; 2], along),
            fold: plan.fold,
        }
    }
}
