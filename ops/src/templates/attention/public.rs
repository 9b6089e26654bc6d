//! `scaled_dot_product_attention`, of tensors of any number of dimensions that broadcast.
#![deny(clippy::arithmetic_side_effects)]

use super::dropped::Dropped;
use super::flash::{Three, scale_of};
use super::{Attention, AttentionInputs, summed_in};
use crate::copies::{reshape, to_dtype};
use crate::functions::where_;
use crate::kernels::AllKernels;
use crate::table::native;
use crate::view;
use monomorph_core::strides::{DimVec, broadcast_sizes, preserve_strides};
use monomorph_core::structured::{Functional, Operand, call};
use monomorph_core::{DType, Error, ErrorKind, Result, Tensor, observe};

/// `scaled_dot_product_attention`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn scaled_dot_product_attention<D: AllKernels>(
    query: &Tensor<D>,
    key: &Tensor<D>,
    value: &Tensor<D>,
    attn_mask: Option<&Tensor<D>>,
    dropout_p: f64,
    is_causal: bool,
    scale: Option<f64>,
    enable_gqa: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("scaled_dot_product_attention", [query.geometry(), key.geometry(), value.geometry()]);
    const NAME: &str = "scaled_dot_product_attention";
    let three = [query, key, value];
    let attend = || {
        check(three, attn_mask, dropout_p, is_causal)?;
        let mask = attn_mask.map(|mask| added(query, mask)).transpose()?;
        if dropout_p != 0.0 {
            let call = Dropped { p: dropout_p, is_causal, scale: scale_of(query, scale), grouped: enable_gqa };
            return call.attend(three, mask.as_ref());
        }
        attended(three, mask, is_causal, scale_of(query, scale), enable_gqa)
    };
    attend().map_err(|e: Error| e.called(NAME))
}

fn check<D: AllKernels>(
    [query, key, value]: Three<'_, D>,
    mask: Option<&Tensor<D>>,
    dropout_p: f64,
    is_causal: bool,
) -> Result<()> {
    let dtype = query.dtype();
    for (arg, t) in [("query", query), ("key", key), ("value", value)] {
        if t.dtype() != dtype {
            return Err(ErrorKind::DTypeMismatch { arg, got: t.dtype(), want: dtype }.into());
        }
        if t.ndim() < 2 {
            return Err(ErrorKind::DimCount { arg, got: t.ndim(), accepted: "2 or more" }.into());
        }
    }
    if !dtype.is_floating() {
        let (what, accepted) = ("argument query has dtype", "floating-point dtypes");
        return Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into());
    }
    if !(0.0..=1.0).contains(&dropout_p) {
        let rule = "argument dropout_p is no probability; accepted is 0 <= dropout_p <= 1";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    let Some(mask) = mask else { return Ok(()) };
    if is_causal {
        let rule = "argument attn_mask is given and is_causal is true; accepted is one of both";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    if !matches!(mask.dtype(), DType::Bool | DType::F32) && mask.dtype() != dtype {
        let (what, got) = ("argument attn_mask has dtype", mask.dtype());
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted: "bool, float32 and that of query" }.into());
    }
    if mask.ndim() < 2 && query.ndim() != 3 {
        return Err(ErrorKind::DimCount { arg: "attn_mask", got: mask.ndim(), accepted: "2 or more" }.into());
    }
    Ok(())
}

/// What a mask adds to the scores: a bool one minus infinity where it is false.
fn added<D: AllKernels>(query: &Tensor<D>, mask: &Tensor<D>) -> Result<Tensor<D>> {
    let sum = summed_in(query.dtype());
    if mask.dtype() != DType::Bool {
        return to_dtype(mask, sum, false, false, None);
    }
    to_dtype(&where_(mask, 0.0, f64::NEG_INFINITY)?, sum, false, false, None)
}

/// The sizes with ones in front, so that there are so many.
fn padded(sizes: &[i64], ndim: usize) -> DimVec {
    let ones = ndim.saturating_sub(sizes.len());
    std::iter::repeat_n(1, ones).chain(sizes.iter().copied()).collect()
}

/// A view, or a copy where there is none, of which batch dimensions are expanded and merged, so that there are four
/// dimensions.
fn merged<D: AllKernels>(t: &Tensor<D>, batch: &[i64]) -> Result<Tensor<D>> {
    let inner = t.sizes().len().saturating_sub(2);
    let mut sizes = DimVec::from_slice(batch);
    sizes.extend_from_slice(&t.sizes()[inner..]);
    let all = t.with_geometry(view::expand(t.geometry(), &sizes, false)?)?;
    let n = batch.iter().try_fold(1_i64, |n, &size| n.checked_mul(size));
    let n = n.ok_or(ErrorKind::SizeOverflow { sizes: batch.to_vec(), strides: Vec::new() })?;
    reshape(&all, &[n, 1, t.sizes()[inner], t.sizes()[inner.saturating_add(1)]])
}

fn attended<D: AllKernels>(
    three: Three<'_, D>,
    mask: Option<Tensor<D>>,
    causal: bool,
    scale: f64,
    grouped: bool,
) -> Result<Tensor<D>> {
    let ndim = three.iter().map(|t| t.ndim()).max().unwrap_or(0);
    let is_fused = is_fused(three, mask.as_ref(), grouped);
    if mask.as_ref().is_some_and(|mask| mask.ndim() > ndim.max(4)) {
        let got = mask.map_or(0, |mask| mask.ndim());
        return Err(ErrorKind::DimCount { arg: "attn_mask", got, accepted: "at most as many as query has" }.into());
    }
    if ndim > 4 {
        return of_many_dims(three, mask, causal, scale, ndim);
    }
    let four = |t: &Tensor<D>| t.with_geometry(view::view(t.geometry(), &padded(t.sizes(), 4))?);
    let [q, k, v] = [four(three[0])?, four(three[1])?, four(three[2])?];
    let ([qs, ks, vs], last) = ([q.sizes(), k.sizes(), v.sizes()], |s: &[i64]| [s[2], s[3]]);
    let [b, bk, bv] = [qs[0], ks[0], vs[0]];
    let batch = broadcast_sizes(&broadcast_sizes(&[b], &[bk])?, &[bv])?[0];
    // Where heads of queries share those of keys, there are more of the former.
    let heads = match grouped {
        true => qs[1],
        false => broadcast_sizes(&broadcast_sizes(&[qs[1]], &[ks[1]])?, &[vs[1]])?[0],
    };
    let expand = |t: &Tensor<D>, heads: i64| {
        let [n, e] = last(t.sizes());
        t.with_geometry(view::expand(t.geometry(), &[batch, heads, n, e], false)?)
    };
    let (q, k, v) = (expand(&q, heads)?, expand(&k, ks[1])?, expand(&v, vs[1])?);
    let mask = match &mask {
        Some(mask) => {
            let sizes = [batch, heads, q.sizes()[2], k.sizes()[2]];
            Some(four(mask)?.with_geometry(view::expand(four(mask)?.geometry(), &sizes, false)?)?)
        }
        None => None,
    };
    let strides = is_fused.then(|| preserve_strides(q.sizes(), q.strides()));
    let mut result = computed([&q, &k, &v], mask.as_ref(), (causal, scale), strides)?;
    for _ in ndim..4 {
        result = result.with_geometry(view::select(result.geometry(), 0, 0)?)?;
    }
    Ok(result)
}

fn computed<D: AllKernels>(
    [q, k, v]: Three<'_, D>,
    mask: Option<&Tensor<D>>,
    (causal, scale): (bool, f64),
    strides: Option<DimVec>,
) -> Result<Tensor<D>> {
    let operands = [q.into(), k.into(), v.into(), mask.map_or(Operand::Absent, Operand::from)];
    let inputs = AttentionInputs { operands, causal, scale, strides };
    let [output, _] = call::<Attention, D, _>(&inputs, Functional::default())?;
    Ok(output)
}

/// More than four dimensions: all but the last two are one.
fn of_many_dims<D: AllKernels>(
    [q, k, v]: Three<'_, D>,
    mask: Option<Tensor<D>>,
    causal: bool,
    scale: f64,
    ndim: usize,
) -> Result<Tensor<D>> {
    let outer = |t: &Tensor<D>| padded(&t.sizes()[..t.ndim().saturating_sub(2)], ndim.saturating_sub(2));
    let batch = broadcast_sizes(&broadcast_sizes(&outer(q), &outer(k))?, &outer(v))?;
    let mask = mask.map(|mask| {
        let sizes = [q.sizes()[q.ndim().saturating_sub(2)], k.sizes()[k.ndim().saturating_sub(2)]];
        let mut all = batch.clone();
        all.extend(sizes);
        let whole = mask.with_geometry(view::expand(mask.geometry(), &all, false)?)?;
        merged(&whole, &batch)
    });
    let result = computed(
        [&merged(q, &batch)?, &merged(k, &batch)?, &merged(v, &batch)?],
        mask.transpose()?.as_ref(),
        (causal, scale),
        None,
    )?;
    let mut sizes = batch;
    sizes.extend_from_slice(&result.sizes()[2..]);
    reshape(&result, &sizes)
}

/// Whether PyTorch computes a call in one pass, in which case the result lies as the query does.
fn is_fused<D: AllKernels>([q, k, v]: Three<'_, D>, mask: Option<&Tensor<D>>, grouped: bool) -> bool {
    let ndim = q.ndim();
    if !matches!(ndim, 3 | 4) || k.ndim() != ndim || v.ndim() != ndim {
        return false;
    }
    let from_behind = |t: &Tensor<D>, i: usize| t.sizes()[ndim.saturating_sub(i)];
    let [q_heads, k_heads, v_heads] = [q, k, v].map(|t| from_behind(t, 3));
    let shares = grouped && q_heads.checked_rem(k_heads) == Some(0) || k_heads == 1;
    let same_batch = ndim == 3 || k.sizes()[0] == q.sizes()[0] && v.sizes()[0] == q.sizes()[0];
    let has_rows = |t: &Tensor<D>| t.strides().last() == Some(&1) && from_behind(t, 2) > 0;
    same_batch
        && k_heads == v_heads
        && (q_heads == k_heads || shares)
        && from_behind(v, 1) == from_behind(q, 1)
        && [q, k, v].into_iter().all(has_rows)
        && mask.is_none_or(|mask| ndim == 3 || matches!(mask.ndim(), 2 | 4))
}

native! {
    family: ScaledAttention, functions: crate::kernels::AllKernels;

    /// For each query the mean of the values, weighted by the softmax of its products with the keys.
    ///
    /// The tensors are `[.., queries, elements]`, `[.., keys, elements]` and `[.., keys, elements of a value]`; all
    /// dimensions in front broadcast. Options: `attn_mask`, which is added to the products or, if it is bool, false
    /// where a query does not see a key; `is_causal`, where query `i` sees the keys up to number `i`; `scale`, which is
    /// one over the root of the elements of a query; `enable_gqa`, where several heads of queries, the third dimension
    /// from behind, share one of keys; `dropout_p`, the probability of a weight to be dropped at random. A query that
    /// sees no key gives zeros. Dtypes are floating-point ones.
    ///
    /// ```
    /// let q = tensor![[1.0f32, 0.0]];
    /// let k = tensor![[1.0f32, 0.0], [0.0, 1.0]];
    /// let v = tensor![[2.0f32], [4.0]];
    /// let options = ScaledDotProductAttention { scale: Some(0.0), ..Default::default() };
    /// assert_eq!(ops::scaled_dot_product_attention_with(&q, &k, &v, options)?.to_vec::<f32>()?, [3.0]);
    /// ```
    func: scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None,
        float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor,
    variants: function, kernel: scaled_dot_product_attention;
}
