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
//! Where runs are short, maxima are found column by column first ([`columns`]), and gradients of means are spread
//! window by window ([`spread`]).
//!
//! Each element is folded in row-major order of its window, whatever the lanes, so results depend neither on the layout
//! nor on the number of threads. An input that has lazy bits, or that an output may overwrite, is copied first; outputs
//! with lazy bits are written elsewhere and copied.

mod columns;
mod fractional;
mod kernel;
mod numbers;
mod rows;
mod spread;

use crate::device::Cpu;
use crate::index::placed::{Argument, Own, Placed};
use crate::isa::Level;
use crate::left_out::no_kernel;
use fractional::{Starts, is_fractional};
use kernel::{LANES, Run, Tap, row_kernel};
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{ErrorKind, Result, list};
use monomorph_iter::{GRAIN, is_parallel, share};
use monomorph_ops::pooling::{Fold, WindowAxis, WindowFn, WindowInputs, WindowPlan, Windowed};
use rows::Call;
use std::sync::{Mutex, PoisonError};

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
    /// The windows of the first two of three dimensions, and what they count in a divisor; none of fractional ones.
    outer: [Vec<(Tap, i64)>; 2],
    /// For gradients, the divisors of the windows of each dimension.
    divisors: [Vec<i64>; 3],
    /// For gradients that are spread window by window, the places that the windows of the last dimension cover.
    covered: Vec<Tap>,
    /// These cover each place once.
    tiles: bool,
    way: Way,
    /// Copies of an input.
    _own: Own,
}

/// How a row is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By blocks of lanes.
    Blocks,
    /// Maxima of the columns of windows first, then of those.
    Columns,
    /// Each window's share of the gradient where it lies.
    Spread,
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
            outer: [Vec::new(), Vec::new()],
            divisors: [Vec::new(), Vec::new(), Vec::new()],
            covered: Vec::new(),
            tiles: false,
            way: Way::Blocks,
            _own: Own::new(),
        };
        if ready.outputs[0].numel() == 0 {
            return Ok(ready);
        }
        row_kernel(input.dtype, plan.fold, Way::Blocks).ok_or_else(|| no_kernel(input.dtype, "others"))?;
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
        ready.find_outer(plan)?;
        ready.choose(plan)?;
        Ok(ready)
    }

    /// The windows of the dimensions before the last one.
    fn find_outer(&mut self, plan: &WindowPlan) -> Result<()> {
        if is_fractional(plan) {
            return Ok(());
        }
        let (n, dims) = (plan.axes.len(), self.input.sizes.len());
        for (d, axis) in plan.axes.iter().enumerate().take(n - 1) {
            let places = self.outputs[0].sizes[dims - n + d];
            let list = &mut self.outer[3 - n + d];
            *list = list::with_capacity(places as usize)?;
            list.extend((0..places).map(|o| (window(plan, axis, o), divisor(plan, axis, o))));
        }
        Ok(())
    }

    /// Which way is the fastest: lanes of a block are idle where runs are shorter.
    fn choose(&mut self, plan: &WindowPlan) -> Result<()> {
        let Some(axis) = plan.axes.last().filter(|_| self.lanes(plan).is_none()) else { return Ok(()) };
        // Fractional windows have runs for each plane.
        let planes = self.starts.planes.max(1) as i64;
        let folded = self.runs.iter().map(|run| run.tap.count.saturating_mul(run.n as i64)).sum::<i64>() / planes;
        let (places, in_runs) = self.runs.iter().fold((0, 0), |(places, in_runs), run| {
            let is_long = run.n >= LANES && run.distance > 0;
            (places + run.n, in_runs + if is_long { run.n } else { 0 })
        });
        self.way = match plan.fold {
            // Columns that no window covers would be looked at in vain.
            Fold::Max if self.runs.len() * LANES > places && folded >= axis.input / 2 => Way::Columns,
            Fold::Spread(_) if in_runs < places / 2 => Way::Spread,
            _ => Way::Blocks,
        };
        if self.way == Way::Spread {
            self.covered = list::with_capacity(axis.windows as usize)?;
            let covered = (0..axis.windows).map(|o| axis.window(o));
            self.covered.extend(covered.map(|window| Tap { start: window.start, count: window.count }));
            self.tiles = spread::tiles(&self.covered, axis.input);
        }
        Ok(())
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
        let Some(kernel) = row_kernel(self.input.dtype, plan.fold, self.way) else {
            return Err(no_kernel(self.input.dtype, "others").into());
        };
        let call = Call { ready: self, plan, targets: &targets, lanes: self.lanes(plan) };
        let rows = call.rows();
        let elements = self.outputs[0].numel();
        let together = if is_parallel(elements, GRAIN / 4) { (GRAIN / 4 * rows / elements).max(1) } else { rows };
        let failed = Mutex::new(None);
        share(rows.div_ceil(together), |piece| {
            let rows = piece * together..rows.min((piece + 1) * together);
            // SAFETY: P1: windows lie within the input, and rows of the outputs apart from each other.
            if let Err(error) = unsafe { call.compute(rows, kernel) } {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        });
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        for (output, (_, target)) in self.outputs.iter().zip(&targets) {
            if target.data != output.data {
                // SAFETY: P1 for both; a tensor in place of the output lies apart from it, and both are ours.
                unsafe { target.copy_to(output) }?;
            }
        }
        Ok(())
    }
}
