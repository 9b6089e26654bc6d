//! Normalisation of channels over a batch: `native_batch_norm` and what is called instead of it, their gradient, and
//! `_weight_norm_interface`.
//!
//! One operator ([`BatchNormFn`]) has five results, of which the last two are the running statistics as they are
//! afterwards; what writes them in place copies those, once everything is checked.

use super::norm::{Gradients, check_count, declare_like, given, statistics_dtype, three, wanted};
use super::{
    Block, Channels, Rows, RowsFn, RowsInputs, RowsPlan, Task, check_dtype, check_floating, check_sizes, declare,
};
use crate::composite::rule;
use crate::factory::empty;
use crate::kernels::BatchNormalization as Kernels;
use crate::table::{copy_into, native, write_outs};
use monomorph_core::structured::{Functional, Operand, SinkState, call};
use monomorph_core::{DType, Error, ErrorKind, Result, Tensor, observe};

/// Normalisation with all of its results.
pub struct BatchNormFn;
/// The gradient, of which the last arguments say which results are wanted.
pub struct BatchNormBackwardFn;
/// `_weight_norm_interface`.
pub struct WeightNormFn;

/// The channels of a tensor of two dimensions or more.
fn channels_of(sizes: &[i64]) -> Result<Channels> {
    if sizes.len() < 2 {
        return Err(ErrorKind::DimCount { arg: "input", got: sizes.len(), accepted: "2 or more" }.into());
    }
    let Block { outer, n, inner } = Block::along(sizes, 1);
    Ok(Channels { n: outer, c: n, s: inner })
}

impl super::sealed::Sealed for BatchNormFn {}
impl RowsFn for BatchNormFn {
    const NAME: &'static str = "native_batch_norm";
    const OUTPUTS: usize = 5;

    fn plan(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>) -> Result<RowsPlan> {
        let dtype = inputs.dtype(0)?;
        let sizes = inputs.operand(0).sizes();
        let channels = channels_of(sizes)?;
        let training = inputs.flag(0);
        let [has_mean, has_variance] = [3, 4].map(|i| !inputs.operand(i).is_absent());
        if has_mean != has_variance {
            return Err(rule("arguments running_mean and running_var must be both given, or none of them"));
        }
        if !training && !has_mean {
            return Err(rule("arguments running_mean and running_var must be given unless training is true"));
        }
        if training && channels.numel() == 0 {
            return Err(ErrorKind::EmptyInput.into());
        }
        check_floating("argument input has dtype", dtype)?;
        for (arg, i) in [("weight", 1), ("bias", 2), ("running_mean", 3), ("running_var", 4)] {
            check_sizes(inputs, arg, i, &[channels.c as i64])?;
        }
        let statistics = statistics_dtype(inputs, dtype, &[1, 2, 3, 4])?;
        declare_like(inputs, sink, 0, inputs.operand(0), dtype)?;
        let count = |is_there: bool| if is_there { channels.c as i64 } else { 0 };
        for (i, is_there) in [(1, training), (2, training), (3, has_mean), (4, has_mean)] {
            declare(inputs, sink, i, &[count(is_there)], statistics)?;
        }
        let [momentum, eps] = [0, 1].map(|i| inputs.number(i));
        Ok(RowsPlan::of(Task::BatchNorm { channels, training, momentum, eps, statistics }, dtype))
    }
}

impl super::sealed::Sealed for BatchNormBackwardFn {}
impl RowsFn for BatchNormBackwardFn {
    const NAME: &'static str = "native_batch_norm_backward";
    const OUTPUTS: usize = 3;

    fn plan(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>) -> Result<RowsPlan> {
        let dtype = inputs.dtype(1)?;
        let input = inputs.operand(1);
        let channels = channels_of(input.sizes())?;
        check_floating("argument input has dtype", dtype)?;
        check_dtype(inputs, "grad_out", 0, dtype)?;
        check_sizes(inputs, "grad_out", 0, input.sizes())?;
        let training = inputs.flag(0);
        let needed = if training { [5, 6] } else { [3, 4] };
        if needed.iter().any(|&i| inputs.operand(i).is_absent()) {
            return Err(rule(
                "the statistics are absent; accepted are save_mean and save_invstd where train is true, else \
                 running_mean and running_var",
            ));
        }
        let names = ["weight", "running_mean", "running_var", "save_mean", "save_invstd"];
        for (arg, i) in names.into_iter().zip(2..) {
            // What is not read may have any size: without training there is nothing saved.
            if i == 2 || needed.contains(&i) {
                check_count(inputs, arg, i, channels.c)?;
            }
        }
        let statistics = statistics_dtype(inputs, dtype, &[2, 3, 4, 5, 6])?;
        let is_wanted = [1, 2, 3].map(|i| inputs.flag(i));
        match is_wanted[0] {
            true => declare_like(inputs, sink, 0, input, dtype)?,
            false => declare(inputs, sink, 0, &[0], dtype)?,
        }
        for i in [1, 2] {
            declare(inputs, sink, i, &[if is_wanted[i] { channels.c as i64 } else { 0 }], statistics)?;
        }
        let eps = inputs.number(0);
        Ok(RowsPlan::of(Task::BatchNormBackward { channels, training, eps, wanted: is_wanted }, dtype))
    }
}

impl super::sealed::Sealed for WeightNormFn {}
impl RowsFn for WeightNormFn {
    const NAME: &'static str = "_weight_norm_interface";
    const OUTPUTS: usize = 2;

    fn plan(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>) -> Result<RowsPlan> {
        let dtype = inputs.dtype(0)?;
        let sizes = inputs.operand(0).sizes();
        let last = (sizes.len() as i64).saturating_sub(1);
        let dim = inputs.int(0);
        if dim != 0 && dim != last || sizes.is_empty() {
            return Err(rule("argument dim must be the first dimension or the last, and there must be one"));
        }
        check_floating("argument v has dtype", dtype)?;
        check_dtype(inputs, "g", 1, dtype)?;
        let Block { outer, n, inner } = Block::along(sizes, dim as usize);
        let channels = Channels { n: outer, c: n, s: inner };
        check_count(inputs, "g", 1, channels.c)?;
        declare(inputs, sink, 0, sizes, dtype)?;
        let norms = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
        declare(inputs, sink, 1, inputs.operand(1).sizes(), norms)?;
        Ok(RowsPlan::of(Task::WeightNorm { channels }, dtype))
    }
}

/// The parameters of a call, as all of these operators have them.
#[derive(Clone, Copy)]
struct Parameters<'a, D: monomorph_core::Device> {
    input: &'a Tensor<D>,
    weight: Option<&'a Tensor<D>>,
    bias: Option<&'a Tensor<D>>,
    running: [Option<&'a Tensor<D>>; 2],
    training: bool,
    momentum: f64,
    eps: f64,
}

type Three<D> = (Tensor<D>, Tensor<D>, Tensor<D>);

impl<D: Kernels> Parameters<'_, D> {
    /// All results, nothing written.
    fn all(&self) -> Result<[Tensor<D>; 5]> {
        let [mean, variance] = self.running.map(given);
        let tensors = [Operand::from(self.input), given(self.weight), given(self.bias), mean, variance];
        let inputs = RowsInputs::of(&tensors).with_flags(&[self.training]).with_numbers(&[self.momentum, self.eps]);
        call::<Rows<BatchNormFn>, D, _>(&inputs, Functional::default())
    }

    /// Writes the running statistics, where there are any and the batch moved them.
    fn move_running(&self, moved: [Tensor<D>; 2]) -> Result<()> {
        if !self.training {
            return Ok(());
        }
        let mut outs: Vec<Tensor<D>> = self.running.into_iter().flatten().cloned().collect();
        let mut outs: Vec<&mut Tensor<D>> = outs.iter_mut().collect();
        copy_into(&moved[..outs.len()], &mut outs)
    }

    /// The three results; the running statistics are written.
    fn three(&self, name: &'static str) -> Result<Three<D>> {
        let make = || {
            let [out, mean, rstd, running_mean, running_var] = self.all()?;
            self.move_running([running_mean, running_var])?;
            Ok((out, mean, rstd))
        };
        make().map_err(|e: Error| e.called(name))
    }

    /// The same into tensors of the caller. Without training, those of statistics stay as they are.
    fn out(&self, name: &'static str, outs: &mut [&mut Tensor<D>]) -> Result<()> {
        let mut make = || {
            let [out, mean, rstd, running_mean, running_var] = self.all()?;
            if !self.training {
                // They are not written, but of one dimension all the same, as PyTorch's loop over channels has it.
                let mut statistics = ["save_mean", "save_invstd"].into_iter().zip(&outs[1..]);
                if let Some((arg, t)) = statistics.find(|(_, t)| t.ndim() != 1 && self.input.numel() > 0) {
                    return Err(ErrorKind::DimCount { arg, got: t.ndim(), accepted: "1" }.into());
                }
                return write_outs(&[out], &mut outs[..1]);
            }
            // With the running statistics as outputs, too: what one of them refuses is found before any is written.
            let mut running: Vec<Tensor<D>> = self.running.into_iter().flatten().cloned().collect();
            let moved = [running_mean, running_var].into_iter().take(running.len());
            let results: Vec<Tensor<D>> = [out, mean, rstd].into_iter().chain(moved).collect();
            let mut all: Vec<&mut Tensor<D>> = outs.iter_mut().map(|out| &mut **out).chain(&mut running).collect();
            write_outs(&results, &mut all)
        };
        make().map_err(|e: Error| e.called(name))
    }
}

/// What some implementations keep for the backward operator: nothing here.
fn reserve<D: Kernels>(input: &Tensor<D>) -> Result<Tensor<D>> {
    empty(&[0], Some(DType::U8), None, Some(input.device()), None, None)
}

/// `native_batch_norm`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn native_batch_norm<D: Kernels>(
    input: &Tensor<D>,
    weight: Option<&Tensor<D>>,
    bias: Option<&Tensor<D>>,
    running_mean: Option<&Tensor<D>>,
    running_var: Option<&Tensor<D>>,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<Three<D>> {
    let _span = observe::operator("native_batch_norm", [input.geometry()]);
    let running = [running_mean, running_var];
    Parameters { input, weight, bias, running, training, momentum, eps }.three("native_batch_norm")
}

/// `native_batch_norm.out`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn native_batch_norm_out<D: Kernels>(
    input: &Tensor<D>,
    weight: Option<&Tensor<D>>,
    bias: Option<&Tensor<D>>,
    running_mean: Option<&Tensor<D>>,
    running_var: Option<&Tensor<D>>,
    training: bool,
    momentum: f64,
    eps: f64,
    out: &mut Tensor<D>,
    save_mean: &mut Tensor<D>,
    save_invstd: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("native_batch_norm", [input.geometry()]);
    let running = [running_mean, running_var];
    let parameters = Parameters { input, weight, bias, running, training, momentum, eps };
    parameters.out("native_batch_norm", &mut [out, save_mean, save_invstd])
}

/// `_native_batch_norm_legit`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn legit<D: Kernels>(
    input: &Tensor<D>,
    weight: Option<&Tensor<D>>,
    bias: Option<&Tensor<D>>,
    running_mean: &Tensor<D>,
    running_var: &Tensor<D>,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<Three<D>> {
    let _span = observe::operator("_native_batch_norm_legit", [input.geometry()]);
    let running = [Some(running_mean), Some(running_var)];
    Parameters { input, weight, bias, running, training, momentum, eps }.three("_native_batch_norm_legit")
}

/// `_native_batch_norm_legit.out`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn legit_out<D: Kernels>(
    input: &Tensor<D>,
    weight: Option<&Tensor<D>>,
    bias: Option<&Tensor<D>>,
    running_mean: &Tensor<D>,
    running_var: &Tensor<D>,
    training: bool,
    momentum: f64,
    eps: f64,
    out: &mut Tensor<D>,
    save_mean: &mut Tensor<D>,
    save_invstd: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("_native_batch_norm_legit", [input.geometry()]);
    let running = [Some(running_mean), Some(running_var)];
    let parameters = Parameters { input, weight, bias, running, training, momentum, eps };
    parameters.out("_native_batch_norm_legit", &mut [out, save_mean, save_invstd])
}

/// `_native_batch_norm_legit.no_stats`.
pub fn legit_no_stats<D: Kernels>(
    input: &Tensor<D>,
    weight: Option<&Tensor<D>>,
    bias: Option<&Tensor<D>>,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<Three<D>> {
    let _span = observe::operator("_native_batch_norm_legit", [input.geometry()]);
    let running = [None, None];
    Parameters { input, weight, bias, running, training, momentum, eps }.three("_native_batch_norm_legit")
}

/// `_native_batch_norm_legit.no_stats_out`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn legit_no_stats_out<D: Kernels>(
    input: &Tensor<D>,
    weight: Option<&Tensor<D>>,
    bias: Option<&Tensor<D>>,
    training: bool,
    momentum: f64,
    eps: f64,
    out: &mut Tensor<D>,
    save_mean: &mut Tensor<D>,
    save_invstd: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("_native_batch_norm_legit", [input.geometry()]);
    let parameters = Parameters { input, weight, bias, running: [None, None], training, momentum, eps };
    parameters.out("_native_batch_norm_legit", &mut [out, save_mean, save_invstd])
}

/// `_native_batch_norm_legit_no_training`.
pub fn legit_no_training<D: Kernels>(
    input: &Tensor<D>,
    weight: Option<&Tensor<D>>,
    bias: Option<&Tensor<D>>,
    running_mean: &Tensor<D>,
    running_var: &Tensor<D>,
    momentum: f64,
    eps: f64,
) -> Result<Three<D>> {
    let _span = observe::operator("_native_batch_norm_legit_no_training", [input.geometry()]);
    let running = [Some(running_mean), Some(running_var)];
    let parameters = Parameters { input, weight, bias, running, training: false, momentum, eps };
    parameters.three("_native_batch_norm_legit_no_training")
}

/// `_native_batch_norm_legit_functional`: the running statistics are results.
#[allow(clippy::type_complexity, reason = "five tensors")]
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn legit_functional<D: Kernels>(
    input: &Tensor<D>,
    weight: Option<&Tensor<D>>,
    bias: Option<&Tensor<D>>,
    running_mean: &Tensor<D>,
    running_var: &Tensor<D>,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<(Tensor<D>, Tensor<D>, Tensor<D>, Tensor<D>, Tensor<D>)> {
    let _span = observe::operator("_native_batch_norm_legit_functional", [input.geometry()]);
    let running = [Some(running_mean), Some(running_var)];
    let parameters = Parameters { input, weight, bias, running, training, momentum, eps };
    let [out, mean, rstd, moved_mean, moved_var] =
        parameters.all().map_err(|e| e.called("_native_batch_norm_legit_functional"))?;
    Ok((out, mean, rstd, moved_mean, moved_var))
}

/// `_batch_norm_with_update`.
#[allow(clippy::type_complexity, reason = "four tensors")]
pub fn with_update<D: Kernels>(
    input: &Tensor<D>,
    weight: Option<&Tensor<D>>,
    bias: Option<&Tensor<D>>,
    running_mean: &Tensor<D>,
    running_var: &Tensor<D>,
    momentum: f64,
    eps: f64,
) -> Result<(Tensor<D>, Tensor<D>, Tensor<D>, Tensor<D>)> {
    let _span = observe::operator("_batch_norm_with_update", [input.geometry()]);
    let running = [Some(running_mean), Some(running_var)];
    let parameters = Parameters { input, weight, bias, running, training: true, momentum, eps };
    let reserve = reserve(input)?;
    let (out, mean, rstd) = parameters.three("_batch_norm_with_update")?;
    Ok((out, mean, rstd, reserve))
}

/// `_batch_norm_with_update.out`. Nothing is kept for the backward operator, so that its output stays as it is.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn with_update_out<D: Kernels>(
    input: &Tensor<D>,
    weight: Option<&Tensor<D>>,
    bias: Option<&Tensor<D>>,
    running_mean: &Tensor<D>,
    running_var: &Tensor<D>,
    momentum: f64,
    eps: f64,
    out: &mut Tensor<D>,
    save_mean: &mut Tensor<D>,
    save_invstd: &mut Tensor<D>,
    _reserve: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("_batch_norm_with_update", [input.geometry()]);
    let running = [Some(running_mean), Some(running_var)];
    let parameters = Parameters { input, weight, bias, running, training: true, momentum, eps };
    parameters.out("_batch_norm_with_update", &mut [out, save_mean, save_invstd])
}

/// `_batch_norm_with_update_functional`: the running statistics are results.
#[allow(clippy::type_complexity, reason = "six tensors")]
pub fn with_update_functional<D: Kernels>(
    input: &Tensor<D>,
    weight: Option<&Tensor<D>>,
    bias: Option<&Tensor<D>>,
    running_mean: &Tensor<D>,
    running_var: &Tensor<D>,
    momentum: f64,
    eps: f64,
) -> Result<(Tensor<D>, Tensor<D>, Tensor<D>, Tensor<D>, Tensor<D>, Tensor<D>)> {
    let _span = observe::operator("_batch_norm_with_update_functional", [input.geometry()]);
    let (out, mean, rstd, moved_mean, moved_var) =
        legit_functional(input, weight, bias, running_mean, running_var, true, momentum, eps)
            .map_err(|e| e.called("_batch_norm_with_update_functional"))?;
    Ok((out, mean, rstd, reserve(input)?, moved_mean, moved_var))
}

/// `native_batch_norm_backward`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn backward<D: Kernels>(
    grad: &Tensor<D>,
    input: &Tensor<D>,
    weight: Option<&Tensor<D>>,
    running_mean: Option<&Tensor<D>>,
    running_var: Option<&Tensor<D>>,
    save_mean: Option<&Tensor<D>>,
    save_invstd: Option<&Tensor<D>>,
    train: bool,
    eps: f64,
    output_mask: &[bool],
) -> Result<Gradients<D>> {
    let _span = observe::operator("native_batch_norm_backward", [grad.geometry(), input.geometry()]);
    let make = || {
        let [a, b, c] = three(output_mask)?;
        let [weight, mean, variance] = [weight, running_mean, running_var].map(given);
        let tensors = [grad.into(), input.into(), weight, mean, variance, given(save_mean), given(save_invstd)];
        let inputs = RowsInputs::of(&tensors).with_flags(&[train, a, b, c]).with_numbers(&[eps]);
        let all = call::<Rows<BatchNormBackwardFn>, D, _>(&inputs, Functional::default())?;
        Ok(wanted(all, output_mask))
    };
    make().map_err(|e: Error| e.called("native_batch_norm_backward"))
}

/// `batch_norm_backward`, which has a weight, and does not look at what was kept.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn backward_of_update<D: Kernels>(
    grad: &Tensor<D>,
    input: &Tensor<D>,
    weight: &Tensor<D>,
    running_mean: Option<&Tensor<D>>,
    running_var: Option<&Tensor<D>>,
    save_mean: Option<&Tensor<D>>,
    save_var: Option<&Tensor<D>>,
    update: bool,
    eps: f64,
    output_mask: &[bool],
    _reserve: &Tensor<D>,
) -> Result<Gradients<D>> {
    let _span = observe::operator("batch_norm_backward", [input.geometry()]);
    let statistics = [running_mean, running_var, save_mean, save_var];
    let [running_mean, running_var, save_mean, save_var] = statistics;
    backward(grad, input, Some(weight), running_mean, running_var, save_mean, save_var, update, eps, output_mask)
        .map_err(|e| e.called("batch_norm_backward"))
}

native! {
    family: BatchNormalization, functions: Kernels;

    func: native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,
        bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor),
    kernel: native_batch_norm, silent_write: [training];

    func: native_batch_norm.out(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,
        bool training, float momentum, float eps, *, Tensor(a!) out, Tensor(b!) save_mean, Tensor(c!) save_invstd)
        -> (Tensor(a!), Tensor(b!), Tensor(c!)),
    kernel: native_batch_norm_out, silent_write: [training];

    func: _native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean,
        Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor),
    kernel: legit;

    func: _native_batch_norm_legit.out(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean,
        Tensor(b!) running_var, bool training, float momentum, float eps, *, Tensor(d!) out, Tensor(e!) save_mean,
        Tensor(f!) save_invstd) -> (Tensor(d!), Tensor(e!), Tensor(f!)),
    kernel: legit_out;

    func: _native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum,
        float eps) -> (Tensor, Tensor, Tensor),
    kernel: legit_no_stats;

    func: _native_batch_norm_legit.no_stats_out(Tensor input, Tensor? weight, Tensor? bias, bool training,
        float momentum, float eps, *, Tensor(a!) out, Tensor(b!) save_mean, Tensor(c!) save_invstd)
        -> (Tensor(a!), Tensor(b!), Tensor(c!)),
    kernel: legit_no_stats_out;

    func: _native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean,
        Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor),
    autogen: _native_batch_norm_legit_no_training.out, kernel: legit_no_training;

    func: _native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean,
        Tensor running_var, bool training, float momentum, float eps)
        -> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out),
    kernel: legit_functional;

    func: _batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean,
        Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor),
    kernel: with_update;

    func: _batch_norm_with_update.out(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean,
        Tensor(b!) running_var, float momentum, float eps, *, Tensor(d!) out, Tensor(e!) save_mean,
        Tensor(f!) save_invstd, Tensor(g!) reserve) -> (Tensor(d!), Tensor(e!), Tensor(f!), Tensor(g!)),
    kernel: with_update_out;

    func: _batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean,
        Tensor running_var, float momentum, float eps)
        -> (Tensor, Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out),
    kernel: with_update_functional;

    func: native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean,
        Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask)
        -> (Tensor, Tensor, Tensor),
    autogen: native_batch_norm_backward.out, kernel: backward;

    func: batch_norm_backward(Tensor grad_out, Tensor input, Tensor weight, Tensor? running_mean, Tensor? running_var,
        Tensor? save_mean, Tensor? save_var, bool update, float eps, bool[3] output_mask, Tensor reserve)
        -> (Tensor, Tensor, Tensor),
    kernel: backward_of_update;

    func: _weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor),
    autogen: _weight_norm_interface.out, structured: Rows<WeightNormFn>;

    structured: Rows<BatchNormFn>;

    structured: Rows<BatchNormBackwardFn>;
}
