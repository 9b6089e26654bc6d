//! Operators on rows on the CPU: softmax, normalisation, losses of classes, distances.
//!
//! Every operand is read as a dense run in the dtype that is computed in, where it lies or from a [copy](crate::dense);
//! outputs are written where they lie or, where those are of another dtype, copied there. In between, all is slices:
//! a kernel takes rows and gives rows. Rows are shared among threads, and a row is one thread's, so results do not
//! depend on their number.

mod cell;
mod channels;
mod classes;
mod ctc;
mod entropy;
mod fold;
mod frame;
mod layer;
mod output;
mod pairs;
mod softmax;

use crate::dense::Dense;
use crate::device::Cpu;
use crate::isa::Level;
use classes::{Margin, Numbers};
use frame::Real;
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, Result};
use monomorph_ops::rows::{Rows, RowsFn, RowsInputs, RowsPlan, Task};
use output::Output;
use smallvec::SmallVec;

/// A call bound to memory.
#[derive(Debug)]
pub struct Ready {
    inputs: SmallVec<[Dense; 5]>,
    outputs: SmallVec<[Output; 3]>,
    level: Level,
    /// The dtype of the first input, if that is read as it lies though it is not computed in.
    halves: Option<DType>,
}

// SAFETY: every element of the inputs is in bounds, and every one of the outputs is written: an `Output` writes all.
unsafe impl<F: RowsFn> Executes<Rows<F>> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &RowsPlan, inputs: &RowsInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        // SAFETY: E1, E2.
        unsafe { Ready::new(plan, inputs, outputs, F::OUTPUTS) }
    }

    unsafe fn run(ready: &mut Ready, plan: &RowsPlan) -> Result<()> {
        // SAFETY: E2: the operands are borrowed.
        unsafe { ready.load() }?;
        ready.run_all(plan)?;
        // SAFETY: E2: the outputs are borrowed as long as this runs.
        ready.outputs.iter().try_for_each(|output| unsafe { output.deliver() })
    }
}

/// The half dtype of a first input of which a kernel reads so few elements that it is not converted.
fn halves_of(task: Task, inputs: &RowsInputs<'_>) -> Option<DType> {
    let dtype = inputs.operands().first()?.dtype()?;
    (matches!(task, Task::NllLoss { .. }) && matches!(dtype, DType::F16 | DType::BF16)).then_some(dtype)
}

/// Whether a kernel goes by contents that have to be looked at first.
fn is_checked(task: Task) -> bool {
    matches!(
        task,
        Task::NllLoss { .. }
            | Task::NllLossBackward { .. }
            | Task::MultiMargin { .. }
            | Task::MultiMarginBackward { .. }
            | Task::MultilabelMargin { .. }
            | Task::MultilabelMarginBackward { .. }
            | Task::CrossEntropies { .. }
            | Task::CtcLoss { .. }
    )
}

impl Ready {
    /// # Safety
    ///
    /// E1, E2.
    unsafe fn new(plan: &RowsPlan, inputs: &RowsInputs<'_>, outputs: &Outputs<'_>, count: usize) -> Result<Ready> {
        let level = crate::level()?;
        let halves = halves_of(plan.task, inputs);
        let dense = |(i, operand): (usize, &Operand<'_>)| {
            let dtype = match (operand.dtype(), halves) {
                (Some(dtype), _) if dtype.is_integral(true) => DType::I64,
                (_, Some(dtype)) if i == 0 => dtype,
                _ => plan.dtype,
            };
            // SAFETY: E2: the operands are borrowed as long as the result lives.
            unsafe { Dense::new(operand, dtype, plan.copies) }
        };
        let inputs = match plan.task {
            Task::Nothing => SmallVec::new(),
            _ => inputs.operands().iter().enumerate().map(dense).collect::<Result<_>>()?,
        };
        // SAFETY: E2, and inputs that share memory with an output were copied.
        let outputs = (0..count).map(|i| unsafe { Output::new(outputs, i, plan.dtype) }).collect::<Result<_>>()?;
        let mut ready = Ready { inputs, outputs, level, halves };
        if is_checked(plan.task) {
            // SAFETY: E2: the operands are borrowed.
            unsafe { ready.load() }?;
        }
        match plan.dtype {
            DType::F64 => ready.check::<f64>(plan)?,
            _ => ready.check::<f32>(plan)?,
        }
        Ok(ready)
    }

    /// Copies what kernels do not read where it lies.
    ///
    /// # Safety
    ///
    /// E2.
    unsafe fn load(&mut self) -> Result<()> {
        // SAFETY: the caller's promise.
        self.inputs.iter_mut().try_for_each(|input| unsafe { input.load() })
    }

    /// Not generic over the operator, so that kernels are compiled with this crate, and once.
    #[inline(never)]
    fn run_all(&mut self, plan: &RowsPlan) -> Result<()> {
        match plan.dtype {
            DType::F64 => self.run::<f64>(plan),
            _ => self.run::<f32>(plan),
        }
    }

    /// Looks at what a kernel goes by: before outputs count as written, and in each run, because contents change
    /// between runs.
    fn check<T: Real>(&self, plan: &RowsPlan) -> Result<()> {
        let input = |i: usize| self.inputs.get(i).map_or(&[][..], Dense::elements::<T>);
        let indices = |i: usize| self.inputs.get(i).map_or(&[][..], Dense::elements::<i64>);
        match plan.task {
            Task::NllLoss { channels, ignore, .. } => classes::check_targets(indices(1), channels.c, Some(ignore)),
            Task::NllLossBackward { channels, ignore, .. } => {
                classes::check_targets(indices(2), channels.c, Some(ignore))
            }
            Task::MultiMargin { n, .. } => classes::check_targets(indices(1), n, None),
            Task::MultiMarginBackward { n, .. } => classes::check_targets(indices(2), n, None),
            Task::MultilabelMargin { n, .. } => classes::check_labels(indices(1), n),
            Task::MultilabelMarginBackward { n, .. } => {
                classes::check_labels(indices(2), n).and_then(|()| classes::check_marks(input(3)))
            }
            Task::CrossEntropies { .. } => entropy::check_probabilities([input(0), input(1)]),
            Task::CtcLoss { sizes, states, row, blank } => {
                ctc::check(ctc::Shape { sizes, states, row, blank }, indices(1), indices(3))
            }
            _ => Ok(()),
        }
    }

    fn run<T: Real>(&mut self, plan: &RowsPlan) -> Result<()> {
        self.check::<T>(plan)?;
        let Ready { inputs, outputs, level, halves } = self;
        let input = |i: usize| inputs.get(i).map_or(&[][..], Dense::elements::<T>);
        let indices = |i: usize| inputs.get(i).map_or(&[][..], Dense::elements::<i64>);
        match (plan.task, &mut outputs[..]) {
            (Task::Nothing, _) => {}
            (Task::Softmax { block, log, rounded }, [out]) => {
                softmax::forward(*level, block, log.then_some(rounded), input(0), out);
            }
            (Task::SoftmaxBackward { block, log }, [out]) => {
                softmax::backward(*level, block, log, [input(0), input(1)], out);
            }
            (Task::LayerNorm { rows, n, eps }, [y, mean, rstd]) => {
                layer::forward(*level, [rows, n], eps, [0, 1, 2].map(input), [y, mean, rstd]);
            }
            (Task::RmsNorm { rows, n, eps }, [y, rstd]) => {
                layer::rms_forward(*level, [rows, n], eps, [0, 1].map(input), [y, rstd]);
            }
            (Task::LayerNormBackward { rows, n, wanted }, [x, weight, bias]) => {
                layer::backward(*level, [rows, n], wanted, [0, 1, 2, 3, 4].map(input), [x, weight, bias]);
            }
            (Task::GroupNorm { channels, groups, eps }, [y, mean, rstd]) => {
                channels::group_forward(*level, (channels, groups), eps, [0, 1, 2].map(input), [y, mean, rstd])?;
            }
            (Task::GroupNormBackward { channels, groups, wanted }, [x, weight, bias]) => {
                let inputs = [0, 1, 2, 3, 4].map(input);
                channels::group_backward(*level, (channels, groups), wanted, inputs, [x, weight, bias])?;
            }
            (Task::BatchNorm { channels, training, momentum, eps, statistics }, outputs) => {
                let numbers = (training, momentum, eps, statistics);
                channels::batch_forward(*level, channels, numbers, [0, 1, 2, 3, 4].map(input), outputs)?;
            }
            (Task::BatchNormBackward { channels, training, eps, wanted }, [x, weight, bias]) => {
                let inputs = [0, 1, 2, 3, 4, 5, 6].map(input);
                channels::batch_backward(*level, channels, (training, eps, wanted), inputs, [x, weight, bias])?;
            }
            (Task::WeightNorm { channels }, [w, norms]) => {
                channels::weight_norm(*level, channels, [input(0), input(1)], [w, norms])?;
            }
            (Task::NllLoss { channels, reduction, ignore }, [out, total]) => {
                let x = match halves {
                    Some(dtype) => Numbers::Halves(*dtype, inputs.first().map_or(&[], Dense::elements::<u16>)),
                    None => Numbers::Plain(input(0)),
                };
                classes::nll(channels, reduction, ignore, (x, indices(1), input(2)), [out, total]);
            }
            (Task::NllLossBackward { channels, reduction, ignore }, [out]) => {
                let inputs = (input(0), indices(2), input(3), input(4));
                classes::nll_backward(channels, reduction, ignore, inputs, out);
            }
            (Task::MultiMargin { rows, n, is_square, margin, reduction }, [out]) => {
                let margin = Margin { is_square, margin, reduction };
                classes::multi_margin([rows, n], margin, (input(0), indices(1), input(2)), out);
            }
            (Task::MultiMarginBackward { rows, n, is_square, margin, reduction }, [out]) => {
                let margin = Margin { is_square, margin, reduction };
                classes::multi_margin_backward([rows, n], margin, (input(0), input(1), indices(2), input(3)), out);
            }
            (Task::MultilabelMargin { rows, n, reduction }, [out, is_target]) => {
                classes::multilabel_margin([rows, n], reduction, (input(0), indices(1)), [out, is_target]);
            }
            (Task::MultilabelMarginBackward { rows, n, reduction }, [out]) => {
                let inputs = (input(0), input(1), indices(2), input(3));
                classes::multilabel_margin_backward([rows, n], reduction, inputs, out);
            }
            (Task::CrossEntropies { n, rounded }, [out]) => {
                entropy::cross_entropies(*level, n, rounded, [input(0), input(1)], out);
            }
            (Task::Pdist { rows, columns, p }, [out]) => pairs::forward(*level, [rows, columns], p, input(0), out)?,
            (Task::PdistBackward { rows, columns, p }, [out]) => {
                pairs::backward(rows, columns, p, [0, 1, 2].map(input), out);
            }
            (Task::LstmCell { rows, hidden }, [state, cell, gates]) => {
                cell::lstm(*level, [rows, hidden], [0, 1, 2, 3, 4].map(input), [state, cell, gates]);
            }
            (Task::GruCell { rows, hidden }, [state, gates]) => {
                cell::gru(*level, [rows, hidden], [0, 1, 2, 3, 4].map(input), [state, gates]);
            }
            (Task::CtcLoss { sizes, states, row, blank }, [losses, alphas]) => {
                let shape = ctc::Shape { sizes, states, row, blank };
                ctc::forward(shape, (input(0), indices(1), indices(2), indices(3)), [losses, alphas]);
            }
            _ => {}
        }
        Ok(())
    }
}
