//! The operators that PyTorch calls on the CPU: tensors of four dimensions, batch, heads, queries or keys, elements.
#![deny(clippy::arithmetic_side_effects)]

use super::{Attention, AttentionGradients, AttentionInputs, summed_in};
use crate::copies::to_dtype;
use crate::kernels::AllKernels;
use crate::table::native;
use crate::view;
use monomorph_core::strides::preserve_strides;
use monomorph_core::structured::{Functional, Operand, call};
use monomorph_core::{DType, Error, ErrorKind, Result, Tensor, observe};

/// Query, key and value.
pub(super) type Three<'t, D> = [&'t Tensor<D>; 3];

/// The factor of a call: the one that is given, or one over the root of the elements of a query.
pub(super) fn scale_of<D: AllKernels>(query: &Tensor<D>, scale: Option<f64>) -> f64 {
    scale.unwrap_or_else(|| (query.sizes().last().copied().unwrap_or(0) as f64).sqrt().recip())
}

/// What is added to all scores of a call, in the dtype that those have: a view of what was given.
fn expanded<D: AllKernels>([query, key, _]: Three<'_, D>, mask: Option<&Tensor<D>>) -> Result<Option<Tensor<D>>> {
    let Some(mask) = mask else { return Ok(None) };
    let mask = to_dtype(mask, summed_in(query.dtype()), false, false, None)?;
    let sizes = [query.sizes()[0], query.sizes()[1], query.sizes()[2], key.sizes()[2]];
    mask.with_geometry(view::expand(mask.geometry(), &sizes, false)?).map(Some)
}

/// An error unless query, key and value are what both operators take.
fn check<D: AllKernels>([query, key, value]: Three<'_, D>, dropout_p: f64, mask: Option<&Tensor<D>>) -> Result<()> {
    let dtype = query.dtype();
    if !dtype.is_floating() {
        let (what, accepted) = ("argument query has dtype", "floating-point dtypes");
        return Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into());
    }
    for (arg, t) in [("query", query), ("key", key), ("value", value)] {
        if t.ndim() != 4 {
            return Err(ErrorKind::DimCount { arg, got: t.ndim(), accepted: "4" }.into());
        }
        if t.dtype() != dtype {
            return Err(ErrorKind::DTypeMismatch { arg, got: t.dtype(), want: dtype }.into());
        }
        if t.sizes()[3] != query.sizes()[3] {
            let (got, want) = (t.sizes().to_vec(), query.sizes().to_vec());
            return Err(ErrorKind::UnequalSizes { arg, got, want }.into());
        }
    }
    if dropout_p != 0.0 {
        let rule = "argument dropout_p is not 0; accepted is 0, since nothing is left out at random";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    let Some(mask) = mask else { return Ok(()) };
    if mask.dtype() != dtype && mask.dtype() != DType::F32 {
        let (what, got) = ("argument attn_mask has dtype", mask.dtype());
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted: "float32 and that of query" }.into());
    }
    if !matches!(mask.ndim(), 2 | 4) {
        return Err(ErrorKind::DimCount { arg: "attn_mask", got: mask.ndim(), accepted: "2 and 4" }.into());
    }
    Ok(())
}

/// `_scaled_dot_product_flash_attention_for_cpu`: outputs and logarithms of sums.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn flash_attention<D: AllKernels>(
    query: &Tensor<D>,
    key: &Tensor<D>,
    value: &Tensor<D>,
    dropout_p: f64,
    is_causal: bool,
    attn_mask: Option<&Tensor<D>>,
    scale: Option<f64>,
) -> Result<(Tensor<D>, Tensor<D>)> {
    let _span = observe::operator("_scaled_dot_product_flash_attention_for_cpu", [query.geometry(), key.geometry()]);
    const NAME: &str = "_scaled_dot_product_flash_attention_for_cpu";
    let three = [query, key, value];
    let attend = || {
        check(three, dropout_p, attn_mask)?;
        let mask = expanded(three, attn_mask)?;
        let operands = [query.into(), key.into(), value.into(), mask.as_ref().map_or(Operand::Absent, Operand::from)];
        let strides = Some(preserve_strides(query.sizes(), query.strides()));
        let scale = scale_of(query, scale);
        let inputs = AttentionInputs { operands, causal: is_causal, scale, strides };
        let [output, sums] = call::<Attention, D, _>(&inputs, Functional::default())?;
        Ok((output, sums))
    };
    attend().map_err(|e: Error| e.called(NAME))
}

/// `_scaled_dot_product_flash_attention_for_cpu_backward`: gradients by query, key and value.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn flash_attention_backward<D: AllKernels>(
    grad_out: &Tensor<D>,
    query: &Tensor<D>,
    key: &Tensor<D>,
    value: &Tensor<D>,
    out: &Tensor<D>,
    logsumexp: &Tensor<D>,
    dropout_p: f64,
    is_causal: bool,
    attn_mask: Option<&Tensor<D>>,
    scale: Option<f64>,
) -> Result<(Tensor<D>, Tensor<D>, Tensor<D>)> {
    let _span = observe::operator("_scaled_dot_product_flash_attention_for_cpu_backward", [grad_out.geometry()]);
    const NAME: &str = "_scaled_dot_product_flash_attention_for_cpu_backward";
    let three = [query, key, value];
    let gradients = || {
        check(three, dropout_p, attn_mask)?;
        let (dtype, sums) = (query.dtype(), summed_in(query.dtype()));
        for (arg, t, want) in [("grad_out", grad_out, dtype), ("out", out, dtype), ("logsumexp", logsumexp, sums)] {
            if t.dtype() != want {
                return Err(ErrorKind::DTypeMismatch { arg, got: t.dtype(), want }.into());
            }
        }
        let mask = expanded(three, attn_mask)?;
        let operands = [
            query.into(),
            key.into(),
            value.into(),
            grad_out.into(),
            out.into(),
            logsumexp.into(),
            mask.as_ref().map_or(Operand::Absent, Operand::from),
        ];
        let inputs = AttentionInputs { operands, causal: is_causal, scale: scale_of(query, scale), strides: None };
        let [q, k, v] = call::<AttentionGradients, D, _>(&inputs, Functional::default())?;
        Ok((q, k, v))
    };
    gradients().map_err(|e: Error| e.called(NAME))
}

native! {
    family: FlashAttention, functions: crate::kernels::AllKernels;

    structured: Attention;

    structured: AttentionGradients;

    func: _scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0.0,
        bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp),
    kernel: flash_attention;

    func: _scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value,
        Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *, Tensor? attn_mask=None, float? scale=None)
        -> (Tensor grad_query, Tensor grad_key, Tensor grad_value),
    kernel: flash_attention_backward;
}
