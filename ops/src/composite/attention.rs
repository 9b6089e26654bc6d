//! Attention written out, as programs have it that were exported for training or whose attention was decomposed: all
//! scores are in memory. [`scaled_dot_product_attention`](crate::functions::scaled_dot_product_attention) has not.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::{Callees, Fillers};
use super::products::Multiplies;
use super::steps::Steps;
use super::{rule, tensor};
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result, Scalar};

/// What is added to the scores so that each query sees the keys up to its own number: negative infinity behind it.
fn causal(calls: &Calls<'_>, query: &AnyTensor, key: &AnyTensor) -> Result<AnyTensor> {
    if query.ndim() < 2 {
        return Err(
            ErrorKind::DimCount { arg: "query", got: query.ndim(), accepted: "2 or more with is_causal" }.into()
        );
    }
    let rows = |t: &AnyTensor| t.sizes()[t.ndim().saturating_sub(2)];
    let hidden = calls.full_like(query, &[rows(query), rows(key)], Scalar::Float(f64::NEG_INFINITY))?;
    calls.tensor("triu", [hidden.into(), 1_i64.into()])
}

/// Keys or values of which each head serves as many heads of queries as share it.
fn shared(calls: &Calls<'_>, t: &AnyTensor, heads: i64) -> Result<AnyTensor> {
    let dim = t.ndim().saturating_sub(3);
    let own = t.sizes()[dim];
    match heads.checked_rem(own) {
        Some(0) => {}
        _ => return Err(rule("the heads of query are no multiple of those of key and value, which they share")),
    }
    let each = heads.checked_div(own).unwrap_or(1);
    let (dim, output_size) = (i64::try_from(dim).unwrap_or(0), IValue::None);
    calls.tensor("repeat_interleave.self_int", [t.clone().into(), each.into(), dim.into(), output_size])
}

/// `_scaled_dot_product_attention_math`: the output and the weights of the values.
#[expect(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn attention_math(
    calls: &Calls<'_>,
    query: &IValue,
    key: &IValue,
    value: &IValue,
    attn_mask: &IValue,
    dropout_p: f64,
    is_causal: bool,
    dropout_mask: &IValue,
    scale: Option<f64>,
    enable_gqa: bool,
) -> Result<(AnyTensor, AnyTensor)> {
    let (query, key, value) = (tensor(query, "query")?, tensor(key, "key")?, tensor(value, "value")?);
    for (arg, t, least) in [("query", query, 1), ("key", key, 2), ("value", value, 1)] {
        if t.ndim() < if enable_gqa { 3 } else { least } {
            let accepted = "as many as a product takes, 3 or more with enable_gqa";
            return Err(ErrorKind::DimCount { arg, got: t.ndim(), accepted }.into());
        }
    }
    let dtype = query.dtype();
    // Halves are computed in float32.
    let wide = |t: &AnyTensor| match t.dtype() {
        DType::F16 | DType::BF16 => calls.cast(t.clone(), DType::F32),
        _ => Ok(t.clone()),
    };
    let mask = match (attn_mask.as_tensor(), is_causal) {
        (Some(_), true) => {
            return Err(rule("argument attn_mask is given and is_causal is true; accepted is one of both"));
        }
        (Some(mask), false) => Some(mask.clone()),
        (None, true) => Some(causal(calls, &wide(query)?, key)?),
        (None, false) => None,
    };
    // Both factors get the root of the scale, so that products of large elements stay in range; a negative one is the
    // query's.
    let width = query.sizes().last().copied().unwrap_or(1);
    let scale = scale.unwrap_or_else(|| (width as f64).sqrt().recip());
    let root = scale.abs().sqrt();
    let heads = |t: &AnyTensor| t.sizes()[t.ndim().saturating_sub(3)];
    let query = calls.mul(wide(query)?, if scale < 0.0 { -root } else { root })?;
    let (mut key, mut value) = (wide(key)?, wide(value)?);
    if enable_gqa {
        (key, value) = (shared(calls, &key, heads(&query))?, shared(calls, &value, heads(&query))?);
    }
    let last = key.ndim().saturating_sub(1);
    let keys = calls.mul(calls.transpose(&key, last.saturating_sub(1), last)?, root)?;
    let mut weights = calls.tensor("matmul", [query.clone().into(), keys.into()])?;
    if let Some(mask) = mask {
        // As PyTorch does, which converts bool masks before it comes here.
        weights = calls.add_to(weights, &mask)?;
    }
    weights = calls.tensor("_safe_softmax", [weights.into(), (-1_i64).into(), IValue::None])?;
    if dropout_p > 0.0 {
        match dropout_mask.as_tensor() {
            Some(kept) => {
                let dropped = calls.unary("logical_not", kept.clone())?;
                let zero = Scalar::Float(0.0).into();
                weights = calls.tensor("masked_fill.Scalar", [weights.into(), dropped.into(), zero])?;
                value = calls.mul(value, (1.0 - dropout_p).recip())?;
            }
            None => weights = calls.tensor("dropout", [weights.into(), dropout_p.into(), true.into()])?,
        }
    }
    let output = calls.tensor("matmul", [weights.clone().into(), value.into()])?;
    Ok((calls.cast(output, dtype)?, calls.cast(weights, dtype)?))
}

native! {
    family: WrittenAttention, functions: crate::fill::Fills;

    func: _scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None,
        float dropout_p=0.0, bool is_causal=False, Tensor? dropout_mask=None, *, float? scale=None,
        bool enable_gqa=False) -> (Tensor, Tensor),
    composite: implicit attention_math;
}
