//! Softmax, its logarithm, and their gradients; what is composed of them.

use super::{Block, Rows, RowsFn, RowsInputs, RowsPlan, Task, check_dtype, check_floating, check_sizes, declare};
use crate::composite::rule;
use crate::composite::tensor;
use crate::copies::to_dtype;
use crate::kernels::Softmaxes as Kernels;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::wrap_dim;
use monomorph_core::structured::{Executes, FromArgs, Functional, Operand, SinkState, call};
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result, Scalar, Tensor};

/// `_softmax`.
pub struct SoftmaxFn;
/// `_log_softmax`.
pub struct LogSoftmaxFn;
/// `_softmax_backward_data`.
pub struct SoftmaxBackwardFn;
/// `_log_softmax_backward_data`.
pub struct LogSoftmaxBackwardFn;

macro_rules! softmax {
    ($($ty:ident $name:literal $plan:ident($log:literal);)*) => {$(
        impl super::sealed::Sealed for $ty {}
        impl RowsFn for $ty {
            const NAME: &'static str = $name;
            fn plan(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>) -> Result<RowsPlan> {
                $plan(inputs, sink, $log)
            }
        }
    )*};
}
softmax! {
    SoftmaxFn "_softmax" forward(false);
    LogSoftmaxFn "_log_softmax" forward(true);
    SoftmaxBackwardFn "_softmax_backward_data" backward(false);
    LogSoftmaxBackwardFn "_log_softmax_backward_data" backward(true);
}

fn forward(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>, log: bool) -> Result<RowsPlan> {
    let dtype = inputs.dtype(0)?;
    let sizes = inputs.operand(0).sizes();
    let dim = wrap_dim(inputs.int(0), sizes.len(), "dim")?;
    if inputs.flag(0) {
        return Err(rule("argument half_to_float is true, which this device has not; accepted is false"));
    }
    declare(inputs, sink, 0, sizes, dtype)?;
    let block = Block::along(sizes, dim);
    if block.numel() == 0 {
        return Ok(RowsPlan::default());
    }
    check_floating("argument self has dtype", dtype)?;
    // PyTorch keeps the sums of rows of the last dimension, for which it has another kernel, in the dtype of the input.
    let is_last = dim.saturating_add(1) == sizes.len();
    let rounded = if log && is_last { dtype } else { DType::F64 };
    Ok(RowsPlan::of(Task::Softmax { block, log, rounded }, dtype))
}

fn backward(inputs: &RowsInputs<'_>, sink: &mut SinkState<'_>, log: bool) -> Result<RowsPlan> {
    let dtype = inputs.dtype(0)?;
    let sizes = inputs.operand(0).sizes();
    let dim = wrap_dim(inputs.int(0), sizes.len(), "dim")?;
    check_sizes(inputs, "output", 1, sizes)?;
    if dtype == DType::F32 && inputs.asked_dtype() == Some(DType::F16) {
        return Err(rule("argument input_dtype is float16 and the gradient float32; accepted is one dtype of both"));
    }
    declare(inputs, sink, 0, sizes, dtype)?;
    let block = Block::along(sizes, dim);
    if block.numel() == 0 {
        return Ok(RowsPlan::default());
    }
    check_floating("argument grad_output has dtype", dtype)?;
    check_dtype(inputs, "output", 1, dtype)?;
    Ok(RowsPlan::of(Task::SoftmaxBackward { block, log }, dtype))
}

/// `softmax.int` of typed tensors.
pub fn typed_softmax<D: Kernels>(this: &Tensor<D>, dim: i64, dtype: Option<DType>) -> Result<Tensor<D>> {
    typed::<SoftmaxFn, D>(this, dim, dtype)
}

/// `log_softmax.int` of typed tensors.
pub fn typed_log_softmax<D: Kernels>(this: &Tensor<D>, dim: i64, dtype: Option<DType>) -> Result<Tensor<D>> {
    typed::<LogSoftmaxFn, D>(this, dim, dtype)
}

fn typed<F: RowsFn, D: Executes<Rows<F>>>(this: &Tensor<D>, dim: i64, dtype: Option<DType>) -> Result<Tensor<D>> {
    let this = to_dtype(this, dtype.unwrap_or(this.dtype()), false, false, None)?;
    let inputs = RowsInputs::from_args((Operand::from(&this), dim, false))?;
    let [result] = call::<Rows<F>, D, _>(&inputs, Functional::default())?;
    Ok(result)
}

/// The operator that both forms with a dtype call, behind the conversion.
fn converted(calls: &Calls<'_>, name: &str, this: &IValue, dim: i64, dtype: Option<DType>) -> Result<AnyTensor> {
    let this = match dtype {
        Some(dtype) => crate::composite::in_dtype(calls, this, dtype)?,
        None => this.clone(),
    };
    calls.tensor(name, [this, dim.into(), false.into()])
}

/// `softmax.int`.
pub fn softmax(calls: &Calls<'_>, this: &IValue, dim: i64, dtype: Option<DType>) -> Result<AnyTensor> {
    converted(calls, "_softmax", this, dim, dtype)
}

/// `log_softmax.int`.
pub fn log_softmax(calls: &Calls<'_>, this: &IValue, dim: i64, dtype: Option<DType>) -> Result<AnyTensor> {
    converted(calls, "_log_softmax", this, dim, dtype)
}

/// `_safe_softmax`: rows of negative infinities give zeros.
pub fn safe_softmax(calls: &Calls<'_>, this: &IValue, dim: i64, dtype: Option<DType>) -> Result<AnyTensor> {
    let result = calls.tensor("softmax.int", [this.clone(), dim.into(), dtype.map_or(IValue::None, Into::into)])?;
    let masked = calls.tensor("eq.Scalar", [this.clone(), f64::NEG_INFINITY.into()])?;
    let rows = calls.tensor("all.dim", [masked.into(), dim.into(), true.into()])?;
    calls.tensor("masked_fill.Scalar", [result.into(), rows.into(), Scalar::Float(0.0).into()])
}

/// An error unless the mask is bool.
fn check_mask(mask: &AnyTensor) -> Result<()> {
    match mask.dtype() {
        DType::Bool => Ok(()),
        got => {
            let (what, accepted) = ("argument mask has dtype", "bool");
            Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
        }
    }
}

/// `_masked_softmax`: elements where the mask is true are none, and their result is 0.
pub fn masked_softmax(
    calls: &Calls<'_>,
    this: &IValue,
    mask: &IValue,
    dim: Option<i64>,
    mask_type: Option<i64>,
) -> Result<AnyTensor> {
    let (this, mask) = (tensor(this, "self")?, tensor(mask, "mask")?);
    check_mask(mask)?;
    let last = (this.ndim() as i64).saturating_sub(1);
    let mask = masked_view(calls, this, mask, mask_type)?;
    let dim = dim.unwrap_or(last);
    let hidden = [this.clone().into(), mask.clone().into(), Scalar::Float(f64::NEG_INFINITY).into()];
    let hidden = calls.tensor("masked_fill.Scalar", hidden)?;
    let result = calls.tensor("_softmax", [hidden.into(), dim.into(), false.into()])?;
    let along = [mask.clone().into(), dim.into(), true.into()];
    let rows = calls.tensor("logical_not", [calls.tensor("all.dim", along)?.into()])?;
    // In a row without any element the result is NaN.
    let zeros = calls.tensor("logical_and", [mask.into(), rows.into()])?;
    calls.tensor("masked_fill.Scalar", [result.into(), zeros.into(), Scalar::Float(0.0).into()])
}

/// `_masked_softmax_backward`: what the mask hides neither counts nor has a slope.
pub fn masked_softmax_backward(
    calls: &Calls<'_>,
    grad_output: &IValue,
    output: &IValue,
    mask: &IValue,
    dim: Option<i64>,
) -> Result<AnyTensor> {
    let (grad, mask) = (tensor(grad_output, "grad_output")?, tensor(mask, "mask")?);
    check_mask(mask)?;
    if mask.sizes() != grad.sizes() {
        let (got, want) = (mask.sizes().to_vec(), grad.sizes().to_vec());
        return Err(ErrorKind::UnequalSizes { arg: "mask", got, want }.into());
    }
    let dim = dim.unwrap_or((grad.ndim() as i64).saturating_sub(1));
    let seen =
        |t: AnyTensor| calls.tensor("masked_fill.Scalar", [t.into(), mask.clone().into(), Scalar::Float(0.0).into()]);
    // The results of a row without any element are NaN.
    let output = seen(tensor(output, "output")?.clone())?;
    let arguments = [seen(grad.clone())?.into(), output.into(), dim.into(), grad.dtype().into()];
    seen(calls.tensor("_softmax_backward_data", arguments)?)
}

/// The mask, expanded to the sizes of the tensor: of the last two dimensions (0), of the first and the last (1), or of
/// all (2).
fn masked_view(calls: &Calls<'_>, this: &AnyTensor, mask: &AnyTensor, mask_type: Option<i64>) -> Result<AnyTensor> {
    let own = this.sizes();
    if mask.sizes() == own {
        return Ok(mask.clone());
    }
    let view = match (mask_type, own) {
        (Some(0), &[_, _, l, m]) if mask.sizes() == [l, m] && l == m => [1, 1, l, m],
        (Some(1), &[b, _, _, l]) if mask.sizes() == [b, l] => [b, 1, 1, l],
        _ => {
            return Err(rule(
                "argument mask has other sizes; accepted are those of self, for mask_type 0 the last two and for 1 the \
                 first and the last of four",
            ));
        }
    };
    let view = calls.tensor("view", [mask.clone().into(), IValue::Ints(view.to_vec())])?;
    calls.tensor("expand", [view.into(), IValue::Ints(own.to_vec()), false.into()])
}

native! {
    family: Softmaxes;

    func: _softmax(Tensor self, int dim, bool half_to_float) -> Tensor,
    out: _softmax.out, structured: Rows<SoftmaxFn>;

    func: _log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor,
    out: _log_softmax.out, structured: Rows<LogSoftmaxFn>;

    /// The gradient of softmax along `dim`, from its result: `(grad_output - sum(grad_output · output)) · output`.
    ///
    /// ```
    /// let (grad, y) = (tensor![1.0f32, 0.0], tensor![0.5f32, 0.5]);
    /// let slope = ops::softmax_backward_data(&grad, &y, 0, DType::F32)?;
    /// assert_eq!(slope.to_vec::<f32>()?, [0.25, -0.25]);
    /// ```
    func: _softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor,
    out: _softmax_backward_data.out as [grad_input], variants: function, structured: Rows<SoftmaxBackwardFn>;

    /// The gradient of the logarithm of softmax along `dim`, from its result: `grad_output - exp(output) ·
    /// sum(grad_output)`.
    ///
    /// ```
    /// let (grad, y) = (tensor![1.0f32, 0.0], tensor![0.0f32, -1000.0]);
    /// let slope = ops::log_softmax_backward_data(&grad, &y, 0, DType::F32)?;
    /// assert_eq!(slope.to_vec::<f32>()?, [0.0, 0.0]);
    /// ```
    func: _log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor,
    out: _log_softmax_backward_data.out, variants: function, structured: Rows<LogSoftmaxBackwardFn>;

    /// Exponentials along the dimension `dim`, divided by their sum.
    ///
    /// The largest element is taken out first, so that nothing overflows. Dtypes are floating; float16 and bfloat16 are
    /// computed in float32. The option `dtype` converts the elements first.
    ///
    /// ```
    /// let x = tensor![[0.0f32, 0.0], [1000.0, 0.0]];
    /// assert_eq!(x.softmax(1)?.to_vec::<f32>()?, [0.5, 0.5, 1.0, 0.0]);
    /// ```
    func: softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor,
    autogen: softmax.int_out, variants: function, method, typed: typed_softmax for Kernels, composite: implicit softmax;

    /// Logarithms of the exponentials along the dimension `dim`, divided by their sum.
    ///
    /// The largest element is taken out first, so that nothing overflows. Dtypes are floating; float16 and bfloat16 are
    /// computed in float32. The option `dtype` converts the elements first.
    ///
    /// ```
    /// let x = tensor![[1000.0f32, 0.0]];
    /// assert_eq!(x.log_softmax(1)?.to_vec::<f32>()?, [0.0, -1000.0]);
    /// ```
    func: log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor,
    autogen: log_softmax.int_out, variants: function, method, typed: typed_log_softmax for Kernels,
    composite: implicit log_softmax;

    func: special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor,
    composite: implicit softmax;

    func: special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor,
    composite: implicit log_softmax;

    func: _safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor,
    composite: explicit safe_softmax;

    func: _masked_softmax(Tensor self, Tensor mask, int? dim=None, int? mask_type=None) -> Tensor,
    autogen: _masked_softmax.out, composite: explicit masked_softmax;

    func: _masked_softmax_backward(Tensor grad_output, Tensor output, Tensor mask, int? dim=None) -> Tensor,
    autogen: _masked_softmax_backward.out, composite: explicit masked_softmax_backward;
}
