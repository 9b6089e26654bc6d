//! Types and devices: the common dtype, the dtype that the loop computes with for each operand, and the checks.

use crate::config::Config;
use crate::operand::{Op, Replaced};
use monomorph_core::{Category, DEFAULT_FLOAT, DType, DeviceId, ErrorKind, Result, ResultType, strides};

/// How an operand is called in messages.
fn name(ops: &[Op<'_>], k: usize) -> &'static str {
    const INPUTS: [&str; 8] = ["0", "1", "2", "3", "4", "5", "6", "7"];
    if ops[k].output {
        return "out";
    }
    let first = ops.iter().filter(|op| op.output).count();
    INPUTS.get(k - first).copied().unwrap_or("of an input")
}

/// Sets the target dtype of every operand, the dense strides of those that are cast, and the device of outputs that do
/// not exist. Returns the common dtype of the inputs, if there is one.
pub(crate) fn compute(
    ops: &mut [Op<'_>],
    store: &mut Replaced,
    config: &Config<'_>,
    all_scalars: bool,
    is_meta: bool,
) -> Result<Option<DType>> {
    let flags = config.flags;
    let noutputs = ops.iter().filter(|op| op.output).count();
    let promoted = noutputs.saturating_add(config.promote_from);
    let device = common_device(ops, config, is_meta)?;

    let mut common: Option<DType> = None;
    let mut of_outputs: Option<DType> = None;
    let mut inputs_differ = false;
    let mut outputs_differ = false;
    let mut undefined = false;
    for (k, op) in ops.iter().enumerate() {
        if !op.defined {
            undefined |= config.output_dtype.is_none();
            continue;
        }
        if op.output {
            outputs_differ |= of_outputs.is_some_and(|d| d != op.view.dtype);
            of_outputs = of_outputs.or(Some(op.view.dtype));
        } else if k >= promoted {
            inputs_differ |= common.is_some_and(|d| d != op.view.dtype);
            common = common.or(Some(op.view.dtype));
        }
    }
    let promote = flags.promote_inputs_to_common_dtype;
    let cast = flags.cast_common_dtype_to_outputs;
    let safe = flags.enforce_safe_casting_to_output;
    if inputs_differ && !promote && (undefined || safe || cast) && (!flags.check_all_same_dtype || cast) {
        let rule = "asked for a common dtype of inputs that differ and are not promoted";
        return Err(ErrorKind::MetaContract { index: 0, rule }.into());
    }
    let mismatch = inputs_differ || outputs_differ || (of_outputs.is_some() && of_outputs != common);
    if flags.check_all_same_dtype && !promote && !cast && mismatch {
        let want = common.or(of_outputs).unwrap_or(DEFAULT_FLOAT);
        if let Some((k, op)) = ops.iter().enumerate().find(|(_, op)| op.defined && op.view.dtype != want) {
            return Err(ErrorKind::DTypeMismatch { arg: name(ops, k), got: op.view.dtype, want }.into());
        }
    }
    if promote && (inputs_differ || all_scalars) {
        let mut state = ResultType::default();
        for op in &ops[promoted.min(ops.len())..] {
            state.push(op.view.dtype, op.view.category);
        }
        common = state.dtype();
    }
    if flags.promote_integer_inputs_to_float && common.is_some_and(|d| d.is_integral(true)) {
        common = Some(DEFAULT_FLOAT);
    }

    common = config.common_dtype.or(common);
    let promote = promote || config.common_dtype.is_some();
    for (k, op) in ops.iter_mut().enumerate() {
        if !op.defined {
            let Some(dtype) = config.output_dtype.or(common) else {
                let rule = "declared no dtype for an output of a call without inputs";
                return Err(ErrorKind::MetaContract { index: k, rule }.into());
            };
            op.target = dtype;
            op.view.dtype = dtype;
            op.view.device = config.device.unwrap_or(device);
            continue;
        }
        if op.output {
            let Some(from) = common.filter(|&c| c != op.view.dtype) else { continue };
            if safe && !from.can_cast(op.view.dtype) {
                return Err(ErrorKind::Cast { from, to: op.view.dtype }.into());
            }
            if cast {
                op.target = from;
                // PyTorch's temporary for a cast output is contiguous, whatever the output's own strides are.
                op.replace(&strides::contiguous_strides(op.view.sizes), store);
            }
        } else {
            let target = if k < promoted { Some(DType::Bool) } else { common.filter(|_| promote) };
            let Some(target) = target.filter(|&t| t != op.view.dtype) else { continue };
            op.target = target;
            if op.replaced.is_none() {
                op.replace(&strides::preserve_strides(op.view.sizes, op.view.strides), store);
            }
        }
    }
    Ok(common)
}

/// The device that all operands are on: the first that is not the CPU, if there is one.
///
/// A meta call takes operands of any device, but those with data must still agree, as they would have to in the real
/// call.
fn common_device(ops: &[Op<'_>], config: &Config<'_>, is_meta: bool) -> Result<DeviceId> {
    let takes_part = |op: &Op<'_>| op.defined && !(is_meta && op.view.device.is_meta());
    let is_number = |op: &Op<'_>| op.view.category == Category::Number && op.view.storage.is_none();
    let mut others = ops.iter().filter(|op| takes_part(op) && !op.view.device.is_cpu());
    let want = others.next().map_or(DeviceId::CPU, |op| op.view.device);
    if !config.flags.check_all_same_device {
        return Ok(want);
    }
    let mut scalars = 0;
    for (k, op) in ops.iter().enumerate().filter(|(_, op)| takes_part(op) && !is_number(op)) {
        let got = op.view.device;
        if got == want {
            continue;
        }
        let may_stay = config.flags.allow_cpu_scalars && !op.output && op.view.sizes.is_empty() && got.is_cpu();
        scalars += usize::from(may_stay);
        if !may_stay || scalars > 1 {
            return Err(ErrorKind::DeviceMismatch { arg: name(ops, k).into(), got, want }.into());
        }
    }
    Ok(want)
}
