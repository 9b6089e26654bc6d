//! The rows template: operators that take tensors as a block of rows, and look at a whole row before they write any
//! element of it: softmax, normalisation, losses of classes, distances of rows. Owns what there is to compute
//! ([`Task`]), the arguments, and the meta function's common half; the operators are in one file per family.
//!
//! ```text
//!   a tensor, row-major:   [outer, n, inner]      a row is n elements, inner apart
//!   softmax along dim      sizes before dim, of dim, behind dim
//!   layer_norm             rows of normalized_shape; inner is 1
//!   batch_norm             a channel is n of [batch, n, inner]
//! ```
//!
//! Devices compute in float64 where the operands are, and else in float32, and round once to the dtype of the output.
#![deny(clippy::arithmetic_side_effects)]

pub mod batch;
pub mod cell;
pub mod classes;
pub mod ctc;
mod inputs;
pub mod norm;
pub mod pairs;
pub mod softmax;

pub use classes::Reduction;
pub use inputs::RowsInputs;

use crate::order::check_overlap;
use monomorph_core::structured::{Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, ErrorKind, Options, Result};
use std::marker::PhantomData;

mod sealed {
    /// Devices follow plans without looking: only operators of this module may write them.
    pub trait Sealed {}
}

/// An operator as a function from arguments to a plan. Sealed, since devices trust plans.
pub trait RowsFn: sealed::Sealed + Sized + Send + Sync + 'static {
    /// The name that errors carry.
    const NAME: &'static str;
    /// How many results there are.
    const OUTPUTS: usize = 1;

    /// Checks the arguments, declares the outputs, and says what is computed.
    fn plan(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>) -> Result<RowsPlan>;
}

/// The operator of `F`.
pub struct Rows<F>(PhantomData<fn() -> F>);

impl<F> crate::table::Template for Rows<F> {
    type Body = F;
}

impl<F: RowsFn> StructuredOp for Rows<F> {
    const NAME: &'static str = F::NAME;
    const OUTPUTS: usize = F::OUTPUTS;
    type Inputs<'t> = RowsInputs<'t>;
    type Plan = RowsPlan;
    type Home = F;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        inputs.operands()
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        *plan = F::plan(inputs, sink)?;
        plan.copies = check_overlap(inputs.operands(), sink, false)?.1;
        Ok(())
    }
}

/// A row-major block of rows: `n` elements, `inner` apart, `outer · inner` times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// What comes before the dimension.
    pub outer: usize,
    /// The dimension.
    pub n: usize,
    /// What comes behind it.
    pub inner: usize,
}

impl Block {
    /// The sizes before, of and behind a dimension; a tensor without dimensions is a row of one.
    fn along(sizes: &[i64], dim: usize) -> Block {
        let product = |sizes: &[i64]| sizes.iter().fold(1_usize, |all, &size| all.saturating_mul(size as usize));
        match sizes.get(dim) {
            Some(&n) => Block {
                outer: product(&sizes[..dim]),
                n: n as usize,
                inner: product(sizes.get(dim.saturating_add(1)..).unwrap_or_default()),
            },
            None => Block { outer: 1, n: 1, inner: 1 },
        }
    }

    /// How many elements there are.
    pub fn numel(&self) -> usize {
        self.outer.saturating_mul(self.n).saturating_mul(self.inner)
    }
}

/// Channels of a row-major tensor: `n` times `c` of them, of `s` elements each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Channels {
    /// The batch.
    pub n: usize,
    /// The channels.
    pub c: usize,
    /// Elements of a channel beside each other.
    pub s: usize,
}

impl Channels {
    /// How many elements there are.
    pub fn numel(&self) -> usize {
        self.n.saturating_mul(self.c).saturating_mul(self.s)
    }
}

/// What is computed of each row.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Task {
    /// Nothing: there is no element.
    #[default]
    Nothing,
    /// Exponentials over their sum, or the logarithms of that.
    Softmax {
        /// The rows.
        block: Block,
        /// Logarithms.
        log: bool,
        /// The dtype that the sum of a row, and the logarithm of it, are rounded to.
        rounded: DType,
    },
    /// The gradient of it, of the gradient of its result and the result.
    SoftmaxBackward {
        /// The rows.
        block: Block,
        /// Of logarithms.
        log: bool,
    },
    /// Of input, weight, bias: rows of mean 0 and variance 1, and the statistics.
    LayerNorm {
        /// How many rows.
        rows: usize,
        /// Elements of a row.
        n: usize,
        /// What is added to variances.
        eps: f64,
    },
    /// Of input, weight: rows over the root of their mean square, and the reciprocals of these roots.
    RmsNorm {
        /// How many rows.
        rows: usize,
        /// Elements of a row.
        n: usize,
        /// What is added to mean squares.
        eps: f64,
    },
    /// Of gradient, input, mean, rstd, weight: the gradients of input, weight and bias.
    LayerNormBackward {
        /// How many rows.
        rows: usize,
        /// Elements of a row.
        n: usize,
        /// Which results are wanted; others have no element.
        wanted: [bool; 3],
    },
    /// Of input, weight, bias: groups of channels of mean 0 and variance 1, and the statistics.
    GroupNorm {
        /// The channels.
        channels: Channels,
        /// Groups of channels.
        groups: usize,
        /// What is added to variances.
        eps: f64,
    },
    /// Of gradient, input, mean, rstd, weight: the gradients of input, weight and bias.
    GroupNormBackward {
        /// The channels.
        channels: Channels,
        /// Groups of channels.
        groups: usize,
        /// Which results are wanted; others have no element.
        wanted: [bool; 3],
    },
    /// Of input, weight, bias, running mean and running variance: the result, mean and rstd, and the running statistics
    /// as they are afterwards.
    BatchNorm {
        /// The channels.
        channels: Channels,
        /// Statistics are those of the batch; otherwise the running ones.
        training: bool,
        /// How much of the running statistics is replaced.
        momentum: f64,
        /// What is added to variances.
        eps: f64,
        /// The dtype of statistics. PyTorch rounds them to bfloat16, not to float16, before the running ones follow.
        statistics: DType,
    },
    /// Of gradient, input, weight, running mean, running variance, mean, rstd: the gradients of input, weight and bias.
    BatchNormBackward {
        /// The channels.
        channels: Channels,
        /// Statistics were those of the batch.
        training: bool,
        /// What was added to variances.
        eps: f64,
        /// Which results are wanted; others have no element.
        wanted: [bool; 3],
    },
    /// Of directions and lengths: channels of these lengths, and the lengths that they had.
    WeightNorm {
        /// The channels.
        channels: Channels,
    },
    /// Of logarithms, targets and weights of classes: the loss, and the sum of the weights.
    NllLoss {
        /// The classes are channels.
        channels: Channels,
        /// What becomes of the losses.
        reduction: Reduction,
        /// The target that counts as none.
        ignore: i64,
    },
    /// Of gradient, logarithms, targets, weights and their sum: the gradient of the logarithms.
    NllLossBackward {
        /// The classes are channels.
        channels: Channels,
        /// What became of the losses.
        reduction: Reduction,
        /// The target that counts as none.
        ignore: i64,
    },
    /// Of rows, targets and weights of classes: the loss.
    MultiMargin {
        /// How many rows.
        rows: usize,
        /// Classes.
        n: usize,
        /// Squares of what is above the margin.
        is_square: bool,
        /// How far the target should be above other classes.
        margin: f64,
        /// What becomes of the losses.
        reduction: Reduction,
    },
    /// Of gradient, rows, targets and weights: the gradient of the rows.
    MultiMarginBackward {
        /// How many rows.
        rows: usize,
        /// Classes.
        n: usize,
        /// Squares of what is above the margin.
        is_square: bool,
        /// How far the target should be above other classes.
        margin: f64,
        /// What became of the losses.
        reduction: Reduction,
    },
    /// Of rows and their labels, which -1 ends: the loss, and which classes are labels.
    MultilabelMargin {
        /// How many rows.
        rows: usize,
        /// Classes.
        n: usize,
        /// What becomes of the losses.
        reduction: Reduction,
    },
    /// Of gradient, rows, labels and which classes are labels: the gradient of the rows.
    MultilabelMarginBackward {
        /// How many rows.
        rows: usize,
        /// Classes.
        n: usize,
        /// What became of the losses.
        reduction: Reduction,
    },
    /// Of probabilities and their targets: the cross entropy of each.
    CrossEntropies {
        /// How many.
        n: usize,
        /// The dtype that each step is rounded to.
        rounded: DType,
    },
    /// Of a matrix: the distances of all pairs of rows.
    Pdist {
        /// How many rows.
        rows: usize,
        /// Elements of a row.
        columns: usize,
        /// The order of the norm.
        p: f64,
    },
    /// Of gradient, matrix and distances: the gradient of the matrix.
    PdistBackward {
        /// How many rows.
        rows: usize,
        /// Elements of a row.
        columns: usize,
        /// The order of the norm.
        p: f64,
    },
    /// Of gates of the input and of the hidden state, the state, and biases of both: the state of a recurrent cell
    /// behind a step, and its gates.
    LstmCell {
        /// How many states.
        rows: usize,
        /// Elements of a state; a row of gates has four times as many.
        hidden: usize,
    },
    /// The same with gates of the reset, the update and the new state; of them and of what they are made is kept what a
    /// backward pass needs.
    GruCell {
        /// How many states.
        rows: usize,
        /// Elements of a state; a row of gates has three times as many.
        hidden: usize,
    },
    /// Of logarithms of probabilities, targets and the lengths of both: the losses, and the logarithms of the
    /// likelihoods of what leads to each state.
    CtcLoss {
        /// Times, batch and classes.
        sizes: [usize; 3],
        /// States of the longest target: twice its length and 1.
        states: usize,
        /// The length of a row of targets, if they are a matrix.
        row: Option<usize>,
        /// The class that is none.
        blank: usize,
    },
}

/// What a device needs besides the operands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RowsPlan {
    /// What is computed.
    pub task: Task,
    /// The dtype that is computed in: float32 or float64. Floating operands are converted to it, all others are indices
    /// and converted to int64.
    pub dtype: DType,
    /// An output may overwrite an input, so those are to be copied first.
    pub copies: bool,
}

impl Default for RowsPlan {
    fn default() -> RowsPlan {
        RowsPlan { task: Task::Nothing, dtype: DType::F32, copies: false }
    }
}

impl RowsPlan {
    /// A task on tensors of this dtype.
    fn of(task: Task, dtype: DType) -> RowsPlan {
        RowsPlan { task, dtype: if dtype == DType::F64 { DType::F64 } else { DType::F32 }, copies: false }
    }
}

/// Declares output `i`: row-major, on the device of the first operand.
fn declare(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>, i: usize, sizes: &[i64], dtype: DType) -> Result<()> {
    let device = inputs.operands().iter().find_map(Operand::tensor).map_or(DeviceId::CPU, |t| t.device());
    sink.set_output_contiguous(i, sizes, Options::new(dtype, device), None)
}

/// An error unless the dtype is a floating one.
fn check_floating(what: &'static str, got: DType) -> Result<()> {
    match got.is_floating() {
        true => Ok(()),
        false => Err(ErrorKind::DTypeNotSupported { what, got, accepted: "floating dtypes" }.into()),
    }
}

/// An error if tensor `i` has another dtype than this.
fn check_dtype(inputs: &RowsInputs<'_>, arg: &'static str, i: usize, want: DType) -> Result<()> {
    match inputs.operand(i).dtype() {
        Some(got) if got != want => Err(ErrorKind::DTypeMismatch { arg, got, want }.into()),
        _ => Ok(()),
    }
}

/// An error unless tensor `i` has these sizes.
fn check_sizes(inputs: &RowsInputs<'_>, arg: &'static str, i: usize, want: &[i64]) -> Result<()> {
    let got = inputs.operand(i).sizes();
    if got == want || inputs.operand(i).is_absent() {
        return Ok(());
    }
    Err(ErrorKind::UnequalSizes { arg, got: got.to_vec(), want: want.to_vec() }.into())
}
