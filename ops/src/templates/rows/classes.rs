//! Losses of classes: negative log likelihoods, margins, cross entropies of probabilities. Targets are checked before
//! anything is written.

use super::norm::{check_count, given};
use super::{Channels, Rows, RowsFn, RowsInputs, RowsPlan, Task, check_dtype, check_floating, check_sizes, declare};
use crate::composite::rule;
use crate::functions::{mean, mul, sum};
use crate::kernels::AllKernels;
use crate::table::native;
use monomorph_core::strides::{is_contiguous, preserve_strides, strides_for};
use monomorph_core::structured::{Functional, Operand, SinkState, call};
use monomorph_core::{DType, DeviceId, Error, ErrorKind, MemoryFormat, Options, Result, Tensor, observe};

/// What becomes of the losses of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// They are the result.
    None,
    /// Their mean.
    Mean,
    /// Their sum.
    Sum,
}

impl Reduction {
    fn of(number: i64) -> Reduction {
        match number {
            1 => Reduction::Mean,
            2 => Reduction::Sum,
            _ => Reduction::None,
        }
    }
}

/// An error unless targets are int64, or uint8 where those are taken.
fn check_target(inputs: &RowsInputs<'_>, i: usize, takes_bytes: bool) -> Result<()> {
    let got = inputs.dtype(i)?;
    if got == DType::I64 || takes_bytes && got == DType::U8 {
        return Ok(());
    }
    let (what, accepted) = ("argument target has dtype", if takes_bytes { "int64 and uint8" } else { "int64" });
    Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
}

/// An error unless the dtype is float32 or float64.
fn check_single(got: DType) -> Result<()> {
    let (what, accepted) = ("argument self has dtype", "float32 and float64");
    if matches!(got, DType::F32 | DType::F64) {
        return Ok(());
    }
    Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
}

/// The batch, the classes and the places of a call, and the sizes of its losses.
fn classes_of<'t>(inputs: &RowsInputs<'t>, x: usize, target: usize, is_plane: bool) -> Result<(Channels, &'t [i64])> {
    let (sizes, of_target) = (inputs.operand(x).sizes(), inputs.operand(target).sizes());
    let mismatch =
        || -> Error { ErrorKind::UnequalSizes { arg: "target", got: of_target.to_vec(), want: sizes.to_vec() }.into() };
    let count = |size: i64| size as usize;
    match (is_plane, sizes) {
        (true, &[n, c, h, w]) => match *of_target {
            [m, i, j] if [m, i, j] == [n, h, w] => {
                Ok((Channels { n: count(n), c: count(c), s: count(h).saturating_mul(count(w)) }, of_target))
            }
            [_, _, _] => Err(mismatch()),
            _ => Err(ErrorKind::DimCount { arg: "target", got: of_target.len(), accepted: "3" }.into()),
        },
        (true, _) => Err(ErrorKind::DimCount { arg: "self", got: sizes.len(), accepted: "4" }.into()),
        // One row: the target is a number, or a list of one.
        (false, &[c]) => match of_target {
            [] | [1] => Ok((Channels { n: 1, c: count(c), s: 1 }, &[])),
            _ => Err(mismatch()),
        },
        (false, &[n, c]) => match of_target {
            &[m] if m == n => Ok((Channels { n: count(n), c: count(c), s: 1 }, of_target)),
            _ => Err(mismatch()),
        },
        (false, _) => Err(ErrorKind::DimCount { arg: "self", got: sizes.len(), accepted: "1 and 2" }.into()),
    }
}

fn check_weight(inputs: &RowsInputs<'_>, i: usize, channels: Channels, dtype: DType) -> Result<()> {
    check_dtype(inputs, "weight", i, dtype)?;
    check_sizes(inputs, "weight", i, &[channels.c as i64])
}

/// The reduction; the loss of one row is its own sum.
fn reduction_of(inputs: &RowsInputs<'_>, x: usize) -> Reduction {
    match Reduction::of(inputs.int(0)) {
        Reduction::None if inputs.operand(x).sizes().len() == 1 => Reduction::Sum,
        reduction => reduction,
    }
}

/// An error unless a caller's output of these sizes is row-major, which PyTorch asks for.
fn check_row_major(sink: &SinkState<'_>, sizes: &[i64]) -> Result<()> {
    let is_kept = |g: &monomorph_core::Geometry| g.sizes() == sizes && !g.is_contiguous();
    if sink.existing(0).is_some_and(|out| is_kept(out.geometry())) {
        return Err(rule("argument grad_input must be contiguous"));
    }
    Ok(())
}

fn nll_forward(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>, is_plane: bool) -> Result<RowsPlan> {
    let dtype = inputs.dtype(0)?;
    let (channels, losses) = classes_of(inputs, 0, 1, is_plane)?;
    check_target(inputs, 1, !is_plane)?;
    check_floating("argument self has dtype", dtype)?;
    check_weight(inputs, 2, channels, dtype)?;
    let reduction = reduction_of(inputs, 0);
    declare(inputs, sink, 0, if reduction == Reduction::None { losses } else { &[] }, dtype)?;
    declare(inputs, sink, 1, &[], dtype)?;
    Ok(RowsPlan::of(Task::NllLoss { channels, reduction, ignore: inputs.int(1) }, dtype))
}

/// An error unless the gradient has one element, or where losses are not reduced their sizes.
fn check_grad(inputs: &RowsInputs<'_>, losses: &[i64], reduction: Reduction) -> Result<()> {
    if reduction == Reduction::None {
        check_sizes(inputs, "grad_output", 0, losses)
    } else {
        check_count(inputs, "grad_output", 0, 1)
    }
}

fn nll_backward(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>, is_plane: bool) -> Result<RowsPlan> {
    let dtype = inputs.dtype(1)?;
    let (channels, losses) = classes_of(inputs, 1, 2, is_plane)?;
    check_target(inputs, 2, !is_plane)?;
    check_floating("argument self has dtype", dtype)?;
    check_weight(inputs, 3, channels, dtype)?;
    check_dtype(inputs, "grad_output", 0, dtype)?;
    check_dtype(inputs, "total_weight", 4, dtype)?;
    check_count(inputs, "total_weight", 4, 1)?;
    let reduction = reduction_of(inputs, 1);
    check_grad(inputs, losses, reduction)?;
    let input = inputs.operand(1);
    let is_row_major = is_contiguous(input.sizes(), &preserve_strides(input.sizes(), input.strides()));
    if is_plane && sink.existing(0).is_none() && !is_row_major {
        return Err(rule(
            "argument self has a gradient of its strides, which PyTorch does not take; accepted are row-major ones",
        ));
    }
    if is_plane {
        check_row_major(sink, input.sizes())?;
    }
    declare(inputs, sink, 0, input.sizes(), dtype)?;
    Ok(RowsPlan::of(Task::NllLossBackward { channels, reduction, ignore: inputs.int(1) }, dtype))
}

/// Rows of classes: a matrix, or one row; the batch may be empty.
fn rows_of(sizes: &[i64]) -> Result<[usize; 2]> {
    match *sizes {
        [] => Ok([1, 1]),
        [n] if n > 0 => Ok([1, n as usize]),
        [rows, n] if n > 0 => Ok([rows as usize, n as usize]),
        [_] | [_, _] => Err(rule("argument self has rows without an element")),
        _ => Err(ErrorKind::DimCount { arg: "self", got: sizes.len(), accepted: "up to 2" }.into()),
    }
}

fn multi_margin(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>, x: usize) -> Result<RowsPlan> {
    let dtype = inputs.dtype(x)?;
    let [rows, n] = rows_of(inputs.operand(x).sizes())?;
    let (target, weight) = (x.saturating_add(1), x.saturating_add(2));
    let p = inputs.number(0);
    if p != 1.0 && p != 2.0 {
        return Err(rule("argument p must be 1 or 2"));
    }
    let of_target = inputs.operand(target).sizes();
    if of_target.len() > 1 || of_target.first().map_or(1, |&size| size as usize) != rows {
        let (got, want) = (of_target.to_vec(), vec![rows as i64]);
        return Err(ErrorKind::UnequalSizes { arg: "target", got, want }.into());
    }
    check_weight(inputs, weight, Channels { n: rows, c: n, s: 1 }, dtype)?;
    check_target(inputs, target, false)?;
    check_single(dtype)?;
    let reduction = Reduction::of(inputs.int(0));
    let margin = inputs.number(1);
    let is_square = p == 2.0;
    if x == 0 {
        // One row whose target is a number has a loss that is one.
        let losses = if reduction == Reduction::None { of_target } else { &[] };
        declare(inputs, sink, 0, losses, dtype)?;
        return Ok(RowsPlan::of(Task::MultiMargin { rows, n, is_square, margin, reduction }, dtype));
    }
    check_dtype(inputs, "grad_output", 0, dtype)?;
    let is_single = inputs.operand(0).geometry().map_or(1, |g| g.numel()) == 1;
    if !is_single || reduction == Reduction::None && rows != 1 {
        check_grad(inputs, of_target, reduction)?;
    }
    check_row_major(sink, inputs.operand(x).sizes())?;
    declare(inputs, sink, 0, inputs.operand(x).sizes(), dtype)?;
    Ok(RowsPlan::of(Task::MultiMarginBackward { rows, n, is_square, margin, reduction }, dtype))
}

fn multilabel(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>, x: usize) -> Result<RowsPlan> {
    let dtype = inputs.dtype(x)?;
    let sizes = inputs.operand(x).sizes();
    let [rows, n] = rows_of(sizes)?;
    let target = x.saturating_add(1);
    check_sizes(inputs, "target", target, sizes)?;
    check_target(inputs, target, false)?;
    check_single(dtype)?;
    let reduction = Reduction::of(inputs.int(0));
    let losses = &sizes[..sizes.len().saturating_sub(1)];
    if x == 0 {
        declare(inputs, sink, 0, if reduction == Reduction::None { losses } else { &[] }, dtype)?;
        declare(inputs, sink, 1, sizes, dtype)?;
        return Ok(RowsPlan::of(Task::MultilabelMargin { rows, n, reduction }, dtype));
    }
    check_dtype(inputs, "grad_output", 0, dtype)?;
    check_dtype(inputs, "is_target", 3, dtype)?;
    check_sizes(inputs, "is_target", 3, sizes)?;
    check_grad(inputs, losses, reduction)?;
    check_row_major(sink, sizes)?;
    declare(inputs, sink, 0, sizes, dtype)?;
    Ok(RowsPlan::of(Task::MultilabelMarginBackward { rows, n, reduction }, dtype))
}

/// The losses of `binary_cross_entropy`, element for element.
fn cross_entropies(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>) -> Result<RowsPlan> {
    let (dtype, sizes) = (inputs.dtype(0)?, inputs.operand(0).sizes());
    check_dtype(inputs, "target", 1, dtype)?;
    check_floating("argument self has dtype", dtype)?;
    check_sizes(inputs, "target", 1, sizes)?;
    let tensor = inputs.operand(0).tensor();
    let device = tensor.map_or(DeviceId::CPU, |t| t.device());
    let hint = match tensor {
        Some(t) => preserve_strides(sizes, t.geometry().strides()),
        None => strides_for(sizes, MemoryFormat::Contiguous)?,
    };
    sink.set_output_raw_strided(0, sizes, Some(&hint), Options::new(dtype, device), None)?;
    let n = inputs.operand(0).geometry().map_or(1, |g| g.numel());
    Ok(RowsPlan::of(Task::CrossEntropies { n, rounded: dtype }, dtype))
}

macro_rules! losses {
    ($($(#[$doc:meta])* $ty:ident $name:literal $outputs:literal: |$inputs:ident, $sink:ident| $plan:expr;)*) => {$(
        $(#[$doc])*
        pub struct $ty;
        impl super::sealed::Sealed for $ty {}
        impl RowsFn for $ty {
            const NAME: &'static str = $name;
            const OUTPUTS: usize = $outputs;
            fn plan($inputs: &RowsInputs<'_>, $sink: &mut SinkState<'_>) -> Result<RowsPlan> {
                $plan
            }
        }
    )*};
}
losses! {
    /// `nll_loss_forward`.
    NllLossFn "nll_loss_forward" 2: |inputs, sink| nll_forward(inputs, sink, false);
    /// `nll_loss2d_forward`.
    NllLoss2dFn "nll_loss2d_forward" 2: |inputs, sink| nll_forward(inputs, sink, true);
    /// `nll_loss_backward`.
    NllLossBackwardFn "nll_loss_backward" 1: |inputs, sink| nll_backward(inputs, sink, false);
    /// `nll_loss2d_backward`.
    NllLoss2dBackwardFn "nll_loss2d_backward" 1: |inputs, sink| nll_backward(inputs, sink, true);
    /// `multi_margin_loss`.
    MultiMarginFn "multi_margin_loss" 1: |inputs, sink| multi_margin(inputs, sink, 0);
    /// `multi_margin_loss_backward`.
    MultiMarginBackwardFn "multi_margin_loss_backward" 1: |inputs, sink| multi_margin(inputs, sink, 1);
    /// `multilabel_margin_loss_forward`.
    MultilabelMarginFn "multilabel_margin_loss_forward" 2: |inputs, sink| multilabel(inputs, sink, 0);
    /// `multilabel_margin_loss_backward`.
    MultilabelMarginBackwardFn "multilabel_margin_loss_backward" 1: |inputs, sink| multilabel(inputs, sink, 1);
    /// The elements of `binary_cross_entropy`.
    CrossEntropiesFn "binary_cross_entropy" 1: |inputs, sink| cross_entropies(inputs, sink);
}

/// `binary_cross_entropy`.
pub fn binary_cross_entropy<D: AllKernels>(
    this: &Tensor<D>,
    target: &Tensor<D>,
    weight: Option<&Tensor<D>>,
    reduction: i64,
) -> Result<Tensor<D>> {
    let _span = observe::operator("binary_cross_entropy", [this.geometry(), target.geometry()]);
    let make = || {
        let target = target.with_geometry(crate::view::expand(target.geometry(), this.sizes(), false)?)?;
        let inputs = RowsInputs::of(&[Operand::from(this), Operand::from(&target)]);
        let [mut losses] = call::<Rows<CrossEntropiesFn>, D, _>(&inputs, Functional::default())?;
        if let Some(weight) = weight {
            let weight = weight.with_geometry(crate::view::expand(weight.geometry(), this.sizes(), false)?)?;
            losses = crate::copies::to_dtype(&mul(&losses, &weight)?, this.dtype(), false, false, None)?;
        }
        match Reduction::of(reduction) {
            Reduction::None => Ok(losses),
            Reduction::Mean => mean(&losses, ..),
            Reduction::Sum => sum(&losses, ..),
        }
    };
    make().map_err(|e: Error| e.called("binary_cross_entropy"))
}

/// `multilabel_margin_loss`: the first result of its forward operator.
pub fn multilabel_margin_loss<D: AllKernels>(
    this: &Tensor<D>,
    target: &Tensor<D>,
    reduction: i64,
) -> Result<Tensor<D>> {
    let _span = observe::operator("multilabel_margin_loss", [this.geometry(), target.geometry()]);
    let inputs = RowsInputs::of(&[Operand::from(this), given(Some(target))]).with_ints(&[reduction]);
    let [losses, _] = call::<Rows<MultilabelMarginFn>, D, _>(&inputs, Functional::default())
        .map_err(|e| e.called("multilabel_margin_loss"))?;
    Ok(losses)
}

native! {
    family: ClassLosses, functions: crate::kernels::AllKernels;

    func: nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index)
        -> (Tensor output, Tensor total_weight),
    out: nll_loss_forward.output, structured: Rows<NllLossFn>;

    func: nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction,
        SymInt ignore_index, Tensor total_weight) -> Tensor,
    out: nll_loss_backward.grad_input, structured: Rows<NllLossBackwardFn>;

    func: nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index)
        -> (Tensor output, Tensor total_weight),
    out: nll_loss2d_forward.output, structured: Rows<NllLoss2dFn>;

    func: nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction,
        SymInt ignore_index, Tensor total_weight) -> Tensor,
    out: nll_loss2d_backward.grad_input, structured: Rows<NllLoss2dBackwardFn>;

    func: multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None,
        int reduction=Mean) -> Tensor,
    out: multi_margin_loss.out, structured: Rows<MultiMarginFn>;

    func: multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin,
        Tensor? weight=None, int reduction=Mean) -> Tensor,
    out: multi_margin_loss_backward.grad_input, structured: Rows<MultiMarginBackwardFn>;

    func: multilabel_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor,
    autogen: multilabel_margin_loss.out, kernel: multilabel_margin_loss;

    func: multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction)
        -> (Tensor output, Tensor is_target),
    out: multilabel_margin_loss_forward.output, structured: Rows<MultilabelMarginFn>;

    func: multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction,
        Tensor is_target) -> Tensor,
    out: multilabel_margin_loss_backward.grad_input, structured: Rows<MultilabelMarginBackwardFn>;

    func: binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> Tensor,
    out_iterated: binary_cross_entropy.out, kernel: binary_cross_entropy;

    structured: Rows<CrossEntropiesFn>;
}
