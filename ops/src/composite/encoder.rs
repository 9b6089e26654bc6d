//! A layer of a transformer's encoder as one operator, as PyTorch's modules call it outside of training: attention of
//! the sequence to itself, two products with an activation in between, and a normalisation of each.

use super::callees::Callees;
use super::normalize::layer_norm;
use super::products::linear;
use super::steps::Steps;
use super::{rule, tensor};
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result};

/// The weight and the bias of a step.
type Affine<'a> = [&'a IValue; 2];

/// An error unless the argument has these sizes.
fn check_sizes(arg: &'static str, value: &IValue, want: &[i64]) -> Result<()> {
    let got = tensor(value, arg)?.sizes();
    if got == want {
        return Ok(());
    }
    Err(ErrorKind::UnequalSizes { arg, got: got.to_vec(), want: want.to_vec() }.into())
}

/// Attention of each element of a sequence to all of them, in `heads` parts of the channels, and the product with the
/// last weight.
fn attention(
    calls: &Calls<'_>,
    x: &AnyTensor,
    [b, l, channels, heads]: [i64; 4],
    [qkv, projection]: [Affine<'_>; 2],
    mask: Option<(&AnyTensor, Option<i64>)>,
) -> Result<AnyTensor> {
    let width = channels.checked_div(heads).unwrap_or(0);
    let all = linear(calls, x, tensor(qkv[0], "qkv_weight")?, qkv[1].as_tensor())?;
    let all = calls.view(&all, &[b, l, 3, heads, width])?;
    let [q, k, v] = [0, 1, 2].map(|part| calls.transpose(&calls.select(&all, 2, part)?, 1, 2));
    let (q, k, v) = (q?, k?, v?);
    let mixed = match mask {
        // A row of which the mask hides everything is NaN, where that operator gives 0.
        Some((mask, kind)) => {
            let scores = calls.tensor("matmul", [q.into(), calls.transpose(&k, 2, 3)?.into()])?;
            let scores = calls.mul(scores, (width as f64).sqrt().recip())?;
            let mask = calls.cast(mask.clone(), DType::Bool)?;
            let shares = calls.tensor("_masked_softmax", [scores.into(), mask.into(), 3i64.into(), kind.into()])?;
            calls.tensor("matmul", [shares.into(), v.into()])?
        }
        None => {
            let (no_mask, no_dropout, scale) = (IValue::None, 0.0.into(), IValue::None);
            let arguments = [q.into(), k.into(), v.into(), no_mask, no_dropout, false.into(), scale, false.into()];
            calls.tensor("scaled_dot_product_attention", arguments)?
        }
    };
    let mixed = calls.reshape(&calls.transpose(&mixed, 1, 2)?, &[b, l, channels])?;
    linear(calls, &mixed, tensor(projection[0], "proj_weight")?, projection[1].as_tensor())
}

/// `_transformer_encoder_layer_fwd`.
#[expect(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn transformer_encoder_layer(
    calls: &Calls<'_>,
    src: &IValue,
    embed_dim: i64,
    num_heads: i64,
    qkv_weight: &IValue,
    qkv_bias: &IValue,
    proj_weight: &IValue,
    proj_bias: &IValue,
    use_gelu: bool,
    norm_first: bool,
    eps: f64,
    norm_weight_1: &IValue,
    norm_bias_1: &IValue,
    norm_weight_2: &IValue,
    norm_bias_2: &IValue,
    ffn_weight_1: &IValue,
    ffn_bias_1: &IValue,
    ffn_weight_2: &IValue,
    ffn_bias_2: &IValue,
    mask: &IValue,
    mask_type: Option<i64>,
) -> Result<AnyTensor> {
    let source = tensor(src, "src")?;
    let &[b, l, channels] = source.sizes() else {
        return Err(ErrorKind::DimCount { arg: "src", got: source.ndim(), accepted: "3" }.into());
    };
    if channels != embed_dim {
        let (got, want) = (source.sizes().to_vec(), vec![b, l, embed_dim]);
        return Err(ErrorKind::UnequalSizes { arg: "src", got, want }.into());
    }
    if num_heads < 1 || embed_dim.checked_rem(num_heads) != Some(0) {
        return Err(rule("argument num_heads must divide embed_dim"));
    }
    let three = embed_dim.saturating_mul(3);
    check_sizes("qkv_weight", qkv_weight, &[three, embed_dim])?;
    check_sizes("qkv_bias", qkv_bias, &[three])?;
    check_sizes("proj_weight", proj_weight, &[embed_dim, embed_dim])?;
    let normal =
        |x: AnyTensor, [weight, bias]: Affine<'_>| layer_norm(calls, &x.into(), &[embed_dim], weight, bias, eps, false);
    let (first, second) = ([norm_weight_1, norm_bias_1], [norm_weight_2, norm_bias_2]);

    let x = if norm_first { normal(source.clone(), first)? } else { source.clone() };
    let sizes = [b, l, channels, num_heads];
    let weights = [[qkv_weight, qkv_bias], [proj_weight, proj_bias]];
    let mixed = attention(calls, &x, sizes, weights, mask.as_tensor().map(|mask| (mask, mask_type)))?;
    let mut x = calls.add(mixed, source.clone())?;
    if !norm_first {
        x = normal(x, first)?;
    }

    let inner = if norm_first { normal(x.clone(), second)? } else { x.clone() };
    let rows = calls.reshape(&inner, &[-1, embed_dim])?;
    let turned = calls.transpose(tensor(ffn_weight_1, "ffn_weight_1")?, 0, 1)?;
    let product = [ffn_bias_1.clone(), rows.into(), turned.into(), 1i64.into(), 1i64.into(), use_gelu.into()];
    let rows = calls.tensor("_addmm_activation", product)?;
    let rows = linear(calls, &rows, tensor(ffn_weight_2, "ffn_weight_2")?, ffn_bias_2.as_tensor())?;
    let x = calls.add(calls.view(&rows, &[b, l, embed_dim])?, x)?;
    if norm_first { Ok(x) } else { normal(x, second) }
}

native! {
    family: Encoders, functions: crate::fill::Fills;

    func: _transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, Tensor qkv_weight, Tensor qkv_bias,
        Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool norm_first, float eps, Tensor norm_weight_1,
        Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1,
        Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor,
    autogen: _transformer_encoder_layer_fwd.out, composite: explicit transformer_encoder_layer;
}
