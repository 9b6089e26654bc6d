//! Normalisation of rows and of groups of channels: `native_layer_norm`, `native_group_norm`, their gradients, and
//! `_fused_rms_norm`.

use super::{Channels, Rows, RowsFn, RowsInputs, RowsPlan, Task, check_dtype, check_floating, check_sizes, declare};
use crate::composite::rule;
use crate::kernels::RowNormalization as Kernels;
use crate::table::native;
use monomorph_core::strides::{self, DimVec, suggest_format};
use monomorph_core::structured::{FromArgs, Functional, Operand, SinkState, call};
use monomorph_core::{DType, DeviceId, Error, ErrorKind, MemoryFormat, Options, Result, Tensor, observe};

/// `native_layer_norm`.
pub struct LayerNormFn;
/// `native_layer_norm_backward`, of which the last arguments say which results are wanted.
pub struct LayerNormBackwardFn;
/// `_fused_rms_norm`.
pub struct RmsNormFn;
/// `native_group_norm`.
pub struct GroupNormFn;
/// `native_group_norm_backward`, of which the last arguments say which results are wanted.
pub struct GroupNormBackwardFn;

/// The dtype of statistics: float32 where an input of float16 or bfloat16 meets float32 parameters, else that of the
/// input, which all have.
pub(super) fn statistics_dtype(inputs: &RowsInputs<'_>, input: DType, parameters: &[usize]) -> Result<DType> {
    let first = parameters.iter().find_map(|&i| inputs.operand(i).dtype());
    let dtype = match first {
        Some(dtype) if dtype != input => {
            if !matches!(input, DType::F16 | DType::BF16) {
                return Err(rule(
                    "the parameters have another dtype than the input; accepted is one dtype of all, or parameters of \
                     float32 for an input of float16 or bfloat16",
                ));
            }
            DType::F32
        }
        _ => input,
    };
    parameters.iter().try_for_each(|&i| check_dtype(inputs, "weight, bias or a statistic", i, dtype))?;
    Ok(dtype)
}

/// Declares output `i` in the memory format that the input suggests.
pub(super) fn declare_like(
    inputs: &RowsInputs<'_>,
    sink: &mut SinkState<'_>,
    i: usize,
    like: Operand<'_>,
    dtype: DType,
) -> Result<()> {
    let sizes = like.sizes();
    match suggest_format(sizes, like.strides()) {
        MemoryFormat::Contiguous => declare(inputs, sink, i, sizes, dtype),
        format => {
            let device = like.tensor().map_or(DeviceId::CPU, |t| t.device());
            let strides = strides::strides_for(sizes, format)?;
            sink.set_output_raw_strided(i, sizes, Some(&strides), Options::new(dtype, device), None)
        }
    }
}

fn product(sizes: &[i64]) -> usize {
    sizes.iter().fold(1, |all, &size| all.saturating_mul(size as usize))
}

/// How many rows there are of the normalised sizes, and how many elements one has.
fn rows_of(inputs: &RowsInputs<'_>, input: usize, [weight, bias]: [usize; 2]) -> Result<[usize; 2]> {
    let (sizes, shape) = (inputs.operand(input).sizes(), inputs.list(0));
    if shape.is_empty() {
        return Err(rule("argument normalized_shape is empty; accepted is one size or more"));
    }
    check_sizes(inputs, "weight", weight, shape)?;
    check_sizes(inputs, "bias", bias, shape)?;
    match sizes.len().checked_sub(shape.len()) {
        Some(leading) if sizes[leading..] == *shape => Ok([product(&sizes[..leading]), product(shape)]),
        _ => {
            let (got, want) = (shape.to_vec(), sizes.to_vec());
            Err(ErrorKind::UnequalSizes { arg: "normalized_shape", got, want }.into())
        }
    }
}

impl super::sealed::Sealed for LayerNormFn {}
impl RowsFn for LayerNormFn {
    const NAME: &'static str = "native_layer_norm";
    const OUTPUTS: usize = 3;

    fn plan(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>) -> Result<RowsPlan> {
        let dtype = inputs.dtype(0)?;
        let [rows, n] = rows_of(inputs, 0, [1, 2])?;
        check_floating("argument input has dtype", dtype)?;
        let statistics = statistics_dtype(inputs, dtype, &[1, 2])?;
        let of_rows = sizes_of_statistics(inputs);
        declare(inputs, sink, 0, inputs.operand(0).sizes(), dtype)?;
        declare(inputs, sink, 1, &of_rows, statistics)?;
        declare(inputs, sink, 2, &of_rows, statistics)?;
        Ok(RowsPlan::of(Task::LayerNorm { rows, n, eps: inputs.number(0) }, dtype))
    }
}

impl super::sealed::Sealed for RmsNormFn {}
impl RowsFn for RmsNormFn {
    const NAME: &'static str = "_fused_rms_norm";
    const OUTPUTS: usize = 2;

    fn plan(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>) -> Result<RowsPlan> {
        let dtype = inputs.dtype(0)?;
        let [rows, n] = rows_of(inputs, 0, [1, 2])?;
        check_floating("argument input has dtype", dtype)?;
        statistics_dtype(inputs, dtype, &[1])?;
        let (statistics, epsilon) = rms_norm_of(dtype);
        declare(inputs, sink, 0, inputs.operand(0).sizes(), dtype)?;
        declare(inputs, sink, 1, &sizes_of_statistics(inputs), statistics)?;
        let eps = inputs.optional_number().unwrap_or(epsilon);
        Ok(RowsPlan::of(Task::RmsNorm { rows, n, eps }, dtype))
    }
}

/// The dtype that `rms_norm` computes in for an input of this dtype, and what it adds to mean squares unless told.
pub(crate) fn rms_norm_of(input: DType) -> (DType, f64) {
    match input {
        DType::F16 | DType::BF16 => (DType::F32, f64::from(f32::EPSILON)),
        DType::F64 | DType::C128 => (input, f64::EPSILON),
        _ => (input, f64::from(f32::EPSILON)),
    }
}

/// The sizes of statistics of rows: those of the input, of which the normalised ones are 1.
fn sizes_of_statistics(inputs: &RowsInputs<'_>) -> DimVec {
    let mut sizes = DimVec::from_slice(inputs.operand(0).sizes());
    let leading = sizes.len().saturating_sub(inputs.list(0).len());
    sizes[leading..].fill(1);
    sizes
}

impl super::sealed::Sealed for LayerNormBackwardFn {}
impl RowsFn for LayerNormBackwardFn {
    const NAME: &'static str = "native_layer_norm_backward";
    const OUTPUTS: usize = 3;

    fn plan(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>) -> Result<RowsPlan> {
        let dtype = inputs.dtype(1)?;
        let [rows, n] = rows_of(inputs, 1, [4, 5])?;
        check_floating("argument input has dtype", dtype)?;
        check_dtype(inputs, "grad_out", 0, dtype)?;
        let sizes = inputs.operand(1).sizes();
        check_sizes(inputs, "grad_out", 0, sizes)?;
        let statistics = statistics_dtype(inputs, dtype, &[4, 5])?;
        for (arg, i) in [("mean", 2), ("rstd", 3)] {
            check_dtype(inputs, arg, i, statistics)?;
            check_count(inputs, arg, i, rows)?;
        }
        let wanted = [0, 1, 2].map(|i| inputs.flag(i));
        declare(inputs, sink, 0, if wanted[0] { sizes } else { &[0] }, dtype)?;
        for (i, of) in [(1, 4), (2, 5)] {
            if wanted[i] && inputs.operand(of).is_absent() {
                return Err(rule("output_mask asks for the gradient of a parameter that is absent"));
            }
            let like: &[i64] = if wanted[i] { inputs.list(0) } else { &[0] };
            declare(inputs, sink, i, like, inputs.operand(of).dtype().unwrap_or(dtype))?;
        }
        Ok(RowsPlan::of(Task::LayerNormBackward { rows, n, wanted }, dtype))
    }
}

/// An error unless tensor `i` has so many elements.
pub(super) fn check_count(inputs: &RowsInputs<'_>, arg: &'static str, i: usize, want: usize) -> Result<()> {
    let operand = inputs.operand(i);
    if operand.is_absent() || product(operand.sizes()) == want {
        return Ok(());
    }
    Err(ErrorKind::ListLength { arg, got: product(operand.sizes()), want }.into())
}

/// The channels of a call of `native_group_norm`, the groups, and an error if sizes do not agree.
fn groups_of(inputs: &RowsInputs<'_>, input: usize, parameters: &[usize]) -> Result<(Channels, usize)> {
    let [n, c, s, groups] = [0, 1, 2, 3].map(|i| inputs.int(i));
    if groups <= 0 {
        return Err(ErrorKind::OutOfRange { arg: "group", got: groups, low: 1, high: i64::MAX }.into());
    }
    if [n, c, s].iter().any(|&size| size < 0) || c.checked_rem(groups) != Some(0) {
        return Err(rule("argument C must be a multiple of group, and sizes must not be negative"));
    }
    let channels = Channels { n: n as usize, c: c as usize, s: s as usize };
    if product(inputs.operand(input).sizes()) != channels.numel() {
        return Err(rule("the input must have N · C · HxW elements"));
    }
    for &i in parameters {
        check_sizes(inputs, "weight or bias", i, &[c])?;
    }
    Ok((channels, groups as usize))
}

impl super::sealed::Sealed for GroupNormFn {}
impl RowsFn for GroupNormFn {
    const NAME: &'static str = "native_group_norm";
    const OUTPUTS: usize = 3;

    fn plan(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>) -> Result<RowsPlan> {
        let dtype = inputs.dtype(0)?;
        let (channels, groups) = groups_of(inputs, 0, &[1, 2])?;
        check_floating("argument input has dtype", dtype)?;
        let statistics = statistics_dtype(inputs, dtype, &[1, 2])?;
        declare_like(inputs, sink, 0, inputs.operand(0), dtype)?;
        let of_groups = [channels.n as i64, groups as i64];
        declare(inputs, sink, 1, &of_groups, statistics)?;
        declare(inputs, sink, 2, &of_groups, statistics)?;
        Ok(RowsPlan::of(Task::GroupNorm { channels, groups, eps: inputs.number(0) }, dtype))
    }
}

impl super::sealed::Sealed for GroupNormBackwardFn {}
impl RowsFn for GroupNormBackwardFn {
    const NAME: &'static str = "native_group_norm_backward";
    const OUTPUTS: usize = 3;

    fn plan(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>) -> Result<RowsPlan> {
        let dtype = inputs.dtype(1)?;
        let (channels, groups) = groups_of(inputs, 1, &[])?;
        check_floating("argument input has dtype", dtype)?;
        check_dtype(inputs, "grad_out", 0, dtype)?;
        check_count(inputs, "grad_out", 0, channels.numel())?;
        check_count(inputs, "weight", 4, channels.c)?;
        let of_groups = channels.n.saturating_mul(groups);
        check_count(inputs, "mean", 2, of_groups)?;
        check_count(inputs, "rstd", 3, of_groups)?;
        let statistics = statistics_dtype(inputs, dtype, &[2, 3, 4])?;
        let parameter = inputs.operand(4).dtype().unwrap_or(dtype);
        let wanted = [0, 1, 2].map(|i| inputs.flag(i));
        if wanted[0] {
            // Where the input is dense in its format already, also the strides that do not matter are kept.
            let input = inputs.operand(1);
            let (sizes, own) = (input.sizes(), input.strides());
            let dense = strides::strides_for(sizes, suggest_format(sizes, own))?;
            let is_dense =
                sizes.iter().zip(own.iter().zip(&dense)).all(|(&size, (own, dense))| size == 1 || own == dense);
            let like = if is_dense { own } else { &dense };
            let device = input.tensor().map_or(DeviceId::CPU, |t| t.device());
            sink.set_output_raw_strided(0, sizes, Some(like), Options::new(dtype, device), None)?;
        } else {
            declare(inputs, sink, 0, &[0], dtype)?;
        }
        for i in [1, 2] {
            if wanted[i] && parameter != statistics {
                return Err(ErrorKind::DTypeMismatch { arg: "mean", got: statistics, want: parameter }.into());
            }
            declare(inputs, sink, i, &[if wanted[i] { channels.c as i64 } else { 0 }], parameter)?;
        }
        Ok(RowsPlan::of(Task::GroupNormBackward { channels, groups, wanted }, dtype))
    }
}

/// What a backward operator returns: the gradients that are wanted.
pub type Gradients<D> = (Option<Tensor<D>>, Option<Tensor<D>>, Option<Tensor<D>>);

/// The gradients that are wanted of all that were declared.
pub(super) fn wanted<D: monomorph_core::Device>(all: [Tensor<D>; 3], mask: &[bool]) -> Gradients<D> {
    let [a, b, c] = all;
    let keep = |i: usize, t: Tensor<D>| mask.get(i).copied().unwrap_or(false).then_some(t);
    (keep(0, a), keep(1, b), keep(2, c))
}

/// A mask of three.
pub(super) fn three(mask: &[bool]) -> Result<[bool; 3]> {
    mask.try_into().map_err(|_| ErrorKind::ListLength { arg: "output_mask", got: mask.len(), want: 3 }.into())
}

/// An operand that may be absent.
pub(super) fn given<D: monomorph_core::Device>(t: Option<&Tensor<D>>) -> Operand<'_> {
    t.map_or(Operand::Absent, Operand::from)
}

/// `native_layer_norm_backward`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn layer_norm_backward<D: Kernels>(
    grad: &Tensor<D>,
    input: &Tensor<D>,
    normalized_shape: &[i64],
    mean: &Tensor<D>,
    rstd: &Tensor<D>,
    weight: Option<&Tensor<D>>,
    bias: Option<&Tensor<D>>,
    output_mask: &[bool],
) -> Result<Gradients<D>> {
    let _span = observe::operator("native_layer_norm_backward", [grad.geometry(), input.geometry()]);
    let make = || {
        let [a, b, c] = three(output_mask)?;
        let tensors = [grad.into(), input.into(), mean.into(), rstd.into(), given(weight), given(bias)];
        let inputs = RowsInputs::of(&tensors).with_list(normalized_shape).with_flags(&[a, b, c]);
        let all = call::<Rows<LayerNormBackwardFn>, D, _>(&inputs, Functional::default())?;
        Ok(wanted(all, output_mask))
    };
    make().map_err(|e: Error| e.called("native_layer_norm_backward"))
}

/// `native_group_norm_backward`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn group_norm_backward<D: Kernels>(
    grad: &Tensor<D>,
    input: &Tensor<D>,
    mean: &Tensor<D>,
    rstd: &Tensor<D>,
    weight: Option<&Tensor<D>>,
    n: i64,
    c: i64,
    s: i64,
    group: i64,
    output_mask: &[bool],
) -> Result<Gradients<D>> {
    let _span = observe::operator("native_group_norm_backward", [grad.geometry(), input.geometry()]);
    let make = || {
        let flags = three(output_mask)?;
        let tensors = [grad.into(), input.into(), mean.into(), rstd.into(), given(weight)];
        let inputs = RowsInputs::of(&tensors).with_ints(&[n, c, s, group]).with_flags(&flags);
        let all = call::<Rows<GroupNormBackwardFn>, D, _>(&inputs, Functional::default())?;
        Ok(wanted(all, output_mask))
    };
    make().map_err(|e: Error| e.called("native_group_norm_backward"))
}

/// `layer_norm` of typed tensors.
pub fn typed_layer_norm<D: Kernels>(
    input: &Tensor<D>,
    normalized_shape: &[i64],
    weight: Option<&Tensor<D>>,
    bias: Option<&Tensor<D>>,
    eps: f64,
    _cudnn: bool,
) -> Result<Tensor<D>> {
    let [weight, bias] = [weight, bias].map(|tensor| tensor.map_or(Operand::Absent, Operand::from));
    let inputs = RowsInputs::from_args((Operand::from(input), normalized_shape, weight, bias, eps))?;
    let [rows, _, _] = call::<Rows<LayerNormFn>, D, _>(&inputs, Functional::<D, 3>::default())?;
    Ok(rows)
}

native! {
    family: RowNormalization, functions: Kernels;

    func: native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias,
        float eps) -> (Tensor, Tensor, Tensor),
    autogen: native_layer_norm.out, structured: Rows<LayerNormFn>;

    func: _fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor),
    structured: Rows<RmsNormFn>, otherwise: explicit crate::composite::normalize::fused_rms_norm;

    func: native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean,
        Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor),
    autogen: native_layer_norm_backward.out, kernel: layer_norm_backward;

    func: native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group,
        float eps) -> (Tensor, Tensor, Tensor),
    autogen: native_group_norm.out, structured: Rows<GroupNormFn>;

    func: native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N,
        SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor),
    autogen: native_group_norm_backward.out, kernel: group_norm_backward;

    structured: Rows<LayerNormBackwardFn>;

    structured: Rows<GroupNormBackwardFn>;
}
