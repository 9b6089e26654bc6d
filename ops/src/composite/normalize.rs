//! Normalisation that is composed of the native operators: layer_norm, rms_norm, group_norm, batch_norm, instance_norm,
//! _weight_norm.

use super::callees::Callees;
use super::steps::Steps;
use super::tensor;
use crate::composite::rule;
use crate::kernels::RowNormalization;
use crate::rows::norm::{rms_norm_of, typed_layer_norm};
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::{contiguous_strides, numel, suggest_format, wrap_dim};
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, MemoryFormat, Result, Scalar};

fn contiguous(calls: &Calls<'_>, t: &AnyTensor) -> Result<AnyTensor> {
    calls.tensor("contiguous", [t.clone().into(), MemoryFormat::Contiguous.into()])
}

/// The first result of an operator of `N`.
fn first<const N: usize>(
    calls: &Calls<'_>,
    name: &str,
    arguments: impl IntoIterator<Item = IValue>,
) -> Result<AnyTensor> {
    let results: [AnyTensor; N] = calls.several(name, arguments)?;
    results.into_iter().next().ok_or_else(|| ErrorKind::ResultCount { got: N, want: 1 }.into())
}

/// `layer_norm`.
pub fn layer_norm(
    calls: &Calls<'_>,
    input: &IValue,
    normalized_shape: &[i64],
    weight: &IValue,
    bias: &IValue,
    eps: f64,
    _cudnn: bool,
) -> Result<AnyTensor> {
    let shape = IValue::Ints(normalized_shape.to_vec());
    first::<3>(calls, "native_layer_norm", [input.clone(), shape, weight.clone(), bias.clone(), eps.into()])
}

/// `rms_norm`: rows over the root of their mean square, computed in float32 where the input is of float16 or bfloat16.
pub fn rms_norm(
    calls: &Calls<'_>,
    input: &IValue,
    normalized_shape: &[i64],
    weight: &IValue,
    eps: Option<f64>,
) -> Result<AnyTensor> {
    let input = tensor(input, "input")?;
    let (sizes, n) = (input.sizes(), normalized_shape.len());
    if n == 0 {
        return Err(rule("argument normalized_shape is empty; accepted is one size or more"));
    }
    if let Some(weight) = weight.as_tensor().filter(|weight| weight.sizes() != normalized_shape) {
        let (got, want) = (weight.sizes().to_vec(), normalized_shape.to_vec());
        return Err(ErrorKind::UnequalSizes { arg: "weight", got, want }.into());
    }
    if sizes.len().checked_sub(n).is_none_or(|leading| sizes[leading..] != *normalized_shape) {
        let (got, want) = (normalized_shape.to_vec(), sizes.to_vec());
        return Err(ErrorKind::UnequalSizes { arg: "normalized_shape", got, want }.into());
    }
    let dtype = input.dtype();
    if dtype.is_integral(true) {
        let (what, accepted) = ("argument input has dtype", "floating and complex dtypes");
        return Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into());
    }
    let is_half = matches!(dtype, DType::F16 | DType::BF16);
    let is_of_one = weight.as_tensor().is_none_or(|w| w.dtype() == dtype || is_half && w.dtype() == DType::F32);
    // Of no elements, or where a contiguous input has other strides along dimensions of size 1, the strides of the
    // result are those that the steps give.
    let is_usual = input.numel() > 0 && (!input.is_contiguous() || input.strides() == &*contiguous_strides(sizes));
    if dtype.is_floating() && is_usual && is_of_one && (weight.as_tensor().is_some() || matches!(weight, IValue::None))
    {
        let shape = IValue::Ints(normalized_shape.to_vec());
        let eps = eps.map_or(IValue::None, IValue::from);
        return first::<2>(calls, "_fused_rms_norm", [input.clone().into(), shape, weight.clone(), eps]);
    }
    rms_norm_by_steps(calls, input, n, weight, eps).map(|(normal, _)| normal)
}

/// `_fused_rms_norm` where it has no kernel: the rows, and the reciprocals of the roots of their mean squares.
pub fn fused_rms_norm(
    calls: &Calls<'_>,
    input: &IValue,
    normalized_shape: &[i64],
    weight: &IValue,
    eps: Option<f64>,
) -> Result<(AnyTensor, AnyTensor)> {
    rms_norm_by_steps(calls, tensor(input, "input")?, normalized_shape.len(), weight, eps)
}

/// The last `n` dimensions normalised, operator by operator.
fn rms_norm_by_steps(
    calls: &Calls<'_>,
    input: &AnyTensor,
    n: usize,
    weight: &IValue,
    eps: Option<f64>,
) -> Result<(AnyTensor, AnyTensor)> {
    let (wide, epsilon) = rms_norm_of(input.dtype());
    let x = calls.cast(contiguous(calls, input)?, wide)?;
    let dims: Vec<i64> = (1..=n as i64).map(|d| -d).collect();
    let squares = calls.tensor("pow.Tensor_Scalar", [x.clone().into(), Scalar::Int(2).into()])?;
    let mean = calls.tensor("mean.dim", [squares.into(), IValue::Ints(dims), true.into(), IValue::None])?;
    let factor = calls.unary("rsqrt", calls.add(mean, eps.unwrap_or(epsilon))?)?;
    let mut normal = calls.mul(x, factor.clone())?;
    if !matches!(weight, IValue::None) {
        normal = calls.mul(normal, weight.clone())?;
    }
    Ok((calls.cast(normal, input.dtype())?, factor))
}

/// `group_norm`.
pub fn group_norm(
    calls: &Calls<'_>,
    input: &IValue,
    num_groups: i64,
    weight: &IValue,
    bias: &IValue,
    eps: f64,
    _cudnn: bool,
) -> Result<AnyTensor> {
    let input = tensor(input, "input")?;
    if num_groups <= 0 {
        return Err(ErrorKind::OutOfRange { arg: "num_groups", got: num_groups, low: 1, high: i64::MAX }.into());
    }
    let &[n, c, ..] = input.sizes() else {
        return Err(ErrorKind::DimCount { arg: "input", got: input.ndim(), accepted: "2 or more" }.into());
    };
    let s = numel(&input.sizes()[2..])? as i64;
    if s == 0 || c == 0 {
        return Err(rule("argument input has no channel, or its channels have no element"));
    }
    let input = match suggest_format(input.sizes(), input.strides()) {
        MemoryFormat::Contiguous => contiguous(calls, input)?,
        _ => input.clone(),
    };
    let numbers = [n.into(), c.into(), s.into(), num_groups.into(), eps.into()];
    let tensors = [input.into(), weight.clone(), bias.clone()];
    first::<3>(calls, "native_group_norm", tensors.into_iter().chain(numbers))
}

/// `batch_norm`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn batch_norm(
    calls: &Calls<'_>,
    input: &IValue,
    weight: &IValue,
    bias: &IValue,
    running_mean: &IValue,
    running_var: &IValue,
    training: bool,
    momentum: f64,
    eps: f64,
    _cudnn: bool,
) -> Result<AnyTensor> {
    let x = tensor(input, "input")?;
    let want = x.sizes().get(1).copied().unwrap_or(0) as usize;
    let named = [("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias)];
    for (arg, value) in named {
        if let Some(got) = value.as_tensor().map(AnyTensor::numel).filter(|&got| got != want) {
            return Err(ErrorKind::ListLength { arg, got, want }.into());
        }
    }
    if x.numel() == 0 {
        let mut result = calls.tensor("clone", [input.clone(), IValue::None])?;
        for (name, value) in [("mul.Tensor", weight), ("add.Tensor", bias)] {
            if let Some(t) = value.as_tensor() {
                if t.numel() == 0 {
                    return Err(rule(
                        "the input has neither elements nor channels; accepted is that without weight and bias",
                    ));
                }
                let number = calls.at(t, 0, 0)?;
                result = match name {
                    "mul.Tensor" => calls.mul(result, number)?,
                    _ => calls.add(result, number)?,
                };
            }
        }
        return Ok(result);
    }
    let tensors = [input, weight, bias, running_mean, running_var].map(IValue::clone);
    first::<3>(calls, "native_batch_norm", tensors.into_iter().chain([training.into(), momentum.into(), eps.into()]))
}

/// `instance_norm`: batch_norm where each channel of each element of the batch is a channel.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn instance_norm(
    calls: &Calls<'_>,
    input: &IValue,
    weight: &IValue,
    bias: &IValue,
    running_mean: &IValue,
    running_var: &IValue,
    use_input_stats: bool,
    momentum: f64,
    eps: f64,
    cudnn: bool,
) -> Result<AnyTensor> {
    let is_there = |value: &IValue| !matches!(value, IValue::None);
    if !(use_input_stats || is_there(running_mean) && is_there(running_var)) {
        return Err(rule("arguments running_mean and running_var must be given unless use_input_stats is true"));
    }
    let x = tensor(input, "input")?;
    let &[b, c, ..] = x.sizes() else {
        return Err(ErrorKind::DimCount { arg: "input", got: x.ndim(), accepted: "2 or more" }.into());
    };
    let mut shape = x.sizes().to_vec();
    (shape[0], shape[1]) = (1, b.saturating_mul(c));
    let repeated = |value: &IValue| -> Result<IValue> {
        match value.as_tensor() {
            Some(t) => Ok(calls.tensor("repeat", [t.clone().into(), IValue::Ints(vec![b])])?.into()),
            None => Ok(IValue::None),
        }
    };
    let [weight, bias] = [repeated(weight)?, repeated(bias)?];
    let running = [repeated(running_mean)?, repeated(running_var)?];
    let flat: IValue = calls.view(&contiguous(calls, x)?, &shape)?.into();
    let [mean, variance] = &running;
    let result = batch_norm(calls, &flat, &weight, &bias, mean, variance, use_input_stats, momentum, eps, cudnn)?;
    let mut moved = Vec::with_capacity(running.len());
    for (own, repeated) in [running_mean, running_var].into_iter().zip(&running) {
        if let (Some(own), Some(repeated)) = (own.as_tensor(), repeated.as_tensor()) {
            let each = calls.view(repeated, &[b, c])?;
            let mean = calls.tensor("mean.dim", [each.into(), IValue::Ints(vec![0]), false.into(), IValue::None])?;
            calls.rehearse("copy_", &[own.clone().into(), mean.clone().into()])?;
            moved.push((own, mean));
        }
    }
    for (own, mean) in moved {
        Callees::copy_into(calls, own.clone(), &mean)?;
    }
    calls.view(&result, x.sizes())
}

/// `_weight_norm`: directions of the lengths `g`, along all dimensions but one.
pub fn weight_norm(calls: &Calls<'_>, v: &IValue, g: &IValue, dim: i64) -> Result<AnyTensor> {
    let x = tensor(v, "v")?;
    let last = (x.ndim() as i64).saturating_sub(1);
    let real = x.dtype().is_floating();
    if real && x.ndim() > 0 && (dim == 0 || dim == last) && (dim != -1) {
        let v = contiguous(calls, x)?;
        let g = contiguous(calls, tensor(g, "g")?)?;
        return first::<2>(calls, "_weight_norm_interface", [v.into(), g.into(), dim.into()]);
    }
    // With -1 the length is that of the whole tensor.
    let norm = match dim {
        -1 => calls.norm(x.clone(), 2.0.into(), None, false, None)?,
        _ => {
            let kept = wrap_dim(dim, x.ndim(), "dim")?;
            let dims: Vec<i64> = (0..x.ndim()).filter(|&d| d != kept).map(|d| d as i64).collect();
            calls.norm(x.clone(), 2.0.into(), Some(&dims), true, None)?
        }
    };
    calls.mul(v.clone(), calls.div(g.clone(), norm)?)
}

native! {
    family: Normalizations, functions: crate::fill::Fills;

    /// Normalises the last dimensions, whose sizes are `normalized_shape`: (x − mean) / √(variance + eps), times
    /// `weight`, plus `bias`.
    ///
    /// The variance is the biased one. Dtypes are floating; float16 and bfloat16 are computed in float32.
    ///
    /// ```
    /// let x = tensor![[1.0f32, 3.0], [-2.0, 2.0]];
    /// let rows = ops::layer_norm_with(&x, 2, LayerNorm { eps: 0.0, ..Default::default() })?;
    /// assert_eq!(rows.to_vec::<f32>()?, [-1.0, 1.0, -1.0, 1.0]);
    /// ```
    func: layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05,
        bool cudnn_enable=True) -> Tensor,
    variants: function, typed: typed_layer_norm for RowNormalization, composite: implicit layer_norm;

    func: rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor,
    composite: implicit rms_norm;

    func: group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05,
        bool cudnn_enabled=True) -> Tensor,
    composite: implicit group_norm;

    func: batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,
        bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor,
    composite: implicit batch_norm, silent_write: [training];

    func: instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,
        bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor,
    composite: implicit instance_norm, silent_write: [running_mean, running_var];

    func: _weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor, composite: implicit weight_norm;
}
