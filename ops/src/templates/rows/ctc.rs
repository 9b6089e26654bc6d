//! Connectionist temporal classification (A. Graves et al., 2006): the likelihood that a sequence of class
//! probabilities, without blanks and repetitions, is the target. Owns the arguments; lengths are checked on the host,
//! and given to devices as tensors.

use super::{Rows, RowsFn, RowsInputs, RowsPlan, Task, declare};
use crate::composite::rule;
use crate::copies::to_dtype;
use crate::functions::{clamp_min, div, eq, masked_fill, mean, sum};
use crate::kernels::AllKernels;
use crate::table::native;
use crate::view;
use monomorph_core::structured::{Functional, Operand, SinkState, call};
use monomorph_core::{DType, Error, ErrorKind, Result, Tensor, observe};

/// `_ctc_loss`, of the probabilities, the targets, and the lengths of both; the integers are the blank and the largest
/// length of a target.
pub struct CtcLossFn;

impl super::sealed::Sealed for CtcLossFn {}
impl RowsFn for CtcLossFn {
    const NAME: &'static str = "_ctc_loss";
    const OUTPUTS: usize = 2;

    fn plan(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>) -> Result<RowsPlan> {
        let dtype = inputs.dtype(0)?;
        let &[times, batch, classes] = inputs.operand(0).sizes() else {
            let got = inputs.operand(0).sizes().len();
            return Err(ErrorKind::DimCount { arg: "log_probs", got, accepted: "3" }.into());
        };
        if [times, batch, classes].contains(&0) {
            return Err(rule("argument log_probs is empty; accepted is one element or more"));
        }
        if !matches!(dtype, DType::F32 | DType::F64) {
            let (what, accepted) = ("argument log_probs has dtype", "float32 and float64");
            return Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into());
        }
        let of_targets = inputs.operand(1).sizes();
        let row = match of_targets {
            [_] => None,
            &[rows, row] if rows == batch => Some(row as usize),
            _ => {
                let (got, want) = (of_targets.to_vec(), vec![batch]);
                return Err(ErrorKind::UnequalSizes { arg: "targets", got, want }.into());
            }
        };
        let (blank, longest) = (inputs.int(0), inputs.int(1));
        let states = longest.saturating_mul(2).saturating_add(1);
        declare(inputs, sink, 0, &[batch], dtype)?;
        declare(inputs, sink, 1, &[batch, times, states], dtype)?;
        let [times, batch, classes] = [times, batch, classes].map(|n| n as usize);
        let sizes = [times, batch, classes];
        Ok(RowsPlan::of(Task::CtcLoss { sizes, states: states as usize, row, blank: blank as usize }, dtype))
    }
}

/// Both results of `_ctc_loss`.
fn likelihoods<D: AllKernels>(
    log_probs: &Tensor<D>,
    targets: &Tensor<D>,
    [inputs, lengths]: [&[i64]; 2],
    blank: i64,
) -> Result<[Tensor<D>; 2]> {
    let &[times, batch, classes] = log_probs.sizes() else {
        return Err(ErrorKind::DimCount { arg: "log_probs", got: log_probs.ndim(), accepted: "3" }.into());
    };
    if !matches!(targets.dtype(), DType::I64 | DType::I32) {
        let (what, got) = ("argument targets has dtype", targets.dtype());
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted: "int64 and int32" }.into());
    }
    if !(0..classes).contains(&blank) {
        return Err(ErrorKind::OutOfRange { arg: "blank", got: blank, low: 0, high: classes.saturating_sub(1) }.into());
    }
    for (arg, list) in [("input_lengths", inputs), ("target_lengths", lengths)] {
        let (got, want) = (list.len(), batch as usize);
        if got != want {
            return Err(ErrorKind::ListLength { arg, got, want }.into());
        }
    }
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let (row, arg) = (targets.sizes().get(1).copied().unwrap_or(i64::MAX), "target_lengths");
    if let Some(&got) = lengths.iter().find(|&&n| !(0..=row).contains(&n)) {
        return Err(ErrorKind::OutOfRange { arg, got, low: 0, high: row }.into());
    }
    if let Some(&got) = inputs.iter().find(|&&n| !(0..=times).contains(&n)) {
        return Err(ErrorKind::OutOfRange { arg: "input_lengths", got, low: 0, high: times }.into());
    }
    let all = lengths.iter().fold(0_i64, |all, &n| all.saturating_add(n));
    if targets.ndim() == 1 && targets.sizes()[0] != all {
        let (got, want) = (targets.numel(), all as usize);
        return Err(ErrorKind::ListLength { arg: "targets", got, want }.into());
    }
    let [inputs, lengths] = [beside(log_probs, inputs)?, beside(log_probs, lengths)?];
    let tensors = [Operand::from(log_probs), Operand::from(targets), Operand::from(&inputs), Operand::from(&lengths)];
    let arguments = RowsInputs::of(&tensors).with_ints(&[blank, longest]);
    call::<Rows<CtcLossFn>, D, _>(&arguments, Functional::default())
}

/// A list as a tensor on the device of another; on meta its sizes alone.
fn beside<D: AllKernels>(tensor: &Tensor<D>, list: &[i64]) -> Result<Tensor<D>> {
    match tensor.device().is_meta() {
        true => Tensor::<D>::zeros_contiguous(DType::I64, &[list.len() as i64]),
        false => Tensor::<D>::from_slice_on(tensor.device().index, list, list.len()),
    }
}

/// Lengths that are a tensor, as a list.
fn listed<D: AllKernels>(lengths: &Tensor<D>) -> Result<Vec<i64>> {
    if !lengths.dtype().is_integral(false) {
        let (what, got) = ("an argument of lengths has dtype", lengths.dtype());
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted: "integers" }.into());
    }
    to_dtype(lengths, DType::I64, false, false, None)?.to_vec::<i64>()
}

/// `_ctc_loss`.
pub fn likelihood<D: AllKernels>(
    log_probs: &Tensor<D>,
    targets: &Tensor<D>,
    input_lengths: &[i64],
    target_lengths: &[i64],
    blank: i64,
    _zero_infinity: bool,
) -> Result<(Tensor<D>, Tensor<D>)> {
    let _span = observe::operator("_ctc_loss", [log_probs.geometry(), targets.geometry()]);
    let [losses, alphas] = likelihoods(log_probs, targets, [input_lengths, target_lengths], blank)
        .map_err(|e: Error| e.called("_ctc_loss"))?;
    Ok((losses, alphas))
}

/// `_ctc_loss.Tensor`.
pub fn likelihood_of_tensors<D: AllKernels>(
    log_probs: &Tensor<D>,
    targets: &Tensor<D>,
    input_lengths: &Tensor<D>,
    target_lengths: &Tensor<D>,
    blank: i64,
    zero_infinity: bool,
) -> Result<(Tensor<D>, Tensor<D>)> {
    let _span = observe::operator("_ctc_loss", [log_probs.geometry(), targets.geometry()]);
    let lists = || Ok((listed(input_lengths)?, listed(target_lengths)?));
    let (inputs, lengths) = lists().map_err(|e: Error| e.called("_ctc_loss"))?;
    likelihood(log_probs, targets, &inputs, &lengths, blank, zero_infinity)
}

/// `ctc_loss.IntList`.
pub fn ctc_loss<D: AllKernels>(
    log_probs: &Tensor<D>,
    targets: &Tensor<D>,
    input_lengths: &[i64],
    target_lengths: &[i64],
    blank: i64,
    reduction: i64,
    zero_infinity: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("ctc_loss", [log_probs.geometry(), targets.geometry()]);
    let make = || {
        let is_batch = log_probs.ndim() != 2;
        let batch = match is_batch {
            true => log_probs.clone(),
            false => log_probs.with_geometry(view::unsqueeze(log_probs.geometry(), 1)?)?,
        };
        let [mut losses, _] = likelihoods(&batch, targets, [input_lengths, target_lengths], blank)?;
        if zero_infinity {
            losses = masked_fill(&losses, &eq(&losses, f64::INFINITY)?, 0)?;
        }
        match reduction {
            1 => {
                let lengths = beside(&losses, target_lengths)?;
                let lengths = clamp_min(&to_dtype(&lengths, losses.dtype(), false, false, None)?, 1)?;
                mean(&div(&losses, &lengths)?, ..)
            }
            2 => sum(&losses, ..),
            _ if is_batch => Ok(losses),
            _ => losses.with_geometry(view::select(losses.geometry(), 0, 0)?),
        }
    };
    make().map_err(|e: Error| e.called("ctc_loss"))
}

/// `ctc_loss.Tensor`.
pub fn ctc_loss_of_tensors<D: AllKernels>(
    log_probs: &Tensor<D>,
    targets: &Tensor<D>,
    input_lengths: &Tensor<D>,
    target_lengths: &Tensor<D>,
    blank: i64,
    reduction: i64,
    zero_infinity: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("ctc_loss", [log_probs.geometry(), targets.geometry()]);
    let lists = || Ok((listed(input_lengths)?, listed(target_lengths)?));
    let (inputs, lengths) = lists().map_err(|e: Error| e.called("ctc_loss"))?;
    ctc_loss(log_probs, targets, &inputs, &lengths, blank, reduction, zero_infinity)
}

/// An error if a target is no class; for devices, which look at them.
pub fn check_target(target: i64, classes: usize) -> Result<()> {
    match usize::try_from(target).is_ok_and(|target| target < classes) {
        true => Ok(()),
        false => Err(rule("argument targets has a class out of range")),
    }
}

native! {
    family: Sequences, functions: crate::kernels::AllKernels;

    func: _ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0,
        bool zero_infinity=False) -> (Tensor, Tensor),
    autogen: _ctc_loss.out, kernel: likelihood;

    func: _ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0,
        bool zero_infinity=False) -> (Tensor, Tensor),
    autogen: _ctc_loss.Tensor_out, kernel: likelihood_of_tensors;

    func: ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0,
        int reduction=Mean, bool zero_infinity=False) -> Tensor,
    kernel: ctc_loss;

    func: ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0,
        int reduction=Mean, bool zero_infinity=False) -> Tensor,
    kernel: ctc_loss_of_tensors;

    structured: Rows<CtcLossFn>;
}
